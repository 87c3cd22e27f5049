"""Spans for OpenTelemetry: each run and its calls once, by the standard's names; nothing that was said, no key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.outlets.cloud_event import CloudEvent
from sisimpur.shared.outlets.otlp import Otlp
from sisimpur.shared.outlets.outlet import OutletBook
from sisimpur.shared.outlets.relay import Relay
from sisimpur.shared.outlets.spans import SpanFeed
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home
from tests.books import new_book
from tests.edges.test_audit import NOW

KEY = "5f1c6c3e-a-secret-of-the-owner"
AT = "2026-11-22T09:30:00+00:00"
RUN = (
    "insert into agent_runs (id, agent_name, day, task_id, attempt, started_at, ended_at, result)"
    " values (?, ?, ?, ?, 1, ?, ?, ?)"
)
CALL = (
    "insert into calls (id, ticket, at, day, agent, task, attempt, model, price_version, state, amount, input, read,"
    " write_5m, output, stop_reason, code, ms)"
    " values (?, ?, ?, '2026-11-22', ?, ?, 1, ?, 'p', ?, 2500000, 40, 30, 20, 7, ?, ?, 1500)"
)
TICKET = (
    "insert into tickets (id, token_sha256, run, agent, run_day, task, attempt, budget, models, max_calls, min_out,"
    " retry_s, opened_at, expires_at) values (?, ?, ?, 'coder', '2026-11-22', ?, 1, 1, '[]', 1, 1, 0, '', '')"
)
TASK = "insert into tasks values ('20261122-01', 'T', 'g-1', 'w', 'high', '2026-11-22', '', '')"


class Collector(ThreadingHTTPServer):
    """Takes OTLP's JSON at /v1/traces, from whoever shows the key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taken)
        self.spans: list[Mapping[str, Any]] = []
        self.status = 200


class _Taken(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_right = (self.path, self.headers["content-type"]) == ("/v1/traces", "application/json")
        status = self.server.status if is_right and self.headers["x-key"] == KEY else 400
        if status == 200:
            ((scope,),) = (one["scopeSpans"] for one in body["resourceSpans"])
            self.server.spans += scope["spans"]
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(new_book(tmp_path / "agents.db")) as db, db.transaction() as connection:
        connection.execute(TASK)
        connection.execute(RUN, (1, "planner", "2026-11-22", "", AT, "2026-11-22T09:31:00+00:00", "done"))
        connection.execute(RUN, (2, "coder", "2026-11-22", "20261122-01", AT, AT, f"Unavailable: away, {KEY}"))
        for ticket, run, task in ((1, 1, ""), (2, 2, "20261122-01")):
            connection.execute(TICKET, (ticket, f"{ticket}", run, task))
        connection.execute(CALL, (1, 1, AT, "planner", "", "m-1", "settled", "end_turn", ""))
        connection.execute(CALL, (2, 2, AT, "coder", "20261122-01", "m-1", "lost", "", "meter_cut"))
        connection.execute(CALL, (3, 2, AT, "coder", "20261122-01", "m-1", "refused", "", "meter_cap"))
        connection.execute(CALL, (4, 2, AT, "coder", "20261122-01", "search/tavily", "settled", "", ""))
    with closing(new_book(tmp_path / "agents.db")) as db:
        yield db


def otlp(collector: Collector) -> Otlp:
    return Otlp(f"http://127.0.0.1:{collector.server_port}/", {"x-key": KEY})


def feed(db: Database) -> SpanFeed:
    return SpanFeed(db, "/sisimpur/site", Outgoing({"A_KEY": KEY}).clean)


def relay(db: Database, outlet: Otlp, clock: ManualClock) -> Relay:
    return Relay([outlet], OutletBook(db), {"runs": feed(db)}, clock, str)


def attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    def of(value: Mapping[str, Any]) -> Any:
        ((kind, found),) = value.items()
        if kind == "arrayValue":
            return [*map(of, found["values"])]
        return int(found) if kind == "intValue" else found

    return {one["key"]: of(one["value"]) for one in span["attributes"]}


def test_a_run_and_its_calls_are_spans_by_the_standards_names(db: Database, collector: Collector) -> None:
    outlet = otlp(collector)
    assert [*relay(db, outlet, ManualClock(NOW)).step()] == []
    planner, planned, coder, cut, search = collector.spans
    assert [span["name"] for span in collector.spans] == [
        *("invoke_agent planner", "chat m-1", "invoke_agent coder", "chat m-1", "execute_tool search/tavily"),
    ]
    assert [span["parentSpanId"] for span in (planned, cut, search)] == [planner["spanId"], *[coder["spanId"]] * 2]
    assert planner["traceId"] == planned["traceId"] != coder["traceId"] == cut["traceId"] == search["traceId"]
    assert {len(span["traceId"]) for span in collector.spans} == {32} and len(planner["spanId"]) == 16
    assert int(planner["endTimeUnixNano"]) - int(planner["startTimeUnixNano"]) == 60 * 10**9
    assert int(planned["endTimeUnixNano"]) - int(planned["startTimeUnixNano"]) == 1_500_000_000
    assert [span["kind"] for span in collector.spans] == [1, 3, 1, 3, 3]
    assert attributes(planned) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "planner",
        "gen_ai.request.max_tokens": 0,
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.input_tokens": 90,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 30,
        "gen_ai.usage.cache_creation.input_tokens": 20,
        "sisimpur.dollars": 0.0025,
        "sisimpur.repetition": 0,
    }
    told = attributes(coder)
    assert (told["gen_ai.conversation.id"], told["sisimpur.goal"]) == ("20261122-01", "g-1")
    assert (told["error.type"], attributes(cut)["error.type"]) == ("Unavailable", "meter_cut")
    assert coder["status"] == {"code": 2, "message": "Unavailable: away, [removed: A_KEY]"}
    assert KEY not in json.dumps(collector.spans)
    standing = OutletBook(db).standing(outlet)
    assert (standing.name, standing.taken, standing.behind, standing.words) == ("collector", 2, 0, "")


