"""Calls that were kept, what they did on both commits, and what that says of the change. Pure.

What comes out of a box was written beside the code that is tested: it is data, of limited size. It can only add a
complaint, never take one away.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sisimpur.agents.qa.differential.comparable import Comparable
from sisimpur.shared.model.evidence import Problem
from sisimpur.shared.model.text import one_line

DIFFERS = "a call does something else"  # that nobody asked for
MOST_CALLS, MOST_LINES = 100, 5_000
LONGEST_LINE, LONGEST_SAID = 40_000, 160  # characters of a line, of a call or a value
SECONDS = 2.0  # of a processor, for all calls, on each commit
MOST_TOLD = 5

# What nobody means to raise; the others are meant where the task speaks of an error.
SLIPS = ("AttributeError", "IndexError", "NameError", "RecursionError", "UnboundLocalError", "ZeroDivisionError")
OFTEN_SLIPS = ("KeyError", "TypeError")
SPEAKS_OF_ERRORS = re.compile(r"\b(rais|error|exception|reject|refus|invalid|fail|unknown|missing)", re.IGNORECASE)
SPEAKS_OF_PLACE = re.compile(r"\b(in[- ]place|mutat|modif|sort|updat|clear|extend|remov|add)", re.IGNORECASE)

Turn = Literal["other value", "other type", "raises", "no end", "changes its input"]


@dataclass(frozen=True)
class KeptCall:
    """A call that a test made. `given`: its arguments, pickled; nobody but a box reads them."""

    function: str
    given: str

    @property
    def name(self) -> str:
        """`Class.method`."""
        return self.function.partition(":")[2]


@dataclass(frozen=True)
class KeptCalls:
    calls: tuple[KeptCall, ...] = ()
    path: tuple[str, ...] = ()
    django: str = ""

    def order(self, remade: Collection[str]) -> bytes:
        """What the box is asked to call again."""
        calls = [{"function": one.function, "given": one.given} for one in self.calls]
        asked = {
            "path": self.path,
            "django": self.django,
            "remade": sorted(remade),
            "seconds": SECONDS,
            "calls": calls,
        }
        return json.dumps(asked).encode("ascii")


@dataclass(frozen=True)
class CallResult:
    """What a call did. `changed`: what it made of its arguments, each before and after.

    `itself`: a method's own object is among them. `quick`: it took a tenth of what a call may take, or less.
    """

    said: str
    end: str
    type: str
    what: str
    changed: tuple[tuple[str, str], ...] = ()
    itself: bool = False
    quick: bool = True

    @property
    def told(self) -> str:
        what = one_line(self.what, LONGEST_SAID)
        if self.end == "raised":
            return f"raises {one_line(self.type, LONGEST_SAID)}{f': {what}' if what else ''}"
        if self.end == "returned":
            return f"returns {what}" + (" and changes what it was given" if self.changed else "")
        return one_line(self.end, LONGEST_SAID)


@dataclass(frozen=True)
class Difference:
    """`near`: 0, the input of a test; else one near it."""

    name: str
    near: int
    turn: Turn
    before: CallResult
    after: CallResult

    @property
    def told(self) -> str:
        said = one_line(self.before.said, LONGEST_SAID)
        return f"{said} {self.before.told} before the change, and now {self.after.told}"


@dataclass(frozen=True)
class Compared:
    """`count`: calls that did something on both commits."""

    count: int = 0
    differences: tuple[Difference, ...] = ()

    def problem(self, alters_nothing: bool, words: str, text: str) -> Problem | None:
        """`words`: of the task. `text`: the changed files as they are now."""
        found = [one for one in self.differences if alters_nothing or _is_slip(one, words, text)]
        if not found:
            return None
        why = "it is to change nothing that shows, but" if alters_nothing else "what worked does not any more:"
        return Problem(DIFFERS, f"{why} {'; '.join(one.told for one in _few(found, 3))}", "correct")

    @property
    def told(self) -> tuple[str, ...]:
        """For who reads the change: a line for each of some calls that do something else now."""
        if not self.differences:
            return (f"{self.count} calls near those of the tests do what they did before",) if self.count else ()
        first = f"{len(self.differences)} of {self.count} calls near those of the tests do something else now"
        return (first, *(one.told for one in _few(self.differences, MOST_TOLD)))


def kept(data: bytes | None, comparable: Comparable) -> KeptCalls:
    """Those of functions whose own words changed come first."""
    found: list[KeptCall] = []
    path: tuple[str, ...] = ()
    django = ""
    for line in _lines(data):
        match line:
            case {"function": str(function), "given": str(given), "path": [*folders], "django": str(settings)}:
                found.append(KeptCall(function[:LONGEST_SAID], given))
                path, django = path or tuple(str(one) for one in folders[:100]), django or settings[:LONGEST_SAID]
    changed = [one for one in found if one.name in comparable.changed]
    others = [one for one in found if one.name not in comparable.changed]
    return KeptCalls((*_by_turns(changed), *_by_turns(others))[:MOST_CALLS], path, django)


def _by_turns(calls: Sequence[KeptCall]) -> list[KeptCall]:
    """One of each function, then the next of each: no function takes all the room."""
    turn: Counter[str] = Counter()
    turns: list[int] = []
    for one in calls:
        turn[one.function] += 1
        turns.append(turn[one.function])
    return [one for _, one in sorted(zip(turns, calls, strict=True), key=lambda both: both[0])]


def results(data: bytes | None) -> Mapping[tuple[int, int], CallResult]:
    """By the number of the call, and of the input near it."""
    return dict(found for line in _lines(data) if (found := _result(line)))


def _result(line: object) -> tuple[tuple[int, int], CallResult] | None:
    match line:
        case {
            "call": [int(number), int(near)],
            "said": str(said),
            "end": str(end),
            "type": str(kind),
            "what": str(what),
            "changes": list(changes),
            "itself": bool(itself),
            "quick": bool(quick),
        }:
            changed = tuple((str(one[0]), str(one[1])) for one in changes if isinstance(one, list) and len(one) == 2)
            return (number, near), CallResult(said, end, kind, what, changed, itself, quick)
    return None


def compared(
    calls: KeptCalls, before: Mapping[tuple[int, int], CallResult], after: Mapping[tuple[int, int], CallResult]
) -> Compared:
    """Only where a call returned before: what was refused is nobody's right."""
    both = [place for place in sorted(before.keys() & after.keys()) if before[place].end == "returned"]
    found = {
        (then.said, turn): Difference(calls.calls[number].name, near, turn, then, now)
        for number, near in reversed(both)  # of the same call the one that a test made
        if 0 <= number < len(calls.calls)
        for then, now in [(before[number, near], after[number, near])]
        if (turn := _turn(then, now))
    }
    return Compared(len({before[place].said for place in both}), tuple(found.values()))


