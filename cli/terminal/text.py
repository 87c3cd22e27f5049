"""Texts for the terminal. What comes from files, models and forges is shown, never obeyed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from sisimpur.cli.setup.environments import BUILT, IS_INSTALLED
from sisimpur.cli.terminal.arguments import CHECKOUT, nearest_home
from sisimpur.shared.model.text import printable

HINT = re.compile(r"\bpython main\.py(?=\s)(?P<named>(?= --home\b))?")


def plain(text: str) -> str:
    """Return one line without control characters: no text can move the cursor, ring, or recolour the screen."""
    return printable(text)


def plain_block(text: str) -> str:
    """Do as plain() does, but keep lines and tabs."""
    return printable(text, "\ufffd", keep="\n\t")


# --- commands that can be pasted -------------------------------------------------------------------------------


def command(home: Path, *words: str) -> str:
    """Return what to type, from here, for a command on this home; only the default home is left out."""
    where = () if _is_default(home) else ("--home", shlex.quote(str(home)))
    return " ".join((_program(), *where, *words))


def pasteable(text: str, home: Path) -> str:
    """Complete each `python main.py ...` of a text that knew no home, so that it works when it is pasted here."""
    text = text.replace("make setup", "sisimpur setup") if IS_INSTALLED else text
    return HINT.sub(lambda found: _program() if found["named"] is not None else command(home), text)


def _program() -> str:
    """Name interpreter and file: not every system has a `python`, and not everybody types in the checkout."""
    if IS_INSTALLED:
        return "sisimpur" if shutil.which("sisimpur") else shlex.quote(str(Path(sys.executable).with_name("sisimpur")))
    main = "main.py" if Path.cwd() == CHECKOUT else shlex.quote(str(CHECKOUT / "main.py"))
    return f"{'python' if shutil.which('python') else 'python3'} {main}"


def _is_default(home: Path) -> bool:
    """Tell whether the home can be left out. One from SISIMPUR_HOME cannot: the next terminal may not have it set."""
    found = os.environ.get("SISIMPUR_HOME") or nearest_home(Path.cwd()) or BUILT
    return home == BUILT == Path(found)
