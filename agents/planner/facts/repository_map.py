"""Index -> a map of the repository: every file by its name, with what it defines, in bounded length. Pure.

When not all of it fits, detail goes in this order: names of what nobody edits, definitions of tests, definitions of
files far from the goals, names of files far from them; counts stand in their place. A folder that a goal names keeps
its names. The goals of a day give one map, whichever of them are asked about.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from posixpath import basename, dirname, splitext

from sisimpur.agents.planner.facts.code_index import TESTS, CodeIndex, IndexedFile, kind
from sisimpur.agents.planner.facts.relevance import Relevance
from sisimpur.agents.planner.facts.source import LONG_FILE, clean
from sisimpur.shared.model.scope import matches

LONGEST_NAMES = 4_000  # characters of one file's definitions
NEAR = 40  # files nearest to the goals: what they define goes after the names of folders far from them
FIXTURES = ("fixtures", "locale", "testdata", "*.snap")
FUNCTION = re.compile(r"(?:export +)?const +(\w+) *= *(?:async *)?(?:function\b|\([^()\n]*\) *=>|\w+ *=>)")


@dataclass(frozen=True)
class Detail:
    """Detail that is left out: of these files what they define, of those the names.

    `spare`: nobody edits them, one line is enough for all folders that hold nothing else; `is_merged`: so it is for
    all whose names are left out.
    """

    undefined: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()
    spare: frozenset[str] = frozenset()
    is_merged: bool = False


def repository_map(
    index: CodeIndex, limit: int, goals: Sequence[Relevance] = (), kept: Collection[str] = (), is_defining: bool = True
) -> str:
    """All of it, or as much as fits; in the end perhaps more. `kept`: folders whose files keep their names."""
    told = {path: names(file) for path, file in index.files.items() if is_defining and file.is_code}
    steps, shown = list(_steps(index, goals, kept)), Shown.of(index, told)
    place = bisect_left(
        range(len(steps)), True, key=lambda many: len(_rendered(shown, _without(steps[:many]))) <= limit
    )
    return _rendered(shown, _without(steps[:place]))


def names(file: IndexedFile) -> str:
    """What a file defines: `Class(method, method), function`; without what Python calls by itself."""
    told: list[list[str]] = []
    for name in _defined(file):
        outer, _, inner = name.partition(".")
        if not inner:
            told.append([name])
        elif told and told[-1][0] == outer and "." not in inner and not inner.startswith("__") and inner != "Meta":
            told[-1].append(inner)
    texts = (f"{name}({', '.join(inside)})" if inside else name for name, *inside in told)
    text = clean(", ".join(dict.fromkeys(texts)), LONGEST_NAMES)
    return text if len(text) < LONGEST_NAMES else f"{text.rpartition(', ')[0]} … and more"


def _defined(file: IndexedFile) -> Iterator[str]:
    """The names of a Python file; of others those that begin at the edge."""
    if file.path.endswith(".py"):
        yield from (each.name for each in file.definitions)
        return
    at_edge = {each.line: each.name for each in file.definitions if not file.lines[each.line - 1][:1].isspace()}
    constants = {n: found[1] for n, line in enumerate(file.lines, 1) if (found := FUNCTION.match(line))}
    yield from (name for _, name in sorted((constants | at_edge).items()))


# --- what is left out ----------------------------------------------------------------------------------------


def _steps(index: CodeIndex, goals: Sequence[Relevance], kept: Collection[str]) -> Iterator[Detail]:
    """What is left out next, the least of a loss first."""
    named = {path for goal in goals for path in goal.named}
    worth = {path: max((goal.worth.get(path, 0.0) for goal in goals), default=0.0) for path in index.paths}
    folders: defaultdict[str, set[str]] = defaultdict(set)
    for path in index.paths:
        if dirname(path) not in {*kept, *map(dirname, named)}:
            folders[dirname(path)].add(path)
    for is_spare in (partial(_is_dull, index), lambda path: kind(path) == "looks"):
        yield from (Detail(spare=frozenset(filter(is_spare, paths))) for _, paths in sorted(folders.items()))
    defining = [path for path, file in index.files.items() if file.is_code and path not in named]
    defining.sort(key=lambda path: (kind(path) != "tests", worth[path], path))
    near = defining[-NEAR:]
    yield from (Detail(undefined=frozenset([path])) for path in defining[:-NEAR])
    far = {folder: max(worth[path] for path in paths) for folder, paths in folders.items() if paths.isdisjoint(near)}
    yield from (Detail(unnamed=frozenset(folders[folder])) for folder in sorted(far, key=lambda one: (far[one], one)))
    yield from (Detail(undefined=frozenset([path])) for path in near)
    yield from (Detail(unnamed=frozenset(paths)) for folder, paths in sorted(folders.items()) if folder not in far)
    yield Detail(is_merged=True)


def _is_dull(index: CodeIndex, path: str) -> bool:
    """Not text, made by a tool, or of somebody else."""
    return path not in index.files or kind(path) == "dull" or bool(matches(path, FIXTURES))


def _without(steps: Sequence[Detail]) -> Detail:
    """All of it together."""
    undefined, unnamed, spare = (
        frozenset().union(*(getattr(one, name) for one in steps)) for name in ("undefined", "unnamed", "spare")
    )
    return Detail(undefined, unnamed, spare, bool(steps) and steps[-1].is_merged)


# --- as it is shown ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """Every path with its folder, as a line says it, and what it defines: the same whatever is left out."""

    folders: Mapping[str, str]
    sized: Mapping[str, str]
    told: Mapping[str, str]

    @cached_property
    def every(self) -> frozenset[str]:
        return frozenset(self.folders.values())

    @classmethod
    def of(cls, index: CodeIndex, told: Mapping[str, str]) -> Shown:
        return cls(
            {path: dirname(path) for path in index.paths}, {path: _sized(index, path) for path in index.paths}, told
        )


def _rendered(shown: Shown, left_out: Detail) -> str:
    folders: defaultdict[str, list[str]] = defaultdict(list)
    counted: defaultdict[str, list[str]] = defaultdict(list)
    merged = left_out.spare | (left_out.unnamed if left_out.is_merged else frozenset())
    still = {folder for path, folder in shown.folders.items() if path not in merged}
    open_ = {above for folder in still for above in _above(folder)}
    kept_in = {folder: next((one for one in _above(folder) if one not in open_), folder) for folder in shown.every}
    for path, folder in shown.folders.items():
        if path in merged:
            counted[kept_in[folder]].append(path)
        else:
            (counted if path in left_out.unnamed else folders)[folder].append(path)
    lines = [f"{len(shown.folders)} files:"]
    defined = {path: text for path, text in shown.told.items() if path not in left_out.undefined}
    for folder in sorted({*folders, *counted}):
        lines += _folder(shown.sized, defined, folder, folders.get(folder, ()), counted.get(folder, ()))
    return "\n".join(lines)


def _above(folder: str) -> Iterator[str]:
    """The folders that a folder lies in, from the root on, and itself: where nothing is named, one line is enough."""
    parts = folder.split("/") if folder else []
    yield from ("/".join(parts[:depth]) for depth in range(len(parts) + 1))


def _folder(
    sized: Mapping[str, str], defined: Mapping[str, str], folder: str, named: Sequence[str], counted: Sequence[str]
) -> Iterator[str]:
    """A line for each file that tells what it defines, one for the names of the others, and a count of the rest."""
    yield f"{folder or '.'}/" + ("" if named else f" {_counts(counted)}")
    yield from (f"  {sized[path]}: {defined[path]}" for path in named if defined.get(path))
    if plain := [sized[path] for path in named if not defined.get(path)]:
        yield f"  {', '.join(plain)}"
    if named and counted:
        yield f"  and {_counts(counted)}"


def _sized(index: CodeIndex, path: str) -> str:
    """Its name with its lines, and its length if it is too long to be shown whole."""
    file = index.files.get(path)
    if file is None:
        return basename(path)
    length = f", {len(file.text) // 1_000} kB" if len(file.text) > LONG_FILE else ""
    return f"{basename(path)} ({len(file.lines) if file.text else 0}{length})"


@lru_cache(100_000)
def _ending(path: str) -> str:
    return splitext(path)[1] or basename(path)


def _counts(paths: Iterable[str]) -> str:
    kinds = Counter(map(_ending, paths))
    most = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:4]
    return f"{kinds.total()} files: {', '.join(f'{name} {count}' for name, count in most)}"


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
TEST_SETTINGS = ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "package.json")
TEST_SECTION = re.compile(r"^\[(?:tool[.:])?pytest[^\]\n]*\]\n(?:(?!\[).*\n?)*", re.MULTILINE)
TEST_SCRIPT = re.compile(r'"test"\s*:\s*"[^"\n]*"')
MODEL = re.compile(r"^class \w+\([^)\n]{0,300}\bModel\)", re.MULTILINE)
MOST_SETTINGS = 12  # lines of how tests are set up


def stack(index: CodeIndex) -> Iterator[str]:
    shown: dict[str, list[str]] = {}
    for name, patterns, word in STACK:
        for path in index.paths:
            is_said = not word or (path in index.files and word in index.files[path].text)
            if is_said and matches(path, patterns):
                shown.setdefault(name, []).append(path)
    for name, paths in shown.items():
        yield f"{name}: {', '.join(paths[:5])}{' …' if len(paths) > 5 else ''}"


def tests(index: CodeIndex) -> Iterator[str]:
    """Where they lie, and what says how they run."""
    folders = Counter(dirname(path) or "." for path in index.paths if matches(path, TESTS))
    if not folders:
        yield "tests: none found"
    else:
        listed = [f"{folder} ({count})" for folder, count in sorted(folders.items())]
        yield f"tests: {', '.join(listed[:15])}{' …' if len(listed) > 15 else ''}"
    for path, file in sorted(index.files.items()):
        if basename(path) in TEST_SETTINGS:
            pattern = TEST_SCRIPT if path.endswith(".json") else TEST_SECTION
            if found := pattern.search(file.text):
                lines = [clean(line) for line in found.group().splitlines() if line.strip()]
                yield f"how tests run, by {path}: {'; '.join(lines[:MOST_SETTINGS])}"


def without_tables(index: CodeIndex) -> Iterator[str]:
    """Django's models whose tables no migration makes: a test that needs one fails, whatever it says."""
    if not any(basename(path) == "manage.py" for path in index.paths):
        return
    for path in sorted(index.files):
        app = dirname(path)
        if basename(path) == "models.py" and MODEL.search(index.files[path].text):
            made = [other for other in index.paths if dirname(other) == f"{app}/migrations"]
            if not [other for other in made if basename(other) != "__init__.py"]:
                why = "its migrations folder is empty: tests find no table" if made else "it has no migrations folder"
                yield f"{path} has models without a migration in git; {why}"
            if not _is_installed(index, basename(app)):
                yield f"{path} has models, and no INSTALLED_APPS names {basename(app) or 'its app'}: they have no table"
    for path, file in sorted(index.files.items()):
        if basename(path) == ".gitignore":
            yield from (
                f"{path} keeps migrations out of git: {clean(line)}" for line in file.lines if "migrations" in line
            )


def _is_installed(index: CodeIndex, app: str) -> bool:
    settings = [index.files[path].text for path in index.definers.get("INSTALLED_APPS", ())]
    named = re.compile(rf"""["'](?:[\w.]*\.)?{re.escape(app)}(?:\.apps\.\w+)?["']""")
    return not settings or any(named.search(text) for text in settings)
