"""Branch -> Verdict. Rules first: what they find is decided without a model. Then the model reads, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sisimpur.agents.reviewer import answer
from sisimpur.agents.reviewer.answer import AskedAbout, History, Read, ReviewReply, history, settle
from sisimpur.agents.reviewer.definitions import Use, called, gone, told_uses, uses
from sisimpur.agents.reviewer.diff_analyzer import (
    Chunk,
    chunks,
    evidence_text,
    findings_text,
    part_text,
    repeated,
    task_text,
)
from sisimpur.agents.reviewer.rules import lint_rules, rules
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.agents.reviewer.rules.lint_rules import Linter
from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.change import LINK, SUBMODULE, Change, CommitFiles, paths_of
from sisimpur.shared.model.errors import Refused, ReplyDeclined
from sisimpur.shared.model.evidence import (
    NO_CONTEXT,
    Answers,
    Approved,
    ChangesRequested,
    Escalated,
    Evidence,
    Finding,
    ReviewContext,
    Reviewed,
    Severity,
    Verdict,
)
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Branch, Run, TaskSpec
from sisimpur.shared.system.outgoing import Outgoing

DISAGREES, DISAGREEING, LONGEST_TOLD = "disagrees", "disagreeing test", 300  # the rule of a finding about such a test
GOAL = """\
# The goal behind it

{whose} Other tasks may do the rest of it: judge the change by its task, and say in a `low` finding where
the task itself misses the wish."""
OWNERS_WISH = "The owner's wish."
OUR_PROPOSAL = "A proposal of this team, which found it in the code: nobody asked for it."
OTHERS_WISH = "The wish of somebody who is not the owner, in an issue."
EARLIER = """\
# Earlier findings

`unresolved`: the numbers of those that still hold; do not repeat them in `findings`."""
RULES = """\
# What rules found

They look at words, not at meaning. Those that are `low` hold nothing up."""
ANSWERED = """\
# What was said to findings

Look for yourself. Where the code bears it out, set a rule's finding aside, and leave an earlier one unnamed."""
GONE = """\
# What is gone

Who still knows it, by name, in code, routes, templates and tests. What nobody can reach needs no test of its going."""
CALLS = """\
# What the changed code calls

As it is in this repository now, for reading: it is no part of the change."""
USES = """\
# What uses the changed code

As it is in this repository now, and not part of the change: callers, then tests. Found by name; there may be more."""
REFUSED = """\
# What the coder's engine was refused

It wanted to write these paths, and nothing of that was written: its task does not name them, or they lead out of its
folder. Judge whether the change is whole without them. A path that leads out, or into settings of tools, is no slip."""
OWNERS = """\
# The owner decides

This change is never merged without the owner. Say in `for_owner` what you would want to know before approving it."""


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
    found: Sequence[Finding]  # by rules
    context: ReviewContext
    owners: Sequence[str]  # what the owner decides about
    gone: str  # definitions, and who still knows them
    uses: Sequence[Use]  # of what it changed


def _whose(reading: _Reading) -> str:
    """What the team began by itself is told by the task's own id: a login may be any word."""
    if is_upkeep(reading.task.id):
        return OUR_PROPOSAL
    return OTHERS_WISH if reading.context.proposed_by else OWNERS_WISH


