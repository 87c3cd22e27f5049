"""`tasks` and `show ID`: every task and where it stands, and the whole story of one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sisimpur.agents.orchestrator.board.snapshot import BoardFacts, Snapshot, load_snapshot
from sisimpur.agents.orchestrator.board.stuck import StuckTask, stuck_tasks
from sisimpur.agents.orchestrator.goals.standing import beside
from sisimpur.agents.orchestrator.integration.feature_branches import own_target
from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, money, pasteable, plain, plain_block, print_json, print_list
from sisimpur.cli.wiring.forge import github_name
from sisimpur.cli.wiring.records import Records, find, open_records
from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.model.evidence import Reviewed
from sisimpur.shared.model.lifecycle import Card, State, waits_for
from sisimpur.shared.store.task_records import Attempt, Waivers
from sisimpur.shared.system.paths import read_text, write_text

LONGEST_NOTE = 300  # on the screen


def snapshot(records: Records) -> Snapshot:
    """Read all tasks as they lie in their folders, and what the database says of them."""
    limits = records.settings.policy.attempts.limits
    return load_snapshot(records.store, records.journal, BoardFacts(records.wanted(), limits, every=True))


# --- tasks ---------------------------------------------------------------------------------------------------


def tasks(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        seen = snapshot(records)
        stuck = {one.task: one for one in stuck_tasks(seen)}
        rows = [
            _row(card, seen, records) | {"stuck": stuck_row(stuck.get(card.id), records)}
            for card in seen.board.cards
            if card.state is not State.GONE
        ]
    if arguments.json:
        return print_json(rows)
    if not rows:
        print("no tasks yet")
    for row in rows:
        print(plain(f"{row['id']:<14} {row['state']:<12} {row['priority']:<9} {row['title']}"))
        if row["note"]:
            print(plain(f"{'':<14} {pasteable(row['note'], arguments.home)}")[:LONGEST_NOTE])
        if row["stuck"]:
            print(plain(f"{'':<14} since {row['stuck']['since']}; to go on, type one of:"))
            for typed in row["stuck"]["commands"]:
                print(plain(f"{'':<16} {typed}"))
    print_list("unreadable", seen.unreadable)
    return 0


def _row(card: Card, seen: Snapshot, records: Records) -> dict[str, Any]:
    history = records.journal.history(card.id)
    waiting = waits_for(card, seen.board) if card.state is State.BACKLOG else ""
    return {
        "id": card.id,
        "state": card.state.value,
        "title": card.spec.title if card.spec else "",
        "priority": card.spec.priority.value if card.spec else "",
        "goal": card.spec.goal_id if card.spec else "",
        "branch": own_target(records.journal, seen.known[card.id]) if card.id in seen.known else "",
        "attempts": len([a for a in records.journal.attempts(card.id) if a.outcome != "void"]),
        "note": waiting or (history[-1].note if history else ""),
    }


def stuck_row(one: StuckTask | None, records: Records) -> dict[str, Any] | None:
    """What it is stuck on, since when, and what to type; None: it is not."""
    if one is None:
        return None
    commands = [command(records.home.root, *way.split()) for way in one.ways]
    return {"on": one.on, "why": one.why, "since": one.since, "behind": list(one.behind), "commands": commands}


# --- show ----------------------------------------------------------------------------------------------------


def show(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        id_, state = find(records.store, arguments.id)
        facts = _facts(records, id_, state)
        change = pull_text(records, facts["pulls"][0]["number"]) if facts["pulls"] and not arguments.json else ""
    if arguments.json:
        return print_json(facts)
    print(f"{id_} ({state})\n")
    print(plain_block(facts["text"].strip()))
    print_list("goes into", [f"{facts['branch']}, until all of its goal is there"] if facts["branch"] else [])
    print_list("said about it", facts["words"])
    print_list("history", (_event(event) for event in facts["history"]))
    print_list(
        "begins without", (f"{one['from']}: you said so {one['at'][:19]}  {one['why']}" for one in facts["unblocked"])
    )
    print_list("attempts", (_attempt(attempt) for attempt in facts["attempts"]))
    amounts = [f"${facts['cost'][name][:-5]} {name}" for name in ("spent", "lost")] if facts["cost"] else []
    print_list("cost", [", ".join(amounts)] if amounts else [])
    print_list("pull request", (f"#{row['number']} {row['state']}  {row['url']}" for row in facts["pulls"]))
    print_list("at the gates", (pasteable(line, arguments.home) for line in facts["gates"]))
    if change:
        print("\n" + plain_block(change))
    return 0


def _facts(records: Records, id_: str, state: State) -> dict[str, Any]:
    journal, spent = records.journal, records.spending.spent_by(id_)
    spec, known = records.store.read(state, id_).spec, journal.task(id_)
    return {
        "id": id_,
        "state": state.value,
        "title": getattr(spec, "title", ""),
        "text": records.store.text(state, id_),
        "history": [{"at": e.at, "event": e.event, "state": e.target, "note": e.note} for e in journal.history(id_)],
        "unblocked": [{"at": at, "from": one, "why": why} for one, why, at in Waivers(records.db).of(id_)],
        "words": beside(records.words.of([known.goal_id]), id_) if known else (),
        "branch": own_target(journal, known) if known else "",
        "attempts": numbered(journal.attempts(id_)),
        "cost": {name: value for name, value in money(spent).items() if name != "cap"} if spent.used else {},
        "pulls": [row for row in pulls(records)[0] if row["task"] == id_],
        "gates": _gates(records, id_, state),
    }


def numbered(attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
    """Number the attempts that count: 1, 2, 3. Another one has no number; `key` names its folder and commit."""
    rows: list[dict[str, Any]] = []
    for attempt in attempts:
        counted = sum(row["number"] is not None for row in rows)
        number = counted + 1 if attempt.outcome != "void" else None
        outcome = attempt.outcome or "open"
        rows.append({"number": number, "key": attempt.number, "outcome": outcome, "note": attempt.note})
    return rows


def _attempt(row: dict[str, Any]) -> str:
    return f"{row['number'] or '-'}: {row['outcome']}  {row['note']}"


def _event(event: dict[str, Any]) -> str:
    return f"{event['at'][:19]}  {event['event']}: now in {event['state']}  {event['note']}"


def _gates(records: Records, task: str, state: State) -> list[str]:
    """Say what tests and review said last, and what the owner is asked."""
    evidence, reviewed = records.gates.newest(task)
    lines = [f"tests: {gate_text.summary(evidence)}"] if evidence else []
    lines += [problem.text for problem in evidence.problems] if evidence else []
    lines += [gate_text.tools(evidence)] if evidence and evidence.tools else []
    lines += _review(reviewed) if reviewed else []
    lines += [
        f"over {one.finding}: your word{f', {one.why}' if one.why else ''}" for one in records.gates.ruled_over(task)
    ]
    parked = records.gates.parked(task) if state is State.IN_REVIEW else None
    if parked and records.gates.is_approved(task, parked.subject):
        return [*lines, "you have approved it; it is merged when the team works next"]
    return [*lines, *(f"waits for you: {reason}" for reason in (parked.reasons if parked else ()))]


def _review(reviewed: Reviewed) -> list[str]:
    """Its verdict, its word to the owner, and what the owner can rule over."""
    lines = [f"review: {gate_text.verdict_line(reviewed.verdict)}"]
    lines += [f"the reviewer tells you: {reviewed.word}"] if reviewed.word else []
    findings = reviewed.verdict.findings
    can = [
        line
        for one, line in zip(findings, gate_text.numbered(findings), strict=False)
        if gate_text.can_be_ruled_over(one)
    ]
    return [*lines, *(f"finding {line} (settled by: approve ID --over NUMBER)" for line in can)]


# --- `prs`: the pull requests of the team --------------------------------------------------------------------


MOST_KEPT = 4 << 20  # bytes of what the forge showed last


def prs(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        rows, problem = pulls(records)
    if arguments.json:
        return print_json(rows)
    if problem:
        print(plain(f"as the forge showed them last: {problem}"))
    if not rows:
        print("no pull requests yet")
    elif (place := records.home.forge(records.settings.target.name)).exists():
        print(f"fetch one with: git fetch {shlex.quote(str(place))} BRANCH")
    for row in rows:
        print(plain(f"#{row['number']:<4} {row['state']:<7} {row['title']}"))
        print(plain(f"{'':<14}{row['branch']} -> {row['base']}"))
        if row["url"].startswith("http"):
            print(plain(f"{'':<14}{row['url']}"))
    return 0


def pulls(records: Records) -> tuple[list[dict[str, Any]], str]:
    """Return the newest first (`task` is empty where one is not ours), and why the forge was not asked, if so."""
    try:
        rows = _asked(records)
    except TeamError as problem:
        return _remembered(records), str(problem)
    _remember(records, rows)
    return rows, ""


def _asked(records: Records) -> list[dict[str, Any]]:
    from sisimpur.shared.forge.forge import task_of

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


def pull_text(records: Records, number: int) -> str:
    """Return its body without our marker, and its change; empty if there is no forge yet."""
    try:
        forge = records.forge()
        if forge is None:
            return ""
        return f"{forge.get_pull(number).body.partition(chr(10))[2]}\n\nthe change:\n\n{forge.diff(number)}"
    except TeamError as problem:
        return str(problem)


# --- what the forge showed last ------------------------------------------------------------------------------


def _memory(records: Records) -> Path:
    return records.home.state / "pulls.json"


def _remember(records: Records, rows: list[dict[str, Any]]) -> None:
    """Keep the answer of GitHub; a forge of our own is never away. A disk that is full stops nobody from looking."""
    if github_name(records.settings) and rows != _remembered(records):
        with suppress(OSError, TeamError):
            write_text(_memory(records), json.dumps(rows))


def _remembered(records: Records) -> list[dict[str, Any]]:
    try:
        rows = json.loads(read_text(_memory(records), MOST_KEPT))
    except (FileNotFoundError, ValueError, Refused):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
