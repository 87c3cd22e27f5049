"""(Source, texts) -> facts: what a planner should know of the repository to judge these texts, in bounded length.

The same commit and the same texts give the same facts, byte for byte. What is general comes first, so that the
beginning stays the same from one planning to the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from posixpath import basename, dirname, splitext

from sisimpur.agents.planner.source import SourceHit, SourceTree, clean, hits, lines_of, outlines, seen_whole, views
from sisimpur.shared.model.scope import is_plain_path, matches

MAX_FACTS = 40_000  # characters, about 12,000 tokens
NAMED_FILES = 12
OUTLINED_FILES = 8
TERMS_PER_TEXT, MAX_TERMS = 8, 40
HITS_PER_TERM, HITS_ASKED = 6, 60
LONGEST_TEXT = 2_000  # characters of a goal that are searched for names
SMALLEST_PART = 200
FOUND, OUTLINED = 0.25, 0.15  # of all characters, at most
MORE = "\n[more was cut]"

PATH = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)+/?|\w[\w.+-]*\.\w{1,6}\b|\b[A-Z]\w+file\b")
QUOTED = re.compile(r"`([^`\n]{2,60})`")
WORD = re.compile(r"[^\W\d_]\w*(?:\.\w+)*")
IDENTIFIER = re.compile(r"_|\.|\d|[a-z][A-Z]|^[A-Z]{3,}$")
ENDING = re.compile(r"\.(?:py|js|ts|jsx|tsx|html|css|md|json|ya?ml|toml|txt|sh|sql)$")
COMMON = frozenset(
    re.findall(
        "[a-z]+",
        """about add after again against all allow already and another any are before being below between but can change
        check class clean could create every everything existing false files first fix following for from function has
        have how implement import improve instead its make more new none not now our please project proper properly
        remove replace return set should support target test tests that the their them then there these they thing
        this those through true under update use using was when where which while will with without would write wrong
        you""",
    )
)
DULL = (
    "*.lock",
    "package-lock.json",
    "*.min.js",
    "*.min.css",
    "*.map",
    "*.svg",
    "vendor",
    "node_modules",
    "migrations",
)
TESTS = ("test_*.py", "*_test.py", "tests.py", "*.test.[jt]s", "*.spec.[jt]s", "*.test.[jt]sx", "*_test.go")
STACK: tuple[
    tuple[str, tuple[str, ...], str], ...
] = (  # name, files that show it, words that must stand in one of them
    ("Django", ("manage.py",), ""),
    ("pytest", ("pytest.ini", "conftest.py"), ""),
    ("pytest", ("pyproject.toml", "setup.cfg", "tox.ini"), "pytest"),
    ("Python requirements", ("requirements*.txt", "pyproject.toml", "Pipfile", "setup.py"), ""),
    ("Docker", ("Dockerfile*", "docker-compose*.y*ml", "compose.y*ml"), ""),
    ("GitHub Actions", ("/.github/workflows/*.y*ml",), ""),
    ("Node.js", ("package.json",), ""),
)


@dataclass(frozen=True)
class CodebaseAnalyzer:
    limit: int = MAX_FACTS

    def facts(self, source: SourceTree, texts: Sequence[str]) -> str:
        """Return at most `limit` characters."""
        texts = [text[:LONGEST_TEXT] for text in texts]
        files = _files(source)
        named = tuple(dict.fromkeys(path for text in texts for path in named_in(text, files)))[:NAMED_FILES]
        found = {term: _searched(source, term) for term in terms(texts)}
        general = self._general(source, files)
        shown = tuple(views(source, ((path, _lines_in(path, found)) for path in named)))
        room = int(self.limit * (1 - FOUND - OUTLINED)) - sum(len(text) + 2 for text, _ in general)
        whole = frozenset(seen_whole(shown, room))
        parts = (
            *general,
            (_found(found, whole), FOUND),
            ("\n\n".join(outlines(source, _to_outline(named, found, whole))), OUTLINED),
            ("\n\n".join(view.text for view in shown), 1.0),
        )
        return _joined(parts, self.limit)

    def overview(self, source: SourceTree, texts: Sequence[str]) -> str:
        """List what there is and where the texts' words stand, without the files' own text: enough to name paths."""
        files = _files(source)
        found = {term: _searched(source, term) for term in terms([text[:LONGEST_TEXT] for text in texts])}
        return _joined((*self._general(source, files), ("\n".join(_places(found)), 0.25)), self.limit)

    def _general(self, source: SourceTree, files: Sequence[str]) -> tuple[tuple[str, float], ...]:
        """Facts that are the same whatever is asked."""
        first = "\n".join([*_stack(source, files), *_tests(files)])
        return (first, 0.1), (_tree(files, self.limit * 3 // 10), 0.3)


def _files(source: SourceTree) -> tuple[str, ...]:
    return tuple(sorted(path for path in source.files() if is_plain_path(path)))


def _joined(parts: Iterable[tuple[str, float]], limit: int) -> str:
    """The parts that say something, each with at most its share of what is left."""
    text = ""
    for part, share in parts:
        room = min(limit - len(text), int(limit * share)) - 2
        if part and room >= SMALLEST_PART:
            text += _cut(part, room) + "\n\n"
    return text.rstrip("\n")


def _cut(text: str, limit: int) -> str:
    """Whole lines only, and a last one that says that there was more."""
    if len(text) <= limit:
        return text
    return text[: limit - len(MORE)].rpartition("\n")[0] + MORE


# --- the repository as a whole -------------------------------------------------------------------------------


def _stack(source: SourceTree, files: Sequence[str]) -> Iterator[str]:
    shown: dict[str, list[str]] = {}
    for name, patterns, word in STACK:
        for path in files:
            if matches(path, patterns) and (not word or word in "\n".join(lines_of(source, path) or ())):
                shown.setdefault(name, []).append(path)
    for name, paths in shown.items():
        yield f"{name}: {', '.join(paths[:5])}{' …' if len(paths) > 5 else ''}"


def _tests(files: Sequence[str]) -> Iterator[str]:
    folders = Counter(dirname(path) or "." for path in files if matches(path, TESTS))
    if not folders:
        yield "tests: none found"
        return
    listed = [f"{folder} ({count})" for folder, count in sorted(folders.items())]
    yield f"tests: {', '.join(listed[:15])}{' …' if len(listed) > 15 else ''}"


def _tree(files: Sequence[str], limit: int) -> str:
    """All paths, or if there are too many the folders with what they hold, as deep as there is room."""
    head = f"{len(files)} files:"
    whole = "\n".join([head, *files])
    if len(whole) <= limit:
        return whole
    for depth in (5, 4, 3, 2):
        text = "\n".join([head, *_folders(files, depth)])
        if len(text) <= limit:
            return text
    return "\n".join([head, *_folders(files, 1)])


def _folders(files: Sequence[str], depth: int) -> Iterator[str]:
    kinds: dict[str, Counter[str]] = {}
    for path in files:
        folder = "/".join(dirname(path).split("/")[:depth]) or "."
        kinds.setdefault(folder, Counter())[splitext(path)[1] or basename(path)] += 1
    for folder, count in sorted(kinds.items()):
        most = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:4]
        yield f"{folder}/ {count.total()} files: {', '.join(f'{kind} {number}' for kind, number in most)}"


# --- what the texts speak of ---------------------------------------------------------------------------------


def named_in(text: str, files: Sequence[str]) -> Iterator[str]:
    """The files that a text names, by their path or by the end of it."""
    for name in dict.fromkeys(PATH.findall(text)):
        end = name.strip("/").removeprefix("./")
        same = [path for path in files if path == end or path.endswith(f"/{end}")]
        yield from sorted(same, key=lambda path: (path.count("/"), path))[:4]


def terms(texts: Sequence[str]) -> tuple[str, ...]:
    """Words worth searching for: what is in backticks, then identifiers, then names, then long words."""
    chosen: list[str] = []
    for text in texts:
        words = [ENDING.sub("", word) for word in WORD.findall(text)]
        words = [word for word in words if len(word) > 2 and word.lower() not in COMMON]
        ranked = [
            *QUOTED.findall(text),
            *(word for word in words if IDENTIFIER.search(word)),
            *(word for word in words[1:] if word[0].isupper()),  # the first word is upper case anyway
            *(word for word in words if len(word) > 4),
        ]
        chosen += list(dict.fromkeys(ranked))[:TERMS_PER_TEXT]
    return tuple(dict.fromkeys(chosen))[:MAX_TERMS]


def _searched(source: SourceTree, term: str) -> tuple[SourceHit, ...]:
    """Lines that hold the term as it is written, or else in small letters; places that tell something first."""
    lines = hits(source, term, HITS_ASKED)
    if not lines and term != term.lower():
        lines = hits(source, term.lower(), HITS_ASKED)
    plain = (hit for hit in lines if is_plain_path(hit.path))
    return tuple(sorted(plain, key=lambda hit: (bool(matches(hit.path, DULL)), hit.path, hit.line)))


def _found(found: Mapping[str, Sequence[SourceHit]], whole: Collection[str]) -> str:
    """`whole`: of these files a line's number says enough, as the line is shown too."""
    lines = ["searched, and how many lines hold it:", *_nowhere(found)]
    for term, lines_found in found.items():
        count = len(lines_found)
        is_everywhere = count >= HITS_ASKED
        if is_everywhere and not IDENTIFIER.search(term):
            lines.append(f"“{term}”: {count} or more")
        elif count > HITS_PER_TERM and not IDENTIFIER.search(term):
            lines.append(f"“{term}”: {count}, most of them in {_few(_most_hit(lines_found))}")
        elif count:
            lines.append(f"“{term}”: {f'{count} or more' if is_everywhere else count}")
            lines += _hit_lines(lines_found[:HITS_PER_TERM], whole)
    return "\n".join(lines) if found else ""


