"""VISION.md -> DailyPlan -> Report. The one place where the roles meet; it alone moves tasks and acts outward."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.orchestrator.board.breaker import CircuitBreaker, Service
from agents.orchestrator.decide import Rest
from agents.orchestrator.deploys.deploying import Deploying
from agents.orchestrator.foreground import Foreground
from agents.orchestrator.loop import Work
from agents.orchestrator.memory import learning
from agents.orchestrator.planning.integrating import file_due
from agents.orchestrator.planning.morning import read_vision
from agents.orchestrator.planning.planning import plan_day, write_plan_file, write_tasks
from agents.orchestrator.reports.progress_file import write_progress
from agents.orchestrator.reports.reporting import Reporting
from agents.orchestrator.research.researching import research_day
from agents.orchestrator.roadmap import roadmapping
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.upkeep.upkeeping import look_after, write_proposals
from agents.orchestrator.workers import WorkerPool
from shared.model.deployment import Deploy
from shared.model.errors import ModelAway, Replaced, Stopping, TeamError
from shared.money.token_budget import cents

DEPLOY = "a deploy/"  # its name among what the crew works on, where no task has such a one; one at a time


class Orchestrator:
    """Runs a day's phases in order. A phase that fails is told and does not keep the others from their work."""

    def __init__(self, desk: Desk, team: Team, lasts: bool = False) -> None:
        """`lasts`: we are there for months (see Work)."""
        self.desk = desk
        self._team = team
        self._lasts = lasts
        self.crew = WorkerPool(desk.chair, desk.rules.hands, desk.ledger.close)
        self.pauses = CircuitBreaker(desk, self._tell_outage)
        self._work = Work(desk, team, self.crew, self.pauses, self._stepped, lasts, self._rolled_back)
        self._deploying = self._deploys(team)
        places = team.deployment.rules.places if team.deployment else ()
        self._reporting = Reporting(desk, lambda: self._work.aside, places)
        self._day = desk.day()
        self.problems: list[str] = []
        self._warned = set(desk.ledger.warnings(desk.day()))  # told before

    def recover(self) -> None:
        """Once, at start: what a kill left behind is reconciled before anything new."""
        self._work.recover()
        write_tasks(self.desk, self.desk.day())
        write_proposals(self.desk)
        file_due(self.desk)

    # -- a day in the foreground ------------------------------------------------------------------------------

    def run_day(self, until: str = "") -> None:
        """All phases of today, or those up to `until`. May be repeated: what is done is not done again.

        They belong to the day on which they are begun, also when midnight comes in between.
        """
        self._day = day = self.desk.day()
        for name in ("morning", "research", "planning", "work", "wrap_up"):
            if self.desk.stopping():
                break
            self.phase(day, name)
            if name == until:
                break
        self.problems += self.desk.messages.problems
        self.desk.messages.problems.clear()

    def phase(self, day: str, name: str) -> bool:
        """One of them, with what is told after it; whether it came to its end."""
        self._day = day
        if name == "morning":
            self.problems.clear()
            self.tell_owner(self._reporting.morning, day)
        ended = self._run(name, self._phases()[name], day)
        if told := self._told_after(name):
            self.tell_owner(told, day)
        return ended

    def _phases(self) -> Mapping[str, Callable[[str], None]]:
        return {
            "morning": self._morning,
            "research": self._research,
            "planning": self._planning,
            "work": self._work_phase,
            "wrap_up": self._wrap_up,
        }

    def _told_after(self, phase: str) -> Callable[[str], None] | None:
        return {"planning": self._reporting.planned, "wrap_up": self._reporting.evening}.get(phase)

    def _run(self, name: str, phase: Callable[[str], None], day: str) -> bool:
        """A phase that fails is told; so is what the owner has to mend after one that came to its end."""
        desk, before = self.desk, len(self.problems)
        desk.plans.phase_begins(day, name, desk.clock.now())
        try:
            phase(day)
        except TeamError as error:
            if isinstance(error, Stopping) or desk.stopping():
                return False  # it was cut, and the next start resumes it
            if isinstance(error, ModelAway):
                self.pauses.away(Service.MODEL, error)
            self._failed(day, name, str(error), before)
            return False
        except Exception as bug:
            if not self._lasts:
                raise
            self._failed(day, name, self.kept(bug), before)
            return False
        finally:
            self.tell_owner(self._warn, day)
        desk.plans.phase_ended(day, name, desk.clock.now(), "; ".join(self.problems[before:]))
        return True

    def _failed(self, day: str, name: str, words: str, before: int) -> None:
        """`before`: how many problems there were when the phase began."""
        problem = self.desk.delivery.clean(words)
        self.desk.tell(f"{name}: {problem}")
        self.tell_owner(self.desk.plans.phase_failed, day, name, "; ".join((*self.problems[before:], problem)))
        self.problems.append(f"{name}: {problem}")
        self.tell_owner(self._reporting.phase_failed, day, name, problem)

    def _morning(self, day: str) -> None:
        read_vision(self.desk, self._team, day)
        self._roadmap(day)

    def _planning(self, day: str) -> None:
        self._roadmap(day)  # an edit that he takes back while we plan is one, too
        plan_day(self.desk, self._team, day)
        look_after(self.desk, self._team, day)
        self._roadmap(day)

    def _roadmap(self, day: str) -> None:
        """What keeps us from reading it is told once a day."""
        problem = roadmapping.write(self.desk, day)
        if problem and problem not in self.problems:
            self.problems.append(problem)

    def _research(self, day: str) -> None:
        self.problems += research_day(self.desk, self._team, day)

    def _work_phase(self, _: str) -> None:
        self.tell_what_waited()
        try:
            why = Foreground(self.desk, self._work, self.crew, self.pauses, self.hear, self.begin_deploy).until_quiet()
        finally:
            self.problems += map(self.desk.delivery.clean, self._work.problems)
        self.desk.tell(f"resting: {why}")

    def _wrap_up(self, day: str) -> None:
        """PROGRESS.md, DAILY_PLAN.md with where its tasks stand now, and what was learned."""
        learning.keep(self.desk, day)
        write_progress(self.desk, day)
        self._roadmap(day)
        if accepted := self.desk.plans.accepted():
            write_plan_file(self.desk, accepted, day)

    # -- a round of the daemon, on the chair ------------------------------------------------------------------

    def hear(self) -> None:
        """What happened at the forge and to the branch since we looked last."""
        self._work.hear()
        if self._deploying:
            self._deploying.hear()

    def round(self, held: str = "", is_open: bool = True) -> Rest:
        """Every move there is now; what takes long only begins, and only while it `is_open`. `held`: see Board."""
        self._day = self.desk.day()
        rest = self._work.round(held, is_open)
        self.begin_deploy()
        self.tell_owner(self._warn, self._day)
        self._tell_problems()
        return rest

    def _tell_problems(self) -> None:
        """What the owner has to mend although the others go on."""
        while self._work.problems:
            self.tell_trouble(self._work.problems.pop(0))

    def tell_trouble(self, words: str) -> None:
        """Of the work, as one message a day each."""
        day, words = self.desk.day(), self.desk.delivery.clean(words)
        self.desk.tell(words)
        self.tell_owner(self.desk.plans.phase_troubled, day, "work", words)
        self.tell_owner(self._reporting.phase_failed, day, "work", words)

    def kept(self, bug: Exception) -> str:
        """Its trace, for whoever mends it -> what the owner is told."""
        self.desk.keep_bug(bug)
        return f"a bug of ours ({type(bug).__name__}): please report what lies in {self.desk.home.logs}"

    # -- deploys ----------------------------------------------------------------------------------------------

    def deploy_now(self) -> None:
        """All that is to be deployed, for one caller who waits; what is in the way is told, or raised."""
        assert self._deploying
        with self.desk.chair:
            try:
                self._deploying.hear()
            except TeamError as problem:  # what is known of the branch is good enough for what the owner orders
                self.desk.tell(f"the forge was not asked: {problem}")
            self._deploying.go_on()
        if outage := self.pauses.rests(Service.DEPLOYS) or self.pauses.rests(Service.FORGE):
            self.problems.append(outage.words)

    def _deploys(self, team: Team) -> Deploying | None:
        if team.deployment is None:
            return None
        return Deploying(self.desk, team.deployment, self._work.mover, self.pauses, team.sync, self._deployed)

    def _rolled_back(self) -> Mapping[str, str]:
        return self._deploying.waits if self._deploying else {}

    def begin_deploy(self) -> None:
        """By who sits on the chair: whenever there is something to deploy, one hand does so beside the others."""
        if not self._deploying or DEPLOY in self.crew.busy:
            return
        try:
            is_due = self._deploying.is_due()
        except TeamError as problem:  # that nothing can be deployed is no reason for the others to stop
            self.pauses.away(Service.DEPLOYS, problem)
            return
        if is_due:
            self.crew.give(DEPLOY, self._deploy, beside=True)

    def _deploy(self) -> None:
        assert self._deploying
        try:
            self._deploying.go_on()
        except (Stopping, Replaced):
            raise
        except Exception as bug:
            if not self._lasts:
                raise
            self.pauses.away(Service.DEPLOYS, TeamError(self.kept(bug)))

    def _deployed(self, deploy: Deploy, task: str, running: str) -> None:
        self.tell_owner(self._reporting.deployed, deploy, task, running)

    # -- telling ----------------------------------------------------------------------------------------------

    def tell_owner(self, tell: Callable[..., None], *words: object) -> None:
        """What goes wrong with telling keeps nobody from working."""
        try:
            tell(*words)
        except TeamError as problem:
            self.problems.append(f"reports: {problem}")
            self.desk.tell(f"reports: {problem}")

    def tell_what_waited(self) -> None:
        """What a kill, or a service that was not there, has kept from the owner."""
        self.tell_owner(self._reporting.tell_what_waited)

    def _stepped(self) -> None:
        """After each move of the work phase."""
        if self.pauses.broke:
            self.tell_owner(self._reporting.cap_reached, self._day, self.pauses.broke)
        self.tell_owner(self._reporting.step, self._day)

    def _tell_outage(self, service: Service, words: str) -> None:
        away, back = service.verbs
        self.desk.tell(f"{service} {away}: {words}" if words else f"{service} {back}")
        self.tell_owner(self._reporting.outage, self._day, service, away if words else back, words)

    def _warn(self, day: str) -> None:
        """Once per day, and per month: most of a cap is used."""
        for warning in self.desk.ledger.warnings(self.desk.day()):
            if warning not in self._warned:
                self._warned.add(warning)
                used, cap = cents(warning.used), cents(warning.cap)
                self.desk.tell(f"the cap of this {warning.scope} is nearly used: ${used} of ${cap}")
            self.tell_owner(self._reporting.cap_nearly_used, day, warning)
