"""What of the target a sentence names: (sentence, paths) -> patterns. Pure; no model is asked, no language is known.

A name that is marked as one (a path, a file's name, a glob, a dotted module, a folder with its slash) counts in every
sentence. A bare word that is also a folder or a module counts where the sentence forbids in words that we know; else
it is `loose`: the owner is asked, and of a plain wish told.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sisimpur.shared.model.scope import folded, is_plain_path, matches
from sisimpur.shared.model.work import Goal, Guard, Remark
from sisimpur.shared.words.meaning import (
    forbidden_parts,
    forbids_change,
    keeps_back,
    meanings,
    says_how_it_works,
    says_no,
)

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|[“„«]([^”“»]+)[”“»]|(?<!\w)'([^']+)'(?!\w)")
LATIN = re.compile(r"[A-Za-z0-9_.\-/*?\[\]@+~\\]+")  # a name to which the letters of another script are glued
BETWEEN = re.compile(r"[\s,;:!?|\"'`“”„«»‘’ʼ(){}<>…।॥、。，；：！？「」『』]+")
EMPHASIS = re.compile(r"(\*{1,3}|_{1,3})(?![/*])(.+?)(?<![/*])\1")
FILE = re.compile(r"[^/]*\w\.[A-Za-z]\w{0,9}")
ABOUT = re.compile(r"/\.{0,2}/")  # `a//b`, `a/./b`, `x/../a/b`: a longer way to a/b
SHORTEST_WORD = 3  # letters of a bare word that may be a folder


@dataclass(frozen=True)
class NamedPaths:
    """`missing`: what looks like a path and is not there yet; it is guarded all the same, and the owner is told."""

    patterns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetPaths:
    """All paths of the target, looked up without regard to case."""

    files: Sequence[str]

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(map(folded, self.files))

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path[:at] for path in self._files for at, sign in enumerate(path) if sign == "/")

    @cached_property
    def _tails(self) -> frozenset[str]:
        """Every end of a path of a file or folder, e.g. `pay.py` and `billing/pay.py` of `apps/billing/pay.py`."""
        whole = self._files | self._folders
        return whole | {path[at + 1 :] for path in whole for at, sign in enumerate(path) if sign == "/"}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[2] for path in self.files)

    @cached_property
    def _folder_names(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[2] for path in self._folders)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(name.removesuffix(".py") for name in map(folded, self._names) if name.endswith(".py"))

    @cached_property
    def spaced(self) -> tuple[str, ...]:
        """Files and folders that no split into words would find."""
        return tuple(path for path in self.files if " " in path)

    def path(self, word: str) -> str:
        """The pattern of a path, a file's name or a glob as it stands; empty: nothing is called so."""
        name = folded(word)
        if any(sign in name for sign in "*?["):
            return word if any(matches(path, (word,)) for path in self.files) else ""
        if name.endswith("/"):
            return word if name.rstrip("/") in self._folders or name.rstrip("/") in self._folder_names else ""
        if name in self._files or name in self._folders:
            is_marked = "/" in name or "." in name or name in map(folded, self._capital_names)
            return word if is_marked else ""
        if name in self._tails and "/" in name:
            return f"**/{word}"
        return word if name in self._tails and ("." in name.strip(".") or word in self._capital_names) else ""

    @cached_property
    def _capital_names(self) -> frozenset[str]:
        """Names such as Makefile: without a dot, and no common word."""
        return frozenset(name for name in self._names if "." not in name and name != name.lower())

    def module(self, word: str) -> Iterator[str]:
        """The patterns of `billing.pay`, also where `billing.pay.charge` names something inside."""
        parts = word.split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            return
        folder = folded("/".join(parts))
        if folder in self._tails:
            yield f"**/{'/'.join(parts)}/"
        for most in range(len(parts), 0, -1):
            path = "/".join(parts[:most]) + ".py"
            if folded(path) in self._tails:
                yield f"**/{path}" if most > 1 else path
                return

    def word(self, word: str) -> Iterator[str]:
        """The patterns of a bare word that is also the name of a folder or a module."""
        name = folded(word)
        if len(name) >= SHORTEST_WORD and name in self._folder_names:
            yield f"{word}/"
        if len(name) >= SHORTEST_WORD and name in self._stems:
            yield f"{word}.py"


def named(sentence: str, target: TargetPaths, forbids: bool) -> NamedPaths:
    """What the sentence names. `forbids`: it says in words that we know that something must not be touched."""
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", sentence))
    patterns: dict[str, None] = {}
    missing: dict[str, None] = {}
    loose: dict[str, None] = {}
    for word in dict.fromkeys(_words(text)):
        found = _marked(word, target)
        patterns |= dict.fromkeys(found)
        if not found and is_path(word):
            missing[word] = None
        if not found:
            (patterns if forbids else loose).update(dict.fromkeys(target.word(word)))
    whole = folded(text)
    patterns |= dict.fromkeys(path for path in target.spaced if folded(path) in whole)
    kept = [word for word in missing if not any(other != word and other in patterns for other in _cut(word))]
    return NamedPaths(tuple(patterns), tuple(kept), tuple(word for word in loose if word not in patterns))


