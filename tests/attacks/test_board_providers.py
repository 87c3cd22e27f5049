"""P12: whatever a provider says, only a word that is for us, now and for this question lets somebody in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from sisimpur.web.api.access import oauth_provider
from sisimpur.web.api.access.oauth_routes import AT_ONCE
from tests.journey.accounts_scene import NOT_LET_IN, Phone
from tests.journey.local_accounts import CLIENTS, LocalAccounts, forged_by, says, signed_by
from tests.journey.stage import Stage

OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one"})
NOW = time.time()


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "of another browser"},
        {"nonce": ""},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["another-client", CLIENTS["google"]], "azp": "another-client"},
        {"aud": "another-client", "azp": CLIENTS["google"]},
        {"azp": "another-client"},
        {"iss": "https://accounts.google.com.evil.example"},
        {"iss": None},
        pytest.param({"exp": int(NOW) - 3600}, id="it is over"),
        {"exp": None},
        {"exp": "9999999999"},
        pytest.param({"iat": int(NOW) + 3600}, id="of the future"),
        pytest.param({"nbf": int(NOW) + 3600}, id="not before an hour"),
        {"sub": None},
        {"sub": ""},
        {"sub": 12345},
        {"sub": "12345 "},
        {"sub": "12345\n"},
        {"sub": "a:b"},
        {"at_hash": "of another token"},
    ],
    ids=str,
)
def test_a_word_of_google_s_that_is_not_for_us_now_and_for_this_question_is_none(
    local: LocalAccounts, phone: Phone, wrong: dict[str, Any]
) -> None:
    local.claims = lambda said: {name: value for name, value in {**said, **wrong}.items() if value is not None}
    assert phone.signs_in(local, "google") == "refused"
    assert phone.cookies == {} and phone.status in NOT_LET_IN


@pytest.mark.parametrize(
    "forged", ["another key", "none", "no algorithm", "its public key as a secret", "unknown key", "no word"]
)
def test_a_word_that_google_did_not_sign_is_none(local: LocalAccounts, phone: Phone, forged: str) -> None:
    words = {
        "another key": signed_by(OTHER_KEY),
        "unknown key": signed_by(OTHER_KEY, "two"),
        "none": forged_by("none", b""),
        "no algorithm": forged_by("", b"x"),
        "its public key as a secret": forged_by("HS256", local.key.as_pem(private=False)),
    }
    local.word = words.get(forged)
    if forged == "no word":
        local.token = lambda said: {name: value for name, value in said.items() if name != "id_token"}
    assert phone.signs_in(local, "google") == "refused"
    assert phone.status in NOT_LET_IN


@pytest.mark.parametrize("number", [None, "12345", 12345.0, True, -1, 0, [12345], {"id": 12345}, 10**40], ids=str)
def test_an_account_of_github_s_without_a_number_is_none(local: LocalAccounts, phone: Phone, number: Any) -> None:
    local.account = lambda said: {**said, "id": number, "login": "12345", "email": "rahim@gmail.com"}
    assert phone.signs_in(local, "github") == "refused"
    assert phone.status in NOT_LET_IN


def slow(line: BaseHTTPRequestHandler) -> None:
    line.send_response(200)
    line.end_headers()
    try:
        for _ in range(200):
            line.wfile.write(b" ")
            line.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass


BROKEN: dict[str, tuple[Callable[[BaseHTTPRequestHandler], None], str]] = {
    "huge": (says({"access_token": "x", "id": 12345, "more": "x" * 200_000}), "refused"),
    "right, and then blanks": (
        says(b'{"id": 12345, "access_token": "a", "token_type": "bearer"}' + b" " * 100_000),
        "refused",
    ),
    "huge and packed": (says(b"\x1f\x8b" + b"\0" * 60_000, content_encoding="gzip"), "refused"),
    "deep": (says(b"[" * 60_000), "refused"),
    "no JSON": (says(b"<html>"), "refused"),
    "a list": (says([]), "refused"),
    "nothing": (says(b""), "refused"),
    "an error": (says({"error": "bad_verification_code"}), "refused"),
    "of another kind": (says({"access_token": 7, "token_type": 7, "keys": 7}), "refused"),
    "of a kind that is none": (says({"access_token": "a", "token_type": "mac", "keys": ["a"]}), "refused"),
    "over": (says({"access_token": "a", "token_type": "bearer", "expires_in": 0, "keys": []}), "refused"),
    "500": (says({}, 500), "refused"),
    "401": (says({"message": "Bad credentials"}, 401), "refused"),
    "leads elsewhere": (says({}, 307, location="http://127.0.0.1:1/elsewhere"), "refused"),
    "silent": (lambda line: line.connection.close(), "away"),
}


@pytest.mark.parametrize("path", ["/google/token", "/google/keys", "/github/token", "/github/user"])
@pytest.mark.parametrize("how", BROKEN)
def test_an_answer_that_is_none_lets_nobody_in(
    home: Stage, local: LocalAccounts, phone: Phone, path: str, how: str
) -> None:
    answer, told = BROKEN[how]
    local.answers = {path: answer}
    assert phone.signs_in(local, path.split("/")[1]) == told
    assert phone.cookies == {} and phone.status in NOT_LET_IN
    assert not list((home.home.root / "logs").glob("bug-*"))


def test_a_provider_that_dribbles_or_is_gone_ends_in_time(local: LocalAccounts, phone: Phone) -> None:
    local.answers = {"/github/user": slow}
    began = time.monotonic()
    assert phone.signs_in(local, "github") == "away"
    assert time.monotonic() - began < oauth_provider.PATIENCE + 5


def test_who_waits_for_a_provider_keeps_nobody_else_waiting(local: LocalAccounts, phone: Phone) -> None:
    """More than so many at once hear so at once, and who reads is answered."""
    go, waiting = threading.Event(), threading.Semaphore(0)

    def holds(line: BaseHTTPRequestHandler) -> None:
        waiting.release()
        go.wait(8)
        says({}, 500)(line)

    local.answers = {"/github/token": holds}
    many = [Phone(phone.http) for _ in range(AT_ONCE + 1)]
    backs = [local.sends_back(one.leaves("github")) for one in many]
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda pair: said.append(pair[0].comes_back(pair[1])), args=(pair,))
        for pair in zip(many[:AT_ONCE], backs, strict=False)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert waiting.acquire(timeout=8)
    assert many[-1].comes_back(backs[-1]) == "busy"
    assert phone.ask("GET", "/health").status_code == 200
    go.set()
    for thread in threads:
        thread.join()
    assert said == ["refused"] * AT_ONCE
