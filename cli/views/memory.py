"""`research`: what was looked up. `memory`: what each agent learned, and whether it helps; `--forget` deletes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sisimpur.agents.orchestrator.memory.learning import write_files
from sisimpur.agents.orchestrator.memory.lesson import LEARNERS, Lesson, heading
from sisimpur.agents.orchestrator.planning.researching import MOST_TRIES, note_path
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.pdf_file import write_pdf
from sisimpur.cli.terminal.printing import on_screen, plain, print_groups, print_json
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.research import Looked
from sisimpur.shared.money.token_budget import as_dollars, cents, dollars
from sisimpur.shared.system.outgoing import Outgoing


def memory(arguments: Arguments) -> int:
    with open_records(arguments.home, looking=arguments.forget is None) as records:
        if arguments.forget is not None:
            return _forget(records, arguments.forget)
        lessons = records.memory.all()
    if arguments.json:
        return print_json(list(map(asdict, lessons)))
    for agent in LEARNERS:
        own = [lesson for lesson in lessons if lesson.agent == agent]
        if own:
            print(f"\n{heading(agent)}:")
        for lesson in own:
            for line in _lines(lesson):
                print(plain(line))
    if not lessons:
        print("nothing was learned yet; a task that is merged after a correction teaches something")
    return 0


def _lines(lesson: Lesson) -> Iterator[str]:
    yield f"  {lesson.number}  {lesson.text}"
    origin = f" from {lesson.origin}" if lesson.origin else ""
    yield f"      learned {lesson.learned}{origin}, kept until {lesson.expires}; used {lesson.used} -> {lesson.passed}"


def _forget(records: Records, number: int) -> int:
    """Delete this lesson alone; the same words are not learned again."""
    if number not in {lesson.number for lesson in records.memory.all()}:
        raise Misconfigured(f"there is no lesson {number}; see: python main.py memory")
    records.memory.forget(number)
    write_files(records.memory, records.home, Outgoing(records.settings.secrets.to_hide).clean)
    print(f"lesson {number} is deleted for good: it is not learned again in the same words")
    return 0


# --- `research`: what was looked up on the web ---------------------------------------------------------------


LONGEST = 300  # characters of a recommendation


def research(arguments: Arguments) -> int:
    with open_records(arguments.home, looking=True) as records:
        rows = research_rows(records)
        ideas = _ideas(records)
    if arguments.note:
        return write_pdf(Path(arguments.home) / _note(rows, arguments.note))
    if arguments.json:
        return print_json(rows)
    print_groups("looked up", (list(_looked_up(row)) for row in rows))
    if not rows:
        print(f"nothing was looked up yet; {ideas}")
    return 0


def _note(rows: list[dict[str, Any]], id_: str) -> str:
    """The file of the one note whose name ends so. Misconfigured: there is none, or there are several."""
    found = [row["note"] for row in rows if row["note"] and row["note"].removesuffix(".md").endswith(id_)]
    if len(found) != 1:
        raise Misconfigured(f"{len(found) or 'no'} notes have a name that ends with {plain(id_)}; see: research")
    return str(found[0])


def research_rows(records: Records) -> list[dict[str, Any]]:
    """Return what was looked up, the newest first, in the form of `--json`."""
    return [_row(records, looked) for looked in reversed(records.research.all())]


def _ideas(records: Records) -> str:
    accepted = records.plans.accepted()
    if accepted and accepted.vision.ideas:
        return f"{len(accepted.vision.ideas)} of VISION.md's ideas wait for the next morning"
    return "write a question below `## Ideas (Research First)` in VISION.md"


def _row(records: Records, looked: Looked) -> dict[str, Any]:
    return {
        "id": looked.inquiry.id,
        "question": looked.inquiry.text,
        "asked": looked.asked_on,
        "answered": looked.answered_on,
        "tries": looked.tries,
        "problem": looked.problem,
        "recommendation": looked.findings.recommendation if looked.findings else "",
        "claims": len(looked.findings.claims) if looked.findings else 0,
        "cost": as_dollars(records.spending.spent_by(looked.inquiry.id).used),
        "tokens": records.spending.used_by([looked.inquiry.id])[looked.inquiry.id].tokens,
        "note": note_path(looked),
    }


def _looked_up(row: dict[str, Any]) -> Iterator[str]:
    yield plain(on_screen(row["question"], LONGEST))
    if row["answered"]:
        yield plain(f"{row['answered']}, ${cents(dollars(row['cost']))}: {on_screen(row['recommendation'], LONGEST)}")
        yield plain(row["note"])
    elif row["problem"]:
        again = "tried again on another day" if row["tries"] < MOST_TRIES else "not tried again; reword it to ask anew"
        yield plain(f"not looked up: {on_screen(row['problem'], LONGEST)} ({again})")
    else:
        yield "not looked up yet"
