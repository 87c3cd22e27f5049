"""A repository's words and references: which file speaks of what, and which uses which. Read once for each planning."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from posixpath import dirname, splitext
from typing import Literal

from sisimpur.agents.planner.facts.loan_words import by_sound
from sisimpur.agents.planner.facts.source import SourceHit, SourceTree, definitions, lines_of
from sisimpur.shared.model.scope import is_plain_path, matches
from sisimpur.shared.repo.file_parts import Definition

MOST_FILES, MOST_TEXT = 4_000, 16_000_000  # files and characters that are read; what lies deeper is only listed
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
LOOKS = ("*.css", "*.scss", "*.less", "*.po")
PAGES = ("*.html", "*.htm", "*.jinja", "*.jinja2", "*.j2", "*.tmpl", "*.vue")
DEFINING = (".py", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".php", ".rs")
PROSE = ("*.md", "*.rst", "*.txt", "CHANGES*", "CHANGELOG*", "TODO*", "HISTORY*", "docs")

IDENTIFIER = re.compile(r"_|\.|\d|[a-z][A-Z]|^[A-Z]{3,}$")
ENDING = re.compile(r"\.(?:py|js|ts|jsx|tsx|html|css|md|json|ya?ml|toml|txt|sh|sql)$")
NAME = re.compile(r"[^\W\d]\w*")
PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\dA-Za-z_]+")
ENDINGS = re.compile(r"(?<=\w{3})(?:ions?|ing|ers?|ed|es|s|e|y)$")
DEFINED = re.compile(
    r"^([ \t]*)(?:export +)?(?:default +)?(?:async +)?(?:def|class|function|func|const|let|var) +(\w+)"
    r"|^([A-Za-z_]\w*) *(?::[^=\n]+)?=[^=]",
    re.MULTILINE,
)
TOKEN = re.compile(r"[\w@+./-]+")
IMPORTED = re.compile(
    r"^[ \t]*from +([.\w]+) +import +(\([^)]{0,2000}\)|[^\n]*)|^[ \t]*import +([\w., ]+)", re.MULTILINE
)
LONGEST_TOKEN = 200
SHARED_NAMES = 3  # files; a name that more of them define tells nothing of which is meant


Kind = Literal["code", "tests", "pages", "prose", "looks", "dull"]


@lru_cache(100_000)
def kind(path: str) -> Kind:
    """What a file is good for: code tells what is so, prose what was meant."""
    if matches(path, DULL):
        return "dull"
    if matches(path, LOOKS):
        return "looks"
    if matches(path, PAGES):
        return "pages"
    return "prose" if matches(path, PROSE) else "tests" if matches(path, TESTS) else "code"


def by_worth(hit: SourceHit) -> tuple[bool, bool, bool, str, int]:
    """The order of lines that hold a name: the product's code, its tests, prose, what nobody edits."""
    of = kind(hit.path)
    return of == "dull", of == "prose", of == "tests", hit.path, hit.line


@lru_cache(200_000)
def stems(word: str) -> tuple[str, ...]:
    """The words of an identifier in their shortest form: `paged_lists` -> `pag`, `list`."""
    return tuple(ENDINGS.sub("", part.lower()) for part in PART.findall(word) if len(part) > 1 or part.isdigit())


def words(text: str) -> Iterator[str]:
    for name in NAME.findall(text):
        yield from stems(name)


