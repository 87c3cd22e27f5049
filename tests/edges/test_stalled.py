"""A box in which nothing happens any more is ended; one that is only slow is left alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.coder.agent import Coder, CoderLimits, CoderTickets
from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, never, nothing_happened
from sisimpur.shared.llm.prompts import Prompts
from sisimpur.shared.model.errors import Stopping, Unavailable
from sisimpur.shared.model.work import CodeAnswer, Coded, ModelChoice, NotCoded, Run, TaskSpec
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.savings import Route
from sisimpur.shared.money.ticket import CallEnding, Reservation
from sisimpur.shared.money.token_budget import NANO, Ask, Caps, Rates
from sisimpur.shared.repo.committer import Author, Committer
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Box, Finished, Job, JobLimits, Mount, find_box, hand_over, python_mounts
from sisimpur.shared.sandbox.watchdog import PULSE, Signs, Stillness, lives
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.outgoing import Outgoing
from tests.books import new_book
from tests.edges.engine_bench import FIX, bench
from tests.edges.fake_engine import FakeEngine
from tests.repositories import repository

REPOSITORY = Path(__file__).parents[2]
PYTHON = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


# --- a real box ----------------------------------------------------------------------------------------------

STALL = 3.0  # seconds
BUSY = "import time\nend = time.monotonic() + 6.5\nwhile time.monotonic() < end: "
AGAIN = "import time\nopen('same', 'w').write('.')\nfor _ in range(13):\n time.sleep(0.5)\n "  # 6.5 seconds in all
LIVES = {
    "it sleeps": ("import time; time.sleep(100)", None),
    "it looks at the clock ten times a second": ("import time\nwhile True: time.sleep(0.1)", None),
    "it sleeps and somebody hears the same of it": ("import time; time.sleep(100)", lambda: 7),
    "it prints a dot now and then": (AGAIN + "print('.', end='', flush=True)", None),
    "it complains now and then": (AGAIN + "import sys; print('.', file=sys.stderr, flush=True)", None),
    "it makes files": (AGAIN + "open(str(_), 'w')", None),
    "it writes the same into the same file": (AGAIN + "open('same', 'r+').write('.')", None),
    "it moves a file, whose time it sets back": (
        AGAIN + "import os; os.utime('same', (9, 9)); os.rename('same', 'other'); os.rename('other', 'same')",
        None,
    ),
    "it sleeps and somebody hears of it": (AGAIN, object),
    "it is busy and says nothing": (BUSY + "pass", None),
    "it reads only": (BUSY + "time.sleep(0.01), [open('/etc/passwd').read() for _ in range(20)]", None),
    "it works for a moment, then waits": (AGAIN + "sum(range(6_000_000))", None),
}


@pytest.fixture(scope="module")
def ends(box: Box, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finished]:
    """How each life ended: all at once, as each takes its time."""

    def lived(name: str) -> Finished:
        script, pulse = LIVES[name]
        work = tmp_path_factory.mktemp("work")
        hand_over(work)
        mounts = (*python_mounts(PYTHON), Mount(work, "/work", writable=True))
        limits = JobLimits(seconds=60, stall=STALL)
        return box.run(Job((str(PYTHON), "-I", "-c", script), mounts, "/work", limits=limits, pulse=pulse))

    with ThreadPoolExecutor(len(LIVES)) as pool:
        return dict(zip(LIVES, pool.map(lived, LIVES), strict=True))


def is_slow(life: str) -> bool:
    return LIVES[life][0].startswith((AGAIN, BUSY))


@pytest.mark.parametrize("life", [life for life in LIVES if not is_slow(life)])
def test_a_box_in_which_nothing_happens_is_ended(ends: dict[str, Finished], life: str) -> None:
    done = ends[life]
    assert done.end == "stalled", done
    assert STALL <= done.seconds < STALL + 10


@pytest.mark.parametrize("life", [life for life in LIVES if is_slow(life)])
def test_a_box_that_is_only_slow_is_left_alone(ends: dict[str, Finished], life: str) -> None:
    done = ends[life]
    assert done.ok, done
    assert done.seconds > 2 * STALL


# --- the rule ------------------------------------------------------------------------------------------------


def lasted(limit: float, looks: Iterable[tuple[float, object]]) -> list[float]:
    """When it was found to last for too long; each look tells another pulse, or other signs."""
    stillness = Stillness(limit)
    seen = ((now, one if isinstance(one, Signs) else Signs(pulse=one)) for now, one in looks)
    return [now for now, signs in seen if stillness.lasts(lambda signs=signs: signs, now)]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("limit", "looks", "found"),
    [
        pytest.param(9, [(100 + n, "same") for n in range(10)], [109], id="as long as the limit, and not before"),
        pytest.param(9, [(100 + n, n // 6) for n in range(60)], [], id="another sight every six seconds"),
        pytest.param(9, [(100 + n, n > 5) for n in range(18)], [115], id="counted from the last change"),
        pytest.param(0, [(100 + n * 3600, "same") for n in range(99)], [], id="no limit: as long as it likes"),
        pytest.param(9, [(100 + n * 4000, "same") for n in range(2)], [], id="we were held up: counts as a short time"),
        pytest.param(9, [(100 + n * 4000, "same") for n in range(3)], [8100], id="held up again and again"),
        pytest.param(60, [(100 + n, Signs(cpu=n / 250)) for n in range(62)], [160], id="hardly any work is no life"),
        pytest.param(60, [(100 + n, Signs(cpu=n / 150)) for n in range(999)], [], id="little work is life"),
        pytest.param(60, [(100 + n, Signs(runs=n % 30 == 0)) for n in range(999)], [], id="it waits for its turn"),
    ],
)
def test_how_long_it_lasts(limit: float, looks: Sequence[tuple[float, object]], found: list[float]) -> None:
    assert lasted(limit, looks) == found


def test_it_is_looked_at_every_few_seconds_however_often_it_is_asked() -> None:
    looks: list[float] = []
    stillness = Stillness(600)

    def look() -> Signs:
        looks.append(0)
        return Signs()

    for tenth in range(600):
        stillness.lasts(look, 1000 + tenth / 10)
    assert len(looks) == 60 / PULSE


nothing = st.builds(Signs, st.just(7), st.none(), st.just(0), st.floats(5, 5.2), st.just(False))
something = st.one_of(
    st.builds(Signs, printed=st.integers(8)),
    st.builds(Signs, st.just(7), pulse=st.integers(1)),
    st.builds(Signs, st.just(7), st.none(), st.just(0), st.floats(5.6, 9e9)),
    st.builds(Signs, st.just(7), st.none(), st.just(0), st.just(5.0), st.just(True)),
)


@given(nothing, nothing, something)
def test_any_sign_is_life_and_only_a_sign_is(before: Signs, same: Signs, other: Signs) -> None:
    assert not lives(before, same, 0.3)
    assert lives(before, other, 0.3) and lives(None, same, 0.3)


# --- an engine -----------------------------------------------------------------------------------------------


def test_an_engine_that_waits_for_nothing_is_ended_and_says_so(box: Box, tmp_path: Path) -> None:
    with bench(box, tmp_path, [{"text": FIX, "delay": 60}]) as found:
        job = found.job(stall=1.5)
        run = FakeEngine(box, found.meter, tmp_path).run(job)
    assert (run.end, run.detail) == ("stalled", nothing_happened(job))
    assert 1.5 <= run.seconds < 12


def test_an_engine_that_waits_for_the_model_is_left_alone(box: Box, tmp_path: Path) -> None:
    with bench(box, tmp_path, [{"text": FIX, "delay": 3}]) as found:
        run = FakeEngine(box, found.meter, tmp_path).run(found.job(stall=1, pulse=object))
    assert run.end == "edited", run


def test_the_owner_reads_for_how_long_nothing_happened(tmp_path: Path) -> None:
    job = EngineJob(tmp_path, "m", (), (), (), "t", ModelChoice("m"), stall=450)
    said = "nothing happened for 450 seconds: no output, no file, no model call, no work of a processor"
    assert nothing_happened(job) == said


# --- the coder -----------------------------------------------------------------------------------------------


class Probe:
    """An engine that does what it is told to with the job."""

    name = "probe"

    def __init__(self, then: Callable[[EngineJob], EngineRun]) -> None:
        self._then = then

    def run(self, job: EngineJob, stop: Callable[[], bool] = never) -> EngineRun:
        return self._then(job)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    yield ledger
    ledger.close()


def coded(folder: Path, ledger: Ledger, then: Callable[[EngineJob], EngineRun], longest: int = 0) -> CodeAnswer:
    """What the coder answers, whose engine does that. `longest`: tokens of its longest answer so far."""
    base = repository(folder / "forge", {"a.py": "A = 1\n"})
    mirror = Mirror(folder / "mirror.git", Remote(str(folder / "forge")))
    mirror.create()
    mirror.fetch("main")
    clock, committer = ManualClock(NOON), Committer(mirror, Outgoing({}), Author("t", "t@t"))
    limits = CoderLimits(NANO, 60, 9, 9, ("*.py",), stall=60)
    tickets = CoderTickets(ledger, lambda *_: Route(ModelChoice("m")), limits, clock, lambda *_: longest)
    log = Log(folder / "logs", clock, str)
    coder = Coder(Probe(then), mirror, committer, tickets, Prompts(REPOSITORY / "agents"), log, lambda *_: None)
    run, task = Run(1, "coder", "2026-11-20", "t1", 1), TaskSpec("t1", "T", "x", files=("a.py",))
    return coder.code(run, task, base, folder / "work")


def stuck(job: EngineJob) -> EngineRun:
    return EngineRun("stalled", nothing_happened(job), (), "", 1.0)


def test_a_run_that_was_stuck_is_lost_and_no_failure_of_its_task(tmp_path: Path, ledger: Ledger) -> None:
    with pytest.raises(Unavailable, match=r"^nothing happened for 60 seconds: "):
        coded(tmp_path, ledger, stuck)


def test_an_engine_that_somebody_kills_begins_once_more_on_fresh_files(tmp_path: Path, ledger: Ledger) -> None:
    seen: list[list[str]] = []

    def killed(job: EngineJob) -> EngineRun:
        seen.append(sorted(path.name for path in job.folder.iterdir()))
        (job.folder / "half written").touch()
        return EngineRun("killed", "the engine was ended by SIGKILL", (), "", 1.0)

    with pytest.raises(Unavailable, match=r"^the engine was ended by SIGKILL, twice$"):
        coded(tmp_path, ledger, killed)
    assert seen == [["a.py"], ["a.py"]]


@pytest.mark.parametrize(
    ("longest", "needed", "rooms"),
    [
        pytest.param(0, 100, [8_000], id="nothing is known: all of it"),
        pytest.param(100, 4_000, [4_000], id="it fits"),
        pytest.param(2_000, 6_000, [6_000], id="it fits in three times the longest"),
        pytest.param(100, 4_001, [4_000, 8_000], id="it does not: once more with all of it"),
        pytest.param(100, 8_001, [4_000, 8_000], id="it never does"),
        pytest.param(9_000, 8_001, [8_000], id="it never does, and had all of it"),
    ],
)
def test_an_answer_has_the_room_that_such_answers_need_and_one_that_is_cut_is_asked_for_again(
    tmp_path: Path, ledger: Ledger, longest: int, needed: int, rooms: list[int]
) -> None:
    """Whatever is needed: what was cut is never taken, and nothing of it is in the folder of the next run."""
    seen: list[int] = []

    def answers(job: EngineJob) -> EngineRun:
        assert (job.folder / "a.py").read_text() == "A = 1\n"
        most = job.model.max_tokens
        seen.append(most)
        ticket = ledger.ticket(job.ticket)
        assert ticket
        call = ledger.reserve(ticket, Ask("m", Rates(1, 1, 1, 1, 1), "v1", 5, most), Caps(NANO, NANO, NANO), NOON)
        assert isinstance(call, Reservation)
        stop = "end_turn" if needed <= most else "max_tokens"
        ledger.settle(call, 1, CallEnding(answered=200, stop_reason=stop), NOON)
        (job.folder / "a.py").write_text(f"A = {most}\n")
        return EngineRun("edited", "", ("a.py",), "", 1.0)

    answer = coded(tmp_path, ledger, answers, longest)
    assert seen == rooms
    assert isinstance(answer, Coded) is (needed <= rooms[-1])
    assert isinstance(answer, Coded) or (isinstance(answer, NotCoded) and "longer than max_tokens" in answer.reason)


def test_the_engine_is_told_by_what_the_meter_does_that_something_happens(tmp_path: Path, ledger: Ledger) -> None:
    alive: list[bool] = []

    def look(job: EngineJob) -> None:
        assert job.pulse
        alive.append(job.pulse() != job.pulse())

    def works(job: EngineJob) -> EngineRun:
        look(job)
        ticket, rates = ledger.ticket(job.ticket), Rates(1, 1, 1, 1, 1)
        assert ticket
        call = ledger.reserve(ticket, Ask("m", rates, "v1", 5, 5), Caps(NANO, NANO, NANO), NOON)
        assert isinstance(call, Reservation)
        look(job)
        ledger.settle(call, 1, CallEnding(answered=200), NOON)
        look(job)
        return stuck(job)

    with pytest.raises(Unavailable):
        coded(tmp_path, ledger, works)
    assert alive == [False, True, False]


def test_a_run_that_is_cut_because_the_program_stops_leaves_no_open_ticket(tmp_path: Path, ledger: Ledger) -> None:
    tickets: list[str] = []

    def cut(job: EngineJob) -> EngineRun:
        tickets.append(job.ticket)
        raise Stopping("the program is being stopped")

    with pytest.raises(Stopping):
        coded(tmp_path, ledger, cut)
    ticket = ledger.ticket(tickets[0])
    assert ticket and ticket.closed
