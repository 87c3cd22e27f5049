"""What a machine does to us besides killing us: a full disk, folders that cannot be written, a locked database, files
that were damaged. Each is there for a part of a day, then it is gone: nothing is lost, the owner is told once, nobody
crashes, nobody shows a stack trace.

A forge that fails after it has done the work: tests/edges/test_github_outages.py, every write. A model that is away:
test_daemon.py; its broken answers: tests/edges/test_meter.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.daemon import Daemon, Outside
from sisimpur.cli.wiring.lifetime import Quitting, Stop
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.lifecycle import FOLDERS
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, MeterTimeouts, Upstream
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.money.token_budget import Caps, dollars
from sisimpur.shared.store.activity import STOPPED, Epochs
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.process import run
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.books import new_book
from tests.journey.days import MIDNIGHT, Days
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.invariants import check_invariants
from tests.journey.stage import APPROVES, CODES, ScriptedWorkshop, Stage, plans, reads
from tests.killing import at_length
from tests.mailbox import Mailbox

pytestmark = pytest.mark.disk

ENVIRONMENT = {"PATH": os.environ["PATH"]}
ROOM = "24m"  # of the small disk: a home after its first morning takes a few of them
QUARTER, HOUR = timedelta(minutes=15), timedelta(hours=1)
EVENING = 23.5
GARBAGE = b"\xff\xfe\0 rubbish"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


def made(place: Path, model: ScriptedModel) -> Stage:
    stage = Stage(place, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    stage.services.append(Mailbox(place / "box"))
    return stage


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return made(tmp_path, model)


def at(hour: float, day: int = 0) -> datetime:
    return MIDNIGHT + timedelta(days=day, hours=hour)


@contextmanager
def epoch(records: Records) -> Iterator[None]:
    epochs = Epochs(records.db)
    number = epochs.begin(os.getpid(), records.clock.now())
    records.db.guard(number)
    try:
        yield
    finally:
        epochs.end(number, records.clock.now(), STOPPED)


@contextmanager
def life(stage: Stage, hour: float = 6.5) -> Iterator[Days]:
    """As `days`, but as the daemon is: it holds the lock, has an epoch, and lasts."""
    clock, stop, after = ManualClock(at(hour)), Stop(), list[tuple[str, bool]]()
    outside = Outside(lambda _: nullcontext(), after=lambda phase, ok: after.append((phase, ok)))

    def make(records: Records, *_: object) -> ScriptedWorkshop:
        return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

    with (
        lock.hold(stage.home.lock),
        open_records(stage.home.root, {}, clock) as records,
        epoch(records),
        open_team(records, stage.said.append, make, lambda _: stage.services, Quitting(stop), mode="daemon") as team,
    ):
        yield Days(records, clock, Daemon(team, records.settings.schedules.schedule, outside), stop, after)


def ends_well(stage: Stage, model: ScriptedModel, *died_at: str) -> None:
    """The day's one task is merged, everything holds, and no owner saw a stack trace."""
    assert stage.states()[ID] == "completed"
    check_invariants(stage, model, [ID], died_at, "\n".join(stage.said))
    shown = "\n".join([*stage.said, *(path.read_text() for path in stage.home.reports.glob("*.md"))])
    assert "Traceback" not in shown and "a bug of ours" not in shown
    assert list(stage.home.logs.glob("bug*")) == []


def told(stage: Stage, words: str) -> int:
    """How many lines and messages hold them."""
    messages = [str(message) for message in Mailbox(stage.root / "box").messages()]
    return sum(words in text for text in (*stage.said, *messages))


def command(*words: str) -> None:
    done = run(words, env=ENVIRONMENT, timeout=20)
    if not done.ok:
        pytest.skip(f"this machine does not let us: {words[0]}: {done.complaint}")


# --- a full disk ---------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command("mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(place))
    yield place
    command("umount", "--lazy", str(place))


