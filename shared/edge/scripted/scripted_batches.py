"""Door to batches. The only module that keeps what was sent to be answered later, as the live Message Batches API does.

Each call is answered by the same rules as any other; a step says after how many looks its batch ends, and how. A call
that the API would refuse refuses the whole batch, so that it is seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from shared.edge.scripted.scripted_rules import ApiError, check_headers
from shared.edge.scripted.scripted_steps import PlacedStep
from shared.edge.scripted.scripted_wire import Playing, gone_within

CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PATH = "/{prefix:path}v1/messages/batches"


class Bill(Protocol):
    billed: int


@dataclass(frozen=True)
class Item:
    """One call: its step, the whole answer, and what stands on the bill for it."""

    step: PlacedStep
    message: Mapping[str, Any]
    record: Bill


@dataclass
class Sent:
    """A batch. `looks`: so many more at which it has not ended; `lines`: what came of each call, by its custom_id."""

    id: str
    looks: int = 0
    canceled: bool = False
    lines: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    bills: list[Bill] = field(default_factory=list)

    def look(self) -> Mapping[str, Any]:
        """As the API shows it; the look counts."""
        if self.looks:
            self.looks -= 1
            return self.shown("in_progress")
        return self.shown("ended")

    def cancel(self) -> Mapping[str, Any]:
        """What has ended stays so."""
        if not self.looks:
            return self.shown("ended")
        self.looks, self.canceled = 0, True
        self.lines = {name: {"type": "canceled"} for name in self.lines}
        for bill in self.bills:
            bill.billed = 0
        return self.shown("canceling")

    def shown(self, status: str) -> Mapping[str, Any]:
        has_ended = status == "ended"
        counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
        for line in self.lines.values() if has_ended else ():
            counts[line["type"]] += 1
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": {"processing": 0 if has_ended else len(self.lines), **counts},
            "results_url": f"https://api.anthropic.com/v1/messages/batches/{self.id}/results" if has_ended else None,
            "cancel_initiated_at": "2030-01-01T00:00:00Z" if self.canceled else None,
            "created_at": "2030-01-01T00:00:00Z",
            "expires_at": "2030-01-02T00:00:00Z",
            "ended_at": "2030-01-01T00:00:00Z" if has_ended else None,
            "archived_at": None,
        }


class BatchDesk:
    """`answered`: (the parameters of a call, the request's scope) -> its answer, written down; ApiError: why not."""

    def __init__(self, answered: Callable[[bytes, Scope], Item]) -> None:
        self._answered = answered
        self._sent: dict[str, Sent] = {}

    def routes(self) -> Sequence[Route]:
        return (
            Route(PATH, _Create(self), methods=["POST"]),
            Route(PATH + "/{batch}", self._look),
            Route(PATH + "/{batch}/results", self._results),
            Route(PATH + "/{batch}/cancel", self._cancel, methods=["POST"]),
        )

    async def create(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by the server. The first call's step says what goes wrong on the way."""
        request, name = Request(scope, receive), f"msgbatch_scripted_{len(self._sent) + 1:04}"
        try:
            check_headers({key.lower(): value for key, value in request.headers.items()})
            batch = Sent(name)
            steps = [self._added(batch, *call, scope) for call in _calls(await request.body())]
        except ApiError as error:
            await _refused(error)(scope, receive, send)
            return
        batch.looks = max(step.batch.looks for step in steps)
        self._sent[name] = batch
        playing = Playing(steps[0], f"req_{name}", scope, receive, send)
        await playing.play(batch.shown("in_progress"), False, await gone_within(receive, playing.step.delay))

    def _added(self, batch: Sent, custom_id: str, params: Any, scope: Scope) -> PlacedStep:
        item = self._answered(json.dumps(params).encode(), scope)
        lines: Mapping[str, Mapping[str, Any]] = {
            "succeeded": {"type": "succeeded", "message": item.message},
            "errored": {"type": "errored", "error": {"type": "error", "error": ApiError(500, "scripted").error}},
        }
        ends = item.step.batch.ends
        batch.lines[custom_id] = lines.get(ends, {"type": ends})
        batch.bills.append(item.record)
        return item.step

    async def _look(self, request: Request) -> Response:
        found = self._found(request)
        return JSONResponse(found.look()) if isinstance(found, Sent) else found

    async def _cancel(self, request: Request) -> Response:
        found = self._found(request)
        return JSONResponse(found.cancel()) if isinstance(found, Sent) else found

    async def _results(self, request: Request) -> Response:
        """In another order than they were asked."""
        found = self._found(request)
        if not isinstance(found, Sent):
            return found
        if found.looks:
            return _refused(ApiError(400, f"{found.id} has not ended: it has no results yet"))
        lines = (json.dumps({"custom_id": name, "result": line}) for name, line in reversed(found.lines.items()))
        return Response("".join(f"{line}\n" for line in lines), media_type="application/x-jsonl")

    def _found(self, request: Request) -> Sent | Response:
        found = self._sent.get(request.path_params["batch"])
        return found or _refused(ApiError(404, f"batch: {request.path_params['batch'][:100]}"))


class _Create:
    """The route's application: it needs the connection itself, to break it as a script says."""

    def __init__(self, desk: BatchDesk) -> None:
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._desk.create(scope, receive, send)


def _calls(body: bytes) -> Sequence[tuple[str, Any]]:
    try:
        found = [(str(call["custom_id"]), call["params"]) for call in json.loads(body)["requests"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ApiError(400, "requests: a list of calls, each with custom_id and params") from None
    names = [name for name, _ in found]
    if not names or len(set(names)) < len(names) or not all(map(CUSTOM_ID.fullmatch, names)):
        raise ApiError(400, "requests: each custom_id once, of at most 64 letters, digits, _ and -")
    return found


def _refused(error: ApiError) -> JSONResponse:
    return JSONResponse({"type": "error", "error": error.error, "request_id": "req_batch"}, error.status, error.headers)
