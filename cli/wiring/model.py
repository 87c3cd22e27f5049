"""How models are asked: the meter between us and their API, the client, and when a prompt's beginning is kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.settings import LiveCaps
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.llm.llm_client import LlmClient, MeterAccess
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import ENOUGH, LedgerSavings, is_long_enough, pays
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.keeping import REPLY_AGE

if TYPE_CHECKING:
    from sisimpur.shared.money.meter import Meter, MeterTimeouts

Note = Callable[[str, dict[str, Any]], None]

MOST_TOLD = 50  # places of text that nobody sees, in one run of the program; the log has all
TYPICAL_PROMPT = 10_000  # tokens: the price band


def make_meter(records: Records, pricing: Pricing, key: str, log: Note, print_line: Callable[[str], None]) -> Meter:
    """Make the only way to the API: it alone has the key. `print_line` gets a line when the API is away, or back."""
    from sisimpur.shared.money.meter import Meter, MeterSetup, Upstream
    from sisimpur.shared.money.meter.parts import no_talk
    from sisimpur.shared.record.conversations import Conversations
    from sisimpur.shared.system.outgoing import Outgoing

    url = records.settings.secrets.base_url
    log = reporting_outages(log, url, print_line)
    clean = Outgoing(records.settings.secrets.to_hide | {"the model's key": key}).clean
    talk = Conversations(records.home.talk, records.db, clean, print_line).keep
    is_kept = records.settings.policy.talk.days > 0
    kept = talk if is_kept else no_talk
    setup = MeterSetup(records.home.meter_socket, Upstream(url, key), log=log, talk=kept, clean=clean)
    return Meter(records.ledger, pricing, LiveCaps(records.home, records.settings.policy.caps), records.clock, setup)


def make_client(records: Records, caching: Caching, patience: float) -> LlmClient:
    """Make what speaks to the meter. `patience`: seconds that it waits for a busy model."""
    replies, settings = Replies(records.db), records.settings
    replies.prune(records.clock.now() - REPLY_AGE)
    access = MeterAccess(
        records.home.meter_socket,
        settings.policy.budget.task,
        host_of(settings.secrets.base_url),
        patience,
        caching.keeps,
        caching.books.longest,
    )
    return LlmClient(records.ledger, replies, access, settings.agents.asking, records.clock)


def reporting_outages(
    log: Note, upstream: str, print_line: Callable[[str], None], timeouts: MeterTimeouts | None = None
) -> Note:
    """Return a log that also tells once when the model does not answer, and once when it does again.

    Text that nobody sees, and that was taken out of a request, is told once, too, shown.

    It runs in the meter's threads. `upstream` is the model's address; nothing of its answers is repeated.
    """
    from sisimpur.shared.money.meter import MeterTimeouts

    away, where, told = False, host_of(upstream), set[str]()
    timeouts = timeouts or MeterTimeouts()
    seconds = round(sum(min(timeouts.longest, timeouts.first * (1 << again)) for again in range(timeouts.tries - 1)))

    def note(event: str, fields: dict[str, Any]) -> None:
        nonlocal away
        log(event, fields)
        if event == "meter.failed" and fields.get("again") and not away:
            away = True
            status = fields.get("status")
            how = f"answers with an error of its own ({status})" if status else "does not answer"
            setting = "" if status else " (check the network, or ANTHROPIC_BASE_URL in config/.env)"
            print_line(f"the model {how} at {where}{setting}; trying again for up to {seconds} s")
        elif event == "meter.unseen":
            for shown in (one for one in fields["shown"] if one not in told and len(told) < MOST_TOLD):
                told.add(shown)
                who = " ".join(str(fields[name]) for name in ("agent", "task") if name in fields)
                print_line(f"{who}: what nobody sees was taken out of a request; it stood here: {shown}")
        elif event == "meter.settled" and away:
            away = False
            print_line(f"the model answers again at {where}")

    return note


def host_of(address: str) -> str:
    """Return scheme, host and port, without user and path."""
    found = urlsplit(address)
    port = f":{found.port}" if found.port else ""
    return f"{found.scheme}://{found.hostname}{port}"


# --- prompt caching ------------------------------------------------------------------------------------------


class Caching:
    def __init__(self, books: LedgerSavings, pricing: Pricing, clock: Clock) -> None:
        self.books = books
        self._pricing = pricing
        self._clock = clock

    def keeps(self, model: str, size: int) -> bool:
        """Tell whether it pays to keep a beginning of so many bytes that is used once more."""
        return is_long_enough(model, size) and self._pays(model, 1, 1)

    def goes_on(self, agent: str, model: str, nth: int, unknown: bool = True) -> bool:
        """Tell whether enough runs of an agent went on after their n-th call; until that is known: `unknown`."""
        runs, more = self.books.gone_on(agent, nth)
        return unknown if runs < ENOUGH else self._pays(model, runs, more)

    def _pays(self, model: str, runs: int, more: int) -> bool:
        with suppress(Misconfigured):  # the meter refuses it
            rates = self._pricing.rates(model, TYPICAL_PROMPT, self._clock.now())
            return pays(rates, runs + more, more)
        return False
