"""VISION.md's outline -> Vision, and the difference to the vision that was accepted last. Pure; no model is asked.

Headings open sections: `Priority: CRITICAL|HIGH|MEDIUM|LOW` (goals), `Ideas`, `Notes` or `Constraints`,
`Don't touch`. A bullet in a section is one goal, idea or note; what is nested in it belongs to it. What stands below
`Don't touch`, or behind `guards:` wherever, is a note that guards what it names, without a model. Everything else is
prose: `unread`, for a model to look at.
A bullet that is checked off, `[x]`, is done: it is no goal any more, and what it was is remembered. A heading with a
slip of the pen is read as what it is most like, and the owner is told so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice

from sisimpur.agents.orchestrator.vision.goal_ids import ISSUE, PROSE, identified, normalised
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import around_unseen
from sisimpur.shared.model.work import Goal, MarkdownLine, Priority, Remark, Vision, VisionChange
from sisimpur.shared.words.meaning import APOSTROPHES

MAX_GOALS = 200
MOST_UNSEEN = 10  # lines that are told
LONGEST_TITLE = 200
NAMES, LIKE, LIKE_LEVEL, LONGEST_HEADING = ("priority", "ideas", "notes", "constraints"), 0.81, 0.74, 4
GUARD_LINE = re.compile(r"(?<!\S)guards?\s*:\s*(?=\S)", re.IGNORECASE)
CHECKBOX = re.compile(r"\[([ xX])\](?:\s+|$)")


# --- sections ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VisionSection:
    kind: str  # goals | ideas | notes | guards | prose
    priority: Priority = Priority.MEDIUM
    warning: str = ""


ELSEWHERE = VisionSection("prose")
GUARDED = (("don", "t", "touch"), ("dont", "touch"), ("do", "not", "touch"), ("guards",))


def _section(heading: str) -> VisionSection | None:
    """What a heading opens, whatever emoji, capitals and punctuation surround its words; None: nothing we know."""
    words = normalised(heading.translate(APOSTROPHES))
    return _known(words, heading) or _misspelt(words, heading)


def _known(words: Sequence[str], heading: str) -> VisionSection | None:
    levels = [Priority(word) for word in words if word in set(Priority)]
    if words[:1] == ("priority",) or words[-1:] == ("priority",) or (levels and len(words) == 1):
        return VisionSection("goals", levels[0]) if levels else _nearest(words, heading)
    if words[:1] in (("idea",), ("ideas",)) or words == ("research", "first"):
        return VisionSection("ideas")
    if words[:1] in (("note",), ("notes",), ("constraint",), ("constraints",)):
        return VisionSection("notes")
    if tuple(words) in GUARDED:
        return VisionSection("guards")
    return None


def _nearest(words: Sequence[str], heading: str) -> VisionSection:
    like = [level for word in words for level in get_close_matches(word, [*Priority], 1, LIKE_LEVEL)]
    if not like:
        return VisionSection("goals", warning=_unknown(heading))
    return VisionSection("goals", Priority(like[0]), f'"{heading}" is read as {like[0].upper()}; mend it there')


def _misspelt(words: Sequence[str], heading: str) -> VisionSection | None:
    """ "Prioriy: HIGH" is a priority: a short heading whose first or last word is nearly one that we know."""
    for at in (0, len(words) - 1) if 0 < len(words) <= LONGEST_HEADING else ():
        like = get_close_matches(words[at], NAMES, 1, LIKE)
        found = _known((*words[:at], *like, *words[at + 1 :]), heading) if like else None
        if found:
            return replace(found, warning=found.warning or f'"{heading}" is read as "{like[0]}"; mend it there')
    return None


def _unknown(heading: str) -> str:
    return f'"{heading}" names no priority I know, its goals count as MEDIUM; write CRITICAL, HIGH, MEDIUM or LOW'


# --- blocks: what belongs together ---------------------------------------------------------------------------


@dataclass
class Block:
    """A bullet with all that is nested in it, or a piece of text."""

    section: VisionSection
    group: str  # the heading between the section's own and the block, e.g. "Don't touch"
    line: MarkdownLine
    children: list[str] = field(default_factory=list)
    done: bool = False


def _blocks(outline: Sequence[MarkdownLine]) -> Iterator[Block]:
    section, level, group = ELSEWHERE, 0, ""
    block: Block | None = None
    done_at: int | None = None  # depth of a bullet that is checked off: what is nested in it goes with it
    for line in outline:
        if line.kind == "heading":
            block, done_at = None, None
            section, level, group = _entered(line, section, level)
            continue
        if done_at is not None and line.level > done_at:
            continue
        done, text = _unchecked(line)
        done_at = line.level if done else None
        is_nested = block is not None and line.level > block.line.level
        if done and text and not is_nested:
            yield Block(section, group, replace(line, text=text), done=True)
        if done or not text:
            continue
        is_guard = _is_guard(line.kind, text, group)
        if block and line.level > block.line.level and not (is_guard and not group):
            block.children.append(text)
            continue
        block = Block(VisionSection("guards") if is_guard else section, group, replace(line, text=text))
        yield block


def _is_guard(kind: str, text: str, group: str) -> bool:
    """Several lines of text are one paragraph: `guards:` may begin any of them."""
    begins = GUARD_LINE.match(text) or (kind == "text" and GUARD_LINE.search(text))
    return bool(begins) or normalised(group.translate(APOSTROPHES)) in GUARDED


def _entered(heading: MarkdownLine, section: VisionSection, level: int) -> tuple[VisionSection, int, str]:
    """Section, its level and the group in it, below this heading. Below Notes, "Critical" does not begin goals."""
    is_inside = heading.level > level and section is not ELSEWHERE
    known = None if is_inside and section.kind != "goals" else _section(heading.text)
    if is_inside and not known:
        return section, level, heading.text
    is_plain = known and known.kind != "guards"
    return known or ELSEWHERE, heading.level, "" if is_plain else heading.text


def _unchecked(line: MarkdownLine) -> tuple[bool, str]:
    """Whether a bullet is checked off, and its text without the box."""
    box = CHECKBOX.match(line.text) if line.kind == "bullet" else None
    return (box.group(1) != " ", line.text[box.end() :]) if box else (False, line.text)


# --- the vision ----------------------------------------------------------------------------------------------


def parse(outline: Sequence[MarkdownLine], previous: Vision | None = None) -> Vision:
    """The vision, for any outline; Refused only above MAX_GOALS. Goals known from `previous` keep their ids.

    Goals that a model found in prose stay as long as that prose stays, word for word.
    """
    every = list(_blocks(_without_title(outline)))
    blocks = [block for block in every if not block.done]
    goals = [_goal(block) for block in blocks if block.section.kind == "goals" and block.line.kind == "bullet"]
    if len(goals) > MAX_GOALS:
        raise Refused(f"VISION.md: {len(goals)} goals; the limit is {MAX_GOALS}")
    unread = tuple(_prose(blocks))
    known = previous.goals if previous else ()
    found = _still_found(known, unread)
    ours = identified(goals, [goal for goal in known if not goal.id.startswith((PROSE, ISSUE))])
    return Vision(
        goals=ours + found,
        done=_ticked([_goal(block) for block in every if block.done], ours, previous),
        ideas=tuple(_remark(block) for block in blocks if block.section.kind == "ideas"),
        notes=tuple(_remark(block) for block in blocks if block.section.kind in ("notes", "guards")),
        unread=unread,
        guard_lines=tuple(_remark(block) for block in blocks if block.section.kind == "guards"),
        warnings=tuple(_warnings(outline)),
    )


def _ticked(ticked: Sequence[Goal], goals: Sequence[Goal], previous: Vision | None) -> tuple[Goal, ...]:
    """Goals that were known, and are ticked off now; with their ids."""
    left = {goal.id for goal in goals}
    known = [goal for goal in (*previous.goals, *previous.done) if goal.id not in left] if previous else []
    ids = {goal.id for goal in known}
    return tuple(goal for goal in identified(ticked, known) if goal.id in ids)


def with_unseen(vision: Vision, text: str) -> Vision:
    """The vision with a warning for each line of its text that holds what nobody sees: it is not read."""
    return replace(vision, warnings=(*vision.warnings, *unseen_in(text)))


def unseen_in(text: str) -> list[Remark]:
    """The lines that hold what nobody sees, shown."""
    lines = ((number, around_unseen(line)) for number, line in enumerate(text.split("\n"), 1))
    found = (Remark(f"holds what nobody sees; it is not read: {around}", number) for number, around in lines if around)
    return list(islice(found, MOST_UNSEEN))


def with_found(vision: Vision, found: Sequence[Goal]) -> Vision:
    """The vision together with the goals that a model found in its prose."""
    return replace(vision, goals=vision.goals + tuple(found))


def _without_title(outline: Sequence[MarkdownLine]) -> Sequence[MarkdownLine]:
    """The file's title, `# … Vision …`, opens no section."""
    first = outline[0] if outline else None
    is_title = first and first.kind == "heading" and first.level == 1 and not _section(first.text)
    return outline[1:] if is_title else outline


