"""Looking at a place: its pages over a real wire that may be sick in any way, its log, and what runs there."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from sisimpur.agents.devops.drivers.driver import Cleaned, EngineAway, Release
from sisimpur.agents.devops.drivers.health_checker import HealthChecker, SiteChecks, base_url
from sisimpur.shared.config.settings_deploy import Page, PlaceSettings
from sisimpur.shared.model.deployment import HealthLook, Place, Running
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.outgoing import Outgoing

COMMIT, OTHER = "a" * 40, "b" * 40
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HEALTHZ = Page(path="/healthz/")


@dataclass
class FakeDriver:
    """Says what it is told to say; whoever changes something through it fails."""

    found: Running | None = field(default_factory=lambda: Running(COMMIT))
    log: list[str] = field(default_factory=list)
    is_away: bool = False

    def check(self) -> str:
        return "a fake"

    def build(self, release: Release) -> None:
        raise AssertionError("a look builds nothing")

    def start(self, release: Release, hurry: bool = False) -> None:
        raise AssertionError("a look starts nothing")

    def running(self, place: Place) -> Running | None:
        if self.is_away:
            raise EngineAway("the engine does not answer")
        return self.found

    def logs(self, place: Place, lines: int = 50) -> str:
        return "\n".join(self.log[-lines:])

    def clean(self, keep: Collection[Release]) -> Cleaned:
        raise AssertionError("a look cleans nothing")


Reply = Callable[[socket.socket], None]


class Site:
    """Answers each call on a wire of its own with the next reply; the last one stays."""

    def __init__(self, server: socket.socket, replies: Sequence[Reply]) -> None:
        self._server, self._replies = server, list(replies)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                wire, _ = self._server.accept()
                threading.Thread(target=self._answer, args=(wire,), daemon=True).start()

    def _answer(self, wire: socket.socket) -> None:
        with contextlib.suppress(OSError), wire:
            self.asked.append(wire.recv(65536).decode())
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            reply(wire)

    @property
    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.asked]


@contextlib.contextmanager
def site(*replies: Reply) -> Iterator[Site]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Site(server, replies)
        thread = threading.Thread(target=found.serve)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def says(status: int = 200, body: str = "fine", head: str = "") -> Reply:
    data = f"HTTP/1.1 {status} X\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    return lambda wire: wire.sendall(data)


def sends(data: bytes) -> Reply:
    return lambda wire: wire.sendall(data)


def resets(wire: socket.socket) -> None:
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hangs(wire: socket.socket) -> None:
    wire.recv(1)  # until the other side goes


def drips(data: bytes, endless: bytes) -> Reply:
    """A byte now and then, for ever."""

    def reply(wire: socket.socket) -> None:
        wire.sendall(data)
        while True:
            wire.sendall(endless)
            time.sleep(0.05)

    return reply


def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def checker(
    url: str, *pages: Page, patterns: Sequence[str] = (), retries: int = 0, secrets: dict[str, str] | None = None
) -> HealthChecker:
    return HealthChecker(SiteChecks(url, pages, patterns, retries), ManualClock(NOON), Outgoing(secrets or {}).clean)


def look(one: HealthChecker, driver: FakeDriver | None = None, restarts_before: int = 0) -> HealthLook:
    return one.look(driver or FakeDriver(), "staging", COMMIT, 12.5, restarts_before)


def wrong(reply: Reply, page: Page = HEALTHZ) -> str:
    with site(reply) as found:
        return look(checker(found.url, page)).wrong


# --- what runs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "dead"),
    [
        pytest.param(None, "nothing of ours runs, not even aaaaaaaaaaaa", id="nothing"),
        pytest.param(Running(OTHER), "bbbbbbbbbbbb runs, not aaaaaaaaaaaa", id="another commit"),
        pytest.param(Running(COMMIT, ended="web ended with 3"), "web ended with 3", id="what has ended"),
    ],
)
def test_what_does_not_run_is_dead_and_its_pages_are_not_asked(found: Running | None, dead: str) -> None:
    with site(says()) as pages:
        assert look(checker(pages.url, HEALTHZ), FakeDriver(found)) == HealthLook(12.5, dead=dead)
        assert pages.asked == []


def test_an_engine_that_is_away_is_no_sickness() -> None:
    with pytest.raises(EngineAway):
        look(checker(nobody(), HEALTHZ), FakeDriver(is_away=True))


def test_restarts_count_from_the_start() -> None:
    assert look(checker(""), FakeDriver(Running(COMMIT, restarts=5)), restarts_before=3).restarts == 2
    assert look(checker(""), FakeDriver(Running(COMMIT, restarts=1)), restarts_before=3).restarts == 0


# --- pages ---------------------------------------------------------------------------------------------------


def test_pages_that_answer_as_they_should_are_well() -> None:
    pages = (HEALTHZ, Page(path="/gone?a=1", status=404), Page(path="/", contains="W.lcome"))
    with site(says(), says(404), says(body="<h1>Welcome</h1>")) as found:
        assert look(checker(found.url, *pages)) == HealthLook(12.5)
        assert found.paths == ["/healthz/", "/gone?a=1", "/"]
        assert all(request.startswith("GET ") for request in found.asked)


def test_nobody_there_is_told() -> None:
    said = look(checker(nobody(), HEALTHZ)).wrong
    assert said == (
        "GET /healthz/ cannot be asked: nobody takes the call at its address (health.pages in config/targets)"
    )


@pytest.mark.parametrize(
    ("reply", "page", "said"),
    [
        pytest.param(says(500), HEALTHZ, "GET /healthz/ answered 500, not 200", id="an error"),
        pytest.param(says(200), Page(path="/x", status=401), "GET /x answered 200, not 401", id="too good"),
        pytest.param(says(), Page(path="/", contains="^W"), "GET / answered 200, but without '^W'", id="other words"),
        pytest.param(
            says(302, head="Location: /login/\r\n"), HEALTHZ, "answered 302 (to /login/), not 200", id="a redirect"
        ),
        pytest.param(resets, HEALTHZ, "was cut off (ReadError)", id="reset"),
        pytest.param(sends(b""), HEALTHZ, "was cut off before its answer was whole", id="no answer"),
        pytest.param(
            sends(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), HEALTHZ, "was cut off before", id="half of one"
        ),
        pytest.param(sends(b"SSH-2.0-OpenSSH_9\r\n\r\n"), HEALTHZ, "something that is not HTTP", id="another service"),
        pytest.param(sends(b"HTTP/1.1 999999 X\r\n\r\n"), HEALTHZ, "something that is not HTTP", id="no status"),
        pytest.param(sends(b"\0\xff" * 100_000), HEALTHZ, "GET /healthz/ ", id="garbage"),
    ],
)
def test_a_page_that_is_wrong_is_named_with_what_was_expected(reply: Reply, page: Page, said: str) -> None:
    found = wrong(reply, page)
    assert said in found
    assert found.endswith(" (health.pages in config/targets)")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(hangs, id="says nothing"),
        pytest.param(drips(b"HTTP/1.1 200 OK\r\nX-A: ", b"a"), id="drips its head"),
        pytest.param(drips(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"a"), id="drips its body"),
        pytest.param(drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), id="is never done with hints"),
    ],
)
def test_the_time_limit_is_for_all_of_an_answer(reply: Reply) -> None:
    began = time.monotonic()
    assert "GET / took longer than 0.3 s" in wrong(reply, Page(path="/", seconds=0.3))
    assert 0.2 < time.monotonic() - began < 2


def test_of_a_long_page_only_its_beginning_is_read() -> None:
    head, rest = "begin" + "a" * 65_531, "end"
    with site(says(body=head + rest + "a" * 5_000_000)) as found:
        assert look(checker(found.url, Page(path="/", contains="^begina+$"))).wrong == ""
    assert "without 'end'" in wrong(says(body=head + rest), Page(path="/", contains="end"))


def test_a_page_without_an_end_is_well_if_it_begins_well() -> None:
    endless = drips(b"HTTP/1.1 200 OK\r\n\r\n", b"a" * 40_000)
    assert wrong(endless, Page(path="/", contains="^a+$", seconds=2)) == ""


def test_a_redirect_is_not_followed_and_no_proxy_is_asked() -> None:
    with site(says()) as elsewhere, site(says(302, head=f"Location: {elsewhere.url}/\r\n")) as found:
        os.environ["http_proxy"] = os.environ["HTTP_PROXY"] = elsewhere.url
        try:
            assert look(checker(found.url, Page(path="/", status=302))) == HealthLook(12.5)
        finally:
            del os.environ["http_proxy"], os.environ["HTTP_PROXY"]
        assert (len(found.asked), elsewhere.asked) == (1, [])


def test_where_a_redirect_leads_is_quoted_short_and_harmless() -> None:
    found = wrong(says(302, head="Location: https://evil.example/@everyone" + "a" * 5_000 + "\r\n"))
    assert "https://" not in found
    assert "@everyone" not in found
    assert len(found) < 400


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999999", "http://", "http://\u0000:1"])
def test_an_address_that_is_none_raises_nothing(url: str) -> None:
    assert "cannot be asked" in look(checker(url, HEALTHZ)).wrong


def test_the_address_is_the_owners_or_this_machine() -> None:
    assert base_url(PlaceSettings(port=8001)) == "http://127.0.0.1:8001"
    assert base_url(PlaceSettings(port=8001, url="http://localhost:8001/app")) == "http://localhost:8001/app"
    with site(says()) as found:
        look(checker(f"{found.url}/app/", HEALTHZ))
        assert found.paths == ["/app/healthz/"]


# --- another try ---------------------------------------------------------------------------------------------


def test_a_page_that_fails_is_asked_again_a_second_later() -> None:
    clock = ManualClock(NOON)
    with site(says(500), says(500), says()) as found:
        one = HealthChecker(SiteChecks(found.url, (HEALTHZ, HEALTHZ), retries=2), clock)
        assert look(one) == HealthLook(12.5, tries=3)
        assert len(found.asked) == 4
    assert (clock.now() - NOON).total_seconds() == 2


def test_after_all_its_tries_it_counts_and_the_next_page_is_not_asked() -> None:
    with site(says(500)) as found:
        seen = look(checker(found.url, HEALTHZ, Page(path="/next"), retries=2))
        assert (seen.tries, seen.is_well) == (3, False)
        assert found.paths == ["/healthz/"] * 3


# --- its log -------------------------------------------------------------------------------------------------


def logged(
    *lines: str, patterns: Sequence[str] = ("ERROR", "^Traceback"), secrets: dict[str, str] | None = None
) -> str:
    return look(checker("", patterns=patterns, secrets=secrets), FakeDriver(log=list(lines))).logged


def test_a_line_with_a_pattern_is_quoted() -> None:
    assert logged("fine", "10:01 ERROR no such table", "ERROR another") == "10:01 ERROR no such table"
    assert logged("fine", "no Traceback here") == ""
    assert logged("ERROR", patterns=()) == ""


def test_only_new_lines_are_searched() -> None:
    one, driver = checker("", patterns=("ERROR",)), FakeDriver(log=["begins", "ERROR 1"])
    assert look(one, driver).logged == "ERROR 1"
    assert look(one, driver).logged == ""
    driver.log += ["fine", "ERROR 2"]
    assert look(one, driver).logged == "ERROR 2"
    driver.log = driver.log[2:]
    assert look(one, driver).logged == ""


def test_another_commits_log_is_new_from_its_beginning() -> None:
    one, driver = checker("", patterns=("ERROR",)), FakeDriver(log=["ERROR 1"])
    assert look(one, driver).logged == "ERROR 1"
    driver.found = Running(OTHER)
    assert one.look(driver, "staging", OTHER, 0.0).logged == "ERROR 1"


def test_a_line_is_quoted_short_clean_and_harmless() -> None:
    said = logged(
        "ERROR @everyone \x1b[31mhttps://evil.example fixes #1 key hunter2-hunter2 " + "x" * 100_000,
        secrets={"DB": "hunter2-hunter2"},
    )
    assert said.startswith("ERROR ") and len(said) <= 200 and said.endswith("…")
    for bad in ("@everyone", "\x1b", "https://", "#1", "hunter2"):
        assert bad not in said


def test_far_into_a_line_nothing_is_searched() -> None:
    """A pattern on a line without end could take for ever."""
    assert logged("x" * 2_000 + "ERROR") == ""
