"""`prs`: the pull requests of the team."""

from __future__ import annotations

import shlex
from typing import Any

from cli.arguments import Arguments
from cli.printing import print_json
from cli.records import Records, open_records
from cli.text import plain


def prs(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        rows = pulls(records)
    if arguments.json:
        return print_json(rows)
    if not rows:
        print("no pull requests yet")
    elif (place := records.home.forge(records.settings.target.name)).exists():
        print(f"fetch one with: git fetch {shlex.quote(str(place))} BRANCH")
    for row in rows:
        print(plain(f"#{row['number']:<4} {row['state']:<7} {row['title']}"))
        print(plain(f"{'':<14}{row['branch']} -> {row['base']}"))
    return 0


def pulls(records: Records) -> list[dict[str, Any]]:
    """The newest first; `task` is empty where the pull request is not ours."""
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


def pull_text(records: Records, number: int) -> str:
    """Its body without our marker, and its change."""
    forge = records.forge()
    if forge is None:
        return ""
    return f"{forge.get_pull(number).body.partition(chr(10))[2]}\n\nthe change:\n\n{forge.diff(number)}"
