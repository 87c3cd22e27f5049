"""VISION.md -> DailyPlan -> Report. The one place where the roles meet; it alone moves tasks and acts outward."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.orchestrator import gate_text, progress_tracker
from agents.orchestrator.daily_planner import cents
from agents.orchestrator.look import look
from agents.orchestrator.morning import read_vision
from agents.orchestrator.planning import plan_day, write_plan_file, write_tasks
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.work import Work
from shared.domain.board import Card
from shared.domain.errors import TeamError
from shared.domain.lifecycle import State
from shared.edge.forge.forge import task_of
from shared.edge.paths import write_text


class Orchestrator:
    """Runs a day's phases in order. A phase that fails is told and does not keep the others from their work."""

    def __init__(self, desk: Desk, team: Team) -> None:
        self._desk = desk
        self._team = team
        self._work = Work(desk, team)
        self.problems: list[str] = []
        self._warned = set(desk.ledger.warnings(desk.day()))  # told before

    def recover(self) -> None:
        """Once, at start: what a kill left behind is reconciled before anything new."""
        self._work.recover()
        write_tasks(self._desk, self._desk.day())

    def run_day(self, until: str = "") -> None:
        """All phases of today, or those up to `until`. May be repeated: what is done is not done again."""
        for name, phase in self._phases().items():
            self._run(name, phase)
            if name == until:
                break

    def _phases(self) -> Mapping[str, Callable[[str], None]]:
        return {
            "morning": lambda day: read_vision(self._desk, self._team, day),
            "planning": lambda day: plan_day(self._desk, self._team, day),
            "work": self._work_phase,
            "wrap_up": self._wrap_up,
        }

    def _run(self, name: str, phase: Callable[[str], None]) -> None:
        """A phase belongs to the day on which it begins."""
        desk, day = self._desk, self._desk.day()
        desk.plans.phase_begins(day, name, desk.clock.now())
        try:
            phase(day)
        except TeamError as problem:
            self.problems.append(f"{name}: {problem}")
            desk.tell(f"{name}: {problem}")
            return
        finally:
            self._warn()
        desk.plans.phase_ended(day, name, desk.clock.now())

    def _warn(self) -> None:
        """Once per day, and per month: most of a cap is used."""
        for warning in self._desk.ledger.warnings(self._desk.day()):
            if warning not in self._warned:
                self._warned.add(warning)
                used, cap = cents(warning.used), cents(warning.cap)
                self._desk.tell(f"the cap of this {warning.scope} is nearly used: ${used} of ${cap}")

    def _work_phase(self, _: str) -> None:
        try:
            why = self._work.until_quiet()
        finally:
            self.problems += self._work.problems
        self._desk.tell(f"resting: {why}")

    def _wrap_up(self, day: str) -> None:
        """PROGRESS.md, and DAILY_PLAN.md with where its tasks stand now."""
        desk, accepted = self._desk, self._desk.plans.accepted()
        sight = look(desk.store, desk.journal, accepted.vision if accepted else None, desk.rules.limits)
        last = {id_: history[-1].note for id_ in sight.known if (history := desk.journal.history(id_))}
        last |= {card.id: waiting for card in sight.board.cards if (waiting := self._waiting(card))}
        forge = desk.delivery.forge
        pulls = {task_of(pull, forge.whoami()): pull.url for pull in forge.list_pulls()}
        spent = desk.ledger.totals(day, desk.rules.day_cap)
        text = progress_tracker.render(day, sight.board, last, pulls, spent, sight.unreadable)
        write_text(desk.home.progress, desk.delivery.clean(text))
        if accepted:
            write_plan_file(desk, accepted, day)

    def _waiting(self, card: Card) -> str:
        """What the owner is asked, and how he answers."""
        parked = self._desk.gates.parked(card.id) if card.state is State.IN_REVIEW else None
        return f"**waits for you**: {'; '.join(parked.reasons)} ({gate_text.answers(card.id)})" if parked else ""
