"""Web search: one contract for a file's answers, for Tavily and for DuckDuckGo; and what a search takes from the caps.

Our call of Tavily and DuckDuckGo's client are the real ones, in front of a service on this machine: it answers Tavily's
search as Tavily's own client reads it, and DuckDuckGo's page as far as the package reads it. What the live services
answer is not known here. The guard against leaving this machine does not see into DuckDuckGo's client (it is no
Python), so each of these tests names its address.
"""

from __future__ import annotations

import html
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.researcher.web.library import BookedSearch, RecordedHit, RecordedSearch, Recording, read_recordings
from sisimpur.agents.researcher.web.search import (
    MAX_ANSWER,
    PRICE,
    DuckDuckGoSearch,
    Search,
    TavilySearch,
    asked,
    bounded,
    leads_to_a_host,
)
from sisimpur.cli.app import main
from sisimpur.cli.commands.owner_commands import init
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.model.errors import Misconfigured, OutOfBudget, Refused, Unavailable
from sisimpur.shared.model.research import SearchHit
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import Share
from sisimpur.shared.money.token_budget import Caps, Totals
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock, SystemClock
from sisimpur.shared.system.paths import Home
from tests.books import new_book
from tests.edges.notifier_contract import everything_said
from tests.edges.search_contract import (
    DATES,
    QUERY,
    ZONES,
    Fault,
    ScriptedService,
    SearchContract,
    SearchHome,
    ServiceContract,
    ServiceHome,
    away,
)
from tests.killing import finishes, killed_at, points, snippet
from tests.repositories import repository

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CLOSED = "http://127.0.0.1:1"
KEY = "tvly-dev-aB3cD5eF7gH9iJ1k"


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedService]:
    with ScriptedService() as service:
        yield service


@pytest.fixture
def service(running: ScriptedService) -> ScriptedService:
    running.forget()
    return running


# --- what is bounded -----------------------------------------------------------------------------------------


@given(st.text(max_size=500))
def test_whatever_is_asked_is_one_short_line(query: str) -> None:
    line = asked(query)
    assert len(line) <= 200 and line.isprintable() and line == " ".join(line.split())
    assert asked(line) == line


@given(st.lists(st.builds(SearchHit, st.text(), st.text() | st.text().map("https://a.example/{}".format), st.text())))
def test_whatever_is_found_is_bounded(found: list[SearchHit]) -> None:
    hits = bounded(found, 5)
    assert len(hits) <= 5 and len({hit.url for hit in hits}) == len(hits)
    assert all(leads_to_a_host(hit.url) and hit.url == hit.url.strip() for hit in hits)
    assert bounded(hits, 5) == hits


# --- recorded ------------------------------------------------------------------------------------------------


class RecordedHome(SearchHome):
    def given(self, *hits: SearchHit) -> None:
        found = tuple(RecordedHit(hit.title, hit.url, hit.excerpt) for hit in hits)
        self.search = RecordedSearch([Recording(QUERY, found)])


class TestRecorded(SearchContract):
    @pytest.fixture
    def home(self) -> RecordedHome:
        home = RecordedHome()
        home.given()
        return home


