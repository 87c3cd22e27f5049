"""Branch -> Verdict. Rules first: what they find is decided without a model. Then the model reads, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sisimpur.agents.reviewer import answer
from sisimpur.agents.reviewer.answer import History, Read, ReviewReply, history, settle
from sisimpur.agents.reviewer.diff_analyzer import Chunk, chunks, repeated
from sisimpur.agents.reviewer.rules import lint_rules, rules
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.agents.reviewer.rules.lint_rules import Linter
from sisimpur.agents.reviewer.texts import evidence_text, findings_text, part_text, task_text
from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.change import LINK, SUBMODULE, Change, HasPath
from sisimpur.shared.model.errors import Refused, ReplyDeclined
from sisimpur.shared.model.evidence import (
    FOR_THE_OWNER,
    ChangesRequested,
    Escalated,
    Evidence,
    Finding,
    Reviewed,
    Severity,
    Verdict,
)
from sisimpur.shared.model.work import Branch, Run, TaskSpec
from sisimpur.shared.system.outgoing import Outgoing

EARLIER = """\
# Earlier findings

`unresolved`: the numbers of those that still hold; do not repeat them in `findings`."""


@dataclass(frozen=True)
class ReviewLimits:
    """Limits of what a model reads of a change: characters of a chunk, and how many of them.

    `floor`: from this severity on a finding is no mere comment.
    """

    chunk_chars: int = 24_000
    most_chunks: int = 6
    floor: Severity = Severity.MEDIUM


@dataclass(frozen=True)
class _Reading:
    """Common part of all questions about one change."""

    run: Run
    task: TaskSpec
    evidence: Evidence
    case: Case
    parts: Sequence[Chunk]
    past: History


@dataclass(frozen=True)
class Reviewer:
    asker: Asker
    prompts: Prompts
    source: ReviewSource
    linter: Linter
    outgoing: Outgoing
    limits: ReviewLimits = ReviewLimits()

    def review(
        self, run: Run, task: TaskSpec, branch: Branch, evidence: Evidence, before: Sequence[Reviewed] = ()
    ) -> Reviewed:
        """`before`: earlier reviews of the task, oldest first. One model call per chunk, none if rules decide.

        Errors are those of asker, source and linter; then nothing was decided.
        """
        case = case_of(self.source, branch, task)
        found = self._found(case)
        if decided := self._decided_by_rules(found):
            return Reviewed(branch.commit, decided)
        try:
            parts = chunks(self.source.diff(branch.base, branch.commit), case.files, self.limits.chunk_chars)
        except Refused as reason:
            return Reviewed(branch.commit, Escalated(str(reason), found))
        if not 0 < len(parts) <= self.limits.most_chunks:
            return Reviewed(branch.commit, Escalated(self._size(parts), found))
        past = history(before, self.limits.floor)
        try:
            reading = _Reading(run, task, evidence, case, parts, past)
            reads = [self._ask(reading, number) for number in range(len(parts))]
        except ReplyDeclined as reason:
            return Reviewed(branch.commit, Escalated(f"the model declines to review this ({reason})", found))
        lines = frozenset[tuple[str, str]]().union(*(part.lines for part in parts))
        verdict, keywords = self._verdict(reads, found, past, case), answer.keywords(reads)
        return Reviewed(branch.commit, verdict, lines, repeated(case.files), keywords)

    # --- rules -----------------------------------------------------------------------------------------------

    def _found(self, case: Case) -> tuple[Finding, ...]:
        """All that rules and linter say; of two about one line, the linter's goes if it is not the worse one."""
        found = rules.findings(case, self.outgoing)
        worst = {(one.path, one.line): one.severity.rank for one in reversed(found)}
        lints = lint_rules.findings(case, self.linter)
        news = (one for one in lints if one.severity.rank > worst.get((one.path, one.line), -1))
        return rules.tidy((*found, *news), self.outgoing)

    def _decided_by_rules(self, found: Sequence[Finding]) -> Verdict | None:
        blocking = [one for one in found if one.severity.rank >= self.limits.floor.rank]
        if any(one.rule not in FOR_THE_OWNER for one in blocking):
            return ChangesRequested(tuple(found))
        if owners := next(iter(blocking), None):
            return Escalated(f"{owners.path}: {owners.text}", tuple(found))
        return None

    def _size(self, parts: Sequence[Chunk]) -> str:
        most = self.limits.most_chunks
        return f"the change is too big to be read ({len(parts)} parts, limit {most})" if parts else "nothing is changed"

    # --- the model -------------------------------------------------------------------------------------------

    def _ask(self, reading: _Reading, number: int) -> Read:
        """Ask about one chunk. The prompt changes only with the change: after a rebase the kept reply answers it."""
        part = reading.parts[number]
        earlier = answer.about(part, reading.past.open)
        prompt = self.prompts.render(
            "reviewer/review",
            task=quoted(self.outgoing.clean(task_text(reading.task, reading.case.paths)), "task"),
            evidence=quoted(self.outgoing.clean(evidence_text(reading.evidence)), "tests"),
            earlier=self._earlier(earlier),
            part=part_text(number, len(reading.parts)),
            diff=quoted(self.outgoing.clean(part.text), "change"),
        )
        reply = self.asker.ask(reading.run, prompt.system, prompt.user, ReviewReply)
        reply = replace(reply, keywords=[word for word in reply.keywords if not self.outgoing.find(word)])
        return answer.read(reply, part, {file.path: file for file in reading.case.files}, earlier)

    def _earlier(self, findings: Sequence[Finding]) -> str:
        """Block of earlier findings; empty without any, as in a first round."""
        if not findings:
            return ""
        return f"{EARLIER}\n\n{quoted(self.outgoing.clean(findings_text(findings)), 'findings')}\n\n"

    def _verdict(self, reads: Sequence[Read], found: Sequence[Finding], past: History, case: Case) -> Verdict:
        lines = {(file.path, number): text for file in case.files for number, text in file.added.items()}
        settled = settle((finding for one in reads for finding in one.findings), past, lines)
        every = rules.tidy((*found, *settled.findings), self.outgoing)
        verdict = answer.verdict(reads, every, self.limits.floor)
        if settled.late and not isinstance(verdict, ChangesRequested):
            return Escalated(f"found late, on a line that had passed: {settled.late[0].text}", every)
        return verdict


# --- the subject of a review ---------------------------------------------------------------------------------


class ReviewSource(Protocol):
    """The target's commits: the mirror."""

    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...
    def diff(self, old: str, new: str) -> bytes: ...
    def read(self, sha: str, path: str) -> bytes | None: ...
    def tree(self, sha: str) -> Sequence[HasPath]: ...


def case_of(source: ReviewSource, branch: Branch, task: TaskSpec) -> Case:
    """Errors are those of the source."""
    changes = source.changed(branch.base, branch.commit)
    files = tuple(
        ChangedFile(
            change,
            _text(source, branch.base, change.path) if change.mode_old not in ("", LINK, SUBMODULE) else None,
            _text(source, branch.commit, change.path) if change.mode_new not in ("", LINK, SUBMODULE) else None,
        )
        for change in changes
    )
    tracked = frozenset(entry.path for entry in source.tree(branch.commit))
    return Case(files, tracked, partial(_text, source, branch.commit), task.guards)


def _text(source: ReviewSource, commit: str, path: str) -> str | None:
    try:
        data = source.read(commit, path)
        return None if data is None or b"\0" in data else data.decode()
    except (Refused, UnicodeDecodeError):
        return None
