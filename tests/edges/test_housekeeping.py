"""A home after months: small, whole, and with every row of its money. Killed anywhere, it is only tidied up later."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.environment_store import EnvironmentStore
from sisimpur.cli.wiring.housekeeping import prune, tidy
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.model.errors import Replaced
from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.model.research import SearchHit, WebSource, inquiry
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import CallEnding, Reservation, TicketOrder
from sisimpur.shared.money.token_budget import Ask, Caps, Rates
from sisimpur.shared.repo.git import Remote, git
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.keeping import (
    ENVIRONMENT_AGE,
    FULL_LOG,
    FULL_OUTPUT,
    OUTPUT_KEPT,
    SCATTERED_PACKS,
    TRACES,
    cut,
    rotate,
)
from sisimpur.shared.system.log import Log, Tail
from sisimpur.shared.system.paths import Home
from tests.books import new_book
from tests.killing import REPOSITORY, at_length, killed_at, points, snippet
from tests.repositories import shell

NOW = datetime(2026, 11, 20, 23, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=500)
LINE = '{{"at": "{at}T08:00:00.000+00:00", "event": "{event}"}}\n'
TIDY = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.store.database import Database
    from sisimpur.cli.wiring.housekeeping import tidy
    from sisimpur.shared.system.paths import Home
    from sisimpur.shared.repo.mirror import Mirror
    from sisimpur.shared.repo.git import Remote
    home = Home(Path(sys.argv[1]))
    now = datetime(2026, 11, 20, 23, tzinfo=UTC)
    tidy(home, Database(home.database), Mirror(home.mirror("t"), Remote("/nowhere")), now)
"""


# --- a home that nobody has tidied up for long -----------------------------------------------------------------


@pytest.fixture(scope="module")
def neglected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Home(tmp_path_factory.mktemp("neglected") / "home")
    home.make()
    neglect_logs(home.logs)
    neglect_rows(home)
    neglect_mirror(home.mirror("t"))
    neglect_talk(home)
    store = EnvironmentStore(home.environments)
    for key, age in (("unused", ENVIRONMENT_AGE + timedelta(hours=1)), ("used", timedelta(days=1))):
        store.add(key, str)
        dated(home.environments / key / "made", NOW - age)
    (home.reports / "2020-01-01.md").write_text("# A day of long ago\n")
    return home.root


@pytest.fixture
def home(neglected: Path, tmp_path: Path) -> Home:
    shutil.copytree(neglected, tmp_path / "home")
    return Home(tmp_path / "home")


