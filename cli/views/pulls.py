"""`prs`: the pull requests of the team: what is open, and what ended of late."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, plain, print_json, print_line
from sisimpur.cli.wiring.forge import github_name
from sisimpur.cli.wiring.records import PullsSeen, Records, open_records
from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.system.paths import read_text, write_text

if TYPE_CHECKING:
    from sisimpur.shared.forge.forge import Forge

MOST_ENDED = 20  # that are shown, unless all are asked for
MOST_KEPT = 4 << 20  # bytes of what the forge showed last
ASKED_AGAIN = timedelta(seconds=10)  # GitHub: it counts the team's calls, and a page may be read in a loop


def prs(arguments: Arguments) -> int:
    """Print the open ones, and those that ended last. `--json` and `--all`: every one."""
    every = arguments.json or arguments.all
    with open_records(arguments.home, looking=True) as records:
        rows, problem = pulls(records, None if every else MOST_ENDED + 1)
        waiting = {} if arguments.json else {row["number"]: _waiting(row, records) for row in rows}
    if arguments.json:
        return print_json(rows)
    ended = [row for row in rows if row["state"] != "open"]
    if older := not every and ended[MOST_ENDED:]:
        rows = [row for row in rows if row not in older]
    if problem:
        print(plain(f"as the forge showed them last: {problem}"))
    if not rows:
        print("no pull requests yet")
    elif typed := pull_line(records):
        print(f"in your clone, what was merged comes with: {typed}")
        print(f"and one that is open with: git fetch {shlex.quote(str(_forge(records)))} BRANCH")
    rows.sort(key=lambda row: waiting[row["number"]][0], reverse=True)  # the newest first where none waits
    for row in rows:
        for line in (*_lines(row), *waiting[row["number"]][1]):
            print_line(line, 14)
    if older:
        print(f"… and what ended before; all: {command(arguments.home, 'prs', '--all')}")
    return 0


def pull_line(records: Records) -> str:
    """What the owner types in his clone to get what was merged; empty: there is a forge that he fetches from."""
    branch = shlex.quote(records.settings.target.file.branch)
    return f"git pull --no-rebase {shlex.quote(str(_forge(records)))} {branch}" if _forge(records).exists() else ""


def _forge(records: Records) -> Path:
    return records.home.forge(records.settings.target.name)


def _waiting(row: dict[str, Any], records: Records) -> tuple[tuple[int, ...], list[str]]:
    """How risky it is, empty if it does not wait for the owner; why it waits, and what no gate saw."""
    parked = records.gates.parked(row["task"]) if row["task"] and row["state"] == "open" else None
    if parked is None or records.gates.is_approved(parked):
        return (), []
    from sisimpur.agents.orchestrator.publishing.owner_text import risk, unseen

    found, reviewed = records.gates.newest(row["task"])
    lines = [f"waits for you: {'; '.join(parked.reasons)}"]
    lines += [f"not seen: {'; '.join(unseen(found))}"] if found and unseen(found) else []
    return risk(found, reviewed), [f"{'':<14}{line}" for line in lines]


def _lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"#{row['number']:<4} {row['state']:<7} {row['title']}"
    yield f"{'':<14}{row['branch']} -> {row['base']}"
    if row["url"].startswith("http"):
        yield f"{'':<14}{row['url']}"


def pulls(records: Records, ended: int | None = None) -> tuple[list[dict[str, Any]], str]:
    """Return the newest first (`task` is empty where one is not ours), and why the forge was not asked, if so.

    `ended`: at most so many of those that are not open; a forge that may be away is asked for all, and not each time.
    """
    try:
        if not github_name(records.settings):
            return _rows(records.forge(), ended), ""
    except TeamError as problem:
        return _remembered(records), str(problem)
    seen = records.pulls_seen
    with seen.turn:
        if seen.at is None or abs(records.clock.now() - seen.at) >= ASKED_AGAIN:
            _look(records, seen)
            seen.at = records.clock.now()
        return [*seen.rows], seen.problem


def _look(records: Records, seen: PullsSeen) -> None:
    try:
        seen.forge = seen.forge or records.forge()  # it remembers what it was told, and GitHub counts only what is new
        seen.rows, seen.problem = _rows(seen.forge, None), ""
    except TeamError as problem:
        seen.rows, seen.problem = _remembered(records), str(problem)
    else:
        _remember(records, seen.rows)


def remember_pulls(records: Records) -> None:
    """Keep what GitHub shows, for looking at it while it is away; a forge of our own never is."""
    if github_name(records.settings):
        pulls(records)


def _rows(forge: Forge | None, ended: int | None) -> list[dict[str, Any]]:
    from sisimpur.shared.forge.forge import task_of

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
        for pull in forge.list_pulls(every=True, ended=ended)
    ]


def pull_text(records: Records, number: int) -> str:
    """Return its body without our marker, and its change, tests first; empty if there is no forge yet."""
    from sisimpur.agents.orchestrator.publishing.delivery import after_merge
    from sisimpur.agents.orchestrator.publishing.owner_text import tests_first

    try:
        forge = records.forge()
        if forge is None:
            return ""
        change = tests_first(forge.diff(number))
        pull = forge.get_pull(number)
        body = pull.body.partition(chr(10))[2]
        body = after_merge(body) if pull.state == "merged" else body
        return f"{body}\n\nthe change:\n\n{change}"
    except TeamError as problem:
        return str(problem)


# --- what the forge showed last ------------------------------------------------------------------------------


def _memory(records: Records) -> Path:
    return records.home.state / "pulls.json"


def _remember(records: Records, rows: list[dict[str, Any]]) -> None:
    """Keep the answer of GitHub. A disk that is full stops nobody from looking."""
    if rows != _remembered(records):
        with suppress(OSError, TeamError):
            write_text(_memory(records), json.dumps(rows))


def _remembered(records: Records) -> list[dict[str, Any]]:
    try:
        rows = json.loads(read_text(_memory(records), MOST_KEPT))
    except (FileNotFoundError, ValueError, Refused):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