def test_nothing_is_told_of_a_run_before_it_and_all_before_it_have_ended(db: Database) -> None:
    with db.transaction() as connection:
        connection.execute("update agent_runs set ended_at = null where id = 1")
    assert [*feed(db)(0)] == []
    assert [event.id for event in feed(db)(1)] == [2]
    with db.transaction() as connection:
        connection.execute("update agent_runs set ended_at = ? where id = 1", (AT,))
    assert [event.id for event in feed(db)(0)] == [1, 2]


def test_what_comes_again_has_the_same_ids(db: Database) -> None:
    assert [*feed(db)(0)] == [*feed(db)(0)]


def test_a_collector_that_is_away_is_told_once_stops_nothing_and_gets_all_later(
    db: Database, collector: Collector
) -> None:
    clock = ManualClock(NOW)
    moved = relay(db, otlp(collector), clock)
    collector.status = 503
    (said,) = moved.step()
    assert said == "events to the collector: none is taken (it answers with 503); they wait, and work goes on"
    clock.sleep(3600)
    assert [*moved.step()] == []
    collector.status = 200
    clock.sleep(3600)
    assert [*moved.step()] == ["events to the collector: taken again"]
    assert len(collector.spans) == 5


def test_neither_address_nor_header_is_in_an_error(collector: Collector) -> None:
    port = collector.server_port
    for outlet in (Otlp(f"http://127.0.0.1:{port}/{KEY}", {}), Otlp(f"http://127.0.0.1:1/{KEY}", {"x-key": KEY})):
        with pytest.raises(Unavailable) as caught:
            outlet.take([CloudEvent(1, "", "[]")])
        assert KEY not in str(caught.value) + repr(outlet)


def test_headers_are_read_as_the_standard_has_them_and_are_secrets(tmp_path: Path) -> None:
    named = {
        "EVENTS_OTLP_URL": "https://otlp.example:4318",
        "EVENTS_OTLP_HEADERS": f"Authorization=Bearer%20{KEY}, x-team=a",
    }
    secrets = read_secrets(Home(tmp_path), named)
    assert secrets.otlp_headers == {"authorization": f"Bearer {KEY}", "x-team": "a"}
    assert KEY not in Outgoing(secrets.to_hide).clean(f"it said {KEY}")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"EVENTS_OTLP_URL": "http://a.example:4318"}, "EVENTS_OTLP_URL is no https address"),
        ({"EVENTS_OTLP_HEADERS": f"a b={KEY}"}, "EVENTS_OTLP_HEADERS names no headers"),
        ({"EVENTS_OTLP_HEADERS": f"a={KEY}%0d%0ab"}, "EVENTS_OTLP_HEADERS names no headers"),
        ({"EVENTS_OTLP_HEADERS": KEY.replace("-", " ")}, "EVENTS_OTLP_HEADERS names no headers"),
    ],
)
def test_what_cannot_be_used_is_refused_without_its_words(tmp_path: Path, named: dict[str, str], words: str) -> None:
    with pytest.raises(Misconfigured, match=words) as caught:
        read_secrets(Home(tmp_path), named)
    assert KEY not in str(caught.value)
