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
Refusal = tuple[int, str]  # a status of HTTP, and why

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
class Admission:
    """Who asks: whoever brings a key that `lets_in` knows, and has a right to this."""

    lets_in: Callable[[str], SignedIn | None]
    failures: Failures

    async def __call__(self, scope: Scope, headers: Mapping[str, str], way: Way) -> Refusal | None:
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
        return None if may(signed.role, scope.get("method", "GET"), scope["path"]) else not_allowed(signed.role)


@dataclass(frozen=True)
class BoardGuard:
    """`open_to_all`: (method, path) of what holds no data; all else needs whom `admits` lets in.

    `allowed`: a path -> the methods that mean something there; `sockets`: what judges a socket before it is one.
    """

    app: App
    admits: Admission
    place: BoardPlace
    open_to_all: tuple[Container[tuple[str, str]], ...]
    allowed: Callable[[str], str]
    sockets: App

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._judge(scope, receive, _with_headers(send))
        else:
            await self.sockets(scope, receive, _with_headers(send))

    async def _judge(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        way = self.place.way(scope, headers)
        refusal = refusal_of(scope["method"], headers, way) if way else (421, self.place.why_not(scope, headers))
        asked = (scope["method"], scope["path"])
        if refusal is None and way and not any(asked in some for some in self.open_to_all):
            refusal = await self.admits(scope, headers, way)
        if way and refusal is None:
            scope[WAY] = way
            signed: SignedIn | None = scope.get(SIGNED)
            heard = self._still_let_in(scope, headers, way, receive) if signed and asked[0] in ACTS else receive
            with heard_by(signed.via if signed else "board"):
                await self.app(scope, heard, send)
        elif refusal:
            more = [("allow", self.allowed(scope["path"]))] if refusal[0] == 405 else []
            await refuse(send, refusal, more)

    def _still_let_in(self, scope: Scope, headers: Mapping[str, str], way: Way, receive: Receive) -> Receive:
        """Ask once more when all is said: who holds his order back may have been closed, or given less, meanwhile."""
        from fastapi.exceptions import HTTPException

        async def heard() -> MutableMapping[str, Any]:
            message = await receive()
            is_whole = message["type"] == "http.request" and not message.get("more_body")
            if is_whole and (why_not := await self.admits(scope, headers, way)):
                raise HTTPException(*why_not)
            return message

        return heard


async def refuse(send: Send, refusal: Refusal, more: Iterable[tuple[str, str]] = (), kind: str = "http") -> None:
    """Answer with a problem. `more`: headers."""
    status, title = refusal
    asks = [("www-authenticate", "Bearer")] if status == 401 else []
    head = [(name.encode(), value.encode()) for name, value in (("content-type", PROBLEM), *asks, *more)]
    await send({"type": f"{kind}.response.start", "status": status, "headers": head})
    await send({"type": f"{kind}.response.body", "body": problem(status, title)})


def refusal_of(method: str, headers: Mapping[str, str], way: Way) -> Refusal | None:
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


def headers_of(scope: Scope) -> dict[str, str]:
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
        if message["type"].endswith("http.response.start"):
            there = {name.lower() for name, _ in message.get("headers", ())}
            more = [(name.encode(), value.encode()) for name, value in HEADERS if name.encode() not in there]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sent
