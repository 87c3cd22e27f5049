"""(Index, words) -> definitions of the code that tell of them, and by how much. Pure.

A name tells most: `remove_question` is what "deleted questions" are about. Then what is said of a definition (its
docstring and texts), and where it lies. Words that mean the same count for less. What matches leads to what it calls, a
test most of all.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

from sisimpur.agents.planner.facts.code_index import (
    NAME,
    SHARED_NAMES,
    CodeIndex,
    IndexedFile,
    kind,
    stems,
    words,
)
from sisimpur.shared.repo.file_parts import Definition, innermost
from sisimpur.shared.words import meaning, synonyms

MOST_WORDS = 80  # of a goal
SYNONYM, TRANSLATED = 0.5, 0.9  # of what the word itself would be worth
IN_NAME, IN_CLASS, IN_PATH, IN_TEXT = 1.0, 0.4, 0.3, 0.3
BY_TEST, BY_CODE = 0.6, 0.4  # of what the test or the function that calls it is worth
MOST_FOLLOWED = 20
TEXTS = re.compile(r"\"([^\"\n]{2,300})\"|'([^'\n]{2,300})'")
TESTS_FOLDER = re.compile(r"/tests?$")
CALL = re.compile(r"(?:(\w*)(\.))?\b(\w+)\(")


@dataclass(frozen=True, eq=False)
class DefinedAt:
    """A definition in its file; made once, and told from others by what it is, since tables of them are large."""

    path: str
    definition: Definition

    def __str__(self) -> str:
        return f"{self.path}::{self.definition.name}"


class Meanings:
    """Definitions of a repository by the words that tell of them."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._of: defaultdict[str, dict[DefinedAt, float]] = defaultdict(dict)  # stem -> where, how much
        self._named: dict[DefinedAt, frozenset[str]] = {}
        self._called: defaultdict[str, list[DefinedAt]] = defaultdict(list)  # by its own name
        for file in index.files.values():
            for place, told in _told(file):
                self._add(place, told)
        self._often = Counter(stem for named in self._named.values() for stem in named)

    def _add(self, place: DefinedAt, told: Mapping[str, float]) -> None:
        name = place.definition.name.rpartition(".")[2]
        self._named[place] = frozenset(stems(name))
        self._called[name].append(place)
        for stem, value in told.items():
            self._of[stem][place] = value

    @property
    def packages(self) -> Collection[str]:
        """Names of others' packages that the code imports."""
        return self._index.packages

    def uses(self, path: str) -> Iterator[tuple[Definition, int, Mapping[str, int]]]:
        """What a file defines, how often its name stands there besides, and how often in which other files."""
        here = self._index.files.get(path)
        for each in here.definitions if here else ():
            name = each.name.rpartition(".")[2]
            found = {other: count for other, file in self._index.files.items() if (count := file.names[name])}
            yield each, found.pop(path, 1) - 1, found

    def meant(self, text: str) -> Mapping[DefinedAt, float]:
        """What each definition is worth; the best one 1."""
        found: defaultdict[DefinedAt, float] = defaultdict(float)
        hit: defaultdict[DefinedAt, set[str]] = defaultdict(set)
        for word in synonyms.telling(text, MOST_WORDS):
            best: dict[DefinedAt, float] = {}
            for stem, share in _alternatives(word).items():
                for place, value in self._of.get(stem, {}).items():
                    best[place] = max(best.get(place, 0.0), share * value * self._weight(stem))
                    if stem in self._named[place]:
                        hit[place].add(stem)
            for place, value in best.items():
                found[place] += value
        for place in found:
            named = self._named[place]
            found[place] *= 0.5 + 0.5 * len(hit[place]) / max(1, len(named))
        top = max(found.values(), default=0.0) or 1.0
        worth = {place: value / top for place, value in found.items() if hit[place] or value > top / 2}
        return {**worth, **self._called_by(worth)}

    def _weight(self, stem: str) -> float:
        held = self._often[stem]
        return math.log(1 + (len(self._named) + 1) / (held + 0.5))

    def _called_by(self, worth: Mapping[DefinedAt, float]) -> Mapping[DefinedAt, float]:
        """What the best ones call, tests before all, if the name leaves no doubt which is meant."""
        found: dict[DefinedAt, float] = {}
        for place in sorted(worth, key=lambda place: (-worth[place], str(place)))[:MOST_FOLLOWED]:
            value = worth[place] * (BY_TEST if kind(place.path) == "tests" else BY_CODE)
            for owner, dot, name in set(CALL.findall(_text(self._index.files[place.path], place.definition))):
                code = [one for one in self._called.get(name, ()) if kind(one.path) == "code"]
                if dot:  # `check.save()` is no function called `save`, unless `check` is its module
                    code = [one for one in code if "." in one.definition.name or owner == module_name(one.path)]
                if len(code) > SHARED_NAMES:  # of what every plug-in calls alike, the one beside is meant
                    code = [one for one in code if dirname(one.path) == _tested_folder(place.path)]
                for one in code if len(code) <= SHARED_NAMES else ():
                    found[one] = max(found.get(one, worth.get(one, 0.0)), value)
        return found

    def alike(self, text: str, most: int) -> list[str]:
        """The names that come nearest to this one, by its letters or by its words, as `path::name`."""
        letters = difflib.get_close_matches(text.rpartition(".")[2], self._called, most, 0.75)
        worth = self.meant(" ".join(NAME.findall(text.replace("_", " "))))
        by_words = sorted(worth, key=lambda place: (-worth[place], str(place)))
        places = [*(place for name in letters for place in self._called[name]), *by_words]
        return list(dict.fromkeys(map(str, places)))[:most]


def module_name(path: str) -> str:
    return splitext(basename(path))[0]


def _tested_folder(path: str) -> str:
    """Its folder; of a test below `tests/`, the one above."""
    return TESTS_FOLDER.sub("", dirname(path))


def _alternatives(word: str) -> dict[str, float]:
    """Stems that mean the same, and how sure that is."""
    found: dict[str, float] = {}
    for forms, share in (((word,), 1.0), (meaning.same(word), TRANSLATED), (synonyms.kindred([word]), SYNONYM)):
        for stem in (stem for form in forms for stem in stems(form)):
            found.setdefault(stem, share)
    return found


def _told(file: IndexedFile) -> Iterator[tuple[DefinedAt, dict[str, float]]]:
    """Each definition of a file, with the words that tell of it."""
    inner = innermost(file.definitions)
    texts: defaultdict[Definition, set[str]] = defaultdict(set)
    for number, line in enumerate(file.lines, 1):
        if around := inner.get(number):
            is_prose = around.line < number < around.body
            texts[around] |= set(words(line if is_prose else " ".join(map("".join, TEXTS.findall(line)))))
    in_path = dict.fromkeys(words(file.path), IN_PATH)
    for each in file.definitions:
        outer, _, name = each.name.rpartition(".")
        told = dict.fromkeys(texts[each], IN_TEXT)
        for stem, value in (*in_path.items(), *dict.fromkeys(words(outer), IN_CLASS).items()):
            told[stem] = max(value, told.get(stem, 0.0))
        yield DefinedAt(file.path, each), told | dict.fromkeys(stems(name), IN_NAME)


def _text(file: IndexedFile, each: Definition) -> str:
    return "\n".join(file.lines[each.line : each.last])
