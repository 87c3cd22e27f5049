"""A run of the base, what ruff says of it -> findings: tests that fail, code that no test runs, code to tidy.

It reads and runs nothing itself: `Lint` is a word of the linter's door, and files come through a function.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from posixpath import dirname
from typing import Protocol

from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepFinding
from sisimpur.shared.model.change import PROTECTED, usually_holds_keys
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import Failure, SuiteRun, is_test_file
from sisimpur.shared.model.naming import package_name
from sisimpur.shared.model.scope import Scope, judge, matches
from sisimpur.shared.model.text import ranges
from sisimpur.shared.sandbox.linter import Lint

FEW_LINES = 5  # that no test runs: not worth a task
MOST_RANGES = 8  # of such lines that a task names
MOST_EDITED = 4  # files of one task
# Of what ruff looks for; what it says of safety is the reviewer's. B905 and B911 ask for a `strict=` that changes
# nothing, and that Python before 3.10 (3.13) does not take.
TIDIED = re.compile(r"E9|F|B(?!905|911)\d|invalid-syntax")
PYTHON = re.compile(r"[\w./-]{1,300}\.py\b")
STEP = re.compile(r"^at ([\w./-]{1,300}\.py):\d+", re.MULTILINE)  # as QA tells the steps of a trace
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,80}")
NAMES_FILE = re.compile(r"[A-Za-z0-9_./-]{1,200}")  # a path that may stand in a sentence of ours
SAME = "The behaviour stays the same."
EITHER = (
    "Look at both sides. If the code is wrong, mend it and leave the test. If the code is right and the test states"
    " what was so before, correct what the test expects and leave the code. Say in one sentence which side it was."
)

Read = Callable[[str], str]  # a path of the base -> its text; empty: it has none
Changed = Callable[[str], datetime | None]  # a path of the base -> when it was changed last; None: not known


@dataclass(frozen=True)
class Reach:
    """What a task that nobody asked for may touch. `paths`: all files of the base; `protected`: the owner's list."""

    paths: frozenset[str]
    allow: Sequence[str] = ("**",)
    guards: Sequence[str] = ()
    protected: Sequence[str] = ()

    def may_change(self, path: str) -> bool:
        """Nothing that needs the owner's eyes anyhow: that is his to begin."""
        return self.may_pin(path) and not matches(path, PROTECTED)

    def may_pin(self, path: str) -> bool:
        """A list of dependencies is protected because a line of it brings code: here that is what is asked about."""
        return path in self.paths and self._is_free(path)

    def may_create(self, path: str) -> bool:
        return path not in self.paths and self._is_free(path) and not matches(path, PROTECTED)

    def may_read(self, path: str) -> bool:
        return path in self.paths and not usually_holds_keys(path)

    def _is_free(self, path: str) -> bool:
        scope = Scope(allow=tuple(self.allow), guards=tuple(self.guards))
        is_plain = NAMES_FILE.fullmatch(path) is not None
        return is_plain and judge(path, path not in self.paths, scope) is None and not matches(path, self.protected)

    @property
    def product(self) -> tuple[str, ...]:
        """Modules that a task may change, tests are none of them."""
        return tuple(
            path
            for path in sorted(self.paths)
            if path.endswith(".py") and not is_test_file(path) and self.may_change(path)
        )


# --- tests that fail -----------------------------------------------------------------------------------------


def failing(run: SuiteRun, reach: Reach, read: Read, changed: Changed = lambda _: None) -> Iterator[UpkeepFinding]:
    """Each with the files of its trace; where only the test itself is in there, with what that uses of its imports."""
    for failure in run.failures:
        if run.outcomes.get(failure.test) == "failed" and (found := _failing(failure, reach, read, changed)):
            yield found


def _failing(failure: Failure, reach: Reach, read: Read, changed: Changed) -> UpkeepFinding | None:
    holding = _file_of(failure, reach.paths)
    if not holding or not reach.may_read(holding) or not NAMES_FILE.fullmatch(holding):
        return None
    last = re.split(r"::|\.", failure.test.partition("[")[0])[-1]
    used = (path for path in _imported(holding, read(holding), last, reach.paths) if read(path).strip())
    named = _product(_traced(failure), reach) or _product(used, reach)
    if not named:
        return None
    test = f"the failing test {last}" if "::" in failure.test and IDENTIFIER.fullmatch(last) else "the failing tests"
    sides, is_stale = _sides(holding, named, reach, changed)
    return UpkeepFinding(
        "failing test",
        failure.test,
        f"Fix {test} in {holding}",
        f"A test in {holding} fails on the newest state of the branch. {sides}",
        (
            "the test passes" if is_stale else "the test passes, as it is",
            "no other test fails that did not fail before",
        ),
        f"{failure.test}\n{failure.where}\n{failure.text}",
        edit=(*named, holding) if is_stale else named,
        read=() if is_stale else (holding,),
    )