def fill(disk: Path) -> Path:
    """To the last byte."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 12))
        except OSError:
            return filler


@pytest.mark.slow
def test_a_disk_that_is_full_before_the_work_is_planned_costs_nothing_but_time(
    small_disk: Path, model: ScriptedModel
) -> None:
    stage = made(small_disk, model)
    with life(stage) as day:
        day.until(at(7.6), HOUR)
        filler = fill(small_disk)
        day.until(at(9.5), QUARTER)
        assert day.end is None and stage.jobs == []
        filler.unlink()
        day.until(at(EVENING), HOUR)
    assert sum("disk is full" in line and not line.startswith("reports:") for line in stage.said) == 1
    ends_well(stage, model)


@pytest.mark.slow
def test_a_disk_that_is_full_while_somebody_codes_costs_one_attempt_at_most(
    small_disk: Path, model: ScriptedModel
) -> None:
    stage, is_full = made(small_disk, model), [True]

    def fills(folder: Path, job: EngineJob) -> None:
        Coder(GOOD)(folder, job)
        if is_full:
            fill(small_disk)

    stage.change = fills
    with life(stage) as day:
        day.until(at(9.5), QUARTER)
        assert day.end is None
        is_full.clear()
        (small_disk / "filler").unlink()
        day.until(at(EVENING), HOUR)
    with life(stage, EVENING):
        pass  # what could not be booked then is put in order by the next start
    assert len(stage.jobs) <= 2
    ends_well(stage, model, "engine.ran")


# --- folders that cannot be written --------------------------------------------------------------------------


@contextmanager
def unwritable(*folders: Path) -> Iterator[None]:
    """Also for root."""
    for folder in folders:
        command("chattr", "+i", str(folder))
    try:
        yield
    finally:
        for folder in folders:
            run(("chattr", "-i", str(folder)), env=ENVIRONMENT, timeout=20)


@pytest.mark.parametrize(
    ("names", "ends_meanwhile"),
    [
        pytest.param(("tasks/backlog",), False, id="where new tasks go"),
        pytest.param(("tasks/in_progress",), False, id="where a task goes that is begun"),
        pytest.param(("tasks/completed",), False, id="where a task goes that is merged"),
        pytest.param((".state/work",), False, id="where the coder works"),
        pytest.param(("logs", "reports/daily"), True, id="what only tells"),
    ],
)
def test_a_folder_that_cannot_be_written_holds_up_what_needs_it_and_loses_nothing(
    stage: Stage, model: ScriptedModel, names: tuple[str, ...], ends_meanwhile: bool
) -> None:
    with life(stage) as day:
        day.until(at(7.6), HOUR)
        with unwritable(*(stage.home.root / name for name in names)):
            day.until(at(9.5), QUARTER)
            assert day.end is None
            assert ("completed" in stage.states().values()) == ends_meanwhile
        day.until(at(EVENING), HOUR)
    assert told(stage, "by the owner") == 0  # what we could not do is not his word
    ends_well(stage, model)


# --- a database that somebody else holds ---------------------------------------------------------------------

HOLDS = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute("begin immediate")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@at_length  # each try waits for ten seconds
def test_a_database_that_is_locked_for_longer_than_anybody_waits_is_waited_for(
    stage: Stage, model: ScriptedModel
) -> None:
    with life(stage) as day:
        day.until(at(7.6), HOUR)
        argv = [sys.executable, "-c", HOLDS, str(stage.home.database)]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout and holder.stdin
            assert holder.stdout.readline() == "held\n"
            day.until(at(8.1), QUARTER)
            assert day.end is None and stage.jobs == []
            holder.stdin.close()
        day.until(at(EVENING), HOUR)
    told_of_it = [line for line in stage.said if "database is locked" in line and not line.startswith("reports:")]
    assert len([line for line in told_of_it if line.startswith("what is said to models is not recorded")]) <= 1
    assert len([line for line in told_of_it if line.startswith(str(stage.home.database))]) == 1
    assert len(told_of_it) <= 2
    ends_well(stage, model)


# --- damaged files -------------------------------------------------------------------------------------------

UNDONE = ("PROGRESS.md", "DAILY_PLAN.md", ".state/work/x", ".state/tmp/x", ".state/daemon.lock")  # made anew, or gone
AS_THEY_WERE = (".state/pulls.json", ".state/environments/x", *(f"tasks/{folder}/odd.md" for folder in FOLDERS[:1]))
ELSEWHERE = tuple(f"tasks/{folder}/odd-{folder}.md" for folder in FOLDERS[1:])


@pytest.mark.parametrize("data", [b"", GARBAGE], ids=["empty", "garbage"])
def test_damaged_files_are_made_anew_or_named_and_kept(stage: Stage, model: ScriptedModel, data: bytes) -> None:
    with life(stage) as day:
        day.until(at(7.9), HOUR)
    places = [stage.home.root / name for name in (*UNDONE, *AS_THEY_WERE, *ELSEWHERE)]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    with life(stage, 7.95) as day:
        day.until(at(EVENING), HOUR)
    assert [place.name for place in places[len(UNDONE) :] if place.read_bytes() != data] == []
    progress = stage.home.progress.read_text()
    assert [place.name for place in places if place.name.startswith("odd") and place.name not in progress] == []
    ends_well(stage, model)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param(".state/agents.db", GARBAGE, id="a database of garbage"),
        pytest.param(".state/agents.db", b"", id="a database that lost everything, also what was spent"),
        pytest.param(".state/mirror/site.git/HEAD", b"", id="a mirror that is none"),
        pytest.param(".state/mirror/site.git/packed-refs", GARBAGE, id="a mirror without its references"),
    ],
)
def test_what_cannot_be_made_anew_is_refused_in_one_line_until_it_is_back(
    stage: Stage, model: ScriptedModel, name: str, data: bytes
) -> None:
    with life(stage) as day:
        day.until(at(7.9), HOUR)
    place = stage.home.root / name
    whole = place.read_bytes() if place.exists() else None
    place.write_bytes(data)
    with pytest.raises(TeamError) as refusal, life(stage, 7.95):
        pass
    assert "\n" not in str(refusal.value) and str(stage.home.state) in str(refusal.value)
    assert place.read_bytes() == data
    place.unlink() if whole is None else place.write_bytes(whole)
    with life(stage, 7.95) as day:
        day.until(at(EVENING), HOUR)
    ends_well(stage, model)


# --- a model that hangs --------------------------------------------------------------------------------------


def test_a_model_that_answers_after_we_gave_up_is_booked_at_the_most_it_can_cost(tmp_path: Path) -> None:
    clock, ledger = ManualClock(at(8)), Ledger(new_book(tmp_path / "agents.db"))
    hurried = MeterTimeouts(first=0.01, longest=0.01, tries=2, idle=0.3, whole=0.5, streamed=0.5)
    caps = Caps(dollars("9"), dollars("9"), dollars("9"))
    ask = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
    order = TicketOrder(
        Run(1, "coder", "2026-11-20", "t", 1), dollars("9"), ("claude-sonnet-5-5",), at(20), max_calls=9, min_out=10
    )
    token = ledger.open_ticket(order, clock.now())
    with (
        ScriptedModel([{"times": "any", "delay": 1.0, "text": "late"}]) as model,
        Meter(
            ledger,
            Pricing(),
            lambda: caps,
            clock,
            MeterSetup(tmp_path / "m.sock", Upstream(model.url, "k"), timeouts=hurried),
        ) as meter,
    ):
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(meter.socket), verify=False), timeout=20) as client:
            answer = client.post("http://meter/v1/messages", json=ask, headers={"x-api-key": token})
        assert answer.status_code == 400 and "meter_" in answer.text
    calls = ledger.calls_of(token)
    ledger.close()
    assert {call.state for call in calls} == {"lost"} and len(calls) == len(model.requests)
    assert sum(call.cost for call in calls) >= model.billed
