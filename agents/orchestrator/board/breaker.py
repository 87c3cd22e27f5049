"""What keeps everybody from working for a while: a cap, a model or a forge that is away. No task is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sisimpur.shared.forge.forge import RateLimited
from sisimpur.shared.model.errors import ForgeUnavailable, TeamError
from sisimpur.shared.model.schedule import Wait, back_off
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.ticket import LIFTED
from sisimpur.shared.system.clock import Clock

FIRST, LONGEST = timedelta(minutes=1), timedelta(minutes=10)  # before it is asked again; a model always the longest


class Service(StrEnum):
    MODEL = "the model"
    FORGE = "the forge"
    DEPLOYS = "deploying"

    @property
    def verbs(self) -> tuple[str, str]:
        """Of its outage, and of its end."""
        return ("is held up", "goes on") if self is Service.DEPLOYS else ("is away", "answers again")


@dataclass(frozen=True)
class Outage:
    since: datetime
    last: datetime  # when it was asked in vain
    until: datetime  # nobody asks again before
    times: int
    words: str


class CircuitBreaker:
    """`day_cap`: of every day, in nano-dollars. `tell`: (service, words of its outage, empty when it is over), once."""

    def __init__(
        self, clock: Clock, ledger: LedgerReader, day_cap: int, tell: Callable[[Service, str], None] = lambda *_: None
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._day_cap = day_cap
        self.tell = tell
        self._outages: dict[Service, Outage] = {}
        self._broke: tuple[str, int, str] = ("", 0, "")
        self._is_halt = False
        self._share: tuple[str, str] = ("", "")
        self._began = clock.now()

    # -- money ------------------------------------------------------------------------------------------------

    def spent(self, problem: TeamError) -> None:
        """A cap stops the spending: until the next day, or until the owner raises it. A halt: until it is lifted."""
        self._broke, self._is_halt = (*self._today(), str(problem)), bool(self._ledger.paused())

    @property
    def broke(self) -> str:
        """Why nothing more can be spent today; empty: it can."""
        *when, words = self._broke
        if self._is_halt and not self._ledger.paused():
            return ""
        return words if words and tuple(when) == self._today() else ""

    def share_spent(self, problem: TeamError) -> None:
        """Upkeep rests until the next day; a raised cap is meant for what the owner wants."""
        self._share = (self._day(), str(problem))

    def no_share(self) -> str:
        """Why no model is asked for upkeep today; empty: one can be."""
        day, words = self._share
        return words if day == self._day() else ""

    def _today(self) -> tuple[str, int]:
        return self._day(), self._ledger.day_cap(self._clock.now(), self._day_cap)

    def _day(self) -> str:
        return self._clock.now().date().isoformat()

    # -- services ---------------------------------------------------------------------------------------------

    def took(self, problem: TeamError) -> bool:
        """Whether it is the forge's own affair, so that nobody asks it for a while."""
        if not isinstance(problem, ForgeUnavailable | RateLimited):
            return False
        self.away(Service.FORGE, problem, problem.wait if isinstance(problem, RateLimited) else 0.0)
        return True

    def away(self, service: Service, problem: TeamError, wait: float = 0.0) -> None:
        """`wait`: seconds that the service itself asks for."""
        now, before = self._clock.now(), self._outages.get(service)
        times = before.times + 1 if before else 1
        first = LONGEST if service is Service.MODEL else FIRST
        rest = timedelta(seconds=wait) or back_off(times - 1, first, LONGEST)
        since = before.since if before else now
        self._outages[service] = Outage(since, now, now + rest, times, str(problem))
        if before is None:
            self.tell(service, str(problem))

    def answers(self, service: Service) -> None:
        if self._outages.pop(service, None):
            self.tell(service, "")

    def rests(self, service: Service) -> Outage | None:
        """While nobody asks it."""
        outage = self._outages.get(service)
        return outage if outage and outage.last <= self._clock.now() < outage.until else None

    def no_model(self) -> str:
        """Why no model is asked now, for want of money or of an answer; empty: it can be."""
        outage = self.outage(Service.MODEL)
        if outage and self._ledger.was_answered(outage.last):
            is_paused = LIFTED in outage.words and bool(self._ledger.paused_models())
            if not is_paused:  # another model may answer meanwhile; this one is asked when the owner has said so
                self.answers(Service.MODEL)
        resting = self.rests(Service.MODEL)
        return self._ledger.paused() or self.broke or (resting.words if resting else "")

    def has_answered(self) -> bool:
        """Whether a model has, since we began."""
        return self._ledger.was_answered(self._began)

    def outage(self, service: Service) -> Outage | None:
        return self._outages.get(service)

    # -- for who looks on -------------------------------------------------------------------------------------

    def waits(self) -> Iterator[Wait]:
        if halted := self._ledger.paused():
            yield Wait("halt", why=halted)
        elif self.broke:
            yield Wait("cap", why=self.broke)
        if away := self.outage(Service.MODEL):
            yield Wait("model", away.since, away.until, away.words)
        if away := self.outage(Service.FORGE):
            yield Wait("forge", away.since, away.until, away.words)
        if away := self.outage(Service.DEPLOYS):
            yield Wait("deploys", away.since, away.until, away.words)
