"""(Measure, commit) -> Figure: what goals are measured by, in the box of the tests.

What a measure is of is looked for among what exists; none of it reaches a command line. The tests of a commit are run
once, whoever asks for them.
"""

from __future__ import annotations

import re
import shlex
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import assert_never

from sisimpur.agents.qa.commit_texts import text_of
from sisimpur.agents.qa.runner.suite import RawTestRun
from sisimpur.agents.qa.tools.readings import ABSENT
from sisimpur.agents.qa.tools.table import ENVIRONMENTS_OWN
from sisimpur.shared.model.change import CommitFiles, paths_of, usually_holds_keys
from sisimpur.shared.model.errors import BrokenSetup, Refused, Stumble, Unavailable
from sisimpur.shared.model.evidence import Figure, SuiteRun, is_test_file
from sisimpur.shared.model.work import FindingsOf, Measure, MeasureKind

TIMED = 5  # runs of a test that is timed
LARGEST = 20_000_000  # bytes of a file that is measured
PROPERTIES = ("lines", "bytes", "matches")

# (path -> text of Python files, and of what configures the tool; options; Python files beside) -> its findings
Finds = Callable[[Mapping[str, str], Sequence[str], Collection[str]], Sized]
ENVIRONMENTS = (
    "flake8",
    "mypy",
    "pycodestyle",
    "pyflakes",
    "pylint",
)  # of the target's own environment, if it has them
FINDING = re.compile(r"^[^:\n]{1,500}:\d+:(?!\d+: note|\s*note)", re.MULTILINE)
CONFIGURATION = ("pyproject.toml", "ruff.toml", ".ruff.toml")  # of the tools, in any folder


@dataclass(frozen=True)
class Measuring:
    """Takes figures of one commit. `suite`: all its tests, run once; `timed`: those of a file, run anew each time.

    `tools`: ours, that findings are counted of; `said`: what a shell line of our making prints in the tests' box.
    """

    source: CommitFiles
    commit: str
    suite: Callable[[], SuiteRun]
    timed: Callable[[str], SuiteRun]
    tools: Mapping[str, Finds]
    said: Callable[[str], RawTestRun]

    def figure(self, measure: Measure) -> Figure:
        """What is wrong with the measure itself, or with the tests, is an answer; a box that is missing is raised."""
        try:
            match measure.kind:
                case MeasureKind.COVERAGE:
                    return self._coverage(measure.of)
                case MeasureKind.FINDINGS:
                    return self._findings(measure.of)
                case MeasureKind.TEST:
                    return self._test(measure.of)
                case MeasureKind.PROPERTY:
                    return self._property(measure.of)
                case MeasureKind.TIMING:
                    return self._timing(measure.of)
                case _:
                    assert_never(measure.kind)
        except Unavailable:
            raise  # for a reason that is not the measure's
        except (BrokenSetup, Refused, Stumble) as problem:
            return Figure(None, str(problem))

    def _coverage(self, of: str) -> Figure:
        run = self.suite()
        if not run.is_whole or run.covered is None:
            return Figure(None, f"the tests came to no end: {run.end}" if not run.is_whole else "no lines were counted")
        wanted = below(of, run.executable)
        every = sum(run.executable[path] for path in wanted)
        if not every:
            return Figure(None, f"there is no code of {of!r} that tests can be counted for")
        missed = sum(len(run.uncovered.get(path, ())) for path in wanted)
        return Figure(100 * (every - missed) / every)

    def _findings(self, of: str) -> Figure:
        asked = FindingsOf.read(of)
        tool, place = asked.tool, asked.place
        if tool not in (*self.tools, *ENVIRONMENTS):
            known = ", ".join((*self.tools, *ENVIRONMENTS))
            return Figure(None, f"{tool!r} is no tool that findings are counted of; those are {known}")
        if asked.refused:
            return Figure(None, f"{asked.refused!r} is no option that a measure may have")
        paths = paths_of(self.source, self.commit)
        wanted = below(place or ".", [path for path in paths if path.endswith(".py")])
        if not wanted:
            return Figure(None, f"there is no Python code in {place!r}")
        if tool in ENVIRONMENTS:
            return self._of_environment(tool, asked.options, wanted)
        theirs = [path for path in paths if path.rpartition("/")[2] in CONFIGURATION]
        texts = {path: text_of(self.source, self.commit, path) for path in wanted + theirs}
        beside = [path for path in paths if path.endswith(".py") and path not in texts]
        return Figure(float(len(self.tools[tool](texts, asked.options, beside))))

    def _of_environment(self, tool: str, options: Sequence[str], paths: Sequence[str]) -> Figure:
        inner = f'{ENVIRONMENTS_OWN} {tool} "$@" 2>/dev/null'
        run = self.said(shlex.join(("sh", "-c", inner, "sh", *options, "--", *paths)))
        if run.code == ABSENT:
            return Figure(None, f"{tool} is not in the environment of the tests; name it in `setup:`")
        found = len(FINDING.findall(run.output))
        if run.end != "exited" or (run.code and not found):
            return Figure(None, f"{tool} came to no answer: {run.end}, exit code {run.code}")
        return Figure(float(found))

    def _test(self, of: str) -> Figure:
        """One that is not there does not pass."""
        run = self.suite()
        if not run.is_whole:
            return Figure(None, f"the tests came to no end: {run.end}")
        found = [outcome for test, outcome in run.outcomes.items() if is_of(test, of)]
        return Figure(float(bool(found) and all(outcome == "passed" for outcome in found)))

    def _property(self, of: str) -> Figure:
        """A pattern is plain text: what a model or a repository wrote is not run as an expression either."""
        what, _, rest = of.strip().partition(" ")
        path, _, pattern = rest.strip().partition(" ")
        if what not in PROPERTIES or not path or (what == "matches") is not bool(pattern.strip()):
            return Figure(None, f"{of!r} is no property; write `lines PATH`, `bytes PATH` or `matches PATH TEXT`")
        if not (meant := _meant(path, paths_of(self.source, self.commit))):
            return Figure(None, f"there is no file {path}, or several end like it")
        path = meant
        if usually_holds_keys(path):
            return Figure(None, f"{path} is not looked into: files of this name usually hold keys")
        data = self.source.read(self.commit, path, LARGEST) or b""
        if what == "bytes":
            return Figure(float(len(data)))
        lines = data.decode("utf-8", "replace").splitlines()
        return Figure(float(sum(pattern.strip() in line for line in lines) if pattern else len(lines)))

    def _timing(self, of: str) -> Figure:
        """The median of several runs, in milliseconds; `why` tells their spread."""
        if self._test(of).value != 1:
            return Figure(None, f"there is no test {of} that passes, so it cannot be timed")
        path = of.partition("::")[0]
        runs = [self.timed(path) for _ in range(TIMED)] if path in paths_of(self.source, self.commit) else []
        times = sorted(1_000 * sum(seconds for test, seconds in run.times.items() if is_of(test, of)) for run in runs)
        if not times or not times[0]:
            return Figure(None, f"the runner does not say how long {of} takes")
        return Figure(statistics.median(times), f"{times[0]:.1f} to {times[-1]:.1f} ms in {TIMED} runs")


