"""P12: the board by a name of its own, over TLS: what a proxy, a page beside it and a stranger in the net can do."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
import segno
from starlette.testclient import TestClient

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.config.settings_board import BoardFile, BoardTls
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import COOKIE, place_of
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import board as board_command
from sisimpur.web.api.server import drawn
from tests.journey.board_process import in_thread, socket_to
from tests.journey.described import DescribedClient
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, PORT, link, stranger

NAME = "team.example.net"
THERE = f"https://{NAME}"
PROXY, ELSEWHERE = "10.0.0.2", "10.0.0.3"
FORWARDED = {"host": NAME, "x-forwarded-proto": "https", "x-forwarded-for": "100.64.0.7"}
NOT_LET_IN = (401, 429)  # the same once many have tried


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)


def behind(stage: Stage, peer: str = PROXY, **more: Any) -> TestClient:
    """Whoever speaks to a board behind this proxy from that address, with the proxy's words."""
    file = BoardFile.model_validate({"url": THERE, "proxy": [PROXY], **more})
    app = make_app(BoardHome(stage.home.root, stage.clock), place_of(file, PORT))
    return DescribedClient(app, base_url=HERE, headers=FORWARDED, raise_server_exceptions=False, client=(peer, 4711))


def cookie(answer: Any) -> str:
    """Return what was set, by exactly the rules that let no other port, page or script have it."""
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"token": ""}, "no page reads it"
    name, _, rest = answer.headers["set-cookie"].partition("=")
    token, _, rules = rest.partition("; ")
    assert name == COOKIE and rules == "Max-Age=2592000; Path=/; Secure; HttpOnly; SameSite=Strict"
    return str(token)


def with_cookie(phone: TestClient, token: str) -> TestClient:
    """A client keeps no secure cookie of an address in the open: it is sent by hand."""
    phone.headers["cookie"] = f"{COOKIE}={token}"
    return phone


@pytest.fixture
def phone(home: Stage) -> TestClient:
    return with_cookie(one := behind(home), cookie(enter(one, home)))


def enter(phone: TestClient, stage: Stage, **headers: str) -> Any:
    return phone.post("/api/v1/session", json={"code": link(stage)}, headers={"origin": THERE, **headers})


def press(phone: TestClient, **headers: str) -> int:
    """An order that is answered 409 if it is let through: nobody is at work."""
    own = {"idempotency-key": "one-press", **headers}
    return int(phone.post("/api/v1/deploys/rollback", json={"place": ""}, headers=own).status_code)


# --- what is the way to it -----------------------------------------------------------------------------------


def test_a_phone_signs_in_with_a_link_reads_orders_and_signs_out(home: Stage) -> None:
    phone = behind(home)
    assert phone.get("/").status_code == 200 and phone.get("/api/v1/status").status_code in NOT_LET_IN
    with_cookie(phone, cookie(enter(phone, home)))
    assert phone.get("/api/v1/status").status_code == 200
    assert press(phone, origin=THERE) == 409
    gone = phone.delete("/api/v1/session", headers={"origin": THERE})
    assert gone.status_code == 204 and gone.headers["set-cookie"].startswith(f"{COOKIE}=; Max-Age=0;")
    assert phone.get("/api/v1/status").status_code in NOT_LET_IN


@pytest.mark.parametrize(
    "wrong",
    [
        {"peer": ELSEWHERE},
        {"peer": "::ffff:10.0.0.3"},
        {"peer": "127.0.0.1"},
        {"x-forwarded-proto": ""},
        {"x-forwarded-proto": "http"},
        {"x-forwarded-proto": "http, https"},
        {"host": "evil.example"},
        {"host": f"{NAME}:8765"},
        {"host": f"{NAME}."},
    ],
    ids=str,
)
def test_a_word_of_tls_is_believed_of_the_written_proxy_alone_and_only_for_its_name(
    home: Stage, phone: TestClient, wrong: dict[str, str]
) -> None:
    more = dict(wrong)
    other = behind(home, more.pop("peer", PROXY))
    for headers in ({"cookie": phone.headers["cookie"]}, {}):
        assert other.get("/api/v1/status", headers={**more, **headers}).status_code == 421
        assert other.get("/", headers={**more, **headers}).status_code == 421
    said = enter(other, home, **more)
    assert said.status_code == 421 and "set-cookie" not in said.headers