def _sides(holding: str, named: Sequence[str], reach: Reach, changed: Changed) -> tuple[str, bool]:
    """What is to be mended, and whether that may be the test: code that changed after it may be right."""
    then = changed(holding)
    code = max(filter(None, map(changed, named)), default=None)
    if then is None or code is None:
        return "Mend the code that it tests, not the test.", False
    days = f"It changed last on {then:%Y-%m-%d}, the code on {code:%Y-%m-%d}."
    if code <= then or not reach.may_change(holding):
        return f"{days} Mend the code that it tests, not the test.", False
    return f"{days} {EITHER}", True


def _file_of(failure: Failure, paths: frozenset[str]) -> str:
    """The file in an id of pytest, the module in one of unittest, or where it failed; empty: not known."""
    path = failure.test.partition("::")[0]
    if path in paths:
        return path
    parts = re.sub(r" \(\w+\)$", "", failure.test).split(".")
    tried = ("/".join(parts[:size]) + ending for size in range(len(parts), 0, -1) for ending in (".py", "/__init__.py"))
    found = next((path for path in tried if path in paths), "") or failure.where.rpartition(":")[0]
    return found if found in paths and is_test_file(found) else ""


def _traced(failure: Failure) -> list[str]:
    """Files of which a line ran, the innermost first; in a trace that is not understood, those that it names."""
    ran = STEP.findall(failure.text)
    named = [failure.where.rpartition(":")[0], *(ran or reversed(PYTHON.findall(failure.text)))]
    return [path.removeprefix("/job/").removeprefix("./") for path in named]


def _imported(holding: str, text: str, test: str, paths: frozenset[str]) -> Iterator[str]:
    """Files of the repository that a test uses; those that its file imports, if that is not known."""
    try:
        module = ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return
    folder, used = holding.rpartition("/")[0], _names_of(module, test)
    for node in ast.walk(module):
        if not isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.ImportFrom) and node.level):
            continue
        ones = [one for one in node.names if not used or (one.asname or one.name).partition(".")[0] in {"*", *used}]
        modules = [one.name for one in ones]
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [*(f"{node.module}.{one.name}" for one in ones), *([node.module] if ones else [])]
        roots = ("", "src/", f"{folder}/" if folder else "")
        places = (f"{root}{one.replace('.', '/')}" for one in modules for root in roots)
        yield from (path for place in places for path in (f"{place}.py", f"{place}/__init__.py") if path in paths)


def _names_of(module: ast.Module, test: str) -> frozenset[str]:
    """Names that a test uses, with those that its helpers and fixtures use; empty: it was not found."""
    parts = {name: node for node in module.body for name in _made(node)}
    waiting = [node for node in module.body if any(getattr(one, "name", "") == test for one in ast.walk(node))]
    names: set[str] = set()
    while waiting:
        for one in ast.walk(waiting.pop()):
            name = one.id if isinstance(one, ast.Name) else one.arg if isinstance(one, ast.arg) else ""
            if name and name not in names:
                names.add(name)
                waiting += [parts[name]] if name in parts else []
    return frozenset(names)


