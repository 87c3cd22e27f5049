"""Addresses of what can be read."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.exceptions import HTTPException

from sisimpur.cli.views.budget import budget_facts
from sisimpur.cli.views.show import task_facts
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.lifecycle import State
from sisimpur.web.api.base.board_answers import API, answered
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN, Changed, described
from sisimpur.web.api.base.guard import signed_in
from sisimpur.web.api.reading import readers, team_readers
from sisimpur.web.api.reading.answers import ANSWERS
from sisimpur.web.api.reading.board_news import NewsDesk, NewsLine
from sisimpur.web.api.reading.plan_review import plan_review
from sisimpur.web.api.reading.review import difference, review_facts
from sisimpur.web.api.reading.team_answers import ReadyAnswer

MOST, MOST_SAID = 200, 20
Cursor = Annotated[str, Query(max_length=200, pattern="^[A-Za-z0-9_=-]*$")]
Limit = Annotated[int, Query(ge=1, le=MOST)]
Period = Annotated[str, Query(pattern=r"^([0-9]{4}-[0-9]{2}(-[0-9]{2})?)?$")]
Heard = Annotated[str, Header(alias="Last-Event-ID", pattern=r"^([0-9]{1,18})?$")]


OF_TASK = {
    "": task_facts,
    "/review": review_facts,
    "/trace": team_readers.trace,
    "/attempts": team_readers.attempts,
}


class NewsText(Response):
    media_type = "text/event-stream"


class FiguresText(Response):
    media_type = "text/plain"


def reading_routes(home: BoardHome) -> APIRouter:
    routes = APIRouter(prefix=API, responses=KNOWN)

    def add(name: str, read: Callable[..., Response], summary: str) -> None:
        routes.add_api_route(f"/{name}", read, summary=summary, responses=described(ANSWERS[name]))

    for name, reader in {**readers.READERS, **team_readers.WHOLE, "plan/review": plan_review}.items():
        add(name, _whole(home, reader), _first_line(reader, name))
    add("tasks", _tasks(home), "Tasks, the newest id first")
    add("audit", _audit(home), "Who did what, in its order")
    add("money", _money(home), "What each day of a month cost (default: of this month)")
    add("research/{id}", _research_note(home), "One question with its note")
    add("tasks/{id}/diff", _diff(home), "What the change is, of the commit that was tested")
    add("tasks/{id}/talk", _talk(home), "What was said to models for it")
    for name, part in OF_TASK.items():
        add(f"tasks/{{id}}{name}", _of_task(home, part), _first_line(part, name))
    return routes


def news_route(desk: NewsDesk) -> APIRouter:
    routes = APIRouter(prefix=API)
    routes.add_api_route("/news", _news(desk), response_class=NewsText, summary="What changed, as it happens")
    return routes


def _first_line(reader: Callable[..., Any], name: str) -> str:
    return (reader.__doc__ or name).splitlines()[0]


def watching_routes(home: BoardHome) -> APIRouter:
    """Addresses of what watches us, where such programs look for it. A key of the board is needed here, too."""
    routes = APIRouter()
    told = KNOWN | described(ReadyAnswer)
    routes.add_api_route("/ready", _whole(home, team_readers.ready), responses=told, summary="Whether it can be read")

    @routes.get("/metrics", response_class=FiguresText)
    def metrics() -> Response:
        """What `metrics --prometheus` prints."""
        with home.open() as records:
            text = team_readers.prometheus_text(records)
        return Response(text.encode("utf-8", "replace"), media_type="text/plain; version=0.0.4; charset=utf-8")

    return routes


def _whole(home: BoardHome, reader: readers.Reader) -> Callable[..., Response]:
    def read(known: Changed = "") -> Response:
        return answered(home.read(reader), known)

    return read


def _of_task(home: BoardHome, reader: Callable[[Records, str, State], Any]) -> Callable[..., Response]:
    def read(id: str, known: Changed = "") -> Response:  # noqa: A002 (as the address names it)
        return answered(home.read(lambda records: reader(records, id, state_of(records, id))), known)

    return read


def _diff(home: BoardHome) -> Callable[..., Response]:
    def read(
        id: str,  # noqa: A002
        begin: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        known: Changed = "",
    ) -> Response:
        def found(records: Records) -> Any:
            state_of(records, id)
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
            rows, last = readers.tasks(records, {"state": state, "goal": goal}, _after(cursor), limit)
            return {"tasks": rows, "next": _cursor(last) if last else None}

        return answered(home.read(found), known)

    return read


def _audit(home: BoardHome) -> Callable[..., Response]:
    def read(cursor: Cursor = "", limit: Limit = 50, known: Changed = "") -> Response:
        def found(records: Records) -> Any:
            rows = readers.audit(records, _number(cursor), limit + 1)
            following = _cursor(str(rows[limit - 1]["seq"])) if len(rows) > limit else None
            return {"rows": rows[:limit], "next": following}

        return answered(home.read(found), known)

    return read


def _money(home: BoardHome) -> Callable[..., Response]:
    def read(period: Period = "", known: Changed = "") -> Response:
        return answered(home.read(lambda records: budget_facts(records, period or records.day()[:7])), known)

    return read


def _talk(home: BoardHome) -> Callable[..., Response]:
    def read(
        id: str,  # noqa: A002
        cursor: Cursor = "",
        limit: Annotated[int, Query(ge=1, le=MOST_SAID)] = 5,
        known: Changed = "",
    ) -> Response:
        def found(records: Records) -> Any:
            state_of(records, id)
            calls, last = team_readers.talk(records, id, _number(cursor), limit)
            return {"calls": calls, "next": _cursor(str(last)) if last else None}

        return answered(home.read(found), known)

    return read


def _research_note(home: BoardHome) -> Callable[..., Response]:
    def read(id: str, known: Changed = "") -> Response:  # noqa: A002
        def found(records: Records) -> Any:
            if (note := team_readers.research_note(records, id)) is None:
                raise HTTPException(404, f"nothing of the id {id[:60]} was looked up")
            return note

        return answered(home.read(found), known)

    return read


def _news(desk: NewsDesk) -> Callable[..., Response]:
    def listen(request: Request, heard: Heard = "") -> Response:
        """What changed, as server-sent events: seq, topic, ids. `Last-Event-ID`: the last one that was heard."""
        return NewsLine(desk, signed_in(request.scope).key, int(heard) if heard else None)

    return listen


def state_of(records: Records, id_: str) -> State:
    if (state := readers.where(records, id_)) is None:
        raise HTTPException(404, f"there is no task {id_[:60]}")
    return state


def _cursor(last: str) -> str:
    return urlsafe_b64encode(last.encode()).decode()


def _number(cursor: str) -> int:
    after = _after(cursor)
    if after and not re.fullmatch("[0-9]{1,18}", after):
        raise HTTPException(400, "this cursor was not given out here")
    return int(after or 0)


def _after(cursor: str) -> str:
    try:
        return b64decode(cursor.encode(), b"-_", validate=True).decode()
    except ValueError:
        raise HTTPException(400, "this cursor was not given out here") from None
