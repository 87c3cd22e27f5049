"""Outlets: each takes every event at least once and in order, whichever it is; one that is away stops nothing."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sisimpur.cli.app import main
from sisimpur.cli.record.outlets import outlet_findings
from sisimpur.cli.wiring.records import open_records
from sisimpur.cli.wiring.services import relay_of
from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.config.settings_policy import EventSettings
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.outlets.cloud_event import AUDIT, REQUESTS, RESULTS, WORKFLOW, channel, cloud_event
from sisimpur.shared.outlets.event_file import EventFile
from sisimpur.shared.outlets.outlet import PORTION, Outlet, OutletBook
from sisimpur.shared.outlets.redis_streams import RedisStreams
from sisimpur.shared.outlets.relay import LONGEST_REST, EventFeed, Relay
from sisimpur.shared.outlets.webhook import SIGNATURE, TIMESTAMP, Webhook, signature
from sisimpur.shared.record.audit import AuditBook
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home
from tests.books import new_book
from tests.edges.outlet_contract import MemoryOutlet, OutletContract, OutletHome, events, row
from tests.edges.test_audit import NOW, RULING, TASK, rule
from tests.journey.stage import repository
from tests.killing import finishes, killed_at, points, snippet

SECRET = "5f1c6c3e-a-secret-of-the-owner"
SOURCE = "/sisimpur/site"


# --- homes ---------------------------------------------------------------------------------------------------


class MemoryHome(OutletHome):
    def __init__(self) -> None:
        self.outlet: MemoryOutlet = MemoryOutlet()
        self.secret = SECRET

    def taken(self) -> list[dict[str, Any]]:
        return [json.loads(event.text) for event in self.outlet.events]

    def leave(self) -> None:
        self.outlet.problem = Unavailable("it is away")

    def come_back(self) -> None:
        self.outlet.problem = None


class FileHome(OutletHome):
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.path = folder / "events.jsonl"
        self.outlet: Outlet = EventFile(self.path)
        self.secret = str(folder)

    def taken(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().split("\n")[:-1]]

    def leave(self) -> None:
        self._folder.rename(self._folder.with_suffix(".away"))

    def come_back(self) -> None:
        self._folder.with_suffix(".away").rename(self._folder)


class Server(ThreadingHTTPServer):
    """The owner's own: it believes what is signed, and answers as it is told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.events: list[dict[str, Any]] = []
        self.status = 204
        self.headers: dict[str, str] = {}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.headers = {name.lower(): value for name, value in self.headers.items()}
        is_ours = self.headers[SIGNATURE] == signature(SECRET, self.headers[TIMESTAMP], body)
        if is_ours and self.server.status < 300:
            self.server.events += json.loads(body)
        self.send_response(self.server.status if is_ours else 401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class WebhookHome(OutletHome):
    def __init__(self, server: Server) -> None:
        self.server = server
        url = f"http://127.0.0.1:{server.server_port}/{SECRET}"
        self.outlet: Outlet = Webhook(url, SECRET, ManualClock(NOW))
        self.secret = SECRET

    def taken(self) -> list[dict[str, Any]]:
        return self.server.events

    def leave(self) -> None:
        self.server.status = 503

    def come_back(self) -> None:
        self.server.status = 204


class RedisHome(OutletHome):
    """A real one of our own, that keeps what it has said that it has, also when it is killed."""

    def __init__(self, folder: Path) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self._port = free.getsockname()[1]
        self._folder = folder
        self.secret = SECRET
        self.outlet: Outlet = RedisStreams(f"redis://:{SECRET}@127.0.0.1:{self._port}/0")
        self.come_back()

    def come_back(self) -> None:
        argv = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        argv += ["--requirepass", SECRET, "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", self._port), 1)) as line:
                line.sendall(f"AUTH {SECRET}\r\nPING\r\n".encode())
                with line.makefile("rb") as answers:
                    if [answers.readline(), answers.readline()] == [b"+OK\r\n", b"+PONG\r\n"]:
                        return
            time.sleep(0.02)
        raise AssertionError("redis-server does not answer")

    def leave(self) -> None:
        self.process.kill()
        self.process.wait(20)

    def entries(self, channel: str) -> list[str]:
        import redis  # type: ignore[import-not-found]

        with redis.Redis(port=self._port, password=SECRET, decode_responses=True) as client:
            return [fields["event"] for _, fields in client.xrange(channel)]

    def taken(self) -> list[dict[str, Any]]:
        return [json.loads(event) for event in self.entries(AUDIT)]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class TestMemory(OutletContract):
    @pytest.fixture
    def home(self) -> OutletHome:
        return MemoryHome()


