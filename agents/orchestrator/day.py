"""VISION.md -> DailyPlan -> Report: the phases of a day, and a round of the daemon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sisimpur.agents.orchestrator.board.breaker import CircuitBreaker, Service
from sisimpur.agents.orchestrator.board.events import DayPlanned, Evening, Events, Morning, TeamEvent
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.decide import Rest
from sisimpur.agents.orchestrator.integration.partial_goals import given_back
from sisimpur.agents.orchestrator.loop import Hearing, Work
from sisimpur.agents.orchestrator.planning.morning import MorningReading
from sisimpur.agents.orchestrator.planning.planning import Planning
from sisimpur.agents.orchestrator.planning.researching import Researching
from sisimpur.agents.orchestrator.telling import Telling
from sisimpur.agents.orchestrator.upkeep.upkeeping import Upkeep
from sisimpur.agents.orchestrator.vision.goal_ids import wordings
from sisimpur.agents.orchestrator.workers import BackgroundDeploys, WorkerPool
from sisimpur.shared.forge.forge import RateLimited
from sisimpur.shared.model.errors import ModelAway, Refused, Stopping, Stumble, TeamError, Unavailable
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.text import counted
from sisimpur.shared.model.work import Question
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.repo.mirror import Mirror

PATIENCE = timedelta(minutes=10)  # the longest rest that is waited for
MOST_PAUSES = 6  # for a model that does not answer
FORGE_PATIENCE = 1_800.0  # seconds that all limits of the forge together may cost
BEAT = 60.0  # seconds between two looks while others work


@dataclass(eq=False)
class Foreground:
    """One phase of one day, for one caller who waits.

    `hear`: looks at the forge. `background`: after each round, begins what goes on beside the tasks.
    """

    work: Work
    hear: Callable[[], None]
    background: Callable[[], None]
    session: Session
    breaker: CircuitBreaker
    pool: WorkerPool
    _forge_patience: float = field(default=FORGE_PATIENCE, init=False)

    def until_quiet(self, hears: bool = True) -> str:
        """Every move there is -> why it rests now. `hears`: the forge is looked at first."""
        try:
            with self.session.lock:
                while hears and not self._heard():
                    pass
                return self._until_quiet()
        finally:
            self.pool.end()

    def pause(self, seconds: float) -> None:
        """Whoever asks us to end is heard within a second."""
        self._sleep(self.session.now() + timedelta(seconds=seconds))

    def _until_quiet(self) -> str:
        while True:
            rest = self.work.round()
            self.background()
            if self.pool.busy:
                self.session.lock.wait(BEAT)
            elif not self._waited(rest):
                if outage := self.breaker.rests(Service.DEPLOYS):
                    self.work.problems.append(outage.words)
                return f"{rest.why}{self._left(rest.why)}"

    def _left(self, why: str) -> str:
        """What the model would have gone on with; empty: we rest for another reason."""
        outage = self.breaker.rests(Service.MODEL)
        if outage is None or outage.words != why:
            return ""
        task = self.work.waits_for_model()
        left = f"{task} comes next" if task else "no task waits for it"
        return f"; {left}; when it answers, type: python main.py run-day"

    def _heard(self) -> bool:
        """False: after a pause that the forge has asked for, once more."""
        try:
            self.hear()
        except RateLimited as limit:
            if limit.wait > self._forge_patience:
                raise
            self.breaker.took(limit)
            if not self._wait_for_forge(self.session.now() + timedelta(seconds=limit.wait), str(limit)):
                raise
            return False
        return True

    def _waited(self, rest: Rest) -> bool:
        """False: it rests for longer than anybody would wait here."""
        if outage := self.breaker.rests(Service.FORGE):
            return self._wait_for_forge(outage.until, outage.words)
        until, now = rest.until or self._model_is_asked_again(rest.why), self.session.now()
        if until is None or until > now + PATIENCE or self.session.stopping():
            return False
        self.session.tell(f"resting until {until:%H:%M:%S}: {rest.why}")
        self._sleep(until)
        return True

    def _model_is_asked_again(self, why: str) -> datetime | None:
        """None: we rest for another reason, it was away too often, or it was never there since we began."""
        outage = self.breaker.rests(Service.MODEL)
        is_short = outage and outage.times <= MOST_PAUSES and self.breaker.has_answered()
        return outage.until if outage and outage.words == why and is_short else None

    def _wait_for_forge(self, until: datetime, words: str) -> bool:
        """As long as it says; half an hour in all."""
        seconds = (until - self.session.now()).total_seconds()
        if seconds > self._forge_patience or self.session.stopping():
            self.work.problems.append(words)
            return False
        self._forge_patience -= max(seconds, 1.0)
        self.session.tell(f"{words}; waiting")
        self._sleep(until)
        return True

    def _sleep(self, until: datetime) -> None:
        """Whoever asks us to end is heard within a second."""
        clock = self.session.clock
        with self.session.lock.released():
            while not self.session.stopping() and (left := (until - clock.now()).total_seconds()) > 0:
                clock.sleep(min(left, 1.0))


LOOK = 5.0  # seconds between two looks at what the owner may have answered here
HEARING = timedelta(minutes=1)  # between two looks at the forge meanwhile


@dataclass(frozen=True)
class DayPhases:
    """What the phases of a day do before and after the work."""

    reading: MorningReading
    research: Researching
    planning: Planning
    upkeep: Upkeep
    events: Events


@dataclass(frozen=True)
class Working:
    """The work, and what goes on beside it."""

    work: Work
    hearing: Hearing
    deploys: BackgroundDeploys
    breaker: CircuitBreaker
    pool: WorkerPool

    def hear(self) -> None:
        """What happened at the forge and to the branch since we looked last."""
        self.hearing.hear()
        self.deploys.hear()


class Orchestrator:
    """Runs a day's phases in order. A phase that fails is told and does not keep the others from their work."""

    def __init__(self, phases: DayPhases, working: Working, telling: Telling, messages: Messenger) -> None:
        self.phases = phases
        self.working = working
        self.telling = telling
        self.session = telling.session
        self._messages = messages
        self._rests = ""  # why, as it was told last
        self._broken: set[str] = set()  # phases that did not come to their end
        self._foreground = Foreground(
            working.work, working.hear, working.deploys.begin, self.session, working.breaker, working.pool
        )

    @property
    def problems(self) -> list[str]:
        """What the owner has to mend."""
        return self.telling.problems

    @property
    def mirror(self) -> Mirror:
        return self.phases.planning.branches.mirror

    # -- a day in the foreground ------------------------------------------------------------------------------

    def run_day(self, until: str = "", wait: timedelta = timedelta()) -> None:
        """All phases of today, or those up to `until`. May be repeated: what is done is not done again.

        They belong to the day on which they are begun, also when midnight comes in between. `wait`: so long it stays
        at work while the owner is awaited.
        """
        self.telling.day = day = self.session.day()
        for name in ("morning", "research", "planning", "work", "wrap_up"):
            if self.session.stopping():
                break
            self.phase(day, name)
            if name == "work" and wait:
                self._stay(day, self.session.now() + wait)
            if name == until:
                break
        self.problems.extend(self._messages.problems)
        self._messages.problems.clear()

    def phase(self, day: str, name: str) -> bool:
        """One of them, with what is told after it; whether it came to its end."""
        telling, reporting = self.telling, self.telling.reporting
        telling.day = day
        if name == "morning":
            self.problems.clear()
            telling.safely(reporting.morning, day)
        ended = self._run(name, self._phases()[name], day)
        told_after = {"planning": reporting.planned, "wrap_up": reporting.evening}
        if told := told_after.get(name):
            telling.safely(told, day)
        return ended

    def _phases(self) -> Mapping[str, Callable[[str], None]]:
        return {
            "morning": self._morning,
            "research": lambda day: self.problems.extend(self.phases.research.day(day)),
            "planning": self._planning,
            "work": self._work_phase,
            "wrap_up": lambda day: self._happened(Evening(day)),
        }

    def _run(self, name: str, phase: Callable[[str], None], day: str) -> bool:
        """A phase that fails is told; so is what the owner has to mend after one that came to its end."""
        telling, plans, before = self.telling, self.telling.plans, len(self.problems)
        plans.phase_begins(day, name, self.session.now())
        self._broken.add(name)
        try:
            phase(day)
        except TeamError as error:
            if isinstance(error, Stopping) or self.session.stopping():
                return False  # it was cut, and the next start resumes it
            if isinstance(error, ModelAway):
                self.working.breaker.away(Service.MODEL, error)
            telling.phase_failed(day, name, str(error), before)
            return False
        except Exception as bug:
            if not self.session.is_daemon:
                raise
            telling.phase_failed(day, name, telling.kept(bug), before)
            return False
        finally:
            telling.safely(telling.warn, day)
        self._broken.discard(name)
        plans.phase_ended(day, name, self.session.now(), "; ".join(self.problems[before:]))
        return True

    def _morning(self, day: str) -> None:
        with suppress(Stumble, Unavailable, Refused):  # a branch that is none is told on a day with nothing new, too
            self.phases.planning.branches.main.sync()
        self.phases.reading.read(day)
        self._happened(Morning(day))

    def _planning(self, day: str) -> None:
        self._happened(Morning(day))  # an edit that the owner takes back while we plan is one, too
        self.phases.planning.plan_day(day)
        self.phases.upkeep.look_after(day)
        self._happened(DayPlanned(day))

    def _happened(self, event: TeamEvent) -> None:
        """What the owner has to mend is told once a day."""
        for problem in self.phases.events.happened(event):
            if problem not in self.problems:
                self.problems.append(problem)

    def _work_phase(self, _: str) -> None:
        self.telling.what_waited()
        self._work()

    def _work(self, hears: bool = True) -> None:
        """Until nothing is left to do. The same reason to rest again is not told again."""
        problems = self.working.work.problems
        try:
            why = self._foreground.until_quiet(hears)
        finally:
            self.problems.extend(map(self.telling.clean, problems))
            problems.clear()
        if why != self._rests:
            broken = " and ".join(name for name in ("morning", "planning") if name in self._broken)
            self.session.tell(f"resting: {why}{f'; first mend what went wrong in {broken}' if broken else ''}")
        self._rests = why

    # -- while the owner is awaited -----------------------------------------------------------------------------

    def _stay(self, day: str, until: datetime) -> None:
        """Use each answer as it comes: at the terminal, in files, at the forge. An answered question is planned."""
        told, heard, asked = "", self.session.now(), self.questions()
        while (awaited := self._awaited(day)) and self.session.now() < until and not self.session.stopping():
            if awaited != told:
                self.session.tell(f"{awaited}; staying until {until:%H:%M}, or Ctrl-C")
                told = awaited
            self._foreground.pause(LOOK)
            if asked - (asked := self.questions()):
                self.phase(day, "planning")
            hears = self.session.now() - heard >= HEARING
            heard = self.session.now() if hears else heard
            try:
                self._work(hears)
            except TeamError as problem:
                if not (isinstance(problem, Stopping) or self.session.stopping()):
                    self.telling.trouble(str(problem))
                    self.problems.append(f"work: {self.telling.clean(str(problem))}")
                return

    def _awaited(self, day: str) -> str:
        """What waits for the owner, in words; empty: nothing does."""
        journal = self.phases.planning.books.journal
        failed = journal.times_of(Event.EXHAUSTED, day).keys() & journal.places()[State.FAILED]
        with self.session.lock:
            tasks = sorted({*self.working.work.awaits_owner(), *failed})
        asked = len(self.questions())
        words = [*tasks, *([counted(asked, "question")] if asked else [])]
        return f"waits for you: {', '.join(words)}" if words else ""

    def questions(self) -> frozenset[Question]:
        """What the owner is asked, and has not answered."""
        plans = self.telling.plans
        accepted = plans.accepted()
        return frozenset(plans.asked(wordings(accepted.vision))) if accepted else frozenset()

    def given_back(self) -> frozenset[str]:
        """Tasks that cannot be done as described, of which no planning has heard yet."""
        return frozenset(task.id for task in given_back(self.phases.planning.books.journal))

    # -- a round of the daemon, by who holds the lock ---------------------------------------------------------

    def round(self, held: str = "", is_open: bool = True) -> Rest:
        """Every move there is now; what takes long only begins, and only while it `is_open`. `held`: see Board."""
        self.telling.day = self.session.day()
        rest = self.working.work.round(held, is_open)
        self.working.deploys.begin()
        self.telling.safely(self.telling.warn, self.telling.day)
        problems = self.working.work.problems
        while problems:
            self.telling.trouble(problems.pop(0))
        return rest

    def deploy_now(self) -> None:
        """All that is to be deployed, for one caller who waits; what is in the way is told, or raised."""
        if problem := self.working.deploys.now():
            self.problems.append(problem)