FILE = """
- query: Python dates and times
  hits: [{title: Dates, url: "https://dates.example/", excerpt: how to count}]
- query: dates of releases
  hits: [{title: Releases, url: "https://releases.example/"}]
- query: nothing
"""


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("dates in PYTHON?", ["Dates"], id="the most words in common"),
        pytest.param("all releases", ["Releases"], id="another"),
        pytest.param("dates", ["Dates"], id="the first among equals"),
        pytest.param("nothing", [], id="one that found nothing"),
        pytest.param("a word that nobody knows", [], id="no word in common"),
        pytest.param("", [], id="no words"),
    ],
)
def test_the_recording_that_shares_the_most_words_answers(tmp_path: Path, query: str, found: list[str]) -> None:
    path = tmp_path / "searches.yaml"
    path.write_text(FILE)
    assert [hit.title for hit in read_recordings(path).search(query, 5)] == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("- query: a\n  hit: []", r"searches\.yaml:2: 0\.hit", id="a word that is none"),
        pytest.param("- hits: []", r"searches\.yaml:1: 0\.query", id="no query"),
        pytest.param("- query: a\n  hits: [{title: t}]", r"searches\.yaml:2: 0\.hits\.0\.url", id="no address"),
        pytest.param("query: a", r"searches\.yaml:1", id="no list"),
        pytest.param("- [", "not valid YAML", id="no YAML"),
        pytest.param(None, "cannot be read", id="no file"),
    ],
)
def test_a_file_that_is_no_list_of_recordings_is_refused_with_its_line(
    tmp_path: Path, text: str | None, said: str
) -> None:
    path = tmp_path / "searches.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises((Misconfigured, Refused), match=said):
        read_recordings(path)


# --- Tavily --------------------------------------------------------------------------------------------------


class TavilyHome(ServiceHome):
    def __init__(self, service: ScriptedService) -> None:
        self.service = service
        self.search = self.at(service.url)
        self.given()

    def at(self, address: str, timeout: float = 20) -> TavilySearch:
        return TavilySearch(KEY, timeout=timeout, address=address)

    def given(self, *hits: SearchHit) -> None:
        rows = [{"title": h.title, "url": h.url, "content": h.excerpt, "score": 0.9, "raw_content": None} for h in hits]
        self.service.page = lambda request: tavilys({"results": rows})

    def queries(self) -> list[str]:
        return [json.loads(request.body)["query"] for request in self.service.requests]

    def nowhere(self) -> Search:
        return self.at(CLOSED)

    def hasty(self) -> Search:
        return self.at(self.service.url, 0.5)


def tavilys(answer: Mapping[str, Any]) -> bytes:
    return json.dumps({"query": QUERY, "answer": None, "images": [], "response_time": 1.1, **answer}).encode()


class TestTavily(ServiceContract):
    @pytest.fixture
    def home(self, service: ScriptedService) -> TavilyHome:
        return TavilyHome(service)


@pytest.fixture
def tavily(service: ScriptedService) -> TavilyHome:
    return TavilyHome(service)


def test_a_search_is_one_credit_of_tavilys_and_asks_for_hits_only(tavily: TavilyHome) -> None:
    tavily.search.search(QUERY, 99)
    (request,) = tavily.service.requests
    body = json.loads(request.body)
    assert (request.path, request.headers["authorization"]) == ("/search", f"Bearer {KEY}")
    assert (body["search_depth"], body["max_results"], tavily.search.price) == ("basic", 10, PRICE)
    wanted = ("auto_parameters", "include_answer", "include_raw_content", "include_images")
    assert [body[name] for name in wanted] == [False] * 4


@pytest.mark.parametrize("key", ["", "a key", "tvly-ключ", "tvly-\nx"])
def test_what_can_be_no_key_is_told_before_anything_is_sent(key: str) -> None:
    with pytest.raises(Misconfigured, match=r"config/\.env as TAVILY_API_KEY="):
        TavilySearch(key)


def test_a_key_that_tavily_does_not_take_is_the_owners_to_change(tavily: TavilyHome) -> None:
    tavily.service.fault = Fault(401, b'{"detail": {"error": "Unauthorized: missing or invalid API key."}}')
    with pytest.raises(Misconfigured, match=r"config/\.env as TAVILY_API_KEY="):
        tavily.search.search(QUERY, 5)


@pytest.mark.parametrize(
    ("fault", "unbilled"),
    [
        pytest.param(Fault(429), True, id="too many"),
        pytest.param(Fault(432, b'{"detail": {"error": "usage limit"}}'), True, id="its plan's limit"),
        pytest.param(Fault(433), True, id="its limit of money"),
        pytest.param(Fault(400), True, id="a search that it does not take"),
        pytest.param(Fault(500), False, id="its own error"),
        pytest.param(Fault(body=b"{"), False, id="half an answer"),
        pytest.param(Fault(wait=60), False, id="silence"),
        pytest.param(Fault(cut=0), False, id="a lost answer"),
    ],
)
def test_only_what_was_surely_not_billed_is_called_so(tavily: TavilyHome, fault: Fault, unbilled: bool) -> None:
    tavily.service.fault = fault
    assert away(tavily, tavily.hasty()).unbilled is unbilled


