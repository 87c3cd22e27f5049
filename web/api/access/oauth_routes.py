"""Addresses of signing in with Google or GitHub: which of them there are, the way there, and the way back.

The way there is an order of our own page, so that no other page begins it. The way back is the one address to which
another site sends a browser: it believes nothing but a state that this very browser holds the ticket of, and leads
nowhere but to our own first page. That page asks for all else itself: a Strict cookie comes with no request that begins
elsewhere.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from sisimpur.shared.config.settings_sign_in import GITHUB, GOOGLE, SECRET_OF
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.system.http import Http, is_configured
from sisimpur.web.api.access.oauth_begun import (
    BEGUN,
    LASTS,
    PROVIDERS,
    BegunSignIn,
    ProvenAccount,
    SignInProvider,
    begin,
    listed_as,
    taken_up,
)
from sisimpur.web.api.base.board_answers import API
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import described
from sisimpur.web.api.base.guard import Failures
from sisimpur.web.api.base.place import WAY, Way, called_by, cookie_with, token_in
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import LONGEST, BoardKeys

if TYPE_CHECKING:
    from sisimpur.web.api.access.oauth_provider import AccountApp, Why

BACK = "/signed-in/"  # below it, for each provider an address of its own: no answer of one is taken for the other's
AT_ONCE = 4  # who signs in waits for a provider in a thread; the other threads answer all else
SPENT = 1_000  # states that were used, of ten minutes; a code opens once at the provider, too
LONGEST_CODE = 1_000


class SignInName(StrEnum):
    GOOGLE = GOOGLE
    GITHUB = GITHUB


@dataclass
class WaysAnswer:
    ways: list[SignInName]


@dataclass
class LeaveAnswer:
    """`address`: where the browser signs in."""

    address: str


@dataclass(frozen=True)
class OAuthRoutes:
    """`providers`: where they answer, for a test by others than the two that there are."""

    home: BoardHome
    failures: Failures
    providers: tuple[SignInProvider, ...] = PROVIDERS
    _http: Http = field(default_factory=lambda: Http(is_configured))
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _spent: deque[str] = field(default_factory=lambda: deque(maxlen=SPENT))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _places: threading.Semaphore = field(default_factory=lambda: threading.BoundedSemaphore(AT_ONCE))

    def routes(self) -> APIRouter:
        routes = APIRouter()
        routes.add_api_route(f"{API}/sign-in", self.ways, responses=described(WaysAnswer))
        routes.add_api_route(
            f"{API}/sign-in/{{provider}}", self.leave, methods=["POST"], responses=described(LeaveAnswer)
        )
        routes.add_api_route(f"{BACK}{{provider}}", self.come_back, include_in_schema=False)
        return routes

    def ways(self, request: Request) -> Response:
        """By which accounts one can sign in here, beside a link."""
        found = [one.name for one in self.providers if self._client(request, one)]
        return Response(json.dumps({"ways": found}), media_type="application/json")

    def leave(self, request: Request, provider: SignInName) -> Response:
        """The address at which a browser signs in there. It keeps a ticket, for ten minutes."""
        one = self._provider(provider)
        client = self._client(request, one)
        if not client:
            raise HTTPException(409, f"nobody signs in with {provider} here; see: sisimpur doctor")
        from sisimpur.web.api.access.oauth_provider import address  # 12 MB, for who signs in so alone

        begun = begin(self._key, one.name, self.home.now())
        told = {"address": address(self._app(one, client), one, begun, self._callback(one))}
        headers = {"set-cookie": cookie_with(begun.ticket, LASTS, BEGUN, "Lax")}
        return Response(json.dumps(told), headers=headers, media_type="application/json")

    def come_back(self, request: Request, provider: SignInName) -> Response:
        """Let in who is listed. Whatever happened, the browser ends at our own page, which says it."""
        one = self._provider(provider)
        begun = self._begun(request, one)
        if begun is None:
            if self.failures.next_status() == 429:
                raise HTTPException(429, "too many have failed to sign in; wait a minute")
            return _to_page("again")
        client, code = self._client(request, one), _single(request, "code")
        if not client or not code:
            return _to_page("declined", ended=True)
        if not self._places.acquire(blocking=False):
            return _to_page("busy", ended=True)
        try:
            found = self._who(one, client, begun, code)
        finally:
            self._places.release()
        return self._let_in(found) if isinstance(found, ProvenAccount) else _to_page(found, ended=True)

    def _who(self, one: SignInProvider, client: tuple[str, str], begun: BegunSignIn, code: str) -> ProvenAccount | Why:
        from sisimpur.web.api.access.oauth_provider import who

        return who(self._app(one, client), one, begun, self._callback(one), code)

    def _let_in(self, account: ProvenAccount) -> Response:
        people = self.home.file().sign_in
        name = listed_as(account, people)
        person = people.listed(name)
        if person is None:
            return _to_page(f"unlisted:{account.names[0]}", ended=True)
        with self.home.open(looking=False) as records:
            token = BoardKeys(records.db).enter(name, Role(person.role), records.clock.now())
        answer = _to_page("done", ended=True)
        answer.headers.append("set-cookie", cookie_with(token, LONGEST))
        return answer

    def _begun(self, request: Request, one: SignInProvider) -> BegunSignIn | None:
        """Return what this browser began, once. None: not here, not with this provider, or not of late."""
        way: Way = request.scope[WAY]
        if not way.is_private:
            return None
        cookies = {"cookie": "; ".join(request.headers.getlist("cookie"))}
        ticket, state = token_in(cookies, BEGUN), _single(request, "state")
        begun = taken_up(self._key, one.name, ticket, state, self.home.now())
        with self._lock:
            if begun is None or begun.state in self._spent:
                return None
            self._spent.append(begun.state)
        return begun

    def _client(self, request: Request, one: SignInProvider) -> tuple[str, str] | None:
        """Return id and secret. None: it is off, or this is not the name to which the provider sends a browser back."""
        way: Way = request.scope[WAY]
        try:
            file = self.home.file()
            if not way.is_private or f"https://{called_by(file.url)}" not in way.origins:
                return None
            with self.home.open(looking=False) as records:
                secret = records.settings.secrets.get(SECRET_OF[one.name])
        except TeamError:  # why is for no stranger
            return None
        client = getattr(file.sign_in, one.name)
        return (client, secret) if client and secret else None

    def _provider(self, name: str) -> SignInProvider:
        return next(one for one in self.providers if one.name == name)

    def _app(self, one: SignInProvider, client: tuple[str, str]) -> AccountApp:
        from sisimpur.web.api.access.oauth_provider import app_of

        return app_of(one, client, self._http)

    def _callback(self, one: SignInProvider) -> str:
        """By the written name, whatever name a request came by."""
        return f"https://{called_by(self.home.file().url)}{BACK}{one.name}"


def _single(request: Request, name: str) -> str:
    """Return what an address says once, in its bounds; twice, or too long, is nothing."""
    found = request.query_params.getlist(name)
    return found[0] if len(found) == 1 and len(found[0]) <= LONGEST_CODE else ""


def _to_page(said: str, ended: bool = False) -> Response:
    """Lead to our own first page, and to no other. `ended`: the ticket is of no use any more."""
    headers = {"location": f"/#sign-in={said}"}
    if ended:
        headers["set-cookie"] = cookie_with("", timedelta(), BEGUN, "Lax")
    return Response(status_code=303, headers=headers)
