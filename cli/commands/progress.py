"""The team at work in this terminal: its lines, and on a terminal one line below them that is renewed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from sisimpur.cli.terminal.printing import pasteable, plain
from sisimpur.cli.wiring.lifetime import Quitting, quitting
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.store.activity import Activity

if TYPE_CHECKING:
    from rich.text import Text

    from sisimpur.agents.orchestrator.day import Orchestrator
    from sisimpur.cli.wiring.team import Mode

LOOKS = 2  # per second
PHASES = {
    "orchestrator": "morning",
    "researcher": "research",
    "planner": "planning",
}  # whose work it is; everybody else's is the work phase


PrintLine = Callable[[str], None]
OpenTeam = Callable[[Records, PrintLine, Quitting], "AbstractContextManager[Orchestrator]"]


def team_opener(mode: Mode) -> OpenTeam:
    """Import the team when it is opened: what only asks for work to be done need not load it."""

    def opened(records: Records, print_line: PrintLine, quit_: Quitting) -> AbstractContextManager[Orchestrator]:
        from sisimpur.cli.wiring.team import open_team

        return open_team(records, print_line, quit_=quit_, mode=mode)

    return opened


def in_the_foreground(records: Records, open_team: OpenTeam, work: Callable[[Orchestrator], None]) -> list[str]:
    """Let the team do its work, with a line for each step. Return its problems; KeyboardInterrupt after a signal."""
    with showing(records) as show, quitting() as quit_:

        def print_line(text: str) -> None:
            show(f"{records.clock.now():%H:%M:%S}  {plain(pasteable(text, records.home.root))}")

        with open_team(records, print_line, quit_) as orchestrator:
            work(orchestrator)
        if quit_.asked():
            raise KeyboardInterrupt
    return orchestrator.problems


@contextmanager
def showing(records: Records) -> Iterator[PrintLine]:
    """Yield what prints a line. Without a terminal there is no line that is renewed."""
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
    """One line: who is at work, on what, for how long, how much of today's cap is used. Safe in any thread."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._activity = Activity(records.db)
        self._before = self._activity.newest_run()  # what was cut off before is nobody's work now
        self._seen = ""

    def rendered(self) -> Text:
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")

    def line(self) -> str:
        """Return the line; the one before, if the database is busy."""
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
