"""The books -> the owner: a report file for every day, one message that grows with the day, and what cannot wait.

The file is written first: it is the truth, and needs no service. Every step can be repeated after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial

from agents.orchestrator.reports import morning_text, report_notice, report_text
from agents.orchestrator.reports.account import DayAccount
from agents.orchestrator.reports.day_account import NOTHING, DayBooks, pull_addresses, waiting
from agents.orchestrator.reports.deploy_days import DeployDays
from agents.orchestrator.reports.deploy_text import is_told, message
from agents.orchestrator.reports.progress_file import write_progress
from agents.orchestrator.reports.report_picture import picture
from agents.orchestrator.team import Desk
from shared.model.deployment import Deploy, Place
from shared.model.lifecycle import State, is_over
from shared.money.ticket import BudgetWarning
from shared.money.token_budget import cents, month_of
from shared.notify.notice import Notice
from shared.repo.mirror_commits import subjects
from shared.store.plan_book import Trouble
from shared.system.fault import fault_point
from shared.system.paths import write_bytes, write_text

MORNING, EVENING = "morning report", "evening report"  # recorded beside the day's phases
MOST_MISSED = 7  # files for days on which nobody was there
PAUSE = timedelta(minutes=5)  # between two changes of the day's message while the team works


@dataclass(frozen=True)
class EndedTask:
    """A task that is over, or waits for the owner: what may have to be told."""

    task: str
    attempt: int
    waits_for: tuple[str, ...] = ()  # empty: it is over


class Reporting:
    """`aside`: tasks that nobody touches for a while, and why. `places`: where is deployed."""

    def __init__(self, desk: Desk, aside: Callable[[], Mapping[str, str]], places: Sequence[Place] = ()) -> None:
        self._desk = desk
        self._aside = aside
        named = partial(subjects, desk.mirror.path)
        self._deploys = DeployDays(desk.deploys, desk.journal, places, desk.delivery.clean, named)
        self._ended: dict[str, EndedTask] = {}  # tasks that came to an end since we are here
        self._read = desk.journal.newest()  # up to here history was asked which
        self._seen: set[EndedTask] | None = None  # what was told at once; None: nobody has looked yet
        self._shown: set[EndedTask] = set()  # what the day's message shows
        self._shown_at: datetime | None = None

    # -- a day ------------------------------------------------------------------------------------------------

    def morning(self, day: str) -> None:
        """Once per day, before anything else: what happened since the last report, then what is known of today."""
        desk = self._desk
        if desk.plans.has_ended(day, MORNING):
            return
        desk.plans.phase_begins(day, MORNING, desk.clock.now())
        self._catch_up(day)
        self._morning_page(day)
        desk.plans.phase_ended(day, MORNING, desk.clock.now())

    def planned(self, day: str) -> None:
        """The morning's page once more, with the plan; not on a day that has had its evening."""
        if not self._desk.plans.has_ended(day, EVENING):
            self._morning_page(day)

    def tell_what_waited(self) -> None:
        """What a kill, or a service that was not there yet, has kept from the owner."""
        self._shown = self._tell_at_once()

    def step(self, day: str) -> None:
        """After a move: what cannot wait at once, the day's message every few minutes."""
        standing, now = self._tell_at_once(), self._desk.clock.now()
        ended = {one for one in standing - self._shown if not one.waits_for}
        if not ended or self._desk.plans.has_ended(day, EVENING):
            return
        if self._shown_at is None or now - self._shown_at >= PAUSE:
            self._shown, self._shown_at = standing, now
            write_progress(self._desk, day)
            if self._desk.messages.notifiers:
                self._tell_day(report_notice.progress(self._account(day), self._desk.command), as_news=False)

    def _tell_at_once(self) -> set[EndedTask]:
        """What cannot wait -> where it stands now. The whole books are opened only if something new stands there."""
        standing = self._standing()
        if not self._desk.messages.notifiers:
            return standing
        today = self._desk.day()  # midnight may have come since the day's phases began
        if self._seen is None or standing - self._seen:
            self._tell_urgent(today)
            self._seen = standing
        self._desk.messages.flush(today, self._desk.clock.now())
        return standing

    def _standing(self) -> set[EndedTask]:
        """Tasks that are over since we are here, and those that were put before the owner, by the books alone."""
        journal, found = self._desk.journal, set()
        touched = journal.touched_after(self._read)
        self._read = max(touched.values(), default=self._read)
        for known in journal.tasks(touched.keys() | journal.places()[State.IN_REVIEW]).values():
            attempt = known.last.number if known.last else 0
            self._ended.pop(known.id, None)
            if is_over(known.seen_in):
                self._ended[known.id] = EndedTask(known.id, attempt)
            elif known.seen_in is State.IN_REVIEW and (parked := waiting(self._desk, known)):
                found.add(EndedTask(known.id, attempt, parked.reasons))
        return found | set(self._ended.values())

    def _tell_urgent(self, day: str) -> None:
        books = self._books(day)
        if any(self._is_news(notice) for notice in self._urgent(books, day)):
            pulls = pull_addresses(self._desk)  # the forge is asked only if there is news
            for notice in self._urgent(books, day, pulls):
                if self._is_news(notice):
                    self._send(notice)

    def evening(self, day: str) -> None:
        """The report of the day, and the last words of its message."""
        desk = self._desk
        desk.plans.phase_begins(day, EVENING, desk.clock.now())
        account = self._account(day)
        png = self._write(account)
        self._tell_day(report_notice.evening(account, desk.command, png))
        desk.tell(f"report: {desk.home.reports / f'{day}.md'}")
        desk.plans.phase_ended(day, EVENING, desk.clock.now())

    # -- what cannot wait -------------------------------------------------------------------------------------

    def phase_failed(self, day: str, name: str, problem: str) -> None:
        self._send(report_notice.phase_failed(day, Trouble(name, self._desk.delivery.clean(problem))))

    def outage(self, day: str, service: str, verb: str, words: str) -> None:
        """One message per service and day, brought up to date; no `words`: it answers again."""
        self._send(report_notice.outage(day, service, verb, self._desk.delivery.clean(words)))

    def cap_nearly_used(self, day: str, warning: BudgetWarning) -> None:
        """Once for its day or month, and once more against a raised cap."""
        text = f"${cents(warning.used)} of ${cents(warning.cap)} of this {warning.scope} are used"
        period = day if warning.scope == "day" else month_of(day)
        notice = report_notice.cap(day, f"{period}-nearly-{warning.cap}", text, is_reached=False)
        if self._is_news(notice):
            self._send(notice)

    def cap_reached(self, day: str, words: str) -> None:
        """Once per day and amount of its cap: the amounts in its words differ from call to call."""
        desk, words = self._desk, self._desk.delivery.clean(words)
        cap = desk.ledger.cap_of(day, desk.rules.day_cap)
        if self._is_news(report_notice.cap(day, f"{day}-reached-{cap}", words, is_reached=True)):
            self._send(report_notice.cap_reached(self._account(day), words, desk.command))

    def deployed(self, deploy: Deploy, task: str, running: str) -> None:
        """The end of a deploy, once: told again it is brought up to date. `running`: what runs there now; empty: none.

        One that is healthy at staging is no news before it is healthy at production too.
        """
        days = self._deploys
        if self._desk.messages.notifiers and is_told(deploy, days.last):
            self._send(message(days.account(deploy, task), running, days.paused(), self._desk.command))

    def _urgent(self, books: DayBooks, day: str, pulls: Mapping[str, str] = NOTHING) -> Iterator[Notice]:
        for task in books.tasks(pulls):
            if task.asks:
                yield report_notice.asks(day, task, books.attempt(task.id), self._desk.command)
            if task.failed_that_day:
                yield report_notice.gave_up(day, task, books.attempt(task.id), self._desk.command)

    def _is_news(self, notice: Notice) -> bool:
        """Not said yet, on whichever day."""
        messages = self._desk.messages
        return bool(messages.notifiers) and not messages.book.was_said(notice.key.partition(":")[2])

    # -- files ------------------------------------------------------------------------------------------------

    def _catch_up(self, day: str) -> None:
        """A report for every day since the last one: of the last day with work if it has none, and of missed days."""
        plans, last = self._desk.plans, self._desk.plans.last_day(day)
        if last and not plans.has_ended(last, EVENING):
            self._write(self._last(last))
        missed = days_between(last, day)
        older, told = missed[:-MOST_MISSED], missed[-MOST_MISSED:]
        for one in told:
            self._write_page(
                one, report_text.evening(DayAccount(one, "missed", missed=tuple(older)), self._desk.command)
            )
            older = []

    def _write(self, account: DayAccount) -> bytes:
        """The picture first: a report never names one that is not there."""
        png = picture(account, self._desk.clock.now())
        write_bytes(self._desk.home.reports / f"{account.day}.png", png)
        fault_point("picture.written")
        self._write_page(account.day, report_text.evening(account, self._desk.command, f"{account.day}.png"))
        return png

    def _write_page(self, day: str, text: str) -> None:
        write_text(self._desk.home.reports / f"{day}.md", self._desk.delivery.clean(text))
        fault_point("report.written")

    def _morning_page(self, day: str) -> None:
        last, command = self._desk.plans.last_day(day), self._desk.command
        today, yesterday = self._account(day), self._last(last) if last else None
        self._write_page(day, morning_text.morning(today, yesterday, command))
        self._tell_day(report_notice.morning(today, yesterday, command))

    def _last(self, day: str) -> DayAccount:
        """The last day with work. A kill, or the owner, may have ended it before its evening."""
        had_its_evening = any(self._desk.plans.has_ended(day, name) for name in (EVENING, "wrap_up"))
        return self._books(day).account(None if had_its_evening else "cut off")

    # -- details ----------------------------------------------------------------------------------------------

    def _books(self, day: str) -> DayBooks:
        return DayBooks(self._desk, day, self._aside(), self._deploys)

    def _account(self, day: str) -> DayAccount:
        return self._books(day).account(missed=days_between(self._desk.plans.last_day(day), day))

    def _tell_day(self, notice: Notice, as_news: bool = True) -> None:
        """The day's message; what it says of others that did not arrive is said once it has arrived itself."""
        messages = self._desk.messages
        untold = messages.book.unsent(notice.key)
        self._send(notice, as_news)
        if messages.has_arrived(notice.key):
            messages.book.told(untold, notice.key)

    def _send(self, notice: Notice, as_news: bool = True) -> None:
        clean = self._desk.delivery.clean
        sections = tuple(replace(one, text=clean(one.text)) for one in notice.sections)
        notice = replace(notice, title=clean(notice.title), text=clean(notice.text), sections=sections)
        self._desk.messages.send(notice, self._desk.clock.now(), as_news)


def days_between(last: str, day: str) -> list[str]:
    """The days between two days, without them; none if there is no last one."""
    if not last:
        return []
    first = date.fromisoformat(last)
    return [(first + timedelta(days=n)).isoformat() for n in range(1, (date.fromisoformat(day) - first).days)]
