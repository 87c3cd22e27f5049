"""Which goal of today is which of yesterday: ids that stay while the owner rewords, moves and doubles goals. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.text import sha256_of, visible
from sisimpur.shared.model.work import Goal, Remark, Vision

BULLET, PROSE, NOTE, ISSUE = "g-", "p-", "n-", "i-"  # where the thing was found that an id stands for


def normalised(text: str) -> tuple[str, ...]:
    """The words alone: no capitals, no punctuation, no emoji, unless there is nothing else.

    Letters keep their marks (Bengali needs them).
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded).split()
    return tuple(words or text.split())


def identified(
    goals: Sequence[Goal], known: Sequence[Goal], taken: Iterable[str] = (), prefix: str = BULLET
) -> tuple[Goal, ...]:
    """The goals with their ids: of the known goal that each is, unchanged or reworded, or a new one.

    A known goal is given away once, to its most equal successor; so of two goals with the same text each has an id
    of its own. `taken`: further ids that a new goal may not get.
    """
    ids: dict[int, str] = {}
    for alike in IDENTITIES:
        _give(ids, goals, known, alike)
    _give_to_reworded(ids, goals, known)
    used = {*taken, *(goal.id for goal in known)}
    for place, goal in enumerate(goals):
        if place not in ids:
            ids[place] = _new_id(goal, prefix, used)
            used.add(ids[place])
    return tuple(replace(goal, id=ids[place]) for place, goal in enumerate(goals))


IDENTITIES: tuple[Callable[[Goal], Hashable], ...] = (  # the strictest first
    lambda goal: (goal.title, goal.details, goal.priority),
    lambda goal: (normalised(goal.title), goal.details),
)


def _give(ids: dict[int, str], goals: Sequence[Goal], known: Sequence[Goal], alike: Callable[[Goal], Hashable]) -> None:
    free: dict[Hashable, list[str]] = {}
    given = set(ids.values())
    for old in reversed(known):
        if old.id not in given:
            free.setdefault(alike(old), []).append(old.id)
    for place, goal in enumerate(goals):
        if place not in ids and (same := free.get(alike(goal))):
            ids[place] = same.pop()


def _give_to_reworded(ids: dict[int, str], goals: Sequence[Goal], known: Sequence[Goal]) -> None:
    """The most similar pair first; then the same priority; then the order in the file."""
    from sisimpur.shared.words.meaning import SAME_GOAL, likeness

    given = set(ids.values())
    pairs = [
        (-ratio, old.priority is not goal.priority, place, number)
        for number, old in enumerate(known)
        for place, goal in enumerate(goals)
        if place not in ids and old.id not in given and (ratio := likeness(old.title, goal.title)) >= SAME_GOAL
    ]
    for _, _, place, number in sorted(pairs):
        if place not in ids and known[number].id not in given:
            ids[place] = known[number].id
            given.add(known[number].id)


def _new_id(goal: Goal, prefix: str, used: set[str]) -> str:
    """Six hex digits made from the words; if they are taken, from the words and a number."""
    words, number = " ".join(normalised(goal.title)), 0
    while (id_ := _id(prefix, words, number)) in used:
        number += 1
    return id_


def _id(prefix: str, words: str, number: int = 0) -> str:
    text = f"{words}\0{number}" if number else words
    return prefix + sha256_of(text)[:6]


def note_id(note: Remark) -> str:
    """What a question about a note refers to; another wording is another note."""
    return _id(NOTE, note.text)


def is_note(id_: str) -> bool:
    """A question about a note is answered in VISION.md only."""
    return id_.startswith(NOTE)


def wordings(vision: Vision) -> dict[str, str]:
    """What a question can be about, as it is worded now: goals, and notes (another wording is another id)."""
    remarks = vision.notes + vision.unread
    return {goal.id: wording(goal) for goal in vision.goals} | {note_id(remark): "" for remark in remarks}


def doubles(goals: Sequence[Goal]) -> Mapping[str, Goal]:
    """The goals that say what one before them says, but for how their letters are written -> that one."""
    first: dict[Hashable, Goal] = {}
    found = {}
    for goal in goals:
        said = tuple(unicodedata.normalize("NFC", visible(line)) for line in (goal.title, *goal.details))
        if (one := first.setdefault(said, goal)) is not goal:
            found[goal.id] = one
    return found


def same_again(goals: Sequence[Goal]) -> Iterator[Remark]:
    """A remark for each goal that stands there twice."""
    again = doubles(goals)
    for goal in (goal for goal in goals if goal.id in again):
        yield Remark(f'"{goal.title}" is the same as line {again[goal.id].line}; it is planned once', goal.line)


def own_words_of(vision: Vision) -> Iterable[str]:
    """Each line that the owner wrote; no issue's, which may be a stranger's, and no model's."""
    for goal in vision.goals:
        if goal.id.startswith(BULLET):
            yield from (goal.title, *goal.details)
    yield from (remark.text for remark in (*vision.ideas, *vision.notes, *vision.unread))


def unwanted(goal_id: str, planned_for: str, vision: Vision) -> str:
    """Why the vision does not want a task any more that was planned for this goal in this wording; empty: it does."""
    if not goal_id:
        return ""  # the owner dropped it himself
    goal = next((goal for goal in vision.goals if goal.id == goal_id), None)
    is_from_issue = goal_id.startswith(ISSUE)
    if goal is None and any(goal.id == goal_id for goal in vision.done):
        return "you have ticked its goal off in VISION.md: it is done"
    if goal is None:
        gone = "its issue was closed, or does not count any more"
        return gone if is_from_issue else "its goal was removed from VISION.md"
    if wording(goal) == planned_for:
        return ""
    return "its issue was reworded" if is_from_issue else "its goal was reworded in VISION.md"
