"""What `init` writes down of the target, and what `doctor` says of its tests: they are run once, as before a change."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.qa.runner.suite import SuiteOrder
from sisimpur.agents.qa.survey import findings
from sisimpur.agents.qa.survey.commands import NONE
from sisimpur.agents.qa.survey.roots import in_words
from sisimpur.agents.qa.survey.target_survey import TargetSurvey, survey_at
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.cli.terminal.printing import plain_block
from sisimpur.cli.views.vision import vision_findings
from sisimpur.cli.wiring.workshop import BoxWorkshop, roots_of
from sisimpur.shared.config.settings import Settings
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, TeamError
from sisimpur.shared.model.text import few, one_line
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system import lock
from sisimpur.shared.system.paths import IN_USE, Home

NO_TESTS = "none were found; name their command as `test:`: nothing can be shown, so every change waits for you"
LONGEST = 600  # characters of a proposed line: what is longer is not for reading


@contextmanager
def look(home: Home, remote: Remote, branch: str) -> Iterator[tuple[Mirror, str]]:
    """Its newest commit, in a mirror of its own for as long as the block lasts: no day's mirror is touched."""
    home.temporary.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="look-", dir=home.temporary) as folder,
        lock.said(Path(folder) / IN_USE, "look"),  # a day that begins meanwhile leaves it alone
        closing(Mirror(Path(folder) / "target.git", remote)) as mirror,
    ):
        mirror.create()
        yield mirror, mirror.fetch(branch)


# --- init ----------------------------------------------------------------------------------------------------


def proposed(home: Home, remote: Remote, branch: str) -> tuple[str, list[str]]:
    """(what was found, as comments of the target's file; lines that the owner reads at once).

    Comments are facts, what is not run, and the lines that nobody has to write. A target that cannot be looked at now
    is no reason to make no home.
    """
    try:
        with look(home, remote, branch) as (mirror, commit):
            lines = list(_proposed(survey_at(mirror, commit), mirror, commit))
            left_out = list(_uncommitted(mirror, commit, remote, branch))
    except TeamError as problem:
        lines, left_out = [f"  not looked at: {one_line(str(problem), LONGEST)}"], []
    told = [line.strip() for line in lines if line.startswith("  not ")]
    return "".join(f"# {line}\n" for line in lines), [*left_out, *told]


def _uncommitted(mirror: Mirror, commit: str, remote: Remote, branch: str) -> Iterator[str]:
    """What lies in the owner's folder, and in no commit of the branch: the team starts without it."""
    folder = Path(remote.url)
    if remote.is_local and (folder / ".git").exists() and (paths := mirror.differing(commit, folder)):
        without = f"the team begins with the newest commit of {branch}, without them; commit what it needs"
        yield f"not committed: {few(paths, 3)} of {folder}: {without}"


def _proposed(survey: TargetSurvey, mirror: Mirror, commit: str) -> Iterator[str]:
    yield "What was found there; it is found anew for each commit. A line without its # is your word instead."
    for name, text in findings.what_it_is(survey):
        yield f"  {name}: {one_line(text, LONGEST)}"
    yield f"  size: {sum(entry.size for entry in mirror.tree(commit)) / 1e6:.1f} MB"
    for text in (*findings.what_is_not_run(survey), *findings.left_alone(mirror.laid_out(commit)[1])):
        yield f"  not run: {one_line(text, LONGEST)}"
    for text in findings.read_only(mirror.submodules(commit)):
        yield f"  only read: {one_line(text, LONGEST)}"
    if survey.roots:
        yield from _roots(survey)
        return
    if not survey.test():
        yield f"  not tested: {NO_TESTS}"
    for name, value in (("setup", survey.setup), ("test", survey.test())):
        text = f"{name}: {json.dumps(value)}"
        yield text if len(text) <= LONGEST else f"{name}: (what {survey.manager} has locked is installed)"


def _roots(survey: TargetSurvey) -> Iterator[str]:
    """As YAML, each part of a word of its own on a line."""
    yield "roots:"
    for root in survey.roots:
        yield f"  - root: {root.folder}"
        for name, value in (("setup", root.setup), ("test", root.test or NONE)):
            yield f"    {name}: {json.dumps(value)}" if len(value) <= LONGEST else f"    # {name}: what is locked"


# --- doctor --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TargetPlace:
    """What a workshop needs to know."""

    home: Home
    settings: Settings


def tell(line: str) -> None:
    """What takes minutes says what it is at; not among the findings, which scripts read."""
    print(f"...   {'tests':<14}  {plain_block(line)}", file=sys.stderr, flush=True)


def looked_over(home: Home, settings: Settings, has_box: bool) -> Iterator[SetupFinding]:
    """What VISION.md says of its files, what is not run, then, in a box, whether the tests of the branch run.

    TeamError or OSError: it cannot be looked at.
    """
    target = settings.target.file
    remote = Remote(target.repo, settings.secrets.get("GITHUB_TOKEN") or None)
    with look(home, remote, target.branch) as (mirror, commit):
        yield from vision_findings(home, [entry.path for entry in mirror.tree(commit)])
        survey = survey_at(mirror, commit, bool(target.packages), roots_of(target))
        for text in (*findings.what_is_not_run(survey), *findings.left_alone(mirror.laid_out(commit)[1])):
            yield SetupFinding("not run", True, text)
        for text in findings.read_only(mirror.submodules(commit)):
            yield SetupFinding("only read", True, text)
        for text in findings.not_everywhere(survey.paths):
            yield SetupFinding("names", True, text)
        if has_box:
            yield _run(TargetPlace(home, settings), mirror, commit, survey)


def _run(place: TargetPlace, mirror: Mirror, commit: str, survey: TargetSurvey) -> SetupFinding:
    target = place.settings.target
    where = f"config/targets/{target.name}.yaml"
    command = survey.test(target.file.test)
    if not command:
        said = "`test: none`: nothing can be shown, so every change waits for you" if target.file.test else NO_TESTS
        return SetupFinding("tests", True, f"{said} ({where})")
    with closing(BoxWorkshop(place, tell)) as workshop:
        try:
            bench = workshop.bench(mirror)
            bench.label(commit)  # what is not there yet is installed now
            tell(f"running them once ({in_words(command)})")
            raw = bench.run(SuiteOrder(commit, command, cover=False))
        except (BrokenSetup, Misconfigured) as problem:
            return SetupFinding("tests", False, str(problem))
    run = read_run(raw)
    if run.is_whole and run.outcomes:
        return SetupFinding("tests", True, findings.counts(run, in_words(command)))
    setup = target.file.setup or survey.setup
    return SetupFinding("tests", False, findings.why_not(run, survey, setup, where))
