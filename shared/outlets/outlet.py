"""Outlets: where events go, and how far each has come. What one has not taken waits for it in the audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from sisimpur.shared.model.text import counted
from sisimpur.shared.outlets.cloud_event import CloudEvent, Stream
from sisimpur.shared.store.database import OfDatabase
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import Home

if TYPE_CHECKING:
    from sisimpur.shared.config.settings import Settings

PORTION = 200  # events that an outlet is given at once
NEWEST: Mapping[Stream, str] = {
    "audit": "select coalesce(max(seq), 0) newest from audit where hash <> ''",
    "runs": "select coalesce(max(id), 0) newest from agent_runs where ended_at is not null",
}


class Outlet(Protocol):
    @property
    def name(self) -> str:
        """How the owner calls it."""

    @property
    def stream(self) -> Stream:
        """What it gets."""

    @property
    def address(self) -> str:
        """What tells it from another of its name: a new address gets everything from the first row on. A secret."""

    def take(self, events: Sequence[CloudEvent]) -> None:
        """Take all of them, in their order, for good: they are not offered again.

        TeamError: it is away or must be mended, in words without its address. Perhaps it has some; all come again.
        """


@dataclass(frozen=True)
class OutletStanding:
    """`since`, `why`: it takes nothing; empty: it does."""

    name: str
    taken: int
    behind: int
    since: str
    why: str

    @property
    def words(self) -> str:
        """Say what is wrong with it; empty: nothing, a portion may just be on its way."""
        wait = f"{counted(self.behind, 'event')} behind"
        if self.why:
            return f"events to the {self.name}: none is taken since {self.since[:16]} ({self.why}); {wait}, they follow"
        return f"events to the {self.name}: {wait}, they follow while the team works" if self.behind > PORTION else ""


class OutletBook(OfDatabase):
    def standing(self, outlet: Outlet) -> OutletStanding:
        (last,), (taken, since, why) = self._db.rows(NEWEST[outlet.stream]), self._row(outlet)
        return OutletStanding(outlet.name, taken, max(0, last["newest"] - taken), since, why)

    def taken(self, outlet: Outlet) -> int:
        """The number of the last row that it has; 0: none."""
        return self._row(outlet)[0]

    def took(self, outlet: Outlet, last: int) -> bool:
        """Note that it has all up to this one. Return whether it had taken nothing before."""
        was_away = bool(self._row(outlet)[1])
        self._note(outlet, last, "", "")
        fault_point("outlet.booked")
        return was_away

    def failed(self, outlet: Outlet, now: datetime, why: str) -> bool:
        """Note that it takes nothing. Return whether that is new."""
        since = self._row(outlet)[1]
        self._note(outlet, 0, since or now.isoformat(timespec="seconds"), why)
        fault_point("outlet.failed")
        return not since

    def _row(self, outlet: Outlet) -> tuple[int, str, str]:
        """Return what is taken, since when nothing is, and why."""
        row = self._db.row("select taken, since, why from outlets where key = ?", (_key(outlet),))
        return (row["taken"], row["since"], row["why"]) if row else (0, "", "")

    def _note(self, outlet: Outlet, taken: int, since: str, why: str) -> None:
        self._db.write(
            "insert into outlets (key, taken, since, why) values (?, ?, ?, ?) on conflict do update set"
            " taken = max(taken, excluded.taken), since = excluded.since, why = excluded.why",
            (_key(outlet), taken, since, why),
        )


def _key(outlet: Outlet) -> str:
    return f"{outlet.name} {sha256(outlet.address.encode()).hexdigest()[:16]}"


def outlets_of(home: Home, settings: Settings, clock: Clock) -> Iterator[Outlet]:
    """Yield what the owner has configured. Nothing is opened before the first event."""
    secrets = settings.secrets
    if file := settings.policy.events.file:
        from sisimpur.shared.outlets.event_file import EventFile

        yield EventFile(home.root / file)
    if url := secrets.get("EVENTS_WEBHOOK_URL"):
        from sisimpur.shared.outlets.webhook import Webhook

        yield Webhook(url, secrets.get("EVENTS_WEBHOOK_SECRET"), clock)
    if url := secrets.get("EVENTS_REDIS_URL"):
        from sisimpur.shared.outlets.redis_streams import RedisStreams

        yield RedisStreams(url)
    if url := secrets.get("EVENTS_OTLP_URL"):
        from sisimpur.shared.outlets.otlp import Otlp

        yield Otlp(url, secrets.otlp_headers)
