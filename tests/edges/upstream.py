"""A scripted upstream: answers the Messages API step by step, and keeps the vendor's own bill.

It bills when a request arrives, the worst for us: also when nobody reads the answer. Its prices are its own.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Nano-dollars per token: (input, 5m write, 1h write, read, output); Haiku's second band from 100,001 tokens on.
PRICES = {
    "claude-sonnet-5-5": (2_000, 2_500, 4_000, 100, 10_000),
    "claude-haiku-5-5": (100, 125, 200, 10, 500),
    "claude-opus-5-5": (4_000, 5_000, 8_000, 200, 20_000),
}


@dataclass(frozen=True)
class Step:
    """One answer. Without a status of its own it is a message; `hold` keeps it back until the event is set."""

    status: int = 200
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = "fine"
    blocks: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    input: int = 50
    output: int = 20
    stop_reason: str = "end_turn"
    model: str = ""
    hold: threading.Event | None = None
    hold_after: int = 0  # events sent before `hold`
    cut_after: int | None = None  # events, then the connection ends
    broken_event: Mapping[str, Any] | None = None  # sent instead of the rest
    no_answer: bool = False  # the connection ends after the request was read

    def cost(self, model: str) -> int:
        into, write_5m, write_1h, read, out = PRICES[model]
        writes: Any = self.usage.get("cache_creation", {})
        written = {5: writes.get("ephemeral_5m_input_tokens", 0), 60: writes.get("ephemeral_1h_input_tokens", 0)}
        reads: Any = self.usage.get("cache_read_input_tokens", 0)
        band = 5 if "haiku" in model and self.input + sum(written.values()) + reads > 100_000 else 1
        prompt = self.input * into + written[5] * write_5m + written[60] * write_1h + reads * read
        return int(band * (prompt + self.output * out))


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Script = Callable[[Request], Step]


class ScriptedUpstream:
    """`steps` are answered in order, then `script`; `bill` is the vendor's truth in nano-dollars."""

    def __init__(self, *steps: Step, script: Script = lambda request: Step()) -> None:
        self.steps = list(steps)
        self.script = script
        self.requests: list[Request] = []
        self.bill = 0
        self.arrived = threading.Semaphore(0)  # released once per request
        self.left = threading.Event()  # a caller went away before the end of his answer
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.upstream = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedUpstream:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next_step(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            step = self.steps.pop(0) if self.steps else self.script(request)
            if step.status == 200 and request.path.endswith("/messages"):
                self.bill += step.cost(step.model or request.body["model"])
        self.arrived.release()
        return step


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    upstream: ScriptedUpstream

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.upstream.left.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw))
        step = self.server.upstream.next_step(request)
        if step.no_answer:
            self.close_connection = True
        elif step.status != 200:
            self._whole(step.status, {"type": "error", "error": step.error}, step.headers)
        elif request.path.endswith("/count_tokens"):
            self._whole(200, {"input_tokens": step.input}, {})
        else:
            self._stream(events(step, request.body["model"]), step)

    def _whole(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, pieces: list[bytes], step: Step) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", "req_scripted")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        pause = step.hold_after if step.hold else len(pieces)
        self._chunk(b"".join(pieces[:pause][: step.cut_after]))
        if step.hold and not step.hold.wait(10):
            raise TimeoutError("nobody let the answer go")
        self._chunk(b"".join(pieces[pause : step.cut_after]))
        if step.cut_after is not None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        pass


def events(step: Step, model: str) -> list[bytes]:
    """In the vendor's order: message_start, per block start, deltas, stop, then message_delta and message_stop."""
    usage = {"input_tokens": step.input, "output_tokens": 1, "service_tier": "standard", **step.usage}
    message: dict[str, Any] = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": step.model or model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    found: list[Mapping[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, block in enumerate(step.blocks or ({"type": "text", "text": step.text},)):
        found += _block(index, block)
    if step.broken_event:
        found = [*found[: step.hold_after], step.broken_event]
    else:
        delta = {"stop_reason": step.stop_reason, "stop_sequence": None}
        found.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": step.output}})
        found.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in found]


def _block(index: int, block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    kind = block["type"]
    name = {"text": "text", "thinking": "thinking", "tool_use": "input"}[kind]
    whole = json.dumps(block["input"]) if kind == "tool_use" else block[name]
    wire = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}[kind]
    field_name = {"tool_use": "partial_json"}.get(kind, name)
    empty = {**block, name: {} if kind == "tool_use" else ""}
    halves = (whole[: len(whole) // 2], whole[len(whole) // 2 :])
    deltas: list[Mapping[str, Any]] = [{"type": wire, field_name: half} for half in halves]
    if kind == "thinking":
        empty["signature"] = ""
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
