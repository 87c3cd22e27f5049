"""The audit, or spans of runs -> each outlet, in portions, from the last that it has taken. At least once, in order.

An outlet that is away is asked again later, and later each time. It holds up neither the team nor another outlet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice, takewhile

from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.schedule import Backoff, failed_again
from sisimpur.shared.outlets.cloud_event import CloudEvent, Stream, cloud_event
from sisimpur.shared.outlets.outlet import PORTION, Outlet, OutletBook
from sisimpur.shared.record.audit import AuditBook
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

MOST_PORTIONS, LONGEST = 25, timedelta(seconds=3)  # of a step, for one outlet
FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=15)
Feed = Callable[[int], Iterator[CloudEvent]]


@dataclass(frozen=True)
class EventFeed:
    """`source`: says whose events these are; `clean`: the filter for outgoing text."""

    audit: AuditBook
    source: str
    clean: Callable[[str], str]

    def __call__(self, after: int) -> Iterator[CloudEvent]:
        """Yield what is sealed after the row with this number."""
        rows = takewhile(lambda row: row.hash, self.audit.rows(after=after))
        return (cloud_event(row, self.source, self.clean) for row in rows)


@dataclass
class Relay:
    """`feeds`: what comes after the row with a number; `clean`: the filter for outgoing text."""

    outlets: Sequence[Outlet]
    book: OutletBook
    feeds: Mapping[Stream, Feed]
    clock: Clock
    clean: Callable[[str], str]
    _rests: dict[str, Backoff] = field(default_factory=dict)  # by the name of an outlet that is away

    def step(self) -> Iterator[str]:
        """Give each outlet what is new. Yield lines that say which one is away, or takes events again: each once."""
        for outlet in self.outlets:
            rest = self._rests.get(outlet.name)
            if not (rest and rest.lasts(self.clock.now())):
                yield from self._give(outlet)

    def _give(self, outlet: Outlet) -> Iterator[str]:
        new = self.feeds[outlet.stream](self.book.taken(outlet))
        until = self.clock.now() + LONGEST
        for _ in range(MOST_PORTIONS):
            events = [*islice(new, PORTION)]
            if not events or self.clock.now() > until:
                return
            fault_point("outlet.sending")
            try:
                outlet.take(events)
            except TeamError as problem:
                yield from self._failed(outlet, self.clean(str(problem)))
                return
            fault_point("outlet.sent")
            self._rests.pop(outlet.name, None)
            if self.book.took(outlet, events[-1].id):
                yield f"events to the {outlet.name}: taken again"

    def _failed(self, outlet: Outlet, why: str) -> Iterator[str]:
        now = self.clock.now()
        self._rests[outlet.name] = failed_again(self._rests.get(outlet.name), now, FIRST_REST, LONGEST_REST)
        if self.book.failed(outlet, now, why):
            yield f"events to the {outlet.name}: none is taken ({why}); they wait, and work goes on"
