"""(Run, TaskSpec) -> Route. Asks the books which model a run pays for, and whether its prompt is worth keeping."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sisimpur.shared.model.work import Correction, Difficulty, ModelChoice, Run, TaskSpec
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.routing import Route, choose, number_of
from sisimpur.shared.money.savings import ENOUGH, LedgerSavings, pays
from sisimpur.shared.system.clock import Clock

TYPICAL_PROMPT = 10_000  # tokens: the price band


@dataclass(frozen=True)
class Routes:
    """`easy`: the cheap model for first tries at easy tasks; empty: all are `model`'s."""

    books: LedgerSavings
    pricing: Pricing
    clock: Clock
    model: ModelChoice
    easy: str

    def __call__(self, run: Run, task: TaskSpec, correction: Correction | None) -> Route:
        tries = self.books.tries(run.task, run.attempt) + (correction is not None)
        route = self._routed(task, tries, run.day)
        is_read_again = not (correction and correction.tests)  # QA's turn has other files, and is asked once
        return replace(route, marks=is_read_again and self._marks(run.agent, route.model.model))

    def _routed(self, task: TaskSpec, tries: int, day: str) -> Route:
        """A model whose newest call was refused rests for the day: the other one may be there.

        A first try at an easy task is measured also where there is no choice: whoever has one later knows more.
        """
        dear = self.model.model
        if task.difficulty is not Difficulty.EASY or tries:
            return Route(self.model)
        record = self.books.record(self.easy, dear) if self.easy else ()
        if (
            self.easy
            and not self.books.refused(self.easy, day)
            and choose(task.difficulty, tries, record, number_of(task.id)) == "cheap"
        ):
            return Route(replace(self.model, model=self.easy), dear)
        return Route(self.model, dear)

    def _marks(self, agent: str, model: str) -> bool:
        """A run that is right at once is asked once; enough of them must ask again, or be corrected, soon."""
        calls, again = self.books.begun_again(agent, model)
        rates = self.pricing.rates(model, TYPICAL_PROMPT, self.clock.now())
        return calls >= ENOUGH and pays(rates, calls, again)