def test_a_service_that_lets_nobody_in_has_billed_nothing(tavily: TavilyHome) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as door, socket.create_connection(door.getsockname()):
        full = tavily.at(f"http://127.0.0.1:{door.getsockname()[1]}", 0.3)
        assert away(tavily, full).unbilled


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html>", id="no JSON"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"results": 5}', id="a number of results"),
        pytest.param(b'{"results": ["x"]}', id="results that are texts"),
        pytest.param(b'{"results": null}', id="no results"),
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b'{"results": [], "x": "' + b"x" * MAX_ANSWER + b'"}', id="too long"),
    ],
)
def test_what_is_no_answer_of_tavilys_is_an_error(tavily: TavilyHome, answer: bytes) -> None:
    tavily.service.fault = Fault(body=answer)
    assert "what Tavily answers cannot be read" in str(away(tavily))


def test_rows_that_lack_something_are_taken_as_far_as_they_go(tavily: TavilyHome) -> None:
    rows = [
        {},
        {"url": 5},
        {"url": None},
        {"url": ZONES.url, "title": None, "content": 7},
        {"url": "https://a.example"},
    ]
    tavily.service.page = lambda request: tavilys({"results": rows})
    assert tavily.search.search(QUERY, 5) == (SearchHit("", ZONES.url, "7"), SearchHit("", "https://a.example"))


def test_a_redirect_is_not_followed_with_the_key(tavily: TavilyHome) -> None:
    for status in (302, 307):
        tavily.service.fault = Fault(status)
        away(tavily)
    assert [request.path for request in tavily.service.requests] == ["/search", "/search"]


HONEST = """
    import sys
    from sisimpur.agents.researcher.web.search import TavilySearch

    TavilySearch("tvly-ours", address=sys.argv[1]).search("q", 5)
"""


def test_no_key_and_no_proxy_of_this_machine_take_the_place_of_ours(tavily: TavilyHome, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password another-key\n")
    strange = {"NETRC": str(tmp_path / "netrc"), "HTTP_PROXY": CLOSED, "NO_PROXY": ""}
    finishes(snippet(HONEST, tavily.service.url), strange)
    assert [request.headers["authorization"] for request in tavily.service.requests] == ["Bearer tvly-ours"]


def test_the_key_stands_in_no_error_and_no_description(tavily: TavilyHome) -> None:
    echo = json.dumps({"detail": {"error": f"Bearer {KEY}"}}).encode()
    for fault in (*(Fault(status, echo) for status in (400, 401, 403, 429, 500)), Fault(body=b"{"), Fault(cut=0)):
        tavily.service.fault = fault
        with pytest.raises((Unavailable, Misconfigured)) as caught:
            tavily.search.search(QUERY, 5)
        assert KEY not in everything_said(caught.value)
        assert caught.value.__context__ is None  # it would remember the request
    assert KEY not in repr(tavily.search)


# --- DuckDuckGo ----------------------------------------------------------------------------------------------

RESULT = """<div class="result results_links web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{url}">{title}</a></h2>
<a class="result__snippet" href="{url}">{excerpt}</a></div></div>"""


class DuckDuckGoHome(ServiceHome):
    def __init__(self, service: ScriptedService) -> None:
        self.service = service
        self.search = self.at(service.url)
        self.given()

    def at(self, address: str, timeout: float = 20) -> DuckDuckGoSearch:
        return DuckDuckGoSearch(timeout, f"{address}/html/")

    def given(self, *hits: SearchHit) -> None:
        parts = [{name: html.escape(text) for name, text in vars(hit).items()} for hit in hits]
        page = f"<html><body><div id='links'>{''.join(RESULT.format(**part) for part in parts)}</div></body></html>"
        self.service.page = lambda request: page.encode("utf-8", "replace")

    def queries(self) -> list[str]:
        return [parse_qs(request.body.decode())["q"][0] for request in self.service.requests]

    def nowhere(self) -> Search:
        return self.at(CLOSED)

    def hasty(self) -> Search:
        return self.at(self.service.url, 0.5)


class TestDuckDuckGo(ServiceContract):
    @pytest.fixture
    def home(self, service: ScriptedService) -> DuckDuckGoHome:
        return DuckDuckGoHome(service)


@pytest.fixture
def duck(service: ScriptedService) -> DuckDuckGoHome:
    return DuckDuckGoHome(service)


def test_too_many_searches_are_told_apart_from_nothing_found(duck: DuckDuckGoHome) -> None:
    duck.service.fault = Fault(202, b"<html><body>Are you a person?</body></html>")
    said = str(away(duck))
    assert "takes no searches now" in said and "TAVILY_API_KEY" in said
    duck.service.fault = Fault(body=b"<html><body>No results.</body></html>")
    assert duck.search.search(QUERY, 5) == ()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(b" ", id="blank"),
        pytest.param(b"<?xml version='1.0' encoding='x'?><a/>", id="a declaration"),
        pytest.param(b"<!-- nothing -->", id="a comment"),
    ],
)
def test_what_cannot_be_read_is_an_error(duck: DuckDuckGoHome, page: bytes) -> None:
    duck.service.fault = Fault(body=page)
    assert "cannot be read" in str(away(duck))


