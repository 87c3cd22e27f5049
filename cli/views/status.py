"""`status`: what runs, what waits for the owner and what to type, what was spent, what went wrong today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from sisimpur.agents.orchestrator.board.snapshot import Snapshot
from sisimpur.agents.orchestrator.board.stuck import StuckTask, stuck_tasks, told_once
from sisimpur.agents.orchestrator.vision.goal_ids import is_note
from sisimpur.agents.orchestrator.vision.told_guards import changes
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import (
    LONGEST_WHY,
    command,
    money,
    pasteable,
    plain,
    print_groups,
    print_json,
    print_line,
    print_list,
)
from sisimpur.cli.views.daemon_state import (
    comes_next,
    daemon_facts,
    in_zone,
    machine_facts,
    machine_line,
    problems,
    runs,
    what_it_waits_for,
    who_works,
    without_settings,
)
from sisimpur.cli.views.tasks import awaiting, stuck_row, task_rows
from sisimpur.cli.wiring.config_watch import model_key, require_private
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import FOLDERS, Card, Event, State
from sisimpur.shared.model.text import shortened
from sisimpur.shared.money.token_budget import dollars, in_cents, next_cap
from sisimpur.shared.store.activity import locked_since
from sisimpur.shared.store.ended_tasks import EndedTasks
from sisimpur.shared.store.task_records import Happened
from sisimpur.shared.system import lock
from sisimpur.shared.system.paths import read_text

MOVING = ("in_progress", "at_the_gates", "approved", "ready", "waiting")
HEADINGS = {"at_the_gates": "tested and reviewed now", "approved": "approved, merged next", "ready": "begins next"}
WAIT_FOR_MONEY = ("in_progress", "at_the_gates", "ready", "waiting")


@dataclass(frozen=True)
class PendingAnswer:
    """What the owner is asked, and what to type; `others` are words to type in place of the command's own."""

    task: str
    text: str
    command: str
    others: tuple[str, ...] = ()
    kind: Literal["change", "failed", "stuck", ""] = ""  # empty: money or deploys
    title: str = ""
    reasons: tuple[str, ...] = ()


def status(arguments: Arguments) -> int:
    try:
        with open_records(arguments.home, looking=True) as records:
            facts, now = status_facts(records), records.clock.now()
    except Misconfigured:
        without_settings(arguments)
        raise
    if arguments.json:
        return print_json(facts)
    print(f"{facts['home']}: {who_works(facts, arguments.home, now)}; target {facts['target']}")
    for line in what_it_waits_for(facts, arguments.home, now):
        print(f"  {line}")
    for run in facts["runs"]:
        print(plain(f"  {_run_line(run)}"))
    for line in facts["deploys"]:
        print(line)
    if facts["deploys_as"]:
        print(f"deploys: {facts['deploys_as']}")
    print_line(f"machine: {machine_line(facts['machine'])}", 4)
    print("tasks: " + ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in facts["tasks"].items()))
    for period in ("today", "month"):
        print(f"{period}: {_amounts(facts[period])}")
    print_groups("waits for you", (_group(answer) for answer in facts["answers"]))
    print_list("problems of today", (pasteable(text, arguments.home) for text in facts["problems"]))
    print_list("set aside", facts["set_aside"])
    for heading in MOVING:
        print_list(HEADINGS.get(heading, heading.replace("_", " ")), facts[heading])
    print_list("starts by itself in the tests' environment", facts["hooks"])
    print_list("unreadable", facts["unreadable"])
    print_list("your notes", facts["guards"])
    typed = command(arguments.home, "answer", "ID", "TEXT")
    asked = [f"{one['goal']}  {one['text']}" for one in facts["asked"]]
    notes = [text for text in asked if is_note(text)]
    print_list(f"notes to reword in {facts['home']}/VISION.md", notes)
    goals = [text for text in asked if not is_note(text)]
    print_list(f"questions (change the goal in {facts['home']}/VISION.md, or type: {typed})", goals)
    return 0


KINDS = {"reserved": "held for calls under way", "lost": "for calls without an answer, at their worst case"}


