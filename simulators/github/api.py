"""From a request to an answer of the local GitHub's REST API: who asks, what he may, which handler knows it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from typing import Any
from urllib.parse import unquote

from sisimpur.shared.system.clock import Clock
from sisimpur.simulators.github import graphql, issues, merges, pulls, repositories, reviews, statuses
from sisimpur.simulators.github.call import Answer, Call, Refusal, Request, Route, not_found, pattern
from sisimpur.simulators.github.rules import token_allows
from sisimpur.simulators.github.state import Account, Repository, State
from sisimpur.simulators.github.views import View

Json = Any
ROOMS = (repositories, pulls, merges, reviews, issues, statuses)
ROUTES: tuple[tuple[Route, Any], ...] = tuple(
    (route, pattern(route.template)) for room in ROOMS for route in room.ROUTES
)
OF_PAGES = ("page", "per_page")
LIMIT = 5_000  # calls an hour
NOT_FOR_THIS_TOKEN = "Resource not accessible by personal access token"  # noqa: S105  (a text, no token)


class Api:
    """Handlers run one at a time, under `lock`."""

    def __init__(self, state: State, base: str, clock: Clock) -> None:
        self.lock = threading.RLock()
        self._state = state
        self._view = View(state, base)
        self._clock = clock
        self._calls: Counter[str] = Counter()

    def now(self) -> str:
        return self._clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def answer(self, request: Request, account: Account | None) -> Answer:
        """`account`: whose token came with the request; None: nobody's."""
        with self.lock:
            try:
                answer = self._answer(request, account)
            except Refusal as refusal:
                answer = refusal.answer
            login = account.login if account else ""
            self._calls[login] += request.path != "/rate_limit"
            return _tagged(
                request, replace(answer, headers={**self._limits(login), **_scopes(account), **answer.headers})
            )

    # --- who, what

    def _answer(self, request: Request, account: Account | None) -> Answer:
        try:
            body = request.json()
        except (ValueError, RecursionError):
            raise Refusal(400, "Problems parsing JSON") from None
        if account is None:
            raise Refusal(401, "Bad credentials" if "authorization" in request.headers else "Requires authentication")
        if (request.method, request.path) == ("POST", "/graphql"):
            return graphql.answer(self._state, account, body)
        if request.method == "GET" and not request.path.startswith("/repos/"):
            return self._about(request.path, account)
        return self._of_repository(request, account, body)

    def _about(self, path: str, account: Account) -> Answer:
        if path == "/rate_limit":
            rate = self._rate(account.login)
            return Answer(200, {"resources": {"core": rate, "search": rate}, "rate": rate})
        login = account.login if path == "/user" else unquote(path.removeprefix("/users/"))
        if login not in self._state.accounts:
            raise not_found()
        return Answer(200, self._view.user(login, "public-user", user_view_type="public"))

    def _of_repository(self, request: Request, account: Account, body: Json) -> Answer:
        route, parameters = _route(request)
        repository = self._state.repository(parameters.get("r", ""))
        if route is None or repository is None or not repository.may_read(account.login):
            raise not_found()
        _check_rights(route, account, repository)
        if unknown := sorted(set(request.query) - {*route.knows, *OF_PAGES}):
            raise Refusal(501, f"The local GitHub does not know the parameter {unknown[0][:40]} of {route.template}")
        call = Call(
            state=self._state,
            view=self._view,
            account=account,
            repository=repository,
            parameters=parameters,
            query=request.query,
            body=body,
            path=request.path,
            accept=request.headers.get("accept", ""),
            now=self.now(),
        )
        return route.handler(call)

    # --- what every answer carries

    def _rate(self, login: str) -> dict[str, int]:
        used = self._calls[login]
        reset = int(self._clock.now().timestamp()) + 3600
        return {"limit": LIMIT, "used": used, "remaining": max(0, LIMIT - used), "reset": reset}

    def _limits(self, login: str) -> dict[str, str]:
        rate = {f"x-ratelimit-{name}": str(number) for name, number in self._rate(login).items()}
        return {**rate, "x-ratelimit-resource": "core", "x-github-request-id": f"LOCAL:{self._calls.total()}"}


def template_of(request: Request) -> str:
    """The path with names for its parts, as faults and observers name it; empty: no such operation."""
    if not request.path.startswith("/repos/"):
        return request.path if request.path in ("/user", "/rate_limit", "/graphql") else ""
    route, _ = _route(request)
    return route.template if route else ""


def _route(request: Request) -> tuple[Route | None, Mapping[str, str]]:
    """The special ones stand before the general ones in their rooms."""
    for route, shape in ROUTES:
        if route.method == request.method and (match := shape.fullmatch(request.path)):
            parameters = {name: unquote(text) for name, text in match.groupdict().items()}
            return (None, {}) if any("\0" in text for text in parameters.values()) else (route, parameters)
    return None, {}


def _check_rights(route: Route, account: Account, repository: Repository) -> None:
    if not token_allows(account, repository, route.needs):
        raise Refusal(403, NOT_FOR_THIS_TOKEN, headers={"x-accepted-github-permissions": route.needs})
    if route.role == "admin" and not repository.is_owned_by(account.login):
        raise not_found()
    if route.role == "write" and not repository.may_write(account.login):
        if account.kind == "fine-grained":
            raise Refusal(403, NOT_FOR_THIS_TOKEN, headers={"x-accepted-github-permissions": route.needs})
        raise Refusal(403, "Must have admin rights to Repository.")


def _scopes(account: Account | None) -> dict[str, str]:
    """Only classic tokens show what they may."""
    if account is None or account.kind != "classic":
        return {}
    return {"x-oauth-scopes": "repo" if "workflows" in account.lacks else "repo, workflow"}


def _tagged(request: Request, answer: Answer) -> Answer:
    """A read has an ETag; 304 to who has that answer already."""
    if request.method != "GET" or answer.status != 200:
        return answer
    tag = f'"{hashlib.sha256(data_of(answer)).hexdigest()[:40]}"'
    headers = {**answer.headers, "etag": f"W/{tag}"}
    if request.headers.get("if-none-match", "").removeprefix("W/") == tag:
        return Answer(304, None, headers)
    return replace(answer, headers=headers)


def data_of(answer: Answer) -> bytes:
    if answer.body is None:
        return b""
    if isinstance(answer.body, bytes):
        return answer.body
    return (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode("utf-8", "replace")
