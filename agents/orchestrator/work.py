"""The work phase: look, decide, act, record, until there is nothing left to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import assert_never

from agents.orchestrator.coding import Coding
from agents.orchestrator.gate_sight import GateSight
from agents.orchestrator.gatekeeper import Gatekeeper
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
from shared.domain.errors import Misconfigured, OutOfBudget, Refused, TeamError
from shared.domain.gate import Step
from shared.domain.lifecycle import Event, State
from shared.domain.naming import attempt_ref
from shared.domain.work import TaskSpec
from shared.edge.journal import Known
from shared.edge.paths import remove_folder
from shared.edge.repo.mirror import BranchMoved
from shared.edge.repo.mirror_rebase import AlreadyThere, Conflict, Rebased

PATIENCE = timedelta(minutes=10)  # the longest rest that a foreground day waits for
ENDS_A_PULL = (Event.CANCELLED, Event.DELETED, Event.DONE_BY_OWNER)


class Work:
    def __init__(self, desk: Desk, team: Team) -> None:
        self._desk = desk
        self._team = team
        self._mover = Mover(desk)
        self._gate_sight = GateSight(desk)
        self._gates = Gatekeeper(desk, team, self._gate_sight, self._mover)
        self._coding = Coding(desk, team, self._gate_sight, self._mover, self._gates.qa)
        self._broke: tuple[str, str] = ("", "")  # the day on which a cap stopped the spending, and its words

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the phase went on."""
        return self._gates.problems

    def until_quiet(self) -> str:
        """Every move there is -> why it rests now."""
        self._hear()
        while True:
            sight = self._look()
            move = next_move(sight.board, self._desk.clock.now())
            if isinstance(move, Rest):
                if move.until is None or move.until > self._desk.clock.now() + PATIENCE:
                    return move.why
                self._desk.tell(f"{move.why}, until {move.until:%H:%M:%S}")
                self._desk.clock.sleep((move.until - self._desk.clock.now()).total_seconds())
            else:
                self._act(move, sight)

    def recover(self) -> None:
        """What a kill left half done: moves are finished, dead folders go. Nothing outward is done here."""
        self._mover.recover()
        for place in (self._desk.home.work, self._desk.home.temporary):
            for left_over in place.iterdir():
                remove_folder(left_over)

    def _hear(self) -> None:
        """What happened at the forge and to the branch since we looked last."""
        waiting = [known for known in self._desk.journal.known().values() if known.seen_in is State.IN_REVIEW]
        if waiting:
            self._team.sync()
            self._gate_sight.hear(waiting)

    def _look(self) -> Sight:
        desk = self._desk
        accepted = desk.plans.accepted()
        vision = accepted.vision if accepted else None
        day, words = self._broke
        return look(
            desk.store,
            desk.journal,
            vision,
            desk.rules.limits,
            desk.mirror.attempt,
            desk.ledger.paused() or (words if day == desk.day() else ""),
            self._mover.aside,
            lambda known: self._gate_sight.submission(known, vision),
            desk.rules.policy,
            desk.rules.open_pulls,
        )

    # -- moves ------------------------------------------------------------------------------------------------

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
                self._gate(_card(task, sight), sight.known[task], step)
            case Drop(task, why):
                self._desk.tell(f"{task}: out of the queue, {why}")
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
        if known.seen_in is State.IN_REVIEW and event in ENDS_A_PULL:
            self._gates.give_up(known, f"{event}{_because(self._desk, task)}")
        self._desk.journal.moved(self._desk.journal.plan_move(task, known.seen_in, event, "", now, "void"))
        self._desk.tell(f"{task}: {event}")

    def _give_up(self, task: str, sight: Sight) -> None:
        desk, ended = self._desk, ("failed", "lost", "sent back")
        notes = [f"{a.number}: {a.note}" for a in desk.journal.attempts(task) if a.outcome in ended]
        self._gate_sight.hear([sight.known[task]])
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

    def _gate(self, card: Card, known: Known, step: Step) -> None:
        try:
            self._gates.act(card, known, step)
        except OutOfBudget as problem:
            self._stop_spending(known.id, problem)
        except Misconfigured:
            raise
        except TeamError as problem:
            self._mover.set_aside(known.id, f"{problem}; the next start goes on with it")

    def _code(self, task: str, sight: Sight) -> None:
        accepted = self._desk.plans.accepted()
        now = [pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns]
        spec = _spec(_card(task, sight))
        guarded = replace(spec, guards=tuple(dict.fromkeys((*spec.guards, *now))))  # also of a later "don't"
        try:
            self._coding.code(guarded, sight.known[task])
        except OutOfBudget as problem:
            self._stop_spending(task, problem)

    def _stop_spending(self, task: str, why: OutOfBudget) -> None:
        self._broke = (self._desk.day(), str(why))
        self._desk.tell(f"{task}: {why}")

    def _goal_title(self, task: TaskSpec) -> str:
        accepted = self._desk.plans.accepted()
        goals = accepted.vision.goals if accepted else ()
        return next((goal.title for goal in goals if goal.id == task.goal_id), "")


def _card(task: str, sight: Sight) -> Card:
    card = sight.board.card(task)
    assert card
    return card


def _spec(card: Card) -> TaskSpec:
    assert card.spec
    return card.spec


def _because(desk: Desk, task: str) -> str:
    said = [ruling.why for ruling in desk.gates.rulings(task) if ruling.kind == "reject" and ruling.why]
    return f": {said[-1]}" if said else ""
