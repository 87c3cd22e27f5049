"""Step -> what is done about it: tests, review, then merged, sent back, or the owner's turn. One act, one record."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sisimpur.agents.orchestrator.board import merge_queue
from sisimpur.agents.orchestrator.board.events import AttemptEnded, GivenUp, Merged
from sisimpur.agents.orchestrator.board.roles import ChangeRoles, ChecksChange, ReviewsChange
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.agents.orchestrator.board.writing import IndependentTest, written_tests
from sisimpur.agents.orchestrator.gate_books import GateBooks, number_of_attempt
from sisimpur.agents.orchestrator.integration.feature_branches import lands, too_early
from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.agents.orchestrator.pull_ends import PullEnds
from sisimpur.shared.forge.forge import PullNotReady
from sisimpur.shared.model.errors import (
    BrokenSetup,
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Stopping,
    Stumble,
    Unavailable,
)
from sisimpur.shared.model.evidence import NO_LINES, Escalated, Evidence, ReviewContext, Reviewed
from sisimpur.shared.model.gate import (
    AskOwner,
    BeginAnew,
    Cancel,
    Fail,
    Judge,
    Merge,
    Noticed,
    Refresh,
    ReviewState,
    RunTests,
    SendBack,
    Step,
)
from sisimpur.shared.model.lifecycle import Card, Event, State
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.work import Branch, GoalWord, TaskSpec
from sisimpur.shared.store.gate_book import AwaitingOwner
from sisimpur.shared.store.task_records import NewAttempt, TaskRecord


class Gatekeeper:
    """`problems`: what the owner has to mend, although the others go on."""

    def __init__(self, review: GateBooks, roles: ChangeRoles, books: Bookkeeping) -> None:
        self.ends = PullEnds(review, books)
        self._review = review
        self._independent = IndependentTest(roles, review.branches.mirror, books, review.has_room)
        self._roles = roles
        self._books = books
        self._qa: ChecksChange | None = None
        self._reviewer: ReviewsChange | None = None
        self.problems: list[str] = []

    def act(self, card: Card, known: TaskRecord, step: Step) -> None:
        """OutOfBudget, and what the owner has to mend, are the caller's; all else concerns this task alone."""
        assert card.spec and card.submission and known.last
        found, spec = card.submission, card.spec
        match step:
            case RunTests():
                self._check(spec, known, found)
            case Judge():
                self._judge(spec, known, found)
            case SendBack():
                self._send_back(known, found, step)
            case Fail(_, said) if said:
                self._give_back(known, found, said)
            case Fail(why):
                self._close(known, found, why)
                self._books.events.happened(AttemptEnded(known.id))
                self._books.events.happened(GivenUp(known, spec, why))
                self._books.transitions.move(known.id, State.IN_REVIEW, Event.EXHAUSTED, why, "sent back")
            case Cancel():
                why = self._gone(known, found)
                self._close(known, found, why)
                self._books.transitions.move(known.id, State.IN_REVIEW, Event.GOAL_REMOVED, why)
            case BeginAnew():
                self._begin_anew(known)
            case Refresh(to, why):
                moved = f"{self._review.branches.target(known)} has moved; brought up to date, then tested again"
                self._books.tell(f"{known.id}: {why or moved}")
                new = NewAttempt(to or found.commit, known.asked)
                self._books.transitions.move(known.id, State.IN_REVIEW, Event.REFRESHED, why, "stale", new)
            case Merge():
                self._merge(known, found)
            case AskOwner(reasons):
                self._ask_owner(known, found, reasons)
            case Noticed(merged):
                self._notice(known, found, merged)
            case _:
                assert_never(step)

    # -- tests and review -------------------------------------------------------------------------------------

    def qa(self) -> ChecksChange:
        """Made when it is first needed. Misconfigured if this machine has no box."""
        if self._qa is None:
            self._qa = self._roles.qa()
        return self._qa

    def _check(self, spec: TaskSpec, known: TaskRecord, found: ReviewState) -> None:
        gates, branch = self._review.gates, self._review.commits.seen(known, found.commit).branch
        if found.turn == "now" and (proven := self._proven(known, branch)):
            gates.begin("check", known.id, found.commit, self._books.now())
            gates.keep_evidence(known.id, proven)
            self._books.tell(f"{known.id}: green together with {', '.join(proven.together)}")
            return
        qa = self.qa()
        gates.begin("check", known.id, found.commit, self._books.now())
        self._books.tell(f"{known.id}: testing {found.commit[:8]}")
        try:
            written = written_tests(spec, branch)
            earlier = gates.evidence(known.id, found.writing.before) if found.writing.before else None
            unrun = earlier.uncovered if earlier else NO_LINES
            with self._books.runs.unlocked("qa", known.id, number_of_attempt(known)) as run:
                qa.require_base(run, branch.base)
                evidence = qa.check(run, spec, branch, written, unrun)
        except BrokenSetup as problem:
            self.leave(known, problem)
        except Stumble as problem:
            gates.no_end(known.id, found.commit)  # the third is the last
            self._books.tell(f"{known.id}: {problem}")
        else:
            evidence = self._independent.heard(qa, number_of_attempt(known), spec, branch, evidence)
            gates.keep_evidence(known.id, replace(evidence, asked=spec.asked))
            self._books.tell(f"{known.id}: {gate_text.summary(evidence)}")

    def leave(self, known: TaskRecord, problem: BrokenSetup) -> None:
        """Leave it for a while: it is tried again by itself, at once when the settings change."""
        self.problems.append(f"{known.id}: {problem}")
        self._books.transitions.back_off(known.id, str(problem))

    def _proven(self, known: TaskRecord, branch: Branch) -> Evidence | None:
        gates, tree = self._review.gates, self._review.branches.mirror.tree_id(branch.commit)
        place = gates.places.place(known.id)
        before = gates.evidence(known.id, place.commit) if place else None
        return merge_queue.proven(before, branch, tree, place) if before and place else None

    def _judge(self, spec: TaskSpec, known: TaskRecord, found: ReviewState) -> None:
        gates, branch = self._review.gates, self._review.commits.seen(known, found.commit).branch
        assert found.evidence
        self._publish(known, found)
        if self._reviewer is None:
            self._reviewer = self._roles.reviewer()
        gates.begin("review", known.id, found.commit, self._books.now())
        answers = self._review.findings.answers(known)
        wish, whose = self._review.wish(known)
        context = ReviewContext(tuple(gates.reviews(known.id)), answers, wish, known.refused, whose)
        try:
            with self._books.runs.unlocked("reviewer", known.id, number_of_attempt(known)) as run:
                question = replace(run, attempt=0)  # the same change on another base is the same question
                reviewed = self._reviewer.review(question, spec, branch, found.evidence, context)
        except (OutOfBudget, ModelAway, Unavailable, Misconfigured, Stopping) as reason:
            if not (isinstance(reason, OutOfBudget) and reason.of == "task"):
                gates.not_begun("review", known.id, found.commit)
                raise
            capped = Escalated(f"it could not be reviewed: {reason}")  # the owner decides what no model can read
            gates.keep_review(known.id, Reviewed(found.commit, capped, heard=answers.digest, asked=spec.asked))
        except Stumble as problem:  # counted: the third is the last
            self._books.tell(f"{known.id}: {problem}")
        else:
            gates.keep_review(known.id, replace(reviewed, asked=spec.asked))
            self._books.runs.log(run, "verdict", **gate_text.logged(reviewed))
            self._review.words.keep(GoalWord(known.goal_id, "review", reviewed.word, known.id), self._books.now())
            self._books.tell(f"{known.id}: review: {gate_text.verdict_line(reviewed.verdict)}")

    def takes_up_again(self, known: TaskRecord, asked: str) -> bool:
        """Read the same commit once more where the owner has ruled over all that sent it back: no model codes."""
        commit = self._review.findings.settled_commit(known) if known.is_for(asked) else ""
        if commit and self._books.transitions.move(
            known.id, State.BACKLOG, Event.STARTED, "", new=NewAttempt(asked=asked)
        ):
            number = self._books.journal.attempts(known.id)[-1].number
            self._review.branches.mirror.restore(attempt_ref(known.id, number), commit)
            self._books.tell(f"{known.id}: you have ruled over what was found; it is read once more")
        return bool(commit)

    def _begin_anew(self, known: TaskRecord) -> None:
        why = "you have changed its words since it was coded: it is begun anew"
        self._books.tell(f"{known.id}: {why}")
        self._review.gates.withdraw(known.id)
        self._books.transitions.move(known.id, State.IN_REVIEW, Event.WITHDRAWN, why)

    # -- endings ----------------------------------------------------------------------------------------------

    def _send_back(self, known: TaskRecord, found: ReviewState, step: SendBack) -> None:
        self._publish(known, found)
        event, why = Event.CHANGES, ""
        if step.by == "tests" and found.evidence:
            event, why = Event.RED, "; ".join(problem.text for problem in found.evidence.problems[:3])
        elif found.reviewed:
            why = gate_text.verdict_line(found.reviewed.verdict)
        for_qa = "back to QA, who wrote its tests" if found.writing.own else "QA writes the missing tests"
        wanted = for_qa if step.wants_tests else "sent back to the coder"
        self._books.tell(f"{known.id}: {wanted}: {why}")
        if not step.wants_tests:
            self._books.events.happened(AttemptEnded(known.id))
        self._books.transitions.move(known.id, State.IN_REVIEW, event, why, "sent back")

    def _give_back(self, known: TaskRecord, found: ReviewState, said: str) -> None:
        """Its tests ran again and say the same: the coder's words are no proof, and may still be right of the task."""
        self._publish(known, found)
        self._review.gates.keep_coder_words(known.id, "", said, self._books.now())
        self._books.events.happened(AttemptEnded(known.id))
        self._books.transitions.move(
            known.id, State.IN_REVIEW, Event.FUTILE, gate_text.cannot_be_done(said), "sent back"
        )

    def _ask_owner(self, known: TaskRecord, found: ReviewState, reasons: tuple[str, ...]) -> None:
        self._publish(known, found)
        text = gate_text.waiting(known.id, reasons, found.commit if self._review.owners else "")
        self._review.publishing.waiting(self._review.address(known, found.commit), text, self._books.now())
        self._review.gates.park(AwaitingOwner(known.id, found.subject, reasons, None, found.terms), self._books.now())
        self._books.tell(f"{known.id}: waits for you: {'; '.join(reasons)}")

    def _merge(self, known: TaskRecord, found: ReviewState) -> None:
        to, into = self._review.address(known, found.commit), self._review.branches.target(known)
        if self._is_outdated(known) or not self._books.transitions.says_still(known.id, found.asked):
            return  # the next look finds it
        self._publish(known, found)
        if found.approved:
            self._review.publishing.approval(to, self._books.now())
        if self._is_held_up(known, found, into):
            return  # so is this
        try:
            merged = self._review.merge(known, found, to, into, self._books.now())
        except PullNotReady as reason:
            self._not_merged(known, found, into, reason)
            return
        self._review.branches.look(into)
        self._compare(known, found, merged)
        self._books.tell(f"{known.id}: merged #{to.number} into {into} ({merged[:8]})")
        self.ends.merged(known, to, self._review.commits.seen(known, found.commit).branch.name)
        self._books.events.happened(Merged(known, found.commit))
        where = "" if into == self._review.branches.main.name else f" into {into}"
        over = [f"over {one.finding} by your word" for one in self._review.gates.ruled_over(known.id)]
        note = ", ".join((f"merged{where} as {merged[:12]}, pull request #{to.number}", *over))
        self._books.transitions.move(known.id, State.IN_REVIEW, Event.MERGED, note)

    def _is_held_up(self, known: TaskRecord, found: ReviewState, into: str) -> bool:
        """Others' checks at the forge are read; what is merged already is not asked about."""
        if self._review.pulls.known[known.id].state == "merged":
            return False
        checks, now = self._review.pulls.checks, self._books.now()
        before = checks.of(known.id, found.commit)
        since = self._review.gates.begun_at("check", known.id, found.commit) or now
        here = checks.read(known.id, found.commit, into, since, now)
        if here.awaited and (before is None or before.awaited != here.awaited):
            self._books.tell(f"{known.id}: waits for {', '.join(here.awaited)} at the forge, for an hour at most")
        return bool(here.against or here.awaited)

    def _not_merged(self, known: TaskRecord, found: ReviewState, into: str, reason: PullNotReady) -> None:
        """Of a branch that moved, the next look finds it."""
        match reason.kind:
            case "moved":
                raise reason
            case "conflict":
                self._books.tell(f"{known.id}: {reason}")
                if self._review.branches.look(into) == self._review.commits.seen(known, found.commit).branch.base:
                    self._books.transitions.back_off(known.id, f"not merged: {reason}")  # the forge sees what we do not
            case "blocked":
                note = f"not merged: {reason}; tried again later, or with the next start"
                self._books.transitions.back_off(known.id, note)

    def _is_outdated(self, known: TaskRecord) -> bool:
        """Asked at the forge; what is merged already is not asked about."""
        is_merged = self._review.pulls.known[known.id].state == "merged"
        return lands(known) and not is_merged and self._review.branches.has_grown(known)

    def _gone(self, known: TaskRecord, found: ReviewState) -> str:
        if found.goal != "early":
            return "its goal is gone: removed from VISION.md or ticked off there, or its issue was closed"
        is_more = too_early(known, self._books.journal.tasks_on(known.branch))
        words = "to do for its goal" if is_more else f"on {known.branch} now than it was made of"
        return f"there is more {words}: it is made anew when that is done"

    def _compare(self, known: TaskRecord, found: ReviewState, merged: str) -> None:
        """What is on the branch now is what was tested, or somebody was faster than the forge allows us to be."""
        mirror = self._review.branches.mirror
        if mirror.tree_id(merged) != mirror.tree_id(found.commit):
            text = f"{known.id}: merged together with a commit that came in between: test {merged[:12]} yourself"
            self.problems.append(text)
            self._books.tell(text)

    def _notice(self, known: TaskRecord, found: ReviewState, merged: bool) -> None:
        """The owner was there before us; or we were, before we were killed."""
        number = self._review.address(known, found.commit).number
        if merged and self._was_ours(known, found):
            self._merge(known, found)
        elif not merged and self._review.branches.has_lost_target(known):
            self.ends.note(known, number)
            note = f"{self._review.branches.target(known)} was deleted, and its pull request with it: a new one is made"
            self._books.transitions.move(
                known.id, State.IN_REVIEW, Event.REFRESHED, note, "stale", NewAttempt(found.commit, known.asked)
            )
        elif not merged and self._books.journal.has_closed(known.id, number):
            self._books.transitions.move(
                known.id, State.IN_REVIEW, Event.EXHAUSTED, f"pull request #{number} was closed by us"
            )
        else:
            self.ends.owner_ended(known, self._review.pulls.known[known.id], State.IN_REVIEW)

    def _was_ours(self, known: TaskRecord, found: ReviewState) -> bool:
        """We meant to merge this commit, and no other was merged in its place."""
        pull = self._review.pulls.known[known.id]
        return pull.head_sha == found.commit and self._books.journal.has_merged(known.id, found.commit)

    def _close(self, known: TaskRecord, found: ReviewState, why: str) -> None:
        self._publish(known, found)
        self.ends.give_up(known, why)

    # -- the forge --------------------------------------------------------------------------------------------

    def _publish(self, known: TaskRecord, found: ReviewState) -> None:
        """Everything that is known about exactly this commit; what is there already is not said again."""
        publishing, to, now = self._review.publishing, self._review.address(known, found.commit), self._books.now()
        if found.evidence:
            publishing.evidence(to, found.evidence, now)
        if found.reviewed and not found.head:
            try:
                publishing.review(to, found.reviewed, now)
            except PullNotReady:
                self._review.pulls.hear([known])  # it moved: the next look sees it
                raise
