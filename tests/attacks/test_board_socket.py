"""P12: what a page beside us, a stranger on this machine and somebody who is signed in can do by a socket."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sisimpur.web.api.base.rights import SCOPES, Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.base.socket_guard import FIRST_WITHIN
from sisimpur.web.api.reading.board_news import BEATS_EACH, MOST_LINES, MOST_OF_GUESTS, MOST_OF_ONE
from sisimpur.web.api.yielding_connection import MOST, SLOWEST
from tests.attacks.test_board_phone import THERE, behind, cookie, enter, with_cookie
from tests.journey.board_process import BoardProcess, ended, in_thread, key_of, listening, served, socket_to
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage

CALM = 20.0  # seconds; a busy machine is slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)


@pytest.fixture(scope="module")
def here(home: Stage) -> Iterator[str]:
    with in_thread(home) as port:
        yield f"http://127.0.0.1:{port}"
    assert not list((home.home.root / "logs").glob("bug-*"))


def key_in(stage: Stage, role: Role = Role.OWNER) -> str:
    with stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        return keys.make_key("ci", role, now, 90) if role in SCOPES else keys.sign_in(keys.link(now, role), now)


def first(key: str = "", **more: Any) -> str:
    return json.dumps({**({"key": key} if key else {}), **more})


def many_things(stage: Stage, times: int, letters: int) -> int:
    """Let so many things happen, each of a task whose name is so long. Return the number of the last."""
    with stage.records() as records:
        for number in range(times):
            with records.db.transaction() as db:
                values = ("x" * letters, f"{records.audit.newest()}-{number}", "words", "2026-11-20T10:00:00+00:00")
                db.execute("insert into waivers values (?, ?, ?, ?)", values)
        return records.audit.newest()


# --- the handshake -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "headers", "status"),
    [
        ("https://evil.example", {}, 403),
        ("http://127.0.0.1:1", {}, 403),
        ("http://localhost", {}, 403),
        ("null", {}, 403),
        (None, {}, 401),
        (None, {"authorization": "Basic a2V5"}, 401),
        ("", {"sec-fetch-site": "same-site"}, 403),
        ("", {"host": "evil.example"}, 421),
        ("", {"host": "127.1"}, 421),
        ("", {"host": "localhost."}, 421),
        ("", {"host": "0.0.0.0"}, 421),
    ],
)
def test_a_socket_of_another_page_or_by_another_name_is_refused_at_its_handshake(
    home: Stage, here: str, origin: str | None, headers: dict[str, str], status: int
) -> None:
    for key in ({}, {"authorization": f"Bearer {key_in(home)}"}):
        if origin is None and key:
            continue  # a script with its key needs none
        with pytest.raises(InvalidStatus) as refused:
            _shake(here, origin, {**key, **headers})
        assert refused.value.response.status_code == status
        told = refused.value.response.headers
        assert told["content-type"] == "application/problem+json" and "content-security-policy" in told


def _shake(here: str, origin: str | None, headers: dict[str, str]) -> None:
    if "host" in headers:  # as a browser whose name server was turned: it connects there, and names another
        named = headers["host"] + ":" + here.rpartition(":")[2]
        with socket.create_connection(("127.0.0.1", int(here.rpartition(":")[2]))) as line:
            others = {name: value for name, value in headers.items() if name != "host"}
            with socket_to(f"http://{named}", others, here, sock=line):
                pass
    else:
        with socket_to(here, headers, origin):
            pass


@pytest.mark.parametrize("path", ["/", "/api/v1/status", "/api/v1/news/", "/api/v1//news", "/assets/x.js"])
def test_there_is_one_socket_and_no_other(home: Stage, here: str, path: str) -> None:
    assert _answer(here, path, f"Origin: {here}\r\nAuthorization: Bearer {key_in(home)}\r\n") == 404


@pytest.mark.parametrize("method", ["POST", "DELETE", "CONNECT"])
def test_a_socket_is_asked_for_by_get(home: Stage, here: str, method: str) -> None:
    own = f"Origin: {here}\r\nAuthorization: Bearer {key_in(home)}\r\n"
    assert _answer(here, "/api/v1/news", own, method) in (0, 400, 405)


def _answer(here: str, path: str, headers: str, method: str = "GET") -> int:
    """Return the status; 0: it hung up."""
    host, port = here.removeprefix("http://").split(":")
    asks = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = f"Sec-WebSocket-Key: {b64encode(bytes(16)).decode()}\r\n"
    with socket.create_connection((host, int(port)), timeout=CALM) as line:
        line.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{asks}{key}{headers}\r\n".encode())
        said = line.recv(20)
    return int(said.split()[1]) if said else 0


# --- who it is -----------------------------------------------------------------------------------------------


def test_a_key_that_opens_nothing_hears_nothing(home: Stage, here: str) -> None:
    with home.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        link, used, gone = keys.link(now), keys.link(now), keys.sign_in(keys.link(now), now)
        keys.sign_in(used, now)
        keys.sign_out(gone)
    for text in (first(), first("x"), first(link), first(used), first(gone), first(link, last=0)):
        with socket_to(here) as line:
            line.send(text)
            assert ended(line) in (4401, 1013), "the second after many bad ones"
    with socket_to(here, {"authorization": "Bearer x"}) as line:
        line.send(first())
        assert ended(line) in (4401, 1013)
    with home.records() as records:
        assert BoardKeys(records.db).sign_in(link, records.clock.now()), "a link is no key, and was not used up"


@pytest.mark.parametrize("in_header", [False, True])
@pytest.mark.parametrize("role", Role)
def test_whoever_may_look_hears_the_news_and_a_key_of_a_script_needs_no_origin(
    home: Stage, here: str, role: Role, in_header: bool
) -> None:
    key = key_in(home, role)
    headers, said = ({"authorization": f"Bearer {key}"}, first()) if in_header else ({}, first(key))
    with socket_to(here, headers, None if in_header else "") as line:
        line.send(said)
        assert json.loads(line.recv(CALM))["event"] == "beat"


@pytest.mark.parametrize(
    "said",
    [
        *("", "x", "[]", "null", '{"key": 1}', '{"last": -1}', '{"last": true}', '{"last": "1"}', '{"more": 1}'),
        *('{"last": 1e3}', '{"last": 99999999999999999999}', "{" * 3_000, b'{"last": 1}', b"\xff"),
        first("x" * 201),
    ],
    ids=repr,
)
def test_a_first_message_that_says_nothing_ends_it(here: str, said: str | bytes) -> None:
    with socket_to(here) as line:
        line.send(said)
        assert ended(line) == 1008


def test_who_says_more_than_who_he_is_or_says_it_twice_is_cut(home: Stage, here: str) -> None:
    key = key_in(home)
    with socket_to(here) as line:
        line.send(first(key))
        line.send(first(key))
        assert ended(line) == 1008
    with socket_to(here, {"authorization": "Bearer x"}) as line:
        line.send(first(key))
        assert ended(line) == 1008, "a good key does not stand in for a bad one"


def test_over_tls_it_is_the_cookie_from_the_board_s_own_page_and_nothing_else(home: Stage) -> None:
    own = {"origin": THERE}
    phone = behind(home)
    token = cookie(enter(phone, home))
    assert _heard(behind(home), first(), own) == 4401
    assert _heard(behind(home), first(key_in(home)), own) == 1008, "no page over TLS holds a key"
    with_cookie(phone, token)
    assert _heard(phone, first(), own) == 0
    assert _heard(phone, first(token), own) == 1008
    for bad in ({"origin": "https://evil.example"}, {"origin": "http://team.example.net"}, {}):
        assert _heard(phone, first(), bad) == 403
    assert _heard(phone, first(), {**own, "authorization": "Bearer x"}) == 4401
    script = with_cookie(behind(home), key_in(home, Role.READ))
    assert _heard(script, first(), own) in (4401, 1013), "a script's key is no cookie"
    assert _heard(with_cookie(behind(home, "10.0.0.3"), token), first(), own) == 421


def _heard(phone: TestClient, said: str, headers: dict[str, str]) -> int:
    """0: it hears; else the status, or the code of its end."""
    try:
        with phone.websocket_connect("/api/v1/news", headers=headers) as line:
            line.send_text(said)
            return 0 if line.receive_json()["event"] == "beat" else -1
    except WebSocketDenialResponse as refused:
        return refused.status_code
    except WebSocketDisconnect as end:
        return end.code


# --- frames --------------------------------------------------------------------------------------------------

TEXT, MORE, PING, LAST = 1, 0, 9, 0x80


def frame(kind: int, body: bytes = b"", claims: int | None = None) -> bytes:
    """One of a client, masked with nothing. `claims`: how long it says it is."""
    length = len(body) if claims is None else claims
    head = bytes([kind, LAST | length]) if length < 126 else bytes([kind, LAST | 127]) + length.to_bytes(8, "big")
    return head + bytes(4) + body


@pytest.mark.parametrize(
    "sent",
    [
        frame(LAST | TEXT, claims=2**62),
        frame(LAST | TEXT, b"x" * 5_000),
        frame(TEXT, b"{") + frame(MORE) * 20_000,
        frame(TEXT, b"{") + frame(MORE, b"x" * 100) * 100,
        frame(TEXT, b'{"last"') + frame(LAST | MORE, b": 1}"),
        frame(LAST | MORE, b"{}"),
        frame(LAST | 3, b"{}"),
        frame(LAST | 0x40 | TEXT, b"{}"),
        frame(LAST | PING, b"x" * 126),
        frame(LAST | TEXT, b"\xff\xfe"),
        b"\x81\x02{}",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=lambda sent: f"{len(sent)} {sent[:8].hex()}",
)
def test_a_frame_that_is_too_long_in_pieces_or_none_ends_it(
    here: str, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with socket_to(here) as line:
        _raw(line, sent)
        assert ended(line) in (0, 1002, 1007, 1009)
    assert [one for one in caplog.records if one.name == "asyncio"] == []


def _raw(line: Any, sent: bytes) -> None:
    with suppress(OSError):  # it has hung up already
        line.socket.sendall(sent)


@pytest.mark.parametrize("pause", [0, 0.001, 0.01])
def test_who_speaks_before_he_is_answered_is_cut_and_that_is_no_bug(
    home: Stage, here: str, pause: float, caplog: pytest.LogCaptureFixture
) -> None:
    for sent in (frame(LAST | TEXT, claims=2**62), frame(MORE), frame(LAST | TEXT, first(key_in(home)).encode())):
        with socket.create_connection(("127.0.0.1", int(here.rpartition(":")[2])), timeout=CALM) as line:
            line.sendall(_asks(here))
            time.sleep(pause)
            with suppress(OSError):
                line.sendall(sent)
                while line.recv(10_000) and sent[:1] != b"\x81":
                    pass
    assert caplog.records == []


def test_who_pings_and_reads_no_answer_fills_no_memory_and_is_cut(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    with served(stage.home.root) as board, deaf(board.here) as line:
        line.sendall(frame(LAST | TEXT, first(key_in(stage)).encode()))
        before, began, line_is_cut = peak(board), time.monotonic(), False
        line.settimeout(1)
        while not line_is_cut and time.monotonic() - began < CALM + SLOWEST:
            try:
                line.sendall(frame(LAST | PING, b"x" * 125) * 1_000)
            except TimeoutError:  # it hears nothing any more
                continue
            except OSError:
                line_is_cut = True
        assert line_is_cut and peak(board) - before < 20 << 20


@contextmanager
def deaf(here: str) -> Iterator[socket.socket]:
    """Who has shaken hands, and reads no more than that."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        line.connect(("127.0.0.1", int(here.rpartition(":")[2])))
        line.sendall(_asks(here))
        line.settimeout(CALM)
        assert b"101" in line.recv(20)
        yield line


