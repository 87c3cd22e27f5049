"""Days that pass as fast as their work is done: the daemon on the stage, with a clock that a story sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sisimpur.agents.orchestrator.daemon import Daemon, End, Outside
from sisimpur.cli.wiring.lifetime import Quitting, Stop
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.machine.pressure import Tight
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.system.clock import ManualClock
from tests.journey.stage import ScriptedWorkshop, Stage

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
STEP = timedelta(minutes=15)
LONGEST = 60.0  # seconds that anything on this stage may take


@dataclass
class Days:
    """A daemon between two ticks, as often as the story wants it."""

    records: Records
    clock: ManualClock
    daemon: Daemon
    stop: Stop
    after: list[tuple[str, bool]]
    waits: list[Sequence[Wait]] = field(default_factory=list)  # after each tick
    end: End | None = None

    def until(self, at: datetime, step: timedelta = STEP) -> None:
        """Tick after tick; time stands while somebody works."""
        while self.end is None and self.clock.now() < at:
            self.clock.set(min(at, self.clock.now() + step))
            self.tick()

    def tick(self) -> None:
        """As many as lead to anything."""
        lock = self.daemon.session.lock
        with lock:
            for _ in range(200):
                self.end = self.daemon.tick()
                if self.end or not self.daemon.pool.busy:
                    return
                lock.wait(LONGEST)
        raise AssertionError("it never comes to rest")

    def phases(self, day: str = "2026-11-20") -> Mapping[str, str]:
        return {name: ran.standing for name, ran in self.records.plans.phases_of(day).items()}


@contextmanager
def days(
    stage: Stage,
    clock: ManualClock,
    check: Callable[[], End | None] = lambda: None,
    tight: Callable[[], Sequence[Tight]] = lambda: (),
) -> Iterator[Days]:
    """One daemon's life on the stage. `tight`: what of its machine is nearly used up."""
    stop, after, waits = Stop(), list[tuple[str, bool]](), list[Sequence[Wait]]()
    outside = Outside(lambda _: nullcontext(), check, lambda phase, ok: after.append((phase, ok)), waits.append, tight)

    def make(records: Records, *_: object) -> ScriptedWorkshop:
        return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

    with (
        stage.records(clock) as records,
        stage.open_team(records, stage.said.append, make, lambda _: stage.services, Quitting(stop), "daemon") as team,
    ):
        yield Days(records, clock, Daemon(team, records.settings.schedules.schedule, outside), stop, after, waits)