def test_the_proxy_may_come_by_an_address_of_the_new_kind_that_means_the_same(home: Stage) -> None:
    cookie(enter(behind(home, f"::ffff:{PROXY}"), home))


def test_a_header_that_is_there_twice_is_none(home: Stage, phone: TestClient) -> None:
    for name in ("host", "x-forwarded-proto"):
        request = phone.build_request("GET", "/api/v1/status")
        request.headers = httpx2.Headers([*request.headers.raw, (name.encode(), FORWARDED[name].encode())])
        assert phone.send(request).status_code == 421


def test_what_a_proxy_says_of_who_is_behind_it_changes_no_row_of_the_audit(home: Stage, phone: TestClient) -> None:
    with home.records() as records:
        before = records.audit.newest()
    body, own = {"paused": True, "why": "look"}, {"origin": THERE, "idempotency-key": "pause-one"}
    said = phone.post("/api/v1/deploys/pause", json=body, headers={**own, "x-forwarded-for": "8.8.8.8"})
    with home.records() as records:
        rows = records.audit.page(before, 200)
    assert said.status_code in (201, 409)
    assert not any("8.8.8.8" in repr(row) or "100.64.0.7" in repr(row) for row in rows)


@pytest.mark.parametrize("path", ["/api/v1/status/", "/metrics/", "/board/", "/signed-in/google/", "/health/"])
def test_no_answer_leads_a_key_into_the_open(phone: TestClient, path: str) -> None:
    """Behind a proxy the board itself hears no TLS: an address that it would build begins with http."""
    answer = phone.get(path, follow_redirects=False)
    assert answer.status_code == 404 and "location" not in answer.headers


# --- the cookie ----------------------------------------------------------------------------------------------


def test_on_this_machine_nobody_gets_a_cookie_and_none_is_taken(home: Stage, phone: TestClient) -> None:
    here = stranger(home)
    said = here.post("session", {"code": link(home)})
    assert said.json()["token"] and "set-cookie" not in said.headers
    assert here.get("/api/v1/status", cookie=f"{COOKIE}={said.json()['token']}").status_code in NOT_LET_IN
    beside = behind(home, "127.0.0.1")
    plain = {"host": f"127.0.0.1:{PORT}", "cookie": phone.headers["cookie"]}
    assert beside.get("/api/v1/status", headers=plain).status_code in NOT_LET_IN
    proxied = behind(home, PROXY)  # a proxy that hands on another name than it was called by
    assert proxied.get("/api/v1/status", headers=plain).status_code in NOT_LET_IN
    assert proxied.post("/api/v1/session", json={"code": "x"}, headers={**plain, "origin": THERE}).status_code == 403


@pytest.mark.parametrize(
    "came",
    [
        {},
        {"origin": "null"},
        {"origin": f"http://{NAME}"},
        {"origin": f"{THERE}:8443"},
        {"origin": f"{THERE}.evil.example"},
        {"origin": HERE},
        {"origin": THERE, "sec-fetch-site": "same-site"},
        {"origin": THERE, "sec-fetch-site": "cross-site"},
        {"origin": THERE, "sec-fetch-site": "none"},
    ],
    ids=str,
)
def test_with_a_cookie_only_the_boards_own_page_orders(phone: TestClient, came: Mapping[str, str]) -> None:
    assert press(phone, **came) == 403
    said = phone.request("DELETE", "/api/v1/session", headers=dict(came))
    assert said.status_code == 403 and phone.get("/api/v1/status").status_code == 200


