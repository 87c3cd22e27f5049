"""The board as a process of its own, and a browser's side of its line for news."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from sisimpur.shared.config.settings_board import BoardTls
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import server_of
from tests.journey.stage import Stage

ROOT = Path(__file__).parents[2]
LONGEST = 30.0  # seconds; a busy machine is slow


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@dataclass(frozen=True)
class BoardProcess:
    here: str
    link: str
    process: subprocess.Popen[str]


@contextmanager
def served(home: Path, port: int = 0) -> Iterator[BoardProcess]:
    port = port or free_port()
    typed = [sys.executable, str(ROOT / "main.py"), "--home", str(home), "board", "--port", str(port)]
    with subprocess.Popen(typed, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            link = next(line for line in process.stdout if "#code=" in line).strip()
            yield BoardProcess(f"http://127.0.0.1:{port}", link, process)
        finally:
            process.kill()


@contextmanager
def in_thread(stage: Stage, tls: BoardTls | None = None, name: str = "", **more: Any) -> Iterator[int]:
    """The real server, in this process, on a port of its own: on this machine, or by a name of its own over TLS.

    `more`: whom it calls, and who listens, as `make_app` says.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        place = BoardPlace(port, (f"{name}:{port}",), has_tls=True) if tls else BoardPlace(port)
        app = make_app(BoardHome(stage.home.root, stage.clock), place, **more)
        server = server_of(app, tls or BoardTls())
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join()


def key_of(board: BoardProcess) -> dict[str, str]:
    """Sign in by its link, which works once."""
    code = board.link.partition("/#code=")[2]
    body, headers = {"code": code}, {"origin": board.here}
    said = httpx2.post(f"{board.here}/api/v1/session", json=body, headers=headers, trust_env=False)
    return {"authorization": f"Bearer {said.json()['token']}"}


def socket_to(
    here: str, headers: dict[str, str] | None = None, origin: str | None = "", **more: Any
) -> ClientConnection:
    """Shake hands as a page of the board does, if nothing else is said. `here`: with http or https."""
    address = f"ws{here.removeprefix('http')}/api/v1/news"
    own = here if origin == "" else origin
    return connect(address, origin=own, additional_headers=headers, proxy=None, open_timeout=LONGEST, **more)  # type: ignore[arg-type]


def ended(line: ClientConnection) -> int:
    """Wait until the board ends it. Return its code."""
    until = time.monotonic() + LONGEST
    try:
        while True:
            line.recv(max(0, until - time.monotonic()))
    except ConnectionClosed as error:
        return error.rcvd.code if error.rcvd else 0


@dataclass
class Listener:
    """What came by one line, in its order. `status`: 0 before it is answered; of a socket the code of its end."""

    board: BoardProcess
    key: dict[str, str]
    last: int | None
    status: int = 0
    heard: list[dict[str, Any]] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        try:
            self._listen()
        except (httpx2.HTTPError, OSError):
            pass  # the board was killed
        finally:
            self.is_over.set()

    def _listen(self) -> None:
        last = {} if self.last is None else {"last-event-id": str(self.last)}
        with (
            httpx2.Client(base_url=self.board.here, trust_env=False, timeout=LONGEST) as http,
            http.stream("GET", "/api/v1/news", headers={**self.key, **last}) as answer,
        ):
            self.status = answer.status_code
            text = ""
            for part in answer.iter_text():
                *whole, text = (text + part).split("\n\n")
                self.heard += [event for one in whole if (event := _parsed(one))]

    def news(self) -> list[dict[str, Any]]:
        return [one for one in self.heard if one["event"] == "news"]

    def until(self, seen: Callable[[list[dict[str, Any]]], object]) -> float:
        """Wait until what was heard is so; in seconds."""
        began = time.monotonic()
        while not seen(list(self.heard)):
            assert time.monotonic() - began < LONGEST, self.heard
            assert not self.is_over.is_set() or seen(list(self.heard)), (self.status, self.heard)
            time.sleep(0.02)
        return time.monotonic() - began


class SocketListener(Listener):
    """The same by a socket, as a page listens."""

    def _listen(self) -> None:
        with socket_to(self.board.here) as line:
            first = {"key": self.key.get("authorization", "").removeprefix("Bearer "), "last": self.last}
            line.send(json.dumps(first))
            try:
                while True:
                    self.heard.append({"event": "news", **json.loads(line.recv())})
            except ConnectionClosed as error:
                self.status = error.rcvd.code if error.rcvd else 0


CARRIERS = (Listener, SocketListener)


def listening(
    board: BoardProcess, key: dict[str, str], last: int | None = None, by: type[Listener] = SocketListener
) -> Listener:
    """Begin to listen; the line is open when this returns, or refused."""
    one = by(board, key, last)
    threading.Thread(target=one.listen, daemon=True).start()
    began = time.monotonic()
    while not (one.heard or one.is_over.is_set()):
        assert time.monotonic() - began < LONGEST
        time.sleep(0.02)
    return one


def _parsed(event: str) -> dict[str, Any]:
    fields = dict(row.split(": ", 1) for row in event.splitlines())
    if "data" not in fields:
        return {}
    data = json.loads(fields["data"])
    assert fields["id"] == str(data["seq"])
    return {"event": fields.get("event", "news"), **data}
