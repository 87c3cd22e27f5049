"""`tasks`: what is to be done, what ended of late, and where it stands. `prs`: the pull requests of the team."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any

from sisimpur.agents.orchestrator.board.snapshot import BoardFacts, Snapshot, StuckTask, load_snapshot, stuck_tasks
from sisimpur.agents.orchestrator.integration.feature_branches import own_target
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, pasteable, plain, print_json, print_list
from sisimpur.cli.wiring.forge import github_name
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.model.lifecycle import Card, State, waits_for
from sisimpur.shared.model.text import counted
from sisimpur.shared.store.ended_tasks import EndedTasks
from sisimpur.shared.system.paths import read_text, write_text

LONGEST_NOTE = 300  # on the screen


def snapshot(records: Records, shown: AbstractSet[str] | None = None) -> Snapshot:
    """Read the tasks as they lie in their folders, and what the database says of them.

    `shown`: those that are over and read nevertheless; None: all.
    """
    limits = records.settings.policy.attempts.limits
    return load_snapshot(records.store, records.journal, BoardFacts(records.wanted(), limits, shown=shown))


# --- tasks ---------------------------------------------------------------------------------------------------


def tasks(arguments: Arguments) -> int:
    """Print what is open, what waits for the owner, and what ended last. `--json` and `--all`: every task."""
    with open_records(arguments.home) as records:
        every = arguments.json or arguments.all
        seen = snapshot(records, None if every else EndedTasks(records.db).of_late())
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
    if more := sum(map(len, seen.board.closed.values())):
        print(f"… and {counted(more, 'task')} that ended before; all: {command(arguments.home, 'tasks', '--all')}")
    print_list("unreadable", seen.unreadable)
    return 0


def _row(card: Card, seen: Snapshot, records: Records) -> dict[str, Any]:
    known = seen.known.get(card.id)
    waiting = waits_for(card, seen.board) if card.state is State.BACKLOG else ""
    return {
        "id": card.id,
        "state": card.state.value,
        "title": card.spec.title if card.spec else "",
        "priority": card.spec.priority.value if card.spec else "",
        "goal": card.spec.goal_id if card.spec else "",
        "branch": own_target(records.journal, known) if known else "",
        "attempts": sum(one.outcome != "void" for one in known.attempts) if known else 0,
        "note": waiting or (known.newest.note if known and known.newest else ""),
    }


def stuck_row(one: StuckTask | None, records: Records) -> dict[str, Any] | None:
    """What it is stuck on, since when, and what to type; None: it is not."""
    if one is None:
        return None
    commands = [command(records.home.root, *way.split()) for way in one.ways]
    return {"on": one.on, "why": one.why, "since": one.since, "behind": list(one.behind), "commands": commands}


# --- pull requests -------------------------------------------------------------------------------------------

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
    print("".join(f"{line}\n" for row in rows for line in _lines(row)), end="")
    return 0


def _lines(row: dict[str, Any]) -> Iterator[str]:
    yield plain(f"#{row['number']:<4} {row['state']:<7} {row['title']}")
    yield plain(f"{'':<14}{row['branch']} -> {row['base']}")
    if row["url"].startswith("http"):
        yield plain(f"{'':<14}{row['url']}")


def pulls(records: Records) -> tuple[list[dict[str, Any]], str]:
    """Return the newest first (`task` is empty where one is not ours), and why the forge was not asked, if so."""
    try:
        rows = _asked(records)
    except TeamError as problem:
        return _remembered(records), str(problem)
    _remember(records, rows)
    return rows, ""


def remember_pulls(records: Records) -> None:
    """Keep what GitHub shows, for looking at it while it is away; a forge of our own never is."""
    if github_name(records.settings):
        pulls(records)


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
    """Return its body without our marker, and its change, tests first; empty if there is no forge yet."""
    from sisimpur.agents.orchestrator.publishing.owner_text import tests_first

    try:
        forge = records.forge()
        if forge is None:
            return ""
        change = tests_first(forge.diff(number))
        return f"{forge.get_pull(number).body.partition(chr(10))[2]}\n\nthe change:\n\n{change}"
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
