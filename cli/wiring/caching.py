"""Whether the beginning of a prompt is worth keeping: by prices, and by what the books say of earlier runs."""

from __future__ import annotations

from contextlib import suppress

from shared.money.ledger_savings import LedgerSavings
from shared.money.pricing import Pricing, Unpriced
from shared.money.savings import ENOUGH, is_long_enough, pays
from shared.system.clock import Clock

TYPICAL_PROMPT = 10_000  # tokens: the price band


class Caching:
    def __init__(self, books: LedgerSavings, pricing: Pricing, clock: Clock) -> None:
        self._books = books
        self._pricing = pricing
        self._clock = clock

    def keeps(self, model: str, size: int) -> bool:
        """A beginning of so many bytes, that is used once more."""
        return is_long_enough(model, size) and self._pays(model, 1, 1)

    def goes_on(self, agent: str, model: str, nth: int) -> bool:
        """Whether enough of an agent's runs that came to an n-th call went on to another; until that is known: yes."""
        runs, more = self._books.gone_on(agent, nth)
        return runs < ENOUGH or self._pays(model, runs, more)

    def _pays(self, model: str, runs: int, more: int) -> bool:
        with suppress(Unpriced):  # the meter refuses it
            rates = self._pricing.rates(model, TYPICAL_PROMPT, self._clock.now())
            return pays(rates, runs + more, more)
        return False
