"""The meter's answers: a message, a refusal, and what is made of the upstream's errors.

Callers retry by themselves on most statuses, some of them nine times and by the words of the text. Only 400 stops
every one of them at once; so nothing of an upstream's error is ever passed on.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import one_line
from sisimpur.shared.money.token_budget import Refusal

Then = Literal["retry", "pause", "answer"]
Billed = Literal["nothing", "prompt", "all"]  # at most
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

# Texts at which callers retry or open an address, whatever the status says.
TRAPS = re.compile(
    r"://|prompt is too long|prompt: length|overloaded|invalid api key|content filtering policy", re.IGNORECASE
)

TYPES = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}


class Rejected(Refused):
    """Answered to the caller with `status`; the call came to nothing."""

    def __init__(self, refusal: Refusal, status: int = 400) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal
        self.status = status


class HttpReply:
    """The caller's side of one request. What began as a stream can only end or break, not be refused.

    `started`: the caller has seen a status, so nothing can be repeated. `streams`: the caller asked for a stream.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.streams = False

    async def piece(self, piece: bytes, request_id: str) -> None:
        if self.streams:
            await self._begin(200, {"content-type": "text/event-stream", "cache-control": "no-cache"}, request_id)
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self, last: bytes, message: Mapping[str, Any], request_id: str) -> None:
        if not self.streams:
            await self.whole(message, request_id)
        else:
            await self.piece(last, request_id)
            await self._send({"type": "http.response.body", "body": b""})

    async def whole(self, body: Mapping[str, Any], request_id: str) -> None:
        await self._begin(200, {"content-type": "application/json"}, request_id)
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        await self._send({"type": "http.response.body", "body": data})

    async def reject(self, rejected: Rejected, number: str) -> None:
        if self.started:
            return  # the server cuts an answer that is not complete
        status, headers, body = _refusal(rejected, number)
        await self._begin(status, headers, "")
        await self._send({"type": "http.response.body", "body": body})

    async def _begin(self, status: int, headers: Mapping[str, str], request_id: str) -> None:
        if self.started:
            return
        self.started = True
        named = {**headers, "request-id": request_id} if request_id else headers
        pairs = [(name.encode(), value.encode()) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})


def _refusal(rejected: Rejected, number: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body. `number` is our id of the request. A caller that sends on after that is cut off."""
    refusal = rejected.refusal
    text = f"meter: {refusal.text}"
    details = {"error_code": refusal.code} | ({"not_before": refusal.not_before} if refusal.not_before else {})
    body = {
        "type": "error",
        "error": {
            "type": TYPES.get(rejected.status, "invalid_request_error"),
            "message": "meter: the request was refused" if TRAPS.search(text) else text,
            "details": details,
        },
        "request_id": number,
    }
    headers = {"x-should-retry": "false", "request-id": number, "connection": "close"}
    return rejected.status, {"content-type": "application/json", **headers}, json.dumps(body).encode()


# --- what the upstream answered instead of a message ---------------------------------------------------------

# A complete error came before anything was generated, so that the prompt is the most that can be billed. Of these
# nothing is; that 500, 503 or 529 are free, few vendors say.
NOT_BILLED = frozenset({400, 401, 403, 404, 413, 429})

PAUSES = {
    401: "the upstream refused our key (401): check ANTHROPIC_API_KEY, then start again",
    402: "the upstream wants a payment (402): look at its billing page, then start again",
    403: "the upstream forbids this key (403): check its permissions, then start again",
}
SPEND_LIMIT = "the upstream's own spend limit is reached: raise it there or wait, then start again"


@dataclass(frozen=True)
class UpstreamComplaint:
    """An error of the upstream, as far as it is read."""

    status: int
    type: str = ""
    code: str = ""
    message: str = ""
    retry_after: float | None = None  # seconds

    @property
    def is_spend_limit(self) -> bool:
        said = self.message.lower()
        return self.code.endswith("_spend_limit_reached") or "usage limits" in said or "credit balance" in said


@dataclass(frozen=True)
class UpstreamVerdict:
    """Verdict on a failed try: what is booked, what happens next, and what the caller is told if nothing does."""

    billed: Billed
    then: Then
    rejected: Rejected


def judge(complaint: UpstreamComplaint, errors_free: bool = False) -> UpstreamVerdict:
    """Decide what follows an upstream's error: the table. `errors_free`: this vendor bills none."""
    status = complaint.status
    billed: Billed = "nothing" if status in NOT_BILLED or (errors_free and status >= 500) else "prompt"
    if status < 300:  # no error: whatever it is may have been generated
        billed = "all"
    if complaint.is_spend_limit or status in PAUSES:
        reason = SPEND_LIMIT if complaint.is_spend_limit else PAUSES[status]
        return UpstreamVerdict(billed, "pause", Rejected(Refusal("meter_paused", f"no spending now: {reason}")))
    if status in (404, 413):
        code, text = _PASSED_ON[status]
        return UpstreamVerdict(billed, "answer", Rejected(Refusal(code, text), status))
    if status == 400 and "prompt is too long" in complaint.message.lower():
        return UpstreamVerdict(billed, "answer", Rejected(Refusal(*_PASSED_ON[413])))
    if status in (408, 409) or status >= 500 or (status == 429 and complaint.retry_after is not None):
        return UpstreamVerdict(billed, "retry", no_answer(f"the upstream was busy or failing ({status})"))
    text = f"the upstream refused the request ({status}); its words stand in logs/meter.jsonl"
    return UpstreamVerdict(billed, "answer", Rejected(Refusal("meter_upstream_refused", text)))


_PASSED_ON = {
    404: ("meter_model_gone", "the upstream does not know this model"),
    413: ("meter_too_long", "the request is too large for the model: send less context"),
}


STOPPING = Refusal("meter_stopping", "the meter is being stopped")


def no_answer(text: str) -> Rejected:
    """The upstream failed, could not be reached, or its stream broke."""
    return Rejected(Refusal("meter_upstream", text))


def read_complaint(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> UpstreamComplaint:
    """Read an upstream's error; whatever does not parse is left out."""
    error: Any = {}
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        error = json.loads(body)["error"]
    details = error.get("details") if isinstance(error, dict) else None
    return UpstreamComplaint(
        status,
        type=_text(error, "type", 60),
        code=_text(details, "error_code", 60),
        message=_text(error, "message", 400),
        retry_after=_seconds(headers.get("retry-after", ""), now),
    )


def tokens_of(body: bytes) -> int | None:
    """Tokens as the upstream counts them for nothing; None: it says no number."""
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        found = json.loads(body)["input_tokens"]
        return found if isinstance(found, int) and found >= 0 else None
    return None


def _text(found: Any, name: str, most: int) -> str:
    value = found.get(name) if isinstance(found, dict) else None
    return one_line(value, most) if isinstance(value, str) else ""


def _seconds(text: str, now: datetime) -> float | None:
    """Seconds from now, of a `retry-after`: a number of seconds or a date."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # no date, one without a zone, or one beyond all calendars
        return None
