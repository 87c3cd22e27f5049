"""A vendor that keeps its own books, and tells of them what it likes: a program that shares no code with ours.

    python lying_endpoint.py '{"NAME": {"say_in": 0.5}, ...}' CALLERS    prints its port, serves until its input ends

`/NAME/v1/messages` behaves as NAME says; `/NAME/bill` is the truth: what was served, at its prices, by its count.
Fields of a behaviour, with what an honest vendor does: TRUTH below.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TRUTH: dict[str, Any] = {
    "divisor": 4.0,  # bytes to a token, of its tokenizer
    "say_in": 1.0,  # what it tells of its count: a share of the truth, or a number as text
    "say_out": 1.0,
    "kind": "input",  # how the prompt is said to be priced: input, read, write
    "say_model": "",  # who is said to have answered
    "out": 200,  # tokens of an answer
    "hidden": 0,  # tokens of it that are thought and not shown
    "beyond": 1.0,  # of max_tokens, where it stops: beyond 1 it ignores them
    "end": "whole",  # cut: without an end; early: after the prompt's count; error; unsaid: no count at the end
    "status": 0,  # an error before the first event
    "bills_errors": False,  # the prompt of such a call
    "honest_for": 0,  # calls that are served as TRUTH says before all this begins
    "pause": 0.0,  # seconds before an answer: so long others are in flight
    "serve_as": 200,  # the status of a whole answer
    "times": 1,  # its prices, by those below: another model answers
    "in_starts": False,  # the answer comes as blocks that are whole when they start
    "retry_after": "",  # beside an error
    "bills_all": False,  # errors cost as much as answers
    "count": None,  # what it counts as output, instead of a number
    "packed": "",  # how the body is told to be: gzip, short (of its length), long
}
IN, WRITE, READ, OUT = 2_000, 2_500, 100, 10_000  # nano-dollars of a token
WORD = "lorem ipsum dolor sit "


class Book:
    """The truth about one behaviour."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.bill = self.calls = self.lies = 0
        self.flying: dict[int, int] = {}  # call -> the most that it may cost, by what was asked
        self.at_first_lie = 0  # the most that the calls may cost that were sent when the first lie was told to its end
        self.sent_then = 0  # of these; one that was sent may come a little later
        self.at_second_lie = 0  # calls that had come until the second

    def came(self, number: int, most: int, callers: int) -> None:
        """Call NUMBER may cost MOST nano-dollars. So many CALLERS ask, each for one answer at a time."""
        self.flying[number] = most
        if self.lies and self.sent_then < callers:
            self.sent_then += 1
            self.at_first_lie += most

    def ended(self, number: int, is_lie: bool) -> None:
        with self.lock:
            self.lies += is_lie
            if is_lie and self.lies == 1:
                self.at_first_lie, self.sent_then = sum(self.flying.values()), len(self.flying)
            if is_lie and self.lies == 2:
                self.at_second_lie = self.calls
            del self.flying[number]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        book = self.server.books[self.path.split("/")[1]]
        until = time.monotonic() + 5
        while book.flying and time.monotonic() < until:  # one that was cut is billed a little longer
            time.sleep(0.01)
        told = ("bill", "calls", "lies", "at_first_lie", "at_second_lie")
        data = json.dumps({name: getattr(book, name) for name in told}).encode()
        self._whole(200, data)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        name, asked = self.path.split("/")[1], json.loads(raw)
        book = self.server.books[name]
        with book.lock:
            book.calls += 1
            number = book.calls
            book.came(number, (len(raw) + 1_000) * WRITE + asked["max_tokens"] * OUT, self.server.callers)
        self._packed = False
        way = TRUTH | (self.server.ways[name] if number > self.server.ways[name].get("honest_for", 0) else {})
        try:
            self._serve(way, asked, book)
        except OSError:
            self.close_connection = True  # the caller has cut it
        finally:
            book.ended(number, way != TRUTH)

    def _serve(self, way: dict[str, Any], asked: dict[str, Any], book: Book) -> None:
        prompt = self._tokens("".join(_texts(asked)), way)
        time.sleep(way["pause"])
        if way["status"]:
            self._pay(book, prompt * IN if way["bills_errors"] or way["bills_all"] else 0)
            self._pay(book, min(way["out"], asked["max_tokens"]) * OUT if way["bills_all"] else 0)
            self._whole(
                way["status"], b'{"type": "error", "error": {"type": "api_error", "message": "no"}}', way["retry_after"]
            )
            return
        self._pay(book, prompt * (WRITE if "cache_control" in json.dumps(asked) else IN) * way["times"])
        if way["packed"] == "json":
            self._pay(book, way["out"] * OUT)
            self._whole(200, b'{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}')
            return
        self.send_response(way["serve_as"])
        self.send_header("content-type", "text/event-stream")
        if way["packed"] in ("short", "long"):
            self.send_header("content-length", "700" if way["packed"] == "short" else "9000000")
        if way["packed"] == "gzip":
            self._packed = True
            self.send_header("content-encoding", "gzip")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        said = _said(prompt, way["say_in"])
        counts = {"input_tokens": said, "output_tokens": 1}
        if way["kind"] == "read":
            counts |= {"input_tokens": 0, "cache_read_input_tokens": said}
        elif way["kind"] == "write":
            counts |= {"input_tokens": 0, "cache_creation_input_tokens": said}
        message = {"id": "m", "type": "message", "role": "assistant", "model": way["say_model"] or asked["model"]}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": counts}
        if way["end"] == "elsewhere":
            message["usage"] = {}
        self._event({"type": "message_start", "message": message})
        if way["end"] == "early":
            return
        self._event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        out = self._answer(way, asked["max_tokens"], book)
        if way["end"] == "cut":
            return
        if way["end"] == "error":
            self._event({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})
            return
        self._event({"type": "content_block_stop", "index": 0})
        end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}}
        if way["count"] is not None:
            end["usage"] = {"output_tokens": way["count"]}
        elif way["end"] == "elsewhere":
            self._event({"type": "bill", "usage": {"input_tokens": said, "output_tokens": out}})
        elif way["end"] == "shrinks":
            self._event({**end, "usage": {"output_tokens": out, "input_tokens": prompt}})
            end["usage"] = {"output_tokens": out * 11 // 20, "input_tokens": prompt * 11 // 20}
        elif way["end"] == "twice":
            half = {"input_tokens": prompt * 11 // 20, "output_tokens": 1}
            self._event({"type": "message_start", "message": {**message, "usage": half}})
            end["usage"] = {"output_tokens": out * 11 // 20}
        elif way["end"] != "unsaid":
            end["usage"] = {"output_tokens": _said(out, way["say_out"])}
        self._event(end)
        self._event({"type": "message_stop"})

    def _answer(self, way: dict[str, Any], max_tokens: int, book: Book) -> int:
        """Write the answer, some tokens at a time, and bill each of them before it is sent."""
        out = int(max_tokens * way["beyond"]) if way["beyond"] > 1 else min(way["out"] + way["hidden"], max_tokens)
        hidden = min(way["hidden"], out)
        self._pay(book, hidden * OUT * way["times"])
        shown, step = out - hidden, 40
        for begin in range(0, shown, step):
            tokens = min(step, shown - begin)
            text = (WORD * step)[: int(tokens * way["divisor"])]
            self._pay(book, tokens * OUT * way["times"])
            if way["in_starts"]:
                block = {"type": "text", "text": text}
                self._event({"type": "content_block_start", "index": begin // step + 1, "content_block": block})
            else:
                delta = {"type": "text_delta", "text": text}
                self._event({"type": "content_block_delta", "index": 0, "delta": delta})
            if way["beyond"] > 1:
                time.sleep(0.01)  # 4,000 tokens a second
        return out

    def _tokens(self, text: str, way: dict[str, Any]) -> int:
        return int(-(-len(text.encode()) // way["divisor"]))

    def _pay(self, book: Book, amount: int) -> None:
        with book.lock:
            book.bill += amount

    def _event(self, event: dict[str, Any]) -> None:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        self.wfile.write(gzip.compress(data) if self._packed else data)
        self.wfile.flush()

    def _whole(self, status: int, data: bytes, retry_after: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if retry_after:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _said(truth: int, say: float | str) -> int:
    return int(say) if isinstance(say, str) else round(truth * say)


def _texts(asked: dict[str, Any]) -> list[str]:
    return [asked.get("system", ""), *(message["content"] for message in asked["messages"])]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        pass


def main() -> None:
    server: Any = Server(("127.0.0.1", 0), Handler)
    server.ways = json.loads(sys.argv[1])
    server.callers = int(sys.argv[2])
    server.books = {name: Book() for name in server.ways}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
