"""The machine is read as it is, at hardly any cost; what boxes take is charged to their run."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.machine.charging import charge_run, charged, open_boxes
from sisimpur.shared.machine.pressure import MachineReading
from sisimpur.shared.machine.reading import GROUP, PROC, Machine, MachineWatch
from sisimpur.shared.model.work import ResourceUse
from sisimpur.shared.sandbox.box import Box, Job, JobLimits, Mount, find_box, hand_over
from sisimpur.shared.store.activity import Activity, Epochs
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = "2026-11-20"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = new_book(tmp_path / "agents.db")
    yield db
    db.close()


# --- the machine ---------------------------------------------------------------------------------------------


def test_it_is_read_as_it_is(tmp_path: Path) -> None:
    seen, disk = Machine(tmp_path)(NOON), shutil.disk_usage(tmp_path)
    assert seen.at == NOON and seen.processors == os.cpu_count() and seen.cpu is None
    assert seen.disk == pytest.approx(disk.used / (disk.used + disk.free), abs=0.02)
    assert 0 < seen.memory < 1 and 0 <= seen.inodes < 1 and seen.load >= 0


def test_a_reading_costs_less_than_two_milliseconds(tmp_path: Path) -> None:
    """Of our own time: how long others keep us waiting is no cost of it."""
    machine = Machine(tmp_path)
    machine(NOON)
    began = time.thread_time()
    for _ in range(50):
        machine(NOON)
    assert (time.thread_time() - began) / 50 < 0.002


STAT = "cpu  {} 0 0 {} 0 0 0 0 0 0\n"
MEMINFO = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 700 kB\nBuffers: 1 kB\nCached: 1 kB\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    proc = tmp_path / "proc"
    proc.mkdir()
    for name, text in {"stat": STAT.format(500, 500), "meminfo": MEMINFO, "loadavg": "1.50 1 1 1/2 3\n"}.items():
        (proc / name).write_text(text)
    return proc


def test_processors_are_as_busy_as_they_were_since_the_reading_before(proc: Path) -> None:
    machine = Machine(proc, proc, proc)
    found = [machine(NOON).cpu]
    for busy, idle in ((575, 525), (576, 526), (576, 725)):
        (proc / "stat").write_text(STAT.format(busy, idle))
        found.append(machine(NOON).cpu)
    assert found == [None, 0.75, 0.75, pytest.approx(1 / 201)]


def test_a_container_counts_what_is_left_of_its_own_memory(proc: Path) -> None:
    machine = Machine(proc, proc, proc)
    assert machine(NOON).memory == pytest.approx(0.3)
    for name, text in {"max": "1000\n", "current": "960\n", "stat": "anon 3\ninactive_file 160\n"}.items():
        (proc / f"memory.{name}").write_text(text)
    assert machine(NOON).memory == pytest.approx(0.8)
    cached = (
        "anon 3\ninactive_file 100\nactive_file 700\nslab_reclaimable 60\nslab_unreclaimable 9\n"  # files read twice
    )
    (proc / "memory.stat").write_text(cached)
    assert machine(NOON).memory == pytest.approx(0.3)  # of the machine: 0.1 of its own
    (proc / "memory.max").write_text("max\n")
    assert machine(NOON).memory == pytest.approx(0.3)


def test_what_cannot_be_read_stays_as_it_was(proc: Path) -> None:
    watch = MachineWatch(Machine(proc, proc, proc))
    watch.look(NOON, 0.2)
    (proc / "meminfo").unlink()
    watch.look(NOON + timedelta(hours=1), 0.2)
    assert watch.last and watch.last.at == NOON and list(watch.tight) == []
    (proc / "meminfo").write_text(MEMINFO)
    watch.look(NOON + timedelta(hours=2), 0.2)
    assert "memory" in [one.part for one in watch.tight]
    assert PROC.is_dir() and GROUP.is_absolute()


# --- what boxes take -----------------------------------------------------------------------------------------

WORKS = """
import time
open('/work/file', 'wb').write(b'.' * (8 << 20))
while time.process_time() < 1: pass
"""


def test_a_run_is_booked_with_what_its_boxes_took(box: Box, db: Database, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    hand_over(work)
    job = Job(("python3", "-c", WORKS), (Mount(work, "/work", writable=True),), limits=JobLimits(seconds=60))
    with Activity(db).running("qa", DAY, ManualClock(NOON), "t", 1):
        assert box.run(job).ok
        assert box.run(Job(("true",))).ok
    with Activity(db).running("reviewer", DAY, ManualClock(NOON)):
        pass
    rows = db.rows("select cpu_s, memory, written from agent_runs order by id")
    cpu, memory, written = rows[0]
    assert 0.7 < cpu < 2 and memory > 8 << 20
    assert 8 << 20 <= written < 9 << 20
    assert tuple(rows[1]) == (0, 0, 0)
    assert Activity(db).taken(DAY) == ResourceUse(cpu, memory, written)
    assert Activity(db).taken("2026-11-19") == ResourceUse()


def test_a_box_that_is_ended_is_charged_too(box: Box) -> None:
    with charged() as charge:
        assert box.run(Job(("sh", "-c", "while :; do :; done"), limits=JobLimits(seconds=1))).end == "timed out"
    assert 0 < charge.use.cpu <= 2


def test_boxes_are_counted_while_they_are_open(box: Box) -> None:
    seen: list[int] = []

    def looks() -> bool:
        seen.append(open_boxes())
        return False

    before = open_boxes()
    box.run(Job(("sleep", "0.3")), looks)
    assert set(seen) == {before + 1} and open_boxes() == before


def test_what_is_charged_without_a_run_is_nobodys() -> None:
    charge_run(ResourceUse(1, 1, 1))
    with charged() as outer:
        with charged() as inner:
            charge_run(ResourceUse(2, 5, 1))
        charge_run(ResourceUse(1, 3, 1))
    assert (inner.use, outer.use) == (ResourceUse(2, 5, 1), ResourceUse(1, 3, 1))


# --- what is kept --------------------------------------------------------------------------------------------


def test_a_daemon_keeps_what_it_has_read_last(db: Database) -> None:
    epochs, seen = Epochs(db), MachineReading(NOON, 0.5, 0.4, 0.3, 1.5, 2, 0.2, 3)
    number = epochs.begin(7, NOON)
    assert (last := epochs.last()) and last.machine is None
    epochs.seen(number, NOON, seen)
    assert (last := epochs.last()) and last.machine == seen
    with db.transaction() as connection:
        connection.execute('update epochs set machine_json = \'{"of": "another version"}\'')
    assert (last := epochs.last()) and last.machine is None
