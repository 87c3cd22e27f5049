"""Attempts that were sent back -> whose turn the tests of a change are: QA's, who writes them, or the coder's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from sisimpur.agents.orchestrator.board.roles import ChangeRoles, ChecksChange
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Stumble, Unavailable
from sisimpur.shared.model.evidence import Evidence, is_test_file, rules
from sisimpur.shared.model.gate import NOT_ASKED, Writer, Writing, writer
from sisimpur.shared.model.naming import attempt_ref, is_upkeep
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Branch, Coded, CoderSaid, Correction, Run, TaskKind, TaskSpec
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.task_records import Attempt, TaskRecord
from sisimpur.shared.system.paths import remove_folder

CODE_IS_WRONG = re.compile(r"\bcode is wrong\b", re.IGNORECASE)


class CommitsOfAttempts(Protocol):
    def of(self, known: TaskRecord, attempt: Attempt) -> str:
        """The commit of one attempt; empty: it led to none."""


class TestsOfAttempts(CommitsOfAttempts, Protocol):
    def tests_since(self, known: TaskRecord, before: str, commit: str) -> tuple[str, ...]:
        """Test files of a commit that are not as they are in another."""


@dataclass(frozen=True)
class Turn:
    """An attempt that was sent back, and to whom."""

    attempt: Attempt
    who: Writer
    writing: Writing


@dataclass(frozen=True)
class TestTurns:
    """`writes`: QA may write tests (config/policy.yaml, merge.write_tests)."""

    gates: GateRepository
    commits: TestsOfAttempts
    writes: bool = True

    def at(self, known: TaskRecord, commit: str) -> Writing:
        """How it stands with the change that waits at the gates."""
        return self._seen(known, self._turns(known)[1], commit)

    def of_qa(self, known: TaskRecord) -> int:
        """Its turns in this round: they are no corrections of the coder's."""
        return self._turns(known)[1].turns

    def to_qa(self, known: TaskRecord) -> list[Attempt]:
        """Attempts that were sent back to QA: no mistake and no correction of the coder's."""
        return [turn.attempt for turn in self._turns(known)[0] if turn.who == "QA"]

    def next(self, known: TaskRecord, last: Attempt) -> Turn:
        """Who goes on from this attempt."""
        found, after = self._turns(known)
        return next((turn for turn in found if turn.attempt == last), self._turn(known, after, last))

    def keep_words(self, task: str, commit: str, words: str, now: datetime) -> bool:
        """Keep what QA answers about its own red test. False: it does not say that the code is wrong."""
        evidence = self.gates.evidence(task, commit)
        is_said = evidence is not None and evidence.is_red and CODE_IS_WRONG.search(words) is not None
        if is_said:
            self.gates.keep_coder_words(task, _by_qa(commit), words, now)
        return is_said

    def _turns(self, known: TaskRecord) -> tuple[Sequence[Turn], Writing]:
        writing, turns = NOT_ASKED, []
        for attempt in sent_back(known):
            turn = self._turn(known, writing, attempt)
            writing = self._after(known, turn)
            turns.append(turn)
        return turns, writing

    def _turn(self, known: TaskRecord, writing: Writing, attempt: Attempt) -> Turn:
        commit = self.commits.of(known, attempt)
        evidence, found = self.gates.evidence(known.id, commit), self._seen(known, writing, commit)
        who = writer(evidence, found) if evidence else ""
        return Turn(attempt, "" if who == "QA" and not self.writes else who, found)

    def _after(self, known: TaskRecord, turn: Turn) -> Writing:
        """Without a word of QA's the coder has changed what was QA's, too."""
        found, commit = turn.writing, self.commits.of(known, turn.attempt)
        evidence = self.gates.evidence(known.id, commit)
        if turn.who == "QA" and evidence:
            doubted = (*found.doubted, *rules(evidence.needing("correct")))
            return replace(found, turns=found.turns + 1, before=found.before or commit, doubted=doubted)
        return replace(found, answered=True) if turn.who and found.own else Writing(found.turns)

    def _seen(self, known: TaskRecord, writing: Writing, commit: str) -> Writing:
        if not writing.before or not commit:
            return writing
        own = self.commits.tests_since(known, writing.before, commit)
        return replace(writing, own=own, says=self.gates.coder_said(known.id, _by_qa(commit)))


