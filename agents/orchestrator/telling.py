"""What the owner is told while the team works. What goes wrong with telling keeps nobody from working."""

from __future__ import annotations

from collections.abc import Callable

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.reports.reporting import Reporting
from sisimpur.shared.machine.pressure import Part, Tight
from sisimpur.shared.model.deployment import Deploy
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.store.plan_book import PlanRepository


class Telling:
    """`day`: the one that is worked on. `problems`: what the owner has to mend. `clean`: see Outgoing."""

    def __init__(
        self,
        session: Session,
        reporting: Reporting,
        plans: PlanRepository,
        ledger: LedgerReader,
        breaker: CircuitBreaker,
        clean: Callable[[str], str],
    ) -> None:
        self.session = session
        self.reporting = reporting
        self.plans = plans
        self.clean = clean
        self.day = session.day()
        self.problems: list[str] = []
        self._ledger = ledger
        self._breaker = breaker
        self._warned = set(ledger.warnings(self.day))  # told before
        self._paused = set(ledger.paused_models())
        self._tight: set[tuple[str, Part]] = set()  # by day
        breaker.tell = self._outage

    def safely(self, tell: Callable[..., None], *words: object) -> None:
        try:
            tell(*words)
        except TeamError as problem:
            self.problems.append(f"reports: {problem}")
            self.session.tell(f"reports: {problem}")

    def what_waited(self) -> None:
        """What a kill, or a service that was not there, has kept from the owner."""
        self.safely(self.reporting.tell_what_waited)

    def stepped(self) -> None:
        """After each move of the work phase."""
        if self._breaker.broke:
            self.safely(self.reporting.cap_reached, self.day, self._breaker.broke)
        self._tell_paused_models(self.day)
        self.safely(self.reporting.step, self.day)

    def deployed(self, deploy: Deploy, task: str, running: str) -> None:
        self.safely(self.reporting.deployed, deploy, task, running)

    def phase_failed(self, day: str, name: str, words: str, before: int) -> None:
        """`before`: how many problems there were when the phase began."""
        problem = self.clean(words)
        self.session.tell(f"{name}: {problem}")
        self.safely(self.plans.phase_failed, day, name, "; ".join((*self.problems[before:], problem)))
        self.problems.append(f"{name}: {problem}")
        self.safely(self.reporting.phase_failed, day, name, problem)

    def trouble(self, words: str) -> None:
        """What is wrong with the work, as one message a day each."""
        day, words = self.session.day(), self.clean(words)
        self.session.tell(words)
        self.safely(self.plans.phase_troubled, day, "work", words)
        self.safely(self.reporting.phase_failed, day, "work", words)

    def kept(self, bug: Exception) -> str:
        """A bug's trace is kept, for whoever mends it -> what the owner is told."""
        return f"a bug of ours ({type(bug).__name__}): please report what lies in {self.session.keep_bug(bug)}"

    def warn(self, day: str) -> None:
        """Once per day, and per month: most of a cap is used."""
        for warning in self._ledger.warnings(self.session.day()):
            if warning not in self._warned:
                self._warned.add(warning)
                used, cap = cents(warning.used), cents(warning.cap)
                self.session.tell(f"the cap of this {warning.scope} is nearly used: ${used} of ${cap}")
            self.safely(self.reporting.cap_nearly_used, day, warning)
        self._tell_paused_models(day)

    def tight(self, found: Tight) -> None:
        """Once a day for each part of the machine."""
        day = self.session.day()
        if (day, found.part) not in self._tight:
            self._tight.add((day, found.part))
            self.session.tell(f"{found.words} since {found.since:%H:%M}")
            self.safely(self.reporting.tight, day, found)

    def _tell_paused_models(self, day: str) -> None:
        """Each pause once: work may go on without that model, so that nothing else would tell of it."""
        for reason in self._ledger.paused_models():
            if reason not in self._paused:
                self._paused.add(reason)
                self.session.tell(f"not asked any more: {reason}")
            self.safely(self.reporting.model_paused, day, reason)

    def _outage(self, service: Service, words: str) -> None:
        away, back = service.verbs
        self.session.tell(f"{service} {away}: {words}" if words else f"{service} {back}")
        self.safely(self.reporting.outage, self.day, service, away if words else back, words)