# --- many, slow, gone ----------------------------------------------------------------------------------------


def peak(board: BoardProcess) -> int:
    """Return how many bytes of memory it has had."""
    said = Path(f"/proc/{board.process.pid}/status").read_text("utf-8")
    return int(said.partition("VmHWM:")[2].split()[0]) << 10


@pytest.mark.parametrize("many", [MOST + 19, 1_000])
def test_so_many_sockets_of_strangers_that_say_nothing_keep_no_owner_out_and_end_none_of_his(
    home: Stage, many: int
) -> None:
    with in_thread(home) as port, ExitStack() as stack:
        here, key = f"http://127.0.0.1:{port}", key_in(home)
        mine = stack.enter_context(socket_to(here))
        mine.send(first(key))
        mine.recv(CALM)
        for _ in range(many):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=CALM))
            line.sendall(_asks(here))
        with httpx2.Client(base_url=here, trust_env=False, timeout=CALM) as http:
            assert http.get("/api/v1/status", headers={"authorization": f"Bearer {key}"}).status_code == 200
        with socket_to(here) as another:
            another.send(first(key))
            assert json.loads(another.recv(CALM))["event"] == "beat"
        assert json.loads(mine.recv(CALM))["event"] == "beat", "it goes on"


def test_a_socket_that_never_says_who_it_is_is_ended(here: str) -> None:
    began = time.monotonic()
    with socket_to(here) as line, socket_to(here) as other:
        _raw(other, frame(TEXT, b"{"))
        assert (ended(line), ended(other)) == (1013, 1013)
    assert FIRST_WITHIN - 1 < time.monotonic() - began < FIRST_WITHIN + CALM


