"""P12: what somebody beside us on this machine can do to the board without a key."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bench.openapi import description
from bench.page_types import types
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.store.database import SCHEMA, statements
from sisimpur.web.api.base.rights import RULINGS, SCOPES, Role, may
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.page_files import BUILT
from sisimpur.web.api.server import board as board_command
from sisimpur.web.api.yielding_connection import MOST
from tests.books import new_book
from tests.journey.board_process import in_thread
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, OPEN, Browser, link, run, signed_in, stranger


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)


@pytest.mark.parametrize("many", [MOST + 19, 200, 1_000])
@pytest.mark.parametrize("begin", ["", "GET / HTTP/1.1\r\nhost: x", "POST /api/v1/session"])
def test_who_connects_and_says_nothing_keeps_nobody_out(home: Stage, begin: str, many: int) -> None:
    with in_thread(home) as port, ExitStack() as stack:
        head = f"HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\ncontent-length: 99\r\n\r\n{{"
        for _ in range(many):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            line.sendall(f"{begin} {head}".encode() if begin.startswith("POST") else begin.encode())
        time.sleep(0.2)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as http:
            said = http.post("/api/v1/session", json={"code": link(home)}, headers={"origin": str(http.base_url)})
            assert said.status_code == 201, said.text
    assert not list((home.home.root / "logs").glob("bug-*"))


def test_who_asks_for_much_and_reads_nothing_keeps_nobody_out(home: Stage) -> None:
    largest = max((BUILT / "assets").iterdir(), key=lambda path: path.stat().st_size)
    with in_thread(home) as port, ExitStack() as stack:
        asked = f"GET /assets/{largest.name} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n".encode() * 60
        for _ in range(MOST + 19):
            stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(asked)
        time.sleep(2)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as http:
            said = http.post("/api/v1/session", json={"code": link(home)}, headers={"origin": str(http.base_url)})
            assert said.status_code == 201, said.text


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
ORDERED = {"idempotency-key": "one-press", "if-match": '"seen"'}


def test_the_description_in_the_docs_is_the_boards_own() -> None:
    assert (ROOT / "docs" / "openapi.json").read_text("utf-8") == description()


def test_the_pages_types_are_made_of_it() -> None:
    assert (ROOT / "web/pages/src/api/types.ts").read_text("utf-8") == types(json.loads(description()))


def wrong_requests(method: str, path: str, names: list[str], has_body: bool) -> Iterator[tuple[str, object]]:
    """What an address of this kind has to refuse: a path with its query, and a body."""
    known = path.format(id="none", role="none", provider="none")
    if "{" in path:
        yield known, {} if has_body else None
        yield path.format(id="x" * 3_000, role="x" * 3_000, provider="x" * 3_000), {} if has_body else None
        yield path.format(id="..%2F..%2Fconfig%2F.env", role="..%2F", provider="..%2F"), {} if has_body else None
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
        assert stranger.status_code == 401
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


# --- who may what --------------------------------------------------------------------------------------------

TASK = "/api/v1/tasks/{id}"
DECIDED = {
    ("POST", f"{TASK}/unblock"),
    ("POST", f"{TASK}/retest"),
    ("POST", "/orchestrator/approve/{id}"),
    ("POST", "/api/v1/plan/rulings"),
}
ANSWERED = {("POST", "/api/v1/answers"), ("POST", f"{TASK}/rulings")}
LEFT = {
    *(("DELETE", f"/api/v1/{path}") for path in ("session", "sessions/{id}", "passkeys/{id}")),
    *(("POST", f"/api/v1/{path}") for path in ("passkeys", "session/offer")),
}
NOTIFIED = {
    ("POST", "/api/v1/pushes"),
    ("POST", "/api/v1/pushes/{id}/test"),
    ("DELETE", "/api/v1/pushes/{id}"),
}
WRITES = {(method, path) for method, path, *_ in ADDRESSES if method not in ("GET", "HEAD")} - OPEN
MAY = {  # beside looking
    Role.OWNER: WRITES,
    Role.REVIEWER: ANSWERED | DECIDED | NOTIFIED | LEFT,
    Role.VIEWER: LEFT,
    Role.READ: set(),
    Role.ANSWER: ANSWERED,
}
RULED = {
    Role.OWNER: {"approve", "reject", "retry", "cancel", "done"},
    Role.REVIEWER: {"approve", "reject", "retry", "cancel", "done"},
    Role.ANSWER: {"reject", "retry"},
}


def in_role(stage: Stage, role: Role) -> Browser:
    """A browser, or a script, in this role."""
    page = stranger(stage)
    with stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        if role in SCOPES:
            page.token = keys.make_key("ci", role, now, 90)
        else:
            page.token = keys.sign_in(keys.link(now, role), now)
    return page


@pytest.mark.parametrize("role", Role)
def test_each_role_may_exactly_what_its_lines_name_on_every_address_there_is(role: Role) -> None:
    paths = {
        (method, path): path.format(id="20261120-01", role="coder", provider="github") for method, path, *_ in ADDRESSES
    }
    allowed = {one for one, path in paths.items() if may(role, one[0], path)}
    assert allowed - OPEN == MAY[role] | {one for one in paths if one[0] == "GET"} - OPEN
    ruled = {one for one in RULINGS if may(role, "POST", f"{TASK.format(id='x')}/rulings", one)}
    assert ruled == RULED.get(role, set())
    assert all(may(role, method, "/api/v1/what-comes-next") is (role is Role.OWNER) for method in ("POST", "PUT"))


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_who_may_not_is_refused_on_every_address_and_nothing_is_kept(home: Stage, role: Role) -> None:
    page = in_role(home, role)
    with home.records() as records:
        before = records.audit.newest()
    for method, path in sorted(WRITES - MAY[role]):
        headers = {**ORDERED, **key(page)}
        answer = page.http.request(method, path.format(id="00000000", role="coder"), json={}, headers=headers)
        assert (answer.status_code, "an owner" in answer.json()["title"]) == (403, True), (method, path)
    for method, path in sorted(MAY[role] - LEFT):
        answer = page.http.request(method, path.format(id="none"), json={}, headers={**ORDERED, **key(page)})
        assert answer.status_code in (404, 422), (method, path)
    assert all(page.get(path).status_code == 200 for path in ("/api/v1/status", "/api/v1/vision", "/metrics"))
    with home.records() as records:
        assert records.audit.newest() == before


@pytest.mark.parametrize("ruling", sorted(RULINGS))
@pytest.mark.parametrize("role", Role)
def test_a_ruling_that_a_role_may_not_is_refused_before_the_task_is_looked_for(
    home: Stage, role: Role, ruling: str
) -> None:
    body = {"ruling": ruling, "commit": "", "why": "no"}
    answer = in_role(home, role).post("tasks/20261120-99/rulings", body, **{"if-match": '"seen"'})
    assert answer.status_code == (404 if ruling in RULED.get(role, ()) else 403)


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.VIEWER, Role.READ])
def test_a_session_of_another_is_not_seen_and_not_closed_but_by_an_owner(home: Stage, role: Role) -> None:
    owner, page = in_role(home, Role.OWNER), in_role(home, role)
    mine, other = page.read("session"), owner.read("session")
    assert (mine["role"], other["role"]) == (role, "owner")
    assert page.read("sessions") == [mine] and {mine["id"], other["id"]} <= {
        one["id"] for one in owner.read("sessions")
    }
    assert page.http.delete(f"/api/v1/sessions/{other['id']}", headers=key(page)).status_code == 403
    assert owner.get("/api/v1/status").status_code == 200
    itself = page.http.delete(f"/api/v1/sessions/{mine['id']}", headers=key(page)).status_code
    assert itself == (403 if role is Role.READ else 204)
    if role is Role.READ:
        assert owner.http.delete(f"/api/v1/sessions/{mine['id']}", headers=key(owner)).status_code == 204
    assert page.get("/api/v1/status").status_code in (401, 429)


def test_what_is_guarded_a_reviewer_does_not_approve_and_the_audit_names_who_did_what(tmp_path: Path) -> None:
    stage = run(tmp_path)
    owner, reviewer = in_role(stage, Role.OWNER), in_role(stage, Role.REVIEWER)
    with stage.records() as records:
        parked = records.gates.parked(ID)
        assert parked
        guarded = replace(parked, terms=(*parked.terms, ("your notes", "not to touch settings.py")))
        records.gates.park(guarded, records.clock.now())
    refused = reviewer.rule("approve")
    assert refused.status_code == 403 and "guard" in refused.json()["title"]
    with stage.records() as records:
        records.gates.park(parked, records.clock.now())
    assert reviewer.rule("approve").status_code == 201
    (row,) = [one for one in owner.read("audit?limit=200")["rows"] if one["kind"] == "ruling"]
    assert row["via"] == f"board: reviewer {reviewer.read('session')['id']}"


def test_a_script_s_key_is_shown_once_kept_as_a_digest_ends_on_its_day_and_is_closed_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    stage.clock.sleep((datetime.now(UTC) - stage.clock.now()).total_seconds())
    root, found = stage.home.root, {}
    for name in ("ci", "pager"):
        assert board_command(Arguments("board", root, key=name, scope="answer", days=7)) == 0
        (found[name],) = re.findall("^sis_.{43}$", capsys.readouterr().out, re.MULTILINE)
    page = stranger(stage)
    page.token = found["ci"]
    mine = page.read("session")
    assert (mine["kind"], mine["name"], mine["role"]) == ("key", "ci", "answer")
    assert not [path for path in root.rglob("*") if path.is_file() and page.token.encode() in path.read_bytes()]
    assert board_command(Arguments("board", root, sessions=True)) == 0
    listed = capsys.readouterr().out
    assert f"{mine['id']}  key ci, may answer, " in listed and "key pager" in listed and "sis_" not in listed
    assert board_command(Arguments("board", root, close=mine["id"])) == 0
    assert page.get("/api/v1/status").status_code == 401
    page.token = found["pager"]
    stage.clock.sleep(timedelta(days=6, hours=23).total_seconds())  # without any use: a script may be quiet for days
    assert page.get("/api/v1/status").status_code == 200
    stage.clock.sleep(timedelta(hours=2).total_seconds())
    assert page.get("/api/v1/status").status_code == 401


@pytest.mark.parametrize(
    "typed",
    [
        {"role": "viewer"},
        {"scope": "read"},
        {"days": 3},
        {"key": "ci", "days": 9_999},
        {"key": "ci\nsis_1"},
        {"key": "x" * 41},
    ],
)
def test_words_that_mean_nothing_together_make_no_key(home: Stage, typed: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match="board --"):
        board_command(Arguments("board", home.home.root, **typed))


# --- what else -----------------------------------------------------------------------------------------------


def test_a_method_that_means_nothing_at_an_address_is_answered_with_those_that_do(shared: Browser) -> None:
    for path in {path for _, path, *_ in ADDRESSES}:
        there = {method for method, known, *_ in ADDRESSES if known == path}
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} - there:
            known = path.format(id="20261120-01", role="coder", provider="github")
            answer = shared.http.request(method, known, json={}, headers={**ORDERED, **key(shared)})
            assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, there), (method, path)


def test_who_was_signed_in_before_there_were_roles_is_an_owner_still(tmp_path: Path) -> None:
    old, at = sqlite3.connect(tmp_path / "agents.db"), "2026-11-20T08:00:00+00:00"
    for step in sorted(SCHEMA.glob("*.sql"))[:40]:
        for statement in statements(step.read_text("utf-8")):
            old.execute(statement)
    row = (sha256(b"token").hexdigest(), "session", at, at, "2026-12-20T08:00:00+00:00")
    old.execute("insert into board_keys values (?, ?, ?, ?, ?)", row)
    old.execute("pragma user_version = 40")
    old.commit()
    old.close()
    found = BoardKeys(new_book(tmp_path / "agents.db")).lets_in("token", datetime.fromisoformat(at))
    assert found and (found.role, found.id, found.via) == (Role.OWNER, row[0][:8], "board")