def test_advertisements_are_no_hits(duck: DuckDuckGoHome) -> None:
    duck.given(SearchHit("Buy", "https://duckduckgo.com/y.js?ad_provider=x"), DATES)
    assert duck.search.search(QUERY, 5) == (DATES,)


def test_no_thread_stays_behind(duck: DuckDuckGoHome) -> None:
    duck.given(DATES)
    ours = {one.name for one in threading.enumerate()}
    duck.search.search(QUERY, 5)
    duck.service.fault = Fault(wait=60)
    away(duck, duck.hasty())
    new = {one.name for one in threading.enumerate()} - ours
    assert all("process_request_thread" in name for name in new), "only those of the service"


# --- booked --------------------------------------------------------------------------------------------------

RUN = Run(7, "researcher", "2026-11-20", "idea-1", 1)
ROOMY = Caps(task=10 * PRICE, day=20 * PRICE, month=30 * PRICE)


class Shop:
    """A search that keeps a bill, and fails as it is told to."""

    name = "Shop"

    def __init__(self, price: int = PRICE) -> None:
        self.price = price
        self.bill = 0
        self.fails: BaseException | None = None
        self.seen: Callable[[], object] = lambda: None

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        self.seen()
        if self.fails:
            raise self.fails
        self.bill += self.price
        return (DATES,)[:most]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    yield ledger
    ledger.close()


def keeps_nothing(_: object) -> None: ...


def booked(ledger: Ledger, shop: Shop, caps: Caps = ROOMY, run: Run = RUN) -> tuple[SearchHit, ...]:
    return BookedSearch(shop, ledger, lambda: caps, ManualClock(NOON)).search(run, QUERY, 5, keeps_nothing)


def taken(ledger: Ledger) -> Totals:
    return ledger.reader.totals("2026-11-20", 0)


def test_a_search_is_booked_for_its_agent_and_task_under_the_services_name(ledger: Ledger) -> None:
    shop = Shop()
    assert booked(ledger, shop) == (DATES,)
    share = Share("2026-11-20", "researcher", "idea-1", "search/shop", 1, PRICE, 0, 0, 0, 0)
    assert ledger.reader.breakdown() == (share,)


