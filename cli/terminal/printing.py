"""Values -> lines on the terminal: JSON for scripts, lists and tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sisimpur.agents.orchestrator.reports.deploy_text import begin_and_end
from sisimpur.cli.terminal.text import plain
from sisimpur.shared.money.token_budget import Totals, as_dollars

MOST_SHOWN = 20
LONGEST_WHY = 300  # characters on the screen


def print_json(value: Any) -> int:
    print(json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())
    return 0


def print_list(heading: str, lines: Iterable[str]) -> None:
    """Print at most MOST_SHOWN of them; nothing at all if there is none."""
    print_groups(heading, ([line] for line in lines))


def print_groups(heading: str, groups: Iterable[Sequence[str]]) -> None:
    """Print groups: a line each, and what belongs to it further to the right."""
    groups = list(groups)
    if groups:
        print(f"\n{heading}:")
        for first, *rest in groups[:MOST_SHOWN]:
            print(f"  {plain(first)}")
            for line in rest:
                print(f"      {plain(line)}")
        if len(groups) > MOST_SHOWN:
            print(f"  … and {len(groups) - MOST_SHOWN} more")


def print_table(title: str, columns: Sequence[str], *sections: Iterable[Sequence[str]]) -> None:
    """Print a table: the first column is a name, the others are figures; a line stands between sections."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for rows in sections:
        for row in rows:
            table.add_row(*map(_literal, row))
        table.add_section()
    Console().print(table)


def _literal(text: str) -> str:
    from rich.markup import escape

    return escape(plain(text))


def on_screen(text: str, most: int = LONGEST_WHY) -> str:
    """Make one bounded line, for the screen, of what programs and people said."""
    return begin_and_end(" ".join(plain(text).split()), most)


def money(totals: Totals) -> dict[str, str]:
    """Return dollars with nine decimals, for scripts."""
    return {name: as_dollars(getattr(totals, name)) for name in ("cap", "spent", "reserved", "lost")}


def short(nano: int) -> str:
    """Return dollars with four decimals: enough for a glance; --json has all nine."""
    return as_dollars(nano)[:-5]