@pytest.mark.parametrize(
    ("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
)
def test_with_a_cookie_no_other_page_has_something_read(phone: TestClient, site: str, status: int) -> None:
    assert phone.get("/api/v1/status", headers={"sec-fetch-site": site}).status_code == status
    assert phone.get("/review/20261120-01", headers={"sec-fetch-site": site}).status_code == 200, "a link from a chat"


def test_nobody_signs_another_in_with_a_session_of_his_own(home: Stage, phone: TestClient) -> None:
    """Fixation: what was there before a sign-in is not what is there after it."""
    before = phone.headers["cookie"]
    assert f"{COOKIE}={cookie(enter(phone, home))}" != before
    assert phone.get("/api/v1/status", headers={"cookie": f"{before}; {before}"}).status_code in NOT_LET_IN
    made_up = {"cookie": f"{COOKIE}=made-up"}
    chosen = cookie(enter(phone, home, **made_up))
    assert chosen != "made-up" and phone.get("/api/v1/status", headers=made_up).status_code in NOT_LET_IN


def test_nobody_falls_back_on_a_cookie_and_a_script_s_key_is_none(home: Stage, phone: TestClient) -> None:
    for told in ("Bearer wrong", "Bearer ", "Basic eDp5"):
        assert phone.get("/api/v1/status", headers={"authorization": told}).status_code in NOT_LET_IN
    with home.records() as records:
        key = BoardKeys(records.db).make_key("ci", Role.ANSWER, records.clock.now(), 90)
    other = behind(home)
    assert other.get("/api/v1/status", headers={"authorization": f"Bearer {key}"}).status_code == 200
    assert with_cookie(other, key).get("/api/v1/status").status_code in NOT_LET_IN


def test_a_session_that_is_closed_is_over_on_the_phone_as_well(home: Stage, phone: TestClient) -> None:
    mine = phone.get("/api/v1/session").json()
    assert board_command(Arguments("board", home.home.root, close=mine["id"])) == 0
    assert phone.get("/api/v1/status").status_code in NOT_LET_IN


# --- beyond this machine -------------------------------------------------------------------------------------


def test_whoever_is_elsewhere_has_no_way_in_the_open(home: Stage) -> None:
    plain = {"host": f"127.0.0.1:{PORT}"}
    for peer, status in ((ELSEWHERE, 421), (PROXY, 421), ("127.0.0.1", 200), ("::1", 200)):
        assert behind(home, peer, listen="10.0.0.1").get("/", headers=plain).status_code == status, peer


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("listen: 0.0.0.0", "listen: beyond this machine"),
        ("listen: 192.168.1.5", "listen: beyond this machine"),
        ("listen: '::'", "listen: beyond this machine"),
        ("listen: everywhere", "write an address in numbers"),
        ("proxy: [127.0.0.1]", "write url as well"),
        ("proxy: [caddy]\nurl: https://team.example.net", "write an address in numbers"),
        ("proxy: [127.0.0.1]\nurl: http://127.0.0.1:8765", "write url as well"),
        ("proxy: [127.0.0.1]\nurl: https://localhost", "a name of its own"),
        ("tls: {cert: a.pem}\nurl: https://team.example.net", "write both"),
        ("tls: {cert: a, key: b}\nproxy: [127.0.0.1]\nurl: https://team.example.net", "tls or proxy"),
    ],
)
def test_settings_that_would_carry_a_key_in_the_open_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    (stage.home.config / "board.yaml").write_text(text)
    with pytest.raises(Misconfigured) as said:
        board_command(Arguments("board", stage.home.root))
    assert reason in str(said.value) and str(said.value).startswith("config/board.yaml")


# --- TLS of its own, with a local certificate ----------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> BoardTls:
    """As openssl makes one for a name."""
    folder = tmp_path_factory.mktemp("tls")
    tls = BoardTls(cert=str(folder / "team.pem"), key=str(folder / "team.key"))
    made = (
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-noenc",
        "-days",
        "2",
    )
    names = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
    subprocess.run([*made, *names, "-keyout", tls.key, "-out", tls.cert], check=True, capture_output=True, timeout=60)
    return tls


