"""Planted faults, shown to tests one after the other, as far as there is time. Pure but for these runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sisimpur.agents.qa.runner.second_run import BUSY, HANGS, room_for_faults
from sisimpur.agents.qa.unheld.mutants import FaultsTried, Mutant
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.evidence import SuiteRun


@dataclass(frozen=True)
class AskedTests:
    """Tests that are asked. `by`: their files; empty: all. `first`: the run of the change. `wall`, `work`: seconds that
    one run of them takes on the wall, and of processors; the same where nobody counted.
    """

    first: SuiteRun
    by: tuple[str, ...]
    wall: float
    work: float

    @property
    def fits(self) -> bool:
        """Whether there is time for one run."""
        return self.work <= room_for_faults(self.first.cpu or self.first.seconds)

    @property
    def limit(self) -> float:
        """Seconds on the wall: a run that takes longer hangs."""
        times, seconds = HANGS
        return times * self.wall + seconds


def faults_tried(
    planted: Sequence[Mutant],
    asked: AskedTests,
    shown: Callable[[Mutant], SuiteRun],
    notices_nothing: Callable[[SuiteRun], bool],
) -> FaultsTried:
    """Show them while they fit. Unavailable ends it.

    One that hangs counts as one that ends: how much is computed until its limit is a matter of the machine.
    """
    tried = FaultsTried(by=asked.by)
    with suppress(Unavailable):
        for mutant, run in _runs(planted, asked, shown):
            alive = (*tried.survivors, mutant) if notices_nothing(run) else tried.survivors
            tried = replace(tried, count=tried.count + 1, survivors=alive, seconds=tried.seconds + run.seconds)
    return tried


def _runs(
    planted: Sequence[Mutant], asked: AskedTests, shown: Callable[[Mutant], SuiteRun]
) -> Iterator[tuple[Mutant, SuiteRun]]:
    room, most = (room_for_faults(whole) for whole in (asked.first.cpu or asked.first.seconds, asked.first.seconds))
    work, each, passed = 0.0, asked.work, 0.0
    for mutant in planted:
        if work + each > room or passed > BUSY * most:
            return
        run = shown(mutant)
        each = (run.cpu or run.seconds) if run.is_whole else each  # without lines being counted it takes less
        work, passed = work + each, passed + run.seconds
        yield mutant, run
