"""Door to questions asked ahead. The only module that sends one as a batch, and fetches its answer before it is needed.

An answer that is there and understood is remembered as if the question had been asked: whoever asks exactly this one
pays nothing more. Everything else is nobody's trouble: the question is asked as ever, when its time has come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shared.domain.batching import Batch
from shared.domain.errors import Unavailable
from shared.domain.ticket import TicketOrder
from shared.domain.work import Run
from shared.edge.clock import Clock
from shared.edge.fault import fault_point
from shared.edge.llm import llm_answers
from shared.edge.llm.llm_answers import NotAnAnswer
from shared.edge.llm.llm_call import Question, knock
from shared.edge.llm.llm_replies import Replies

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

LIFE = timedelta(minutes=10)
PATIENCE = 60.0  # seconds without a byte
FETCHING = 15.0  # seconds for all that is fetched
BATCHES = "/v1/messages/batches"
VERSION = "2026-10-21"


class NotAhead(Unavailable):
    """It was not sent, or nothing came of it; why, in one line."""


class Books(Protocol):
    """The ledger's part."""

    def open_ticket(self, order: TicketOrder, now: datetime) -> str: ...

    def close_ticket(self, token: str, now: datetime) -> None: ...

    def batches_to_fetch(self, day: str) -> Sequence[Batch]: ...


class LlmBatch:
    """`meter` is the meter's socket, or an address; `budget` of one question is in nano-dollars.

    `fetching`: seconds for all that is fetched at once.
    """

    def __init__(
        self,
        books: Books,
        replies: Replies,
        meter: Path | str,
        clock: Clock,
        budget: int,
        fetching: float = FETCHING,
    ) -> None:
        self._books = books
        self._replies = replies
        self._meter = meter
        self._clock = clock
        self._budget = budget
        self._fetching = fetching

    def send(self, run: Run, key: str, question: Question) -> None:
        """For the day of `run`. NotAhead: it is not on its way, or nobody knows; it is not sent again."""
        with self._line(run, self._budget, question.model) as line:
            _read(line.post(BATCHES, json={"requests": [{"custom_id": key, "params": question.request}]}))
            fault_point("batch.acknowledged")

    def fetch(self, run: Run, form: type[T], give_up: bool) -> Sequence[str]:
        """Looks at each that may have been answered, and keeps what has the `form` -> a line on each, for who watches.

        `give_up`: what is needed by the day of `run` and is not there is cancelled. All of it together takes no longer
        than FETCHING: somebody waits.
        """
        waiting = [one for one in self._books.batches_to_fetch(run.day) if self._is_wanting(one)]
        if not waiting:
            return ()
        until = time.monotonic() + self._fetching
        with self._line(run) as line:
            return [self._fetched(line, until, batch, form, give_up and batch.day <= run.day) for batch in waiting]

    def _is_wanting(self, batch: Batch) -> bool:
        """What is paid for is fetched until it is remembered."""
        return batch.state == "open" or self._replies.find(batch.key) is None

    def _fetched(self, line: httpx2.Client, until: float, batch: Batch, form: type[T], give_up: bool) -> str:
        path = f"{BATCHES}/{batch.vendor}"
        try:
            if (status := _read(line.get(path, timeout=_left(until))).get("processing_status")) != "ended":
                if give_up and status != "canceling":
                    _read(line.post(f"{path}/cancel", timeout=_left(until)))
                    fault_point("batch.given-up")
                return "it is not answered yet" + ("; it is asked directly" if give_up else "")
            text = _text(_read(line.get(f"{path}/results", timeout=_left(until))))
            llm_answers.read(llm_answers.adapter(form), text)
        except NotAhead as problem:
            return str(problem)
        except NotAnAnswer as reason:
            return f"the answer cannot be used: {reason}"
        in_time = self._replies.keep_ahead(batch.key, text, self._clock.now())
        return "it is answered, at half price" if in_time else "it is answered too late: it was asked directly"

    @contextmanager
    def _line(self, run: Run, budget: int = 0, *models: str) -> Iterator[httpx2.Client]:
        """To the meter, on a ticket that ends with it; without a budget it authorises to look."""
        import httpx2

        path = str(self._meter) if isinstance(self._meter, Path) else None
        if path:
            knock(path)
        now = self._clock.now()
        order = TicketOrder(run, budget, models, now + LIFE, max_calls=len(models), retry_s=0, batches=True)
        ticket = self._books.open_ticket(order, now)
        headers = {"authorization": f"Bearer {ticket}", "anthropic-version": VERSION}
        try:
            with httpx2.Client(
                transport=httpx2.HTTPTransport(uds=path, verify=False, trust_env=False),
                base_url="http://meter" if path else str(self._meter),
                headers=headers,
                timeout=PATIENCE,
                trust_env=False,
            ) as line:
                yield line
        except httpx2.TransportError as error:
            raise NotAhead(f"the meter broke off ({type(error).__name__})") from None
        finally:
            self._books.close_ticket(ticket, self._clock.now())


def _left(until: float) -> float:
    """Seconds; NotAhead if there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise NotAhead("the upstream is slow to tell: nobody waits for it")
    return left


def _read(response: httpx2.Response) -> Mapping[str, Any]:
    """The meter's own words; it has looked at those of the vendor."""
    try:
        found = response.json()
        refusal = "" if response.status_code == 200 else str(found["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotAhead(f"the meter's answer cannot be read ({type(error).__name__})") from None
    if refusal or not isinstance(found, dict):
        raise NotAhead(" ".join(refusal.removeprefix("meter: ").split())[:400] or "the meter's answer is no object")
    return found


def _text(line: Mapping[str, Any]) -> str:
    """What the model said, if it ended by itself."""
    try:
        message = line["result"]["message"]
        stopped, texts = message["stop_reason"], [block["text"] for block in message["content"]]
        text = "".join(texts)
    except (KeyError, TypeError) as error:
        raise NotAhead(f"the meter's answer is no message ({type(error).__name__})") from None
    if stopped != "end_turn":
        raise NotAhead(f"the model stopped with {stopped}")
    return text
