"""`memory`: what each agent has learned, from what, and whether it helps; `--forget` deletes one for good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from sisimpur.agents.orchestrator.memory.learning import write_files
from sisimpur.agents.orchestrator.memory.lesson import LEARNERS, Lesson, heading
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import print_json
from sisimpur.cli.terminal.text import plain
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.outgoing import Outgoing


def memory(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        if arguments.forget is not None:
            return _forget(records, arguments.forget)
        lessons = records.memory.all()
    if arguments.json:
        return print_json([asdict(lesson) for lesson in lessons])
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