class TestFile(OutletContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> OutletHome:
        return FileHome(tmp_path / "folder")


class TestWebhook(OutletContract):
    @pytest.fixture
    def home(self, server: Server) -> OutletHome:
        return WebhookHome(server)


@pytest.mark.skipif(not (shutil.which("redis-server") and find_spec("redis")), reason="there is no Redis here")
class TestRedis(OutletContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[OutletHome]:
        home = RedisHome(tmp_path)
        yield home
        home.leave()

    def test_each_event_stands_on_its_own_channel_and_all_on_that_of_the_audit(self, home: RedisHome) -> None:
        kinds = (("attempt", "{}"), ("attempt", '{"outcome": "ok"}'), ("task", "{}"))
        some = [cloud_event(row(n, kind, detail), SOURCE, str) for n, (kind, detail) in enumerate(kinds, 1)]
        home.outlet.take(some)
        assert [home.entries(name) for name in (REQUESTS, RESULTS, WORKFLOW)] == [[event.text] for event in some]
        assert home.entries(AUDIT) == [event.text for event in some]

    def test_one_that_is_killed_at_any_moment_has_each_event_in_the_end(self, home: RedisHome, db: Database) -> None:
        clock = ManualClock(NOW)
        one = relay(db, home.outlet, clock=clock)
        for seconds in (0.0, 0.01, 0.03, 0.1):
            many(db, 4 * PORTION)
            killer = threading.Timer(seconds, home.leave)
            killer.start()
            list(one.step())
            killer.join()
            home.come_back()
            clock.sleep(LONGEST_REST.total_seconds())
        list(one.step())
        found = [int(event["id"]) for event in home.taken()]
        assert list(dict.fromkeys(found)) == [*range(1, 16 * PORTION + 1)] and len(found) <= 20 * PORTION


@contextmanager
def dripping() -> Iterator[int]:
    """Something that answers letter by letter, and never to the end."""

    def answer(line: socket.socket) -> None:
        with suppress(OSError), line:
            line.recv(1)
            while True:
                line.sendall(b"+")
                time.sleep(0.05)

    def listen() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.skipif(not find_spec("redis"), reason="there is no redis package here")
def test_a_redis_that_answers_without_an_end_stops_no_tick() -> None:
    with dripping() as port, pytest.raises(Unavailable, match="it takes nothing"):
        RedisStreams(f"redis://127.0.0.1:{port}/0", patience=0.2).take(events(1))


# --- one event -----------------------------------------------------------------------------------------------


def test_an_event_has_what_the_standard_asks_for_and_what_the_audit_knows() -> None:
    found = json.loads(cloud_event(row(7, "ruling", '{"said": "approve"}'), SOURCE, str).text)
    assert found.pop("data") == {
        "at": "2026-11-22T09:30:00+00:00",
        "actor": "team",
        "via": "daemon",
        "commit": "",
        "detail": {"said": "approve"},
        "hash": "f" * 64,
    }
    assert found == {
        "specversion": "1.0",
        "id": "7",
        "source": SOURCE,
        "type": "sisimpur.ruling",
        "subject": "20261122-01",
        "time": "2026-11-22T09:30:00+00:00",
        "datacontenttype": "application/json",
    }


@pytest.mark.parametrize("at", ["2026-11-22", "2026-11-22T09:30:00", "whenever"])
def test_an_attribute_that_would_be_wrong_is_left_out(at: str) -> None:
    found = json.loads(cloud_event(replace(row(1, subject=""), at=at), SOURCE, str).text)
    assert "time" not in found and "subject" not in found and found["data"]["at"] == at


def test_no_key_is_in_an_event() -> None:
    clean = Outgoing({"A_KEY": SECRET}).clean
    detail = json.dumps({"note": f"it said {SECRET}", "deep": [{"more": SECRET}]})
    text = cloud_event(row(1, detail=detail, subject=SECRET), SOURCE, clean).text
    named = cloud_event(row(2, detail=json.dumps({"lines": {SECRET: 1}})), SOURCE, clean).text
    assert (
        SECRET not in named
        and SECRET not in text
        and json.loads(text)["data"]["detail"]["note"] == "it said [removed: A_KEY]"
    )


@pytest.mark.parametrize(
    ("kind", "detail", "name"),
    [
        ("attempt", {"number": 1}, REQUESTS),
        ("attempt", {"number": 1, "outcome": "failed"}, RESULTS),
        ("check", {}, RESULTS),
        ("review", {}, RESULTS),
        ("plan", {}, RESULTS),
        ("task", {}, WORKFLOW),
        ("ruling", {}, WORKFLOW),
        ("deploy", {}, WORKFLOW),
    ],
)
def test_each_event_has_a_channel(kind: str, detail: dict[str, Any], name: str) -> None:
    assert channel(kind, detail) == name


# --- each its own --------------------------------------------------------------------------------------------


def test_half_a_line_that_a_kill_left_goes_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    (one,), (two,) = events(1), events(2)
    for begin, before in (
        (f"{one.text}\n{two.text[:40]}", f"{one.text}\n"),
        (f"{one.text}\n{two.text[:3]}", f"{one.text}\n"),
        ("a note of mine", "a note of mine\n"),
        ("", ""),
    ):
        path.write_text(begin)
        EventFile(path).take([two])
        assert path.read_text() == f"{before}{two.text}\n"


def test_a_file_that_was_moved_away_is_begun_anew_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventFile(path).take(events(1))
    path.rename(tmp_path / "events.1")
    EventFile(path).take(events(2))
    assert path.read_text().count("\n") == 1 and path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_whole_lines_only(tmp_path: Path) -> None:
    path, (one,) = tmp_path / "events.jsonl", events(1)
    EventFile(path).take([one])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(one.text) + 100, before[1]))
    try:
        with pytest.raises(Unavailable, match="cannot be written"):
            EventFile(path).take(events(2, 3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)
    assert path.read_text() == f"{one.text}\n"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_plain_file_takes_no_event(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "events.jsonl")
    with pytest.raises((Misconfigured, Unavailable)):
        EventFile(tmp_path / "events.jsonl").take(events(1))


def test_the_signature_is_of_the_time_and_the_body(server: Server) -> None:
    """As any server computes it, with nothing of ours."""
    body = b'[{"id":"1"}]'
    assert signature("key", "1764000000", body) == (
        "v1=" + hmac.digest(b"key", b"1764000000." + body, hashlib.sha256).hex()
    )
    WebhookHome(server).outlet.take(events(1))
    assert server.headers["content-type"] == "application/cloudevents-batch+json"
    assert server.headers[TIMESTAMP] == str(int(NOW.timestamp()))
    other = Webhook(f"http://127.0.0.1:{server.server_port}/", "another secret of mine", ManualClock(NOW))
    with pytest.raises(Unavailable, match="401"):
        other.take(events(2))


def test_a_server_that_never_answers_costs_its_time_and_no_more() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(Unavailable, match="does not answer"):
            Webhook(url, SECRET, ManualClock(NOW), patience=0.2).take(events(1))


# --- the relay -----------------------------------------------------------------------------------------------


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(new_book(tmp_path / "agents.db")) as db:
        with db.transaction() as connection:
            connection.execute(TASK)
        yield db


def relay(db: Database, *outlets: Outlet, clock: ManualClock | None = None) -> Relay:
    return Relay(
        outlets, OutletBook(db), {"audit": EventFeed(AuditBook(db), SOURCE, str)}, clock or ManualClock(NOW), str
    )


def ids(outlet: MemoryOutlet) -> list[int]:
    return [event.id for event in outlet.events]


def many(db: Database, number: int) -> None:
    with db.transaction() as connection:
        connection.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)"
            " insert into audit (at, kind, actor, subject, commit_id, detail, hash)"
            " select '2026-11-22', 'task', 'team', 't', '', '{}', 'x' from n",
            (number,),
        )


