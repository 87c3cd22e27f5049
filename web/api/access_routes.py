"""Addresses of who is signed in: sign in and out, see each session, close one."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from sisimpur.shared.store.chain import heard_by
from sisimpur.web.api.base.board_answers import API, answered
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN
from sisimpur.web.api.base.guard import Failures, bearer
from sisimpur.web.api.base.sign_in import NAMED, VIA, BoardKeys


class SignInBody(BaseModel):
    model_config = ConfigDict(extra="forbid")
    code: str = Field(max_length=200)


def access_routes(home: BoardHome, failures: Failures) -> APIRouter:
    routes = APIRouter(prefix=API)

    @routes.post("/session", status_code=201)
    def sign_in(body: SignInBody) -> Response:
        with home.open(looking=False) as records:
            token = BoardKeys(records.db).sign_in(body.code, records.clock.now())
        if not token:
            status = failures.next_status()
            raise HTTPException(status, "this link was used, or is too old; another: sisimpur board --link")
        return Response(json.dumps({"token": token}), 201, media_type="application/json")

    @routes.delete("/session", status_code=204)
    def sign_out(request: Request) -> Response:
        with home.open(looking=False) as records:
            BoardKeys(records.db).sign_out(bearer(request.headers))
        return Response(status_code=204)

    @routes.get("/sessions", responses=KNOWN, summary="Who is signed in, the last used first; no token is in it")
    def sessions(known: Annotated[str, Header(alias="If-None-Match")] = "") -> Response:
        with home.open() as records:
            found = BoardKeys(records.db).sessions(records.clock.now())
            return answered(home.told(list(map(asdict, found)), records), known)

    @routes.delete("/sessions/{id}", status_code=204, summary="End a session; its browser has to sign in anew")
    def close(id: Annotated[str, InPath(pattern=f"^[0-9a-f]{{{NAMED}}}$")]) -> Response:  # noqa: A002
        with home.open(looking=False) as records, heard_by(VIA):
            if not BoardKeys(records.db).close(id):
                raise HTTPException(404, "nobody is signed in by this name; see: sessions")
        return Response(status_code=204)

    return routes
