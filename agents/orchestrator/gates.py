"""Step -> what is done about it: tests, review, then merged, sent back, or the owner's turn. One act, one record."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from agents.orchestrator.board.review_facts import ReviewFacts
from agents.orchestrator.board.transitions import Transitions
from agents.orchestrator.integration.feature_branches import FeatureBranches, is_outdated, lands, target, too_early
from agents.orchestrator.memory import learning
from agents.orchestrator.publishing import gate_text
from agents.orchestrator.publishing.publishing import Address
from agents.orchestrator.team import ChecksChange, Desk, ReviewsChange, Team
from agents.orchestrator.vision.issue_goals import number_of
from shared.forge.forge import ForgeRefused, HeadMoved, MergeBlocked, MergeConflict, NotPermitted
from shared.model.errors import BrokenSetup, Misconfigured, OutOfBudget, Stopping, Stumble, TaskCapReached, Unavailable
from shared.model.evidence import Escalated, Reviewed, is_test_file
from shared.model.gate import (
    AskOwner,
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
from shared.model.lifecycle import Card, Event, State
from shared.model.work import Branch, TaskSpec
from shared.store.gate_book import AwaitingOwner
from shared.store.task_records import TaskRecord


class Gatekeeper:
    def __init__(
        self, desk: Desk, team: Team, sight: ReviewFacts, mover: Transitions, branches: FeatureBranches
    ) -> None:
        self._desk = desk
        self._team = team
        self._sight = sight
        self._mover = mover
        self._branches = branches
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
            case Fail(why):
                self._close(known, found, why)
                learning.sent_back(self._desk, known.id)
                learning.gave_up(self._desk, known, spec, why)
                self._mover.move(known.id, State.IN_REVIEW, Event.EXHAUSTED, why, "sent back")
            case Cancel():
                why = self._gone(known, found)
                self._close(known, found, why)
                self._mover.move(known.id, State.IN_REVIEW, Event.GOAL_REMOVED, why)
            case Refresh():
                self._desk.tell(f"{known.id}: {self._into(known)} has moved; brought up to date, then tested again")
                self._mover.move(known.id, State.IN_REVIEW, Event.REFRESHED, "", "stale", refreshes=found.commit)
            case Merge():
                self._merge(known, found)
            case AskOwner(reasons):
                self._park(known, found, reasons)
            case Noticed(merged):
                self._notice(known, found, merged)
            case _:
                assert_never(step)

    # -- tests and review -------------------------------------------------------------------------------------

    def qa(self) -> ChecksChange:
        """Made when it is first needed. Misconfigured if this machine has no box."""
        if self._qa is None:
            self._qa = self._team.qa()
        return self._qa

    def _check(self, spec: TaskSpec, known: TaskRecord, found: ReviewState) -> None:
        desk, branch = self._desk, self._sight.seen(known, found.commit).branch
        qa = self.qa()
        desk.gates.begin("check", known.id, found.commit, desk.clock.now())
        desk.tell(f"{known.id}: testing {found.commit[:8]}")
        try:
            written = written_tests(spec, branch)
            with desk.journal.running("qa", desk.day(), desk.clock, known.id, _number(known)) as run, desk.chair.left():
                evidence = qa.check(run, spec, branch, written)
        except BrokenSetup as problem:
            desk.gates.not_begun("check", known.id, found.commit)
            self.problems.append(f"{known.id}: {problem}")
            self._mover.set_aside(known.id, str(problem))
        except (Misconfigured, Unavailable, Stopping):
            desk.gates.not_begun("check", known.id, found.commit)
            raise
        except Stumble as problem:  # counted: the third is the last
            desk.tell(f"{known.id}: {problem}")
        else:
            desk.gates.keep_evidence(known.id, evidence)
            desk.tell(f"{known.id}: {gate_text.summary(evidence)}")

    def _judge(self, spec: TaskSpec, known: TaskRecord, found: ReviewState) -> None:
        desk, branch = self._desk, self._sight.seen(known, found.commit).branch
        assert found.evidence
        self._publish(known, found)
        if self._reviewer is None:
            self._reviewer = self._team.reviewer()
        desk.gates.begin("review", known.id, found.commit, desk.clock.now())
        try:
            with desk.journal.running("reviewer", desk.day(), desk.clock, known.id, _number(known)) as run:
                before = [one for one in desk.gates.reviews(known.id) if one.commit != found.commit]
                question = replace(run, attempt=0)  # the same change on another base is the same question
                with desk.chair.left():
                    reviewed = self._reviewer.review(question, spec, branch, found.evidence, before)
        except TaskCapReached as reason:  # the owner decides what no model can read any more
            desk.gates.keep_review(known.id, Reviewed(found.commit, Escalated(f"it could not be reviewed: {reason}")))
        except (OutOfBudget, Unavailable, Misconfigured, Stopping):
            desk.gates.not_begun("review", known.id, found.commit)
            raise
        except Stumble as problem:  # counted: the third is the last
            desk.tell(f"{known.id}: {problem}")
        else:
            desk.gates.keep_review(known.id, reviewed)
            desk.tell(f"{known.id}: review: {gate_text.verdict_line(reviewed.verdict)}")

    # -- endings ----------------------------------------------------------------------------------------------

    def _send_back(self, known: TaskRecord, found: ReviewState, step: SendBack) -> None:
        self._publish(known, found)
        event, why = Event.CHANGES, ""
        if step.by == "tests" and found.evidence:
            event, why = Event.RED, "; ".join(problem.text for problem in found.evidence.problems[:3])
        elif found.reviewed:
            why = gate_text.verdict_line(found.reviewed.verdict)
        wanted = "QA writes the missing tests" if step.wants_tests else "sent back to the coder"
        self._desk.tell(f"{known.id}: {wanted}: {why}")
        if not step.wants_tests:
            learning.sent_back(self._desk, known.id)
        self._mover.move(known.id, State.IN_REVIEW, event, why, "sent back")

    def _park(self, known: TaskRecord, found: ReviewState, reasons: tuple[str, ...]) -> None:
        desk = self._desk
        self._publish(known, found)
        text = gate_text.waiting(known.id, reasons, found.commit if desk.rules.inbox.owners else "")
        desk.publishing.waiting(self._address(known, found), text, desk.clock.now())
        desk.gates.park(AwaitingOwner(known.id, found.subject, reasons), desk.clock.now())
        desk.tell(f"{known.id}: waits for you: {'; '.join(reasons)}")

    def _merge(self, known: TaskRecord, found: ReviewState) -> None:
        desk, to, into = self._desk, self._address(known, found), self._into(known)
        if self._is_outdated(known):
            return  # the next look finds it
        self._publish(known, found)
        if found.approved:
            desk.publishing.approval(to, desk.clock.now())
        try:
            merged = desk.publishing.merge(to, into, desk.clock.now(), is_untested=found.evidence is None)
        except MergeConflict as reason:
            desk.tell(f"{known.id}: {reason}")
            if self._branches.look(into) == self._sight.seen(known, found.commit).branch.base:
                self._mover.set_aside(known.id, f"not merged: {reason}")  # the forge sees what we do not
            return
        except MergeBlocked as reason:
            self._mover.set_aside(known.id, f"not merged: {reason}; tried again later, or with the next start")
            return
        self._branches.look(into)
        self._compare(known, found, merged)
        desk.tell(f"{known.id}: merged #{to.number} into {into} ({merged[:8]})")
        self._tell_issue(known, to)
        desk.publishing.delete_branch(to, self._sight.seen(known, found.commit).branch.name, desk.clock.now())
        self._clear_goal_branch(known, to)
        learning.merged(desk, known, found.commit)
        where = "" if into == desk.rules.branch else f" into {into}"
        note = f"merged{where} as {merged[:12]}, pull request #{to.number}"
        self._mover.move(known.id, State.IN_REVIEW, Event.MERGED, note)

    def _into(self, known: TaskRecord) -> str:
        return target(self._desk, known)

    def _is_outdated(self, known: TaskRecord) -> bool:
        """Asked at the forge; what is merged already is not asked about."""
        if not lands(known) or self._sight.pulls[known.id].state == "merged":
            return False
        self._branches.look(known.branch)
        return is_outdated(self._desk, known)

    def _clear_goal_branch(self, known: TaskRecord, to: Address) -> None:
        """All of it has landed; with what somebody has pushed there since, it stays."""
        if not lands(known):
            return
        self._branches.look(known.branch)
        if is_outdated(self._desk, known):
            self._desk.tell(f"{known.branch} stays: there is more on it than has landed")
        else:
            self._desk.publishing.delete_goal_branch(to, known.branch, self._desk.clock.now())

    def _gone(self, known: TaskRecord, found: ReviewState) -> str:
        if found.goal != "early":
            return "its goal is gone: removed from VISION.md, or its issue was closed"
        is_more = too_early(known, self._desk.journal.tasks_on(known.branch))
        words = "to do for its goal" if is_more else f"on {known.branch} now than it was made of"
        return f"there is more {words}: it is made anew when that is done"

    def _tell_issue(self, known: TaskRecord, to: Address) -> None:
        """When the last task of its goal is done. A token that may not write there costs the word, nothing else."""
        if self._into(known) != self._desk.rules.branch:
            return
        issue = number_of(known.goal_id)
        tasks = self._desk.journal.tasks_of([known.goal_id]).values() if issue else ()
        others = (one for one in tasks if one.id != known.id and not one.is_dropped)
        if not issue or any(one.seen_in is not State.COMPLETED for one in others):
            return
        told = f"Done by pull request {to.number}. Close this if it is what you wanted."
        try:
            self._desk.publishing.fulfilled(to, issue, told, self._desk.clock.now())
        except (NotPermitted, ForgeRefused) as problem:
            self._desk.tell(f"{known.id}: nothing was said below issue {issue}: {problem}")

    def _compare(self, known: TaskRecord, found: ReviewState, merged: str) -> None:
        """What is on the branch now is what was tested, or somebody was faster than the forge allows us to be."""
        mirror = self._desk.mirror
        if mirror.tree_id(merged) != mirror.tree_id(found.commit):
            text = f"{known.id}: merged together with a commit that came in between: test {merged[:12]} yourself"
            self.problems.append(text)
            self._desk.tell(text)

    def _notice(self, known: TaskRecord, found: ReviewState, merged: bool) -> None:
        """The owner was there before us; or we were, before we were killed."""
        number = self._address(known, found).number
        if merged and self._was_ours(known, found):
            self._merge(known, found)
        elif not merged and self._lost_its_base(known):
            self.heed_end(known, number)
            note = f"{self._into(known)} was deleted, and its pull request with it: a new one is made"
            self._mover.move(known.id, State.IN_REVIEW, Event.REFRESHED, note, "stale", refreshes=found.commit)
        elif not merged and self._desk.journal.has_closed(known.id, number):
            self._mover.move(known.id, State.IN_REVIEW, Event.EXHAUSTED, f"pull request #{number} was closed by us")
        else:
            self.heed_end(known, number)
            self._heed_owner(known, found, merged)

    def _lost_its_base(self, known: TaskRecord) -> bool:
        """GitHub closes what goes into a branch that somebody deletes: that is no word about the change."""
        into = self._into(known)
        return into != self._desk.rules.branch and self._branches.look(into) is None

    def _was_ours(self, known: TaskRecord, found: ReviewState) -> bool:
        """We meant to merge this commit, and no other was merged in its place."""
        pull = self._sight.pulls[known.id]
        return pull.head_sha == found.commit and self._desk.journal.has_merged(known.id, found.commit)

    def _heed_owner(self, known: TaskRecord, found: ReviewState, merged: bool) -> None:
        if merged:
            to = self._address(known, found)
            self._note_merge(known, to)
            self._tell_issue(known, to)
            self._clear_goal_branch(known, to)
            learning.merged(self._desk, known, found.commit)
        word, event = ("merged", Event.MERGED) if merged else ("closed", Event.CANCELLED)
        self._desk.tell(f"{known.id}: you {word} its pull request")
        self._mover.move(known.id, State.IN_REVIEW, event, f"{word} by the owner")

    def _note_merge(self, known: TaskRecord, to: Address) -> None:
        """What he merged into a goal's branch has to be there when it lands."""
        merged = self._sight.pulls[known.id].merge_sha
        if merged and self._into(known) != self._desk.rules.branch:
            key = f"{known.id}:merged-{to.number}"
            self._desk.journal.intend(key, "merge by the owner", known.id, merged, self._desk.clock.now())
            self._desk.journal.achieved(key, merged)

    def heed_end(self, known: TaskRecord, number: int) -> None:
        """The owner's closing or merging is answered once: if he retries the task, a new pull request may be opened."""
        key, now = f"{known.id}:end-{number}", self._desk.clock.now()
        self._desk.journal.intend(key, "close", known.id, str(number), now)

    def _close(self, known: TaskRecord, found: ReviewState, why: str) -> None:
        self._publish(known, found)
        self.give_up(known, why)

    def give_up(self, known: TaskRecord, why: str) -> None:
        """The pull request is closed with a diagnosis that a person can act on."""
        desk = self._desk
        self._sight.hear([known])
        pull = self._sight.pulls.get(known.id)
        if pull is None or pull.state != "open":
            return
        notes = [attempt.note for attempt in desk.journal.attempts(known.id) if attempt.note]
        to = Address(known.id, _number(known), pull.number, pull.head_sha)
        desk.publishing.close(to, gate_text.diagnosis(known.id, why, notes[-6:]), desk.clock.now())

    # -- the forge --------------------------------------------------------------------------------------------

    def _publish(self, known: TaskRecord, found: ReviewState) -> None:
        """Everything that is known about exactly this commit; what is there already is not said again."""
        desk, to = self._desk, self._address(known, found)
        if found.evidence:
            desk.publishing.evidence(to, found.evidence, desk.clock.now())
        if found.reviewed and not found.head:
            try:
                desk.publishing.review(to, found.reviewed, desk.clock.now())
            except HeadMoved:
                self._sight.hear([known])  # the next look sees it
                raise

    def _address(self, known: TaskRecord, found: ReviewState) -> Address:
        pull = self._sight.pulls.get(known.id)
        if pull is None:
            raise Unavailable(f"{known.id}: its pull request is not at the forge")
        return Address(known.id, _number(known), pull.number, found.commit)


def written_tests(spec: TaskSpec, branch: Branch) -> tuple[str, ...]:
    """Test files that the task does not name: QA's own."""
    named = (*spec.files, *spec.new_files)
    return tuple(path for path in branch.changed if is_test_file(path) and path not in named)


def _number(known: TaskRecord) -> int:
    return known.last.number if known.last else 0
