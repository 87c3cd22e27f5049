"""(Run, TaskSpec) -> Route. Asks the books which model a run pays for, and whether its prompt is worth keeping."""

from __future__ import annotations

from dataclasses import replace

from shared.model.work import Correction, Difficulty, ModelChoice, Run, TaskSpec
from shared.money.ledger_savings import LedgerSavings
from shared.money.pricing import Pricing
from shared.money.routing import Route, choose, number_of
from shared.money.savings import ENOUGH, pays
from shared.system.clock import Clock

TYPICAL_PROMPT = 10_000  # tokens: the price band


class Routes:
    """`easy`: the cheap model for first tries at easy tasks; empty: all are `model`'s."""

    def __init__(self, books: LedgerSavings, pricing: Pricing, clock: Clock, model: ModelChoice, easy: str) -> None:
        self._books = books
        self._pricing = pricing
        self._clock = clock
        self._model = model
        self._easy = easy

    def __call__(self, run: Run, task: TaskSpec, correction: Correction | None) -> Route:
        tries = self._books.tries(run.task, run.attempt) + (correction is not None)
        route = self._routed(task, tries, run.day)
        return replace(route, marks=self._marks(run.agent, route.model.model))

    def _routed(self, task: TaskSpec, tries: int, day: str) -> Route:
        """A model whose newest call was refused rests for the day: the other one may be there.

        A first try at an easy task is measured also where there is no choice: whoever has one later knows more.
        """
        dear = self._model.model
        if task.difficulty is not Difficulty.EASY or tries:
            return Route(self._model)
        record = self._books.record(self._easy, dear) if self._easy else ()
        if (
            self._easy
            and not self._books.refused(self._easy, day)
            and choose(task.difficulty, tries, record, number_of(task.id)) == "cheap"
        ):
            return Route(replace(self._model, model=self._easy), dear)
        return Route(self._model, dear)

    def _marks(self, agent: str, model: str) -> bool:
        """A run that is right at once is asked once; enough of them must ask again, or be corrected, soon."""
        calls, again = self._books.begun_again(agent, model)
        rates = self._pricing.rates(model, TYPICAL_PROMPT, self._clock.now())
        return calls >= ENOUGH and pays(rates, calls, again)