def test_it_goes_on_behind_the_last_row_that_was_taken_also_after_a_restart(db: Database) -> None:
    outlet = MemoryOutlet()
    rule(db, 2)
    assert list(relay(db, outlet).step()) == [] and ids(outlet) == [1, 2]
    rule(db)
    for _ in range(2):
        list(relay(db, outlet).step())
    assert ids(outlet) == [1, 2, 3]


def test_to_take_an_event_makes_no_event(db: Database) -> None:
    """Else there would be no end."""
    rule(db)
    list(relay(db, MemoryOutlet()).step())
    assert AuditBook(db).check().rows == 1


def test_a_row_that_is_not_sealed_yet_waits(db: Database) -> None:
    outlet = MemoryOutlet()
    with closing(sqlite3.connect(db.path)) as other, other:
        other.execute(RULING, ("2026-11-22",))
    list(relay(db, outlet).step())
    assert ids(outlet) == []
    rule(db)
    list(relay(db, outlet).step())
    assert ids(outlet) == [1, 2]


def test_one_that_is_away_is_told_once_stops_no_other_and_catches_up(db: Database) -> None:
    clock, away, there = ManualClock(NOW), MemoryOutlet(), MemoryOutlet()
    away.name = away.address = "webhook"
    away.problem = Unavailable("it answers with 503")
    both = relay(db, away, there, clock=clock)
    rule(db, 3)
    assert list(both.step()) == [
        "events to the webhook: none is taken (it answers with 503); they wait, and work goes on"
    ]
    assert ids(there) == [1, 2, 3]
    standing = OutletBook(db).standing(away)
    assert "none is taken since 2026-11-22T09:30 (it answers with 503); 3 events behind" in standing.words
    for _ in range(50):
        clock.sleep(60)
        assert list(both.step()) == []  # not told again
    away.problem = None
    clock.sleep(LONGEST_REST.total_seconds())
    assert list(both.step()) == ["events to the webhook: taken again"]
    assert ids(away) == [1, 2, 3] and OutletBook(db).standing(away).words == ""


