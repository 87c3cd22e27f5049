"""Addresses of who is signed in: sign in and out, see each session, close one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import timedelta

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from sisimpur.web.api.base.board_answers import API, answered
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN, BoardBody, Changed, Named, described
from sisimpur.web.api.base.guard import Failures, not_allowed, signed_in
from sisimpur.web.api.base.place import WAY, Way, cookie_with
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import LONGEST, BoardKeys, BoardSession


class SignInBody(BoardBody):
    code: str = Field(max_length=200)


@dataclass
class TokenAnswer:
    """`token`: of the session; over TLS empty: it is a cookie."""

    token: str


# On this machine another program may have had our port, and left a worker that answers for us. A name of its own has
# nobody else's: there it would end the worker that a phone is notified by.
CLEAN = {"clear-site-data": '"storage"'}


def signed_in_with(token: str, way: Way) -> Response:
    """Give it to a browser as it may have it: over TLS as a cookie, in the open in the answer."""
    told, headers = ("", {"set-cookie": cookie_with(token, LONGEST)}) if way.is_private else (token, CLEAN)
    return Response(json.dumps({"token": told}), 201, headers, media_type="application/json")


@dataclass(frozen=True)
class AccessRoutes:
    home: BoardHome
    failures: Failures

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=API)
        routes.add_api_route(
            "/session", self.sign_in, methods=["POST"], status_code=201, responses=described(TokenAnswer, 201)
        )
        routes.add_api_route("/session", self.sign_out, methods=["DELETE"], status_code=204)
        routes.add_api_route("/session", self.mine, responses=KNOWN | described(BoardSession))
        routes.add_api_route("/sessions", self.sessions, responses=KNOWN | described(list[BoardSession]))
        routes.add_api_route("/sessions/{id}", self.close, methods=["DELETE"], status_code=204)
        return routes

    def sign_in(self, request: Request, body: SignInBody) -> Response:
        """The token; over TLS none, since a browser keeps it as a cookie that no page reads."""
        with self.home.open(looking=False) as records:
            token = BoardKeys(records.db).sign_in(body.code, records.clock.now())
        if not token:
            status = self.failures.next_status()
            raise HTTPException(status, "this link was used, or is too old; another: sisimpur board --link")
        return signed_in_with(token, request.scope[WAY])

    def sign_out(self, request: Request) -> Response:
        with self.home.open(looking=False) as records:
            BoardKeys(records.db).sign_out(signed_in(request.scope).key)
        way: Way = request.scope[WAY]
        headers = {"set-cookie": cookie_with("", timedelta())} if way.is_private else {}
        return Response(status_code=204, headers=headers)

    def mine(self, request: Request, known: Changed = "") -> Response:
        """Who asks, and in which role."""
        for one in self._theirs(request):
            if one["id"] == signed_in(request.scope).id:
                return answered(json.dumps(one), known)
        raise HTTPException(401, "you were signed out a moment ago; type: sisimpur board --link")

    def sessions(self, request: Request, known: Changed = "") -> Response:
        """Who is signed in, the last used first; no token is in it. Who is no owner sees only himself."""
        return answered(json.dumps(self._theirs(request)), known)

    def close(self, request: Request, id: Named) -> Response:  # noqa: A002
        """End a session or a key: who used it has to sign in anew. That of another only an owner ends."""
        who = signed_in(request.scope)
        if who.role is not Role.OWNER and who.id != id:
            raise HTTPException(*not_allowed(who.role))
        with self.home.open(looking=False) as records:
            if not BoardKeys(records.db).close(id):
                raise HTTPException(404, "nobody is signed in by this name; see: sessions")
        return Response(status_code=204)

    def _theirs(self, request: Request) -> list[dict[str, str]]:
        who = signed_in(request.scope)
        with self.home.open() as records:
            found = BoardKeys(records.db, self.home.listed).sessions(records.clock.now())
        return [asdict(one) for one in found if who.role is Role.OWNER or one.id == who.id]
