"""Values -> lines on the terminal: JSON for scripts, lists and tables for people."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sisimpur.cli.setup.folders import BUILT, IS_INSTALLED
from sisimpur.cli.terminal.arguments import CHECKOUT, nearest_home
from sisimpur.shared.model.text import OUR_BREAK, begin_and_end, printable, shown
from sisimpur.shared.money.token_budget import Totals, as_dollars

MOST_SHOWN = 20
LONGEST_WHY = 300  # characters on the screen
BOLD, RED, GREEN = "1", "31", "32"


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
        print(coloured(f"\n{heading}:", BOLD))
        for first, *rest in groups[:MOST_SHOWN]:
            print(wrapped(plain(first), terminal_width()))
            for line in rest:
                print(f"      {plain(line)}")
        if len(groups) > MOST_SHOWN:
            print(f"  … and {len(groups) - MOST_SHOWN} more")


def coloured(text: str, how: str) -> str:
    """The text in a colour, where a terminal has it and its owner has not said NO_COLOR."""
    has_colour = sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
    return f"\x1b[{how}m{text}\x1b[0m" if has_colour else text


def print_line(line: str, rest: int) -> None:
    """Print a line; on a terminal it is broken between words, and goes on at column `rest`."""
    print(wrapped(plain(line), terminal_width(), 0, rest))


def terminal_width() -> int:
    """Columns of the terminal; 0: it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def wrapped(line: str, width: int, first: int = 2, rest: int = 4) -> str:
    """Break a line between its words, for so many columns; 0: it is no terminal, and nothing is broken.

    `first`, `rest`: the columns at which the first line and the others begin.
    """
    if not width:
        return " " * first + line
    lines, now = [], " " * first
    for word in re.findall(r"\s*\S+", line):
        if now.strip() and columns(now + word) > width:
            lines.append(now)
            now = " " * rest + word.lstrip()
        else:
            now += word
    return "\n".join((*lines, now))


def columns(text: str) -> int:
    """Columns of a terminal that a text takes: Bengali's marks stand over their letters, wide letters take two."""
    return sum(
        0 if unicodedata.category(one) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(one) in "WF")
        for one in text
    )


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
    """Return dollars rounded to four decimals, as the report does: enough for a glance; --json has all nine."""
    step = 100_000
    near = (abs(nano) + step // 2) // step * step
    return as_dollars(near if nano >= 0 else -near)[:-5]


# --- texts for the terminal ----------------------------------------------------------------------------------


HINT = re.compile(r"\bpython main\.py(?=\s)(?P<named>(?= --home\b))?")


def plain(text: str) -> str:
    """Return one line without control characters: no text can move the cursor, ring, or recolour the screen.

    What nobody sees is shown as `[U+200B]`.
    """
    return printable(shown(OUR_BREAK.sub("", text)))


def plain_block(text: str) -> str:
    """Do as plain() does, but keep lines and tabs."""
    return printable(shown(OUR_BREAK.sub("", text)), "\ufffd", keep="\n\t")


# --- commands that can be pasted -------------------------------------------------------------------------------


def command(home: Path, *words: str, anywhere: bool = False) -> str:
    """Return what to type, from here, for a command on this home; only the default home is left out.

    `anywhere`: it is read in a report or a message, and pasted in whatever folder its reader is.
    """
    where = () if _is_default(home) and not anywhere else ("--home", shlex.quote(str(home)))
    return " ".join((_program(anywhere), *where, *words))


def pasteable(text: str, home: Path) -> str:
    """Complete each `python main.py ...` of a text that knew no home, so that it works when it is pasted here."""
    text = text.replace("make setup", "sisimpur setup") if IS_INSTALLED else text
    return HINT.sub(lambda found: _program() if found["named"] is not None else command(home), text)


def _program(anywhere: bool = False) -> str:
    """Name interpreter and file: not every system has a `python`, and not everybody types in the checkout."""
    if IS_INSTALLED:
        return "sisimpur" if shutil.which("sisimpur") else shlex.quote(str(Path(sys.executable).with_name("sisimpur")))
    main = "main.py" if Path.cwd() == CHECKOUT and not anywhere else shlex.quote(str(CHECKOUT / "main.py"))
    return f"{'python' if shutil.which('python') else 'python3'} {main}"


def _is_default(home: Path) -> bool:
    """Tell whether the home can be left out. One from SISIMPUR_HOME cannot: the next terminal may not have it set."""
    found = os.environ.get("SISIMPUR_HOME") or nearest_home(Path.cwd()) or BUILT
    return home == BUILT == Path(found)
