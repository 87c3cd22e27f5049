"""What merged goes live: look, decide, carry out, book, until nothing is left to do. One worker, beside the others.

What happens at a place needs neither the lock, nor the forge, nor a model: a rollback waits for nobody. The lock is
taken where tasks and the forge come in: to see what merged, and to settle what follows a deploy's end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.events import Events, RolledBack
from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.board.transitions import Transitions
from sisimpur.agents.orchestrator.deploys.deploy_book import DeployRepository
from sisimpur.agents.orchestrator.deploys.taking_back import NotTakenBack, TakingBack
from sisimpur.agents.orchestrator.memory.lesson_text import sick
from sisimpur.shared.model.deployment import (
    ByHand,
    Deploy,
    DeployFacts,
    DeployStage,
    NewDeploy,
    NothingToDeploy,
    Order,
    Place,
    Running,
    Settle,
    StepOutcome,
    following,
    healthy_at,
    in_vain,
    next_step,
    unwatched,
    waiting_for_revert,
)
from sisimpur.shared.model.errors import Replaced, Stopping, TeamError
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_store import TaskStore


class Deploys(Protocol):
    """The DevOps agent."""

    def carry_out(self, step: ByHand) -> StepOutcome: ...

    def running(self, place: Place) -> Running | None: ...

    def tidy(self, deploys: tuple[Deploy, ...]) -> None:
        """Throw away what nobody goes back to any more."""


@dataclass(frozen=True)
class DeployRules:
    """Of the owner's configuration. `as_whom`: who runs what was merged, in no box; empty: containers do.

    `refused`: why nothing may be deployed, and what to write.
    """

    places: tuple[Place, ...] = ()
    pause_after: int = 3
    as_whom: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Deployment:
    """All that deploying needs: who does it, and the owner's rules."""

    devops: Deploys
    rules: DeployRules


@dataclass(frozen=True)
class DeployBooks:
    """What deploys are decided on. `command`: what the owner types before a command's name."""

    book: DeployRepository
    runs: AgentRuns
    taking_back: TakingBack
    command: str


@dataclass(frozen=True)
class SickTasks:
    """A task whose change was sick goes back to the coder, with what was seen."""

    store: TaskStore
    journal: Journal
    transitions: Transitions
    events: Events

    def again(self, deploy: Deploy, task: str) -> bool:
        """Whatever the owner did with the task meanwhile stands: then False."""
        known = self.journal.task(task)
        if not known or known.seen_in is not State.COMPLETED or self.store.find(task) != [State.COMPLETED]:
            return False
        note = sick(deploy.place, deploy.why)[:2_000]
        self.events.happened(RolledBack(known, deploy.commit, note))
        return self.transitions.move(task, State.COMPLETED, Event.SICK, note, "sent back")