def test_it_is_reserved_before_it_is_sent(ledger: Ledger) -> None:
    shop = Shop()
    seen: list[Totals] = []
    shop.seen = lambda: seen.append(taken(ledger))
    booked(ledger, shop)
    assert seen == [Totals(0, reserved=PRICE)]


def test_a_free_one_is_counted_too(ledger: Ledger) -> None:
    nothing_left = Caps(0, 0, 0)
    for _ in range(3):
        booked(ledger, Shop(price=0), nothing_left)
    assert [(share.calls, share.spent) for share in ledger.reader.breakdown()] == [(3, 0)]


@pytest.mark.parametrize(
    ("caps", "of", "said"),
    [
        pytest.param(Caps(PRICE - 1, 10**12, 10**12), "task", "cap of this task", id="the task"),
        pytest.param(Caps(10**12, PRICE - 1, 10**12), "", "cap of this day", id="the day"),
        pytest.param(Caps(10**12, 10**12, PRICE - 1), "", "cap of this month", id="the month"),
        pytest.param(Caps(10**12, 10**12, 10**12, 0), "", "cap of all spending", id="all spending"),
    ],
)
def test_what_a_cap_does_not_allow_is_not_sent(ledger: Ledger, caps: Caps, of: str, said: str) -> None:
    shop = Shop()
    with pytest.raises(OutOfBudget, match=rf"{said} reached.*\$0\.008") as caught:
        booked(ledger, shop, caps)
    assert caught.value.of == of
    assert (shop.bill, taken(ledger).used) == (0, 0)


def test_while_nothing_is_spent_nothing_is_sent(ledger: Ledger) -> None:
    ledger.halt("prices are wrong", NOON)
    shop = Shop()
    with pytest.raises(OutOfBudget, match="no spending now: prices are wrong"):
        booked(ledger, shop)
    assert shop.bill == 0


def test_the_caps_are_those_of_this_moment(ledger: Ledger) -> None:
    caps = ROOMY
    search = BookedSearch(Shop(), ledger, lambda: caps, ManualClock(NOON))
    search.search(RUN, QUERY, 5, keeps_nothing)
    caps = Caps(0, 0, 0)
    with pytest.raises(OutOfBudget):
        search.search(RUN, QUERY, 5, keeps_nothing)


@pytest.mark.parametrize(
    ("fails", "found"),
    [
        pytest.param(Unavailable("x", unbilled=True), Totals(0), id="surely not billed"),
        pytest.param(Misconfigured("x"), Totals(0), id="a wrong key"),
        pytest.param(Unavailable("x"), Totals(0, lost=PRICE), id="perhaps billed"),
        pytest.param(KeyboardInterrupt(), Totals(0, lost=PRICE), id="we are stopped"),
        pytest.param(ZeroDivisionError(), Totals(0, lost=PRICE), id="a bug"),
    ],
)
def test_what_failed_stays_booked_unless_it_was_surely_not_billed(
    ledger: Ledger, fails: BaseException, found: Totals
) -> None:
    shop = Shop()
    shop.fails = fails
    with pytest.raises(type(fails)):
        booked(ledger, shop)
    assert taken(ledger) == found
    assert open_tickets(ledger) == 0


def test_a_search_without_words_is_not_even_booked(ledger: Ledger) -> None:
    search = BookedSearch(Shop(), ledger, lambda: ROOMY, ManualClock(NOON))
    assert search.search(RUN, " \n", 5, keeps_nothing) == search.search(RUN, QUERY, 0, keeps_nothing) == ()
    assert ledger.reader.breakdown() == ()


def test_what_was_found_is_kept_before_the_search_is_settled(ledger: Ledger) -> None:
    kept: list[object] = []
    look = BookedSearch(Shop(), ledger, lambda: ROOMY, ManualClock(NOON))
    look.search(RUN, QUERY, 5, lambda hits: kept.extend((*hits, taken(ledger))))
    assert kept == [DATES, Totals(0, reserved=PRICE)] and taken(ledger) == Totals(0, spent=PRICE)


