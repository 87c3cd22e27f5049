"""Before every route: is it this board's name, this board's page, and somebody who is signed in? After it: the headers.

Other ports of this machine belong to others, and what we deploy there a model wrote: a cookie would reach them, and for
a browser they are of the same site. So on this machine there is no cookie, and an origin counts with its port. Over TLS
a browser's session is a cookie, and whoever brings one has to come from the board's own page.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.store.chain import heard_by
from sisimpur.web.api.base.place import WAY, BoardPlace, Way, token_in
from sisimpur.web.api.base.rights import LOOKS, SCOPES, Role, may
from sisimpur.web.api.base.sign_in import SignedIn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
    " manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types board"  # one policy, which lets through the worker alone
)
HEADERS = (
    ("content-security-policy", CSP),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)
ACTS = ("POST", "PUT", "DELETE")
SIGNED = "sisimpur.signed"  # where a request's scope holds who asks
MOST_FAILURES, WITHIN = 10, 60.0  # bad keys, in so many seconds
LONGEST_BODY = 256 << 10
PROBLEM = "application/problem+json"


def problem(status: int, title: str, **more: object) -> bytes:
    """Return the body of an answer that says no (RFC 9457)."""
    return json.dumps({"type": "about:blank", "status": status, "title": title, **more}, ensure_ascii=False).encode()


@dataclass
class Failures:
    """Bad keys of the last minute: who guesses is told to wait; whoever has the right key is not."""

    _times: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_FAILURES))

    def next_status(self) -> int:
        """Count one more. Return what it is answered with: 401, or 429 after many."""
        self._times.append(monotonic())
        is_full = len(self._times) == MOST_FAILURES
        return 429 if is_full and self._times[-1] - self._times[0] < WITHIN else 401


@dataclass(frozen=True)
class BoardGuard:
    """`open_to_all`: (method, path) of what holds no data; all else needs a key that `lets_in` knows, and a right.

    `allowed`: a path -> the methods that mean something there.
    """

    app: App
    lets_in: Callable[[str], SignedIn | None]
    place: BoardPlace
    open_to_all: tuple[Container[tuple[str, str]], ...]
    failures: Failures
    allowed: Callable[[str], str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._judge(scope, receive, _with_headers(send))
        else:  # a socket; there is none
            await send({"type": "websocket.close", "code": 4403})

    async def _judge(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        way = self.place.way(scope, headers)
        refusal = _refusal(scope["method"], headers, way) if way else (421, self.place.why_not(scope, headers))
        asked = (scope["method"], scope["path"])
        if refusal is None and way and not any(asked in some for some in self.open_to_all):
            refusal = await self._admit(scope, headers, way)
        if refusal is None:
            scope[WAY] = way
            signed: SignedIn | None = scope.get(SIGNED)
            with heard_by(signed.via if signed else "board"):
                await self.app(scope, receive, send)
            return
        status, title = refusal
        head = [(b"content-type", PROBLEM.encode())]
        head += [(b"www-authenticate", b"Bearer")] if status == 401 else []
        head += [(b"allow", self.allowed(scope["path"]).encode())] if status == 405 else []
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": problem(status, title)})

    async def _admit(self, scope: Scope, headers: Mapping[str, str], way: Way) -> tuple[int, str] | None:
        """Put down who asks, for the routes; or say why not."""
        by_cookie = way.is_private and "authorization" not in headers  # one or the other: nobody falls back on it
        key = token_in(headers) if by_cookie else bearer(headers)
        if key and by_cookie and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "another page asked for this"
        try:
            signed = await asyncio.to_thread(self.lets_in, key) if key else None
        except TeamError:  # why is for no stranger
            return 503, "this home cannot be read now; type: sisimpur doctor"
        if signed is None or (by_cookie and signed.role in SCOPES):
            status = self.failures.next_status() if key else 401  # who brings no key guesses none
            return status, "sign in with a link; type: sisimpur board --link"
        scope[SIGNED] = signed
        return None if may(signed.role, scope["method"], scope["path"]) else not_allowed(signed.role)


def _refusal(method: str, headers: Mapping[str, str], way: Way) -> tuple[int, str] | None:
    """Judge what a browser says about where it comes from; whoever else has the key could say anything."""
    if method in LOOKS:
        return None
    if method not in ACTS:
        return 405, f"{method} means nothing here"
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return 403, "another page asked for this"
    origin = headers.get("origin", "")
    if origin and origin.lower() not in way.origins:
        return 403, "another page asked for this"
    if not origin and not bearer(headers):
        return 403 if token_in(headers) else 401, "say where you come from: Origin, or a key"
    if "transfer-encoding" in headers:
        return 411, "say how long it is: Content-Length"
    length = headers.get("content-length", "0")
    return (413, "this is too long") if not length.isdecimal() or int(length) > LONGEST_BODY else None


def signed_in(scope: Scope) -> SignedIn:
    """Return who asks, as the guard has found it."""
    found: SignedIn = scope[SIGNED]  # nothing that needs it is open to all
    return found


def not_allowed(role: Role) -> tuple[int, str]:
    """Return what is answered to who may not do this."""
    return 403, f"this is not for: {role}; an owner of the team may do it"


def bearer(headers: Mapping[str, str]) -> str:
    """Return the key that came with a request; empty: none."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def _headers(scope: Scope) -> dict[str, str]:
    """Read them. One that is there twice is none: who reads the first and who reads the last would disagree."""
    pairs: Iterable[tuple[bytes, bytes]] = scope["headers"]
    found: dict[str, str] = {}
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        found[key] = "(twice)" if key in found else value.decode("latin-1")
    return found


def _with_headers(send: Send) -> Send:
    """Set ours on every answer; a route may only say what may be cached."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", ())}
            more = [(name.encode(), value.encode()) for name, value in HEADERS if name.encode() not in there]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sent
