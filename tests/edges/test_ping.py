"""The dead man's switch: it is told how each phase ended, keeps nobody from working, and its address stays secret."""

from __future__ import annotations

import io
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sisimpur.shared.notify.ping import PATIENCE, Ping
from tests.killing import killed_at, points, snippet

TOKEN = "5f1c6c3e-uuid-of-a-switch"


class Switch(ThreadingHTTPServer):
    """Keeps what it is asked, and answers as it is told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.agents: list[str] = []
        self.status = 200
        self.location = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{TOKEN}"


class Handler(BaseHTTPRequestHandler):
    server: Switch

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.agents.append(self.headers["user-agent"])
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("location", self.server.location)
        self.end_headers()
        self.wfile.write(b"whatever it says")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def switch() -> Iterator[Switch]:
    with Switch() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes calls and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/{TOKEN}"


def nobody() -> str:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/{TOKEN}"


def test_it_is_told_how_a_phase_ended(switch: Switch) -> None:
    ping = Ping(switch.url)
    assert ping.phase_ended("morning", ok=True) == ""
    assert ping.phase_ended("planning", ok=False) == ""
    assert switch.asked == [f"/{TOKEN}", f"/{TOKEN}/fail"]
    assert switch.agents == ["sisimpur-agents/0.1"] * 2


def test_a_query_stays_where_it_was(switch: Switch) -> None:
    ping = Ping(f"{switch.url}/?team=a")
    assert [ping.phase_ended("work", ok) for ok in (True, False)] == ["", ""]
    assert switch.asked == [f"/{TOKEN}/?team=a", f"/{TOKEN}/fail?team=a"]


def test_without_an_address_nothing_is_called() -> None:
    assert Ping("").phase_ended("morning", ok=True) == ""


@pytest.mark.parametrize(("status", "said"), [(404, "404"), (500, "500")])
def test_an_answer_that_is_no_yes_is_told(switch: Switch, status: int, said: str) -> None:
    switch.status = status
    assert Ping(switch.url).phase_ended("morning", ok=True).endswith(f"it answers with {said}")


def test_a_redirect_is_not_followed(switch: Switch) -> None:
    switch.status, switch.location = 302, f"http://127.0.0.1:{switch.server_port}/elsewhere"
    assert "it answers with 302" in Ping(switch.url).phase_ended("morning", ok=True)
    assert switch.asked == [f"/{TOKEN}"]


def test_nobody_there_is_told_and_raises_nothing() -> None:
    said = Ping(nobody()).phase_ended("wrap_up", ok=True)
    assert said == "PING_URL was not told that wrap_up ended: ConnectError"


def test_one_who_says_nothing_is_given_up() -> None:
    with silent() as url:
        began = time.monotonic()
        assert "ReadTimeout" in Ping(url, patience=0.3).phase_ended("morning", ok=True)
        assert 0.2 < time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"https://[::1/{TOKEN}", id="half an address"),
        pytest.param(f"https://127.0.0.1:99999999/{TOKEN}", id="no port"),
        pytest.param(f"ftp://127.0.0.1/{TOKEN}", id="another protocol"),
        pytest.param(TOKEN, id="no address at all"),
        pytest.param(f"http://127.0.0.1:1/{TOKEN}\n", id="a line break"),
        pytest.param(f"http://{'x' * 300}.localhost:1/{TOKEN}", id="a name that is none"),
    ],
)
@pytest.mark.parametrize("ok", [True, False])
def test_an_address_that_is_none_raises_nothing_either(url: str, ok: bool) -> None:
    said = Ping(url).phase_ended("morning", ok)
    assert said.startswith("PING_URL was not told that morning ended: ")
    assert TOKEN not in said


def test_the_address_stands_in_no_log_and_no_text(switch: Switch) -> None:
    text = io.StringIO()
    handler, root = logging.StreamHandler(text), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        ping = Ping(switch.url)
        switch.status = 404
        said = ping.phase_ended("morning", ok=True) + Ping(nobody()).phase_ended("morning", ok=True)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert TOKEN not in f"{said} {ping} {ping!r}"
    assert TOKEN not in text.getvalue()


def test_a_kill_after_the_call_leaves_the_call_made(switch: Switch) -> None:
    code = "import sys; from sisimpur.shared.notify.ping import Ping; Ping(sys.argv[1]).phase_ended('morning', ok=True)"
    assert points(snippet(code, switch.url)) == ["ping.sent"]
    killed_at("ping.sent", snippet(code, switch.url))
    assert len(switch.asked) == 2
