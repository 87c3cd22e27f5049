"""How the life of a daemon is told, to people and to scripts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.terminal.printing import command
from sisimpur.cli.views.daemon_state import daemon_facts, go_on, machine_line, what_it_waits_for, who_works
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.store.activity import STOPPED, Epochs
from sisimpur.shared.store.database import Database
from tests.books import new_book

NOW = datetime(2026, 11, 20, 10, 32, 5, tzinfo=UTC)
HOME = Path("/team")
START = command(HOME, "start")
YESTERDAY = timedelta(days=1)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


def line(db: Database, holder: str = "", now: datetime = NOW) -> str:
    facts = {
        "daemon": daemon_facts(db, holder, "next: the evening's report at 23:00"),
        "pid": holder or None,
        "since": "",
    }
    return who_works(facts, HOME, now)


def began(db: Database, pid: int = 70) -> int:
    return Epochs(db).begin(pid, NOW - timedelta(hours=1))


def test_where_none_ever_began_none_is_missed(db: Database) -> None:
    assert (line(db), daemon_facts(db, "")["state"], go_on(db)) == ("not running", "never", "run-day")


@pytest.mark.parametrize(
    ("now", "since"), [(NOW, "09:32"), (NOW + YESTERDAY, "2026-11-20 09:32")], ids=["today", "another day"]
)
def test_one_at_work_says_since_when_and_what_comes_next(db: Database, now: datetime, since: str) -> None:
    began(db)
    assert line(db, "70", now) == f"at work (pid 70) since {since}; next: the evening's report at 23:00"
    assert daemon_facts(db, "70", "x") == {
        "state": "running", "pid": 70, "since": "2026-11-20T09:32:05+00:00", "ended": "", "how": "", "next": "x",
        "waits_for": [],
    }  # fmt: skip


def test_one_that_was_stopped_says_when(db: Database) -> None:
    Epochs(db).end(began(db), NOW, STOPPED)
    assert (line(db), go_on(db)) == ("not running; it was stopped at 10:32", "start")
    assert line(db, now=NOW + YESTERDAY) == "not running; it was stopped at 2026-11-20 10:32"


def test_one_that_broke_off_says_why_and_cannot_speak_to_the_terminal(db: Database) -> None:
    Epochs(db).end(began(db), NOW, "no branch \x1b[31mmain")
    assert line(db) == "not running: it ended at 10:32: no branch  [31mmain"


def test_one_that_ended_without_a_word_is_told_from_its_last_sign_of_life(db: Database) -> None:
    Epochs(db).seen(began(db), NOW)
    why = "it ended at about 10:32 without a word (killed, or a power cut); no work is lost"
    assert line(db, now=NOW + timedelta(hours=3)) == f"not running: {why}; type: {START}"
    facts = daemon_facts(db, "", "next: the evening's report at 23:00")
    assert (facts["state"], facts["ended"], facts["next"]) == ("dead", "2026-11-20T10:32:05+00:00", "")


# --- the machine ---------------------------------------------------------------------------------------------

READ = {"cpu": 0.34, "memory": 0.41, "disk": 0.352, "inodes": 0.07, "load": 2.14, "processors": 2, "boxes": 1}
NOTHING = {"cpu": 0.0, "memory": 0, "written": 0}
TAKEN = {"cpu": 312.4, "memory": 812 << 20, "written": 40 << 20}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        pytest.param(
            READ | {"boxes_today": TAKEN},
            "processors 34%, memory 41%, disk 35%, files 7%, load 2.1 on 2 processors; "
            "sandboxes: 1 open, today 312 s, at most 812 MB, 40 MB written",
            id="all of it",
        ),
        pytest.param(
            READ | {"cpu": None, "boxes_today": NOTHING},
            "memory 41%, disk 35%, files 7%, load 2.1 on 2 processors; sandboxes: 1 open",
            id="nobody has looked twice, and nothing ran",
        ),
        pytest.param({"boxes_today": NOTHING}, "it cannot be read here (/proc)", id="nothing can be read"),
    ],
)
def test_the_machine_is_told_in_one_line(facts: dict[str, Any], words: str) -> None:
    assert machine_line(facts) == words


# --- what it waits for -----------------------------------------------------------------------------------------


def told(db: Database, *waits: Wait, now: datetime = NOW) -> list[str]:
    Epochs(db).waits_for(began(db), waits)
    return what_it_waits_for({"daemon": daemon_facts(db, "70")}, HOME, now)


SINCE, UNTIL = NOW - timedelta(minutes=20), NOW + timedelta(minutes=10)


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (
            Wait("model", SINCE, UNTIL, "it is overloaded"),
            "the model is away since 10:12, asked again at 10:42: it is overloaded",
        ),
        (
            Wait("forge", SINCE, NOW, "no answer"),
            "the forge is away since 10:12, asked again as soon as it is needed: no answer",
        ),
        (
            Wait("cap", why="the day's cap"),
            "nothing is asked of a model before tomorrow, or before you type: "
            f"{command(HOME, 'raise-cap', 'DOLLARS')}: the day's cap",
        ),
        (Wait("halt"), f"nothing is spent before you type: {command(HOME, 'resume')}"),
        (
            Wait("vision", NOW, UNTIL),
            "VISION.md is read first, for it may have changed; nothing is begun or merged before, read at 10:42",
        ),
        (Wait("time", until=NOW + YESTERDAY), "nothing to do, nothing is due before 2026-11-21 10:32"),
        (
            Wait("time", until=UNTIL, why="no task is ready: t waits for you; see: python main.py status"),
            "nothing to do, nothing is due before 10:42: no task is ready: t waits for you",
        ),
        (
            Wait("machine", SINCE, why="the disk is 93% full"),
            "nothing new is begun before the machine has more room since 10:12: the disk is 93% full",
        ),
        (Wait("attempt", until=UNTIL), "a task rests after a try that was lost, tried again at 10:42"),
        (
            Wait("trouble", SINCE, UNTIL, "the disk\nis full"),
            "something is wrong since 10:12, tried again at 10:42: the disk is full",
        ),
        (
            Wait("start", SINCE, UNTIL, "no network"),
            "it could not begin yet since 10:12, tried again at 10:42: no network",
        ),
    ],
    ids=lambda value: value.what if isinstance(value, Wait) else "",
)
def test_one_at_work_says_what_it_waits_for(db: Database, wait: Wait, words: str) -> None:
    assert told(db, wait) == [f"waits: {words}"]


def test_each_thing_it_waits_for_has_a_line_and_is_there_for_scripts(db: Database) -> None:
    assert len(told(db, Wait("model", SINCE, UNTIL, "away"), Wait("vision"))) == 2
    assert daemon_facts(db, "70")["waits_for"] == [
        {"what": "model", "since": SINCE.isoformat(), "until": UNTIL.isoformat(), "why": "away"},
        {"what": "vision", "since": "", "until": "", "why": ""},
    ]


def test_who_is_dead_or_was_stopped_waits_for_nothing(db: Database) -> None:
    number = began(db)
    Epochs(db).waits_for(number, [Wait("model", SINCE, UNTIL, "away")])
    assert daemon_facts(db, "")["waits_for"] == []
    Epochs(db).end(number, NOW, STOPPED)
    assert daemon_facts(db, "70")["waits_for"] == []


def test_the_next_one_begins_without_the_words_of_the_last(db: Database) -> None:
    told(db, Wait("model", SINCE, UNTIL, "away"))
    began(db, 71)
    assert daemon_facts(db, "71")["waits_for"] == []


def test_words_of_another_version_of_the_program_are_left_out(db: Database) -> None:
    told(db, Wait("model", SINCE, UNTIL, "away"))
    with db.transaction() as connection:
        connection.execute("""update epochs set waits_json = '[{"what": "the moon"}]'""")
    assert daemon_facts(db, "70")["waits_for"] == []


def test_somebody_else_at_work_is_not_the_daemon(db: Database) -> None:
    began(db)
    assert line(db, "99") == "at work (pid 99)"
    assert daemon_facts(db, "99")["state"] == "dead"
