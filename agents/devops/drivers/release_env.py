"""Door to a place's environment. The only module that reads its `env_file`. What is in there is never told.

Lines of NAME=VALUE; `export ` before one, empty lines and those that begin with # are fine, and so is a file without
any. A value goes to the end of its line; quotes around the whole of it are not part of it. Nothing in it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from shared.config.settings_deploy import PlaceSettings
from shared.model.errors import Misconfigured, Refused
from shared.system.paths import read_text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
MOST_LISTED = 5  # lines


def release_env(place: PlaceSettings) -> dict[str, str]:
    """What is said in `env` counts before what is said in the file. Misconfigured: what is wrong with the file."""
    return {**(read_env_file(Path(place.env_file)) if place.env_file else {}), **place.env}


def read_env_file(path: Path) -> dict[str, str]:
    """Of a name that comes twice the last value counts. Misconfigured: it is not there, or not as it should be."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise Misconfigured(f"there is no {path}: make it (it may be empty), or take its `env_file` out") from None
    except Refused as refused:
        raise Misconfigured(f"`env_file` {path.parent}/{refused}") from None
    rows = list(_rows(text))
    if broken := [number for number, row in rows if row is None]:
        lines = ", ".join(map(str, broken[:MOST_LISTED])) + (", ..." if broken[MOST_LISTED:] else "")
        raise Misconfigured(f"{path}, line {lines}: write NAME=VALUE")
    return dict(row for _, row in rows if row)


def _rows(text: str) -> Iterator[tuple[int, tuple[str, str] | None]]:
    """(line from 1, name and value; None: it is not as it should be)."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, _row(line)


def _row(line: str) -> tuple[str, str] | None:
    name, equals, value = line.strip().removeprefix("export ").partition("=")
    if not equals or not NAME.fullmatch(name.strip()) or CONTROL.search(value):
        return None
    return name.strip(), _unquoted(value.strip())


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
