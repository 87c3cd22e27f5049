"""Events -> the owner's own server, signed: a POST of a batch, as CloudEvents' HTTP binding has it.

The header `sisimpur-signature` is `v1=` and the HMAC-SHA256, in hex, of `sisimpur-timestamp`, a dot and the body, with
EVENTS_WEBHOOK_SECRET. The address is a secret: it stands in no error.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.outlets.cloud_event import CloudEvent, Stream
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.http import Http, HttpCall, NoAnswer, is_configured

PATIENCE = 5.0  # seconds for all of a call
HEADERS = {
    "user-agent": "sisimpur-agents/0.1",
    "accept-encoding": "identity",
    "content-type": "application/cloudevents-batch+json",
}
TIMESTAMP, SIGNATURE = "sisimpur-timestamp", "sisimpur-signature"


class Webhook:
    name = "webhook"
    stream: Stream = "audit"

    def __init__(self, url: str, secret: str, clock: Clock, patience: float = PATIENCE) -> None:
        self._url, self._secret, self._clock, self._patience = url, secret, clock, patience
        self._http = Http(is_configured)

    @property
    def address(self) -> str:
        return self._url

    def take(self, events: Sequence[CloudEvent]) -> None:
        """See Outlet, and post."""
        body = f"[{','.join(event.text for event in events)}]".encode()
        timestamp = str(int(self._clock.now().timestamp()))
        headers = HEADERS | {TIMESTAMP: timestamp, SIGNATURE: signature(self._secret, timestamp, body)}
        post(self._http, self._url, HttpCall(headers, 0, self._patience, "POST", {"content": body}))


def post(http: Http, url: str, call: HttpCall) -> None:
    """Unavailable: any answer but 200 to 299, or none."""
    answer = http.ask(url, call)
    if isinstance(answer, NoAnswer):
        raise Unavailable(f"it does not answer: {answer.error}")
    if not 200 <= answer.status < 300:
        raise Unavailable(f"it answers with {answer.status}")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    return "v1=" + hmac.new(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hexdigest()