def _goal(block: Block) -> Goal:
    """A very long bullet gets a short title, and its whole text becomes the first detail."""
    title, details = block.line.text, [*filter(None, [block.group]), *block.children]
    if len(title) > LONGEST_TITLE:
        details.insert(0, title)
        title = title[: LONGEST_TITLE - 1].rpartition(" ")[0] or title[: LONGEST_TITLE - 1]
        title += "…"
    return Goal("", title, tuple(details), block.section.priority, block.line.line)


def _remark(block: Block) -> Remark:
    """One line: a heading above the bullets and what is nested in one may carry the meaning ("Don't touch:")."""
    text = f"{block.group}: {block.line.text}" if block.group else block.line.text
    return Remark(text + _joined(block), block.line.line)


def _joined(block: Block) -> str:
    if not block.children:
        return ""
    return (" " if block.line.text.endswith(":") else ": ") + "; ".join(block.children)


def _prose(blocks: Iterable[Block]) -> Iterator[Remark]:
    """Text between the goals, and everything under headings that open no section we know."""
    for block in blocks:
        if block.section is ELSEWHERE:
            yield _remark(block)
        elif block.section.kind == "goals" and block.line.kind == "text":
            yield Remark(block.line.text + _joined(block), block.line.line)


def _warnings(outline: Sequence[MarkdownLine]) -> Iterator[Remark]:
    section, level = ELSEWHERE, 0
    for line in outline:
        if line.kind == "heading":
            section, level, group = _entered(line, section, level)
            if section.warning and not group:
                yield Remark(section.warning, line.line)