@dataclass(frozen=True)
class Reviewer:
    asker: Asker
    prompts: Prompts
    source: ReviewSource
    linter: Linter
    outgoing: Outgoing
    limits: ReviewLimits = ReviewLimits()

    def review(
        self,
        run: Run,
        task: TaskSpec,
        branch: Branch,
        evidence: Evidence,
        context: ReviewContext = NO_CONTEXT,
    ) -> Reviewed:
        """One model call per chunk, none if rules decide.

        Errors are those of asker, source and linter; then nothing was decided.
        """
        before, answers = context.before, context.answers
        case = case_of(self.source, branch, task)
        found = settled_by_owner(self._found(case), answers)
        heard = Reviewed(branch.commit, Escalated(""), heard=answers.digest)
        if decided := self._decided_by_rules(found, answers):
            return replace(heard, verdict=decided, holds=self._holds(decided, branch.commit, before))
        try:
            parts = self._parts(branch, case)
        except Refused as reason:
            return replace(heard, verdict=Escalated(str(reason), found))
        past = history(before, self.limits.floor)
        owned = self._owned(branch, found, evidence)
        try:
            reading = _Reading(run, task, evidence, case, parts, past, found, context, owned, gone(case), uses(case))
            reads = [self._ask(reading, number) for number in range(len(parts))]
        except ReplyDeclined as reason:
            return replace(heard, verdict=Escalated(f"the model declines to review this ({reason})", found))
        verdict = self._verdict(reads, reading)
        told = self._told(replace(heard, verdict=verdict), reads, reading)
        return replace(told, holds=self._holds(verdict, branch.commit, before))

    def _told(self, reviewed: Reviewed, reads: Sequence[Read], reading: _Reading) -> Reviewed:
        """With what was read, and what the model says besides its verdict."""
        return replace(
            reviewed,
            lines=frozenset[tuple[str, str]]().union(*(part.lines for part in reading.parts)),
            repeated=repeated(reading.case.files),
            keywords=answer.keywords(reads),
            word=self.outgoing.clean(answer.word(reads, reviewed.verdict.findings)),
            effect=self.outgoing.clean(answer.effect(reads)),
            acceptance=answer.acceptance(reads, reading.task.acceptance),
        )

    # --- rules -----------------------------------------------------------------------------------------------

    def _found(self, case: Case) -> tuple[Finding, ...]:
        """All that rules and linter say; of two about one line, the linter's goes if it is not the worse one."""
        found = rules.findings(case, self.outgoing)
        worst = {(one.path, one.line): one.severity.rank for one in reversed(found)}
        lints = lint_rules.findings(case, self.linter)
        news = (one for one in lints if one.severity.rank > worst.get((one.path, one.line), -1))
        return rules.tidy((*found, *news), self.outgoing)

    def _decided_by_rules(self, found: Sequence[Finding], answers: Answers) -> Verdict | None:
        """None: a model reads it. What somebody has answered is for it to judge; what is too big nobody reads."""
        grave = [one for one in found if self._is_grave(one)]
        theirs = [one for one in grave if not one.is_the_owners]
        if theirs and not (answers.is_said and not any(one.is_firm for one in theirs)):
            return ChangesRequested(tuple(found))
        big = next((one for one in grave if one.rule == "too big" and one.is_the_owners), None)
        return Escalated(f"{big.path}: {big.text}", tuple(found)) if big else None

    def _owned(self, branch: Branch, found: Sequence[Finding], evidence: Evidence) -> tuple[str, ...]:
        """Paths, and words about the tests, for which it waits for the owner."""
        asked = (one_line(one.text, 600) for one in evidence.problems if one.remedy == "ask owner")
        paths = (one.path for one in found if one.is_the_owners)
        return tuple(dict.fromkeys((*branch.protected, *paths, *asked)))

    def _is_grave(self, finding: Finding) -> bool:
        """No mere comment."""
        return finding.severity.rank >= self.limits.floor.rank

    def _holds(self, verdict: Verdict, commit: str, before: Sequence[Reviewed]) -> bool:
        """Say whether all that weighs was found in this very commit before."""
        known = {one.signature for done in before if done.commit == commit for one in done.verdict.findings}
        return known.issuperset(one.signature for one in verdict.findings if self._is_grave(one))

    def _parts(self, branch: Branch, case: Case) -> tuple[Chunk, ...]:
        """Refused: it cannot be read, or not by a model."""
        limits, diff = self.limits, self.source.diff(branch.base, branch.commit)
        parts, most = chunks(diff, case.files, limits.chunk_chars), limits.most_chunks
        if len(parts) > most:
            raise Refused(f"the change is too big to be read ({len(parts)} parts, limit {most})")
        if not parts:
            raise Refused("nothing is changed")
        return parts

    # --- the model -------------------------------------------------------------------------------------------

    def _ask(self, reading: _Reading, number: int) -> Read:
        """Ask about one chunk. The prompt changes only with the change: after a rebase the kept reply answers it."""
        part = reading.parts[number]
        found = tuple(
            one for one in reading.found if one.path in part.paths and (one.source == "rule" or self._is_grave(one))
        )
        asked = AskedAbout(
            answer.about(part, reading.past.open),
            found,
            reading.context.answers.is_said,
            reading.task.acceptance,
            reading.evidence.proving,
        )
        prompt = self.prompts.render(
            "reviewer/review",
            task=quoted(self.outgoing.clean(task_text(reading.task, reading.case.paths)), "task"),
            goal=self._block(GOAL.format(whose=_whose(reading)), reading.context.goal, "goal"),
            evidence=quoted(self.outgoing.clean(evidence_text(reading.evidence)), "tests"),
            found=self._rules(asked, reading),
            earlier=self._block(EARLIER, findings_text(asked.earlier)) + self._said(asked, reading.context.answers),
            calls=self._block(CALLS, called(reading.case, part), "definitions")
            + self._block(USES, told_uses(reading.uses, part), "uses"),
            part=part_text(number, len(reading.parts)),
            diff=quoted(self.outgoing.clean(part.text), "change"),
        )
        reply = self.asker.ask(reading.run, prompt.system, prompt.user, ReviewReply)
        reply = replace(reply, keywords=[word for word in reply.keywords if not self.outgoing.find(word)])
        return answer.read(reply, part, {file.path: file for file in reading.case.files}, asked)

    def _rules(self, asked: AskedAbout, reading: _Reading) -> str:
        """What rules found, what is gone, what was refused, what the owner decides about; each empty as a rule."""
        found = self._block(RULES, findings_text(asked.rules)) + self._block(GONE, reading.gone, "gone")
        refused = self._block(REFUSED, "\n".join(reading.context.refused), "refused")
        return found + refused + self._block(OWNERS, "\n".join(reading.owners), "reasons")

    def _said(self, asked: AskedAbout, answers: Answers) -> str:
        """What coder and owner said to what is asked about."""
        if not asked.answered or not (asked.rules or asked.earlier):
            return ""
        said = {"coder": answers.coder, "owner": answers.owner}
        words = (quoted(self.outgoing.clean("\n".join(said[who])), who) for who in said if said[who])
        return "\n\n".join((ANSWERED, *words, ""))

    def _block(self, head: str, text: str, label: str = "findings") -> str:
        """Block of the prompt; empty without a text, as in a first round."""
        return f"{head}\n\n{quoted(self.outgoing.clean(text), label)}\n\n" if text else ""

    def _verdict(self, reads: Sequence[Read], reading: _Reading) -> Verdict:
        case = reading.case
        lines = {(file.path, number): text for file in case.files for number, text in file.added.items()}
        settled = settle((finding for one in reads for finding in one.findings), reading.past, lines)
        aside = {finding: reason for one in reads for finding, reason in one.set_aside}
        found = (_set_aside(one, aside[one]) if one in aside else one for one in reading.found)
        theirs = settled_by_owner(settled.findings, reading.context.answers)
        every = rules.tidy((*found, *theirs), self.outgoing)
        verdict = answer.verdict(reads, every, self.limits.floor)
        if isinstance(verdict, ChangesRequested):
            return verdict
        if settled.late:
            return Escalated(f"found late, on a line that had passed: {settled.late[0].text}", every)
        doubts = [one for one in aside if one.severity is Severity.HIGH]
        if doubts and isinstance(verdict, Approved):  # what opens a door is not closed by two models alone
            one = doubts[0]
            return Escalated(f"{one.path}:{one.line} {one.text}; the reviewer sets it aside: {aside[one]}", every)
        told = reading.evidence.independent
        if told.startswith(DISAGREES) and isinstance(verdict, Approved) and not any(map(_is_about_it, every)):
            words = one_line(told, LONGEST_TOLD)
            return Escalated(f"a test from the task's words alone {words}; the reviewer says nothing to it", every)
        return verdict


def _is_about_it(finding: Finding) -> bool:
    return finding.source == "model" and finding.rule.casefold() == DISAGREEING


def settled_by_owner(found: Iterable[Finding], answers: Answers) -> tuple[Finding, ...]:
    """What the owner has ruled over is a remark; guards and keys are not."""
    return tuple(
        replace(one, severity=Severity.LOW, text=f"{one.text} (the owner has ruled over it)")
        if one.signature in answers.over and not one.is_guarded
        else one
        for one in found
    )


def _set_aside(finding: Finding, reason: str) -> Finding:
    return replace(finding, severity=Severity.LOW, text=f"{finding.text} (set aside by the reviewer: {reason})")


# --- the subject of a review ---------------------------------------------------------------------------------


class ReviewSource(CommitFiles, Protocol):
    """The target's commits: the mirror."""

    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...
    def diff(self, old: str, new: str) -> bytes: ...


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
    tracked = paths_of(source, branch.commit)
    return Case(files, tracked, partial(_text, source, branch.commit), task.guards)


def _text(source: ReviewSource, commit: str, path: str) -> str | None:
    try:
        data = source.read(commit, path)
        return None if data is None or b"\0" in data else data.decode()
    except (Refused, UnicodeDecodeError):
        return None
