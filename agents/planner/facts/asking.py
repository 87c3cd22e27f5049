"""What the model asked to see, from the repository: once, in bounded length, and only what may be read."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Literal

from sisimpur.agents.planner.facts.code_index import kind
from sisimpur.agents.planner.facts.matching import Meanings
from sisimpur.agents.planner.facts.source import SourceTree, hits, lines_of, may_be_read
from sisimpur.agents.planner.facts.views import LONG_FILE, clean, definitions, numbered, parts, whole
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import one_line

ASKS_PER_GOAL, MOST_ASKS, MOST_TOLD = 12, 30, 24_000  # questions, and characters of all answers
LONG_PARTS = 6_000  # characters of a long file
MOST_PLACES = 3  # files that a name stands in, the product's first
MOST_DEFINITIONS, MOST_USES, MOST_HITS, MOST_ALIKE = 3, 8, 20, 5
LONGEST_ASK, MOST_COMPARED = 200, 10_000


@dataclass(frozen=True)
class FactAsk:
    """Something that the model wants to see before it answers: a file, a definition (`path::Name`), a word, or where
    the names stand that a file defines.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    kind: Literal["file", "definition", "search", "uses"]
    what: str


def told(source: SourceTree, meanings: Meanings, asks: Sequence[FactAsk], room: int = MOST_TOLD) -> str:
    """One answer after the other, those of each goal in turn; what there is no room for is said."""
    texts: list[str] = []
    taken = _in_turn(asks)
    for ask in taken:
        text = f"{ask.kind} {one_line(ask.what, LONGEST_ASK)}:\n{_answer(source, meanings, ask)}"
        if len(text) > room:
            text = f"{ask.kind} {one_line(ask.what, LONGEST_ASK)}: no room is left for it"
        room -= len(text) + 2
        texts.append(text)
    if len(set(asks)) > len(taken):
        texts.append(f"only {ASKS_PER_GOAL} of each goal and {MOST_ASKS} in all are answered")
    return "\n\n".join(texts)


def _in_turn(asks: Iterable[FactAsk]) -> list[FactAsk]:
    """The first of each goal, then the second of each."""
    of: defaultdict[str, list[FactAsk]] = defaultdict(list)
    for ask in dict.fromkeys(asks):
        of[ask.goal_id].append(ask)
    turns = zip_longest(*(same[:ASKS_PER_GOAL] for same in of.values()))
    return [ask for turn in turns for ask in turn if ask][:MOST_ASKS]


def _answer(source: SourceTree, meanings: Meanings, ask: FactAsk) -> str:
    """The answer, or what comes nearest."""
    what = ask.what.strip()[:LONGEST_ASK]
    if ask.kind == "file":
        return _file(source, what)
    if ask.kind == "definition":
        return _definition(source, meanings, what)
    if ask.kind == "uses":
        return _uses(source, meanings, what)
    called = [path for path in source.files() if len(what) > 1 and what in path and is_plain_path(path)][:MOST_USES]
    files = [f"files called so: {', '.join(called)}"] if called else []
    return "\n".join([*files, *_lines_with(source, what, MOST_HITS)]) or f"no line holds it{_alike(meanings, what)}"


def _alike(meanings: Meanings, what: str) -> str:
    names = meanings.alike(what.rpartition("::")[2], MOST_ALIKE)
    return f"; names alike: {', '.join(names)}" if names else ""


def _file(source: SourceTree, what: str) -> str:
    path, problem = _found(source, what)
    if problem:
        return problem
    lines = lines_of(source, path) or ()
    if sum(map(len, lines)) <= LONG_FILE:
        return whole(path, lines)
    return parts(path, lines, dict.fromkeys(range(1, 40), 1.0), LONG_PARTS)


def _found(source: SourceTree, what: str) -> tuple[str, str]:
    """(the file that is meant, why it cannot be shown)."""
    name = what.strip("/").removeprefix("./")
    paths = sorted(path for path in source.files() if is_plain_path(path))
    same = [path for path in paths if path == name] or [path for path in paths if path.endswith(f"/{name}")]
    if len(same) > 1:
        return "", f"several files are called so: {', '.join(same[:MOST_USES])}"
    if not same:
        alike = difflib.get_close_matches(name, paths, 3, 0.7) if len(paths) <= MOST_COMPARED else []
        return "", "there is no such file" + (f"; alike: {', '.join(alike)}" if alike else "")
    if not may_be_read(same[0]):
        return "", "not shown: it usually holds keys"
    return same[0], "" if lines_of(source, same[0]) is not None else "not shown: it is not text, or too large"


def _definition(source: SourceTree, meanings: Meanings, what: str) -> str:
    """Its text, with who uses its name."""
    place, _, name = what.rpartition("::")
    path, problem = _found(source, place) if place else ("", "")
    if problem:
        return problem
    last = name.rpartition(".")[2]
    paths = [path] if path else _defining(source, last)
    shown = [text for path in paths for text in _texts(path, lines_of(source, path) or (), name)][:MOST_DEFINITIONS]
    uses = [f"  {line}" for line in _lines_with(source, last, MOST_USES)] if last else []
    return "\n".join(
        [
            *(shown or [f"no class or function is called so{_alike(meanings, what)}"]),
            *(["where it stands:", *uses] if uses else []),
        ]
    )


def _uses(source: SourceTree, meanings: Meanings, what: str) -> str:
    """A line for each definition of a file: dead code is that whose name stands nowhere else, or in tests only."""
    path, problem = _found(source, what)
    lines = [f"{each.name} (line {each.line}): {_places(here, found)}" for each, here, found in meanings.uses(path)]
    return problem or "\n".join(lines) or "it defines nothing"


def _places(here: int, found: Mapping[str, int]) -> str:
    most = sorted(found, key=lambda path: (kind(path) == "tests", kind(path) == "prose", path))
    told = [f"{path} {found[path]}" for path in most[:MOST_PLACES]]
    more = [f"and {len(most) - MOST_PLACES} more files"] if len(most) > MOST_PLACES else []
    return ", ".join([*([f"{here} more here"] if here else []), *told, *more]) or "its name stands nowhere else"


def _defining(source: SourceTree, name: str) -> Iterable[str]:
    found = [hit.path for word in ("def", "class", "function", "const") for hit in hits(source, f"{word} {name}", 20)]
    return dict.fromkeys(path for path in found if is_plain_path(path)) if name else ()


def _texts(path: str, lines: Sequence[str], name: str) -> Iterator[str]:
    for each in definitions(lines):
        if each.name == name or each.name.endswith(f".{name}") or name.endswith(f".{each.name}"):
            last = min(each.last, each.first + 150)
            yield "\n".join([f"{path}:", *numbered(lines, range(each.first, last + 1))])


def _lines_with(source: SourceTree, what: str, most: int) -> Iterator[str]:
    found = [hit for hit in hits(source, what, most) if is_plain_path(hit.path)] if len(what) > 1 else []
    yield from (f"{hit.path}:{hit.line}: {clean(hit.text.strip())}" for hit in found)
    if len(found) >= most:
        yield "… and perhaps more"
