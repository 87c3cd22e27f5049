"""ROADMAP.md with a goal below another week: as the owner would move its line by hand. Pure.

All else stays as it is: only the goal's bullet goes, with its notes, and at most a heading comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from sisimpur.agents.orchestrator.roadmap.roadmap import LATER
from sisimpur.agents.orchestrator.roadmap.roadmap_file import MONTHS, OTHER, TOP, bullet_at, entered
from sisimpur.shared.model.text import PYTHON_LINE_END
from sisimpur.shared.model.work import MarkdownLine


def moved(text: str, outline: Sequence[MarkdownLine], goal: str, place: str, today: str) -> str | None:
    """`outline`: of the text; `place`: the Monday of a week, YYYY-MM-DD, or LATER. None: the goal does not stand there.

    It comes last in its new place. A heading that is missing is written, before the weeks that come later.
    """
    *lines, rest = PYTHON_LINE_END.split(text)  # Markdown's, too; str.splitlines knows more
    lines += [rest] if rest else []
    begin = next(
        (line.line - 1 for line in outline if line.kind == "bullet" and bullet_at("", line.text).goal == goal), -1
    )
    if begin < 0:
        return None
    own = {line.line - 1 for line in outline if line.kind == "heading" or (line.level == 0 and line.line - 1 != begin)}
    end = _end(lines, begin, own)
    bullet = lines[begin:end]
    headings = list(_places(outline, today))
    at, new = _below(headings, place, len(lines))
    if not new:
        at = _last(lines, at, next((one for one, _ in headings if one > at), len(lines)))
    kept = [(number, line) for number, line in enumerate(lines) if not begin <= number < end]
    before = [line for number, line in kept if number < at]
    after = [line for number, line in kept if number >= at]
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    return "".join(f"{line}{end_of_line}" for line in (*_joined(before, [*new, *bullet], bool(new)), *after))


def _end(lines: Sequence[str], begin: int, own: set[int]) -> int:
    """Where the bullet ends: what is indented below it belongs to it, a blank line only between two of its own."""
    end = begin + 1
    for number in range(begin + 1, len(lines)):
        if number in own or (
            lines[number].strip() and not lines[number - 1].strip() and lines[number][:1] not in " \t"
        ):
            break
        if lines[number].strip():
            end = number + 1
    return end


def _places(outline: Sequence[MarkdownLine], today: str) -> Iterator[tuple[int, str]]:
    """Each heading's line, and the place below it."""
    day = date.fromisoformat(today)
    near = day
    for line in outline:
        if line.kind == "heading":
            place, near = entered(line, near, day)
            yield line.line - 1, place


def _below(headings: Sequence[tuple[int, str]], place: str, last: int) -> tuple[int, list[str]]:
    """The line of the place's own heading; or where one has to come, and which."""
    if there := [number for number, one in headings if one == place]:
        return there[-1], []
    if place == LATER:
        at = next((number for number, one in headings if one.startswith(OTHER)), last)
        return at, ["## Later", ""]
    day = date.fromisoformat(place)
    later = (number for number, one in headings if one != TOP and (not one[:1].isdecimal() or one > place))
    return next(later, last), [f"### Week of {day.day} {MONTHS[day.month - 1]} {day.year}", ""]


def _last(lines: Sequence[str], heading: int, following: int) -> int:
    """Behind the last line that says something, from a heading on to the next."""
    return 1 + max(number for number in range(heading, following) if lines[number].strip() or number == heading)


def _joined(before: Sequence[str], new: Sequence[str], is_section: bool) -> list[str]:
    """With a blank line where Markdown wants one: before a heading, and between a heading and its first bullet."""
    gap = bool(before) and bool(before[-1].strip()) and (is_section or before[-1].lstrip().startswith("#"))
    return [*before, *[""] * gap, *new, *[""] * is_section]
