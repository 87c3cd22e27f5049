"""Move -> what is done about it: at the folders, the books and the forge. One act, one record."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from agents.orchestrator.board.review_facts import ReviewFacts
from agents.orchestrator.board.snapshot import Snapshot
from agents.orchestrator.board.transitions import Transitions
from agents.orchestrator.coding import Coding
from agents.orchestrator.decide import (
    AbandonAttempt,
    AdoptTask,
    ApplyOwnerMove,
    CancelTask,
    CodeTask,
    Deliver,
    Gate,
    GiveUp,
    Move,
    Rebase,
    Rest,
)
from agents.orchestrator.gates import Gatekeeper
from agents.orchestrator.integration.feature_branches import FeatureBranches, lands, target
from agents.orchestrator.memory import learning
from agents.orchestrator.team import Desk, Team
from shared.forge.forge import ForgeUnavailable, Pull, RateLimited
from shared.model.errors import Refused, Replaced, Stopping, Stumble, TeamError
from shared.model.lifecycle import Card, Event, State
from shared.model.naming import attempt_ref
from shared.model.work import TaskSpec
from shared.repo.mirror import BranchMoved
from shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from shared.repo.remote import RemoteAway
from shared.store.task_records import TaskRecord

ENDS_A_PULL = (Event.CANCELLED, Event.DELETED, Event.DONE_BY_OWNER)


class Acts:
    """What goes wrong with an act is its caller's."""

    def __init__(self, desk: Desk, team: Team, sight: ReviewFacts, mover: Transitions) -> None:
        self._desk = desk
        self._team = team
        self._gate_sight = sight
        self._mover = mover
        self.branches = FeatureBranches(desk, team.sync)
        self._gates = Gatekeeper(desk, team, sight, mover, self.branches)
        self._coding = Coding(desk, team, sight, mover, self._gates, self.branches)

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the others go on."""
        return self._gates.problems

    def do(self, move: Move, sight: Snapshot) -> None:
        match move:
            case AdoptTask():
                self._welcome(sight)
            case ApplyOwnerMove(task, event):
                self._heed(task, event, sight)
            case Deliver(task):
                self._deliver(task, sight)
            case Rebase(task):
                self._rebase(task, sight)
            case AbandonAttempt(task):
                self._mover.move(
                    task, State.IN_PROGRESS, Event.STUMBLED, "cut off before it led to a commit", outcome="lost"
                )
            case Gate(task, step):
                self._gates.act(_card(task, sight), sight.known[task], step)
            case CancelTask(task, why):
                self._desk.tell(f"{task}: out of the queue, {why}")
                self._gates.give_up(sight.known[task], why)
                self._mover.move(task, _card(task, sight).state, Event.GOAL_REMOVED, why, outcome="void")
            case GiveUp(task):
                self._give_up(task, sight)
            case CodeTask(task):
                self._code(task, sight)
            case Rest():
                raise AssertionError("resting is no act")
            case _:
                assert_never(move)

    def _welcome(self, sight: Snapshot) -> None:
        """All that have come. What may still be in the writing is waited for once, and looked at anew."""
        desk = self._desk
        new = [card for card in sight.board.cards if card.seen_in is None and card.spec and not card.aside]
        young = {card.id: card for card in new if desk.store.is_young(card.state, card.id)}
        whole = [card for card in new if card.id not in young]
        if whole:
            born = [(_spec(card), card.state) for card in whole]
            desk.journal.all_born(born, "dropped by the owner", desk.clock.now())
        for card in whole:
            desk.tell(f"{card.id}: a new task of yours")
        if young:
            with desk.chair.left():
                desk.store.wait()
        for card in young.values():
            if desk.store.is_young(card.state, card.id):
                self._mover.set_aside(card.id, "its file is still being written")

    def _heed(self, task: str, event: Event, sight: Snapshot) -> None:
        """The file lies there already; only history has to learn it, and the forge."""
        now, known = self._desk.clock.now(), sight.known[task]
        if event in ENDS_A_PULL:
            words = _because(self._desk, task) if event is Event.CANCELLED else ""
            self._gates.give_up(known, f"{event}{f': {words}' if words else ''}")
        self._desk.gates.withdraw(task)
        self._mover.begins_anew(task)
        words = _because(self._desk, task)
        if event is Event.CANCELLED:
            learning.rejected(self._desk, known)
        self._desk.journal.moved(self._desk.journal.plan_move(task, known.seen_in, event, words, now, "void"))
        self._desk.tell(f"{task}: {event}{f': {words}' if words else ''}")

    def _give_up(self, task: str, sight: Snapshot) -> None:
        desk, ended = self._desk, ("failed", "lost", "sent back")
        tries = [a.note for a in desk.journal.attempts(task) if a.outcome in ended]
        notes = [f"{number}: {note}" for number, note in enumerate(tries, 1)]
        why = f"given up after {len(notes)} attempts: {sight.known[task].tried.exhausted(desk.rules.limits)}"
        self._gates.give_up(sight.known[task], why)
        learning.gave_up(desk, sight.known[task], _spec(_card(task, sight)), "; ".join(tries[-2:]) or why)
        if self._mover.move(task, State.BACKLOG, Event.EXHAUSTED, "; ".join((why, *notes[-3:]))):
            desk.tell(f"{task}: {why}; it lies in failed/ and needs you")

    def _deliver(self, task: str, sight: Snapshot) -> None:
        desk, card = self._desk, _card(task, sight)
        assert card.open_attempt
        goal, cost = self._goal_title(_spec(card)), self._cost(sight.known[task])
        try:
            branch = self._gate_sight.seen(sight.known[task], card.commit).branch
            into = target(desk, sight.known[task])
            pull = desk.delivery.deliver(_spec(card), card.open_attempt, branch, into, goal, cost, desk.clock.now())
        except (Refused, BranchMoved) as problem:
            desk.tell(f"{task}: {problem}")
            self._mover.move(task, State.IN_PROGRESS, Event.EXHAUSTED, str(problem), outcome="failed")
        except (RateLimited, ForgeUnavailable, RemoteAway, Stopping, Replaced):
            raise
        except TeamError as problem:  # the commit stands: it is not paid for again
            raise Stumble(f"not delivered: {problem}") from None
        else:
            self._gate_sight.pulls[task] = pull
            desk.tell(f"{task}: pull request #{pull.number} {pull.url}")
            note = f"pull request #{pull.number}"
            self._mover.move(task, State.IN_PROGRESS, Event.SUBMITTED, note, outcome="ok")

    def _cost(self, known: TaskRecord) -> int:
        """A landing brings the work of all tasks of its goal's branch."""
        of = self._desk.journal.tasks_on(known.branch) if lands(known) else [known.id]
        return sum(used.amount for used in self._desk.ledger.used_by(of).values())

    def _rebase(self, task: str, sight: Snapshot) -> None:
        """The same change on top of what the branch is now; where that is not possible it is the coder's turn."""
        desk, card = self._desk, _card(task, sight)
        assert card.open_attempt
        into = target(desk, sight.known[task])
        onto = self.branches.ensured(into)
        answer = desk.mirror.rebased(card.refreshes, onto, attempt_ref(task, card.open_attempt), desk.clock.now())
        match answer:
            case Rebased():
                return  # the next look finds it and delivers it
            case Conflict(paths):
                text = f"conflicts with what is on {into} now: {', '.join(paths[:5]) or 'its history'}"
                desk.tell(f"{task}: {text}; sent back to the coder")
                self._mover.move(task, State.IN_PROGRESS, Event.STUMBLED, text, outcome="sent back")
            case AlreadyThere():
                self._gates.give_up(sight.known[task], f"the same change is on {into} already")
                self._mover.move(task, State.IN_PROGRESS, Event.DONE_BY_OWNER, "its change is there already", "void")
            case _:
                assert_never(answer)

    def _code(self, task: str, sight: Snapshot) -> None:
        accepted = self._desk.plans.accepted()
        now = [pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns]
        spec, known = _spec(_card(task, sight)), sight.known[task]
        pull = self._gate_sight.pulls.get(task)
        if pull and self._ended_unheeded(task, pull):
            self._gates.heed_end(known, pull.number)
            self._ended_by_owner(known, merged=pull.state == "merged")
            return
        guarded = replace(spec, guards=tuple(dict.fromkeys((*spec.guards, *now))))  # also of a later "don't"
        self._coding.code(guarded, known)

    def _ended_unheeded(self, task: str, pull: Pull) -> bool:
        journal = self._desk.journal
        known = journal.has_closed(task, pull.number) or journal.has_merged(task, pull.head_sha)
        return pull.state != "open" and not known

    def _ended_by_owner(self, known: TaskRecord, merged: bool) -> None:
        """He merged or closed the pull request of a task that was to be corrected."""
        word = "merged" if merged else "closed"
        self._desk.tell(f"{known.id}: you {word} its pull request")
        event = Event.DONE_BY_OWNER if merged else Event.CANCELLED
        self._mover.move(known.id, State.BACKLOG, event, f"{word} by the owner")

    def _goal_title(self, task: TaskSpec) -> str:
        vision = self._desk.wanted()
        goals = vision.goals if vision else ()
        return next((goal.title for goal in goals if goal.id == task.goal_id), "")


def _card(task: str, sight: Snapshot) -> Card:
    card = sight.board.card(task)
    assert card
    return card


def _spec(card: Card) -> TaskSpec:
    assert card.spec
    return card.spec


def _because(desk: Desk, task: str) -> str:
    """What the owner wrote when he answered last."""
    said = desk.gates.rulings(task)
    return said[-1].why if said and said[-1].kind != "approve" else ""
