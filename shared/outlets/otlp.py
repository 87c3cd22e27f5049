"""Spans -> a collector of OpenTelemetry: a POST of OTLP's JSON to its address of traces.

The address and the headers are secrets: they stand in no error. What a collector takes only in part is its own affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sisimpur.shared.outlets.cloud_event import CloudEvent, Stream
from sisimpur.shared.outlets.webhook import PATIENCE, post
from sisimpur.shared.system.http import Http, HttpCall, is_configured

PATH = "/v1/traces"
HEADERS = {"user-agent": "sisimpur-agents/0.1", "accept-encoding": "identity", "content-type": "application/json"}
BEGIN = (
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"sisimpur-agents"}}]},'
    '"scopeSpans":[{"scope":{"name":"sisimpur"},"spans":['
)
END = "]}]}]}"


class Otlp:
    name = "collector"
    stream: Stream = "runs"

    def __init__(self, url: str, headers: Mapping[str, str], patience: float = PATIENCE) -> None:
        whole = url.rstrip("/")
        self._url = whole if whole.endswith(PATH) else whole + PATH
        self._headers, self._patience = {**HEADERS, **headers}, patience
        self._http = Http(is_configured)

    @property
    def address(self) -> str:
        return self._url

    def take(self, events: Sequence[CloudEvent]) -> None:
        """See Outlet, and post."""
        spans = ",".join(event.text[1:-1] for event in events)  # each a list
        body = f"{BEGIN}{spans}{END}".encode()
        post(self._http, self._url, HttpCall(self._headers, 0, self._patience, "POST", {"content": body}))
