"""A model without a model: serves the Anthropic Messages API from a script.

For the demo, for tests, and for trying a day before it costs money. It listens on this machine only, refuses what the
live API refuses, counts and bills as the vendor does, and marks every answer with where it stands in the script.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sisimpur.shared.system.clock import Clock, SystemClock
from sisimpur.simulators.model.answer import message
from sisimpur.simulators.model.models import MODELS
from sisimpur.simulators.model.rules import ERROR_TYPES, ApiError, Call, check, check_headers
from sisimpur.simulators.model.script import Asked, Script, read_script, script_of
from sisimpur.simulators.model.steps import ErrorBody, PlacedStep
from sisimpur.simulators.model.usage import PromptCache, price, prompt_tokens
from sisimpur.simulators.model.wire import Playing, gone_within, http_server, listener


@dataclass
class Recorded:
    """One request as the vendor saw it; filled in while it is answered. `billed` is in nano-dollars."""

    path: str
    headers: Mapping[str, str]
    body: Any = None  # None: not JSON
    agent: str = ""  # who asked
    summary: str = ""  # who asked what
    answer: str = ""  # its texts
    step: str = ""  # where the answer stands; empty: there was none
    status: int = 0
    error: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    billed: int = 0
    gone: bool = False  # the caller hung up while we waited


class ScriptedModel:
    """`with ScriptedModel([{"text": "hello"}]) as model:` serves at `model.url` until the block ends.

    `script` is what `read_script` returns, or its steps as mappings. Port 0: any free one. `heard` is told one line
    for each call, on the server's thread. Misconfigured if the script is wrong or the port is taken.
    """

    def __init__(
        self,
        script: Script | Sequence[Mapping[str, Any]],
        port: int = 0,
        clock: Clock | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self._clock = clock or SystemClock()
        self._heard = heard
        self._cache = PromptCache()
        self._script = script if isinstance(script, Script) else script_of(script)
        self._socket = listener(port)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = http_server(self._app())
        self._thread = threading.Thread(target=self.run, name="scripted-model", daemon=True)

    @property
    def billed(self) -> int:
        """The vendor's truth, in nano-dollars."""
        return sum(request.billed for request in self.requests)

    def play(self, script: Script | Sequence[Mapping[str, Any]]) -> None:
        """Another script from the next call on. Earlier requests, and what is kept of their prompts, stay."""
        self._script = script if isinstance(script, Script) else script_of(script)

    def run(self) -> None:
        """Serves until interrupted, or until `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        self._server.leave()
        self._thread.join()

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # --- what is served

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/{prefix:path}v1/messages", _Messages(self), methods=["POST"]),
                Route("/{prefix:path}v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/{prefix:path}v1/models", self._models),
                Route("/{prefix:path}v1/models/{model}", self._model),
            ],
            exception_handlers={404: _no_such_path, 405: _no_such_path},
        )

    def _today(self) -> date:
        return self._clock.now().date()

    async def _count(self, request: Request) -> JSONResponse:
        headers = _headers(request.scope)
        try:
            check_headers(headers)
            call = check(await request.body(), headers, self._today(), counting=True)
        except ApiError as error:
            return _refusal(error, "req_count")
        return JSONResponse({"input_tokens": prompt_tokens(call)}, headers={"request-id": "req_count"})

    async def _models(self, request: Request) -> JSONResponse:  # noqa: ARG002
        data = [model.info(self._today()) for model in MODELS.values()]
        ends = {"has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}
        return JSONResponse({"data": data, **ends}, headers={"request-id": "req_models"})

    async def _model(self, request: Request) -> JSONResponse:
        model = MODELS.get(request.path_params["model"])
        if model is None:
            return _refusal(ApiError(404, f"model: {request.path_params['model'][:100]}"), "req_model")
        return JSONResponse(model.info(self._today()), headers={"request-id": "req_model"})

    # --- one call

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one POST /v1/messages. Called by the server."""
        record = Recorded(scope["path"], _headers(scope))
        self.requests.append(record)
        number = len(self.requests)
        try:
            call = self._call(await Request(scope, receive).body(), record)
            step = await self.step_for(call, number)
            record.step = step.where
            record.gone = await gone_within(receive, step.delay)
            _fail_as_scripted(step, call)
            whole = self._written(call, step, number, record)
            record.status = 200
            self._tell(number, record)
            playing = Playing(step, _request_id(number), scope, receive, send)
            record.gone = await playing.play(whole, call.request.stream, record.gone)
        except ApiError as error:
            record.status, record.error = error.status, str(error)
            self._tell(number, record)
            await _refusal(error, _request_id(number))(scope, receive, send)

    def _call(self, body: bytes, record: Recorded) -> Call:
        record.body = _json(body)
        check_headers(record.headers)
        call = check(body, record.headers, self._today())
        asked = Asked.by(call.request)
        record.agent, record.summary = asked.agent, asked.summary
        return call

    async def step_for(self, call: Call, number: int) -> PlacedStep:  # noqa: ARG002  a person's answer needs it
        """What answers the call with this number. ApiError: the script has no step for it."""
        step = self._script.answer(Asked.by(call.request))
        if isinstance(step, str):
            raise ApiError(400, step)
        return step

    def _written(self, call: Call, step: PlacedStep, number: int, record: Recorded) -> Mapping[str, Any]:
        """The whole answer, billed: what is lost on the way was written all the same."""
        whole = message(call, step, number, self._cache.usage(call, self._clock.now()))
        record.usage = whole["usage"]
        record.answer = "\n".join(block["text"] for block in whole["content"] if block["type"] == "text")
        record.billed = price(call.model.id, record.usage)
        return whole

    def _tell(self, number: int, record: Recorded) -> None:
        who = record.summary or record.path
        ending = f"{record.status} {record.error}" if record.error else "answered"
        if self._heard:
            self._heard(f"call {number}: {who} -> {ending}" + (f" from {record.step}" if record.step else ""))


def serve(script: Path, port: int, ready: Callable[[str], None], heard: Callable[[str], None]) -> None:
    """In the foreground until interrupted. `ready` is told the address, `heard` one line for each call."""
    model = ScriptedModel(read_script(script), port, heard=heard)
    ready(model.url)
    model.run()


class _Messages:
    """The route's application: it needs the connection itself, to break it as a script says."""

    def __init__(self, model: ScriptedModel) -> None:
        self._model = model

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._model.answer(scope, receive, send)


def _fail_as_scripted(step: PlacedStep, call: Call) -> None:
    """ApiError if the step is one; an error in mid-stream is a plain one to who does not stream."""
    if step.status != 200:
        error = step.error or ErrorBody()
        text = error.message or f"scripted error {step.status}"
        raise ApiError(step.status, text, error.type, error.details, step.headers)
    if step.error_event and not call.request.stream:
        status = {kind: number for number, kind in ERROR_TYPES.items()}.get(step.error_event.type, 500)
        raise ApiError(status, step.error_event.message, step.error_event.type)


def _refusal(error: ApiError, request_id: str) -> JSONResponse:
    headers = {"request-id": request_id, **error.headers}
    return JSONResponse({"type": "error", "error": error.error, "request_id": request_id}, error.status, headers)


async def _no_such_path(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001
    return _refusal(ApiError(404, f"Not found: {request.method} {request.url.path[:100]}"), "req_path")


def _request_id(number: int) -> str:
    return f"req_scripted_{number:06}"


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
