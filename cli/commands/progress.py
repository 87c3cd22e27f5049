"""What a running day shows: its lines, and on a terminal one line below them that lives."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from cli.terminal.text import plain
from cli.wiring.records import Records
from shared.model.errors import TeamError
from shared.money.token_budget import cents
from shared.store.activity import Activity

if TYPE_CHECKING:
    from rich.text import Text

LOOKS = 2  # per second
PHASES = {
    "orchestrator": "morning",
    "researcher": "research",
    "planner": "planning",
}  # whose work it is; everybody else's is the work phase


@contextmanager
def showing(records: Records) -> Iterator[Callable[[str], None]]:
    """What prints a line. Where nobody can see a line that lives, lines are all there is."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda line: print(line, flush=True)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    glance = Glance(records)
    with Live(get_renderable=glance.rendered, console=console, refresh_per_second=LOOKS, transient=True):
        yield lambda line: console.print(line, markup=False, soft_wrap=True)


class Glance:
    """Who is at work now, on what, for how long, and how much of today's cap is used. Looks from any thread."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._activity = Activity(records.db)
        self._before = self._activity.newest_run()  # what was cut off before is nobody's work now
        self._seen = ""

    def rendered(self) -> Text:
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")

    def line(self) -> str:
        """What was seen last, if the database is busy."""
        with suppress(TeamError):
            self._seen = f"{self._work()}  |  {self._money()}"
        return self._seen

    def _work(self) -> str:
        runs = self._activity.open_runs(self._before)
        if not runs:
            return "looking what comes next"
        run = runs[-1]
        elapsed = timedelta(seconds=round((self._records.clock.now() - run.since).total_seconds()))
        doing = f"{run.agent} on {run.task}" if run.task else run.agent
        return plain(f"{PHASES.get(run.agent, 'work')}: {doing}, {elapsed}")

    def _money(self) -> str:
        records, day = self._records, self._records.day()
        totals = records.spending.totals(day, records.spending.cap_of(day, records.settings.policy.budget.day))
        return f"${cents(totals.used)} of ${cents(totals.cap)} today"
