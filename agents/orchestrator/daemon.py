"""Day after day: at each tick, what is due is begun, and everything that can be done goes on. It does not end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from sisimpur.agents.orchestrator.board.breaker import Service
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.agents.orchestrator.decide import Rest
from sisimpur.shared.machine.pressure import Tight, forbids
from sisimpur.shared.model.errors import Replaced, Stopping, TeamError
from sisimpur.shared.model.schedule import (
    WORK,
    Backoff,
    Due,
    Outlook,
    Ran,
    Schedule,
    Standing,
    Wait,
    clock_is_behind,
    failed_again,
    outlook,
)
from sisimpur.shared.model.work import Question
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.paths import Stamp, stamp

REST = timedelta(seconds=30)  # editors write a file in several steps, and people save before they have finished


class VisionWatch:
    """VISION.md while the daemon runs: whether it has changed since it was read, and has rested since."""

    def __init__(self, vision: Path, clock: Clock) -> None:
        self._path = vision
        self._clock = clock
        self._read: Stamp | None = None
        self._seen: Stamp | None = None
        self._since: datetime | None = None

    def looks_new(self) -> bool:
        """Whether it has changed since we looked last."""
        now, before = self.stamp(), self._seen
        if now != before:
            self._seen, self._since = now, self._clock.now()
        return now != before

    def stamp(self) -> Stamp:
        return stamp(self._path)

    def was_read(self, stamp: Stamp) -> None:
        """As it was at that moment."""
        self._read = stamp

    @property
    def was_ever_read(self) -> bool:
        """By us, since we began."""
        return self._read is not None

    @property
    def is_unread(self) -> bool:
        return self.stamp() != self._read

    @property
    def has_rested(self) -> bool:
        return self._since is not None and abs(self._clock.now() - self._since) >= REST

    @property
    def since(self) -> datetime | None:
        """When we saw it change last."""
        return self._since


REST_ON_THE_MORNING = ("research", "planning")  # what a vision that was read anew leads to
PHASE = "a phase/"  # its name among what the pool works on, where no task has such a one; one at a time
BEAT = 60.0  # seconds that it waits at most, should nobody wake it
HEARING = timedelta(minutes=2)  # between two looks at the forge, while nothing else leads there
TROUBLE_RESTS = timedelta(minutes=1)  # after a tick that failed, twice as long each time
TROUBLE_RESTS_MOST = timedelta(minutes=15)
PHASE_RESTS, MOST_TRIES = timedelta(minutes=30), 4  # of a phase that failed, on its day; twice as long each time
PHASE_RESTS_MOST = timedelta(days=1)
WORTH_TELLING = timedelta(minutes=10)  # late by more than this is told

End = Literal["ended", "reload"]


@dataclass(frozen=True)
class Outside:
    """What wakes the daemon, ends it, and is told by it. `ticking`: calls its argument every so often while it is open.

    `check`: asked at each tick; "reload": begin anew with the configuration as it is now. `after`: (phase, whether it
    ended well), without the lock. `waits`: after each tick, what we wait for, if for anything. `tight`: what of the
    machine is nearly used up.
    """

    ticking: Callable[[Callable[[], None]], AbstractContextManager[None]]
    check: Callable[[], End | None] = field(default=lambda: None)
    after: Callable[[str, bool], None] = field(default=lambda _phase, _ok: None)
    waits: Callable[[Sequence[Wait]], None] = field(default=lambda _: None)
    tight: Callable[[], Sequence[Tight]] = field(default=lambda: ())


class Daemon:
    def __init__(self, orchestrator: Orchestrator, schedule: Schedule, outside: Outside) -> None:
        self._orchestrator = orchestrator
        self.session = orchestrator.session
        self.pool = orchestrator.working.pool
        self._working = orchestrator.working
        self._plans = orchestrator.telling.plans
        self._schedule = schedule
        self._outside = outside
        self._vision = VisionWatch(orchestrator.phases.reading.path, self.session.clock)
        self._ends: End | None = None  # nothing new is begun; when the pool is idle, that is how it ends
        self._heard: datetime | None = None
        self._failed: dict[tuple[str, str], Backoff] = {}  # phases of one day, by day and name
        self._trouble = ""  # the words of the last one
        self._rests: Backoff | None = None
        self._waits: tuple[Wait, ...] = ()  # as the last step found it
        self._asked: frozenset[Question] = frozenset()  # of the owner, as we saw it last
        self._given_back: frozenset[str] = frozenset()  # tasks, likewise

    def serve(self) -> End:
        """Until it is stopped, or the configuration has changed."""
        lock = self.session.lock
        try:
            with self._outside.ticking(self._wake), lock:
                while (end := self.tick()) is None:
                    lock.wait(BEAT)
                return end
        finally:
            self.pool.end()

    def tick(self) -> End | None:
        """Begin what is due and go on with the work; never wait for a model. Called by who holds the lock."""
        end = self._tick()
        self._outside.waits(self._waits_now())
        return end

    def _tick(self) -> End | None:
        if self.session.stopping():
            return "ended"
        if (end := self._outside.check()) == "ended" or not self._ends:
            self._ends = end
        if self._ends:
            self.session.leaving.set()
            return None if self.pool.busy else self._ends
        try:
            self._step()
        except (Replaced, Stopping) as reason:
            self.session.tell(str(reason))
            self._ends = "ended"
        except TeamError as problem:
            self._troubled(str(problem))
        except Exception as bug:  # noqa: BLE001  one bad tick is not the end
            self._troubled(self._orchestrator.telling.kept(bug))
        else:
            if not (self.pool.busy or self._is_troubled()):  # what was begun may fail again
                self._rests, self._trouble = None, ""
        return None

    def _wake(self) -> None:
        with self.session.lock as lock:
            lock.wake()

    # -- a tick -----------------------------------------------------------------------------------------------

    def _step(self) -> None:
        self.pool.raise_failure()
        now, newest = self.session.now(), self._plans.newest_day()
        if clock_is_behind(now, newest):
            raise TeamError(_BEHIND.format(now=now, newest=newest))
        seen = outlook(self._schedule, now, self._ran)
        for missed in seen.missed:
            self._miss(missed)
        if self._vision.looks_new():
            self._failed.clear()  # what failed on other words
        for part in self._outside.tight():
            self._orchestrator.telling.tight(part)
        if PHASE not in self.pool.busy and not self._is_troubled():
            self._begin(seen)
        self._working.deploys.begin()  # what was begun, or ordered, waits for no forge
        rest = self._work(seen)
        self._orchestrator.telling.what_waited()
        self._waits = tuple(self._obstacles()) or tuple(self._idle(seen, rest))

    def _ran(self, day: str) -> Mapping[str, Standing]:
        """A phase that failed is tried again."""
        return {name: self._standing(day, name, ran) for name, ran in self._plans.phases_of(day).items()}

    def _standing(self, day: str, name: str, ran: Ran) -> Standing:
        return "begun" if ran.standing == "failed" and self._may_try(day, name) else ran.standing

    def _may_try(self, day: str, name: str) -> bool:
        failed = self._failed.get((day, name))
        return failed is None or (failed.times < MOST_TRIES and not failed.lasts(self.session.now()))

    # -- phases -----------------------------------------------------------------------------------------------

    def _miss(self, missed: Due) -> None:
        text = f"nobody was there at its time, and it is {in_words(missed.late)} too late for it now"
        self.session.tell(f"{missed.day}: {missed.name}: {text}")
        self._plans.phase_missed(missed.day, missed.name, self.session.now(), text)

    def _begin(self, seen: Outlook) -> None:
        """The next phase that is due; without one, what was made of a vision that has changed, or what is to be
        planned anew: an answer was given, or a task given back."""
        is_held = self._working.breaker.rests(Service.MODEL) or self._forbidden()
        if is_held and not (seen.due and seen.due.name == "wrap_up"):
            return  # what would be read or planned needs a model, and room
        if seen.due:
            self._begin_phase(seen.due)
            return
        day, vision = self.session.day(), self._vision
        may_read = vision.is_unread and vision.has_rested and self._may_try(day, "morning")
        asked, self._asked = self._asked, self._orchestrator.questions()
        given, self._given_back = self._given_back, self._orchestrator.given_back()
        is_news = asked - self._asked or self._given_back - given
        wanted = ("morning", *REST_ON_THE_MORNING) if may_read else ("planning",) if is_news else ()
        names = self._to_repeat(day) if wanted else ()
        if names := tuple(name for name in names if name in wanted):
            self.pool.give(PHASE, partial(self._phases, day, names), background=True)

    def _to_repeat(self, day: str) -> tuple[str, ...]:
        """What was run of the day, until its evening; after a missed morning only for what is written from now on."""
        ran = self._plans.phases_of(day)
        if "morning" not in ran or self.session.now().time() >= self._schedule.evening.at:
            return ()
        if ran["morning"].missed and not self._vision.was_ever_read:
            self._vision.was_read(self._vision.stamp())
            return ()
        return tuple(name for name in ("morning", *REST_ON_THE_MORNING) if name in ran)

    def _begin_phase(self, due: Due) -> None:
        ran = self._plans.phases_of(due.day)
        if due.late > WORTH_TELLING and due.name not in ran:
            self.session.tell(f"{due.name} is begun {in_words(due.late)} late: nobody was there at its time")
        if due.name == "wrap_up":
            self._plans.phase_ended(due.day, WORK, self.session.now(), None)
        rests_on_it = [name for name in REST_ON_THE_MORNING if due.name == "morning" and name in ran]
        self.pool.give(PHASE, partial(self._phases, due.day, (due.name, *rests_on_it)), background=True)

    def _phases(self, day: str, names: tuple[str, ...]) -> None:
        for name in names:
            read = self._vision.stamp()
            ended = self._orchestrator.phase(day, name)
            if self.session.stopping() and not ended:
                return  # nobody has to be alarmed
            if name == "morning" and ended:
                self._vision.was_read(read)
            with self.session.lock.released():
                self._outside.after(name, ended)
            if not ended:
                self._fail(day, name)
                return

    def _fail(self, day: str, name: str) -> None:
        of_the_day = {key: failed for key, failed in self._failed.items() if key[0] == day}
        failed = failed_again(of_the_day.get((day, name)), self.session.now(), PHASE_RESTS, PHASE_RESTS_MOST)
        self._failed = of_the_day | {(day, name): failed}

    # -- work -------------------------------------------------------------------------------------------------

    def _work(self, seen: Outlook) -> Rest | None:
        """Outside of its hours nothing long is begun; what is ready is brought to its end, and answers are followed."""
        now = self.session.now()
        if self._is_troubled():
            return None
        if seen.working and WORK not in self._plans.phases_of(self.session.day()):
            self._plans.phase_begins(self.session.day(), WORK, now)
        self._working.hearing.channel.hear()
        if self._hears(now):
            is_open = seen.working and not self._forbidden()
            return self._orchestrator.round(UNREAD if self._is_held() else "", is_open=is_open)
        return None

    def _forbidden(self) -> tuple[Tight, ...]:
        """What the machine has too little of for anything new; what was begun goes on, and so does a deploy."""
        return forbids(self._outside.tight())

    def _is_held(self) -> bool:
        """What the owner may not want any more is neither begun nor merged."""
        return self._vision.is_unread and bool(self._to_repeat(self.session.day()))

    def _hears(self, now: datetime) -> bool:
        """Looks at the forge, if it is time; False if it does not answer."""
        breaker = self._working.breaker
        if breaker.rests(Service.FORGE):
            return True  # the round says why it rests
        if self._heard and abs(now - self._heard) < HEARING and not breaker.outage(Service.FORGE):
            return True
        try:
            self._working.hear()
        except TeamError as problem:
            if not breaker.took(problem):
                raise
            return False
        self._heard = now
        return True

    # -- for who looks on -------------------------------------------------------------------------------------

    def _waits_now(self) -> tuple[Wait, ...]:
        if self._ends:
            return ()
        if self._rests and self._is_troubled():
            return (Wait("trouble", self._rests.since, self._rests.until, self._trouble),)
        return self._waits

    def _obstacles(self) -> Iterator[Wait]:
        yield from self._working.breaker.waits()
        if found := self._forbidden():
            yield Wait("machine", min(one.since for one in found), why=", ".join(one.words for one in found))
        if self._is_held() and PHASE not in self.pool.busy:
            failed = self._failed.get((self.session.day(), "morning"))
            rested = self._vision.since + REST if self._vision.since else None
            again = failed.until if failed else None
            yield Wait("vision", self._vision.since, again if self._vision.has_rested else rested)

    def _idle(self, seen: Outlook, rest: Rest | None) -> Iterator[Wait]:
        """There is nothing to do: until the next attempt at a task, or the next time of the schedule."""
        if rest and rest.until:
            yield Wait("attempt", until=rest.until)
        elif rest and not self.pool.busy:
            yield Wait("time", until=seen.next_at, why=rest.why if seen.working else "")

    # -- troubles ---------------------------------------------------------------------------------------------

    def _is_troubled(self) -> bool:
        return self._rests is not None and self._rests.lasts(self.session.now())

    def _troubled(self, words: str) -> None:
        """Told once; tried again later, and later each time."""
        self._rests = failed_again(self._rests, self.session.now(), TROUBLE_RESTS, TROUBLE_RESTS_MOST)
        if words != self._trouble:
            self._trouble = words
            self._orchestrator.telling.trouble(words)


UNREAD = "VISION.md may have changed and is not read yet: nothing is begun or merged before it is"
_BEHIND = (
    "the clock says {now:%Y-%m-%d}, but the team has worked on {newest} already: correct the clock, "
    "or if it is right now, type: python main.py resume"
)


def in_words(time: timedelta) -> str:
    """3 h 05 min."""
    minutes = round(time.total_seconds() / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
