"""The work phase: look, decide, act, record, until there is nothing left to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import assert_never

from agents.orchestrator.look import Sight, look
from agents.orchestrator.next_move import (
    Code,
    Deliver,
    Drop,
    GiveUp,
    Heed,
    Lose,
    Move,
    Rest,
    Welcome,
    next_move,
)
from agents.orchestrator.team import Codes, Desk, Team
from shared.domain.board import Card
from shared.domain.errors import OutOfBudget, Refused, Stumble, TeamError
from shared.domain.lifecycle import Event, State
from shared.domain.naming import branch_name
from shared.domain.protected import needs_owner
from shared.domain.work import Branch, Coded, NotCoded, TaskSpec
from shared.edge.journal import Outcome
from shared.edge.paths import remove_folder
from shared.edge.repo.mirror import BranchMoved

PATIENCE = timedelta(minutes=10)  # the longest rest that a foreground day waits for


class Work:
    def __init__(self, desk: Desk, team: Team) -> None:
        self._desk = desk
        self._team = team
        self._coder: Codes | None = None
        self._broke: tuple[str, str] = ("", "")  # the day on which a cap stopped the spending, and its words
        self._aside: dict[str, str] = {}  # tasks that nobody touches until the next start, and why

    def until_quiet(self) -> str:
        """Every move there is -> why it rests now."""
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
        desk = self._desk
        for planned in desk.journal.unfinished_moves():
            found = desk.store.find(planned.task)
            if planned.target in found or desk.store.move(planned.task, planned.source, planned.target):
                desk.journal.moved(planned)
            else:
                desk.journal.overtaken(planned, desk.clock.now())
        for place in (desk.home.work, desk.home.temporary):
            for left_over in place.iterdir():
                remove_folder(left_over)

    def _look(self) -> Sight:
        desk = self._desk
        accepted = desk.plans.accepted()
        vision = accepted.vision if accepted else None
        day, words = self._broke
        no_money = desk.ledger.paused() or (words if day == desk.day() else "")
        return look(desk.store, desk.journal, vision, desk.rules.limits, desk.mirror.attempt, no_money, self._aside)

    # -- moves ------------------------------------------------------------------------------------------------

    def _act(self, move: Move, sight: Sight) -> None:
        match move:
            case Welcome(task):
                self._welcome(task, sight)
            case Heed(task, event):
                self._heed(task, event, sight)
            case Deliver(task):
                self._deliver(task, sight)
            case Lose(task):
                self._end(task, Event.STUMBLED, "lost", "cut off before it led to a commit")
            case Drop(task, why):
                self._desk.tell(f"{task}: out of the queue, {why}")
                self._move(task, State.BACKLOG, Event.GOAL_REMOVED, why)
            case GiveUp(task):
                self._give_up(task)
            case Code(task):
                self._code(task, sight)
            case Rest():
                raise AssertionError("resting is no act")
            case _:
                assert_never(move)

    def _welcome(self, task: str, sight: Sight) -> None:
        card = sight.board.card(task)
        assert card and card.spec
        if self._desk.store.waited_for(card.state, task):
            return  # it was still being written: look again
        self._desk.journal.born(card.spec, card.state, "dropped by the owner", self._desk.clock.now())
        self._desk.tell(f"{task}: a new task of yours")

    def _heed(self, task: str, event: Event, sight: Sight) -> None:
        """The file lies there already; only history has to learn it."""
        now = self._desk.clock.now()
        seen_in = sight.known[task].seen_in
        self._desk.journal.moved(self._desk.journal.plan_move(task, seen_in, event, "", now, "void"))
        self._desk.tell(f"{task}: {event}")

    def _give_up(self, task: str) -> None:
        notes = [f"{a.number}: {a.note}" for a in self._desk.journal.attempts(task) if a.outcome in ("failed", "lost")]
        if self._move(task, State.BACKLOG, Event.EXHAUSTED, "; ".join(notes[-3:])):
            self._desk.tell(f"{task}: given up after {len(notes)} attempts; it lies in failed/ and needs you")

    def _deliver(self, task: str, sight: Sight) -> None:
        desk, card = self._desk, sight.board.card(task)
        assert card and card.spec and card.open_attempt
        goal = self._goal_title(card.spec)
        cost = desk.ledger.spent_by(task).used
        try:
            branch = self._branch(card, sight.known[task].title)
            pull = desk.delivery.deliver(
                card.spec, card.open_attempt, branch, desk.rules.branch, goal, cost, desk.clock.now()
            )
        except (Refused, BranchMoved) as problem:
            desk.tell(f"{task}: {problem}")
            self._end(task, Event.EXHAUSTED, "failed", str(problem))
        except TeamError as problem:  # the commit stands: it is not paid for again
            desk.tell(f"{task}: not delivered, the next start tries again: {problem}")
            self._aside[task] = str(problem)
        else:
            desk.tell(f"{task}: pull request #{pull.number} {pull.url}")
            self._end(task, Event.SUBMITTED, "ok", f"pull request #{pull.number}")

    def _branch(self, card: Card, title: str) -> Branch:
        """What stands at the commit, asked of the mirror: also after a kill nothing has to be remembered.

        `title` is the one at birth: a task keeps its branch when the owner rewords it.
        """
        base = self._desk.mirror.parent(card.commit)
        changes = self._desk.mirror.changed(base, card.commit)
        protected = needs_owner(changes, self._desk.rules.protected)
        paths = tuple(change.path for change in changes)
        return Branch(branch_name(card.id, title), base, card.commit, paths, protected)

    def _goal_title(self, task: TaskSpec) -> str:
        accepted = self._desk.plans.accepted()
        goals = accepted.vision.goals if accepted else ()
        return next((goal.title for goal in goals if goal.id == task.goal_id), "")

    # -- coding -----------------------------------------------------------------------------------------------

    def _code(self, task: str, sight: Sight) -> None:
        desk, card = self._desk, sight.board.card(task)
        assert card and card.spec
        coder, base = self._engine(), self._team.sync()  # what may refuse, refuses before the task is claimed
        if not self._move(task, State.BACKLOG, Event.STARTED, ""):
            return
        number = desk.journal.attempts(task)[-1].number
        desk.tell(f"{task}: coding ({card.spec.title}), attempt {number}")
        folder = desk.home.work / f"{task}.a{number}"
        try:
            with desk.journal.running("coder", desk.day(), desk.clock, task, number) as run:
                answer = coder.code(run, self._guarded(card.spec), base, folder)
        except OutOfBudget as problem:
            self._broke = (desk.day(), str(problem))
            desk.tell(f"{task}: {problem}")
            self._end(task, Event.STUMBLED, "void", str(problem))
        except Stumble as problem:
            desk.tell(f"{task}: {problem}")
            self._end(task, Event.STUMBLED, "lost", str(problem))
        except TeamError as problem:
            self._end(task, Event.STUMBLED, "void", str(problem))
            raise
        else:
            self._note(task, answer)
        finally:
            remove_folder(folder)

    def _guarded(self, task: TaskSpec) -> TaskSpec:
        """With the guards that hold now: also for a task that the owner dropped, or that is older than a "don't"."""
        accepted = self._desk.plans.accepted()
        now = [pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns]
        return replace(task, guards=tuple(dict.fromkeys((*task.guards, *now))))

    def _engine(self) -> Codes:
        """Made once: to find a sandbox and to attack it takes its time."""
        if self._coder is None:
            self._coder = self._team.coder()
        return self._coder

    def _note(self, task: str, answer: Coded | NotCoded) -> None:
        """A commit is its own note: the next look finds it and delivers it."""
        match answer:
            case Coded():
                self._desk.tell(f"{task}: committed {answer.branch.commit[:8]} ({', '.join(answer.branch.changed)})")
            case NotCoded(reason, retry):
                self._desk.tell(f"{task}: {reason}")
                event = Event.STUMBLED if retry else Event.EXHAUSTED
                self._end(task, event, "failed", reason)
            case _:
                assert_never(answer)

    # -- recording --------------------------------------------------------------------------------------------

    def _end(self, task: str, event: Event, outcome: Outcome, note: str) -> None:
        """The attempt's end and the move are booked together, then the file is moved."""
        self._move(task, State.IN_PROGRESS, event, note, outcome)

    def _move(self, task: str, source: State, event: Event, note: str, outcome: Outcome | None = None) -> bool:
        """False if the owner was faster: then nothing was begun."""
        desk = self._desk
        planned = desk.journal.plan_move(task, source, event, note, desk.clock.now(), outcome)
        if desk.store.move(task, planned.source, planned.target):
            desk.journal.moved(planned)
            return True
        desk.journal.overtaken(planned, desk.clock.now())
        self._aside[task] = "its file was moved by somebody else meanwhile"
        desk.tell(f"{task}: {self._aside[task]}; the next start looks again")
        return False
