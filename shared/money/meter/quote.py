"""The money of one call: what is reserved for it, what it cost, and whether its count is believed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money.meter.request import Asked
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import Reservation
from sisimpur.shared.money.token_bounds import CallSize, doubt, estimate, overlong
from sisimpur.shared.money.token_budget import Ask, Grant, TokenUsage, cost

COUNT_MARGIN = 20  # a vendor's own count is an estimate: a twentieth more, and some frames
COUNT_FRAMES = 100


@dataclass(frozen=True)
class Quote:
    """Prices of a checked call on the day of `at`. Misconfigured if its model has none."""

    pricing: Pricing
    asked: Asked
    at: datetime

    @property
    def is_free(self) -> bool:
        """Nothing is to be won by a wrong count of it."""
        return not self.strict.worst

    @property
    def strict(self) -> Ask:
        """Reserve what no tokenizer exceeds."""
        return self._ask(self.asked.prompt.strict, marked=True)

    @property
    def fitting(self) -> Ask:
        """Reserve what known tokenizers do not exceed."""
        return self._ask(self.asked.prompt.most, self.asked.marked)

    def counted(self, tokens: int) -> Ask:
        """Reserve by the vendor's own count before the call, if that can be true."""
        if tokens < self.asked.prompt.least:
            return self.strict
        most = tokens + tokens // COUNT_MARGIN + COUNT_FRAMES
        return self._ask(min(most, self.asked.prompt.strict), marked=True)

    def _ask(self, tokens: int, marked: bool) -> Ask:
        asked = self.asked
        return Ask(
            model=asked.model,
            rates=self.pricing.rates(asked.model, tokens, self.at),
            price_version=self.pricing.version(asked.model),
            tokens_in=tokens,
            max_tokens=asked.max_tokens,
            hour_cache=asked.hour_cache,
            may_clamp=not asked.has_schema,
            marked=marked,
        )

    # --- afterwards

    def limit(self, grant: Grant) -> int:
        """Nano-dollars that no tokenizer makes the call cost more than: beyond that, our prices are wrong."""
        return replace(self.strict, max_tokens=grant.max_tokens).worst

    def cost(self, usage: TokenUsage, answered_by: str) -> int:
        """Nano-dollars of a call. If another model than the asked one answered and is dearer, its price counts."""
        amount = self._at_prices_of(self.asked.model, usage)
        try:
            return max(amount, self._at_prices_of(answered_by, usage))
        except Misconfigured:
            return amount

    def bounds(self, reservation: Reservation, usage: TokenUsage) -> tuple[int, int | None]:
        """(at most, estimate) of a call that was cut: what is left open once its prompt is counted is the answer."""
        if usage.prompt < max(self.asked.prompt.least, 1):
            return reservation.grant.reserved, None
        most = reservation.grant.max_tokens
        at_most, told = (replace(usage, output=tokens) for tokens in (most, min(usage.output, most)))
        return self._at_prices_of(self.asked.model, at_most), self._at_prices_of(self.asked.model, told)

    def overlong(self, grant: Grant, text: str) -> bool:
        """Tell whether more came of the answer than was reserved; what costs nothing may be as long as it likes."""
        return not self.is_free and overlong(CallSize(self.asked.prompt, grant.max_tokens, estimate(text)))

    def doubt(self, usage: TokenUsage, grant: Grant, text: str, complete: bool) -> str:
        """Say why the count of a call cannot be true, in one line; empty: it can. `text`: what came of the answer."""
        if self.is_free:
            return ""
        size = CallSize(self.asked.prompt, grant.max_tokens, estimate(text))
        if overlong(size):
            return f"an answer of at most {grant.max_tokens} tokens goes on after {len(text)} characters"
        return doubt(usage, size if complete else replace(size, received=0, max_tokens=usage.output))

    def _at_prices_of(self, model: str, usage: TokenUsage) -> int:
        """What was not to be kept costs as plain input: a discount that nobody asked for is not believed."""
        if not self.asked.marked:
            usage = replace(usage, input=usage.input + usage.read, read=0)
        return cost(self.pricing.rates(model, usage.prompt, self.at), usage)
