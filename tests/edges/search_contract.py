"""What every search keeps. A test file gives its home as the fixture `home`:

class TestMySearch(SearchContract):
    @pytest.fixture
    def home(self) -> SearchHome: ...

ServiceContract adds what is asked of one that has to reach a service. ScriptedService is one on this machine.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sisimpur.agents.researcher.web.search import Search
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.research import SearchHit

QUERY = "python dates"  # a service that answers from a file knows it
DATES = SearchHit("Dates in Python", "https://dates.example/guide?page=2", "How to count days")
ZONES = SearchHit("Zones", "http://zones.example:8080/", "Of time")
WORDS = SearchHit("দিন ও রাত – día", "https://bn.example/দিন", "ঢাকা, résumé 😀")


# --- a service on this machine -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]  # names in small letters
    body: bytes


@dataclass(frozen=True)
class Fault:
    """What is wrong with its answers. Seconds; bytes of the body."""

    status: int = 200
    body: bytes | None = None  # instead of its own
    wait: float = 0  # before it answers
    drip: float = 0  # between two bytes
    cut: int | None = None  # the connection ends after so many; 0: without a word


class ScriptedService:
    """`page`: what it answers. It begins with the next `with`, and ends with it."""

    def __init__(self) -> None:
        self.forget()
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def forget(self) -> None:
        """As if nobody had called it yet."""
        self.page: Callable[[Request], bytes] = lambda request: b""
        self.fault = Fault()
        self.requests: list[Request] = []

    def __enter__(self) -> ScriptedService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *_: object) -> None:  # noqa: A002
                pass

            def do_POST(self) -> None:
                try:
                    ours._answer(self)
                except OSError:  # nobody waits for it any more
                    self.close_connection = True

            def do_GET(self) -> None:
                ours.requests.append(Request(self.path, dict(self.headers), b""))
                self.send_error(404)  # where a redirect led

        return Handler

    def _answer(self, call: BaseHTTPRequestHandler) -> None:
        sent = call.rfile.read(int(call.headers.get("content-length", 0)))
        request = Request(call.path, {name.lower(): value for name, value in call.headers.items()}, sent)
        self.requests.append(request)
        fault = self.fault
        self._over.wait(fault.wait)
        if fault.cut == 0:
            return
        body = self.page(request) if fault.body is None else fault.body
        call.send_response(fault.status)
        if fault.status in (302, 307):
            call.send_header("location", self.url + "/elsewhere")
        call.send_header("content-length", str(len(body)))
        call.end_headers()
        for piece in _pieces(body[: fault.cut], fault.drip):
            call.wfile.write(piece)
            self._over.wait(fault.drip)


def _pieces(body: bytes, drip: float) -> Sequence[bytes]:
    return [bytes([one]) for one in body] if drip else [body]


# --- the contract ------------------------------------------------------------------------------------------------


class SearchHome(ABC):
    """A search, and a hand on what its service finds."""

    search: Search

    @abstractmethod
    def given(self, *hits: SearchHit) -> None:
        """From now on this is what it finds for QUERY, whatever was asked for at most."""


class ServiceHome(SearchHome):
    service: ScriptedService

    @abstractmethod
    def queries(self) -> list[str]:
        """As they arrived."""

    @abstractmethod
    def nowhere(self) -> Search:
        """One whose service nobody runs."""

    @abstractmethod
    def hasty(self) -> Search:
        """One that waits half a second for its service at most."""


class SearchContract:
    def test_it_has_a_name_and_a_price(self, home: SearchHome) -> None:
        assert home.search.name.strip()
        assert home.search.price >= 0

    def test_what_is_found_comes_whole_and_in_its_order(self, home: SearchHome) -> None:
        home.given(DATES, ZONES, WORDS)
        assert home.search.search(QUERY, 5) == (DATES, ZONES, WORDS)

    def test_nothing_found_is_no_error(self, home: SearchHome) -> None:
        home.given()
        assert home.search.search(QUERY, 5) == ()

    @pytest.mark.parametrize(("most", "found"), [(1, 1), (7, 7), (10, 10), (500, 10), (0, 0), (-1, 0)])
    def test_no_more_than_asked_for_and_never_more_than_ten(self, home: SearchHome, most: int, found: int) -> None:
        home.given(*(SearchHit(f"n{n}", f"https://n.example/{n}") for n in range(30)))
        hits = home.search.search(QUERY, most)
        assert [hit.title for hit in hits] == [f"n{n}" for n in range(found)]

    def test_an_address_comes_once(self, home: SearchHome) -> None:
        home.given(DATES, SearchHit("again", DATES.url), ZONES)
        assert home.search.search(QUERY, 2) == (DATES, ZONES)

    @pytest.mark.parametrize(
        "url",
        [
            pytest.param("javascript:alert(1)//https://a.example/", id="a program"),
            pytest.param("data:text/html,hello", id="the page itself"),
            pytest.param("file:///etc/passwd", id="a file"),
            pytest.param("ftp://a.example/x", id="not the web"),
            pytest.param("//a.example/x", id="no scheme"),
            pytest.param("/x", id="a path"),
            pytest.param("https:///x", id="no host"),
            pytest.param("https://:443/x", id="only a port"),
            pytest.param("https://user:secret@a.example/", id="a user and a password"),
            pytest.param("https://good.example@evil.example/", id="a user that looks like a host"),
            pytest.param("https://a.example:port/", id="a port that is none"),
            pytest.param("https://[::1/", id="half an address"),
            pytest.param("https://evil.example\\@good.example/", id="a backslash"),
            pytest.param("https://a.example/x\u202ey", id="a change of direction"),
            pytest.param("https://a.example/<b>", id="angle brackets"),
            pytest.param("https://a.example/" + "x" * 2000, id="too long"),
            pytest.param("https://" + "x" * 254 + "/", id="a host that is too long"),
            pytest.param("", id="none"),
        ],
    )
    def test_an_address_that_leads_to_no_host_is_left_out(self, home: SearchHome, url: str) -> None:
        home.given(SearchHit("bad", url), DATES)
        assert home.search.search(QUERY, 5) == (DATES,)

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("x" * 1_000_000, id="a megabyte"),
            pytest.param("a\nb\tc\u2028d", id="lines"),
            pytest.param("a\x1b[2Jb\x07\x7fc\u0085d", id="control characters"),
            pytest.param("a\u202eb\u200bc\ufeffd\U000e0041", id="what nobody sees"),
            pytest.param("a \ud800 b", id="half a character"),
        ],
    )
    def test_texts_come_short_in_one_line_and_without_what_is_not_to_be_read(self, home: SearchHome, text: str) -> None:
        home.given(SearchHit(text, DATES.url, text))
        (hit,) = home.search.search(QUERY, 5)
        assert hit.title.startswith(("a", "x" * 200)) and len(hit.title) <= 200
        assert hit.excerpt.startswith(("a", "x" * 600)) and len(hit.excerpt) <= 600
        assert (hit.title + hit.excerpt).isprintable()

    def test_the_longest_texts_are_kept_to_the_last_letter(self, home: SearchHome) -> None:
        longest = SearchHit("t" * 200, "https://a.example/" + "u" * 1982, "e" * 600)
        home.given(longest)
        assert home.search.search(QUERY, 5) == (longest,)


class ServiceContract(SearchContract):
    @pytest.mark.parametrize(
        ("query", "sent"),
        [
            pytest.param("  python \n dates\t", "python dates", id="one line"),
            pytest.param("a\x00b\x1bc\u202ed", "a b c d", id="control characters"),
            pytest.param("x" * 1_000_000, "x" * 200, id="long"),
            pytest.param('তারিখ "a&b" <c> #%+', 'তারিখ "a&b" <c> #%+', id="marks are the service's matter"),
        ],
    )
    def test_a_query_is_sent_as_one_short_line(self, home: ServiceHome, query: str, sent: str) -> None:
        home.given(DATES)
        assert home.search.search(query, 5) == (DATES,)
        assert home.queries() == [sent]

    @pytest.mark.parametrize(("query", "most"), [("", 5), (" \n\x00\u200b", 5), (QUERY, 0)])
    def test_where_nothing_is_asked_nothing_is_sent(self, home: ServiceHome, query: str, most: int) -> None:
        home.given(DATES)
        assert home.search.search(query, most) == ()
        assert home.queries() == []

    @pytest.mark.parametrize("status", [202, 204, 302, 307, 400, 403, 404, 418, 429, 432, 500, 502, 503])
    def test_whatever_else_it_answers_is_an_error_that_names_it(self, home: ServiceHome, status: int) -> None:
        home.given(DATES)
        home.service.fault = Fault(status=status)
        assert home.search.name in str(away(home))
        home.service.fault = Fault()
        assert home.search.search(QUERY, 5) == (DATES,)

    def test_a_service_that_nobody_runs_is_an_error_and_nothing_was_billed(self, home: ServiceHome) -> None:
        with pytest.raises(Unavailable, match=home.search.name) as caught:
            home.nowhere().search(QUERY, 5)
        assert caught.value.unbilled

    @pytest.mark.parametrize(
        "fault",
        [
            pytest.param(Fault(wait=60), id="silent"),
            pytest.param(Fault(drip=0.2), id="drips"),
            pytest.param(Fault(cut=0), id="says nothing"),
            pytest.param(Fault(cut=40), id="breaks off"),
        ],
    )
    def test_one_that_does_not_come_to_its_end_is_not_waited_for(self, home: ServiceHome, fault: Fault) -> None:
        home.given(DATES)
        home.service.fault = fault
        began = time.monotonic()
        away(home, home.hasty())
        assert time.monotonic() - began < 15


def away(home: ServiceHome, search: Search | None = None) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        (search or home.search).search(QUERY, 5)
    return caught.value