class Deploying:
    """`ended`: told of each deploy that came to its end, of its task, and of the commit that runs there now.

    It may be told twice, after a kill.
    """

    def __init__(
        self,
        deployment: Deployment,
        books: DeployBooks,
        sick_tasks: SickTasks,
        breaker: CircuitBreaker,
        ended: Callable[[Deploy, str, str], None],
    ) -> None:
        self._devops = deployment.devops
        self._rules = deployment.rules
        self._command = books.command
        self._book = books.book
        self._runs = books.runs
        self._session = books.runs.session
        self._taking_back = books.taking_back
        self._journal = books.taking_back.journal
        self._sick_tasks = sick_tasks
        self._breaker = breaker
        self._ended = ended
        self._has_heard = False
        self.waits: Mapping[str, str] = {}  # tasks that were rolled back, and what has to happen first, in words

    def is_due(self) -> bool:
        """Whether there is something to do that nobody waits for. Called by who holds the lock."""
        return self._due() is not None

    def _due(self) -> NewDeploy | ByHand | Settle | None:
        """Asked once for each step: the owner types meanwhile, in another process."""
        step = None if self._breaker.rests(Service.DEPLOYS) else next_step(self._look())
        waits = isinstance(step, Settle) and self._breaker.rests(Service.FORGE)
        return None if waits or isinstance(step, NothingToDeploy) else step

    def go_on(self) -> None:
        """Step after step, until there is nothing left to do, or we have to leave. Called by who holds the lock."""
        try:
            while (step := self._due()) and not self._session.yields():
                self._do(step)
        except (Stopping, Replaced):
            raise
        except TeamError as problem:
            if not self._breaker.took(problem):
                self._breaker.away(Service.DEPLOYS, problem)

    def hear(self) -> None:
        """What is new on the branch, and whether the owner has merged or closed what takes a sick commit back."""
        self._taking_back.main.sync()
        pull = self._taking_back.forge.get_pull
        waiting = [deploy for deploy in self._may_be_sick() if pull(deploy.reverts).state == "open"]
        self.waits = {
            self._task(d): f"{d.commit[:8]} was sick at {d.place}: merge #{d.reverts}, which takes it back, or close it"
            for d in waiting
        }
        self._has_heard = True

    def _may_be_sick(self) -> tuple[Deploy, ...]:
        return waiting_for_revert(self._book.deploys(), self._book.forgiven())

    # -- look -------------------------------------------------------------------------------------------------

    def _look(self) -> DeployFacts:
        deploys = tuple(deploy for deploy in self._book.deploys() if deploy.place in self._rules.places)
        paused = self._book.paused()
        held = f"paused: {paused.why}; type: {self._command} resume-deploys" if paused else ""
        return DeployFacts(
            places=self._rules.places,
            deploys=deploys,
            candidates=self._candidates(deploys),
            orders=self._orders(),
            held=held or self._waits_for_a_revert(),
            forgiven=self._book.forgiven(),
        )

    def _waits_for_a_revert(self) -> str:
        """While nobody knows whether a sick commit was taken back, nothing that may hold it is begun."""
        if not self._has_heard and self._may_be_sick():
            return "the forge has not said yet whether what was sick is taken back"
        return next(iter(self.waits.values()), "")

    def _candidates(self, deploys: tuple[Deploy, ...]) -> tuple[str, ...]:
        """Each merge of ours after what is healthy at the first place, and the branch's newest commit."""
        mirror = self._taking_back.mirror
        tip = mirror.head(self._taking_back.main.name)
        live = healthy_at(self._rules.places[0], deploys)
        if not tip or tip == live:
            return ()
        line = mirror.line(live, tip)
        ours = self._journal.merged_as(line)
        return tuple(sha for sha in line if sha in ours or sha == tip)

    def _orders(self) -> tuple[Order, ...]:
        return tuple(order for order in self._book.orders() if order.place in self._rules.places)

    # -- act --------------------------------------------------------------------------------------------------

    def _do(self, step: NewDeploy | ByHand | Settle) -> None:
        match step:
            case NewDeploy():
                self._plan(step)
                return
            case Settle(deploy):
                self._settle(deploy)
            case _:
                self._carry_out(step)
        self._breaker.answers(Service.DEPLOYS)

    def _plan(self, plan: NewDeploy) -> None:
        order = next((o.number for o in self._orders()), None) if plan.asked else None
        deploy = self._book.plan(plan, self._session.now(), order)
        self._session.tell(f"{deploy.place} {deploy.commit[:8]}: to be deployed")

    def _carry_out(self, step: ByHand) -> None:
        """Its end is booked before anybody else has to be waited for; the owner hears of it before the forge does."""
        now, clean = self._session.now, self._taking_back.clean
        about = {"task": self._task(step.deploy), "place": step.deploy.place, "commit": step.deploy.commit}
        with self._runs.unlocked("devops") as run:
            while True:
                happened = self._devops.carry_out(step)
                deploy = self._book.happened(step.deploy, happened.event, now(), clean(happened.why), happened.backup)
                event = "deploy.broke" if happened.why else "deploy"
                self._runs.log(run, event, **about, number=deploy.number, what=happened.event, why=happened.why)
                if (next_one := following(deploy)) is None:
                    break
                step = next_one
        ends = f": {deploy.why}" if deploy.why else ""
        self._session.tell(f"{deploy.place} {deploy.commit[:8]}: {deploy.stage}{ends}")
        self._tell(deploy)

    # -- settle -----------------------------------------------------------------------------------------------

    def _settle(self, deploy: Deploy) -> None:
        task = self._task(deploy)
        self._pause_if_needed(deploy, task)  # before the forge is asked: whoever resumes meanwhile resumes this
        if deploy.stage is DeployStage.RETURNED and task and not deploy.asked:
            deploy = self._take_back(deploy, task)
        self._tell(deploy)
        self._book.settled(deploy)
        with self._session.lock.released():
            self._devops.tidy(self._book.deploys())

    def _tell(self, deploy: Deploy) -> None:
        """Told again it is brought up to date: by then there is a pull request."""
        if deploy.is_over:
            with self._session.lock.released():
                running = self._devops.running(deploy.place)
            self._ended(deploy, self._task(deploy), running.commit if running and not running.ended else "")

    def _task(self, deploy: Deploy) -> str:
        """The task whose change the commit is; empty: it is the owner's own."""
        return self._journal.merged_as([deploy.commit]).get(deploy.commit, "")

    def _take_back(self, deploy: Deploy, task: str) -> Deploy:
        match self._taking_back.ensure(deploy, task):
            case NotTakenBack(why, is_done):
                if not is_done:
                    self._book.pause(why, self._session.now())
            case pull:
                self._book.reverted_by(deploy, pull.number)
                deploy = replace(deploy, reverts=pull.number)
                self._session.tell(
                    f"{deploy.place} {deploy.commit[:8]}: taken back by pull request #{pull.number} ({pull.state})"
                )
        self.hear()  # before the task may be begun: on what it waits is known then
        if self._sick_tasks.again(deploy, task):
            self._session.lock.wake()  # a worker may be free for it, while this one deploys what takes the commit back
        return deploy

    def _pause_if_needed(self, deploy: Deploy, task: str) -> None:
        """What nobody can mend but the owner, and what comes to nothing again and again; unless he forgave it."""
        if deploy.number <= self._book.forgiven():
            return
        deploys, why = self._book.deploys(), ""
        many = in_vain(deploy.place, deploys, self._book.forgiven(), self._journal.reverts())
        if deploy.stage is DeployStage.STUCK and not healthy_at(deploy.place, deploys):
            why = f"{deploy.place} is not healthy: {deploy.why}"
        elif commit := unwatched(deploy, deploys):
            why = f"{commit[:8]} runs at {deploy.place}, and nobody watched it to its end"
        elif deploy.broke and not task and not deploy.asked:
            why = f"{deploy.commit[:8]}, which is no change of ours, was sick at {deploy.place}"
        elif many >= self._rules.pause_after:
            why = f"{many} deploys in a row came to nothing at {deploy.place}"
        if why:
            self._book.pause(why, self._session.now())