def _turn(then: CallResult, now: CallResult) -> Turn | None:
    if now.end == "raised":
        return "raises"
    if now.end != "returned":
        return "no end" if then.quick else None
    if now.changed and not then.changed and not now.itself:
        return "changes its input"
    if then.type != now.type:
        return "other type"
    return "other value" if (then.what, then.changed) != (now.what, now.changed) else None


def _is_slip(found: Difference, words: str, text: str) -> bool:
    """Whether nobody can have meant this, whatever was asked for."""
    if found.turn == "no end":
        return True
    if found.turn == "changes its input":
        return not SPEAKS_OF_PLACE.search(words)
    if found.turn != "raises" or found.after.type in words or f"raise {found.after.type}" in text:
        return False
    return found.after.type in SLIPS or (found.after.type in OFTEN_SLIPS and not SPEAKS_OF_ERRORS.search(words))


def _few(found: Iterable[Difference], most: int) -> list[Difference]:
    """One of each function and turn first, a test's own input before others, the shortest of these."""
    ordered = sorted(found, key=lambda one: (one.near > 0, len(one.told)))
    firsts = {(one.name, one.turn): one for one in reversed(ordered)}.values()
    return [*sorted(firsts, key=ordered.index), *(one for one in ordered if one not in firsts)][:most]


def _lines(data: bytes | None) -> Iterator[object]:
    for line in (data or b"").splitlines()[:MOST_LINES]:
        try:
            yield json.loads(line) if len(line) <= LONGEST_LINE else None
        except (ValueError, RecursionError):
            yield None