def is_path(word: str) -> bool:
    """Whether it can be nothing but a path: a slash, and an ending or a star."""
    last = word.rstrip("/").rpartition("/")[2]
    is_one = "/" in word.strip("/") and ("*" in word or FILE.fullmatch(last) is not None)
    return is_one and "://" not in word and is_plain_path(word.strip("/"))


def _words(text: str) -> Iterator[str]:
    """Everything that may be a name: what is quoted, what stands between blanks, and Latin letters alone."""
    for found in QUOTED.finditer(text):
        yield _bare(next(filter(None, found.groups())))
    for word in BETWEEN.split(text):
        yield _bare(word)
        yield from map(_bare, LATIN.findall(word))


def _bare(word: str) -> str:
    """Without emphasis, `./`, and the sentence's own full stop."""
    word = word.strip().replace("\\", "/")
    if bold := EMPHASIS.fullmatch(word.rstrip(".,")):
        word = bold[2]
    word = word.removeprefix("./").lstrip("/@~").rstrip(".-")
    if ABOUT.search(word) and "://" not in word:
        word = posixpath.normpath(word) + "/" * word.endswith("/")
    return word if any(sign.isalnum() for sign in word) else ""


def _marked(word: str, target: TargetPaths) -> list[str]:
    if not word or not is_plain_path(word.strip("/")):
        return []
    for shorter in _cut(word):
        if pattern := target.path(shorter):
            return [pattern]
        if modules := list(target.module(shorter)):
            return modules
    parts = word.split("/")
    if len(parts) > 1 and all(FILE.fullmatch(part) for part in parts):  # `a.py/b.py`: one or the other
        return [pattern for part in parts if (pattern := target.path(part))]
    tails = ("/".join(parts[at:]) for at in range(1, len(parts) - 1))  # of an address, or below our own name
    return next(([pattern] for tail in tails if (pattern := target.path(tail))), [])


def _cut(word: str) -> Iterator[str]:
    """The word, and what is left of `pay.py-Datei` without what a language hangs on to it."""
    yield word
    while "-" in word:
        word = word.rpartition("-")[0]
        if FILE.fullmatch(word.rpartition("/")[2]) or word.endswith("/"):
            yield word


def covering(patterns: Iterable[str], files: Sequence[str]) -> tuple[str, ...]:
    """Those that do not simply cover every file."""
    return tuple(
        one for one in patterns if len(files) < 2 or one in files or not all(matches(path, (one,)) for path in files)
    )


# --- what becomes of a note ----------------------------------------------------------------------------------
# No sentence is lost, whatever its language: what we cannot read as plain English, and protects nothing, is a question.

Fate = Literal["guard", "question", "wish"]
END = re.compile(r"(?<=[.!?])\s+|(?<=[।॥。！？])\s*|;\s+")


@dataclass(frozen=True)
class NoteFate:
    sentence: str
    fate: Fate
    patterns: tuple[str, ...] = ()  # that code made of it
    seen: tuple[str, ...] = ()  # what it may mean, or names in vain: evidence of a question, or beside a wish


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


def goal_guards(goals: Iterable[Goal], files: Sequence[str]) -> Iterator[Guard]:
    """What a goal itself says must not be touched: it holds for the tasks of this goal, and for no other.

    Of an English sentence what stands behind "don't touch" counts: before it stands what is to be changed. Where
    nothing or "it" stands behind, the whole sentence counts. The note is what counts, and no more: the planner looks
    up all other words.
    """
    target = TargetPaths(tuple(files))
    for goal in (one for one in goals if not one.proposed_by):
        for sentence in (one for text in (goal.title, *goal.details) for one in sentences(text)):
            for said in forbidden_parts(sentence):
                if patterns := covering(named(said, target, forbids=True).patterns, files):
                    yield Guard(said if said in sentence else sentence, patterns, goal_id=goal.id)


def _named(sentence: str, target: TargetPaths, is_guard_line: bool) -> NamedPaths:
    found = named(sentence, target, forbids=is_guard_line or forbids_change(sentence))
    ahead = tuple(path for path in found.missing if is_plain_path(path.strip("/")))
    return NamedPaths((*covering(found.patterns, target.files), *ahead), found.missing, found.loose)


def _fate(sentence: str, found: NamedPaths, is_spoken_for: bool, is_guard_line: bool) -> NoteFate:
    seen = (*found.missing, *found.loose)
    if found.missing:
        return NoteFate(sentence, "question", found.patterns, seen)
    if found.patterns or is_spoken_for:
        return NoteFate(sentence, "guard", found.patterns)
    is_asked = is_guard_line or not says_how_it_works(sentence) or (bool(found.loose) and keeps_back(sentence))
    return NoteFate(sentence, "question" if is_asked else "wish", (), seen)


def is_named_by(pattern: str, note: str) -> bool:
    """Whether a word of the pattern is a word of the note: then it is not a model's word alone."""
    said = meanings(" ".join(re.split(r"[\W_]+", note)))
    return bool(meanings(" ".join(re.split(r"[\W_]+", pattern))) & said)


def merged_patterns(*some: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern for patterns in some for pattern in patterns))