def _amounts(sums: Mapping[str, str]) -> str:
    """Whole cents; what is none of a usual day only if there is any."""
    nano = {name: dollars(amount) for name, amount in sums.items()}
    more = (f", {in_cents(nano[name])} {words}" for name, words in KINDS.items() if nano[name])
    return f"{in_cents(nano['spent'])} of {in_cents(nano['cap'])} spent{''.join(more)}"


# --- facts ---------------------------------------------------------------------------------------------------


def status_facts(records: Records) -> dict[str, Any]:
    """Collect everything in the form of `--json`."""
    seen, day = records.snapshot(EndedTasks(records.db).given_up()), records.day()
    stuck, asked = stuck_tasks(seen), _questions(records)
    caps, stopped = records.settings.policy.budget.caps, records.spending.paused()
    cap, pid, moving = records.spending.cap_of(day, caps.day), lock.holder(records.home.lock), _moving(records, seen)
    capped = _capped(records, next_cap(cap, caps), moving) if records.spending.is_reached(day, cap) else ()
    answers = [
        *_halted(records, stopped),
        *capped,
        *(_deploys_paused(records) if _deploys_at_all(records) else ()),
        *_answers(records, seen),
        *_freed(records, told_once(stuck)),
    ]
    return {
        "home": str(records.home.root),
        "target": records.settings.target.name,
        "daemon": daemon_facts(records.db, pid, comes_next(records)),
        "machine": machine_facts(records, pid, moving),
        "pid": pid or None,
        "since": in_zone(locked_since(records.home.lock), records) if pid else "",
        "runs": runs(records, seen.board, bool(pid)),
        **_deploys(records),
        "day": day,
        "tasks": {state.value: seen.board.counts[state] for state in FOLDERS},
        "today": money(records.spending.totals(day, cap)),
        "month": money(records.spending.totals(day[:7], caps.month)),
        "stopped": [stopped] if stopped else [],
        "waits_for_you": [_parked(card, records) for card in _by_risk(seen, records)],
        "failed": [_failed(card, seen) for card in _given_up(seen)],
        "answers": [vars(answer) for answer in answers],
        "outlets": [vars(outlet) for outlet in records.outlet_standings()],
        "problems": list(problems(records, bool(pid))),
        **moving,
        "stuck": [{"task": one.task, "title": one.title} | (stuck_row(one, records) or {}) for one in stuck],
        "questions": [one["text"] for one in asked],
        "asked": asked,
        "guards": _guards(records),
        "unreadable": list(seen.unreadable),
    }


def _guards(records: Records) -> list[str]:
    """List guards that are new or lost, and notes that protect nothing."""
    accepted, day = records.plans.accepted(), records.day()
    wishes = accepted.vision.wishes if accepted else ()
    return list(changes(records.plans.guards(), records.plans.guards_before(day), wishes, day))


def _moving(records: Records, seen: Snapshot) -> dict[str, list[str]]:
    """List the tasks that go on by themselves, and those in the backlog that do not."""
    lying, waits = seen.lying, seen.waits
    reviewed = [card for card in lying[State.IN_REVIEW] if not awaiting(card, records)]
    waiting = [card for card in seen.queue if waits[card.id] and card.id not in seen.board.stuck]
    return {
        "in_progress": [_line(card) for card in lying[State.IN_PROGRESS]],
        "at_the_gates": [_reviewed(card, records) for card in reviewed if not records.gates.parked(card.id)],
        "approved": [_reviewed(card, records) for card in reviewed if records.gates.parked(card.id)],
        "ready": [_line(card) for card in seen.queue if not waits[card.id]],
        "waiting": [_waiting(card, waits) for card in waiting if not card.backed_off],
        "set_aside": [_waiting(card, waits) for card in waiting if card.backed_off],
    }


def _reviewed(card: Card, records: Records) -> str:
    """With its place among those that were tested together, and are merged in this order."""
    place = records.gates.places.place(card.id)
    if place is None or not place.together:
        return _line(card)
    return f"{_line(card)} (merge queue: {place.together.index(card.id) + 1} of {len(place.together)})"


