"""Names that goals say -> where they stand, in all lines and in all file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, zip_longest
from posixpath import basename, splitext
from typing import TypeVar

from sisimpur.agents.planner.facts.code_index import ENDING, CodeIndex, by_worth
from sisimpur.agents.planner.facts.relevance import COMMON, PATH, QUOTED
from sisimpur.agents.planner.facts.source import SourceHit, SourceTree, clean, hits
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import few

# How often a plain word stands where tells nothing; the map and the definitions that it means tell more.

HITS_OF_A_WORD = 30  # lines; a plain word in more of them tells nothing, though something is called so
NAMES_PER_TEXT, MOST_NAMES = 8, 40
HITS_PER_FILE, HITS_PER_NAME, HITS_ASKED = 2, 4, 60
LONGEST_HIT = 120
LONGEST_NAME = 60
WORD = re.compile(r"[^\W\d_]\w*(?:\.\w+)*")
NAME = re.compile(r"[._/]|[a-z][A-Z]")

Found = Mapping[str, Sequence[SourceHit]]
T = TypeVar("T")


def names(texts: Iterable[str], index: CodeIndex) -> tuple[str, ...]:
    """What looks like a name: quoted, joined by marks, CamelCase, called; or what a definition, a file or an imported
    package is called.

    The first of each text, then the second of each: there is room for some of all.
    """
    files = {splitext(basename(path))[0] for path in index.paths}
    chosen: list[list[str]] = []
    for text in texts:
        said = [(word, ENDING.sub("", word)) for word in WORD.findall(text)]
        said = [(word, bare) for word, bare in said if len(bare) > 2 and bare.lower() not in COMMON]
        ranked = [
            *(
                _as_it_stands(name, index)
                for found in QUOTED.findall(text)
                if 2 <= len(name := "".join(found)) <= LONGEST_NAME
            ),
            *(path for path in PATH.findall(text) if "/" in path),
            *(_as_it_stands(bare, index) for word, bare in said if NAME.search(word) or f"{word}(" in text),
            *(bare for _, bare in said if bare in index.definers or bare in files or bare in index.packages),
        ]
        chosen.append(list(dict.fromkeys(ranked))[:NAMES_PER_TEXT])
    return tuple(in_turn(chosen))[:MOST_NAMES]


def _as_it_stands(name: str, index: CodeIndex) -> str:
    """`style()` stands as `style`; `Runner.invoke` as `invoke`, since nobody calls a method by its class."""
    bare = name.removesuffix("()")
    *owner, last = bare.split(".")
    return last if owner and owner[-1] in index.definers and last in index.definers else bare


def searched(source: SourceTree, texts: Iterable[str], index: CodeIndex) -> Found:
    return {name: _lines(source, name) for name in names(texts, index)}


def _lines(source: SourceTree, name: str) -> tuple[SourceHit, ...]:
    """Lines that hold it as it is written, or else in small letters; code first, prose and what is dull last."""
    lines = hits(source, name, HITS_ASKED)
    if not lines and name != name.lower():
        lines = hits(source, name.lower(), HITS_ASKED)
    plain = (hit for hit in lines if is_plain_path(hit.path))
    return tuple(sorted(plain, key=by_worth))


def told(index: CodeIndex, found: Found, shown: Mapping[str, bool] | None, limit: int) -> str:
    """Where names stand. `shown`: files that are shown, and whether whole; there they are seen. None: only files."""
    seen = shown or {}
    called = {name: [path for path in index.paths if name.lower() in path.lower()] for name in found}
    absent = [f"“{name}”" for name, lines in found.items() if not lines and not called[name]]
    rows = [["in no file, and in no file's name: " + ", ".join(absent)]] if absent else []
    known = []
    for name, lines in found.items():
        elsewhere = [hit for hit in lines if not seen.get(hit.path)]
        files = [path for path in called[name] if path not in seen]
        if len(lines) > HITS_OF_A_WORD and not (NAME.search(name) or " " in name):
            continue
        if elsewhere or (files and not lines):
            rows.append(list(_name(name, lines, elsewhere, files, shown is not None)))
        elif lines:
            known.append(f"“{name}”")
    rows += [[f"only in files shown below: {', '.join(known)}"]] if known else []
    return _fitting(["names that were searched for, in all lines and in all file names:"], rows, limit) if rows else ""


def _fitting(kept: list[str], rows: Iterable[Sequence[str]], limit: int) -> str:
    """Whole names, as many as there is room for."""
    for row in rows:
        if len("\n".join([*kept, *row])) <= limit:
            kept += row
    return "\n".join(kept)


def _name(
    name: str, lines: Sequence[SourceHit], elsewhere: Sequence[SourceHit], called: Sequence[str], with_lines: bool
) -> Iterator[str]:
    count = f"{len(lines)}{' or more' if len(lines) >= HITS_ASKED else ''} lines" if lines else "in no line"
    files = f"; files called so: {_few(called)}" if called else ""
    also = ", also in files shown below" if len(elsewhere) < len(lines) else ""
    if with_lines and NAME.search(name):
        yield f"“{name}”: {count}{also}{files}"
        yield from (f"  {hit.path}:{hit.line}: {clean(hit.text.strip(), LONGEST_HIT)}" for hit in _spread(elsewhere))
    else:
        places = f", in {_few(dict.fromkeys(hit.path for hit in elsewhere))}" if elsewhere else ""
        yield f"“{name}”: {count}{places}{also}{files}"


def _spread(found: Iterable[SourceHit]) -> Iterator[SourceHit]:
    """A few, and of one file no more than it takes to know it: the first of each before the second of any."""
    by_file = [list(islice(same, HITS_PER_FILE)) for _, same in groupby(found, lambda hit: hit.path)]
    left = max(0, HITS_PER_NAME - len(by_file))  # for a second one
    for same in by_file[:HITS_PER_NAME]:
        second = same[1 : 1 + left]
        left -= len(second)
        yield from (same[0], *second)


def _few(paths: Iterable[str]) -> str:
    return few([clean(path) for path in paths], HITS_PER_NAME)


def in_turn(found: Iterable[Iterable[T]]) -> list[T]:
    """The first of each, then the second of each; everything once."""
    return list(dict.fromkeys(one for turn in zip_longest(*found) for one in turn if one))
