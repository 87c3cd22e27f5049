"""What leaves the board: JSON with an ETag, and what is wrong as a problem (RFC 9457)."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from sisimpur.cli.app import keep_trace
from sisimpur.cli.terminal.printing import pasteable
from sisimpur.shared.model.errors import TeamError, Unavailable
from sisimpur.shared.model.text import sha256_of
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.guard import PROBLEM, problem
from sisimpur.web.api.base.sign_in import BoardAnswer

API = "/api/v1"


def etag(text: str) -> str:
    return f'"{sha256_of(text)[:32]}"'


def answered(text: str, known: str = "") -> Response:
    """Return 304 if the browser has exactly this."""
    tag = etag(text)
    if known and tag in (one.strip() for one in known.split(",")):
        return Response(status_code=304, headers={"etag": tag})
    body = text.encode("utf-8", "backslashreplace")
    return Response(body, headers={"etag": tag}, media_type="application/json")


def as_response(found: BoardAnswer) -> Response:
    kind = "application/json" if found.status < 400 else PROBLEM
    return Response(found.text.encode("utf-8", "backslashreplace"), found.status, media_type=kind)


def told_as_problems(app: FastAPI, home: BoardHome, allowed: Callable[[str], str]) -> None:
    """Answer each error of a route with a problem. `allowed`: a path -> the methods that it takes."""
    app.add_exception_handler(HTTPException, _refused(allowed))
    app.add_exception_handler(RequestValidationError, _misread)
    app.add_exception_handler(TeamError, _named(home))
    app.add_exception_handler(Exception, _bug(home))


def problem_answer(status: int, title: str, **more: object) -> Response:
    """Answer no."""
    return Response(problem(status, title, **more), status, media_type=PROBLEM)


def _refused(allowed: Callable[[str], str]) -> Callable[[Request, Exception], Response]:
    def told(request: Request, error: Exception) -> Response:
        answer = problem_answer(getattr(error, "status_code", 500), str(getattr(error, "detail", "")))
        answer.headers.update(getattr(error, "headers", None) or {})
        if answer.status_code == 405:  # a route knows its own method only, not that of its neighbour
            answer.headers["allow"] = allowed(request.scope["path"])
        return answer

    return told


def _misread(_: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    wrong = [{"at": ".".join(map(str, one["loc"])), "says": one["msg"]} for one in found]
    return problem_answer(422, "this is no request that the board knows", errors=wrong)


def _named(home: BoardHome) -> Callable[[Request, Exception], Response]:
    def told(_: Request, error: Exception) -> Response:
        return problem_answer(503 if isinstance(error, Unavailable) else 409, pasteable(str(error), home.root))

    return told


def _bug(home: BoardHome) -> Callable[[Request, Exception], Response]:
    def told(_: Request, error: Exception) -> Response:
        return problem_answer(500, f"a bug; please report {keep_trace(home.root, error).name} in logs/")

    return told
