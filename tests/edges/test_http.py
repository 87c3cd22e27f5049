"""One request over a real wire: which addresses are connected, what bounds an answer, and what is said without one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence

import pytest

from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, http_address, is_configured
from tests.edges.web_scene import HERE, Reply, endless, hangs, leads, says, sends, web

PAGE = f"{HERE}/page"
HEAD = b"HTTP/1.1 200 X\r\nContent-Length: 9999\r\n\r\n"
CALL = HttpCall({}, 1_000, 10)
BRIEF = HttpCall({}, 1_000, 0.4)
PATIENT = HttpCall({}, 1_000, 0.4, patient=True)


def asked(reply: Reply, call: HttpCall = CALL) -> HttpAnswer | NoAnswer:
    with web({PAGE: reply}) as site:
        return Http(is_configured).ask(site.url(PAGE), call)


def test_of_a_long_answer_the_beginning_is_kept() -> None:
    for size, whole in ((1_000, True), (1_001, False), (50_000, False)):
        found = asked(says("x" * size))
        assert isinstance(found, HttpAnswer)
        assert (found.body, found.whole) == (b"x" * 1_000, whole)


@pytest.mark.parametrize(
    ("call", "status", "body"),
    [
        pytest.param(HttpCall({}, 0, 5), 200, b"", id="nobody wants it"),
        pytest.param(HttpCall({}, 9, 5), 404, b"text", id="of an error too"),
        pytest.param(HttpCall({}, 9, 5, only_ok=True), 404, b"", id="only a good one's"),
    ],
)
def test_a_body_is_read_where_it_is_wanted(call: HttpCall, status: int, body: bytes) -> None:
    found = asked(says("text", status=status), call)
    assert isinstance(found, HttpAnswer)
    assert (found.status, found.body) == (status, body)


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with web({PAGE: leads("/elsewhere")}) as site:
        found = Http(is_configured).ask(site.url(PAGE), CALL)
        assert isinstance(found, HttpAnswer)
        assert (found.location, site.asked) == ("/elsewhere", [PAGE])


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(sends(HEAD + b"half"), "cut", id="half an answer"),
        pytest.param(sends(b""), "cut", id="none"),
        pytest.param(sends(b"220 mail.example ESMTP\r\n\r\n"), "no HTTP", id="another service"),
    ],
)
def test_what_may_have_arrived_is_told_as_sent(reply: Reply, why: str) -> None:
    found = asked(reply)
    assert isinstance(found, NoAnswer)
    assert (found.why, found.sent) == (why, True)


@pytest.mark.parametrize("reply", [hangs, endless(HEAD, b"x", 0.05)], ids=["silence", "a byte now and then"])
def test_the_time_is_for_all_of_it(reply: Reply) -> None:
    began = time.monotonic()
    assert asked(reply, BRIEF) == NoAnswer("late", "TimeoutError", sent=True)
    assert time.monotonic() - began < 3


def test_a_patient_call_counts_the_silence_and_keeps_what_it_has() -> None:
    found = asked(endless(HEAD, b"x", 0.05), PATIENT)
    assert isinstance(found, HttpAnswer)
    assert found.status == 200 and set(found.body) == set(b"x") and not found.whole
    assert asked(hangs, PATIENT) == NoAnswer("late", "ReadTimeout", sent=True)


def test_a_patient_call_does_not_wait_for_ever() -> None:
    began = time.monotonic()
    found = asked(endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.02), HttpCall({}, 0, 0.3, patient=True))
    assert isinstance(found, NoAnswer) and found.why == "late"
    assert 2.7 < time.monotonic() - began < 5


# --- where it goes -------------------------------------------------------------------------------------------


def test_where_nobody_listens_nothing_was_sent() -> None:
    with socket.create_server((HERE, 0)) as server:
        url = f"http://{HERE}:{server.getsockname()[1]}/"
    assert Http(is_configured).ask(url, CALL) == NoAnswer("unreached", "ConnectError")


@pytest.mark.parametrize("found", [[HERE], ["10.0.0.1"], ["93.184.216.34", HERE]])
def test_only_public_addresses_are_connected_unless_the_owner_configured_it(found: list[str]) -> None:
    with web({}) as site:
        private = next(address for address in found if address in (HERE, "10.0.0.1"))
        answer = Http(resolve=lambda *_: found).ask(site.url("site.example/"), CALL)
        assert answer == NoAnswer("forbidden", private)
        assert site.asked == []


def test_a_name_that_has_no_address_or_no_answer_in_time() -> None:
    released = threading.Event()

    def slow(*_: object) -> Sequence[str]:
        released.wait(30)
        return [HERE]

    def nowhere(*_: object) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    for resolve, why in ((nowhere, "no host"), (slow, "unknown")):
        answer = Http(is_configured, resolve).ask("http://site.example/", BRIEF)
        assert isinstance(answer, NoAnswer)
        assert (answer.why, answer.sent) == (why, False)
    released.set()


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://localhost", "http://localhost/"),
        ("HTTPS://Site.Example:443/a?b=c#d", "https://site.example/a?b=c"),
        ("http://user:secret@10.0.0.1:8001/a", "http://10.0.0.1:8001/a"),
        ("http://[::1]:8001/a b", "http://[::1]:8001/a%20b"),
    ],
)
def test_a_configured_address_is_read_as_the_connection_needs_it(url: str, read: str) -> None:
    assert http_address(url).url == read


@pytest.mark.parametrize(
    "url", ["", "secret", "ftp://host/secret", "http://", "http://[::1/secret", "http://h:0/", "http://h:65536/"]
)
def test_an_address_that_is_none_is_told_without_it(url: str) -> None:
    with pytest.raises(ValueError, match="it is no address") as told:
        http_address(url)
    assert "secret" not in str(told.value)
    assert Http(is_configured).ask(url, CALL) == NoAnswer("no address", "ValueError")
