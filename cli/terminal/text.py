"""Texts for the terminal. What comes from files, models and forges is shown, never obeyed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

from cli.terminal.arguments import CHECKOUT
from shared.model.text import printable

HINT = re.compile(r"\bpython main\.py(?=\s)(?P<named>(?= --home\b))?")


def plain(text: str) -> str:
    """One line without control characters: no text can move the cursor, ring, or recolour the screen."""
    return printable(text)


def plain_block(text: str) -> str:
    """As plain(), but lines and tabs stay."""
    return printable(text, "\ufffd", keep="\n\t")


# --- commands that can be pasted -------------------------------------------------------------------------------


def command(home: Path, *words: str) -> str:
    """What to type, from here, for a command on this home; only the default home goes without saying."""
    where = () if _is_default(home) else ("--home", shlex.quote(str(home)))
    return " ".join((_program(), *where, *words))


def pasteable(text: str, home: Path) -> str:
    """Whoever wrote `python main.py ...` into a text knew no home: the command as it works when it is pasted here."""
    return HINT.sub(lambda found: _program() if found["named"] is not None else command(home), text)


def _program() -> str:
    """Not every system knows a `python`, and not everybody types in the checkout."""
    main = "main.py" if Path.cwd() == CHECKOUT else shlex.quote(str(CHECKOUT / "main.py"))
    return f"{'python' if shutil.which('python') else 'python3'} {main}"


def _is_default(home: Path) -> bool:
    """SISIMPUR_HOME may be set in this terminal and not in the next one, so its home is always named."""
    return home == CHECKOUT and os.environ.get("SISIMPUR_HOME", "") in ("", str(CHECKOUT))