def test_a_search_leaves_no_open_ticket(ledger: Ledger) -> None:
    booked(ledger, Shop())
    with pytest.raises(OutOfBudget):
        booked(ledger, Shop(), Caps(0, 0, 0))
    assert open_tickets(ledger) == 0


def open_tickets(ledger: Ledger) -> int:
    row = ledger._db.row("select count(*) as open from tickets where closed_at is null")
    assert row
    count: int = row["open"]
    return count


SEARCHES = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.money.token_budget import Caps
    from sisimpur.shared.model.work import Run
    from sisimpur.shared.system.clock import ManualClock
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.money.ledger import Ledger
    from sisimpur.agents.researcher.web.library import BookedSearch

    folder, noon = Path(sys.argv[1]), datetime(2026, 11, 20, 12, tzinfo=UTC)

    class Shop:
        name, price = "Shop", 8_000_000

        def search(self, query, most):
            with open(folder / "bill", "a") as bill:
                bill.write("x")
            return ()

    ledger = Ledger(Database(folder / "agents.db"))
    ledger.reconcile(noon)
    caps = Caps(10**12, 10**12, 10**12)
    look = BookedSearch(Shop(), ledger, lambda: caps, ManualClock(noon))
    look.search(Run(7, "researcher", "", "t"), "q", 5, lambda hits: None)
"""
PASSED = ["ledger.reconciled", "ticket.opened", "search.booked", "search.answered", "ticket.closed"]


def test_a_search_passes_its_points_in_order(tmp_path: Path) -> None:
    assert points(snippet(SEARCHES, str(tmp_path)))[-5:] == PASSED


@pytest.mark.parametrize(
    ("point", "billed", "expected"),
    [
        pytest.param("ticket.opened", 1, Totals(0, spent=PRICE), id="before it was booked"),
        pytest.param("search.booked", 1, Totals(0, spent=PRICE, lost=PRICE), id="booked, not sent"),
        pytest.param("search.answered", 2, Totals(0, spent=PRICE, lost=PRICE), id="answered, not settled"),
        pytest.param("ticket.closed", 2, Totals(0, spent=2 * PRICE), id="settled"),
    ],
)
def test_killed_and_searched_again_the_book_is_never_below_the_bill(
    tmp_path: Path, point: str, billed: int, expected: Totals
) -> None:
    killed_at(point, snippet(SEARCHES, str(tmp_path)))
    finishes(snippet(SEARCHES, str(tmp_path)))
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    found = taken(ledger)
    ledger.close()
    assert len((tmp_path / "bill").read_text()) == billed
    assert found == expected
    assert billed * PRICE <= found.used


# --- what the owner sees -------------------------------------------------------------------------------------


def test_budget_shows_searches_beside_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(tmp_path / "site", {"a.txt": "a\n"})
    root = tmp_path / "home"
    with redirect_stdout(StringIO()):
        assert init(Arguments("init", root, target=str(tmp_path / "site"))) == 0
    now = SystemClock().now()
    ledger = Ledger(Database(Home(root).database))
    searches = [(Shop(), None), (Shop(), Unavailable("gone")), (Shop(price=0), None)]
    for shop, fails in searches:
        shop.fails = fails
        try:
            search = BookedSearch(shop, ledger, lambda: ROOMY, ManualClock(now + timedelta(seconds=1)))
            search.search(RUN, QUERY, 5, keeps_nothing)
        except Unavailable:
            assert fails
    ledger.close()
    capsys.readouterr()
    assert main(["--home", str(root), "budget", "--json"]) == 0
    (today,) = json.loads(capsys.readouterr().out)
    row = {"calls": 3, "spent": "0.008000000", "reserved": "0.000000000", "lost": "0.008000000"}
    assert (today["by_model"], today["by_agent"]) == ({"search/shop": row}, {"researcher": row})
    assert [(call["model"], call["amount"]) for call in today["lost_calls"]] == [("search/shop", "0.008000000")]
    assert main(["--home", str(root), "budget"]) == 0
    assert "search/shop" in capsys.readouterr().out
