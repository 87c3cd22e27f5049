"""A task in the backlog -> a commit: claimed, coded, and where it was sent back, with what was found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import assert_never

from sisimpur.agents.orchestrator.board.events import AttemptEnded
from sisimpur.agents.orchestrator.board.roles import ChangeRoles, CodesTask
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.agents.orchestrator.gate_books import GateBooks
from sisimpur.agents.orchestrator.gates import Gatekeeper
from sisimpur.agents.orchestrator.integration.feature_branches import lands
from sisimpur.agents.orchestrator.memory.learning import Recall
from sisimpur.agents.orchestrator.planning.integrating import BranchContent
from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.shared.model.errors import (
    BrokenSetup,
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Refused,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.evidence import FAILS, NO_EVIDENCE, OLD_FAILS, ChangesRequested
from sisimpur.shared.model.lifecycle import OPEN, Event, State
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.work import CodeAnswer, Coded, CoderSaid, Correction, NotCoded, TaskSpec
from sisimpur.shared.repo.mirror_commits import AlreadyThere
from sisimpur.shared.store.gate_book import Ruling
from sisimpur.shared.store.task_records import Attempt, NewAttempt, Outcome, TaskRecord
from sisimpur.shared.system.paths import remove_folder

MOST_FAILURES = 12  # that the coder is told of: more than two rounds of attempts


@dataclass(eq=False)
class Coding:
    gates: Gatekeeper
    review: GateBooks
    content: BranchContent
    recall: Recall
    roles: ChangeRoles
    books: Bookkeeping
    _coder: CodesTask | None = field(default=None, init=False)

    def code(self, spec: TaskSpec, known: TaskRecord, asked: str) -> None:
        """What may refuse, refuses before the task is claimed. OutOfBudget: nothing is wrong with the task.

        `asked`: digest of the words in the task's own file; `spec` may guard more.
        """
        base = self.review.branches.base(known)
        if not self._is_measured(known, base):
            return
        spec = self._without_waived(spec, known, base)
        correction = self._correction(spec, known, base, asked)
        if lands(known) and not self._goes_on(known, correction):
            self._land(spec, known, base, asked)
            return
        coder = self._engine()
        if not self.books.transitions.move(spec.id, State.BACKLOG, Event.STARTED, "", new=NewAttempt(asked=asked)):
            return
        attempts = self.books.journal.attempts(spec.id)
        number, tries = attempts[-1].number, sum(attempt.outcome != "void" for attempt in attempts)
        self.books.tell(f"{spec.id}: {_doing(correction)} ({spec.title}), attempt {tries}")
        folder = self.roles.work / f"{spec.id}.a{number}"
        try:
            lessons = self._lessons(spec, correction, number)
            with self.books.runs.unlocked("coder", spec.id, number) as run:
                answer = coder.code(run, spec, base, folder, correction, lessons)
        except (OutOfBudget, ModelAway) as problem:
            self._end(spec.id, "void", str(problem))
            raise
        except (Stumble, Unavailable) as problem:
            self.books.tell(f"{spec.id}: {problem}")
            self._end(spec.id, "lost", str(problem))
        except TeamError as problem:
            self._end(spec.id, "void", str(problem))
            raise
        except OSError as problem:  # of our own folders: no task is to blame
            self._end(spec.id, "void", f"{folder.parent}: {problem.strerror}")
            raise Misconfigured(f"{folder.parent} cannot be written ({problem.strerror})") from None
        else:
            self._note(spec.id, answer, correction, number)
        finally:
            remove_folder(folder)

    def _is_measured(self, known: TaskRecord, base: str) -> bool:
        """Whether the tests of its base run: a change that nobody can measure is not paid for."""
        self._engine()
        if self.review.gates.newest_base() is None:  # it may take minutes, and nothing else is told meanwhile
            self.books.tell(f"{known.id}: first the tests are run once without it")
        try:
            with self.books.runs.unlocked("qa", known.id) as run:
                self.gates.qa().require_base(run, base)
        except BrokenSetup as problem:
            self.gates.leave(known, problem)
            return False
        return True

    def _without_waived(self, spec: TaskSpec, known: TaskRecord, base: str) -> TaskSpec:
        """What one that it begins without would have created, it creates itself."""
        if not known.waived:
            return spec
        there = {entry.path for entry in self.content.mirror.tree(base)}
        missing = [path for path in spec.files if path not in there]
        files = tuple(path for path in spec.files if path in there)
        return replace(spec, files=files, new_files=tuple(dict.fromkeys((*spec.new_files, *missing))))

    def _goes_on(self, known: TaskRecord, correction: Correction | None) -> bool:
        """What was found in a landing, or the owner's words on it, is the coder's; else it is made of its branch again.

        So it is, too, when there is more on the branch.
        """
        if correction is None or not correction.start:
            return False
        self.review.branches.ensured(known.branch)
        said, last = self.review.gates.rulings(known.id), self.books.journal.attempts(known.id)[-1]
        is_asked = last.outcome == "sent back" or bool(said and said[-1].kind == "correct" and said[-1].why)
        return is_asked and not self.review.branches.is_outdated(known)

    def _land(self, spec: TaskSpec, known: TaskRecord, base: str, asked: str) -> None:
        """What is on the goal's branch, as one commit: it stands, or the next look finds that the attempt was lost."""
        tip, main = self.review.branches.fresh(known.branch, base), self.review.branches.main.name
        if not self.books.transitions.move(spec.id, State.BACKLOG, Event.STARTED, "", new=NewAttempt(asked=asked)):
            return
        self.books.tell(f"{spec.id}: {known.branch} as one change on {main}")
        number = self.books.journal.attempts(spec.id)[-1].number
        if isinstance(self.content.gather(spec, number, tip, base, self.books.now()), AlreadyThere):
            self.gates.ends.give_up(known, f"all of it is on {main} already")
            self._end(spec.id, "void", "its change is there already", Event.DONE_BY_OWNER)

    def _engine(self) -> CodesTask:
        """Made once: to find a sandbox and to attack it takes its time."""
        if self._coder is None:
            self._coder = self.roles.coder()
        return self._coder

    def _lessons(self, spec: TaskSpec, correction: Correction | None, number: int) -> tuple[str, ...]:
        """Who only writes missing tests goes on from what was good."""
        if correction and correction.tests:
            return ()
        return self.recall.for_coder(spec, number, bool(correction and correction.start))

    def _note(self, task: str, answer: CodeAnswer, correction: Correction | None, number: int) -> None:
        """A commit is its own note: the next look finds it and delivers it. So does what stands as it was."""
        match answer:
            case Coded():
                self.books.tell(f"{task}: committed {answer.branch.commit[:8]} ({', '.join(answer.branch.changed)})")
                return
            case CoderSaid(words):
                reason, event = gate_text.cannot_be_done(words), Event.FUTILE
            case NotCoded(reason, retry):
                event = Event.STUMBLED if retry else Event.FUTILE
            case _:
                assert_never(answer)
        stands = correction is not None and self._stands(task, answer, correction)
        if correction and stands and self.content.mirror.restore(attempt_ref(task, number), correction.start):
            if isinstance(answer, CoderSaid) and not correction.tests:
                self._test_again(task, correction.start)
            return
        if isinstance(answer, CoderSaid):
            self.review.gates.keep_coder_words(task, "", answer.words, self.books.now())
        self.books.tell(f"{task}: {reason}")
        self.books.events.happened(AttemptEnded(task))
        self._end(task, "failed", reason, event)

    def _stands(self, task: str, answer: CoderSaid | NotCoded, correction: Correction) -> bool:
        """The change stays as it is: the reviewer reads what the coder says of it, or that no tests were written."""
        why = answer.words if isinstance(answer, CoderSaid) else answer.reason
        if correction.tests:
            is_said = self.review.turns.keep_words(task, correction.start, why, self.books.now())
            self.books.tell(f"{task}: {'QA about its red test' if is_said else 'no tests were written'}: {why}")
        elif isinstance(answer, CoderSaid) and (correction.reviewed or self._is_of_old_tests(task)):
            self.books.tell(f"{task}: the coder contradicts what was found: {why}")
            self.review.gates.keep_coder_words(task, correction.start, why, self.books.now())
        else:
            return False
        return True

    def _test_again(self, task: str, commit: str) -> None:
        """What fails is none of its doing, says its coder: the tests run again, and on the base those that fail."""
        evidence = self.review.gates.evidence(task, commit)
        if evidence and {FAILS, NO_EVIDENCE} & {one.rule for one in evidence.needing("correct")}:
            self.review.gates.test_again(task)

    def _is_of_old_tests(self, task: str) -> bool:
        """All that is wrong is that old tests say otherwise, or that they fail: here nobody knows whose doing that is.

        The gates run them again, on the base too; whether an old test is right, the owner decides.
        """
        known = self.books.journal.task(task)
        sent_back = [one for one in known.attempts if one.outcome == "sent back"] if known else []
        commit = self.review.commits.of(known, sent_back[-1]) if known and sent_back else ""
        evidence = self.review.gates.evidence(task, commit) if commit else None
        red = evidence.needing("correct") if evidence else ()
        return bool(red) and all(one.rule in (OLD_FAILS, FAILS, NO_EVIDENCE) for one in red)

    def _end(self, task: str, outcome: Outcome, note: str, event: Event = Event.STUMBLED) -> None:
        """The attempt's end and the move are booked together, then the file is moved."""
        self.books.transitions.move(task, State.IN_PROGRESS, event, note, outcome)

    # -- correction -------------------------------------------------------------------------------------------

    def _correction(self, spec: TaskSpec, known: TaskRecord, base: str, asked: str) -> Correction | None:
        """What the gates and the owner said of the commit that it goes on from; None: it begins afresh."""
        said = self.review.gates.rulings(known.id)
        words = [ruling.why for ruling in said if ruling.kind != "approve" and ruling.why]
        happened = [*self._failures(known.id), *self._rolled_back(known.id)]
        last = self._goes_on_from(known, said)
        last = last if last and last.asked in ("", asked) else None  # the work was for other words
        commit = self.review.commits.of(known, last) if last else ""
        evidence = self.review.gates.evidence(known.id, commit) if commit else None
        reviewed = self.review.findings.for_coder(known, commit)
        start = (self.content.mirror.start_for(commit, base) or "") if commit else ""
        if last and not start:
            happened.append(f"the last change conflicts with what is there now: begin afresh. {last.note}")
        was = self._as_it_was(known, commit) if commit and not start else ""
        turn = self.review.turns.next(known, last) if last else None
        if start and evidence and not reviewed and turn and turn.who == "QA":
            branch, planned = self.review.commits.seen(known, commit).branch, self._planned(known.id)
            return Correction(start, "", self.gates.qa().tests_for(spec, branch, evidence, planned, turn.writing.own))
        said_by_qa = turn.writing.says if start and turn and turn.who == "coder" else ""
        happened += [gate_text.code_is_wrong(said_by_qa)] if said_by_qa else []
        text = gate_text.findings(evidence, reviewed, words, happened, gate_text.permission(spec), was)
        is_reviewers = bool(known.tried.sent_back and reviewed and isinstance(reviewed.verdict, ChangesRequested))
        return Correction(start, text, reviewed=is_reviewers or bool(said_by_qa)) if text or start else None

    def _as_it_was(self, known: TaskRecord, commit: str) -> str:
        """The change of a commit that fits no more, as a patch: to write all of it once more costs a round."""
        with suppress(Refused):
            branch = self.review.commits.seen(known, commit).branch
            return self.content.mirror.diff(branch.base, commit).decode("utf-8", "replace")
        return ""

    def _planned(self, task: str) -> set[str]:
        """Files that other tasks are to create: QA takes no name of theirs."""
        filed = self.books.transitions.store.all(*OPEN)
        others = (one.spec for one in filed if isinstance(one.spec, TaskSpec) and one.spec.id != task)
        return {path for spec in others for path in spec.new_files}

    def _failures(self, task: str) -> list[str]:
        """Each attempt that led to nothing adds a line: no prompt is sent twice, once its answer was understood."""
        tries = [one for one in self.books.journal.attempts(task) if one.outcome != "void"]
        failed = [(number, one.note) for number, one in enumerate(tries, 1) if one.outcome == "failed"]
        return [f"attempt {number} led to nothing: {note}" for number, note in failed[-MOST_FAILURES:]]

    def _rolled_back(self, task: str) -> list[str]:
        """What was seen of its change where it was deployed, if that is why it is tried again."""
        sick = [one for one in self.books.journal.history(task) if one.event in (Event.SICK, Event.MERGED)]
        return [sick[-1].note] if sick and sick[-1].event is Event.SICK else []

    def _goes_on_from(self, known: TaskRecord, said: Sequence[Ruling]) -> Attempt | None:
        """The last attempt that led to a commit, if it was sent back, or the owner wants it corrected."""
        attempts = [one for one in self.books.journal.attempts(known.id) if one.outcome in ("ok", "sent back", "stale")]
        if not attempts:
            return None
        newest = max(one.round for one in self.books.journal.attempts(known.id))
        last = attempts[-1]
        if last.outcome == "sent back" and last.round == newest:
            return last
        corrected = said and said[-1].kind == "correct"
        return last if corrected and last.outcome in ("ok", "sent back") else None


def _doing(correction: Correction | None) -> str:
    if correction is None or not correction.start:
        return "coding"
    return "writing tests for" if correction.tests else "correcting"
