"""A Discord without Discord: serves a webhook on this machine.

For a day on trial and for tests: it keeps what it is sent, refuses what Discord refuses, and goes wrong as it is told.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from sisimpur.simulators.discord.local_channel import LocalChannel
from sisimpur.simulators.discord.local_webhook_messages import TOKEN, WEBHOOK, Asked, Desk, Message, Reply
from sisimpur.simulators.model.wire import gone_within, http_server, listener

LIMITS = {
    "x-ratelimit-limit": "5",
    "x-ratelimit-remaining": "4",
    "x-ratelimit-reset-after": "1",
    "x-ratelimit-bucket": "local",
}


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    `status`, `body`, `headers`: the answer instead of the true one (status 0: the true one, the work being done).
    `done`: the work is done before, although the answer says otherwise. `silence`: seconds before the answer.
    `drip`: seconds between two bytes of the body. `cut`: the connection ends in the middle of it; `dropped`: before the
    answer.
    """

    status: int = 0
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    done: bool = False
    silence: float = 0.0
    drip: float = 0.0
    cut: bool = False
    dropped: bool = False


def too_many(seconds: float, told: str = "body") -> Fault:
    """The 429, which says in its body or in its header how long to wait."""
    body = {"message": "You are being rate limited.", "global": False}
    if told == "body":
        return Fault(429, json.dumps({**body, "retry_after": seconds}).encode())
    return Fault(429, json.dumps(body).encode(), {"retry-after": str(seconds)})


def page(status: int, done: bool = False) -> Fault:
    """What stands before the API answers, in HTML."""
    return Fault(status, b"<html><body>Attention required</body></html>", {"content-type": "text/html"}, done)


class LocalWebhook:
    """`with LocalWebhook(folder) as hook:` serves at `hook.url` until the block ends, and keeps messages in `folder`.

    `faults` are used up in order, one for each request, whenever they are appended. `heard` is told one line for each
    request, on the server's thread. Port 0: any free one; Misconfigured if it is taken.
    """

    def __init__(self, folder: Path, port: int = 0, heard: Callable[[str], None] | None = None) -> None:
        self.faults: list[Fault] = []
        self.requests: list[Asked] = []
        self.folder = folder
        self._desk = Desk(folder)
        self._heard = heard
        self._socket = listener(port)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/api/webhooks/{WEBHOOK}/{TOKEN}"
        self._server = http_server(self)
        self._thread = threading.Thread(target=self.run, name="local-webhook", daemon=True)

    @property
    def channel(self) -> LocalChannel:
        """What people write, beside the webhook's messages."""
        return self._desk.channel

    @property
    def messages(self) -> list[Message]:
        """The oldest first."""
        return list(self._desk.kept.values())

    def remove(self, message: str) -> None:
        """As if somebody had deleted the message in Discord."""
        self._desk.remove(message)

    def end(self) -> None:
        """As if somebody had deleted the webhook in Discord."""
        self._desk.is_gone = True

    def run(self) -> None:
        """Serves until interrupted, or until `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        self._server.leave()
        self._thread.join()

    def __enter__(self) -> LocalWebhook:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # --- one request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one. Called by the server."""
        try:
            asked = await _asked(Request(scope, receive))
        except ClientDisconnect:
            return
        self.requests.append(asked)
        fault = self.faults.pop(0) if self.faults else Fault()
        reply = self._desk.answer(asked) if fault.done or not (fault.status or fault.dropped) else Reply(0)
        self._tell(asked, fault.status or reply.status)
        connection = Connection(scope, receive, send)
        if fault.dropped or await gone_within(receive, fault.silence):
            connection.hang_up()
        else:
            await _send(fault, reply, connection)

    def _tell(self, asked: Asked, status: int) -> None:
        if self._heard:
            what = {"POST": "a message", "PATCH": "a message brought up to date"}.get(asked.method, asked.method)
            self._heard(f"webhook: {what} -> {status or 'no answer'}")


async def _asked(request: Request) -> Asked:
    kind = request.headers.get("content-type", "")
    authorization = request.headers.get("authorization", "")
    return Asked(
        request.method, request.url.path, dict(request.query_params), kind, await request.body(), authorization
    )


@dataclass(frozen=True)
class Connection:
    scope: Scope
    receive: Receive
    send: Send

    async def write(self, data: bytes, more: bool = False) -> None:
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    def hang_up(self) -> None:
        self.scope["state"]["line"].close()


async def _send(fault: Fault, reply: Reply, connection: Connection) -> None:
    body = fault.body if fault.status else _encoded(reply.body)
    headers = {"content-type": "application/json", "content-length": str(len(body)), **LIMITS, **fault.headers}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await connection.send({"type": "http.response.start", "status": fault.status or reply.status, "headers": raw})
    if fault.cut:
        await connection.write(body[: len(body) // 2], more=True)
        connection.hang_up()
    elif fault.drip:
        await _drip(fault.drip, body, connection)
    else:
        await connection.write(body)


async def _drip(seconds: float, body: bytes, connection: Connection) -> None:
    for place in range(len(body)):
        await connection.write(body[place : place + 1], more=place + 1 < len(body))
        if await gone_within(connection.receive, seconds):
            return


def _encoded(value: Mapping[str, Any] | Sequence[Any] | None) -> bytes:
    return b"" if value is None else json.dumps(value).encode()
