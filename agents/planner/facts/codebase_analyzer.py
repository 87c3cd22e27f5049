"""(Source, texts) -> facts: what a planner should know of the repository to judge these texts, in bounded length.

The same commit and the same texts give the same facts, byte for byte. What is general comes first, so that the
beginning stays the same from one group of goals to the next. Files that goals name are whole, small ones first, then
what they use and what uses them, as far as there is room; of long files the definitions that matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from sisimpur.agents.planner.facts.code_index import CodeIndex, IndexedFile, kind, words
from sisimpur.agents.planner.facts.meanings import Meanings
from sisimpur.agents.planner.facts.relevance import (
    Relevance,
    is_called_so,
    named_folders,
    relevance,
)
from sisimpur.agents.planner.facts.repository_map import repository_map, stack, tests, without_tables
from sisimpur.agents.planner.facts.said_names import in_turn, searched, told
from sisimpur.agents.planner.facts.source import LONG_FILE, OTHERS, SourceTree, outline, parts, whole
from sisimpur.shared.model.scope import matches
from sisimpur.shared.repo.file_parts import Definition

MAX_FACTS = 60_000  # characters, about 17,000 tokens; of these
LARGE, LARGE_FACTS = 10_000, 36_000  # in a repository of so many files, so much: a prompt of 12,000 tokens
MAP, CODE = 0.4, 0.6  # the map, and what goals speak of, at most: 24,000 and 36,000
SEARCHED = 1_500  # characters of where names stand
WHOLE_IF_FOUND = 3_000  # characters of a file that no goal names, and that is shown whole
# Of a longer one, its parts. Called: it defines what a goal calls by its name.
LONG_IF_NAMED, LONG_IF_CALLED, LONG_IF_FOUND = 7_000, 5_500, 3_000
BESIDE = 12_000  # characters of files beside the named ones, for each goal, at most
NEEDED = 6_000  # at least, for a goal to be planned with others
ASIDE = 0.1  # of BESIDE: pages, and as much prose and the like, at most
SMALL = 300_000  # characters of code, at most, of a repository where also what is worth less tells something
FILLED = 0.6  # of the room, at least, while there is anything that tells
PRICE = 0.2  # how much less a long file is worth: its length to this power
CALLED = 8  # how many of a file's best lines a definition is worth whose name a goal says
SAID = 12  # points of a line that holds what a goal quotes
MEANT = 2  # how many of a file's best lines a definition is worth whose name the goal's words mean
LONGEST_TEXT = 2_000  # characters of a goal that are searched for names
SMALLEST_PART = 200
MORE = "\n[more was cut]"
OPTION = re.compile(r"(?<![\w-])--([a-z]\w*(?:-\w+)+)")
ROOM_FOR_OTHERS = 1_000  # characters, of a named file's other definitions
OUTLINED = 3_000  # characters of outlines: of what goals mean, in files that there was no room for
OUTLINED_PER_GOAL, OF_A_GUARDED = 12, 40  # definitions


@dataclass(frozen=True)
class GroupFacts:
    """Facts of goals that are planned together; `places` are those of their texts."""

    places: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class GoalFacts:
    """`general`: what is so whatever is asked."""

    general: str
    groups: tuple[GroupFacts, ...]
    meanings: Meanings


@dataclass(frozen=True)
class Seen:
    """A repository that was read for these texts."""

    source: SourceTree
    index: CodeIndex
    meanings: Meanings
    texts: tuple[str, ...]
    spoken: tuple[Relevance, ...]
    guarded: frozenset[str] = frozenset()

    @classmethod
    def of(cls, source: SourceTree, texts: Iterable[str], guarded: Sequence[str] = ()) -> Seen:
        bounded = tuple(_with_options(text[:LONGEST_TEXT]) for text in texts)
        index = CodeIndex(source)
        meanings = Meanings(index)
        spoken = tuple(relevance(index, meanings, text) for text in bounded)
        paths = frozenset(path for path in index.files if matches(path, guarded))
        return cls(source, index, meanings, bounded, spoken, paths)

    @cached_property
    def is_small(self) -> bool:
        """Whether files that are worth less than others fill the room; in a larger one outlines of more files do."""
        code = (file.size for path, file in self.index.files.items() if not _is_aside(path))
        return sum(code) <= SMALL

    def map(self, limit: int, is_defining: bool) -> str:
        kept = {folder for text in self.texts for folder in named_folders(text, self.index)}
        return _cut(repository_map(self.index, limit, self.spoken, kept, is_defining), limit)


@dataclass(frozen=True)
class CodebaseAnalyzer:
    limit: int = MAX_FACTS

    def facts(self, source: SourceTree, texts: Sequence[str]) -> str:
        """All of it for all texts together, in at most `limit` characters."""
        seen = Seen.of(source, texts)
        self = self._for(seen)
        general = self._general(seen, ())
        return _joined((general, self._of(seen, range(len(texts)), self._room(general))), self.limit)

    def grouped(
        self, source: SourceTree, texts: Sequence[str], environment: Sequence[str] = (), guarded: Sequence[str] = ()
    ) -> GoalFacts:
        """Facts of goals, in as many groups as they need: each group has at most `limit` characters with `general`.

        `guarded`: patterns of what no task may touch: of these files an outline is enough.
        """
        seen = Seen.of(source, texts, guarded)
        self = self._for(seen)
        general = self._general(seen, environment)
        room = self._room(general)
        groups = [
            GroupFacts(places, self._of(seen, places, room))
            for places in _groups(seen.index, seen.spoken, room - self._searched)
        ]
        return GoalFacts(general, tuple(groups), seen.meanings)

    def overview(self, source: SourceTree, texts: Sequence[str]) -> str:
        """List all files, and which of them hold the names that the texts say: enough to name paths."""
        seen = Seen.of(source, texts)
        found = searched(source, seen.texts, seen.index)
        names = told(seen.index, found, None, self._searched)
        return _joined((self._general(seen, (), is_defining=False), names), self.limit)

    def _for(self, seen: Seen) -> CodebaseAnalyzer:
        is_large = len(seen.index.paths) > LARGE
        return replace(self, limit=min(self.limit, LARGE_FACTS)) if is_large else self

    def _general(self, seen: Seen, environment: Sequence[str], is_defining: bool = True) -> str:
        index = seen.index
        first = "\n".join([*environment, *stack(index), *tests(index), *without_tables(index)])
        return _joined((_cut(first, self.limit // 15), seen.map(int(self.limit * MAP), is_defining)), self.limit)

    @property
    def _searched(self) -> int:
        return min(SEARCHED, self.limit // 10)

    def _room(self, general: str) -> int:
        return min(self.limit - len(general) - 2, int(self.limit * CODE))

    def _of(self, seen: Seen, places: Sequence[int], room: int) -> str:
        index, spoken = seen.index, [seen.spoken[place] for place in places]
        found = searched(seen.source, [seen.texts[place] for place in places], index)
        shown = _shown(seen, spoken, room, self._searched)
        is_whole = {path: text.startswith(_head(index, path)) for path, text in shown.items() if path in index.files}
        more = "" if seen.is_small else "\n\n".join(_outlines(index, spoken, shown))
        return _joined((told(index, found, is_whole, self._searched), *shown.values(), more), room)


def _with_options(text: str) -> str:
    """An option of a command line is a name of the code, too: `--max-size` is `max_size`."""
    return " ".join([text, *dict.fromkeys(option.replace("-", "_") for option in OPTION.findall(text))])


def _head(index: CodeIndex, path: str) -> str:
    return f"{path}, {len(index.files[path].lines)} lines:"


def _joined(texts: Iterable[str], limit: int) -> str:
    """The texts that say something, as far as there is room."""
    text = ""
    for part in texts:
        room = limit - len(text) - 2
        if part and room >= min(SMALLEST_PART, len(part)):
            text += _cut(part, room) + "\n\n"
    return text.rstrip("\n")


def _cut(text: str, limit: int) -> str:
    """Whole lines only, and a last one that says that there was more."""
    if len(text) <= limit:
        return text
    return text[: limit - len(MORE)].rpartition("\n")[0] + MORE


# --- files that are shown ------------------------------------------------------------------------------------


def _cost(index: CodeIndex, path: str, is_named: bool, is_called: bool = False) -> int:
    """Characters that a file takes, whole or in parts."""
    file = index.files.get(path)
    if file is None:
        return 60
    return file.size if _is_short(file, is_named) else _share(file, is_named, is_called)


def _is_short(file: IndexedFile, is_named: bool) -> bool:
    return len(file.text) <= (LONG_FILE if is_named else min(WHOLE_IF_FOUND, _share(file, is_named)))


def _share(file: IndexedFile, is_named: bool, is_called: bool = False) -> int:
    """Characters of the parts of a long file."""
    if is_named or _is_aside(file.path):
        return LONG_IF_NAMED if is_named else int(BESIDE * ASIDE)
    return LONG_IF_CALLED if is_called else LONG_IF_FOUND


def _is_aside(path: str) -> bool:
    return kind(path) not in ("code", "tests")


def _beside(index: CodeIndex, spoken: Relevance, room: int) -> Iterator[str]:
    """The files that a goal does not name, the most telling first, as far as there is room.

    A page only if something that is shown fills it.
    """
    found = (path for path in spoken.worth if path not in spoken.named)
    cost = {path: _cost(index, path, is_named=False, is_called=path in spoken.defining) for path in found}
    aside = {True: int(room * ASIDE), False: int(room * ASIDE)}  # of pages, and of the rest
    taken = set(spoken.named)
    for path in sorted(cost, key=lambda path: (-spoken.worth[path] / (cost[path] + 500) ** PRICE, path)):
        is_page = kind(path) == "pages"
        is_filled = not is_page or is_called_so(path, spoken.telling) or not taken.isdisjoint(index.users.get(path, ()))
        if index.files[path].text and is_filled and cost[path] <= (aside[is_page] if _is_aside(path) else room):
            room -= cost[path]
            aside[is_page] -= cost[path] if _is_aside(path) else 0
            taken.add(path)
            yield path


def _groups(index: CodeIndex, spoken: Sequence[Relevance], room: int) -> Iterator[tuple[int, ...]]:
    """Goals in their order, as many together as there is room for what each needs."""
    together: list[int] = []
    needed: dict[str, int] = {}
    for place, one in enumerate(spoken):
        own = {path: _cost(index, path, is_named=False) for path in _beside(index, one, NEEDED)}
        own |= {path: _cost(index, path, is_named=True) for path in one.named}
        both = {path: max(needed.get(path, 0), own.get(path, 0)) for path in {*needed, *own}}
        if together and sum(both.values()) > room:
            yield tuple(together)
            together, both = [], own
        together.append(place)
        needed = both
    if together:
        yield tuple(together)


def _shown(seen: Seen, spoken: Sequence[Relevance], room: int, kept_free: int) -> dict[str, str]:
    """Path -> its text. First what goals name, small ones first; then in turn what is beside them, in less room.

    What is worth less fills a part of the room: so a small repository is seen nearly whole.
    """
    index, shown = seen.index, dict[str, str]()
    kept_free += 0 if seen.is_small else OUTLINED
    named = dict.fromkeys(path for one in spoken for path in one.named)
    first = dict.fromkeys(sorted(named, key=lambda path: _cost(index, path, is_named=True)))
    each = BESIDE if seen.is_small else max(BESIDE, int(room * FILLED) // max(1, len(spoken)))
    beside = in_turn(_beside(index, one, each) for one in spoken)
    ranked = in_turn(one.ranked for one in spoken) if seen.is_small else ()
    others = (path for path in ranked if path in index.files and not _is_aside(path))
    unfilled = int(room * (1 - FILLED))
    for paths, free in ((first, 0), (beside, kept_free), (others, max(kept_free, unfilled))):
        for path in paths:
            least = 0 if path in named else _cost(index, path, False, _is_called(path, spoken))
            is_tried = path not in shown and least <= room - free
            text = _view(seen, path, spoken, path in named, room - free) if is_tried else ""
            if text and len(text) + 2 <= room - free:
                shown[path] = text
                room -= len(text) + 2
    return shown


def _view(seen: Seen, path: str, spoken: Sequence[Relevance], is_named: bool, room: int) -> str:
    index = seen.index
    file = index.files.get(path)
    if file is None:
        return f"{path}: not shown (a key, not text, or too large)"
    if not file.text:
        return f"{path}: empty"
    if path in seen.guarded:  # what no task may touch is told by its signatures; the map has the names of the others
        return outline(path, file.lines, file.definitions[:OF_A_GUARDED]) if file.definitions else ""
    if _is_short(file, is_named) and file.size <= room:
        return whole(path, file.lines)
    share = min(_share(file, is_named, _is_called(path, spoken)), room) - (
        ROOM_FOR_OTHERS if is_named and room > LONG_IF_FOUND else 100
    )
    text = parts(path, file.lines, _worth(index, file, spoken), share)
    return text if is_named and len(text) + 2 <= room else text.partition(OTHERS)[0]  # the map tells the names


def _is_called(path: str, spoken: Iterable[Relevance]) -> bool:
    return any(path in one.defining for one in spoken)


def _worth(index: CodeIndex, file: IndexedFile, spoken: Sequence[Relevance]) -> dict[int, float]:
    """How much each line of a long file tells of the goals that speak of it, or of files that use it."""
    about = [one for one in spoken if file.path in one.worth or file.path in one.named]
    telling = {word for one in about for word in one.telling}
    names = {name for one in about for name in one.names}
    literal = {text for one in about for text in one.literal}
    used = {
        name
        for user in index.users.get(file.path, ())
        if any(user in one.named for one in about)
        for name in file.defined & index.files[user].names.keys()
    }
    found: dict[int, float] = {}
    for number, line in enumerate(file.lines, 1):
        value = sum(index.weight(word) for word in set(words(line)) & telling)
        said = set(re.findall(r"\w+", line))
        value += 4 * len(said & names) + 2 * len(said & used) + SAID * sum(text in line for text in literal)
        if value:
            found[number] = value
    most = max(found.values(), default=1.0)  # what a goal means comes before what holds many words of many goals
    for place, value in (item for one in about for item in one.meant.items()):
        if place.path == file.path:
            found[place.definition.line] = found.get(place.definition.line, 0.0) + MEANT * most * value**3
    for each in file.definitions:  # what a goal calls by its name comes first
        if any(each.name.rpartition(".")[2] in one.called for one in about):
            found[each.line] = found.get(each.line, 0.0) + CALLED * most
    return found


def _outlines(index: CodeIndex, spoken: Sequence[Relevance], shown: Mapping[str, str]) -> Iterator[str]:
    """What goals mean in code and tests that are not shown, the best of each goal first, as far as there is room."""
    best = (sorted(one.meant, key=lambda place: (-one.meant[place], str(place))) for one in spoken)
    hidden = ((place for place in places if place.path not in shown and not _is_aside(place.path)) for places in best)
    unseen = (islice(places, OUTLINED_PER_GOAL) for places in hidden)
    of: dict[str, set[Definition]] = {}
    for place in in_turn(unseen):
        of.setdefault(place.path, set()).add(place.definition)
    room = OUTLINED
    for path, chosen in of.items():
        text = outline(path, index.files[path].lines, sorted(chosen, key=lambda each: each.line))
        if len(text) + 2 <= room:
            room -= len(text) + 2
            yield text