def _meant(path: str, paths: Collection[str]) -> str:
    """The file of this path, else the only one that ends with it; empty: none, or several."""
    found = [path] if path in paths else [one for one in paths if one.endswith(f"/{path}")]
    return found[0] if len(found) == 1 else ""


def below(place: str, paths: Collection[str]) -> list[str]:
    """Code that a place means: a file, a folder, a package by its name; tests only if they are meant. Sorted.

    The strictest reading that exists: as it is written, then in other capitals, then as a folder somewhere below.
    """
    wanted = place.strip().strip("`'\"").replace("\\", "/").removeprefix("./").strip("/")
    if wanted in ("", "."):
        return sorted(path for path in paths if not is_test_file(path))
    dotted = wanted.replace(".", "/") if "/" not in wanted and not wanted.endswith(".py") else wanted
    names = dict.fromkeys((wanted, dotted, f"{dotted}.py"))
    for alike in (str, str.casefold):
        for name in names:
            folded = alike(name)
            for holds in (_is_below, _has_folder):
                found = [path for path in paths if holds(alike(path), folded)]
                if found and len({_root(alike(path), folded) for path in found}) == 1:
                    product = [path for path in found if not is_test_file(path)]
                    return sorted(product or found)
    return []


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _has_folder(path: str, place: str) -> bool:
    return f"/{place}/" in path or path.endswith(f"/{place}")


def _root(path: str, place: str) -> str:
    """What stands before the place: two packages of one name are a doubt, not a place."""
    return f"/{path}/".partition(f"/{place}/")[0]


def is_of(test: str, named: str) -> bool:
    """Whether a runner's test is the one that is named, one of its parameters, or in the file or class that is."""
    return test == named or test.startswith((f"{named}::", f"{named}[", f"{named}."))