def _made(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _product(named: Iterable[str], reach: Reach) -> tuple[str, ...]:
    able = (path for path in named if not is_test_file(path) and reach.may_change(path))
    return tuple(dict.fromkeys(able))[:MOST_EDITED]


# --- code that no test runs ----------------------------------------------------------------------------------


def uncovered(run: SuiteRun, reach: Reach) -> Iterator[UpkeepFinding]:
    """Modules with lines that no test runs. Where nothing was counted nothing is known.

    A folder of which no test runs any line (examples, scripts) may need what the tests' environment lacks.
    """
    ran = {_file_of(Failure(test, "", ""), reach.paths) for test in run.outcomes}
    for path in reach.product if run.covered is not None else ():
        lines = run.uncovered.get(path, ()) if run.folders.get(dirname(path) or ".", (1,))[0] else ()
        sample = _sample(path, reach, ran)
        new = _test_for(path, reach, sample)
        if len(lines) >= FEW_LINES and new:
            yield UpkeepFinding(
                "uncovered code",
                path,
                f"Add tests for {path}",
                f"No test runs {len(lines)} lines of {path} ({_places(lines)}). Write tests for what they do, in {new};"
                f" {path} stays as it is. {SAME}",
                (f"the new tests in {new} pass, and run lines of {path} that no test ran", "no other file is changed"),
                size=len(lines),
                create=(new,),
                read=(path, *sample),
            )


def _places(lines: Sequence[int]) -> str:
    """`3-5, 9, …`."""
    found = ranges(lines).split(", ")
    return ", ".join(found[:MOST_RANGES]) + (", …" if found[MOST_RANGES:] else "")


def _test_for(path: str, reach: Reach, sample: Sequence[str]) -> str:
    """Where its tests would be written: beside others, under a name that is free; empty: nowhere."""
    folder = sample[0].rpartition("/")[0] if sample else "tests"
    parts = [part for part in path.removesuffix(".py").removesuffix("/__init__").split("/") if part.isidentifier()]
    plain = [f"test_{'_'.join(parts[-size:])}" for size in range(1, len(parts) + 1)] or ["test_more"]
    names = (f"{name}.py" for name in chain(plain, (f"{plain[0]}_{number}" for number in count(2))))
    tried = (f"{folder}/{name}".removeprefix("/") for name, _ in zip(names, range(20), strict=False))
    return next((path for path in tried if reach.may_create(path)), "")


def _sample(path: str, reach: Reach, ran: Collection[str]) -> tuple[str, ...]:
    """A file of tests to learn from: of those that ran, where there are any, the one that is nearest."""
    tests = [
        one for one in sorted(reach.paths) if re.fullmatch(r"(?:.*/)?test_\w+\.py", one) and NAMES_FILE.fullmatch(one)
    ]
    return tuple(sorted(tests, key=lambda one: (one not in ran, -_shared(one, path), one))[:1])


def _shared(one: str, other: str) -> int:
    """How many folders two paths begin with alike, and whether the test is named like the module."""
    pairs = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    folders = next((number for number, (a, b) in enumerate(pairs) if a != b), min(one.count("/"), other.count("/")))
    return 2 * folders + (one.rpartition("/")[2] == f"test_{other.rpartition('/')[2]}")


# --- what a linter finds -------------------------------------------------------------------------------------


def untidy(lints: Sequence[Lint], reach: Reach) -> Iterator[UpkeepFinding]:
    """One finding for each file. An import in `__init__.py` may be there for others."""
    able = frozenset(reach.product)
    found: dict[str, list[Lint]] = {}
    for one in lints:
        is_offered = one.code == "F401" and one.path.endswith("__init__.py")
        if one.path in able and TIDIED.match(one.code) and not is_offered:
            found.setdefault(one.path, []).append(one)
    for path, ones in found.items():
        kinds = Counter(one.code for one in ones)
        codes = ", ".join(code for code, _ in kinds.most_common(6) if re.fullmatch(r"[A-Z]+\d+|invalid-syntax", code))
        yield UpkeepFinding(
            "lint",
            path,
            f"Tidy {path}: what ruff finds",
            f"ruff finds {len(ones)} {'thing' if len(ones) == 1 else 'things'} in {path} ({codes}). Mend them. {SAME}",
            (f"ruff does not find them in {path} any more", "the tests pass"),
            "\n".join(f"line {one.line}: {one.code} {one.text}" for one in ones),
            size=len(ones),
            edit=(path,),
        )


def texts(reach: Reach, read: Read) -> Mapping[str, str]:
    """What a linter is to look at."""
    return {path: text for path in reach.product if (text := read(path))}


# --- pinned releases -----------------------------------------------------------------------------------------

FILES = ("requirements*.txt", "*-requirements.txt", "requirements/*.txt", "requirements/**/*.txt")
PIN = re.compile(  # name[extra]==1.2 ; marker  # remark
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!_-]{1,60})"
    r"\s*(?:;[^#\\]*)?(?:\s#.*)?"
)
MOST_PINS = 80  # that an index is asked about on one day


@dataclass(frozen=True)
class RequirementPin:
    """A line that holds one version of a package and nothing else that decides on it."""

    path: str
    line: int
    name: str
    version: str


@dataclass(frozen=True)
class NewerVersion:
    """The newest final version that fits. `behind`: how many final ones are newer than the pinned one."""

    version: str
    behind: int


class Releases(Protocol):
    """A package index."""

    def newer(self, name: str, version: str) -> NewerVersion | None:
        """None: there is none. Refused: nothing is known of this package. Unavailable: nothing is known at all."""


def pins(path: str, text: str) -> Iterator[RequirementPin]:
    """A line with hashes, with another condition or that goes on is left alone: to change it takes a tool."""
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        found = PIN.fullmatch(line.strip())
        if found and not goes_on:
            yield RequirementPin(path, number, found["name"], found["version"])
        goes_on = line.endswith("\\")


def outdated(reach: Reach, read: Read, releases: Releases) -> Iterator[UpkeepFinding]:
    """Unavailable, as `Releases.newer`; Refused: nothing is known of any of them."""
    lists = [path for path in sorted(reach.paths) if path.endswith(".txt") and matches(path, FILES)]
    listed = [pin for path in lists if reach.may_pin(path) for pin in pins(path, read(path))]
    refused: list[Refused] = []
    for pin in listed[:MOST_PINS]:
        try:
            newer = releases.newer(pin.name, pin.version)
        except Refused as reason:
            refused.append(reason)
            continue
        if newer:
            yield _outdated(pin, newer)
    if refused and len(refused) == len(listed[:MOST_PINS]):
        raise refused[0]


def _outdated(pin: RequirementPin, newer: NewerVersion) -> UpkeepFinding:
    return UpkeepFinding(
        "outdated pin",
        f"{package_name(pin.name)} in {pin.path}",
        f"Update {pin.name} to {newer.version} in {pin.path}",
        f"Line {pin.line} of {pin.path} pins {pin.name} to {pin.version}; {newer.version} is the newest final version."
        f" Write =={newer.version} there and change nothing else: extras, markers and remarks of the line stay. {SAME}",
        (f"{pin.path} pins {pin.name}=={newer.version}", "the tests pass with it"),
        size=newer.behind,
        edit=(pin.path,),
    )
