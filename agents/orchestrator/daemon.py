"""Day after day: at each tick, what is due is begun, and everything that can be done goes on. It does not end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from agents.orchestrator.agent import Orchestrator
from agents.orchestrator.pauses import Service
from shared.domain.errors import Replaced, Stopping, TeamError
from shared.domain.schedule import Due, Outlook, Ran, Schedule, Standing, clock_is_behind, outlook
from shared.edge.forge.forge import ForgeUnavailable, RateLimited
from shared.edge.paths import Stamp, stamp
from shared.edge.repo.remote import RemoteAway

PHASE = "phase"  # its name among what the crew works on: one at a time
HEARING = timedelta(minutes=2)  # between two looks at the forge, while nothing else leads there
TROUBLE_RESTS = timedelta(minutes=1)  # after a tick that failed, twice as long each time
TROUBLE_RESTS_MOST = timedelta(minutes=15)
PHASE_RESTS, MOST_TRIES = timedelta(minutes=30), 6  # of a phase that failed, on its day
WORTH_TELLING = timedelta(minutes=10)  # late by more than this is told

End = Literal["ended", "reload"]


@dataclass(frozen=True)
class Around:
    """What the daemon is told from outside, and tells. `ticking`: calls its argument every so often while it is open.

    `check`: "" or why we end; "reload": with the configuration as it is now. `after`: (phase, whether it ended well).
    """

    ticking: Callable[[Callable[[], None]], AbstractContextManager[None]]
    check: Callable[[], str] = field(default=lambda: "")
    after: Callable[[str, bool], None] = field(default=lambda _phase, _ok: None)
    beat: float = 30.0  # seconds that it waits at most


@dataclass(frozen=True)
class Failed:
    """How often a phase has failed since we began, and until when it is not tried again."""

    times: int = 0
    until: datetime | None = None


class Daemon:
    def __init__(self, orchestrator: Orchestrator, schedule: Schedule, around: Around) -> None:
        self._orchestrator = orchestrator
        self.desk = orchestrator.desk
        self.crew = orchestrator.crew
        self._schedule = schedule
        self._around = around
        self._ends: End | None = None  # nothing new is begun; when the crew is idle, that is how it ends
        self._heard: datetime | None = None
        self._failed: dict[tuple[str, str], Failed] = {}  # phases of these days, by day and name
        self._vision: Stamp | None = None  # as it was read
        self._vision_before: Stamp | None = None  # at the last tick
        self._trouble = ""  # the words of the last one
        self._troubles = 0
        self._rests_until: datetime | None = None

    def serve(self) -> End:
        """Until it is stopped, or the configuration has changed."""
        chair = self.desk.chair
        try:
            with self._around.ticking(self._wake), chair:
                while (end := self.tick()) is None:
                    chair.wait(self._around.beat)
                return end
        finally:
            self.crew.end()

    def tick(self) -> End | None:
        """By who sits on the chair. Begins what is due and goes on with the work; never waits for a model."""
        self._ends = self._ends or self._must_end()
        if self.desk.stopping() or (self._ends and not self.crew.busy):
            return self._ends or "ended"
        try:
            self._step()
        except Replaced as reason:
            self.desk.tell(str(reason))
            self._ends = "ended"
        except Stopping:
            self._ends = "ended"
        except TeamError as problem:
            self._troubled(str(problem))
        except Exception as bug:  # noqa: BLE001  one bad tick is not the end
            self.desk.keep_bug(bug)
            self._troubled(f"a bug of ours ({type(bug).__name__}); its trace lies in {self.desk.home.logs}")
        else:
            self._troubles, self._trouble = (self._troubles, self._trouble) if self._is_troubled() else (0, "")
        return None

    def _wake(self) -> None:
        with self.desk.chair as chair:
            chair.wake()

    def _must_end(self) -> End | None:
        match self._around.check():
            case "":
                return None
            case "reload":
                self.desk.tell("config/ has changed: it counts as soon as what runs now is done")
                return "reload"
            case why:
                self.desk.tell(why)
                return "ended"

    # -- a tick -----------------------------------------------------------------------------------------------

    def _step(self) -> None:
        self.crew.raise_failure()
        if self._ends:
            return
        now = self.desk.clock.now()
        if clock_is_behind(now, self.desk.plans.newest_day()):
            raise TeamError(_BEHIND.format(now=now, newest=self.desk.plans.newest_day()))
        seen = outlook(self._schedule, now, self._ran)
        for missed in seen.missed:
            self._miss(missed)
        if PHASE not in self.crew.busy:
            self._begin(seen)
        self._work(seen)
        self._orchestrator.work_begins()  # what a service that was away has kept from the owner

    def _ran(self, day: str) -> Mapping[str, Standing]:
        """A phase that failed is tried again."""
        return {name: self._standing(day, name, ran) for name, ran in self.desk.plans.phases_of(day).items()}

    def _standing(self, day: str, name: str, ran: Ran) -> Standing:
        return "begun" if ran.standing == "failed" and self._may_try(day, name) else ran.standing

    def _may_try(self, day: str, name: str) -> bool:
        failed = self._failed.get((day, name), Failed())
        return failed.times < MOST_TRIES and (failed.until is None or self.desk.clock.now() >= failed.until)

    def _miss(self, missed: Due) -> None:
        text = f"nobody was there at its time, and it is {in_words(missed.late)} too late for it now"
        self.desk.tell(f"{missed.day}: {missed.name}: {text}")
        self.desk.plans.phase_missed(missed.day, missed.name, self.desk.clock.now(), text)

    def _begin(self, seen: Outlook) -> None:
        """The next phase that is due; without one, a vision that has changed since it was read, and has rested."""
        now, before = self._stamp(), self._vision_before
        self._vision_before = now
        if seen.due:
            self._begin_phase(seen.due)
        elif now == before and self._is_unread() and self._may_try(self.desk.day(), "morning"):
            self.crew.give(PHASE, partial(self._phases, self.desk.day(), self._read_already()), beside=True)

    def _is_unread(self) -> bool:
        """VISION.md has changed since it was read today."""
        return self._stamp() != self._vision and bool(self._read_already())

    def _read_already(self) -> tuple[str, ...]:
        """What was made of the vision today, until the evening."""
        ran = self.desk.plans.phases_of(self.desk.day())
        return tuple(name for name in ("morning", "planning") if name in ran) if "wrap_up" not in ran else ()

    def _begin_phase(self, due: Due) -> None:
        if due.late > WORTH_TELLING:
            self.desk.tell(f"{due.name} is begun {in_words(due.late)} late: nobody was there at its time")
        if due.name == "wrap_up":
            self.desk.plans.phase_ended(due.day, "work", self.desk.clock.now())
        self.crew.give(PHASE, partial(self._phases, due.day, (due.name,)), beside=True)

    def _phases(self, day: str, names: tuple[str, ...]) -> None:
        for name in names:
            read = self._stamp()
            ended = self._orchestrator.phase(day, name)
            if name == "morning" and ended:
                self._vision = read
            with self.desk.chair.left():
                self._around.after(name, ended)
            if not ended:
                times = self._failed.get((day, name), Failed()).times + 1
                of_the_day = {key: failed for key, failed in self._failed.items() if key[0] == day}
                self._failed = of_the_day | {(day, name): Failed(times, self.desk.clock.now() + PHASE_RESTS)}
                return

    def _work(self, seen: Outlook) -> None:
        now = self.desk.clock.now()
        if not seen.working or self._is_unread() or (self._rests_until and now < self._rests_until):
            return  # what is not wanted any more is not begun
        self.desk.plans.phase_begins(self.desk.day(), "work", now)
        if self._hears(now):
            self._orchestrator.round()

    def _hears(self, now: datetime) -> bool:
        """Looks at the forge, if it is time; False while it does not answer."""
        pauses = self._orchestrator.pauses
        if pauses.rests(Service.FORGE):
            return True  # the round says why it rests
        if self._heard and now - self._heard < HEARING and not pauses.outage(Service.FORGE):
            return True
        try:
            self._orchestrator.hear()
        except RateLimited as limit:
            pauses.away(Service.FORGE, limit, limit.wait)
            return False
        except (ForgeUnavailable, RemoteAway) as problem:
            pauses.away(Service.FORGE, problem)
            return False
        self._heard = now
        return True

    # -- details ----------------------------------------------------------------------------------------------

    def _stamp(self) -> Stamp:
        return stamp(self.desk.home.vision)

    def _is_troubled(self) -> bool:
        return self._rests_until is not None and self.desk.clock.now() < self._rests_until

    def _troubled(self, words: str) -> None:
        """Told once; tried again later, and later each time."""
        rest = min(TROUBLE_RESTS * 2 ** min(self._troubles, 10), TROUBLE_RESTS_MOST)
        self._troubles += 1
        self._rests_until = self.desk.clock.now() + rest
        if words != self._trouble:
            self._trouble = words
            self._orchestrator.tell_trouble(words)


_BEHIND = (
    "the clock says {now:%Y-%m-%d}, but the team has worked on {newest} already: correct the clock, "
    "or if it is right now, type: python main.py resume"
)


def in_words(time: timedelta) -> str:
    """3 h 05 min."""
    minutes = round(time.total_seconds() / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
