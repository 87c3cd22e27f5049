"""(Source, texts) -> facts: what a planner should know of the repository to judge these texts, in bounded length.

The same commit and the same texts give the same facts, byte for byte. What is general comes first, so that the
beginning stays the same from one planning to the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname, splitext

from agents.planner.outline import outlined
from agents.planner.source import Hit, Source, hits, lines_of
from shared.domain.scope import is_plain_path, matches

MAX_FACTS = 40_000  # characters, about 12,000 tokens
WHOLE_FILE = 12_000  # characters of a file that is shown whole
NAMED_FILES = 12
OUTLINED_FILES = 8
OUTLINE_LINES = 60
TERMS_PER_TEXT, MAX_TERMS = 8, 40
HITS_PER_TERM, HITS_ASKED = 6, 60
LONGEST_LINE = 200
LONGEST_TEXT = 2_000  # characters of a goal that are searched for names
SMALLEST_PART = 200
MORE = "\n[more was cut]"

PATH = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)+/?|\w[\w.+-]*\.\w{1,6}\b|\b[A-Z]\w+file\b")
QUOTED = re.compile(r"`([^`\n]{2,60})`")
WORD = re.compile(r"[^\W\d_]\w*(?:\.\w+)*")
IDENTIFIER = re.compile(r"_|\.|\d|[a-z][A-Z]|^[A-Z]{3,}$")
ENDING = re.compile(r"\.(?:py|js|ts|jsx|tsx|html|css|md|json|ya?ml|toml|txt|sh|sql)$")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
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


class CodebaseAnalyzer:
    def __init__(self, limit: int = MAX_FACTS) -> None:
        self._limit = limit

    def facts(self, source: Source, texts: Sequence[str]) -> str:
        """At most `limit` characters."""
        texts = [text[:LONGEST_TEXT] for text in texts]
        files = _files(source)
        named = tuple(dict.fromkeys(path for text in texts for path in named_in(text, files)))[:NAMED_FILES]
        found = {term: _searched(source, term) for term in terms(texts)}
        parts = (
            *self._general(source, files),
            (_found(found), 0.25),
            ("\n\n".join(_outlines(source, named, found)), 0.15),
            ("\n\n".join(_shown(source, named, found)), 1.0),
        )
        return _joined(parts, self._limit)

    def overview(self, source: Source, texts: Sequence[str]) -> str:
        """What there is and where the texts' words stand, without the files' own text: enough to name paths."""
        files = _files(source)
        found = {term: _searched(source, term) for term in terms([text[:LONGEST_TEXT] for text in texts])}
        return _joined((*self._general(source, files), ("\n".join(_places(found)), 0.25)), self._limit)

    def _general(self, source: Source, files: Sequence[str]) -> tuple[tuple[str, float], ...]:
        """What is the same whatever is asked."""
        first = "\n".join([*_stack(source, files), *_tests(files)])
        return (first, 0.1), (_tree(files, self._limit * 3 // 10), 0.3)


def _files(source: Source) -> tuple[str, ...]:
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


def clean(line: str) -> str:
    return CONTROL.sub("\ufffd", line[:LONGEST_LINE])


# --- the repository as a whole -------------------------------------------------------------------------------


def _stack(source: Source, files: Sequence[str]) -> Iterator[str]:
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


def _searched(source: Source, term: str) -> tuple[Hit, ...]:
    """Lines that hold the term as it is written, or else in small letters; places that tell something first."""
    lines = hits(source, term, HITS_ASKED)
    if not lines and term != term.lower():
        lines = hits(source, term.lower(), HITS_ASKED)
    plain = (hit for hit in lines if is_plain_path(hit.path))
    return tuple(sorted(plain, key=lambda hit: (bool(matches(hit.path, DULL)), hit.path, hit.line)))


def _found(found: dict[str, tuple[Hit, ...]]) -> str:
    lines = ["searched, and how many lines hold it:"]
    for term, lines_found in found.items():
        count = len(lines_found)
        is_everywhere = count >= HITS_ASKED
        lines.append(f"“{term}”: {f'{count} or more' if is_everywhere else count or 'none'}")
        if not is_everywhere or IDENTIFIER.search(term):
            lines += [f"  {hit.path}:{hit.line}: {clean(hit.text.strip())}" for hit in lines_found[:HITS_PER_TERM]]
    return "\n".join(lines) if found else ""


def _places(found: dict[str, tuple[Hit, ...]]) -> Iterator[str]:
    if found:
        yield "searched, and which files hold it:"
    for term, lines_found in found.items():
        paths = list(dict.fromkeys(hit.path for hit in lines_found))
        more = f" and {len(paths) - HITS_PER_TERM} more" if paths[HITS_PER_TERM:] else ""
        yield f"“{term}”: {', '.join(map(clean, paths[:HITS_PER_TERM])) or 'none'}{more}"


# --- files ---------------------------------------------------------------------------------------------------


def _shown(source: Source, named: Sequence[str], found: dict[str, tuple[Hit, ...]]) -> Iterator[str]:
    """Files that are named, with line numbers: whole if they are small, else around what was found in them."""
    for path in named:
        lines = lines_of(source, path)
        if lines is None:
            yield f"{path}: not shown (a key, not text, or too large)"
            continue
        numbers: Iterable[int] = range(1, len(lines) + 1)
        if sum(len(line) + 7 for line in lines) > WHOLE_FILE:
            numbers = _around({hit.line for all_ in found.values() for hit in all_ if hit.path == path}, len(lines))
        yield "\n".join([f"{path}, {len(lines)} lines:", *_numbered(lines, numbers)])


def _around(found: set[int], last: int) -> list[int]:
    """The first lines of the file, and some around each hit."""
    near = {number for line in found for number in range(line - 6, line + 13)} | set(range(1, 31))
    return sorted(number for number in near if 1 <= number <= last)


def _numbered(lines: Sequence[str], numbers: Iterable[int]) -> Iterator[str]:
    previous = 0
    for number in numbers:
        if number != previous + 1:
            yield "  …"
        yield f"{number:>4}| {clean(lines[number - 1])}"
        previous = number


def _outlines(source: Source, named: Sequence[str], found: dict[str, tuple[Hit, ...]]) -> Iterator[str]:
    """Classes and functions of the Python files that matter: the named ones, then those with the most hits."""
    count = Counter(hit.path for all_ in found.values() for hit in all_)
    often = sorted((path for path in count if not matches(path, DULL)), key=lambda path: (-count[path], path))
    paths = dict.fromkeys(path for path in (*named, *often) if path.endswith(".py"))
    for path in list(paths)[:OUTLINED_FILES]:
        symbols = list(outlined(lines_of(source, path) or ()))
        if symbols:
            lines = [f"{number:>4}| {clean(text)}" for number, text in symbols[:OUTLINE_LINES]]
            yield "\n".join([f"{path}, classes and functions:", *lines])