def test_with_a_certificate_it_speaks_tls_and_nothing_else_and_keeps_a_cookie(
    home: Stage, certificate: BoardTls
) -> None:
    trusted = ssl.create_default_context(cafile=certificate.cert)
    with in_thread(home, certificate, NAME) as port:
        own = f"https://{NAME}:{port}"
        about: dict[str, Any] = {"extensions": {"sni_hostname": NAME}}
        with httpx2.Client(verify=trusted, trust_env=False, timeout=20) as http:
            at = f"https://127.0.0.1:{port}"
            headers = {"host": f"{NAME}:{port}"}
            body = {"code": link(home)}
            said = http.post(f"{at}/api/v1/session", json=body, headers={**headers, "origin": own}, **about)
            token = cookie(said)
            mine = {"cookie": f"{COOKIE}={token}"}
            http.cookies.clear()
            assert http.get(f"{at}/api/v1/status", headers={**headers, **mine}, **about).status_code == 200
            assert http.get(f"{at}/api/v1/status", headers=mine, **about).status_code == 421, "not this machine's name"
        with (
            socket.create_connection(("127.0.0.1", port), 20) as line,
            socket_to(own, mine, sock=line, ssl=trusted) as news,
        ):
            news.send("{}")
            assert "beat" in str(news.recv(20)), "a socket, too"
        with socket.create_connection(("127.0.0.1", port), 20) as line:
            line.sendall(f"GET / HTTP/1.1\r\nhost: {NAME}:{port}\r\n\r\n".encode())
            assert not line.recv(1_000).startswith(b"HTTP/1.1 200"), "in the open it says nothing"


@pytest.mark.parametrize("many", [200, 1_000])
@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01"])
def test_who_connects_and_never_shakes_hands_keeps_nobody_out(
    home: Stage, certificate: BoardTls, many: int, begin: bytes
) -> None:
    trusted = ssl.create_default_context(cafile=certificate.cert)
    with in_thread(home, certificate, NAME) as port, ExitStack() as stack:
        for _ in range(many):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            line.sendall(begin)
        with httpx2.Client(verify=trusted, trust_env=False, timeout=20) as http:
            headers = {"host": f"{NAME}:{port}"}
            said = http.get(f"https://127.0.0.1:{port}/health", headers=headers, extensions={"sni_hostname": NAME})
        assert said.status_code == 200


def test_a_certificate_that_cannot_be_used_is_named_before_anything_listens(
    tmp_path: Path, certificate: BoardTls
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    for cert, key in (("/nowhere.pem", certificate.key), (certificate.key, certificate.cert)):
        text = f"url: {THERE}\ntls: {{cert: {cert}, key: {key}}}\n"
        (stage.home.config / "board.yaml").write_text(text)
        with pytest.raises(Misconfigured, match=f"tls: {cert} with {key} cannot be used"):
            board_command(Arguments("board", stage.home.root))


# --- the link ------------------------------------------------------------------------------------------------


def test_a_link_for_the_phone_has_its_name_and_is_the_same_that_works_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    (stage.home.config / "board.yaml").write_text(f"url: {THERE}\nproxy: [{PROXY}]\n")
    assert board_command(Arguments("board", stage.home.root, link=True)) == 0
    printed = capsys.readouterr().out
    here, there = re.findall(r"^(https?://\S+)/#code=(\S+)$", printed, re.MULTILINE)
    assert (here[0], there[0]) == (HERE, THERE) and here[1] == there[1]
    assert "█" not in printed, "a pipe is no phone"


def test_the_drawn_code_is_that_of_the_link_with_room_around_it() -> None:
    text = f"{THERE}/#code={'x' * 43}"
    lines = [re.fullmatch("\x1b\\[30;107m([ ▀▄█]+)\x1b\\[0m", line) for line in drawn(text).split("\n")]
    rows: list[list[int]] = []
    for line in lines:
        assert line
        rows += [[int(one in "▀█") for one in line[1]], [int(one in "▄█") for one in line[1]]]
    wanted = [list(row) for row in segno.make(text, micro=False, error="l").matrix]
    inner = [row[2:-2] for row in rows[2 : 2 + len(wanted)]]
    assert inner == wanted
    assert not any(map(sum, rows[:2] + rows[2 + len(wanted) :])), "a camera needs light around it"
    assert len({len(row) for row in rows}) == 1 and len(rows[0]) < 80
