"""P12: what somebody beside us on this machine can do to the board without a key."""

from __future__ import annotations

import json
import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest

from bench.openapi import description
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import board as board_command
from sisimpur.web.api.server import server_of
from sisimpur.web.api.yielding_connection import MOST
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, Browser, link, signed_in


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


@pytest.mark.parametrize("many", [MOST + 19, 200, 1_000])
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


# --- who may -------------------------------------------------------------------------------------------------


def test_a_link_used_twice_signs_nobody_in(home: Stage) -> None:
    page, code = signed_in(home), link(home)
    assert page.post("session", {"code": code}).status_code == 201
    before = page.read("sessions")
    assert page.post("session", {"code": code}).status_code in (401, 429)
    assert page.read("sessions") == before


@pytest.mark.parametrize("by_terminal", [False, True])
def test_a_session_that_was_closed_reads_and_orders_nothing_and_the_others_go_on(
    tmp_path: Path, by_terminal: bool
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    lost = signed_in(stage)
    (its,) = lost.read("sessions")
    stage.clock.sleep(60)
    mine = signed_in(stage)
    listed = mine.read("sessions")
    assert [one["id"] for one in listed][1:] == [its["id"]] and listed[1] == its
    assert its["made"] == its["seen"] < listed[0]["made"] < its["until"]
    assert not any(page.token in mine.get("/api/v1/sessions").text for page in (lost, mine))
    if by_terminal:
        assert board_command(Arguments("board", stage.home.root, close=its["id"])) == 0
    else:
        gone = mine.http.delete(f"/api/v1/sessions/{its['id']}", headers=key(mine))
        assert gone.status_code == 204
    assert lost.get("/api/v1/status").status_code == 401
    assert lost.post("money/cap", {"amount": "9"}).status_code == 401
    assert lost.http.delete(f"/api/v1/sessions/{listed[0]['id']}", headers=key(lost)).status_code == 401
    assert mine.read("sessions") == listed[:1]
    assert mine.http.delete(f"/api/v1/sessions/{its['id']}", headers=key(mine)).status_code == 404
    (row,) = [one for one in mine.read("audit?limit=200")["rows"] if "ended" in one["detail"]]
    assert (row["via"], row["detail"]["session"]) == ("terminal" if by_terminal else "board", its["id"])


def test_a_link_that_nobody_used_is_no_session_and_is_not_closed_as_one(home: Stage) -> None:
    page, code = signed_in(home), link(home)
    name = sha256(code.encode()).hexdigest()[:8]
    assert name not in {one["id"] for one in page.read("sessions")}
    assert page.http.delete(f"/api/v1/sessions/{name}", headers=key(page)).status_code == 404
    assert page.post("session", {"code": code}).status_code == 201


def test_the_terminal_lists_who_is_signed_in_without_a_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    stage.clock.sleep((datetime.now(UTC) - stage.clock.now()).total_seconds())
    page = signed_in(stage)
    assert board_command(Arguments("board", stage.home.root, sessions=True)) == 0
    printed = capsys.readouterr().out
    assert page.read("sessions")[0]["id"] in printed and page.token not in printed
    with pytest.raises(Misconfigured, match="board --sessions"):
        board_command(Arguments("board", stage.home.root, close="00000000"))


def key(page: Browser) -> dict[str, str]:
    return {"authorization": f"Bearer {page.token}", "origin": HERE}


# --- every address that there is -----------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
ADDRESSES = [
    (method.upper(), path, [one["name"] for one in said.get("parameters", ())], "requestBody" in said)
    for path, methods in json.loads(description())["paths"].items()
    for method, said in methods.items()
]
OPEN = {("POST", "/api/v1/session"), ("GET", "/health")}
ORDERED = {"idempotency-key": "one-press", "if-match": '"seen"'}


def test_the_description_in_the_docs_is_the_boards_own() -> None:
    assert (ROOT / "docs" / "openapi.json").read_text("utf-8") == description()


def wrong_requests(method: str, path: str, names: list[str], has_body: bool) -> Iterator[tuple[str, object]]:
    """What an address of this kind has to refuse: a path with its query, and a body."""
    known = path.format(id="none", role="none")
    if "{" in path:
        yield known, {} if has_body else None
        yield path.format(id="x" * 3_000, role="x" * 3_000), {} if has_body else None
        yield path.format(id="..%2F..%2Fconfig%2F.env", role="..%2F"), {} if has_body else None
    if "cursor" in names:
        yield f"{known}?cursor=%F0", None
        yield f"{known}?cursor={'A' * 300}", None
    if "limit" in names:
        yield f"{known}?limit=0", None
        yield f"{known}?limit=99999999999999999999", None
    if has_body:
        yield known, {"command": "rm -rf /"}
        yield known, [1]
        yield known, {"text": "x" * 300_000}


@pytest.mark.parametrize(
    ("method", "path", "names", "has_body"), ADDRESSES, ids=[" ".join(one[:2]) for one in ADDRESSES]
)
def test_each_address_refuses_strangers_and_what_it_does_not_know(
    home: Stage, shared: Browser, method: str, path: str, names: list[str], has_body: bool
) -> None:
    if (method, path) not in OPEN:
        stranger = shared.http.request(method, path.format(id="none", role="coder"), headers={"origin": HERE})
        assert stranger.status_code in (401, 429)
    headers = {**ORDERED, "origin": HERE, "authorization": f"Bearer {shared.token}"}
    for address, body in wrong_requests(method, path, names, has_body):
        answer = shared.http.request(method, address, json=body, headers=headers)
        assert 400 <= answer.status_code < 500, (address[:80], answer.status_code)
        assert answer.headers["content-type"] == "application/problem+json"
        assert {"type", "status", "title"} <= answer.json().keys()
    assert not list((home.home.root / "logs").glob("bug-*"))


@pytest.fixture(scope="module")
def shared(home: Stage) -> Browser:
    return signed_in(home)
