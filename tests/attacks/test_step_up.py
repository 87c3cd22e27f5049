"""P12: where step_up says so, a guarded change is approved by whose passkey has signed exactly that, once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.access.passkey_check import challenge_of
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from tests.attacks.test_passkeys import LOCAL, Local, again, page, phone_of, refused
from tests.attacks.test_passkeys import asked as asked_to_sign_in
from tests.journey.gated import FILES, GOOD, ID, SUM, VISION, Coder, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads, task
from tests.journey.test_board import HERE, OTHER, PORT, run
from tests.soft_authenticator import PRESENT, VERIFIED, SoftAuthenticator, told, untold

CAP = {"cap": "7.50"}
Send = Callable[..., Any]


def guarded(stage: Stage, word: str = "guarded") -> Stage:
    stage.given_config("board", step_up=word)
    return stage


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A home with a change of a protected path, that is only told what it refuses."""
    return guarded(run(tmp_path_factory.mktemp("parked")))


@pytest.fixture
def home(parked: Stage) -> Iterator[Stage]:
    before = decided(parked)
    yield parked
    assert decided(parked) == before and not list((parked.home.root / "logs").glob("bug-*"))


def decided(stage: Stage) -> list[str]:
    with stage.records() as records:
        return [one.kind for one in records.gates.rulings(ID)]


def with_passkey(stage: Stage, role: Role = Role.OWNER) -> tuple[Local, SoftAuthenticator]:
    mine, phone = page(stage, role), phone_of()
    assert mine.add(phone).status_code == 201
    return mine, phone


def approve(one: Local, signed: Any = None, **headers: str) -> Any:
    seen = one.get(f"/api/v1/tasks/{ID}/review")
    body = {"ruling": "approve", "commit": seen.json()["commit"], "passkey": signed}
    return one.post(f"tasks/{ID}/rulings", body, **{"if-match": seen.headers["etag"], **headers})


def asked(answer: Any) -> dict[str, Any]:
    assert "sign this" in refused(answer, 403)
    found: dict[str, Any] = answer.json()["asked"]
    return found


def rows(stage: Stage, kind: str) -> list[dict[str, Any]]:
    with stage.records() as records:
        assert records.audit.check().rows
        return [json.loads(one.detail) for one in records.audit.rows(kind=kind)]


def holds(proof: dict[str, str], credential: bytes) -> bool:
    """Whether somebody who has the row alone, and knows the standard, believes it. Raises if the signature is none."""
    client, data = untold(proof["client"]), untold(proof["authenticator"])
    key = cbor2.loads(untold(proof["key"]))
    x, y = (int.from_bytes(key[at], "big") for at in (-2, -3))
    public = EllipticCurvePublicNumbers(x, y, SECP256R1()).public_key()
    public.verify(untold(proof["signature"]), data + sha256(client).digest(), ECDSA(SHA256()))
    parts = [proof["task"], proof["commit"], proof["ruling"], proof["nonce"]]
    challenge = told(sha256(json.dumps(parts).encode()).digest())
    is_there = data[:32] == sha256(proof["site"].encode()).digest() and data[32] & VERIFIED
    return bool(is_there) and json.loads(client)["challenge"] == challenge and untold(proof["credential"]) == credential


# --- what it is for ------------------------------------------------------------------------------------------


def test_who_signs_for_a_commit_approves_it_once_and_the_row_shows_it_to_anybody(tmp_path: Path) -> None:
    day = guarded(run(tmp_path))
    mine, phone = with_passkey(day)
    question = asked(approve(mine))
    assert question["options"]["userVerification"] == "required" and question["options"]["timeout"] == 300_000
    assert [one["id"] for one in question["options"]["allowCredentials"]] == [told(phone.credential)]
    assert decided(day) == [] and not any("signed" in one for one in rows(day, "ruling"))
    signed, key = phone.signs(question), {"idempotency-key": "one-press"}
    commit = mine.read(f"tasks/{ID}/review")["commit"]
    seen = mine.get(f"/api/v1/tasks/{ID}/review").headers["etag"]
    done = approve(mine, signed, **key)
    assert done.status_code == 201 and f"{ID}: approved" in done.text
    body = {"ruling": "approve", "commit": commit}
    said_again = mine.post(f"tasks/{ID}/rulings", body, **{"if-match": seen, **key})
    assert said_again.status_code == 201 and said_again.text == done.text, "the same order, said again"
    (row,) = [one for one in rows(day, "ruling") if "signed" in one]
    proof = row["signed"]
    assert (proof["task"], proof["commit"], proof["ruling"]) == (ID, commit, "approve") and row["said"] == "approve"
    assert holds(proof, phone.credential) and len(json.dumps(proof)) < 1_500
    assert not holds({**proof, "commit": OTHER}, phone.credential)
    with ScriptedModel([]) as model:
        day.model_url = model.url
        day.given_key()
        assert day.run_day() == []
    assert day.states() == {ID: "completed"}