def test_one_that_is_away_is_asked_less_and_less_often(db: Database) -> None:
    clock, asked = ManualClock(NOW), []

    class Away(MemoryOutlet):
        def take(self, events: Any) -> None:
            asked.append(clock.now())
            raise Unavailable("away")

    rule(db)
    one = relay(db, Away(), clock=clock)
    for _ in range(12 * 60):
        list(one.step())
        clock.sleep(10)
    rests = [(b - a).total_seconds() for a, b in pairwise(asked)]
    assert rests[:5] == [30, 60, 120, 240, 480] and set(rests[5:]) == {900}


def test_a_clock_that_is_set_back_lets_nobody_wait_longer(db: Database) -> None:
    clock, outlet = ManualClock(NOW), MemoryOutlet()
    outlet.problem = Unavailable("away")
    one = relay(db, outlet, clock=clock)
    rule(db)
    list(one.step())
    outlet.problem = None
    clock.set(NOW - timedelta(days=3))
    list(one.step())
    assert ids(outlet) == [1]


def test_a_step_is_bounded_in_events_and_in_time(db: Database) -> None:
    outlet, clock = MemoryOutlet(), ManualClock(NOW)
    many(db, 5_100)
    one = relay(db, outlet)
    list(one.step())
    assert max(outlet.portions) == PORTION and len(outlet.events) == 5_000
    list(one.step())
    assert ids(outlet) == [*range(1, 5_101)]

    class Slow(MemoryOutlet):
        address = "slow"

        def take(self, events: Any) -> None:
            clock.sleep(4)
            super().take(events)

    slow = Slow()
    list(relay(db, slow, clock=clock).step())
    assert slow.portions == [PORTION]


def test_a_new_address_gets_everything_from_the_first_row_on(db: Database) -> None:
    one, other = MemoryOutlet(), MemoryOutlet()
    other.address = "there"
    rule(db, 2)
    list(relay(db, one).step())
    list(relay(db, other).step())
    assert ids(one) == ids(other) == [1, 2]