def _hit_lines(lines_found: Iterable[SourceHit], whole: Collection[str]) -> Iterator[str]:
    for path, same in groupby(lines_found, key=lambda hit: hit.path):
        if path in whole:
            yield f"  {path}, shown below: {', '.join(str(hit.line) for hit in same)}"
        else:
            yield from (f"  {path}:{hit.line}: {clean(hit.text.strip())}" for hit in same)


def _places(found: Mapping[str, Sequence[SourceHit]]) -> Iterator[str]:
    if found:
        yield "searched, and which files hold it:"
    yield from _nowhere(found)
    for term, lines_found in found.items():
        if lines_found:
            yield f"“{term}”: {_few(dict.fromkeys(hit.path for hit in lines_found))}"


def _nowhere(found: Mapping[str, Sequence[SourceHit]]) -> Iterator[str]:
    if absent := [f"“{term}”" for term, lines_found in found.items() if not lines_found]:
        yield f"in no file: {', '.join(absent)}"


def _few(paths: Iterable[str]) -> str:
    named = [clean(path) for path in paths]
    more = f" and {len(named) - HITS_PER_TERM} more" if named[HITS_PER_TERM:] else ""
    return ", ".join(named[:HITS_PER_TERM]) + more


def _most_hit(lines_found: Iterable[SourceHit]) -> list[str]:
    """Paths, those with the most hits first; what tells little comes last."""
    count = Counter(hit.path for hit in lines_found)
    return sorted(count, key=lambda path: (bool(matches(path, DULL)), -count[path], path))


def _lines_in(path: str, found: Mapping[str, Sequence[SourceHit]]) -> frozenset[int]:
    return frozenset(hit.line for lines_found in found.values() for hit in lines_found if hit.path == path)


def _to_outline(named: Iterable[str], found: Mapping[str, Sequence[SourceHit]], whole: Collection[str]) -> list[str]:
    """The Python files that matter, the named ones, then those with the most hits; but for what is shown whole."""
    often = _most_hit(hit for lines_found in found.values() for hit in lines_found)
    paths = dict.fromkeys((*named, *(path for path in often if not matches(path, DULL))))
    return [path for path in [path for path in paths if path.endswith(".py")][:OUTLINED_FILES] if path not in whole]
