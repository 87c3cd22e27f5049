"""A daemon's day in a process of its own, so that it can be killed: python -m tests.journey.daemon_day ROOT MODEL_URL.

It is the real one, lock, epoch and ticker included; only its clock is ours: it stands still while somebody works, and
goes on where the last life has left it. The day ends at half past eleven, or on a later one if tasks are still open.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.cli.commands.serving import Life
from sisimpur.cli.wiring.config_watch import ConfigWatch
from sisimpur.cli.wiring.lifetime import Quitting, quitting
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.system import lock
from tests.journey.gated import BAD, GOOD, Coder, suite
from tests.journey.stage import ScriptedWorkshop, Stage, mends
from tests.mailbox import Mailbox

MORNING, EVENING = datetime(2026, 11, 20, 6, 50, tzinfo=UTC), (23, 30)
LONGEST = timedelta(days=3)  # a day of work may become two, never four
STEP, LONG_STEP = timedelta(minutes=15), timedelta(hours=2)  # the long one while nothing can happen
BEAT = 0.02  # seconds
SETTLES = 4  # steps of each life before it may be called done: what it finds to do first, it does
TOGETHER, AGAIN = 0.5, 5.0  # seconds that one coder waits for the other


class KeptClock:
    """Tells what stands in a file; `pass_` moves it. `was_read`: `now` was asked since then, by others than us."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.shown = datetime.fromisoformat(file.read_text()) if file.exists() else MORNING
        self.was_read = False

    def now(self) -> datetime:
        self.was_read = True
        return self.shown

    def sleep(self, seconds: float) -> None:
        self.pass_(timedelta(seconds=seconds))

    def pass_(self, time: timedelta) -> None:
        self.shown += time
        self.was_read = False
        new = self._file.with_suffix(".new")
        new.write_text(self.shown.isoformat())
        new.replace(self._file)


class TwoCoders:
    """Both begin at once, where there are two. The one that is to mend the sum is wrong at first, and the other is not
    done before that is found out: so whichever is merged last has to be brought up to date.
    """

    def __init__(self) -> None:
        self._both = threading.Barrier(2)

    def __call__(self, folder: Path, job: EngineJob) -> None:
        if "app.py" in job.edit:
            wrong_before = "# tried" in (folder / "app.py").read_text()
            self._meet(TOGETHER)
            Coder(GOOD if wrong_before else BAD)(folder, job)
        else:
            if self._meet(TOGETHER):
                self._meet(AGAIN)
            mends(folder, job)

    def _meet(self, seconds: float) -> bool:
        """Whether the other one came."""
        try:
            self._both.wait(seconds)
        except threading.BrokenBarrierError:
            self._both.reset()
            return False
        return True


def main(root: str, model_url: str) -> int:
    """0 when all is done and told; 1 if the days pass without that."""
    stage = Stage(Path(root), model_url, TwoCoders(), suite)
    stage.services.append(Mailbox(Path(root) / "box"))
    return serve(stage, lambda text: print(text, flush=True))  # noqa: T201  as the daemon does


def serve(stage: Stage, tell: Callable[[str], None]) -> int:
    """One life of the daemon."""
    clock = KeptClock(stage.root / "clock")
    with (
        lock.hold(stage.home.lock) as held,
        open_records(stage.home.root, {}, clock) as records,
        quitting() as quit_,
    ):
        day = Day(stage, clock, quit_)
        life = Life(records, held, ConfigWatch(stage.home, {}, tell), quit_, tell, BEAT, day.open_team)
        with life.lived():
            life.serve()
    return 0 if day.is_done else 1


class Day:
    """Lets the time pass while nobody works, and ends the daemon when there is nothing left to wait for.

    Each time is one that the daemon has seen: on a busy machine its evening would pass before it woke up.
    """

    def __init__(self, stage: Stage, clock: KeptClock, quit_: Quitting) -> None:
        self._stage = stage
        self._clock = clock
        self._quit = quit_
        self.is_done = False

    @contextmanager
    def open_team(self, records: Records, tell: Callable[[str], None], quit_: Quitting) -> Iterator[Orchestrator]:
        with self._opened(records, tell, quit_) as team:
            over = threading.Event()
            passing = threading.Thread(target=self._pass, args=(team, records, over), daemon=True)
            passing.start()
            try:
                yield team
            finally:
                over.set()

    def _opened(
        self, records: Records, tell: Callable[[str], None], quit_: Quitting
    ) -> AbstractContextManager[Orchestrator]:
        def make(records: Records, *_: object) -> ScriptedWorkshop:
            return ScriptedWorkshop(self._stage, records.home.meter_socket, lambda: None)

        return open_team(records, tell, make, lambda _: self._stage.services, quit_, mode="daemon")

    def _pass(self, team: Orchestrator, records: Records, over: threading.Event) -> None:
        steps = 0
        while not (over.wait(BEAT) or self.is_done):
            with team.session.lock as lock:
                if team.working.pool.busy or not self._clock.was_read:
                    continue
                self._clock.pass_(self._step(records))
                steps += 1
                now = self._clock.shown
                self.is_done = steps >= SETTLES and (now.hour, now.minute) >= EVENING and not is_open(records)
                if self.is_done or now > MORNING + LONGEST:
                    assert self._quit.stop
                    self._quit.stop.asked = True
                lock.wake()

    def _step(self, records: Records) -> timedelta:
        hour = self._clock.shown.hour
        if 9 <= hour < 21 and not is_open(records):
            return LONG_STEP
        return STEP


def is_open(records: Records) -> bool:
    """Whether a task waits for somebody of us."""
    there = records.store.all(State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW)
    return any(isinstance(filed.spec, TaskSpec) for filed in there)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
