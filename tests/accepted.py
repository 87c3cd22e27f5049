"""Golden files: the outputs that people and scripts rely on. A difference fails and says how to accept it."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
ACCEPT = "SISIMPUR_ACCEPT"  # conftest.py lets it through
MOST_SHOWN = 80  # lines of a difference


def is_accepted(name: str, text: str) -> None:
    """The file of this name holds exactly this text; with SISIMPUR_ACCEPT=1 it is written instead."""
    path = GOLDEN / name
    if os.environ.get(ACCEPT):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return
    before = path.read_text("utf-8") if path.exists() else ""
    if text != before:
        pytest.fail(_told(name, before, text), pytrace=False)


def _told(name: str, before: str, now: str) -> str:
    found = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "accepted", "now", lineterm="", n=2))
    more = [f"... and {len(found) - MOST_SHOWN} more lines"] if len(found) > MOST_SHOWN else []
    return "\n".join(
        (
            f"tests/golden/{name} is something that people and scripts rely on, and it has changed:",
            *found[:MOST_SHOWN],
            *more,
            f"Is that what you want? Then type: {ACCEPT}=1 {_typed()} and commit the file with a reason.",
        )
    )


def _typed() -> str:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    return f".venv/bin/python -m pytest '{test}'"