@dataclass(frozen=True)
class IndexedFile:
    """A text file, and what it defines."""

    path: str
    lines: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def names(self) -> Counter[str]:
        return Counter(NAME.findall(self.text))

    @cached_property
    def words(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for name, count in self.names.items():
            for stem in stems(name):
                found[stem] += count
        return found

    @property
    def is_code(self) -> bool:
        """Whether it holds functions that somebody here wrote."""
        return self.path.endswith(DEFINING) and kind(self.path) != "dull"

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        return definitions(self.lines) if self.is_code else ()

    @cached_property
    def _names(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(DEFINED.findall(self.text))

    @cached_property
    def defined(self) -> frozenset[str]:
        return frozenset(one or other for _, one, other in self._names)

    @cached_property
    def offered(self) -> frozenset[str]:
        """What others may use by its name alone: no methods."""
        return frozenset(one or other for indent, one, other in self._names if not indent)

    @property
    def size(self) -> int:
        return len(self.text) + 6 * len(self.lines)  # as it is shown, with numbers


class CodeIndex:
    """Index of one commit. `paths`: all that may be named."""

    def __init__(self, source: SourceTree) -> None:
        self.paths = tuple(sorted(path for path in source.files() if is_plain_path(path)))
        self.files: Mapping[str, IndexedFile] = dict(_read(source, self.paths))
        self._ends = _ends(self.paths)
        self._modules = _modules(self.files)

    # --- words -----------------------------------------------------------------------------------------------

    @cached_property
    def _spread(self) -> Counter[str]:
        return Counter(word for file in self.files.values() for word in {*file.words, *words(file.path)})

    @cached_property
    def _mean(self) -> float:
        return max(1.0, sum(file.words.total() for file in self.files.values()) / max(1, len(self.files)))

    def weight(self, word: str) -> float:
        """How much a word tells: the fewer files hold it, the more; 0: no file does."""
        held = self._spread[word]
        return math.log(1 + (len(self.files) - held + 0.5) / (held + 0.5)) if held else 0.0

    def score(self, file: IndexedFile, wanted: Iterable[str]) -> float:
        """How much a file speaks of these words; its path counts for as much as many lines."""
        length = 0.3 + 0.7 * file.words.total() / self._mean
        in_path = set(words(file.path))
        total = 0.0
        for word in wanted:
            count = file.words[word]
            total += self.weight(word) * (2.2 * count / (count + 1.2 * length) + (1.0 if word in in_path else 0))
        return total

    @cached_property
    def holders(self) -> Mapping[str, tuple[str, ...]]:
        """Identifier -> files that hold it."""
        return _by_name((n, path) for path, file in self.files.items() for n in file.names if IDENTIFIER.search(n))

    # --- references ------------------------------------------------------------------------------------------

    @cached_property
    def sounds(self) -> Mapping[str, tuple[str, ...]]:
        """The words of what is defined and of paths, by how they sound."""
        return by_sound((*self.definers, *self.paths))

    @cached_property
    def definers(self) -> Mapping[str, tuple[str, ...]]:
        """Name -> files that define it."""
        return _by_name((name, path) for path, file in self.files.items() for name in file.defined)

    @cached_property
    def packages(self) -> frozenset[str]:
        """Names of others' packages that its code imports: nothing of Python's own, nothing of this repository."""
        told = (found for file in self.files.values() if file.is_code for found in IMPORTED.findall(file.text))
        names = (name.split()[0] for module, _, plain in told for name in (module or plain).split(",") if name.strip())
        return (
            frozenset(name.partition(".")[0] for name in names) - self._modules.keys() - sys.stdlib_module_names - {""}
        )

    @cached_property
    def _telling(self) -> frozenset[str]:
        """Names that say which file is meant, wherever they stand."""
        few = (name for name, paths in self.definers.items() if len(paths) <= SHARED_NAMES)
        telling = (name for name in few if len(name) > 4 and IDENTIFIER.search(name))
        return frozenset(name for name in telling if any(name in self.files[p].offered for p in self.definers[name]))

    @cached_property
    def links(self) -> Mapping[str, frozenset[str]]:
        """File -> files that it uses: imports, calls by a name of their own, settings, templates, names in strings."""
        told = (file for path, file in self.files.items() if kind(path) != "dull")
        return {file.path: frozenset(self._uses(file)) - {file.path} for file in told}

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """File -> files that use it."""
        return _by_name((other, path) for path, used in self.links.items() for other in used)

    def at_end(self, name: str) -> tuple[str, ...]:
        """The files of this path, or whose path ends so, the shortest first."""
        return self._ends.get(name, ())

    def module(self, dotted: str) -> tuple[str, ...]:
        """Files that a dotted name means: a module, or a name that one of them defines."""
        if found := self._modules.get(dotted):
            return found
        head, _, name = dotted.rpartition(".")
        while head:
            if found := tuple(path for path in self._modules.get(head, ()) if name in self.files[path].defined):
                return found
            head, _, name = head.rpartition(".")
        return ()

    def _uses(self, file: IndexedFile) -> Iterator[str]:
        folder = dirname(file.path)
        for token in set(TOKEN.findall(file.text)):
            name = token.strip("./-")
            if len(name) > LONGEST_TOKEN or not ("." in name or "/" in name):
                continue
            yield from _nearest(folder, self.at_end(name) or self.module(name), SHARED_NAMES)
        for module, names, plain in IMPORTED.findall(file.text):
            yield from self._imported(file.path, module, NAME.findall(names or plain))
        for name in file.names.keys() & self._telling - file.defined:
            yield from _nearest(folder, self.definers[name], SHARED_NAMES)

    def _imported(self, path: str, module: str, names: Sequence[str]) -> Iterator[str]:
        if not module:
            for name in names:
                yield from self._modules.get(name, ())[:1]
            return
        above = len(module) - len(module.lstrip("."))
        folder = "/".join(path.split("/")[:-above]) if above else ""
        inside = ".".join(part for part in (folder.replace("/", "."), module.lstrip(".")) if part)
        for name in names:
            yield from self._modules.get(f"{inside}.{name}".lstrip("."), ())[:1]
        yield from self._modules.get(inside, ())[:1]


def _read(source: SourceTree, paths: Iterable[str]) -> Iterator[tuple[str, IndexedFile]]:
    left = MOST_TEXT
    for path in sorted(paths, key=lambda path: (kind(path) == "dull", path.count("/"), path))[:MOST_FILES]:
        lines = lines_of(source, path) if left > 0 else None
        if lines is not None:
            left -= sum(map(len, lines))
            yield path, IndexedFile(path, lines)


def _ends(paths: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    parted = ((path, path.split("/")) for path in _shortest_first(paths))
    return _by_name(("/".join(parts[start:]), path) for path, parts in parted for start in range(len(parts)))


def _modules(paths: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """`shop.models`, `models` -> files; a package is its `__init__.py`."""
    modules = [path for path in _shortest_first(paths) if splitext(path)[1] in (".py", ".js", ".ts")]
    parted = ((path, f"/{splitext(path)[0]}".removesuffix("/__init__").split("/")[1:]) for path in modules)
    return _by_name((".".join(parts[start:]), path) for path, parts in parted for start in range(len(parts)))


def _shortest_first(paths: Iterable[str]) -> Sequence[str]:
    return sorted(paths, key=lambda path: (path.count("/"), path))


def _by_name(found: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Name -> paths, in their order."""
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in found:
        paths[name].append(path)
    return {name: tuple(same) for name, same in paths.items()}


def _nearest(folder: str, paths: Sequence[str], most: int) -> Sequence[str]:
    """Those of the same folder, if there are any; nothing if too many could be meant."""
    near = [path for path in paths if dirname(path) == folder]
    return near or (paths if len(paths) <= most else ())