def test_a_cap_is_signed_for_and_the_same_signature_raises_no_other_one(tmp_path: Path) -> None:
    stage = guarded(Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES))
    mine, phone = with_passkey(stage)
    signed = phone.signs(asked(mine.post("money/cap", CAP)))
    refused(mine.post("money/cap", {"cap": "75.0", "passkey": signed}), 403)
    stage.clock.sleep(299)
    assert mine.post("money/cap", {**CAP, "passkey": signed}).status_code == 201
    assert "used" in refused(mine.post("money/cap", {**CAP, "passkey": signed}), 403)
    late = phone.signs(asked(mine.post("money/cap", {"cap": "8"})))
    stage.clock.sleep(301)
    assert "too long" in refused(mine.post("money/cap", {"cap": "8", "passkey": late}), 403)
    (row,) = [one for one in rows(stage, "cap") if "signed" in one]
    assert row["signed"]["ruling"] == "raise-cap 7.50" and holds(row["signed"], phone.credential)


def test_a_setting_that_decides_what_is_spent_and_merged_is_signed_for_with_its_values(tmp_path: Path) -> None:
    day = guarded(run(tmp_path))
    mine, phone = with_passkey(day)

    def change(values: dict[str, Any], signed: Any = None) -> Any:
        (file,) = (one for one in mine.read("settings")["files"] if one["file"] == "config/policy.yaml")
        body = {"file": file["file"], "values": values, "confirmed": True, "passkey": signed}
        head = {"origin": LOCAL, "if-match": f'"{file["digest"]}"', **mine._key()}
        return mine.http.put("/api/v1/settings", json=body, headers=head)

    more = {"budget.day": 9.5}
    signed = phone.signs(asked(change(more)))
    assert "signs once" in refused(change({"budget.day": 95}, signed), 403)
    assert not any("signed" in one for one in rows(day, "file"))
    assert change(more, phone.signs(asked(change(more)))).status_code == 200
    assert "day: 9.5" in (day.home.config / "policy.yaml").read_text()
    (row,) = (one for one in rows(day, "file") if "signed" in one)
    assert row["signed"]["ruling"] == '{"values":{"budget.day":9.5}}' and holds(row["signed"], phone.credential)
    assert change({"capacity.depth": 2}).status_code == 200, "what is not grave is not signed"


def test_who_has_a_session_alone_gets_no_passkey_of_his_own_beside_yours(home: Stage) -> None:
    mine, phone = with_passkey(home)
    thief, his = Local(mine.http, mine.token), phone_of()
    question = asked(thief.post("session/offer", {"name": "his"}))
    assert "passkey" in refused(thief.post("session/offer", {"name": "his", "passkey": his.signs(question)}), 403)
    id_ = mine.read("passkeys")["passkeys"][0]["id"]
    answer = mine.http.delete(f"/api/v1/passkeys/{id_}", headers={"origin": LOCAL, **mine._key()})
    assert f"board --close {id_}" in refused(answer, 403)
    signed = phone.signs(asked(mine.post("session/offer", {"name": "the laptop"})))
    laptop, offer = phone_of(), mine.post("session/offer", {"name": "the laptop", "passkey": signed})
    assert offer.status_code == 201
    assert mine.post("passkeys", {**laptop.makes(offer.json()), "name": "the laptop"}).status_code == 201
    assert len(mine.read("passkeys")["passkeys"]) == 2


def test_off_or_unprotected_nothing_more_is_asked(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    answers = [reads(), plans(task(SUM, files=("app.py", "tests/test_app.py"))), CODES, APPROVES]
    with ScriptedModel(answers) as model:
        day = guarded(Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES))
        day.given_config("policy", merge="{auto: false}")
        assert day.run_day() == []
    assert approve(page(day)).status_code == 201 and decided(day) == ["approve"]
    other = guarded(run(tmp_path_factory.mktemp("off")), "off")
    assert approve(page(other)).status_code == 201 and decided(other) == ["approve"]
    assert not any("signed" in one for stage in (day, other) for one in rows(stage, "ruling"))


# --- who has none --------------------------------------------------------------------------------------------


def test_who_has_no_passkey_is_told_to_register_one_also_where_another_has(home: Stage) -> None:
    with_passkey(home)
    for send in (approve, lambda one: one.post("money/cap", CAP), by_the_card):
        assert "register a passkey under Settings first" in refused(send(page(home)), 403)


def by_the_card(one: Local) -> Any:
    """By the card's own address."""
    seen = one.get(f"/api/v1/tasks/{ID}/review")
    headers = {"if-match": seen.headers["etag"], "origin": LOCAL, "idempotency-key": "by-the-card"}
    return one.http.post(
        f"/orchestrator/approve/{ID}", json={"commit": seen.json()["commit"]}, headers={**headers, **one._key()}
    )


