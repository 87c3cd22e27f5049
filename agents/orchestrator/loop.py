"""The work phase: look, decide, act, record, until there is nothing left to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sisimpur.agents.orchestrator.act import Acts
from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.review_facts import OwnerNotes, ReviewFacts
from sisimpur.agents.orchestrator.board.snapshot import BoardFacts, Snapshot, load_snapshot
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping, Transitions
from sisimpur.agents.orchestrator.decide import Move, Rest, StackRun, asks_owner, next_move, takes_long
from sisimpur.agents.orchestrator.goals.looking import GoalLooks
from sisimpur.agents.orchestrator.inbox.channel_inbox import ChannelInbox
from sisimpur.agents.orchestrator.inbox.inbox import Inbox
from sisimpur.agents.orchestrator.planning.integrating import Integrating
from sisimpur.agents.orchestrator.workers import WorkerPool
from sisimpur.shared.forge.forge import RateLimited
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Replaced, Stopping, TeamError
from sisimpur.shared.model.lifecycle import State, TaskLimits
from sisimpur.shared.model.work import Policy, Vision
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.lock import holder
from sisimpur.shared.system.paths import IN_USE, Home, remove_folder, remove_half_written


@dataclass(frozen=True)
class BoardRules:
    """Of the owner's configuration. `wanted`: the vision, and what the team proposed besides."""

    limits: TaskLimits
    policy: Policy
    open_pulls: int
    wanted: Callable[[], Vision | None]
    guards: Callable[[], tuple[str, ...]]  # patterns of what the owner says now not to touch
    unseen: Callable[[], tuple[str, ...]]  # what a model alone made of his notes today, for the gates
    unapproved: Callable[[Iterable[TaskRecord]], Mapping[str, str]]  # as in PlanApprovals


class Look:
    """Everything that a decision is made on. `waits`: tasks that wait for something elsewhere, and for what."""

    def __init__(
        self,
        rules: BoardRules,
        facts: ReviewFacts,
        transitions: Transitions,
        breaker: CircuitBreaker,
        pool: WorkerPool,
        waits: Callable[[], Mapping[str, str]],
    ) -> None:
        self._rules = rules
        self._facts = facts
        self._transitions = transitions
        self.breaker = breaker
        self.pool = pool
        self._waits = waits

    def load(self, held: str, is_open: bool) -> Snapshot:
        """`held`: see Board. Not `is_open`: nothing long is begun."""
        rules, transitions = self._rules, self._transitions
        vision, notes = rules.wanted(), OwnerNotes(rules.guards(), rules.unseen())
        facts = BoardFacts(
            vision,
            rules.limits,
            rules.policy,
            rules.open_pulls,
            commit_at=self._facts.branches.mirror.attempt,
            at_the_gates=lambda known, spec: self._facts.submission(known, spec, vision, notes),
            used=self._facts.ledger.used_by,
            writing=self._facts.turns.of_qa,
            backed_off=transitions.backed_off,
            waits=self._waits(),
            unapproved=rules.unapproved,
            busy=self.pool.on_tasks,
            free_workers=self.pool.free if is_open else 0,
            held=held,
            no_model=self.breaker.no_model(),
            no_share=self.breaker.no_share(),
        )
        return load_snapshot(transitions.store, transitions.journal, facts)


@dataclass(frozen=True)
class Hearing:
    """What happened at the forge and to the branch since we looked last."""

    facts: ReviewFacts
    inbox: Inbox
    transitions: Transitions
    breaker: CircuitBreaker
    channel: ChannelInbox

    def hear(self) -> None:
        self.channel.hear()
        tasks = list(self.transitions.journal.open_tasks().values())
        begun = [known for known in tasks if known.last]
        if begun or any(known.branch for known in tasks):
            self.facts.branches.main.sync()
            pushed = self.facts.branches.hear(tasks)
            for task in [known.id for known in tasks if known.branch in pushed]:
                self.transitions.begins_anew(task)
            self.facts.pulls.hear(begun)
            self.inbox.hear(begun)
            self.breaker.answers(Service.FORGE)


