"""A commit and its base -> what the tools of the changed files say of one and not of the other.

The change is asked first: where it is clean, nothing needs to be known of the base. What was said of a base is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sisimpur.agents.qa.runner.suite import NOT_THEIRS, Bench, SuiteOrder
from sisimpur.agents.qa.tools import readings
from sisimpur.agents.qa.tools.readings import Reading
from sisimpur.agents.qa.tools.table import TOOLS, FileTool, home_of, is_checked_by_tools
from sisimpur.shared.model.change import CommitFiles, paths_of
from sisimpur.shared.model.errors import BrokenSetup, Refused, Unavailable
from sisimpur.shared.model.evidence import Evidence, Problem, SuiteRun, ToolRun
from sisimpur.shared.model.work import Branch

MOST_NAMED = 5


class KeptAnswers(Protocol):
    """What was said of base commits before."""

    def base_run(self, key: str) -> SuiteRun | None: ...
    def keep_run(self, key: str, run: SuiteRun) -> None: ...


@dataclass(frozen=True)
class Toolbox:
    """The tools at work on one change. `product`: the changed paths that are neither tests nor texts."""

    bench: Bench
    kept: KeptAnswers
    files: CommitFiles
    branch: Branch
    product: Collection[str]

    def check(self, evidence: Evidence) -> Evidence:
        """Add what the tools say; where they speak for all of the change, no unit test is asked for.

        Unavailable: a run was interrupted for a reason that is not its own.
        """
        runs = tuple(self._runs())
        problems = [one for one in evidence.problems if not self._asks_in_vain(one)]
        if len(problems) < len(evidence.problems):
            problems += _unseen(runs)
        return replace(evidence, tools=runs, problems=(*problems, *_new(runs)))

    def _asks_in_vain(self, problem: Problem) -> bool:
        """Nobody writes unit tests of a shell script, a workflow or a list of packages."""
        return problem.remedy == "write tests" and all(map(is_checked_by_tools, self.product))

    # --- runs ------------------------------------------------------------------------------------------------

    def _runs(self) -> Iterator[ToolRun]:
        every = {*self.product, *self.branch.changed}
        changed = {*self.product, *filter(is_checked_by_tools, every)}
        there = paths_of(self.files, self.branch.commit)
        for tool in TOOLS:
            home, files = home_of(tool, there), tool.concerned((every if tool.of_tests else changed) & there)
            if home is not None and files and tool.is_asked(there, partial(self._text, self.branch.commit)):
                yield self._compared(tool, files, home)

    def _compared(self, tool: FileTool, files: Sequence[str], home: str) -> ToolRun:
        now, before = self._reading(tool, self.branch.commit, files, home), Reading()
        if now.remarks:
            before = self._reading(tool, self.branch.base, files, home)
        if now.is_blind or before.is_blind:
            return ToolRun(tool.name, f"not run: {now.unable or f'on the base, {before.unable}'}")
        if before.is_broken:
            return ToolRun(tool.name, f"not run: it does not work on the base: {before.remarks[0].text}")
        known = {remark.key for remark in before.remarks}
        new = dict.fromkeys(remark.text for remark in now.remarks if remark.key not in known)
        unseen = now.unable or next((one.text for one in now.remarks if one.key in known and one.is_of_a_part), "")
        return ToolRun(tool.name, f"ran; not seen: {unseen}" if unseen else "ran", tuple(new))

    def _reading(self, tool: FileTool, commit: str, files: Sequence[str], home: str) -> Reading:
        paths = paths_of(self.files, commit)
        files = [path for path in files if path in paths]
        if tool.own:
            own = tool.own
            texts = ((path, self._text(commit, path)) for path in files)
            return readings.gathered(one for path, text in texts for one in own(path, text, paths))
        if not files and not tool.at:
            return Reading()
        line = tool.line([] if tool.at else files, home)
        answer = self._answer(commit, line)
        return readings.read(tool.read, answer.output, answer.end, answer.code)

    def _answer(self, commit: str, line: str) -> SuiteRun:
        """What the tool printed and how it ended; of a base as it was kept."""
        try:
            key = hashlib.sha256(json.dumps([commit, line, self.bench.label(commit), "a tool"]).encode()).hexdigest()
            if commit == self.branch.base and (kept := self.kept.base_run(key)):
                return kept
            raw = self.bench.run(SuiteOrder(commit, line, cover=False, programs=True))
        except BrokenSetup as reason:
            return SuiteRun(f"no environment ({reason})", 0)
        if raw.end in NOT_THEIRS:
            raise Unavailable(f"a tool was interrupted: {raw.end}; it is run again")
        answer = SuiteRun(raw.end, raw.code, output=raw.output, seconds=raw.seconds)
        if commit == self.branch.base and raw.end == "exited":
            self.kept.keep_run(key, answer)
        return answer

    def _text(self, commit: str, path: str) -> str:
        try:
            return (self.files.read(commit, path) or b"").decode("utf-8", "replace")
        except Refused:  # too large for what it is
            return "\0"


# --- what follows ---------------------------------------------------------------------------------------------


def _new(runs: Sequence[ToolRun]) -> Iterator[Problem]:
    remedies = {tool.name: tool.remedy for tool in TOOLS}
    for run in runs:
        if run.new:
            more = f"; and {len(run.new) - MOST_NAMED} more" if len(run.new) > MOST_NAMED else ""
            text = f"{run.name} says what it does not say of the base: {'; '.join(run.new[:MOST_NAMED])}{more}"
            yield Problem("a tool finds something new", text, remedies[run.name])


def _unseen(runs: Sequence[ToolRun]) -> Iterator[Problem]:
    """What no test shows and a tool could not look at is for a person to judge."""
    blind = [f"{run.name} {run.end}" for run in runs if run.end != "ran"]
    if blind or not runs:
        text = f"no unit test is asked of such files, and their tools have not seen all: {'; '.join(blind) or 'none'}"
        yield Problem("nothing shows the new behaviour", text, "ask owner")