def dated(path: Path, at: datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


def neglect_logs(logs: Path) -> None:
    (logs / "old").mkdir()
    (logs / "coder.jsonl").write_text(LINE.format(at="2026-10-31", event="of last month"))
    (logs / "meter.jsonl").write_text(LINE.format(at="2026-11-01", event="of this month"))
    (logs / "qa.jsonl").write_text(LINE.format(at="2026-11-02", event="x" * 1_000) * (FULL_LOG // 1_000))
    (logs / "old" / "planner-2026-08-01.jsonl.gz").write_bytes(gzip.compress(b"old"))
    (logs / "old" / "planner-2026-11-01.jsonl.gz").write_bytes(gzip.compress(b"young"))
    (logs / "old" / "reviewer-2026-11-19.jsonl").write_text("left by a kill\n")
    for number in range(TRACES + 3):
        (logs / f"bug-{number:02}.txt").write_text("Traceback")
        dated(logs / f"bug-{number:02}.txt", NOW - timedelta(days=number))
    (logs / "daemon.out").write_text("".join(f"line {number:06}\n" for number in range(FULL_OUTPUT // 12 + 1)))


def neglect_talk(home: Home) -> None:
    home.talk.mkdir()
    for day in ("2026-10-20", "2026-10-21"):
        (home.talk / f"{day}.talk").write_bytes(b"x")
    (home.talk / "notes.talk").write_text("not ours")
    db = new_book(home.database)
    with db.transaction() as rows:
        for call, day in ((1, "2026-10-20"), (2, "2026-10-21")):
            rows.execute("insert into conversations values (?, ?, 0, 1)", (call, day))
    db.close()


def neglect_rows(home: Home) -> None:
    db = new_book(home.database)
    with db.transaction() as rows:
        for key, at in (("old", LONG_AGO), ("new", NOW)):
            values = (key, "box", "", "{}", at.isoformat(), "delivered")
            rows.execute(
                "insert into notices (key, service, digest, notice_json, at, state) values (?, ?, ?, ?, ?, ?)", values
            )
        for at in (LONG_AGO, LONG_AGO, NOW):
            rows.execute(
                "insert into agent_runs (agent_name, day, started_at) values ('qa', ?, ?)",
                (at.date().isoformat(), at.isoformat()),
            )
        for task, state, at in TASKS:
            rows.execute("insert into tasks values (?, 't', 'g', '', 'high', ?, '', '')", (task, at.isoformat()))
            for event, to in (("created", "backlog"), (EVENTS[state].value, state)):
                rows.execute(
                    "insert into task_events (task, at, event, from_state, to_state, done) values (?, ?, ?, '', ?, 1)",
                    (task, at.isoformat(), event, to),
                )
    for number in range(24):
        Replies(db).keep(str(number), "x" * 1_000_000, LONG_AGO)
    Replies(db).keep("new", "y", NOW)
    ledger = Ledger(db)
    for at in (LONG_AGO, NOW):
        ticket = ledger.ticket(ledger.open_ticket(TicketOrder(RUN, 100, ("m",), NOW + timedelta(days=1)), at))
        assert ticket
        call = ledger.reserve(ticket, Ask("m", Rates(1, 1, 1, 1, 1), "v", 50, 0, may_clamp=False), CAPS, at)
        assert isinstance(call, Reservation)
        ledger.settle(call, 40, CallEnding(), at)
    db.close()


RUN, CAPS = Run(1, "coder", "2026-11-20", "t", 1), Caps(10**9, 10**9, 10**9)
EVENTS = {"completed": Event.MERGED, "failed": Event.EXHAUSTED, "in_review": Event.SUBMITTED}
TASKS = (
    ("done-long-ago", "completed", LONG_AGO),
    ("failed-long-ago", "failed", LONG_AGO),
    ("in-review-long-ago", "in_review", LONG_AGO),
    ("done-lately", "completed", NOW - timedelta(days=59)),
)


def neglect_mirror(path: Path) -> None:
    mirror = Mirror(path, Remote("/nowhere"))
    mirror.create()
    tree = shell("git hash-object -w -t tree /dev/null", path)
    for task in (*(task for task, _, _ in TASKS), "never-seen"):
        for number in (1, 2):
            sha = shell(f"git commit-tree {tree} -m {task}.a{number}", path)
            shell(f"git update-ref refs/attempts/{task}.a{number} {sha}", path)
    piece = "echo $i | git hash-object -w --stdin | git pack-objects -q objects/pack/pack >/dev/null"
    shell(f"for i in $(seq {SCATTERED_PACKS}); do {piece}; done; git prune-packed", path)


def packs(home: Home) -> int:
    return len(list((home.mirror("t") / "objects" / "pack").glob("*.pack")))


def tidied(home: Home, is_clock_right: bool = True) -> list[str]:
    db = new_book(home.database)
    try:
        return tidy(home, db, Mirror(home.mirror("t"), Remote("/nowhere")), NOW, is_clock_right)
    finally:
        db.close()


def assert_is_tidy(home: Home) -> None:
    """All of it was thrown away or packed, and nothing else."""
    there = {path.name for path in home.logs.iterdir()} - {f"bug-{number:02}.txt" for number in range(TRACES)}
    assert there == {"old", "meter.jsonl", "daemon.out"}
    packed = {path.name: gzip.decompress(path.read_bytes()) for path in (home.logs / "old").iterdir()}
    assert {name: len(text) > 1_000 for name, text in packed.items()} == {
        "coder-2026-11-20.jsonl.gz": False,
        "qa-2026-11-20.jsonl.gz": True,
        "planner-2026-11-01.jsonl.gz": False,
        "reviewer-2026-11-19.jsonl.gz": False,
    }
    assert json.loads(packed["coder-2026-11-20.jsonl.gz"])["event"] == "of last month"
    assert len(packed["qa-2026-11-20.jsonl.gz"]) > FULL_LOG
    assert packed["reviewer-2026-11-19.jsonl.gz"] == b"left by a kill\n"
    assert_output_is_cut(home.logs / "daemon.out", last=FULL_OUTPUT // 12)
    assert_rows_are_right(home)
    assert {path.name for path in home.talk.iterdir()} == {"2026-10-21.talk", "notes.talk"}
    names = git(home.mirror("t"), "for-each-ref", "--format=%(refname)").decode()
    tasks = {name.removeprefix("refs/attempts/").rpartition(".a")[0] for name in names.splitlines()}
    assert tasks == {"failed-long-ago", "in-review-long-ago", "done-lately", "never-seen"}
    assert packs(home) == 1
    git(home.mirror("t"), "fsck", "--strict")
    assert {path.name for path in home.environments.iterdir()} == {".lock", "used"}
    assert [path.name for path in home.reports.iterdir()] == ["2020-01-01.md"]


def assert_output_is_cut(output: Path, last: int) -> None:
    lines = output.read_text().splitlines()
    assert OUTPUT_KEPT - 20 < output.stat().st_size <= OUTPUT_KEPT
    assert lines == [f"line {number:06}" for number in range(last - len(lines) + 1, last + 1)]


def assert_rows_are_right(home: Home) -> None:
    assert home.database.stat().st_size < 1_000_000
    db = new_book(home.database)
    try:
        assert [row["key"] for row in db.rows("select key from notices")] == ["new"]
        assert [row["id"] for row in db.rows("select id from agent_runs")] == [3]
        assert [row["key"] for row in db.rows("select key from replies")] == ["new"]
        assert [row["amount"] for row in db.rows("select amount from calls order by id")] == [40, 40]
        assert [row["n"] for row in db.rows("select count(*) n from tasks")] == [len(TASKS)]
        assert [row["day"] for row in db.rows("select day from conversations")] == ["2026-10-21"]
        assert [row[0] for row in db.rows("pragma integrity_check")] == ["ok"]
    finally:
        db.close()


# --- all of it -----------------------------------------------------------------------------------------------


def test_a_neglected_home_is_tidied_up_and_says_how(home: Home) -> None:
    done = "\n".join(tidied(home))
    for said in (
        "forgotten: 1 old messages, 2 old runs, 24 remembered answers",
        ".state/talk: what was said on 1 day thrown away, up to 2026-10-20",
        "logs/coder.jsonl: packed as logs/old/coder-2026-11-20.jsonl.gz",
        "logs/old: 1 logs of long ago thrown away",
        "logs: 3 old traces of bugs thrown away",
        "logs/daemon.out: cut to its last",
        "the mirror: 2 attempts of 1 tasks forgotten",
        f"the mirror: {SCATTERED_PACKS} packs and ",
        "1 environments for tests removed, unused since 2026-10-21",
        "bytes given back",
    ):
        assert said in done
    assert "could not" not in done
    assert_is_tidy(home)
    assert tidied(home) == []
    assert_is_tidy(home)


def test_a_new_home_has_nothing_to_be_tidied_up(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    Mirror(home.mirror("t"), Remote("/nowhere")).create()
    assert tidied(home) == []


def test_by_a_clock_that_jumped_ahead_nothing_is_thrown_away(home: Home, neglected: Path) -> None:
    (line,) = tidied(home, is_clock_right=False)
    assert line.startswith("nothing was tidied up") and line.endswith("python main.py resume")
    there = [
        sorted(path.name for path in root.rglob("*") if "-shm" not in path.name) for root in (home.root, neglected)
    ]
    assert there[0] == there[1]


def test_one_step_that_fails_keeps_no_other_from_its_work(home: Home) -> None:
    shutil.rmtree(home.mirror("t"))
    (home.logs / "daemon.out").unlink()
    (home.logs / "daemon.out").symlink_to("/etc/passwd")
    done = tidied(home)
    assert [line.split(" could not")[0] for line in done if "could not be tidied up" in line] == ["output", "mirror"]
    assert {path.name for path in home.environments.iterdir()} == {".lock", "used"}
    assert_rows_are_right(home)


def test_who_was_replaced_tidies_nothing_up(home: Home) -> None:
    db = new_book(home.database)
    mine = Epochs(db).begin(1, NOW)
    db.guard(mine)
    Epochs(new_book(home.database)).begin(2, NOW)
    with pytest.raises(Replaced):
        tidy(home, db, Mirror(home.mirror("t"), Remote("/nowhere")), NOW)
    assert (home.logs / "coder.jsonl").exists()
    db.close()


PASSED = [
    "tidy.rows",
    "tidy.replies",
    "tidy.database",
    "tidy.talk-rows",
    "tidy.talk-removed",
    "tidy.talk",
    "tidy.log-moved",
    "tidy.log-packed",
    "tidy.log-removed",
    "tidy.logs",
    "tidy.old-log-removed",
    "tidy.old-logs",
    "tidy.trace-removed",
    "tidy.traces",
    "tidy.output-copied",
    "tidy.output-cut",
    "tidy.output",
    "tidy.references",
    "tidy.references-packed",
    "tidy.repacked",
    "tidy.pruned",
    "tidy.mirror",
    "environment.retired",
    "tidy.environments",
    "tidy.optimized",
    "tidy.vacuumed",
    "tidy.checkpointed",
    "tidy.room",
]


def killed_and_repeated(home: Home, point: str) -> None:
    killed_at(point, snippet(TIDY, str(home.root)))
    tidied(home)
    assert_is_tidy(home)


@pytest.mark.parametrize("point", ["tidy.talk-rows", "tidy.log-packed", "tidy.output-copied", "tidy.repacked"])
def test_killed_in_the_middle_it_is_tidied_up_the_next_time(home: Home, point: str) -> None:
    killed_and_repeated(home, point)


@at_length
@pytest.mark.parametrize("point", PASSED)
def test_killed_anywhere_it_is_tidied_up_the_next_time(home: Home, point: str) -> None:
    killed_and_repeated(home, point)


@pytest.mark.slow
def test_every_point_is_known(home: Home) -> None:
    assert list(dict.fromkeys(points(snippet(TIDY, str(home.root)), at_least=len(PASSED)))) == PASSED


def test_the_number_of_a_run_is_never_given_again(tmp_path: Path) -> None:
    """Logs and tickets know runs by their number."""
    db = new_book(tmp_path / "agents.db")
    insert = "insert into agent_runs (agent_name, day, started_at) values ('qa', '', ?)"
    with db.transaction() as rows:
        for _ in range(3):
            rows.execute(insert, (LONG_AGO.isoformat(),))
    assert list(prune(db, NOW)) == ["forgotten: 2 old runs"]
    with db.transaction() as rows:
        assert rows.execute(insert, (NOW.isoformat(),)).lastrowid == 4
    db.close()


# --- logs ----------------------------------------------------------------------------------------------------


def test_who_follows_a_log_misses_no_line_when_it_is_turned_over(tmp_path: Path) -> None:
    log, tail = Log(tmp_path, ManualClock(NOW - timedelta(days=40)), str), Tail(tmp_path)
    seen = []
    for number in range(4):
        log(RUN, f"{number} before")
        assert list(rotate(tmp_path, NOW.date()))
        log(RUN, f"{number} after")
        seen += [line["event"] for line in tail.new()]
    tail.close()
    assert seen == ["0 after", *(f"{n} {when}" for n in (1, 2, 3) for when in ("before", "after"))]


def test_no_line_is_lost_that_is_written_while_a_log_is_packed(tmp_path: Path) -> None:
    log, over = Log(tmp_path, ManualClock(NOW - timedelta(days=40)), str), threading.Event()
    written: list[str] = []

    def write() -> None:
        while not over.is_set():
            log(RUN, str(len(written)))
            written.append(str(len(written)))

    writers = threading.Thread(target=write)
    writers.start()
    while len(written) < 500:
        list(rotate(tmp_path, NOW.date()))
    over.set()
    writers.join()
    list(rotate(tmp_path, NOW.date()))
    lines = b"".join(gzip.decompress(path.read_bytes()) for path in (tmp_path / "old").iterdir()).splitlines()
    assert sorted(json.loads(line)["event"] for line in lines) == sorted(written)


ROTATE = """
    import sys
    from datetime import date
    from pathlib import Path
    from sisimpur.shared.system.keeping import rotate
    list(rotate(Path(sys.argv[1]), date(2026, 11, 20)))
"""


def test_a_line_that_comes_after_all_was_packed_is_packed_too(tmp_path: Path) -> None:
    """Its writer had the log open since before it was moved. The program waits where it notes its first point."""
    old, noted = tmp_path / "old", tmp_path / "noted"
    old.mkdir()
    os.mkfifo(noted)
    with (old / "coder-2026-11-20.jsonl").open("a") as writer:
        writer.write(LINE.format(at="2026-10-01", event="early"))
        writer.flush()
        environment = {**os.environ, "SISIMPUR_CRASH_LOG": str(noted)}
        with subprocess.Popen(snippet(ROTATE, str(tmp_path)), cwd=REPOSITORY, env=environment) as program:
            deadline = time.monotonic() + 20
            while not (old / "coder-2026-11-20.jsonl.gz").exists():
                assert time.monotonic() < deadline
                time.sleep(0.005)
            writer.write(LINE.format(at="2026-10-01", event="late"))
            writer.flush()
            reader = os.open(noted, os.O_RDONLY | os.O_NONBLOCK)  # from now on it goes on
            assert program.wait(20) == 0
    assert os.read(reader, 1_000).split() == [b"tidy.log-packed", b"tidy.log-packed", b"tidy.log-removed"]
    os.close(reader)
    lines = gzip.decompress((old / "coder-2026-11-20.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["early", "late"]


def test_a_log_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(LINE.format(at="2026-10-01", event="not ours"))
    (tmp_path / "coder.jsonl").symlink_to(tmp_path / "elsewhere")
    assert list(rotate(tmp_path, NOW.date())) == []
    assert (tmp_path / "coder.jsonl").is_symlink()


def test_output_is_cut_in_its_place_and_whoever_writes_it_goes_on_at_its_end(tmp_path: Path) -> None:
    output, last = tmp_path / "daemon.out", FULL_OUTPUT // 12
    with output.open("a") as daemon:
        daemon.writelines(f"line {number:06}\n" for number in range(last + 1))
        daemon.flush()
        assert list(cut(output))
        assert_output_is_cut(output, last)
        assert list(cut(output)) == []
        daemon.write("and on\n")
    assert output.read_text().endswith(f"line {last:06}\nand on\n")


# --- the mirror, environments ----------------------------------------------------------------------------------


def test_what_a_killed_git_has_left_goes_a_day_later(home: Home) -> None:
    folder = home.mirror("t") / "objects" / "pack"
    for name, age in ((".tmp-7-pack-1.pack", 2), ("tmp_pack_x", 2), (".tmp-8-pack-2.pack", 0), ("tmp_pack_y", 0)):
        (folder / name).write_text("half")
        dated(folder / name, NOW - timedelta(days=age))
    list(Mirror(home.mirror("t"), Remote("/nowhere")).tidy(lambda _: False, NOW))
    assert {path.name for path in folder.iterdir() if "tmp" in path.name} >= {"tmp_pack_y"}
    assert not {".tmp-7-pack-1.pack", "tmp_pack_x"} & {path.name for path in folder.iterdir()}


def test_a_commit_in_the_making_survives_packing(home: Home) -> None:
    """No reference holds it yet; it lies in a pack of its own, as the committer leaves it."""
    tree = shell("git hash-object -w -t tree /dev/null", home.mirror("t"))
    sha = shell(f"git commit-tree {tree} -m fresh", home.mirror("t"))
    shell(f"echo {sha} | git pack-objects -q objects/pack/pack && git prune-packed", home.mirror("t"))
    assert list(Mirror(home.mirror("t"), Remote("/nowhere")).tidy(lambda _: False, NOW))
    assert shell(f"git cat-file -t {sha}", home.mirror("t")) == "commit"


@pytest.mark.parametrize(
    ("use", "stays"),
    [
        pytest.param(lambda store: None, False, id="nobody"),
        pytest.param(lambda store: store.take("k"), True, id="somebody uses it"),
    ],
)
def test_an_environment_goes_when_nobody_has_used_it_for_long(
    tmp_path: Path, use: Callable[[EnvironmentStore], object], stays: bool
) -> None:
    EnvironmentStore(tmp_path).add("k", str)
    user = EnvironmentStore(tmp_path)
    use(user)
    dated(tmp_path / "k" / "made", NOW - timedelta(days=31))
    gone = list(EnvironmentStore(tmp_path).retire(NOW - ENVIRONMENT_AGE))
    assert (tmp_path / "k").exists() is stays is not bool(gone)


def test_while_an_environment_is_being_built_nobody_waits_to_tidy_up(tmp_path: Path) -> None:
    store, other = EnvironmentStore(tmp_path), EnvironmentStore(tmp_path)
    other.add("k", str)
    dated(tmp_path / "k" / "made", NOW - timedelta(days=31))
    found = []
    store.add("new", lambda _: found.append(list(other.retire(NOW - ENVIRONMENT_AGE))) or "made")  # type: ignore[func-returns-value]
    assert found == [[]]
    assert (tmp_path / "k").exists()


def test_pages_of_long_ago_go_and_the_question_they_were_read_for_stays(tmp_path: Path) -> None:
    db, asked = new_book(tmp_path / "agents.db"), inquiry("Redis for sessions?")
    book = ResearchRepository(db)
    book.ask([asked], "2026-01-01")
    for day in ("2026-01-01", "2026-11-01"):
        book.keep_page(asked, WebSource(f"https://{day}.example", "", "words", day), day)
        book.keep_hits(asked, day, day, [SearchHit("a", "https://a.example")])
    assert list(prune(db, datetime(2026, 11, 20, tzinfo=UTC))) == ["forgotten: 1 old pages"]
    assert [page.url for page in book.pages(asked)] == ["https://2026-11-01.example"]
    assert book.hits(asked, "2026-01-01", "2026-11-20") is None and book.hits(asked, "2026-11-01", "2026-11-20")
    assert [one.inquiry for one in book.all()] == [asked]
