"""The work phase: look, decide, act, record, until there is nothing left to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from agents.orchestrator.act import Acts
from agents.orchestrator.board.breaker import CircuitBreaker, Service
from agents.orchestrator.board.review_facts import ReviewFacts
from agents.orchestrator.board.snapshot import Snapshot, load_snapshot
from agents.orchestrator.board.transitions import Transitions
from agents.orchestrator.decide import Move, Rest, next_move, takes_long
from agents.orchestrator.inbox.inbox import Inbox
from agents.orchestrator.integration.feature_branches import BranchNeedsOwner
from agents.orchestrator.planning.integrating import file_due
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.workers import WorkerPool
from shared.forge.forge import RateLimited
from shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Replaced, ShareReached, Stopping, TeamError
from shared.model.lifecycle import State
from shared.system.paths import remove_folder, remove_half_written


class Work:
    """Everything is done on the chair; what takes long is given to the crew.

    `lasts`: we are there for months, so what is away is waited for by everybody; else it sets one task aside, and the
    next start begins anew. `moved` is called after each move. `waits`: tasks that wait for something elsewhere.
    """

    def __init__(
        self,
        desk: Desk,
        team: Team,
        crew: WorkerPool,
        pauses: CircuitBreaker,
        moved: Callable[[], None],
        lasts: bool,
        waits: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._desk = desk
        self._team = team
        self._crew = crew
        self._pauses = pauses
        self._moved = moved
        self._lasts = lasts
        self._waits = waits
        self.mover = Transitions(desk)
        self._gate_sight = ReviewFacts(desk)
        self._inbox = Inbox(desk, self._gate_sight)
        self._acts = Acts(desk, team, self._gate_sight, self.mover)

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the phase went on."""
        return self._acts.problems

    @property
    def aside(self) -> Mapping[str, str]:
        """Tasks that nobody touches for a while, and why."""
        return self.mover.aside

    def recover(self) -> None:
        """What a kill left half done: moves are finished, dead folders go. Nothing outward is done here."""
        self.mover.recover()
        home = self._desk.home
        for folder in (home.root, home.state, home.reports, home.research, home.memory):
            remove_half_written(folder)
        for place in (home.work, home.temporary):
            for left_over in place.iterdir():
                remove_folder(left_over)

    def round(self, held: str = "", is_open: bool = True) -> Rest:
        """Every move there is; what takes long only begins -> why it rests now. `held`: see Board.

        Not `is_open`: nothing long is begun.
        """
        while True:
            self._crew.raise_failure()
            if self._desk.stopping():
                return Rest("it is being stopped")
            if outage := self._pauses.rests(Service.FORGE):
                return Rest(outage.words, outage.until)
            sight = self._look(held, self._crew.free if is_open else 0)
            move = next_move(sight.board, self._desk.clock.now())
            if isinstance(move, Rest):
                if file_due(self._desk):
                    continue
                self._tell_lost(sight)
                return move
            if takes_long(move):
                self._crew.give(move.task, partial(self._do, move, sight))
            else:
                self._do(move, sight)

    def hear(self) -> None:
        """What happened at the forge and to the branch since we looked last."""
        tasks = list(self._desk.journal.open_tasks().values())
        begun = [known for known in tasks if known.last]
        if begun or any(known.branch for known in tasks):
            self._team.sync()
            pushed = self._acts.branches.hear(tasks)
            for task in [known.id for known in tasks if known.branch in pushed]:
                self.mover.begins_anew(task)
            self._gate_sight.hear(begun)
            self._inbox.hear(begun)
            self._pauses.answers(Service.FORGE)

    def _tell_lost(self, sight: Snapshot) -> None:
        for card in sight.board.cards:
            if card.state is card.seen_in is State.IN_REVIEW and card.submission is None and not card.aside:
                self.mover.set_aside(card.id, f"its commit is not here any more; type: python main.py retry {card.id}")

    def _look(self, held: str, free_hands: int) -> Snapshot:
        desk = self._desk
        accepted = desk.plans.accepted()
        vision = desk.wanted()
        guards = [pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns]
        return load_snapshot(
            desk.store,
            desk.journal,
            vision,
            desk.rules.limits,
            commit_at=desk.mirror.attempt,
            no_model=self._pauses.no_model(),
            aside=self.mover.aside,
            at_the_gates=lambda known: self._gate_sight.submission(known, vision, guards),
            policy=desk.rules.policy,
            open_pulls=desk.rules.open_pulls,
            busy=self._crew.on_tasks,
            free_hands=free_hands,
            held=held,
            used=desk.ledger.used_by,
            waits=self._waits(),
            no_share=self._pauses.no_share(),
        )

    # -- one move ---------------------------------------------------------------------------------------------

    def _do(self, move: Move, sight: Snapshot) -> None:
        if self._desk.stopping():  # it was given to a hand that had to wait for the chair
            return
        self._try(move, sight)
        self._moved()

    def _try(self, move: Move, sight: Snapshot) -> None:
        """What goes wrong with one task is its own affair; what ends the program is everybody's."""
        task = "" if isinstance(move, Rest) else move.task
        try:
            self._acts.do(move, sight)
        except (Stopping, Replaced):
            raise
        except ShareReached as problem:
            self._pauses.share_spent(problem)
            self._desk.tell(f"{task}: {problem}; it goes on tomorrow")
        except OutOfBudget as problem:
            self._pauses.spent(problem)
            self._desk.tell(f"{task}: {problem}")
        except ModelAway as problem:
            self._model_away(task, problem)
        except Misconfigured as problem:
            if not self._lasts:
                raise
            self._name_problem(str(problem))
            self.mover.set_aside(task, str(problem))
        except BranchNeedsOwner as problem:
            self._name_problem(str(problem))
            self.mover.set_aside(task, str(problem))
        except TeamError as problem:
            self._troubled(task, problem)
        except Exception as bug:
            if not self._lasts:
                raise
            self._desk.keep_bug(bug)
            self.mover.set_aside(task, f"a bug of ours ({type(bug).__name__}): please report what lies in logs/")

    def _model_away(self, task: str, problem: ModelAway) -> None:
        self._pauses.away(Service.MODEL, problem)
        self._desk.tell(f"{task}: {problem}")
        if not self._lasts:  # who lasts has told of the outage, and will tell of its end
            self._name_problem(str(problem))

    def _name_problem(self, words: str) -> None:
        if words not in self.problems:
            self.problems.append(words)

    def _troubled(self, task: str, problem: TeamError) -> None:
        """A forge that is away is nobody's fault; who will not be there for long leaves that task to the next start."""
        waited_for = self._lasts or isinstance(problem, RateLimited)
        if not (waited_for and self._pauses.took(problem)):
            self.mover.set_aside(task, f"{problem}; it goes on later, or with the next start")
