"""A model's reply -> what it asks us to show or to delete, in lines of our own; and the doing of it. Pure.

`SHOW path`, `SHOW path::Name`, `SHOW path:10-80`; `DELETE path::Name`, `DELETE path:10-80`, `DELETE FILE path`.
Such a line stands outside of all edits: inside, it is somebody's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sisimpur.agents.coder.parts import LEFT_OUT, lines_of, place_of
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.repo.definitions import definitions, parse

ORDER = re.compile(
    r"(?P<verb>SHOW|DELETE) (?:(?P<whole>FILE) (?P<file>\S+)"
    r"|(?P<path>[^\s:]+)(?:::(?P<name>[\w.]+)|:(?P<first>\d{1,7})-(?P<last>\d{1,7})))\s*"
)
SHOW_FILE = re.compile(r"SHOW (?P<path>[^\s:]*[./][^\s:]*)\s*")
EDIT = re.compile(r"<{5,9} SEARCH>?\s*|>{5,9} REPLACE\s*")  # how the engine reads where an edit begins, and ends
MOST_ORDERS = 20


@dataclass(frozen=True)
class PartOrder:
    """One line. Neither a name nor lines: the whole file."""

    verb: Literal["SHOW", "DELETE"]
    path: str
    name: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if self.name or not self.first:
            return f"{self.path}::{self.name}" if self.name else self.path
        return f"{self.path}:{self.first}-{self.last}"

    def lines_in(self, text: str) -> range:
        """Lines of it, counted from 1. Refused: there is no such place."""
        count = text.count("\n") + (not text.endswith("\n"))
        found = place_of(text, self.name) if self.name else range(self.first, min(self.last, count) + 1)
        if not self.name and not self.first:
            found = range(1, count + 1)
        if not found or not 1 <= found.start <= count:
            raise Refused(f"there is no {self}")
        return found


def orders(reply: str, verb: Literal["SHOW", "DELETE"]) -> tuple[PartOrder, ...]:
    """In their order, each once."""
    found = (order for line in _outside(reply) if (order := _order(line)) and order.verb == verb)
    return tuple(dict.fromkeys(found))[:MOST_ORDERS]


def _order(line: str) -> PartOrder | None:
    if named := SHOW_FILE.fullmatch(line):
        return PartOrder("SHOW", named["path"])
    one = ORDER.fullmatch(line)
    if one is None or (one["whole"] and one["verb"] == "SHOW"):
        return None
    verb: Literal["SHOW", "DELETE"] = "SHOW" if one["verb"] == "SHOW" else "DELETE"
    return PartOrder(verb, one["file"] or one["path"], one["name"] or "", int(one["first"] or 0), int(one["last"] or 0))


def _outside(reply: str) -> Iterator[str]:
    """Lines outside of edits; quotes and bullets around them say nothing."""
    is_edit = False
    for line in reply.split("\n"):
        if EDIT.fullmatch(line):
            is_edit = line.startswith("<")
        elif not is_edit:
            yield line.strip(" `*-")


# --- deleting ------------------------------------------------------------------------------------------------


def deleted(wanted: tuple[PartOrder, ...], before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str | None]:
    """Path -> its text without what is to go; None: the file goes. `before`: as the model saw it, `now`: as edited.

    Refused: there is no such place, or what would be left is no program any more.
    """
    left: dict[str, str | None] = {}
    for one in wanted:
        text = left.get(one.path, now.get(one.path))
        if text is None:
            raise Refused(f"{one.path} cannot be deleted from: it is not there, or the task does not name it to edit")
        left[one.path] = _without(one, before.get(one.path, text), text) if one.name or one.first else None
    for path, text in left.items():
        if text is not None and parse(now[path]) and not parse(text) and path.endswith(".py"):
            raise Refused(f"{path} would be no Python any more without what was to be deleted")
    return left


def _without(one: PartOrder, before: str, text: str) -> str:
    """By name, from what stands there now; by lines, those that the model saw."""
    lines = lines_of(text)
    if one.name:
        place = one.lines_in(text)
        first, last = place.start, place.stop - 1
    else:
        seen = one.lines_in(before)
        gone = "".join(lines_of(before)[seen.start - 1 : seen.stop - 1])
        if text.count(gone) != 1:
            raise Refused(f"{one} was changed by an edit, or stands there more than once")
        first = text[: text.index(gone)].count("\n") + 1
        last = first + len(seen) - 1
    above, below = lines[: first - 1], lines[last:]
    while below and not below[0].strip() and (not above or not above[-1].strip()):
        below = below[1:]
    return "".join((*above, *below))


# --- showing -------------------------------------------------------------------------------------------------


def part_of(one: PartOrder, text: str) -> str:
    """The lines, letter by letter. Refused: there is no such place; the names that there are."""
    try:
        place = one.lines_in(text)
    except Refused as reason:
        names = ", ".join(each.name for each in definitions(text))
        raise Refused(f"{reason}; the file has {names or 'no definitions'}") from None
    lines = lines_of(text)[place.start - 1 : place.stop - 1]
    return f"{LEFT_OUT} lines {place.start}-{place.stop - 1}\n{''.join(lines)}"