STEP = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.outlets.event_file import EventFile
    from sisimpur.shared.outlets.outlet import OutletBook
    from sisimpur.shared.outlets.relay import EventFeed, Relay
    from sisimpur.shared.record.audit import AuditBook
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.system.clock import ManualClock
    folder = Path(sys.argv[1])
    db = Database(folder / "agents.db")
    clock = ManualClock(datetime(2026, 11, 22, tzinfo=UTC))
    feeds = {"audit": EventFeed(AuditBook(db), "/s", str)}
    relay = Relay([EventFile(folder / "events.jsonl")], OutletBook(db), feeds, clock, str)
    assert list(relay.step()) == []
    """


def test_a_kill_at_any_moment_loses_no_event_and_repeats_at_most_a_portion(db: Database, tmp_path: Path) -> None:
    many(db, PORTION + 50)
    db.close()
    file, argv = tmp_path / "events.jsonl", snippet(STEP, str(tmp_path))
    passed = points(argv, at_least=6)
    assert passed == ["outlet.sending", "outlet.sent", "outlet.booked"] * 2
    for number in (2, 3, 5):
        file.unlink()
        with db.transaction() as connection:
            connection.execute("delete from outlets")
        db.close()
        killed_at(number, argv)
        finishes(argv)
        found = [int(json.loads(line)["id"]) for line in file.read_text().splitlines()]
        assert list(dict.fromkeys(found)) == [*range(1, PORTION + 51)] and len(found) <= 2 * PORTION + 50


# --- settings, status, doctor --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"EVENTS_WEBHOOK_URL": "https://a.example/x"}, "needs an EVENTS_WEBHOOK_SECRET of at least 16 letters"),
        ({"EVENTS_WEBHOOK_URL": "https://a.example/x", "EVENTS_WEBHOOK_SECRET": "short"}, "at least 16 letters"),
        ({"EVENTS_WEBHOOK_URL": "http://a.example/x", "EVENTS_WEBHOOK_SECRET": SECRET}, "no https address"),
        ({"EVENTS_REDIS_URL": "localhost:6379"}, "write it in config/.env as redis://HOST:PORT/0"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(tmp_path: Path, named: dict[str, str], words: str) -> None:
    with pytest.raises(Misconfigured, match=words) as caught:
        read_secrets(Home(tmp_path), named)
    assert SECRET not in str(caught.value)


def test_the_addresses_and_the_password_of_outlets_are_secrets(tmp_path: Path) -> None:
    named = {"EVENTS_REDIS_URL": f"redis://:{SECRET}@127.0.0.1:6379/0"}
    clean = Outgoing(read_secrets(Home(tmp_path), named).to_hide).clean
    assert SECRET not in clean(f"it said {SECRET}")


def test_without_the_package_the_owner_is_told_what_to_type(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['redis'] = None\n"
        "from sisimpur.shared.outlets.redis_streams import RedisStreams\n"
        "from sisimpur.shared.model.errors import Misconfigured\n"
        "try: RedisStreams('redis://x').take([])\n"
        "except Misconfigured as problem: print(problem)\n"
    )
    assert "pip install 'redis" in finishes(snippet(code)).text


@pytest.mark.parametrize("file", [".state/agents.db", "config/.env", "a\0.jsonl", "a\n.jsonl", "events"])
def test_events_go_to_no_file_that_is_not_for_them(file: str) -> None:
    with pytest.raises(ValidationError, match="string_pattern_mismatch"):
        EventSettings(file=file)


def test_status_and_doctor_name_an_outlet_that_takes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"

    def typed(*words: str) -> str:
        assert main(["--home", str(home), *words]) == 0
        return capsys.readouterr().out

    typed("init", "--target", str(repository(tmp_path / "site")))
    with (home / "config" / "policy.yaml").open("a") as file:
        file.write("events: {file: gone/events.jsonl}\n")
    typed("raise-cap", "12.50")
    (standing,) = json.loads(typed("status", "--json"))["outlets"]
    assert standing == {"name": "file", "taken": 0, "behind": 1, "since": "", "why": ""}
    with open_records(home) as records:
        list(relay_of(records).step())
    (finding,) = outlet_findings(Home(home))
    assert not finding.ok and "it cannot be written: No such file or directory" in finding.detail
    assert "events to the file: none is taken since" in " ".join(typed("status").split())
    (home / "gone").mkdir()
    with open_records(home) as records:
        assert list(relay_of(records).step()) == ["events to the file: taken again"]
    (event,) = map(json.loads, (home / "gone" / "events.jsonl").read_text().splitlines())
    assert (event["type"], event["source"]) == ("sisimpur.cap", "/sisimpur/site")
    (finding,) = outlet_findings(Home(home))
    assert finding.ok and finding.detail == "1 event taken, 0 behind"
