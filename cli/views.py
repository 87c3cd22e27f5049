"""What the owner looks at: `status`, `tasks`, `show`, `prs`, `budget`, `logs`. Reads and changes nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from agents.orchestrator import gate_text
from agents.orchestrator.daily_planner import cents, question_line
from agents.orchestrator.look import Sight, look
from cli.arguments import Arguments
from cli.hands import find
from cli.records import Records, open_records, require_home
from cli.text import plain, plain_block
from shared.domain.board import Card, waits_for
from shared.domain.lifecycle import FOLDERS, State
from shared.domain.token_budget import Totals, as_dollars
from shared.edge import lock
from shared.edge.log import read
from shared.edge.paths import Home

MOST_SHOWN = 20
LONGEST_LINE = 300  # of a log line on the screen; the file has it whole


def _sight(records: Records) -> Sight:
    vision = records.plans.accepted()
    return look(
        records.store, records.journal, vision.vision if vision else None, records.settings.policy.attempts.limits
    )


# --- status --------------------------------------------------------------------------------------------------


def status(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        facts = _status(records)
    if arguments.json:
        return _print_json(facts)
    at_work = f"at work (pid {facts['pid']})" if facts["pid"] else "not running"
    print(f"{records.home.root}: {at_work}; target {facts['target']}")
    print("tasks: " + ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in facts["tasks"].items()))
    money = facts["today"]
    print("today: " + ", ".join(f"${_short(money[name])} {name}" for name in ("spent", "reserved", "lost", "cap")))
    for heading in ("stopped", "waits_for_you", "failed", "in_progress", "ready", "waiting", "questions", "unreadable"):
        _print_list(heading.replace("_", " "), facts[heading])
    return 0


def _status(records: Records) -> dict[str, Any]:
    sight = _sight(records)
    day = records.day()
    stopped = records.ledger.paused()
    return {
        "home": str(records.home.root),
        "target": records.settings.target.name,
        "pid": lock.holder(records.home.lock) or None,
        "day": day,
        "tasks": {state.value: sum(card.state is state for card in sight.board.cards) for state in FOLDERS},
        "today": _money(records.ledger.totals(day, records.settings.policy.budget.day)),
        "stopped": [stopped] if stopped else [],
        "waits_for_you": [_parked(card, records) for card in sight.board.cards if _is_parked(card, records)],
        "failed": [_failed(card, records) for card in sight.board.cards if card.state is State.FAILED],
        "in_progress": [_line(card) for card in sight.board.cards if card.state is State.IN_PROGRESS],
        "ready": [_line(card) for card in sight.board.cards if _is_ready(card, sight)],
        "waiting": [_waiting(card, sight) for card in sight.board.cards if _is_waiting(card, sight)],
        "questions": _questions(records),
        "unreadable": list(sight.unreadable),
    }


def _questions(records: Records) -> list[str]:
    accepted = records.plans.accepted()
    titles = {goal.id: goal.title for goal in accepted.vision.goals} if accepted else {}
    return [question_line(question, titles) for question in records.questions()]


def _is_parked(card: Card, records: Records) -> bool:
    parked = records.gates.parked(card.id) if card.state is State.IN_REVIEW else None
    return parked is not None and not records.gates.is_approved(card.id, parked.subject)


def _parked(card: Card, records: Records) -> str:
    """What is asked and why, and what to type."""
    parked = records.gates.parked(card.id)
    return f"{_line(card)}: {'; '.join(parked.reasons if parked else ())} | approve, reject or retry {card.id}"


def _failed(card: Card, records: Records) -> str:
    history = records.journal.history(card.id)
    return f"{_line(card)}: {history[-1].note if history else ''} | retry {card.id}"


def _is_ready(card: Card, sight: Sight) -> bool:
    return card.state is State.BACKLOG and not waits_for(card, sight.board)


def _is_waiting(card: Card, sight: Sight) -> bool:
    return card.state is State.BACKLOG and card.spec is not None and bool(waits_for(card, sight.board))


def _waiting(card: Card, sight: Sight) -> str:
    return f"{_line(card)}: {waits_for(card, sight.board)}"


def _line(card: Card) -> str:
    return f"{card.id}  {card.spec.title if card.spec else '(cannot be read)'}"


# --- tasks, show ---------------------------------------------------------------------------------------------


def tasks(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        sight = _sight(records)
        rows = [_task(card, sight, records) for card in sight.board.cards if card.state is not State.GONE]
    if arguments.json:
        return _print_json(rows)
    if not rows:
        print("no tasks yet")
    for row in rows:
        print(plain(f"{row['id']:<14} {row['state']:<12} {row['priority']:<9} {row['title']}"))
        if row["note"]:
            print(plain(f"{'':<14} {row['note']}")[:LONGEST_LINE])
    _print_list("unreadable", sight.unreadable)
    return 0


def _task(card: Card, sight: Sight, records: Records) -> dict[str, Any]:
    history = records.journal.history(card.id)
    waiting = waits_for(card, sight.board) if card.state is State.BACKLOG else ""
    return {
        "id": card.id,
        "state": card.state.value,
        "title": card.spec.title if card.spec else "",
        "priority": card.spec.priority.value if card.spec else "",
        "goal": card.spec.goal_id if card.spec else "",
        "attempts": len([a for a in records.journal.attempts(card.id) if a.outcome != "void"]),
        "note": waiting or (history[-1].note if history else ""),
    }


def show(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        id_, state = find(records.store, arguments.id)
        print(f"{id_} ({state})\n")
        print(plain_block(records.store.text(state, id_).strip()))
        spent = records.ledger.spent_by(id_)
        _print_list(
            "history", [f"{e.at[:19]}  {e.event}: now in {e.target}  {e.note}" for e in records.journal.history(id_)]
        )
        attempts = [f"{a.number}: {a.outcome or 'open'}  {a.note}" for a in records.journal.attempts(id_)]
        _print_list("attempts", attempts)
        _print_list("cost", [f"${as_dollars(spent.spent)} spent, ${as_dollars(spent.lost)} lost"] if spent.used else [])
        pulls = [row for row in _pulls(records) if row["task"] == id_]
        _print_list("pull request", [f"#{row['number']} {row['state']}  {row['url']}" for row in pulls])
        _print_list("at the gates", _gates(records, id_, state))
        if pulls:
            print("\n" + plain_block(_pull_text(records, pulls[0]["number"])))
    return 0


# --- prs -----------------------------------------------------------------------------------------------------


def prs(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        rows = _pulls(records)
    if arguments.json:
        return _print_json(rows)
    if not rows:
        print("no pull requests yet")
    else:
        place = shlex.quote(str(records.home.forge(records.settings.target.name)))
        print(f"fetch one with: git fetch {place} BRANCH")
    for row in rows:
        print(plain(f"#{row['number']:<4} {row['state']:<7} {row['title']}"))
        print(plain(f"{'':<14}{row['branch']} -> {row['base']}"))
    return 0


def _pulls(records: Records) -> list[dict[str, Any]]:
    from shared.edge.forge.forge import task_of

    forge = records.forge()
    if forge is None:
        return []
    us = forge.whoami()
    return [
        {
            "number": pull.number,
            "title": pull.title,
            "branch": pull.head,
            "base": pull.base,
            "head": pull.head_sha,
            "state": pull.state,
            "url": pull.url,
            "task": task_of(pull, us),
        }
        for pull in forge.list_pulls(every=True)
    ]


def _gates(records: Records, task: str, state: State) -> list[str]:
    """What tests and review said last, and what the owner is asked."""
    evidence, reviewed = records.gates.newest(task)
    lines = [f"tests: {gate_text.summary(evidence)}"] if evidence else []
    lines += [problem.text for problem in evidence.problems] if evidence else []
    lines += [f"review: {gate_text.verdict_line(reviewed.verdict)}"] if reviewed else []
    parked = records.gates.parked(task) if state is State.IN_REVIEW else None
    if parked and records.gates.is_approved(task, parked.subject):
        return [*lines, "you have approved it; it is merged when the team works next"]
    return [*lines, *(f"waits for you: {reason}" for reason in (parked.reasons if parked else ()))]


def _pull_text(records: Records, number: int) -> str:
    """Its body without our marker, and its change."""
    forge = records.forge()
    if forge is None:
        return ""
    return f"{forge.get_pull(number).body.partition(chr(10))[2]}\n\nthe change:\n\n{forge.diff(number)}"


# --- budget, logs --------------------------------------------------------------------------------------------


def budget(arguments: Arguments) -> int:
    """`--json`: a list with one object per day, the oldest first; today is always there."""
    with open_records(arguments.home) as records:
        day, caps = records.day(), records.settings.policy.budget.caps
        days = dict(records.ledger.by_day()) | {day: records.ledger.totals(day, caps.day)}
        month = records.ledger.totals(day[:7], caps.month)
        shares = records.ledger.breakdown(day)
    rows = [{"day": name, **_money(totals)} for name, totals in sorted(days.items())]
    if arguments.json:
        return _print_json(rows)
    _print_table(
        "Dollars per day", ("day", "cap", "spent", "reserved", "lost"), [list(row.values()) for row in rows[-31:]]
    )
    print(f"this month: ${cents(month.used)} of ${cents(month.cap)}")
    _print_list("today, by agent and task", [f"${cents(s.spent + s.lost)}  {s.agent}  {s.task}" for s in shares])
    return 0


def _money(totals: Totals) -> dict[str, str]:
    return {name: as_dollars(getattr(totals, name)) for name in ("cap", "spent", "reserved", "lost")}


def logs(arguments: Arguments) -> int:
    home = Home(arguments.home)
    require_home(home)
    for line in list(read(home.logs, arguments.agent))[-max(arguments.lines, 1) :]:
        when, agent, event = (str(line.pop(name, "")) for name in ("at", "agent", "event"))
        rest = "  ".join(f"{name}={value}" for name, value in line.items())
        print(plain(f"{_short_time(when)}  {agent:<12}  {event:<20}  {rest}")[:LONGEST_LINE])
    return 0


def _short(dollars: str) -> str:
    """Four decimals are enough for a glance; --json has all nine."""
    return dollars[:-5]


def _short_time(text: str) -> str:
    try:
        return datetime.fromisoformat(text).strftime("%m-%d %H:%M:%S")
    except ValueError:
        return text[:14]


# --- printing ------------------------------------------------------------------------------------------------


def _print_json(value: Any) -> int:
    print(json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())
    return 0


def _print_list(heading: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        print(f"\n{heading}:")
        for line in lines[:MOST_SHOWN]:
            print(f"  {plain(line)}")
        if len(lines) > MOST_SHOWN:
            print(f"  … and {len(lines) - MOST_SHOWN} more")


def _print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, title_justify="left", box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