def _waiting(card: Card, waits: Mapping[str, str]) -> str:
    return f"{_line(card)}: {waits[card.id]}"


def _questions(records: Records) -> list[dict[str, str]]:
    if not (asked := records.questions()):
        return []
    from sisimpur.agents.orchestrator.planning.daily_planner import question_line

    accepted = records.plans.accepted()
    titles = {goal.id: goal.title for goal in accepted.vision.goals} if accepted else {}
    return [{"goal": one.goal_id, "text": question_line(one, titles)} for one in asked]


def _line(card: Card) -> str:
    return f"{card.id}  {card.spec.title if card.spec else '(cannot be read)'}"


# --- what waits for the owner ----------------------------------------------------------------------------------


def _given_up(seen: Snapshot) -> Iterator[Card]:
    """Yield what failed and the owner is asked about: not what the owner cancelled, or dropped with its goal."""
    for card in seen.lying[State.FAILED]:
        if (last := _newest(card, seen)) is None or last.event is Event.EXHAUSTED:
            yield card


def _parked(card: Card, records: Records) -> str:
    return f"{_line(card)}: {_reasons(card, records)} | approve, reject or retry {card.id}"


def _by_risk(seen: Snapshot, records: Records) -> list[Card]:
    """What the owner is asked about, the riskiest first."""
    parked = [card for card in seen.lying[State.IN_REVIEW] if awaiting(card, records)]
    if len(parked) < 2:
        return parked
    from sisimpur.agents.orchestrator.publishing.owner_text import risk

    return sorted(parked, key=lambda card: risk(*records.gates.newest(card.id)), reverse=True)


def _unseen(card: Card, records: Records) -> str:
    from sisimpur.agents.orchestrator.publishing.owner_text import unseen

    evidence, _ = records.gates.newest(card.id)
    lines = unseen(evidence) if evidence else []
    return f"not seen: {'; '.join(lines)}" if lines else ""


def _failed(card: Card, seen: Snapshot) -> str:
    return f"{_line(card)}: {_last_note(card, seen)} | retry {card.id}"


def _reasons(card: Card, records: Records) -> str:
    parked = records.gates.parked(card.id)
    return "; ".join(parked.reasons if parked else ())


def _last_note(card: Card, seen: Snapshot) -> str:
    last = _newest(card, seen)
    return last.note if last else ""


def _newest(card: Card, seen: Snapshot) -> Happened | None:
    known = seen.known.get(card.id)
    return known.newest if known else None


def _without_key(records: Records) -> Iterator[PendingAnswer]:
    """Without a key, or with one that others can read, no day begins."""
    path = records.home.config / ".env"
    try:
        require_private(records.home)
        model_key(records.settings)
    except Misconfigured as problem:
        told = str(problem).replace("config/.env", str(path))
        yield PendingAnswer("", f"no day can begin: {told}; then type:", command(records.home.root, "doctor"))


def _halted(records: Records, reason: str) -> Iterator[PendingAnswer]:
    yield from _without_key(records)
    yield from _stopped(records, reason)


def _stopped(records: Records, reason: str) -> Iterator[PendingAnswer]:
    if reason:
        yield PendingAnswer("", f"nothing is spent any more: {reason}", command(records.home.root, "resume"))
    for paused in records.spending.paused_models():
        yield PendingAnswer("", f"not asked any more: {paused}", command(records.home.root, "resume"))


def _capped(records: Records, to: int, moving: Mapping[str, Sized]) -> Iterator[PendingAnswer]:
    """Say what raises the cap by one day's worth; without room in the month the owner has to change the policy."""
    from sisimpur.agents.orchestrator.reports.report_words import at_the_cap, raise_cap

    told = at_the_cap(sum(len(moving[name]) for name in WAIT_FOR_MONEY))
    if to:
        yield PendingAnswer("", f"{told}; to go on now, type:", command(records.home.root, *raise_cap(to)))
    else:
        typed = command(records.home.root, "budget")
        yield PendingAnswer(
            "", f"{told}; the month's cap has no room for more (budget.month in config/policy.yaml)", typed
        )


