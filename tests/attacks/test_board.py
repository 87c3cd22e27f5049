"""P12: what somebody beside us on this machine can do to the board without a key."""

from __future__ import annotations

import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx2
import pytest

from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.board_home import BoardHome
from sisimpur.web.api.server import AT_ONCE, server_of
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import link, signed_in


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)


@contextmanager
def board(stage: Stage) -> Iterator[int]:
    """The real server, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        server = server_of(make_app(BoardHome(stage.home.root, stage.clock), port))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.parametrize("many", [AT_ONCE - 1, 2 * AT_ONCE])
@pytest.mark.parametrize("begin", ["", "GET / HTTP/1.1\r\nhost: x", "POST /api/v1/session"])
def test_who_connects_and_says_nothing_keeps_nobody_out(home: Stage, begin: str, many: int) -> None:
    with board(home) as port, ExitStack() as stack:
        head = f"HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\ncontent-length: 99\r\n\r\n{{"
        for _ in range(many):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            line.sendall(f"{begin} {head}".encode() if begin.startswith("POST") else begin.encode())
        time.sleep(0.2)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as http:
            said = http.post("/api/v1/session", json={"code": link(home)}, headers={"origin": str(http.base_url)})
            assert said.status_code == 201, said.text
    assert not list((home.home.root / "logs").glob("bug-*"))


def test_a_cursor_of_somebody_else_is_refused_and_no_bug(home: Stage) -> None:
    page = signed_in(home)
    for told in ("9" * 100, "-1", "1 or 1", "١"):
        cursor = urlsafe_b64encode(told.encode()).decode()
        assert page.get(f"/api/v1/audit?cursor={cursor}").status_code == 400
    assert not list((home.home.root / "logs").glob("bug-*"))