def test_one_who_is_signed_in_has_so_many_lines_and_leaves_room_when_he_does_not_let_go(home: Stage, here: str) -> None:
    key = key_in(home)
    with ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            mine = stack.enter_context(socket_to(here))
            mine.send(first(key))
            mine.recv(CALM)
        for _ in range(MOST):  # refused, and does not answer that: it counts as a stranger's
            line = stack.enter_context(deaf(here))
            line.sendall(frame(LAST | TEXT, first(key).encode()))
            while (1013).to_bytes(2) not in line.recv(1_000):
                pass
        with socket_to(here) as other:
            other.send(first(key_in(home, Role.VIEWER)))
            assert json.loads(other.recv(CALM))["event"] == "beat"
    assert MOST_LINES < MOST


def test_who_is_no_owner_leaves_room_with_however_many_sessions(home: Stage, here: str) -> None:
    keys = [key_in(home, Role.VIEWER) for _ in range(MOST_OF_GUESTS // MOST_OF_ONE + 1)]
    with ExitStack() as stack:
        for number in range(MOST_OF_GUESTS):
            mine = stack.enter_context(socket_to(here))
            mine.send(first(keys[number // MOST_OF_ONE]))
            assert json.loads(mine.recv(CALM))["event"] == "beat"
        one_more = stack.enter_context(socket_to(here))
        one_more.send(first(keys[-1]))
        assert ended(one_more) == 1013
        owner = stack.enter_context(socket_to(here))
        owner.send(first(key_in(home)))
        assert json.loads(owner.recv(CALM))["event"] == "beat"
        mine.close()
        assert _comes_in(here, keys[-1]), "its place is free again"


def _comes_in(here: str, key: str) -> bool:
    deadline = time.monotonic() + CALM
    while time.monotonic() < deadline:
        with suppress(ConnectionClosed), socket_to(here) as line:
            line.send(first(key))
            return bool(json.loads(line.recv(CALM))["event"] == "beat")
        time.sleep(0.1)
    return False


def _asks(here: str) -> bytes:
    host = here.removeprefix("http://")
    asks = f"GET /api/v1/news HTTP/1.1\r\nHost: {host}\r\nOrigin: {here}\r\nConnection: Upgrade\r\n"
    more = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    return (asks + more).encode()


def test_who_does_not_read_is_cut_fills_no_memory_and_others_hear_at_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    with served(stage.home.root) as board:
        key, port = key_of(board), int(board.here.rpartition(":")[2])
        with deaf(board.here) as line:
            line.sendall(frame(LAST | TEXT, first(key["authorization"].removeprefix("Bearer ")).encode()))
            other = listening(board, key)
            peaks = list[int]()
            for _ in range(6):  # 30 MB; the first three fill what the board keeps of its books
                last = many_things(stage, 250, 20_000)
                assert other.until(lambda heard: any(one["seq"] == last for one in heard)) < 2  # noqa: B023
                peaks.append(peak(board))
            assert peaks[-1] - peaks[2] < 5 << 20 and peaks[-1] < 120 * 10**6, peaks
            until = time.monotonic() + 15
            while _lines_at(port) > 1:
                assert time.monotonic() < until, "it is cut while it does not read"
                time.sleep(0.2)
        assert not other.is_over.is_set()


def _lines_at(port: int) -> int:
    """Return how many connections the board has there that are open."""
    rows = [one.split() for one in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_a_key_that_is_revoked_ends_its_socket_within_ten_seconds_and_no_other(home: Stage, here: str) -> None:
    assert BEATS_EACH < 10
    mine, lost = key_in(home), key_in(home)
    with socket_to(here) as line, socket_to(here) as other:
        line.send(first(lost))
        other.send(first(mine))
        line.recv(CALM)
        with home.records() as records:
            BoardKeys(records.db).sign_out(lost)
        began = time.monotonic()
        assert ended(line) == 4401
        assert time.monotonic() - began < 10.5  # half a second of a busy machine
        assert json.loads(other.recv(CALM))["event"] == "beat"


def test_a_stop_with_lines_open_of_every_kind_ends_within_ten_seconds(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    with served(stage.home.root) as board, socket_to(board.here) as silent, socket_to(board.here) as line:
        key = key_of(board)
        line.send(first(key["authorization"].removeprefix("Bearer ")))
        line.recv(CALM)
        listening(board, key)
        began = time.monotonic()
        os.kill(board.process.pid, signal.SIGINT)
        assert board.process.wait(10) == 0
        assert time.monotonic() - began < 10
        for one in (line, silent):
            with pytest.raises(ConnectionClosed) as end:
                while True:
                    one.recv(1)
            assert end.value.rcvd and end.value.rcvd.code == 1012
