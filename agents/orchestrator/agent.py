"""VISION.md -> DailyPlan -> Report. The one place where the roles meet; it alone moves tasks and acts outward."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.orchestrator.daily_planner import cents
from agents.orchestrator.morning import read_vision
from agents.orchestrator.planning import plan_day, write_plan_file, write_tasks
from agents.orchestrator.progress_file import write_progress
from agents.orchestrator.reporting import Reporting
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.work import Work
from shared.domain.errors import TeamError


class Orchestrator:
    """Runs a day's phases in order. A phase that fails is told and does not keep the others from their work."""

    def __init__(self, desk: Desk, team: Team) -> None:
        self._desk = desk
        self._team = team
        self._work = Work(desk, team, self._stepped)
        self._reporting = Reporting(desk, lambda: self._work.aside)
        self._day = desk.day()
        self.problems: list[str] = []
        self._warned = set(desk.ledger.warnings(desk.day()))  # told before

    def recover(self) -> None:
        """Once, at start: what a kill left behind is reconciled before anything new."""
        self._work.recover()
        write_tasks(self._desk, self._desk.day())

    def run_day(self, until: str = "") -> None:
        """All phases of today, or those up to `until`. May be repeated: what is done is not done again.

        They belong to the day on which they are begun, also when midnight comes in between.
        """
        self._day = day = self._desk.day()
        self._tell_owner(self._reporting.morning, day)
        for name, phase in self._phases().items():
            self._run(name, phase, day)
            if told := self._told_after(name):
                self._tell_owner(told, day)
            if name == until:
                break
        self.problems += self._desk.messages.problems
        self._desk.messages.problems.clear()

    def _phases(self) -> Mapping[str, Callable[[str], None]]:
        return {
            "morning": lambda day: read_vision(self._desk, self._team, day),
            "planning": lambda day: plan_day(self._desk, self._team, day),
            "work": self._work_phase,
            "wrap_up": self._wrap_up,
        }

    def _told_after(self, phase: str) -> Callable[[str], None] | None:
        return {"planning": self._reporting.planned, "wrap_up": self._reporting.evening}.get(phase)

    def _run(self, name: str, phase: Callable[[str], None], day: str) -> None:
        """A phase that fails is told; so is what the owner has to mend after one that came to its end."""
        desk, before = self._desk, len(self.problems)
        desk.plans.phase_begins(day, name, desk.clock.now())
        try:
            phase(day)
        except TeamError as error:
            problem = desk.delivery.clean(str(error))
            desk.plans.phase_failed(day, name, "; ".join((*self.problems[before:], problem)))
            self.problems.append(f"{name}: {problem}")
            desk.tell(f"{name}: {problem}")
            self._tell_owner(self._reporting.phase_failed, day, name, problem)
            return
        finally:
            self._warn(day)
        desk.plans.phase_ended(day, name, desk.clock.now(), "; ".join(self.problems[before:]))

    def _tell_owner(self, tell: Callable[..., None], *words: object) -> None:
        """What goes wrong with telling keeps nobody from working."""
        try:
            tell(*words)
        except TeamError as problem:
            self.problems.append(f"reports: {problem}")
            self._desk.tell(f"reports: {problem}")

    def _stepped(self) -> None:
        """After each move of the work phase."""
        if self._work.broke:
            self._tell_owner(self._reporting.cap_reached, self._day, self._work.broke)
        self._tell_owner(self._reporting.step, self._day)

    def _warn(self, day: str) -> None:
        """Once per day, and per month: most of a cap is used."""
        for warning in self._desk.ledger.warnings(self._desk.day()):
            if warning not in self._warned:
                self._warned.add(warning)
                used, cap = cents(warning.used), cents(warning.cap)
                self._desk.tell(f"the cap of this {warning.scope} is nearly used: ${used} of ${cap}")
            self._tell_owner(self._reporting.cap_nearly_used, day, warning)

    def _work_phase(self, _: str) -> None:
        self._tell_owner(self._reporting.work_begins)
        try:
            why = self._work.until_quiet()
        finally:
            self.problems += map(self._desk.delivery.clean, self._work.problems)
        self._desk.tell(f"resting: {why}")

    def _wrap_up(self, day: str) -> None:
        """PROGRESS.md, and DAILY_PLAN.md with where its tasks stand now."""
        write_progress(self._desk, day)
        if accepted := self._desk.plans.accepted():
            write_plan_file(self._desk, accepted, day)