@pytest.mark.parametrize(
    "order",
    [("20261120-02", "", "approve"), (ID, OTHER, "approve"), (ID, "", "reject"), (ID, "", "raise-cap 7.50"), ()],
    ids=["another task", "another commit", "another ruling", "another order", "a sign-in"],
)
def test_what_was_signed_for_something_else_approves_nothing(home: Stage, order: Sequence[str]) -> None:
    mine, phone = with_passkey(home)
    question = asked(approve(mine))
    commit = mine.read(f"tasks/{ID}/review")["commit"]
    other = tuple(part or (commit if at == 1 else part) for at, part in enumerate(order))
    challenge = told(challenge_of(question["ticket"], other))
    signed = phone.signs(question, challenge=challenge)
    assert challenge != question["options"]["challenge"]
    assert "one task, commit and ruling" in refused(approve(mine, signed), 403)


def test_a_signature_that_signs_in_approves_nothing_and_one_that_approves_signs_nobody_in(home: Stage) -> None:
    mine, phone = with_passkey(home)
    refused(approve(mine, phone.signs(asked_to_sign_in(mine))), 403)
    refused(again(mine).post("session/passkey", phone.signs(asked(approve(mine)))))
    question, other = asked(approve(mine)), asked(approve(mine))
    refused(approve(mine, {**phone.signs(question), "ticket": other["ticket"]}), 403)
    refused(approve(page(home), phone.signs(question)), 403)


def test_the_passkey_of_another_person_and_the_question_of_another_session_approve_nothing(home: Stage) -> None:
    mine, _ = with_passkey(home)
    other, theirs = with_passkey(home)
    same = again(mine)
    assert "not yours" in refused(approve(mine, theirs.signs(asked(approve(mine)))), 403)
    same.token = other.token
    assert "no answer" in refused(approve(same, theirs.signs(asked(approve(mine)))), 403)


def unknown_user(phone: SoftAuthenticator) -> None:
    phone.flags = PRESENT


def another_port(phone: SoftAuthenticator) -> None:
    phone.origin = f"http://localhost:{PORT + 1}"


def another_site(phone: SoftAuthenticator) -> None:
    phone.site = "team.example.net"


def another_key(phone: SoftAuthenticator) -> None:
    phone.key = phone_of().key


@pytest.mark.parametrize("change", [unknown_user, another_port, another_site, another_key])
def test_an_answer_that_is_not_wholly_true_approves_nothing(
    home: Stage, change: Callable[[SoftAuthenticator], None]
) -> None:
    mine, phone = with_passkey(home)
    question = asked(approve(mine))
    change(phone)
    assert "begin again" in refused(approve(mine, phone.signs(question)), 403)


def test_a_copy_approves_nothing_and_is_told(home: Stage) -> None:
    mine, phone = with_passkey(home)
    copy = replace(phone)
    for _ in range(2):
        mine.post("session/passkey", phone.signs(asked_to_sign_in(mine)))
    assert "copy" in refused(approve(mine, copy.signs(asked(approve(mine)))), 403)
    assert any("copy" in str(one.get("refused")) for one in rows(home, "sign-in"))


def test_who_may_not_approve_is_asked_nothing(home: Stage) -> None:
    viewer, _ = with_passkey(home, Role.VIEWER)
    script = page(home, None)
    with home.records() as records:
        script.token = BoardKeys(records.db).make_key("ci", Role.ANSWER, records.clock.now(), 90)
    for one in (viewer, script):
        said = approve(one)
        assert "this is not for" in refused(said, 403) and "asked" not in said.json()


def test_where_no_passkey_can_be_and_where_nobody_can_tell_nothing_is_approved(home: Stage) -> None:
    here = page(home, address=HERE)
    assert "open http://localhost" in refused(approve(here, origin=HERE), 409)
    file = home.home.config / "board.yaml"
    before = file.read_text()
    file.write_text("step_up: [")
    refused(approve(page(home)), 409)
    file.write_text(before)


# --- the challenge -------------------------------------------------------------------------------------------

WORDS = st.text(max_size=3)
ORDERS = st.tuples(WORDS, WORDS, WORDS, WORDS)


@given(ORDERS, ORDERS)
def test_a_challenge_is_of_one_task_commit_ruling_and_nonce(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Each part by itself, too: what is cut off one and put on the next is another order."""
    assert (challenge_of(one[3], one[:3]) == challenge_of(other[3], other[:3])) == (one == other)


@given(ORDERS, st.integers(0, 3), WORDS)
def test_whichever_part_is_another_the_challenge_is_and_none_is_that_of_a_sign_in(
    order: tuple[str, ...], at: int, part: str
) -> None:
    other = (*order[:at], part, *order[at + 1 :])
    assert (challenge_of(other[3], other[:3]) == challenge_of(order[3], order[:3])) == (part == order[at])
    assert challenge_of(order[3], order[:3]) != challenge_of(order[3])
