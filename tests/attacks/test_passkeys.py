"""P12: a passkey signs in who has it, at the board's own name, to the role of who added it; and nobody else."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.web.api.access.passkey_book import MOST, MOST_SESSIONS
from sisimpur.web.api.access.passkey_check import LASTS, PasskeyTickets
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import COOKIE, BoardPlace
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import board as board_command
from tests.attacks.test_board_phone import NOT_LET_IN, THERE, behind, cookie, enter, with_cookie
from tests.journey.described import DescribedClient
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, PORT, Browser, stranger
from tests.soft_authenticator import PRESENT, SoftAuthenticator, told, untold

LOCAL = f"http://localhost:{PORT}"
NAME = "team.example.net"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    yield stage
    assert not list((stage.home.root / "logs").glob("bug-*"))


class Local(Browser):
    """A page at localhost, where a browser takes passkeys."""

    def post(self, name: str, body: Any, **headers: str) -> Any:
        return super().post(name, body, **{"origin": LOCAL, **headers})

    def delete(self, name: str) -> int:
        answer = self.http.delete(f"/api/v1/{name}", headers={"origin": LOCAL, **self._key()})
        assert answer.status_code == 204 or answer.headers["content-type"] == "application/problem+json"
        return int(answer.status_code)

    def add(self, phone: SoftAuthenticator, name: str = "my phone") -> Any:
        asked = self.post("session/offer", {"name": name})
        assert asked.status_code == 201, asked.text
        return self.post("passkeys", {**phone.makes(asked.json()), "name": name})


def page(stage: Stage, role: Role | None = Role.OWNER, address: str = LOCAL) -> Local:
    """Somebody who came by a link; without a role a stranger."""
    app = make_app(BoardHome(stage.home.root, stage.clock), BoardPlace(PORT))
    one = Local(DescribedClient(app, base_url=address, raise_server_exceptions=False))
    if role:
        with stage.records() as records:
            keys, now = BoardKeys(records.db), records.clock.now()
            one.token = keys.sign_in(keys.link(now, role), now)
    return one


def again(one: Local) -> Local:
    """A browser at the same board that is not signed in."""
    return Local(one.http)


def phone_of(origin: str = LOCAL) -> SoftAuthenticator:
    return SoftAuthenticator(origin, origin.partition("://")[2].partition(":")[0])


def asked(one: Local) -> dict[str, Any]:
    answer = one.post("session/challenge", None)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: Any, *statuses: int) -> str:
    assert answer.status_code in (statuses or NOT_LET_IN), answer.text
    assert answer.headers["content-type"] == "application/problem+json" and "set-cookie" not in answer.headers
    return str(answer.json()["title"])


def rows(stage: Stage) -> list[dict[str, Any]]:
    with stage.records() as records:
        found = [one for one in records.audit.page(0, 200) if one.kind == "sign-in"]
    return [{"via": one.via, **json.loads(one.detail)} for one in found]


# --- what it is for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.OWNER, Role.REVIEWER, Role.VIEWER])
def test_who_added_a_passkey_signs_in_by_it_to_the_same_role_and_the_audit_says_so(home: Stage, role: Role) -> None:
    mine, phone = page(home, role), phone_of()
    added = mine.add(phone, "আমার ফোন")
    assert added.status_code == 201, added.text
    id_ = added.json()["id"]
    home.clock.sleep(60)
    other = again(mine)
    said = other.post("session/passkey", phone.signs(asked(other)))
    assert said.status_code == 201 and "set-cookie" not in said.headers
    other.token = said.json()["token"]
    session = other.read("session")
    assert (session["role"], session["passkey"]) == (role, id_) and mine.read("session")["passkey"] == ""
    (told_,) = other.read("passkeys")["passkeys"]
    assert (told_["id"], told_["name"], told_["role"], told_["site"]) == (id_, "আমার ফোন", role, "localhost")
    assert told_["made"] < told_["used"]
    came = rows(home)
    assert [(one.get("passkey"), one.get("name")) for one in came if "site" in one] == [(id_, "আমার ফোন")]
    assert came[-1]["via"] == f"board: passkey {id_}" and came[-1]["session"] == session["id"]


def test_over_tls_it_begins_a_session_with_a_cookie_as_a_link_does(home: Stage) -> None:
    one, phone = behind(home), phone_of(THERE)
    with_cookie(one, cookie(enter(one, home)))
    own = {"origin": THERE}
    offer = one.post("/api/v1/session/offer", json={"name": "my phone"}, headers=own).json()
    assert offer["options"]["rp"]["id"] == NAME
    added = one.post("/api/v1/passkeys", json={**phone.makes(offer), "name": "my phone"}, headers=own)
    assert added.status_code == 201, added.text
    other = behind(home)
    challenge = other.post("/api/v1/session/challenge", headers=own).json()
    with_cookie(other, cookie(other.post("/api/v1/session/passkey", json=phone.signs(challenge), headers=own)))
    assert other.get("/api/v1/session").json()["passkey"] == added.json()["id"]


def test_what_is_asked_of_an_authenticator_names_no_passkey_and_wants_who_has_it_known(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    first = mine.post("session/offer", {"name": "my phone"}).json()["options"]
    assert first["attestation"] == "none" and first["timeout"] == 120_000 and first["excludeCredentials"] == []
    chosen = first["authenticatorSelection"]
    assert (chosen["residentKey"], chosen["userVerification"]) == ("required", "required")
    mine.add(phone)
    second = mine.post("session/offer", {"name": "my phone"}).json()["options"]
    assert [one["id"] for one in second["excludeCredentials"]] == [told(phone.credential)]
    assert first["user"]["id"] != second["user"]["id"], "nobody on another port can name it"
    options = asked(again(mine))["options"]
    assert options["userVerification"] == "required" and not options["allowCredentials"]


# --- who has none --------------------------------------------------------------------------------------------


def test_what_was_signed_signs_in_once_within_two_minutes_and_with_its_own_ticket(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    other = again(mine)
    said = phone.signs(asked(other))
    assert other.post("session/passkey", said).status_code == 201
    assert "used" in refused(other.post("session/passkey", said))
    late = phone.signs(asked(other))
    home.clock.sleep(121)
    assert "too long" in refused(other.post("session/passkey", late))
    stolen, own = phone.signs(asked(other)), asked(page(home, None))
    refused(other.post("session/passkey", {**stolen, "ticket": own["ticket"]}))
    refused(other.post("session/passkey", {**stolen, "ticket": asked(other)["ticket"]}))
    refused(page(home, None).post("session/passkey", stolen)), "of another process"
    assert other.post("session/passkey", stolen).status_code == 201, "its own browser still may"


@pytest.mark.parametrize(
    "origin",
    [
        *(f"http://localhost:{port}" for port in (PORT + 1, 80)),
        *(f"https://localhost:{PORT}", "http://localhost", HERE, "null", "", f"{LOCAL}/", f"{LOCAL}.evil.example"),
    ],
)
def test_what_was_signed_for_another_page_signs_nobody_in(home: Stage, origin: str) -> None:
    """What we deploy on another port of this machine may ask for a passkey of localhost: its browser names the port."""
    mine, phone = page(home), phone_of()
    mine.add(phone)
    phone.origin = origin
    refused(mine.post("session/passkey", phone.signs(asked(mine))))
    refused(mine.add(replace(phone_of(), origin=origin)), 409)
    assert len(mine.read("passkeys")["passkeys"]) == 1


def other_site(phone: SoftAuthenticator) -> None:
    phone.site = NAME


def nobody_known(phone: SoftAuthenticator) -> None:
    phone.flags = PRESENT


def nobody_there(phone: SoftAuthenticator) -> None:
    phone.flags = 4


def another_key(phone: SoftAuthenticator) -> None:
    phone.key = phone_of().key


def unknown(phone: SoftAuthenticator) -> None:
    phone.credential = secrets.token_bytes(16)


@pytest.mark.parametrize("change", [other_site, nobody_known, nobody_there, another_key, unknown])
def test_an_answer_that_is_not_wholly_true_signs_nobody_in(
    home: Stage, change: Callable[[SoftAuthenticator], None]
) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    change(phone)
    refused(mine.post("session/passkey", phone.signs(asked(mine))))
    if change not in (another_key, unknown):
        refused(mine.add(phone), 409)
    wrong = phone_of()
    mine.add(wrong)
    for changed in ({"type": "webauthn.create"}, {"challenge": told(b"x" * 32)}, {"challenge": 7}, {"origin": None}):
        refused(mine.post("session/passkey", wrong.signs(asked(mine), **changed)))


def test_a_count_that_goes_back_is_refused_and_told_and_the_true_one_goes_on(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    id_ = mine.add(phone).json()["id"]
    copy = replace(phone)
    for _ in range(3):
        assert mine.post("session/passkey", phone.signs(asked(mine))).status_code == 201
    before = len(mine.read("sessions"))
    assert "copy" in refused(mine.post("session/passkey", copy.signs(asked(mine))))
    assert len(mine.read("sessions")) == before
    row = rows(home)[-1]
    assert row["passkey"] == id_ and "copy" in row["refused"] and row["via"] == f"board: passkey {id_}"
    assert mine.post("session/passkey", phone.signs(asked(mine))).status_code == 201


def test_one_that_does_not_count_signs_in_and_one_that_stops_counting_does_not(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    for count, status in ((-1, 201), (-1, 201), (4, 201), (-1, 401), (4, 401), (5, 201)):
        phone.count = count
        answer = mine.post("session/passkey", phone.signs(asked(mine)))
        assert answer.status_code == status, (count, answer.text)


@pytest.mark.parametrize("by_terminal", [False, True])
def test_a_deleted_passkey_signs_nobody_in_and_all_that_came_by_it_are_out(
    home: Stage, by_terminal: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, phone, its = page(home), phone_of(), []
    id_ = mine.add(phone).json()["id"]
    for _ in range(2):
        its.append(again(mine))
        its[-1].token = mine.post("session/passkey", phone.signs(asked(mine))).json()["token"]
        assert its[-1].get("/api/v1/status").status_code == 200
    if by_terminal:
        assert board_command(Arguments("board", home.home.root, sessions=True)) == 0
        listed = capsys.readouterr().out
        assert f"{id_}  owner, my phone, at localhost, since " in listed and "--close" in listed
        assert board_command(Arguments("board", home.home.root, close=id_)) == 0
    else:
        assert mine.delete(f"passkeys/{id_}") == 204
    assert [one.get("/api/v1/status").status_code for one in its] == [401, 401]
    assert mine.get("/api/v1/status").status_code == 200 and mine.read("passkeys")["passkeys"] == []
    assert "deleted" in refused(mine.post("session/passkey", phone.signs(asked(mine))))
    assert mine.delete(f"passkeys/{id_}") == 404
    (ended,) = [one for one in rows(home) if one.get("passkey") == id_ and "ended" in one]
    assert ended["via"] == ("terminal" if by_terminal else "board")


def test_a_session_that_is_closed_leaves_its_passkey_and_others_signed_in(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    other = again(mine)
    other.token = mine.post("session/passkey", phone.signs(asked(mine))).json()["token"]
    assert mine.delete(f"sessions/{other.read('session')['id']}") == 204
    assert other.get("/api/v1/status").status_code == 401
    assert mine.post("session/passkey", phone.signs(asked(mine))).status_code == 201


# --- who may -------------------------------------------------------------------------------------------------


def test_nobody_gets_a_higher_role_by_a_passkey_and_nobody_sees_or_deletes_that_of_another(home: Stage) -> None:
    owner, viewer = page(home), page(home, Role.VIEWER)
    owners = owner.add(phone_of()).json()["id"]
    phone = phone_of()
    offer = viewer.post("session/offer", {"name": "v"}).json()
    body = {**phone.makes(offer), "name": "v"}
    for more in ({"role": "owner"}, {"person": owner.read("session")["id"]}):
        refused(viewer.post("passkeys", {**body, **more}), 422)
    refused(owner.post("passkeys", body), 409), "what another session was asked"
    viewers = viewer.post("passkeys", body).json()["id"]
    assert [one["id"] for one in viewer.read("passkeys")["passkeys"]] == [viewers]
    assert {one["id"] for one in owner.read("passkeys")["passkeys"]} == {owners, viewers}
    assert viewer.delete(f"passkeys/{owners}") == 404
    other, signs = again(viewer), phone.signs(asked(viewer))
    refused(other.post("session/passkey", {**signs, "role": "owner"}), 422)
    other.token = other.post("session/passkey", signs).json()["token"]
    assert other.read("session")["role"] == "viewer"
    refused(other.post("money/cap", {"amount": "9"}), 403)
    second = other.add(phone_of(), "another").json()["id"]
    assert {one["id"] for one in viewer.read("passkeys")["passkeys"]} == {viewers, second}, "it is the same person's"
    assert viewer.delete(f"passkeys/{second}") == 204 and owner.delete(f"passkeys/{viewers}") == 204
    assert other.get("/api/v1/status").status_code == 401


def test_a_link_of_another_role_sees_no_passkey_of_who_was_there_before(home: Stage) -> None:
    page(home, Role.VIEWER).add(phone_of())
    assert page(home, Role.VIEWER).read("passkeys")["passkeys"] == []


@pytest.mark.parametrize("scope", [Role.READ, Role.ANSWER])
def test_a_script_s_key_adds_no_passkey_and_sees_none(home: Stage, scope: Role) -> None:
    mine, script, phone = page(home), page(home, None), phone_of()
    with home.records() as records:
        script.token = BoardKeys(records.db).make_key("ci", scope, records.clock.now(), 90)
    refused(script.post("session/offer", {"name": "ci"}), 403)
    offer = mine.post("session/offer", {"name": "ci"}).json()
    refused(script.post("passkeys", {**phone.makes(offer), "name": "ci"}), 403)
    id_ = mine.add(phone).json()["id"]
    assert script.read("passkeys")["passkeys"] == [] and script.delete(f"passkeys/{id_}") == 403


def test_a_stranger_asks_as_often_as_he_likes_and_nothing_is_kept_and_guesses_are_counted(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    one, before = page(home, None), kept(home)
    refused(one.post("session/offer", {"name": "x"}))
    refused(page(home, None).post("passkeys", {**phone.makes(asked(one)), "name": "x"}))
    for _ in range(300):
        asked(one)
    guesses = [one.post("session/passkey", phone_of().signs(asked(one))).status_code for _ in range(12)]
    assert guesses[-1] == 429 and set(guesses) == {401, 429}
    assert kept(home) == before
    assert one.post("session/passkey", phone.signs(asked(one))).status_code == 201, "who has one still comes in"


def kept(stage: Stage) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in stage.home.root.rglob("*") if path.is_file()}


def test_tickets_remember_only_what_was_used_and_that_for_two_minutes() -> None:
    tickets, now = PasskeyTickets(), datetime(2026, 11, 20, tzinfo=UTC)
    made = [tickets.make("sign in", now) for _ in range(100)]
    assert {tickets.challenge(one, "sign in", now) for one in made} and not tickets._used
    for one in made:
        tickets.use_up(one, now)
    tickets.use_up(tickets.make("sign in", now), now + LASTS + timedelta(seconds=1))
    assert len(tickets._used) == 1


def test_another_page_has_nobody_signed_in_and_nothing_added(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    offer, challenge = mine.post("session/offer", {"name": "x"}).json(), asked(mine)
    for wrong in ({"origin": f"http://localhost:{PORT + 1}"}, {"sec-fetch-site": "same-site"}, {"origin": ""}):
        body = {**phone.makes(offer), "name": "x"}
        assert mine.post("passkeys", body, **wrong).status_code == (201 if wrong == {"origin": ""} else 403), wrong
        stranger_ = again(mine)
        refused = 401 if wrong == {"origin": ""} else 403
        assert stranger_.post("session/challenge", None, **wrong).status_code == refused
        assert stranger_.post("session/passkey", phone.signs(challenge), **wrong).status_code == refused


# --- where ---------------------------------------------------------------------------------------------------


def test_by_an_address_in_numbers_the_board_says_where_a_passkey_can_be(home: Stage) -> None:
    for address in (HERE, f"http://[::1]:{PORT}"):
        mine = page(home, address=address)
        assert mine.read("passkeys") == {"passkeys": [], "is_here": False, "at": LOCAL}
        for path, body in (("offer", {"name": "x"}), ("challenge", None)):
            assert f"open {LOCAL}" in refused(mine.post(f"session/{path}", body, origin=address), 409)
    here = page(home)
    assert here.read("passkeys") == {"passkeys": [], "is_here": True, "at": ""}


@pytest.mark.parametrize(
    ("url", "hosts", "host", "says"),
    [
        (THERE, ["old.example.net"], "old.example.net", f"open {THERE}"),
        ("https://10.0.0.7", [], "10.0.0.7", "write a name"),
        (f"{THERE}:8443", ["old.example.net"], "old.example.net:8443", f"open {THERE}:8443"),
    ],
)
def test_over_tls_only_the_name_of_url_takes_passkeys(
    home: Stage, url: str, hosts: list[str], host: str, says: str
) -> None:
    one, own = behind(home, url=url, hosts=hosts), {"origin": f"https://{host}", "host": host}
    assert says in refused(one.post("/api/v1/session/challenge", headers=own), 409)


def test_a_passkey_of_one_site_is_none_at_the_other(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    phone.origin, phone.site = THERE, NAME
    one, own = behind(home), {"origin": THERE}
    challenge = one.post("/api/v1/session/challenge", headers=own).json()
    said = one.post("/api/v1/session/passkey", json=phone.signs(challenge), headers=own)
    assert "not known" in refused(said)


# --- what is no answer ---------------------------------------------------------------------------------------

BOMBS = [
    b"",
    b"\x9b" + b"\xff" * 8,  # a list of 2^64
    b"\xbb" + b"\xff" * 8,
    b"\x5b\x7f" + b"\xff" * 7,
    b"\x81" * 1_000,
    b"\xd8\x1c\x81\xd8\x1d\x00",  # a list in itself
    b"\xd8\x23\x78\x20" + b"(a+)+$".ljust(32),  # a pattern
    cbor2.dumps({1: 2, 3: -7, -1: 1, -2: b"", -3: b"\x01"}),
    cbor2.dumps({1: 2, 3: -7, -1: 1, -2: b"\x01" * 32, -3: b"\x02" * 32}),  # of no curve
    cbor2.dumps({1: 3, 3: -257, -1: b"\x00", -2: b"\x00"}),
    cbor2.dumps({1: 1, 3: -8, -1: 6, -2: b"\x01"}),
    cbor2.dumps({1: "2", 3: "-7"}),
    cbor2.dumps([1, 2]),
    cbor2.dumps("text"),
    b"\x04" + b"\x01" * 64,
]


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_made_up_bytes_are_refused_as_a_problem_and_nothing_is_kept(home: Stage, bomb: bytes) -> None:
    mine, phone = page(home), phone_of()
    offer = mine.post("session/offer", {"name": "x"}).json()
    refused(mine.post("passkeys", {**phone.makes(offer, bomb), "name": "x"}), 409)
    assert mine.read("passkeys")["passkeys"] == []
    mine.add(phone)
    said = phone.signs(asked(mine))
    for part in ("client", "authenticator", "signature"):
        refused(mine.post("session/passkey", {**said, part: told(bomb or b"x")}))
    phone.flags |= 128  # and what the authenticator adds
    said = phone.signs(asked(mine))
    data = untold(said["authenticator"]) + bomb
    signature = sha256(untold(said["client"])).digest()
    refused(mine.post("session/passkey", {**said, "authenticator": told(data), "signature": told(signature)}))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_bytes_of_a_stranger_are_a_bug(home: Stage, data: st.DataObject) -> None:
    mine, phone = page(home), phone_of()
    assert mine.add(phone).status_code == 201
    said = phone.signs(asked(mine))
    part = data.draw(st.sampled_from(["client", "authenticator", "signature", "credential"]))
    whole = untold(said[part])
    at = data.draw(st.integers(0, 200)) % len(whole)
    other = whole[:at] + data.draw(st.binary(max_size=40)) + whole[at + data.draw(st.integers(1, 40)) :]
    if other != whole:
        answer = mine.post("session/passkey", {**said, part: told(other)})
        assert answer.status_code in (401, 422, 429), answer.text
    offer = mine.post("session/offer", {"name": "x"}).json()
    body = phone_of().makes(offer)
    key = data.draw(st.binary(max_size=80))
    answer = mine.post("passkeys", {**phone_of().makes(offer, key), "name": "x"})
    assert answer.status_code == 409, answer.text
    assert mine.post("passkeys", {**body, "name": "x"}).status_code == 201
    for one in mine.read("passkeys")["passkeys"]:
        mine.delete(f"passkeys/{one['id']}")


@pytest.mark.parametrize("name", ["", " ", "x" * 41, "a\nb", "a\x1b[31m", "\u202egood", "--", "\u200c"])
def test_a_name_that_a_terminal_would_not_show_as_it_is_is_refused(home: Stage, name: str) -> None:
    refused(page(home).post("session/offer", {"name": name}), 422)


def test_huge_and_strange_bodies_are_refused(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    said, offer = phone.signs(asked(mine)), mine.post("session/offer", {"name": "x"}).json()
    for part in said:
        for wrong in ("A" * 300_000, "A" * 2_001, "", "==", "é", 7, None, [said[part]], {"a": 1}):
            refused(mine.post("session/passkey", {**said, part: wrong}), 413, 422)
    for part in ("client", "authenticator"):
        refused(mine.post("passkeys", {**phone.makes(offer), "name": "x", part: "A" * 2_001}), 422)
    refused(mine.post("session/passkey", {**said, "ticket": said["ticket"].upper()}), 422, *NOT_LET_IN)
    refused(mine.post("session/passkey", {**said, "client": f"{said['client']}A"}))
    assert mine.post("session/passkey", said).status_code == 201


def test_a_team_has_so_many_passkeys_and_a_passkey_so_many_sessions_and_no_more(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    assert mine.add(phone).status_code == 201
    assert "there already" in refused(mine.add(phone), 409)
    for _ in range(MOST - 1):
        assert mine.add(phone_of()).status_code == 201
    assert "delete one" in refused(mine.add(phone_of()), 409)
    for _ in range(MOST_SESSIONS + 3):
        home.clock.sleep(1)
        last = mine.post("session/passkey", phone.signs(asked(mine))).json()["token"]
    found = [one for one in mine.read("sessions") if one["passkey"]]
    assert len(found) == MOST_SESSIONS
    newest = again(mine)
    newest.token = last
    assert newest.get("/api/v1/status").status_code == 200


def test_no_book_holds_what_would_sign_somebody_in(home: Stage) -> None:
    mine, phone = page(home), phone_of()
    mine.add(phone)
    challenge = asked(mine)
    token = mine.post("session/passkey", phone.signs(challenge)).json()["token"]
    whole = b"".join(path.read_bytes() for path in home.home.root.rglob("*") if path.is_file())
    for secret in (token, challenge["ticket"], mine.token):
        assert secret.encode() not in whole and bytes.fromhex(challenge["ticket"]) not in whole
    assert COOKIE.encode() not in whole and stranger(home).get("/api/v1/status").status_code in NOT_LET_IN


def test_who_holds_his_words_back_till_his_session_is_closed_adds_no_passkey(home: Stage) -> None:
    """He is let in by what comes first; closing his session is to end all that he could come in by."""
    mine, phone, said = page(home), phone_of(), list[dict[str, Any]]()
    id_ = mine.read("session")["id"]
    body = json.dumps({**phone.makes(mine.post("session/offer", {"name": "x"}).json()), "name": "x"}).encode()

    async def receive() -> dict[str, Any]:
        with home.records() as records:
            BoardKeys(records.db).close(id_)
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        said.append(message)

    own = {"host": f"localhost:{PORT}", "origin": LOCAL, "content-type": "application/json", **mine._key()}
    headers = [(name.encode(), value.encode()) for name, value in {**own, "content-length": str(len(body))}.items()]
    path = "/api/v1/passkeys"
    about: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
    }
    about |= {"headers": headers, "client": ("127.0.0.1", 1), "scheme": "http"}

    async def ask() -> None:
        await mine.http.app(about, receive, send)

    asyncio.run(ask())
    assert said[0]["status"] == 401, said
    assert page(home).read("passkeys")["passkeys"] == []
