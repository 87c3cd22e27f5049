"""Addresses -> what can be read and ordered. Each answer is JSON with an ETag; each refusal is a problem (RFC 9457)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

from fastapi import Response
from fastapi.middleware.gzip import GZipMiddleware

from sisimpur.cli.wiring.records import open_books
from sisimpur.cli.wiring.services import push_sender
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.access.access_routes import AccessRoutes
from sisimpur.web.api.access.oauth_begun import PROVIDERS, SignInProvider
from sisimpur.web.api.access.oauth_routes import OAuthRoutes
from sisimpur.web.api.access.passkey_routes import PasskeyRoutes
from sisimpur.web.api.access.push_routes import MakeSender, PushRoutes
from sisimpur.web.api.access.step_up import StepUp
from sisimpur.web.api.acting.acting_routes import BoardActions
from sisimpur.web.api.acting.alias_routes import alias_routes
from sisimpur.web.api.acting.file_routes import FileRoutes
from sisimpur.web.api.base.board_answers import API, told_as_problems
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import PROBLEMS, BoardApi, described
from sisimpur.web.api.base.guard import LONGEST_BODY, Admission, BoardGuard, Failures
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.rights import OPEN_TO_ALL
from sisimpur.web.api.base.sign_in import BoardKeys, SignedIn
from sisimpur.web.api.base.socket_guard import SocketGuard
from sisimpur.web.api.page_files import PageFiles
from sisimpur.web.api.reading.board_news import NewsDesk, news_socket
from sisimpur.web.api.reading.reading_routes import news_route, reading_routes, watching_routes

Providers = tuple[SignInProvider, ...]
WORTH_PACKING = 2_000  # bytes


def make_app(
    home: BoardHome,
    place: BoardPlace,
    providers: Providers = PROVIDERS,
    make_sender: MakeSender = push_sender,
    desk: NewsDesk | None = None,
) -> BoardGuard:
    """Put it together: nothing is reached but through the guard.

    `providers`: at which others' accounts sign in; `make_sender`: who tells a browser that something waits; `desk`: of
    who listens.
    """
    failures, pages, desk = Failures(), PageFiles(), desk or NewsDesk(home)
    app = make_api(home, failures, desk, providers, make_sender)
    app.include_router(pages.routes())

    def lets_in(key: str) -> SignedIn | None:
        try:
            with home.open() as records:
                return BoardKeys(records.db, home.listed).lets_in(key, records.clock.now())
        except (Misconfigured, Refused):  # settings that cannot be read keep nobody out: who is signed in reads why
            with open_books(Home(home.root), looking=True) as db:
                return BoardKeys(db, home.listed).lets_in(key, home.now())

    admits = Admission(lets_in, failures)
    sockets = SocketGuard(admits, place, {f"{API}/news": partial(news_socket, desk)})
    return BoardGuard(app, admits, place, (OPEN_TO_ALL, pages), app.allowed, sockets)


@dataclass
class HealthAnswer:
    ok: bool


def make_api(
    home: BoardHome,
    failures: Failures,
    desk: NewsDesk,
    providers: Providers = PROVIDERS,
    make_sender: MakeSender = push_sender,
) -> BoardApi:
    """All that is described, without a guard."""
    app = BoardApi(
        title="sisimpur board",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        responses=PROBLEMS,
        redirect_slashes=False,  # where TLS ends before us, it would lead with http
        max_body_size=LONGEST_BODY,  # of a body that does not say how long it is
    )
    app.add_middleware(GZipMiddleware, minimum_size=WORTH_PACKING)  # no answer holds a key that its length could tell
    step_up = StepUp(home)
    actions = BoardActions(home, threading.Lock(), step_up)
    files = FileRoutes(home, actions)
    for routes in (
        reading_routes(home),
        news_route(desk),
        watching_routes(home),
        actions.routes(),
        files.routes(),
        alias_routes(home, actions, files),
        AccessRoutes(home, failures).routes(),
        PasskeyRoutes(home, failures, step_up).routes(),
        OAuthRoutes(home, failures, providers).routes(),
        PushRoutes(home, make_sender).routes(),
    ):
        app.include_router(routes)
    app.add_api_route("/health", _health, summary="Whether it answers", responses=described(HealthAnswer))
    told_as_problems(app, home, app.allowed)
    return app


def _health() -> Response:
    return Response('{"ok": true}', media_type="application/json")