def _deploys_at_all(records: Records) -> bool:
    """Most homes deploy nothing, and load nothing of it."""
    return records.settings.target.file.deploy.driver != "none"


def _hooks(records: Records) -> list[str]:
    """What starts by itself in the environment of the tests that was made last, as EnvironmentStore has found it."""
    made = sorted(records.home.environments.glob("[!.]*/hooks"), key=lambda path: path.lstat().st_mtime)
    return read_text(made[-1]).splitlines() if made else []


def _deploys(records: Records) -> dict[str, Any]:
    """What runs there, as whom, and what starts by itself where it was tested."""
    if not _deploys_at_all(records):
        return {"deploys": [], "deploys_as": "", "hooks": _hooks(records)}
    from sisimpur.cli.views.deploys import standings

    as_whom = records.settings.target.file.deploy.as_whom
    return {"deploys": standings(records), "deploys_as": as_whom, "hooks": _hooks(records)}


def _deploys_paused(records: Records) -> Iterator[PendingAnswer]:
    from sisimpur.cli.views.deploys import pause

    if found := pause(records):
        yield PendingAnswer("", *found)


def _answers(records: Records, seen: Snapshot) -> Iterator[PendingAnswer]:
    """Yield what waits for the owner, each with the one command that answers it, ready to be pasted."""
    home = records.home.root
    for card in _by_risk(seen, records):
        others = (f"reject {card.id} --why TEXT", f"retry {card.id} --why TEXT")
        text = "; ".join(filter(None, (f"{_line(card)}: {_reasons(card, records)}", _unseen(card, records))))
        found, title = records.gates.parked(card.id), card.spec.title if card.spec else ""
        reasons = found.reasons if found else ()
        yield PendingAnswer(card.id, text, command(home, "approve", card.id), others, "change", title, reasons)
    for card in _given_up(seen):
        text = f"{_line(card)}: failed: {_last_note(card, seen)}"
        title, reasons = card.spec.title if card.spec else "", (_last_note(card, seen),)
        again = (f"retry {card.id} --why TEXT",)
        yield PendingAnswer(card.id, text, command(home, "retry", card.id), again, "failed", title, reasons)


def asked_about(records: Records, task: str) -> tuple[list[PendingAnswer], str]:
    """What the owner is asked about a task; and what it waits for, or what happened to it last."""
    seen = records.snapshot({task})
    every = (*_answers(records, seen), *_freed(records, stuck_tasks(seen)))
    note = next((row["note"] for row in task_rows(seen, records) if row["id"] == task), "")
    return [one for one in every if one.task == task], note


def _freed(records: Records, stuck: Sequence[StuckTask]) -> Iterator[PendingAnswer]:
    for one in stuck:
        first, *others = one.ways
        text = f"{one.task}  {one.title}: {one.words}"
        typed = command(records.home.root, *first.split())
        yield PendingAnswer(one.task, text, typed, tuple(others), "stuck", one.title, (one.words,))


def _group(answer: dict[str, Any]) -> list[str]:
    """Group what waits for people: words that fill half a screen are read where the task is shown."""
    text = shortened(answer["text"], LONGEST_WHY, f" … (the rest: show {answer['task']})")
    return [text if answer["task"] else answer["text"], answer["command"], *in_its_place(answer["others"])]


def in_its_place(others: Sequence[str]) -> list[str]:
    return [f"or, in its place: {', '.join(others)}"] if others else []


# --- what runs ------------------------------------------------------------------------------------------------


def _run_line(run: dict[str, Any]) -> str:
    what = f"{run['agent']} on {run['task']} ({run['title']})" if run["task"] else run["agent"]
    if run["alive"]:
        return f"{what} since {run['since'][11:19]} ({timedelta(seconds=run['seconds'])})"
    return f"cut off: {what}, begun {run['since'][:19].replace('T', ' ')}; to go on, type: {run['command']}"
