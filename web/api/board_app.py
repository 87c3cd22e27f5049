"""Addresses -> what can be read and ordered. Each answer is JSON with an ETag; each refusal is a problem (RFC 9457)."""

from __future__ import annotations

import json
import re
import threading
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from sisimpur.cli.app import keep_trace
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import pasteable
from sisimpur.cli.views.show import task_facts
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import Misconfigured, TeamError, Unavailable
from sisimpur.shared.model.lifecycle import State
from sisimpur.web.api import reading
from sisimpur.web.api.board_home import BoardHome
from sisimpur.web.api.board_news import NewsDesk, NewsLine
from sisimpur.web.api.guard import LONGEST_BODY, PROBLEM, BoardGuard, Failures, bearer, problem
from sisimpur.web.api.orders import carried_out
from sisimpur.web.api.page_files import PageFiles
from sisimpur.web.api.review import difference, review_facts
from sisimpur.web.api.sign_in import BoardAnswer, BoardKeys, BoardOrders

API = "/api/v1"
MOST, LONGEST_WORDS = 200, 1_000
Changed = Annotated[str, Header(alias="If-None-Match")]
Key = Annotated[str, Header(alias="Idempotency-Key", min_length=8, max_length=200)]
Seen = Annotated[str, Header(alias="If-Match")]
Cursor = Annotated[str, Query(max_length=200)]
Limit = Annotated[int, Query(ge=1, le=MOST)]
Heard = Annotated[str, Header(alias="Last-Event-ID", pattern=r"^([0-9]{1,18})?$")]


class SignInBody(BaseModel):
    model_config = ConfigDict(extra="forbid")
    code: str = Field(max_length=200)


class RulingBody(BaseModel):
    """`commit`: what was looked at when it was decided, whole; empty: nothing was tested yet."""

    model_config = ConfigDict(extra="forbid")
    ruling: Literal["approve", "reject", "retry", "cancel"]
    commit: str = Field(pattern=r"^([0-9a-f]{40,64})?$")
    why: str = Field(default="", max_length=LONGEST_WORDS)


