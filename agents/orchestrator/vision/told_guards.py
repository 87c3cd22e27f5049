"""Guards as the owner reads them: what is held, new or lost, and what a model alone made of a note. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Guard, Remark

EXCEPT = re.compile(
    r"\b(?:except(?:ing)?|excluding|unless|but not|(?:apart|aside) from|other than)\b"
    r"|\b(?:außer|sauf|excepto)\b|\u099b\u09be(?:\u09dc|\u09a1\u09bc)\u09be|\u09ac\u09be\u09a6\u09c7",
    re.IGNORECASE,
)


def holding(guards: Iterable[Guard], before: Iterable[Guard], day: str) -> Iterator[str]:
    """A line for each guard. `before`: those of the day before."""
    old = {guard.note: {*guard.patterns} for guard in before}
    for guard in guards:
        is_new = not {*guard.patterns} <= old.get(guard.note, set())
        said = [*(["new guard"] if is_new else []), *(["only a model found it"] if guard.unseen == day else [])]
        yield _line(guard.note, guard.patterns) + (f" ({', '.join(said)})" if said else "")


def lost(guards: Iterable[Guard], before: Iterable[Guard]) -> Iterator[str]:
    """A line for each note, or pattern, that was held and is held no more: the owner has edited it away."""
    held = {pattern for guard in guards for pattern in guard.patterns}
    for guard in before:
        if gone := [pattern for pattern in guard.patterns if pattern not in held]:
            yield f"{_line(guard.note, gone)} (no longer guarded: its note was changed or removed)"


def changes(guards: Sequence[Guard], before: Sequence[Guard], wishes: Sequence[Remark], day: str) -> tuple[str, ...]:
    """What is new, lost, or a model's word alone, and what protects nothing: for `status` and the report."""
    old = {(guard.note, guard.patterns) for guard in before}
    fresh = [guard for guard in guards if (guard.note, guard.patterns) not in old or guard.unseen == day]
    told = holding(fresh, before, day)
    return (*told, *lost(guards, before), *map(wish, wishes))


def wish(remark: Remark) -> str:
    return f"{remark.text} (VISION.md, line {remark.line}: a wish, protects nothing)"


def _line(note: str, patterns: Iterable[str]) -> str:
    said = EXCEPT.search(note)
    also = f"; what stands behind `{said[0]}` is guarded, too: no word takes a guard away" if said else ""
    return f"{note} → {', '.join(f'`{pattern}`' for pattern in patterns)}{also}"


def unseen(guards: Iterable[Guard], day: str) -> tuple[str, ...]:
    """Say of each guard that only a model found on that day what it was made of: the owner may mean something else."""
    return tuple(
        f'a model alone read your note "{one_line(guard.note, 120)}" as {one_line(", ".join(guard.patterns), 120)}: '
        "look whether you mean that; once you approve this, or tomorrow, what passes the gates merges by itself again"
        for guard in guards
        if guard.unseen == day
    )