@dataclass(frozen=True)
class Work:
    """Who acts holds the lock; what takes long is given to the pool. `moved` is called after each move.

    What is away is waited for by the daemon; else it backs one task off, and the next start begins anew.
    """

    look: Look
    acts: Acts
    integrating: Integrating
    books: Bookkeeping
    moved: Callable[[], None]
    goals: GoalLooks

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend, although the phase went on."""
        return self.acts.problems

    def awaits_owner(self) -> tuple[str, ...]:
        """The tasks that wait for his word."""
        board = self.look.load("", True).board
        return tuple(card.id for card in board.cards if asks_owner(card, board) or card.id in board.stuck)

    def waits_for_model(self) -> str:
        """The task that would come next if it answered; empty: none would."""
        board = self.look.load("", True).board
        move = next_move(replace(board, no_model=""), self.books.now())
        return "" if isinstance(move, Rest) else move.task

    def recover(self, home: Home) -> None:
        """What a kill left half done: moves are finished, dead folders go. Nothing outward is done here."""
        self.books.transitions.recover()
        for folder in (home.root, home.state, home.reports, home.research, home.memory):
            remove_half_written(folder)
        in_use = {lock.parent for lock in home.temporary.glob(f"*/{IN_USE}") if _is_held(lock)}
        for left_over in {*home.work.iterdir(), *home.temporary.iterdir()} - in_use:
            remove_folder(left_over)

    def round(self, held: str = "", is_open: bool = True) -> Rest:
        """Every move there is; what takes long only begins -> why it rests now. `held`, `is_open`: see Look."""
        self.goals.anew()
        while True:
            self.look.pool.raise_failure()
            if self.books.session.stopping():
                return Rest("it is being stopped")
            if outage := self.look.breaker.rests(Service.FORGE):
                return Rest(outage.words, outage.until)
            if is_open and not held and self.goals.begin(self.look.pool):
                continue  # it has taken a worker
            snapshot = self.look.load(held, is_open)
            move = next_move(snapshot.board, self.books.now())
            if isinstance(move, Rest):
                if self.integrating.file_due():
                    continue
                self._tell_lost(snapshot)
                return move
            if takes_long(move):
                others = move.tasks if isinstance(move, StackRun) else ()
                self.look.pool.give(move.task, partial(self._do, move, snapshot), others=others)
            else:
                self._do(move, snapshot)

    def _tell_lost(self, snapshot: Snapshot) -> None:
        for card in snapshot.board.cards:
            if card.state is card.seen_in is State.IN_REVIEW and card.submission is None and not card.backed_off:
                why = f"its commit is not here any more; type: python main.py retry {card.id}"
                self.books.transitions.back_off(card.id, why)

    # -- one move ---------------------------------------------------------------------------------------------

    def _do(self, move: Move, snapshot: Snapshot) -> None:
        if self.books.session.stopping():  # it was given to a worker that had to wait for the lock
            return
        self._try(move, snapshot)
        self.moved()

    def _try(self, move: Move, snapshot: Snapshot) -> None:
        """What goes wrong with one task is its own affair; what ends the program is everybody's."""
        task = "" if isinstance(move, Rest) else move.task
        try:
            self.acts.do(move, snapshot)
        except (Stopping, Replaced):
            raise
        except OutOfBudget as problem:
            is_share = problem.of == "upkeep"
            (self.look.breaker.share_spent if is_share else self.look.breaker.spent)(problem)
            self.books.tell(f"{task}: {problem}{'; it goes on tomorrow' if is_share else ''}")
        except ModelAway as problem:
            self._model_away(task, problem)
        except Misconfigured as problem:
            if not (self.books.session.is_daemon or problem.of == "task"):
                raise
            self._name_problem(str(problem))
            self.books.transitions.back_off(task, str(problem))
        except TeamError as problem:
            self._troubled(task, problem)
        except Exception as bug:
            if not self.books.session.is_daemon:
                raise
            self.books.session.keep_bug(bug)
            why = f"a bug of ours ({type(bug).__name__}): please report what lies in logs/"
            self.books.transitions.back_off(task, why)

    def _model_away(self, task: str, problem: ModelAway) -> None:
        self.look.breaker.away(Service.MODEL, problem)
        self.books.tell(f"{task}: {problem}")
        if not self.books.session.is_daemon:  # the daemon has told of the outage, and will tell of its end
            self._name_problem(str(problem))

    def _name_problem(self, words: str) -> None:
        if words not in self.problems:
            self.problems.append(words)

    def _troubled(self, task: str, problem: TeamError) -> None:
        """A forge that is away is nobody's fault; who will not be there for long leaves that task to the next start."""
        waited_for = self.books.session.is_daemon or isinstance(problem, RateLimited)
        if not (waited_for and self.look.breaker.took(problem)):
            self.books.transitions.back_off(task, f"{problem}; it goes on later, or with the next start")


def _is_held(lock: Path) -> bool:
    return lock.is_file() and not lock.is_symlink() and bool(holder(lock))
