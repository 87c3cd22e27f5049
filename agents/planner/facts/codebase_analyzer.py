"""(Source, texts) -> facts: what a planner should know of the repository to judge these texts, in bounded length.

The same commit and the same texts give the same facts, byte for byte. What is general comes first, so that the
beginning stays the same from one group of goals to the next. Files that goals name are whole, small ones first, then
what they use and what uses them, as far as there is room; of long files the definitions that matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest

from sisimpur.agents.planner.facts.code_index import ENDING, IDENTIFIER, CodeIndex, IndexedFile, kind, words
from sisimpur.agents.planner.facts.relevance import COMMON, Relevance, relevance
from sisimpur.agents.planner.facts.repository_facts import stack, tests, tree, without_tables
from sisimpur.agents.planner.facts.source import SourceHit, SourceTree, hits
from sisimpur.agents.planner.facts.views import clean, parts, signatures, whole
from sisimpur.shared.model.scope import is_plain_path

MAX_FACTS = 40_000  # characters, about 12,000 tokens
WHOLE_IF_NAMED, WHOLE_IF_FOUND = 20_000, 8_000  # characters of a file that is shown whole
LONG_IF_NAMED, LONG_IF_FOUND = 7_000, 3_000  # of a longer one, its parts
BESIDE = 12_000  # characters of files beside the named ones, for each goal
PRICE = 0.2  # how much less a long file is worth: its length to this power
OUTLINED_FILES = 12
TERMS_PER_TEXT, MAX_TERMS = 8, 40
HITS_PER_FILE, HITS_PER_TERM, HITS_OF_A_WORD, HITS_ASKED = 3, 6, 30, 60
LONGEST_TEXT = 2_000  # characters of a goal that are searched for names
SMALLEST_PART = 200
TREE, FOUND, OUTLINED = 0.3, 0.12, 0.08  # of all characters, at most
MORE = "\n[more was cut]"

QUOTED = re.compile(r"`([^`\n]{2,60})`")
WORD = re.compile(r"[^\W\d_]\w*(?:\.\w+)*")


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


@dataclass(frozen=True)
class CodebaseAnalyzer:
    limit: int = MAX_FACTS

    def facts(self, source: SourceTree, texts: Sequence[str]) -> str:
        """All of it for all texts together, in at most `limit` characters."""
        texts = [text[:LONGEST_TEXT] for text in texts]
        index = CodeIndex(source)
        general = self._general(index, ())
        spoken = [relevance(index, text) for text in texts]
        return _joined((general, self._of(index, source, texts, spoken, self._room(general))), self.limit)

    def grouped(self, source: SourceTree, texts: Sequence[str], environment: Sequence[str] = ()) -> GoalFacts:
        """Facts of goals, in as many groups as they need: each group has at most `limit` characters with `general`."""
        texts = [text[:LONGEST_TEXT] for text in texts]
        index = CodeIndex(source)
        general = self._general(index, environment)
        room = self._room(general)
        spoken = [relevance(index, text) for text in texts]
        groups = [
            GroupFacts(places, self._of(index, source, [texts[n] for n in places], [spoken[n] for n in places], room))
            for places in _groups(index, spoken, int(room * (1 - FOUND - OUTLINED)))
        ]
        return GoalFacts(general, tuple(groups))

    def overview(self, source: SourceTree, texts: Sequence[str]) -> str:
        """List what there is and where the texts' words stand, without the files' own text: enough to name paths."""
        index = CodeIndex(source)
        found = {term: _searched(source, term) for term in terms([text[:LONGEST_TEXT] for text in texts])}
        places = _cut("\n".join(_places(index, found)), self.limit // 4)
        general = self._general(index, (), is_sized=False)
        return _joined((general, places), self.limit)

    def _general(self, index: CodeIndex, environment: Sequence[str], is_sized: bool = True) -> str:
        first = "\n".join([*environment, *stack(index), *tests(index), *without_tables(index)])
        share = int(self.limit * TREE)
        return _joined((_cut(first, self.limit // 10), _cut(tree(index, share, is_sized), share)), self.limit)

    def _room(self, general: str) -> int:
        return self.limit - len(general) - 2

    def _of(
        self, index: CodeIndex, source: SourceTree, texts: Sequence[str], spoken: Sequence[Relevance], room: int
    ) -> str:
        found = {term: _searched(source, term) for term in terms(texts)}
        shown = _shown(index, spoken, room)
        is_whole = {path for path, text in shown.items() if path in index.files and text.startswith(_head(index, path))}
        searched = _cut(_found(index, found, is_whole), int(self.limit * FOUND))
        beside = _outlines(index, spoken, found, shown)
        return _joined((searched, *shown.values(), _cut(beside, int(self.limit * OUTLINED))), room)


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


def _cost(index: CodeIndex, path: str, is_named: bool) -> int:
    """Characters that a file takes, whole or in parts."""
    file = index.files.get(path)
    if file is None:
        return 60
    return file.size if _is_short(file, is_named) else LONG_IF_NAMED if is_named else LONG_IF_FOUND


def _is_short(file: IndexedFile, is_named: bool) -> bool:
    return len(file.text) <= (WHOLE_IF_NAMED if is_named else WHOLE_IF_FOUND)


def _beside(index: CodeIndex, spoken: Relevance, room: int) -> Iterator[str]:
    """The files that a goal does not name, the most telling first, as far as there is room."""
    cost = {path: _cost(index, path, is_named=False) for path in spoken.worth if path not in spoken.named}
    for path in sorted(cost, key=lambda path: (-spoken.worth[path] / (cost[path] + 500) ** PRICE, path)):
        if index.files[path].text and cost[path] <= room:
            room -= cost[path]
            yield path


def _groups(index: CodeIndex, spoken: Sequence[Relevance], room: int) -> Iterator[tuple[int, ...]]:
    """Goals in their order, as many together as there is room for what each needs."""
    together: list[int] = []
    needed: dict[str, int] = {}
    for place, one in enumerate(spoken):
        own = {path: _cost(index, path, is_named=False) for path in _beside(index, one, BESIDE // 2)}
        own |= {path: _cost(index, path, is_named=True) for path in one.named}
        both = {path: max(needed.get(path, 0), own.get(path, 0)) for path in {*needed, *own}}
        if together and sum(both.values()) > room:
            yield tuple(together)
            together, both = [], own
        together.append(place)
        needed = both
    if together:
        yield tuple(together)


def _shown(index: CodeIndex, spoken: Sequence[Relevance], room: int) -> dict[str, str]:
    """Path -> its text. First what goals name, small ones first; then in turn what is beside them, in less room."""
    shown: dict[str, str] = {}
    kept_free = int(room * (FOUND + OUTLINED))
    named = dict.fromkeys(path for one in spoken for path in one.named)
    order = sorted(named, key=lambda path: _cost(index, path, is_named=True))
    beside = zip_longest(*(_beside(index, one, BESIDE) for one in spoken))
    order += [path for turn in beside for path in turn if path and path not in named]
    for path in dict.fromkeys(order):
        left = room if path in named else room - kept_free
        text = _view(index, path, spoken, path in named, left)
        if len(text) + 2 <= left:
            shown[path] = text
            room -= len(text) + 2
    return shown


def _view(index: CodeIndex, path: str, spoken: Sequence[Relevance], is_named: bool, room: int) -> str:
    file = index.files.get(path)
    if file is None:
        return f"{path}: not shown (a key, not text, or too large)"
    if not file.text:
        return f"{path}: empty"
    if _is_short(file, is_named) and file.size <= room:
        return whole(path, file.lines)
    share = min(LONG_IF_NAMED if is_named else LONG_IF_FOUND, room)
    return parts(path, file.lines, _worth(index, file, spoken), share - 1_000)


def _worth(index: CodeIndex, file: IndexedFile, spoken: Sequence[Relevance]) -> dict[int, float]:
    """How much each line of a long file tells of the goals that speak of it, or of files that use it."""
    about = [one for one in spoken if file.path in one.worth or file.path in one.named]
    telling = {word for one in about for word in one.telling}
    names = {name for one in about for name in one.names}
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
        value += 4 * len(said & names) + 2 * len(said & used)
        if value:
            found[number] = value
    return found


def _outlines(
    index: CodeIndex, spoken: Sequence[Relevance], found: Mapping[str, Sequence[SourceHit]], shown: Collection[str]
) -> str:
    """Classes and functions of files that matter, too, and are not shown."""
    often = _most_hit(hit for lines_found in found.values() for hit in lines_found)
    paths = dict.fromkeys((*(path for one in spoken for path in one.ranked), *often))
    left = [path for path in paths if path.endswith(".py") and path in index.files and path not in shown]
    outlined = (signatures(path, index.files[path].lines) for path in left if kind(path) != "dull")
    return "\n\n".join([text for text in outlined if text][:OUTLINED_FILES])


# --- what was searched for -----------------------------------------------------------------------------------


def terms(texts: Sequence[str]) -> tuple[str, ...]:
    """Words worth searching for: what is in backticks, then identifiers, then names, then long words."""
    chosen: list[str] = []
    for text in texts:
        said = [ENDING.sub("", word) for word in WORD.findall(text)]
        said = [word for word in said if len(word) > 2 and word.lower() not in COMMON]
        ranked = [
            *QUOTED.findall(text),
            *(word for word in said if IDENTIFIER.search(word)),
            *(word for word in said[1:] if word[0].isupper()),  # the first word is upper case anyway
            *(word for word in said if len(word) > 4),
        ]
        chosen += list(dict.fromkeys(ranked))[:TERMS_PER_TEXT]
    return tuple(dict.fromkeys(chosen))[:MAX_TERMS]


def _searched(source: SourceTree, term: str) -> tuple[SourceHit, ...]:
    """Lines that hold the term as it is written, or else in small letters; code first, prose and what is dull last."""
    lines = hits(source, term, HITS_ASKED)
    if not lines and term != term.lower():
        lines = hits(source, term.lower(), HITS_ASKED)
    plain = (hit for hit in lines if is_plain_path(hit.path))
    return tuple(sorted(plain, key=lambda hit: (*_last(hit.path), hit.path, hit.line)))


def _last(path: str) -> tuple[bool, bool]:
    return kind(path) == "dull", kind(path) == "prose"


def _found(index: CodeIndex, found: Mapping[str, Sequence[SourceHit]], is_whole: Collection[str]) -> str:
    """Where words stand, but for files that are shown whole: there they are seen.

    Of plain words only the files; those that stand everywhere tell nothing.
    """
    lines = ["searched, and how many lines hold it:", *_nowhere(index, found)]
    seen: list[str] = []
    for term, lines_found in found.items():
        elsewhere = [hit for hit in lines_found if hit.path not in is_whole]
        count = f"{len(lines_found)}{' or more' if len(lines_found) >= HITS_ASKED else ''}"
        also = ", also in files shown below" if len(elsewhere) < len(lines_found) else ""
        if lines_found and not elsewhere:
            seen.append(f"“{term}”")
        elif lines_found and (IDENTIFIER.search(term) or " " in term):
            lines.append(f"“{term}”: {count}{also}")
            lines += [f"  {hit.path}:{hit.line}: {clean(hit.text.strip())}" for hit in _spread(elsewhere)]
        elif 0 < len(lines_found) <= HITS_OF_A_WORD:
            lines.append(f"“{term}”: {count}, in {_few(_most_hit(elsewhere))}{also}")
    lines += [f"only in files shown below: {', '.join(seen)}"] if seen else []
    return "\n".join(lines) if found else ""


def _spread(found: Iterable[SourceHit]) -> Iterator[SourceHit]:
    """A few, and of one file no more than it takes to know it."""
    by_file = ((place, hit) for _, same in groupby(found, lambda hit: hit.path) for place, hit in enumerate(same))
    return islice((hit for place, hit in by_file if place < HITS_PER_FILE), HITS_PER_TERM)


def _places(index: CodeIndex, found: Mapping[str, Sequence[SourceHit]]) -> Iterator[str]:
    if found:
        yield "searched, and which files hold it:"
    yield from _nowhere(index, found)
    for term, lines_found in found.items():
        if lines_found:
            yield f"“{term}”: {_few(dict.fromkeys(hit.path for hit in lines_found))}"


def _nowhere(index: CodeIndex, found: Mapping[str, Sequence[SourceHit]]) -> Iterator[str]:
    """A plain word that stands somewhere in another form is not told to be absent."""
    absent = [term for term, lines_found in found.items() if not lines_found]
    absent = [term for term in absent if IDENTIFIER.search(term) or not any(map(index.weight, words(term)))]
    if absent:
        yield f"in no file: {', '.join(f'“{term}”' for term in absent)}"


def _few(paths: Iterable[str]) -> str:
    named = [clean(path) for path in paths]
    more = f" and {len(named) - HITS_PER_TERM} more" if named[HITS_PER_TERM:] else ""
    return ", ".join(named[:HITS_PER_TERM]) + more


def _most_hit(lines_found: Iterable[SourceHit]) -> list[str]:
    """Paths, those with the most hits first; prose and what tells little come last."""
    count = Counter(hit.path for hit in lines_found)
    return sorted(count, key=lambda path: (*_last(path), -count[path], path))
