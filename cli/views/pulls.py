"""`prs`: the pull requests of the team."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import plain, print_json
from sisimpur.cli.wiring.forge import github_name
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.system.paths import read_text, write_text

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
