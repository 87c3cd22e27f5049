"""What becomes of each sentence of the owner's notes: a guard, a question, or a wish that protects nothing. Pure.

No sentence is lost, whatever its language: what we cannot read as plain English, and protects nothing, is a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sisimpur.agents.orchestrator.vision.named_paths import NamedPaths, TargetPaths, covering, named
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Guard, Remark
from sisimpur.shared.words.meaning import forbids_change, is_plain_wish, meanings, says_no

Fate = Literal["guard", "question", "wish"]
END = re.compile(r"(?<=[.!?])\s+|(?<=[।॥。！？])\s*|;\s+")


@dataclass(frozen=True)
class NoteFate:
    sentence: str
    fate: Fate
    patterns: tuple[str, ...] = ()  # that code made of it
    seen: tuple[str, ...] = ()  # what it may mean, or names in vain: evidence of a question


def sentences(text: str) -> tuple[str, ...]:
    """What is nested in a bullet stands with its head: "Don't touch: a; b" forbids both."""
    head, colon, _ = text.partition(": ")
    pieces = [piece.strip() for piece in END.split(text)]
    parts = [piece for piece in pieces if any(sign.isalnum() for sign in piece)]
    is_list = bool(colon) and not END.search(head)
    return tuple(f"{head}: {part}" if is_list and place else part for place, part in enumerate(parts))


def fates(
    note: Remark, target: TargetPaths, by_model: Sequence[str] = (), is_guard_line: bool = False
) -> list[NoteFate]:
    """`by_model`: patterns that a model found for this note; they speak for one sentence that names nothing itself.

    `is_guard_line`: it stands below "Don't touch" or behind `guards:`: each of its names counts.
    """
    known = {sentence: _named(sentence, target, is_guard_line) for sentence in sentences(note.text)}
    silent = [sentence for sentence, found in known.items() if not found.patterns]
    forbidding = [sentence for sentence in silent if is_guard_line or says_no(sentence)]
    spoken = (forbidding or silent)[:1] if by_model else []
    return [_fate(sentence, found, sentence in spoken, is_guard_line) for sentence, found in known.items()]


def _named(sentence: str, target: TargetPaths, is_guard_line: bool) -> NamedPaths:
    found = named(sentence, target, forbids=is_guard_line or forbids_change(sentence))
    ahead = tuple(path for path in found.missing if is_plain_path(path.strip("/")))
    return NamedPaths((*covering(found.patterns, target.files), *ahead), found.missing, found.loose)


def _fate(sentence: str, found: NamedPaths, is_spoken_for: bool, is_guard_line: bool) -> NoteFate:
    seen = (*found.missing, *found.loose)
    if found.missing or (found.loose and not found.patterns and not is_spoken_for):
        return NoteFate(sentence, "question", found.patterns, seen)
    if found.patterns or is_spoken_for:
        return NoteFate(sentence, "guard", found.patterns)
    is_asked = is_guard_line or not is_plain_wish(sentence)
    return NoteFate(sentence, "question" if is_asked else "wish")


def is_named_by(pattern: str, note: str) -> bool:
    """Whether a word of the pattern is a word of the note: then it is not a model's word alone."""
    said = meanings(" ".join(re.split(r"[\W_]+", note)))
    return bool(meanings(" ".join(re.split(r"[\W_]+", pattern))) & said)


def unseen(guards: Iterable[Guard], day: str) -> tuple[str, ...]:
    """Say of each guard that only a model found on that day what it was made of: the owner may mean something else."""
    return tuple(
        f'a model alone read your note "{one_line(guard.note, 120)}" as {one_line(", ".join(guard.patterns), 120)}: '
        "look whether you mean that; what passes the gates tomorrow merges by itself again"
        for guard in guards
        if guard.unseen == day
    )


def merged_patterns(*some: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern for patterns in some for pattern in patterns))