def _still_found(known: Iterable[Goal], unread: Iterable[Remark]) -> tuple[Goal, ...]:
    """The first detail of such a goal is the prose that it was found in."""
    lines = {remark.text: remark.line for remark in unread}
    found = (goal for goal in known if goal.id.startswith(PROSE) and goal.details and goal.details[0] in lines)
    return tuple(replace(goal, line=lines[goal.details[0]]) for goal in found)


# --- the difference ------------------------------------------------------------------------------------------


def difference(previous: Vision | None, vision: Vision) -> VisionChange:
    """What is new, changed, removed and unchanged; the order in the file does not matter."""
    before = previous or Vision()
    old = {goal.id: goal for goal in before.goals}
    now = {goal.id for goal in vision.goals}
    seen = {remark.text for remark in before.notes + before.unread}
    return VisionChange(
        new=tuple(goal for goal in vision.goals if goal.id not in old),
        changed=tuple(goal for goal in vision.goals if goal.id in old and not _same(goal, old[goal.id])),
        removed=tuple(goal for goal in before.goals if goal.id not in now),
        unchanged=tuple(goal for goal in vision.goals if goal.id in old and _same(goal, old[goal.id])),
        remarks_changed=_remarks(before) != _remarks(vision),
        done=tuple(goal for goal in before.goals if goal.id in {one.id for one in vision.done}),
        fresh=tuple(remark for remark in vision.notes + vision.unread if remark.text not in seen),
    )


def _same(one: Goal, other: Goal) -> bool:
    return replace(one, line=0) == replace(other, line=0)


def _remarks(vision: Vision) -> list[Counter[str]]:
    return [Counter(remark.text for remark in part) for part in (vision.ideas, vision.notes, vision.unread)]
