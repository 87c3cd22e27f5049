"""`run-day` and `plan --dry-run`: a day in the foreground, or a look at what it would be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from sisimpur.cli.terminal.arguments import DONE, PROBLEM, Arguments
from sisimpur.cli.terminal.printing import command, pasteable, plain, print_line, print_list
from sisimpur.cli.views.pulls import pull_line, remember_pulls
from sisimpur.cli.views.vision import GoalFate, as_written, goal_fates, vision_facts, vision_lines
from sisimpur.cli.wiring.lifetime import Quitting, quitting
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.text import counted, shortened
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.system.paths import read_text

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
        self._before = records.activity.newest_run()  # what was cut off before is nobody's work now
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
        runs = self._records.activity.open_runs(self._before)
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


MOST_NAMED = 5  # problems of a day in its last line
LONGEST_NAMED = 200  # characters of each


def run_day(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """Return 1 if a phase had a problem or a task has failed today, named in the last line; all else was done."""
    from sisimpur.shared.sandbox.box_usage import require_room

    with open_records(arguments.home, environment) as records:
        require_room(arguments.home)  # before anything is paid for work that cannot be done
        problems = in_the_foreground(
            records, team_opener("day"), lambda team: team.run_day(arguments.until, _patience(arguments))
        )
        remember_pulls(records)
        _give_to_outlets(records)
        _tidy_talk(records)
        wrong = [*problems, *failed_today(records)]
        if records.journal.merged_on(records.day()) and (typed := pull_line(records)):
            print(f"in your clone, what was merged comes with: {plain(typed)}")
    if wrong:
        more = f"; and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        text = "; ".join(shortened(line, LONGEST_NAMED) for line in wrong[:MOST_NAMED])
        told = f"{plain(pasteable(text, arguments.home))}{more}; see: {command(arguments.home, 'status')}"
        print(f"run-day: {told}", file=sys.stderr)
    return PROBLEM if wrong else DONE


def _give_to_outlets(records: Records) -> None:
    """What does not get through goes with the next day."""
    if records.outlets:
        from sisimpur.cli.wiring.services import relay_of

        for line in relay_of(records).step():
            print(plain(line))


def _tidy_talk(records: Records) -> None:
    from sisimpur.cli.wiring.housekeeping import tidy_talk

    now, talk = records.clock.now(), records.settings.policy.talk
    for line in tidy_talk(records.home, records.db, now, records.ledger.believes(now), talk):
        print(plain(pasteable(line, records.home.root)))


def _patience(arguments: Arguments) -> timedelta:
    """How long it stays while the owner is awaited. A week stands for "until nothing waits"."""
    if arguments.wait is None:
        return timedelta()
    return timedelta(minutes=arguments.wait) if arguments.wait else timedelta(days=7)


def failed_today(records: Records) -> list[str]:
    """Name the tasks that used up their attempts today; what the owner cancelled is no problem."""
    found = []
    for task in records.store.names()[State.FAILED]:
        history = records.journal.history(task)
        if history and history[-1].event is Event.EXHAUSTED and history[-1].at[:10] == records.day():
            found.append(f"{task} has failed: {history[-1].note}")
    return found


def plan(arguments: Arguments) -> int:
    """Print what the grammar reads and what would be planned. Ask no model, change nothing."""
    with open_records(arguments.home) as records:
        text = _vision_text(records)
        facts, before = vision_facts(records, text), records.plans.accepted()
        fates = goal_fates(records, as_written(text, before.vision if before else None))
    capacity, inbox = records.settings.policy.capacity.tasks_per_day, records.settings.target.file.inbox
    if inbox.owners or inbox.label:
        print("issues are as they were read last; run-day reads them anew")
    change = {goal["id"]: goal["change"] for goal in facts["goals"]}
    planned, left = [one for one in fates if not one.why], [one for one in fates if one.why]
    print(f"{counted(len(planned), 'goal')} to be planned (at most {capacity} tasks a day){':' if planned else ''}")
    if not fates:
        print_line(f"VISION.md has no open goal; write a bullet below a priority in {records.home.vision}", 4)
    for number, one in enumerate(planned):
        print_line(f"  {_goal(one, change)}{FULL if number == capacity else ''}", 4)
    print_list("not planned now", (f"{_goal(one, change)}: {one.why}" for one in left))
    print_list("done: ticked off", facts["done"])
    print_list(
        "removed; what is not begun of it is cancelled", (f"{one['id']}  {one['text']}" for one in facts["removed"])
    )
    print_list("ideas, looked up on the web once", (one["text"] for one in facts["ideas"]))
    print_list(
        "notes and lines to look at",
        (f"{name}: {pasteable(line, arguments.home)}" for name, line in vision_lines(facts)),
    )
    return 0


FULL = " (from here on only if those above leave room: each takes a task or more)"


def _goal(one: GoalFate, change: Mapping[str, str]) -> str:
    new = f", {change[one.goal.id]}" if change.get(one.goal.id) else ""
    return f"{one.goal.id}  {one.goal.title} ({one.goal.priority}{new})"


def _vision_text(records: Records) -> str:
    try:
        return read_text(records.home.vision)
    except FileNotFoundError:
        raise Misconfigured(f"{records.home.vision} is missing; write your goals there") from None
