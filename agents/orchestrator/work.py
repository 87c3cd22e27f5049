"""The work phase: look, decide, act, record, until there is nothing left to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from agents.orchestrator.coding import Coding
from agents.orchestrator.gate_sight import GateSight
from agents.orchestrator.gatekeeper import Gatekeeper
from agents.orchestrator.inbox import Inbox
from agents.orchestrator.look import Sight, look
from agents.orchestrator.mover import Mover
from agents.orchestrator.next_move import (
    Code,
    Deliver,
    Drop,
    Gate,
    GiveUp,
    Heed,
    Lose,
    Move,
    Rebase,
    Rest,
    Welcome,
    next_move,
)
from agents.orchestrator.team import Desk, Team
from shared.domain.board import Card
from shared.domain.errors import Misconfigured, ModelAway, OutOfBudget, Refused, TeamError
from shared.domain.lifecycle import Event, State
from shared.domain.naming import attempt_ref
from shared.domain.work import TaskSpec
from shared.edge.forge.forge import Pull, RateLimited
from shared.edge.journal import Known
from shared.edge.paths import remove_folder
from shared.edge.repo.mirror import BranchMoved
from shared.edge.repo.mirror_rebase import AlreadyThere, Conflict, Rebased

PAUSE = timedelta(minutes=10)  # before a model that did not answer is asked again
MOST_PAUSES = 6
PATIENCE = timedelta(minutes=10)  # the longest rest that a foreground day waits for
FORGE_PATIENCE = 1_800.0  # seconds that all limits of the forge together may cost a day
ENDS_A_PULL = (Event.CANCELLED, Event.DELETED, Event.DONE_BY_OWNER)
OPEN = (State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW)


class Work:
    def __init__(self, desk: Desk, team: Team, moved: Callable[[], None] = lambda: None) -> None:
        """`moved` is called after each move."""
        self._desk = desk
        self._moved = moved
        self._team = team
        self._mover = Mover(desk)
        self._gate_sight = GateSight(desk)
        self._inbox = Inbox(desk, self._gate_sight)
        self._gates = Gatekeeper(desk, team, self._gate_sight, self._mover)
        self._coding = Coding(desk, team, self._gate_sight, self._mover, self._gates)
        self._broke: tuple[str, str] = ("", "")  # the day on which a cap stopped the spending, and its words
        self._away: tuple[datetime | None, str] = (None, "")  # until when the model is not asked again, and why
        self._pauses = 0
        self._forge_patience = FORGE_PATIENCE

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the phase went on."""
        return self._gates.problems

    @property
    def aside(self) -> Mapping[str, str]:
        """Tasks that nobody touches until the next start, and why."""
        return self._mover.aside

    @property
    def broke(self) -> str:
        """Why nothing more can be spent today; empty: it can."""
        day, words = self._broke
        return words if day == self._desk.day() else ""

    def _no_model(self) -> str:
        """Why no model is asked now; empty: it can be."""
        until, words = self._away
        return words if until and self._desk.clock.now() < until else ""

    def _model_is_asked_again(self, why: str) -> datetime | None:
        """None: we rest for another reason, or it was away too often."""
        until, words = self._away
        return until if why == words and self._pauses <= MOST_PAUSES else None

    def until_quiet(self) -> str:
        """Every move there is -> why it rests now."""
        while not self._heard():
            pass
        while True:
            sight = self._look()
            move = next_move(sight.board, self._desk.clock.now())
            if isinstance(move, Rest):
                self._tell_lost(sight)
                until = move.until or self._model_is_asked_again(move.why)
                if until is None or until > self._desk.clock.now() + PATIENCE:
                    return move.why
                self._desk.tell(f"{move.why}, until {until:%H:%M:%S}")
                self._desk.clock.sleep((until - self._desk.clock.now()).total_seconds())
            else:
                self._try(move, sight)
                self._moved()

    def recover(self) -> None:
        """What a kill left half done: moves are finished, dead folders go. Nothing outward is done here."""
        self._mover.recover()
        for place in (self._desk.home.work, self._desk.home.temporary):
            for left_over in place.iterdir():
                remove_folder(left_over)

    def _heard(self) -> bool:
        """False: after a pause that the forge has asked for, once more."""
        try:
            self._hear()
        except RateLimited as limit:
            if not self._waited(limit):
                raise
            return False
        return True

    def _waited(self, limit: RateLimited) -> bool:
        """As long as the forge says; half an hour in all."""
        if limit.wait > self._forge_patience:
            return False
        self._forge_patience -= max(limit.wait, 1.0)
        self._desk.tell(f"{limit}; waiting")
        self._desk.clock.sleep(limit.wait)
        return True

    def _hear(self) -> None:
        """What happened at the forge and to the branch since we looked last."""
        begun = [known for known in self._desk.journal.known().values() if known.seen_in in OPEN and known.last]
        if begun:
            self._team.sync()
            self._gate_sight.hear(begun)
            self._inbox.hear(begun)

    def _tell_lost(self, sight: Sight) -> None:
        for card in sight.board.cards:
            if card.state is card.seen_in is State.IN_REVIEW and card.submission is None and not card.aside:
                self._mover.set_aside(card.id, f"its commit is not here any more; type: python main.py retry {card.id}")

    def _look(self) -> Sight:
        desk = self._desk
        accepted = desk.plans.accepted()
        vision = accepted.vision if accepted else None
        guards = [pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns]
        return look(
            desk.store,
            desk.journal,
            vision,
            desk.rules.limits,
            desk.mirror.attempt,
            desk.ledger.paused() or self.broke or self._no_model(),
            self._mover.aside,
            lambda known: self._gate_sight.submission(known, vision, guards),
            desk.rules.policy,
            desk.rules.open_pulls,
        )

    # -- moves ------------------------------------------------------------------------------------------------

    def _try(self, move: Move, sight: Sight) -> None:
        """What goes wrong with one task is its own affair; what the owner has to mend ends the phase."""
        try:
            self._act(move, sight)
        except OutOfBudget as problem:
            self._broke = (self._desk.day(), str(problem))
            self._desk.tell(f"{_task(move)}: {problem}")
        except ModelAway as problem:
            self._pauses += 1
            self._away = (self._desk.clock.now() + PAUSE, str(problem))
            if str(problem) not in self._gates.problems:
                self._gates.problems.append(str(problem))
            self._desk.tell(f"{_task(move)}: {problem}")
        except Misconfigured:
            raise
        except TeamError as problem:
            if isinstance(problem, RateLimited) and self._waited(problem):
                return
            self._mover.set_aside(_task(move), f"{problem}; the next start goes on with it")

    def _act(self, move: Move, sight: Sight) -> None:
        match move:
            case Welcome(task):
                self._welcome(task, sight)
            case Heed(task, event):
                self._heed(task, event, sight)
            case Deliver(task):
                self._deliver(task, sight)
            case Rebase(task):
                self._rebase(task, sight)
            case Lose(task):
                self._mover.move(
                    task, State.IN_PROGRESS, Event.STUMBLED, "cut off before it led to a commit", outcome="lost"
                )
            case Gate(task, step):
                self._gates.act(_card(task, sight), sight.known[task], step)
            case Drop(task, why):
                self._desk.tell(f"{task}: out of the queue, {why}")
                self._gates.give_up(sight.known[task], why)
                self._mover.move(task, State.BACKLOG, Event.GOAL_REMOVED, why)
            case GiveUp(task):
                self._give_up(task, sight)
            case Code(task):
                self._code(task, sight)
            case Rest():
                raise AssertionError("resting is no act")
            case _:
                assert_never(move)

    def _welcome(self, task: str, sight: Sight) -> None:
        card = _card(task, sight)
        if self._desk.store.waited_for(card.state, task):
            return  # it was still being written: look again
        self._desk.journal.born(_spec(card), card.state, "dropped by the owner", self._desk.clock.now())
        self._desk.tell(f"{task}: a new task of yours")

    def _heed(self, task: str, event: Event, sight: Sight) -> None:
        """The file lies there already; only history has to learn it, and the forge."""
        now, known = self._desk.clock.now(), sight.known[task]
        if event in ENDS_A_PULL:
            words = _because(self._desk, task) if event is Event.CANCELLED else ""
            self._gates.give_up(known, f"{event}{f': {words}' if words else ''}")
        self._desk.gates.withdraw(task)
        words = _because(self._desk, task)
        self._desk.journal.moved(self._desk.journal.plan_move(task, known.seen_in, event, words, now, "void"))
        self._desk.tell(f"{task}: {event}{f': {words}' if words else ''}")

    def _give_up(self, task: str, sight: Sight) -> None:
        desk, ended = self._desk, ("failed", "lost", "sent back")
        tries = [a.note for a in desk.journal.attempts(task) if a.outcome in ended]
        notes = [f"{number}: {note}" for number, note in enumerate(tries, 1)]
        self._gates.give_up(sight.known[task], f"given up after {len(notes)} attempts")
        if self._mover.move(task, State.BACKLOG, Event.EXHAUSTED, "; ".join(notes[-3:])):
            desk.tell(f"{task}: given up after {len(notes)} attempts; it lies in failed/ and needs you")

    def _deliver(self, task: str, sight: Sight) -> None:
        desk, card = self._desk, _card(task, sight)
        assert card.open_attempt
        goal, cost = self._goal_title(_spec(card)), desk.ledger.spent_by(task).used
        try:
            branch = self._gate_sight.seen(sight.known[task], card.commit).branch
            pull = desk.delivery.deliver(
                _spec(card), card.open_attempt, branch, desk.rules.branch, goal, cost, desk.clock.now()
            )
        except (Refused, BranchMoved) as problem:
            desk.tell(f"{task}: {problem}")
            self._mover.move(task, State.IN_PROGRESS, Event.EXHAUSTED, str(problem), outcome="failed")
        except RateLimited:
            raise
        except TeamError as problem:  # the commit stands: it is not paid for again
            self._mover.set_aside(task, f"not delivered, the next start tries again: {problem}")
        else:
            self._gate_sight.pulls[task] = pull
            desk.tell(f"{task}: pull request #{pull.number} {pull.url}")
            note = f"pull request #{pull.number}"
            self._mover.move(task, State.IN_PROGRESS, Event.SUBMITTED, note, outcome="ok")

    def _rebase(self, task: str, sight: Sight) -> None:
        """The same change on top of what the branch is now; where that is not possible it is the coder's turn."""
        desk, card = self._desk, _card(task, sight)
        assert card.open_attempt
        onto = self._team.sync()
        answer = desk.mirror.rebased(card.refreshes, onto, attempt_ref(task, card.open_attempt), desk.clock.now())
        match answer:
            case Rebased():
                return  # the next look finds it and delivers it
            case Conflict(paths):
                text = f"conflicts with what is on {desk.rules.branch} now: {', '.join(paths[:5]) or 'its history'}"
                desk.tell(f"{task}: {text}; sent back to the coder")
                self._mover.move(task, State.IN_PROGRESS, Event.STUMBLED, text, outcome="sent back")
            case AlreadyThere():
                self._gates.give_up(sight.known[task], f"the same change is on {desk.rules.branch} already")
                self._mover.move(task, State.IN_PROGRESS, Event.DONE_BY_OWNER, "its change is there already", "void")
            case _:
                assert_never(answer)

    def _code(self, task: str, sight: Sight) -> None:
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

    def _ended_by_owner(self, known: Known, merged: bool) -> None:
        """He merged or closed the pull request of a task that was to be corrected."""
        word = "merged" if merged else "closed"
        self._desk.tell(f"{known.id}: you {word} its pull request")
        event = Event.DONE_BY_OWNER if merged else Event.CANCELLED
        self._mover.move(known.id, State.BACKLOG, event, f"{word} by the owner")

    def _goal_title(self, task: TaskSpec) -> str:
        accepted = self._desk.plans.accepted()
        goals = accepted.vision.goals if accepted else ()
        return next((goal.title for goal in goals if goal.id == task.goal_id), "")


def _task(move: Move) -> str:
    return "" if isinstance(move, Rest) else move.task


def _card(task: str, sight: Sight) -> Card:
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