class AnswerBody(BaseModel):
    """`asked`: the questions about it that were shown, each in its words: one answer is to all of them."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(max_length=100)
    text: str = Field(max_length=LONGEST_WORDS)
    asked: list[str] = Field(max_length=MOST)


class PauseBody(BaseModel):
    model_config = ConfigDict(extra="forbid")
    paused: bool
    why: str = Field(default="", max_length=LONGEST_WORDS)


def etag(text: str) -> str:
    return f'"{sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'


def answered(text: str, known: str = "") -> Response:
    """Return 304 if the browser has exactly this."""
    tag = etag(text)
    if known and tag in (one.strip() for one in known.split(",")):
        return Response(status_code=304, headers={"etag": tag})
    body = text.encode("utf-8", "backslashreplace")
    return Response(body, headers={"etag": tag}, media_type="application/json")


# --- reading -------------------------------------------------------------------------------------------------


def _readers(home: BoardHome) -> APIRouter:
    routes = APIRouter(prefix=API)
    for name, reader in reading.READERS.items():
        routes.add_api_route(f"/{name}", _whole(home, reader), summary=(reader.__doc__ or name).splitlines()[0])
    routes.add_api_route("/news", _news(NewsDesk(home)))
    routes.add_api_route("/tasks", _tasks(home))
    routes.add_api_route("/audit", _audit(home))
    routes.add_api_route("/tasks/{id}", _of_task(home, task_facts))
    routes.add_api_route("/tasks/{id}/review", _of_task(home, review_facts))
    routes.add_api_route("/tasks/{id}/diff", _diff(home))
    return routes


def _whole(home: BoardHome, reader: Callable[[Records], Any]) -> Callable[..., Response]:
    def read(known: Changed = "") -> Response:
        return answered(home.read(reader), known)

    return read


def _of_task(home: BoardHome, reader: Callable[[Records, str, State], Any]) -> Callable[..., Response]:
    def read(id: str, known: Changed = "") -> Response:  # noqa: A002 (as the address names it)
        return answered(home.read(lambda records: reader(records, id, _state(records, id))), known)

    return read


def _diff(home: BoardHome) -> Callable[..., Response]:
    def read(
        id: str,  # noqa: A002
        begin: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        known: Changed = "",
    ) -> Response:
        def found(records: Records) -> Any:
            _state(records, id)
            return difference(records, id, begin)

        return answered(home.read(found), known)

    return read


def _tasks(home: BoardHome) -> Callable[..., Response]:
    def read(
        state: Annotated[str, Query(max_length=20)] = "",
        goal: Annotated[str, Query(max_length=100)] = "",
        cursor: Cursor = "",
        limit: Limit = 50,
        known: Changed = "",
    ) -> Response:
        def found(records: Records) -> Any:
            rows, last = reading.tasks(records, {"state": state, "goal": goal}, _after(cursor), limit)
            return {"tasks": rows, "next": _cursor(last) if last else None}

        return answered(home.read(found), known)

    return read


def _audit(home: BoardHome) -> Callable[..., Response]:
    def read(cursor: Cursor = "", limit: Limit = 50, known: Changed = "") -> Response:
        def found(records: Records) -> Any:
            after = _after(cursor)
            if after and not re.fullmatch("[0-9]{1,18}", after):
                raise HTTPException(400, "this cursor was not given out here")
            rows = reading.audit(records, int(after or 0), limit + 1)
            following = _cursor(str(rows[limit - 1]["seq"])) if len(rows) > limit else None
            return {"rows": rows[:limit], "next": following}

        return answered(home.read(found), known)

    return read


def _news(desk: NewsDesk) -> Callable[..., Response]:
    def listen(request: Request, heard: Heard = "") -> Response:
        """What changed, as server-sent events: seq, topic, ids. `Last-Event-ID`: the last one that was heard."""
        return NewsLine(desk, bearer(request.headers), int(heard) if heard else None)

    return listen


def _state(records: Records, id_: str) -> State:
    if (state := reading.where(records, id_)) is None:
        raise HTTPException(404, f"there is no task {id_[:60]}")
    return state


def _cursor(last: str) -> str:
    return urlsafe_b64encode(last.encode()).decode()


def _after(cursor: str) -> str:
    try:
        return b64decode(cursor.encode(), b"-_", validate=True).decode()
    except ValueError:
        raise HTTPException(400, "this cursor was not given out here") from None


# --- acting --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoardActions:
    """Orders, one after the other: what is said twice under one key is done once."""

    home: BoardHome
    lock: threading.Lock

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=API)
        routes.add_api_route("/tasks/{id}/rulings", self.rule, methods=["POST"], status_code=201)
        routes.add_api_route("/answers", self.answer, methods=["POST"], status_code=201)
        routes.add_api_route("/deploys/pause", self.pause, methods=["POST"], status_code=201)
        return routes

    def rule(self, id: str, body: RulingBody, key: Key, seen: Seen = "") -> Response:  # noqa: A002
        """`If-Match`: the ETag of the review that was read."""
        if not seen:
            raise HTTPException(428, "say which review you have read: If-Match")

        def judged(records: Records) -> BoardAnswer:
            review = review_facts(records, id, _state(records, id))
            text = self.home.told(review, records)
            if body.commit != review["commit"]:
                return _stale(409, "it has changed since you looked at it", text)
            if seen != etag(text):
                return _stale(412, "what is known about it has changed since you looked at it", text)
            return self._done(records, Arguments(body.ruling, Path(), id=id, commit=body.commit, why=body.why))

        return self._once(key, f"{id} {body.model_dump_json()}", judged)

    def answer(self, body: AnswerBody, key: Key) -> Response:
        def judged(records: Records) -> BoardAnswer:
            asked = [one["text"] for one in reading.waiting(records)["asked"] if one["goal"] == body.id]
            now = json.loads(self.home.told(asked, records))
            if now and sorted(now) != sorted(body.asked):
                return BoardAnswer(409, problem(409, "what is asked has changed since you read it", now=now).decode())
            return self._done(records, Arguments("answer", Path(), id=body.id, text=body.text))

        return self._once(key, f"answer {body.model_dump_json()}", judged)

    def pause(self, body: PauseBody, key: Key) -> Response:
        wish = Arguments("pause-deploys" if body.paused else "resume-deploys", Path(), why=body.why)
        return self._once(key, f"pause {body.model_dump_json()}", lambda records: self._done(records, wish))

    def _done(self, records: Records, wish: Arguments) -> BoardAnswer:
        try:
            return BoardAnswer(201, self.home.told(carried_out(records, wish), records))
        except Misconfigured as said:
            return BoardAnswer(409, problem(409, pasteable(str(said), self.home.root)).decode())

    def _once(self, key: str, asked: str, do: Callable[[Records], BoardAnswer]) -> Response:
        """What was refused may be asked again under its key; what was done is only told again."""
        digest = sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
        with self.lock, self.home.open(looking=False) as records:
            book = BoardOrders(records.db)
            known = book.answered(key, digest)
            if known and not known.text:
                raise HTTPException(known.status, "this key stood for another order")
            found = known or do(records)
            if known is None and found.status == 201:
                book.keep(key, digest, found, records.clock.now())
        kind = "application/json" if found.status < 400 else PROBLEM
        return Response(found.text.encode("utf-8", "backslashreplace"), found.status, media_type=kind)


def _stale(status: int, title: str, review: str) -> BoardAnswer:
    return BoardAnswer(status, problem(status, title, now=json.loads(review), etag=etag(review)).decode())


# --- the whole -----------------------------------------------------------------------------------------------


def make_app(home: BoardHome, port: int) -> BoardGuard:
    """Put it together: nothing is reached but through the guard."""
    app = FastAPI(
        title="sisimpur board",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        max_body_size=LONGEST_BODY,  # of a body that does not say how long it is
    )
    failures, pages = Failures(), PageFiles()
    app.include_router(_readers(home))
    app.include_router(BoardActions(home, threading.Lock()).routes())
    app.include_router(_sessions(home, failures))
    app.include_router(pages.routes())
    app.add_api_route("/health", lambda: Response('{"ok": true}', media_type="application/json"))
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _misread)
    app.add_exception_handler(TeamError, _named(home))
    app.add_exception_handler(Exception, _bug(home))
    free = frozenset({("POST", f"{API}/session"), ("GET", "/health")})

    def is_signed_in(key: str) -> bool:
        with home.open() as records:
            return BoardKeys(records.db).is_signed_in(key, records.clock.now())

    return BoardGuard(app, is_signed_in, port, (free, pages), failures)


def _sessions(home: BoardHome, failures: Failures) -> APIRouter:
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

    return routes


# --- what is wrong -------------------------------------------------------------------------------------------


def _problem(status: int, title: str, **more: object) -> Response:
    return Response(problem(status, title, **more), status, media_type=PROBLEM)


def _refused(_: Request, error: Exception) -> Response:
    return _problem(getattr(error, "status_code", 500), str(getattr(error, "detail", "")))


def _misread(_: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    wrong = [{"at": ".".join(map(str, one["loc"])), "says": one["msg"]} for one in found]
    return _problem(422, "this is no request that the board knows", errors=wrong)


def _named(home: BoardHome) -> Callable[[Request, Exception], Response]:
    def told(_: Request, error: Exception) -> Response:
        return _problem(503 if isinstance(error, Unavailable) else 409, pasteable(str(error), home.root))

    return told


def _bug(home: BoardHome) -> Callable[[Request, Exception], Response]:
    def told(_: Request, error: Exception) -> Response:
        return _problem(500, f"a bug; please report {keep_trace(home.root, error).name} in logs/")

    return told