def sent_back(known: TaskRecord) -> list[Attempt]:
    """Attempts that were sent back, of the newest round, the oldest first."""
    newest = max((attempt.round for attempt in known.attempts), default=0)
    return [attempt for attempt in known.attempts if attempt.outcome == "sent back" and attempt.round == newest]


def _by_qa(commit: str) -> str:
    """Where QA's words about a commit are kept, beside the coder's."""
    return f"{commit}:qa"


def written_tests(spec: TaskSpec, branch: Branch) -> tuple[str, ...]:
    """Test files that the task does not name: QA's own."""
    named = (*spec.files, *spec.new_files)
    return tuple(path for path in branch.changed if is_test_file(path) and path not in named)


# --- a test from the words alone -----------------------------------------------------------------------------
# Who writes it sees the code as it was. It is run on a green change that brings its own tests, and is no part of it:
# where the two disagree, the reviewer reads that.

FIXES = (TaskKind.FIX, TaskKind.BEHAVIOUR)
ASKING = (*FIXES, TaskKind.FEATURE, TaskKind.UNKNOWN)


@dataclass(frozen=True)
class IndependentTest:
    """`has_room`: whether a task has not yet used half of what it may cost."""

    roles: ChangeRoles
    mirror: Mirror
    books: Bookkeeping
    has_room: Callable[[str], bool]

    def heard(self, qa: ChecksChange, attempt: int, spec: TaskSpec, branch: Branch, evidence: Evidence) -> Evidence:
        """Written once for these words of the task. What keeps it from being written keeps nothing else."""
        if not self._is_wanted(spec, branch, evidence):
            return evidence
        ref = attempt_ref(f"{spec.id}.qa-{spec.asked}", 1)
        with self.books.runs.unlocked("qa", spec.id, attempt) as run:
            test = self.mirror.attempt(ref) or self._written(run, ref, qa, spec, branch, evidence.command)
            if not test or self.mirror.is_ancestor(test, branch.commit):
                return evidence
            changed = self.mirror.changed(self.mirror.parent(test), test)
            files = {one.path: self.mirror.read(test, one.path) for one in changed}
            told = qa.heard(run, branch, evidence.command, files)
        self.books.tell(f"{spec.id}: a test from its words alone {told or 'was interrupted'}")
        return replace(evidence, independent=told)

    def _is_wanted(self, spec: TaskSpec, branch: Branch, evidence: Evidence) -> bool:
        kinds = {"fixes": FIXES, "all": ASKING, "off": ()}[self.roles.independent]
        own = [path for path in (*spec.files, *spec.new_files) if is_test_file(path) and path in branch.changed]
        is_green = bool(evidence.proving) and not evidence.is_red and not evidence.needing("write tests")
        return is_green and bool(own) and spec.kind in kinds and not is_upkeep(spec.id) and self.has_room(spec.id)

    def _written(self, run: Run, ref: str, qa: ChecksChange, spec: TaskSpec, branch: Branch, command: str) -> str:
        order = qa.blind_order(spec, branch, command)
        if order is None:
            return ""
        self.books.tell(f"{spec.id}: QA writes a test from its words alone")
        asked = replace(spec, id=f"{spec.id}.qa-{spec.asked}")
        remove_folder(folder := self.roles.work / f"{asked.id}.a1")  # what a kill left
        try:
            once = replace(run, attempt=1)
            answer = self.roles.coder().code(once, asked, branch.base, folder, Correction("", "", order))
        except (OutOfBudget, Misconfigured, ModelAway, Stumble, Unavailable) as problem:
            self.books.tell(f"{spec.id}: no test from its words alone: {problem}")
            return ""
        finally:
            remove_folder(folder)
        if isinstance(answer, Coded):
            return answer.branch.commit
        self.mirror.restore(ref, branch.base)  # nobody is asked a second time
        why = answer.words if isinstance(answer, CoderSaid) else answer.reason
        self.books.tell(f"{spec.id}: no test from its words alone: {one_line(why)}")
        return ""
