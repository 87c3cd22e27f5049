"""P12: a passkey that an account added is worth what the account is worth today."""

from __future__ import annotations

from typing import Any

from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.reading.board_news import NewsTeller
from tests.attacks.test_board_phone import NOT_LET_IN
from tests.attacks.test_passkeys import Local, again, asked, home, page, phone_of, refused, rows
from tests.journey.accounts_scene import RAHIM, listing
from tests.journey.stage import Stage
from tests.soft_authenticator import SoftAuthenticator

__all__ = ["home"]
OWNER = RAHIM.replace("reviewer", "owner")


def came(stage: Stage, role: Role = Role.OWNER) -> Local:
    """Somebody who came with an account, and is listed."""
    listing(stage, RAHIM.replace("reviewer", role))
    one = page(stage, None)
    with stage.records() as records:
        one.token = BoardKeys(records.db).enter("github:12345", role, records.clock.now())
    return one


def by_passkey(one: Local, phone: SoftAuthenticator) -> tuple[Any, Local]:
    other = again(one)
    said = other.post("session/passkey", phone.signs(asked(other)))
    if said.status_code == 201:
        other.token = said.json()["token"]
    return said, other


def test_a_passkey_signs_in_to_the_role_that_its_account_has_today_and_the_audit_says_so(home: Stage) -> None:
    mine, phone = came(home), phone_of()
    assert mine.add(phone).status_code == 201
    _, before = by_passkey(mine, phone)
    assert before.read("session")["role"] == "owner"
    listing(home, RAHIM.replace("reviewer", "viewer"))
    _, after = by_passkey(mine, phone)
    for one in (mine, before, after):
        assert (one.read("session")["role"], one.read("session")["name"]) == ("viewer", "Rahim")
        assert one.post("plan/rulings", {}).status_code == one.post("pushes", {}).status_code == 403
        assert [row["id"] for row in one.read("sessions")] == [one.read("session")["id"]]
    assert rows(home)[-1]["role"] == "viewer", "the row of its sign-in"
    again_added = phone_of()
    assert after.add(again_added).status_code == 201, "a passkey for looking"
    assert len(after.read("passkeys")["passkeys"]) == 2


def test_the_line_of_who_left_the_list_ends(home: Stage) -> None:
    mine, where = came(home), BoardHome(home.home.root, home.clock)
    with home.records() as records:
        teller = NewsTeller(records, mine.token, records.audit.newest(), where.listed)
        assert teller.look() is not None
        listing(home, RAHIM.replace("12345", "99"))
        assert NewsTeller(records, mine.token, records.audit.newest(), where.listed).look() is None


def test_who_left_the_list_is_refused_at_the_passkey_and_by_all_that_came_by_it(home: Stage) -> None:
    mine, phone = came(home), phone_of()
    assert mine.add(phone).status_code == 201
    _, before = by_passkey(mine, phone)
    listing(home, RAHIM.replace("12345", "99"))
    count = len(rows(home))
    said, _ = by_passkey(mine, phone)
    assert "not on the list any more" in refused(said)
    assert len(rows(home)) == count, "nobody signed in"
    assert all(one.get("/api/v1/status").status_code in NOT_LET_IN for one in (mine, before))
    (home.home.config / "board.yaml").write_text("sign_in: [")
    said, _ = by_passkey(mine, phone)
    assert said.status_code == 503 and "board.yaml" not in said.text, "nobody can tell"
    listing(home, OWNER)
    said, after = by_passkey(mine, phone)
    assert said.status_code == 201 and after.read("session")["role"] == "owner"
