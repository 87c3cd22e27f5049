"""The books -> the owner: PROGRESS.md, a report file per day, a message that grows with it, and what cannot wait.

The file is written first: it is the truth, and needs no service. Every step can be repeated after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from sisimpur.agents.orchestrator.board.events import Evening, TeamEvent
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.reports import progress_tracker, report_notice, report_text
from sisimpur.agents.orchestrator.reports.account import DayAccount
from sisimpur.agents.orchestrator.reports.books import DeployDays, MoneyBooks, ReportBooks, TaskBooks
from sisimpur.agents.orchestrator.reports.day_account import NOTHING, DayBooks
from sisimpur.agents.orchestrator.reports.deploy_text import is_told, message
from sisimpur.agents.orchestrator.reports.drawn.canvas import DARK, LIGHT
from sisimpur.agents.orchestrator.reports.drawn.pdf import pdf
from sisimpur.agents.orchestrator.reports.picture import picture
from sisimpur.agents.orchestrator.reports.report_text import morning
from sisimpur.agents.orchestrator.reports.report_words import answers
from sisimpur.shared.machine.pressure import Tight
from sisimpur.shared.model.deployment import Deploy
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import Card, State, is_over
from sisimpur.shared.model.text import with_own_links
from sisimpur.shared.money.ticket import BudgetWarning
from sisimpur.shared.money.token_budget import in_cents, month_of
from sisimpur.shared.notify.notice import Notice
from sisimpur.shared.store.plan_book import Trouble
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_text, write_bytes, write_text


@dataclass(frozen=True)
class ProgressFile:
    """Hears of each evening. `command`: what the owner types before a command's name."""

    path: Path
    tasks: TaskBooks
    money: MoneyBooks
    clean: Callable[[str], str]
    command: str

    def hear(self, event: TeamEvent) -> None:
        if isinstance(event, Evening):
            self.write(event.day)

    def write(self, day: str) -> None:
        """A forge that is away costs the addresses of pull requests, nothing else."""
        snapshot = self.tasks.snapshot()
        waiting = ((card.id, self._waiting(card, snapshot.known.get(card.id))) for card in snapshot.board.cards)
        asked = {id_: words for id_, words in waiting if words}
        spent = self.money.ledger.totals(day, self.money.cap_of(day))
        told = self.tasks.ended.told(self.tasks.ended.of_late().union(snapshot.board.by_id))
        facts = progress_tracker.Facts(told, asked, self.tasks.pull_addresses())
        text = progress_tracker.render(day, snapshot.board, facts, spent, snapshot.unreadable)
        write_text(self.path, self.clean(text))

    def _waiting(self, card: Card, known: TaskRecord | None) -> str:
        """What the owner is asked and how to answer, or that it was answered."""
        parked = self.tasks.waiting(known) if known and card.state is State.IN_REVIEW else None
        if parked is None:
            return ""
        if self.tasks.gates.is_approved(parked):
            return "you approved it: it is merged when the team works next"
        return f"**waits for you**: {'; '.join(parked.reasons)} ({answers(card.id, self.command)})"


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
    """`backed_off`: tasks that nobody touches for a while, and why. `reports`: where the files lie."""

    def __init__(
        self,
        books: ReportBooks,
        session: Session,
        progress: ProgressFile,
        deploys: DeployDays,
        backed_off: Callable[[], Mapping[str, str]],
        reports: Path,
    ) -> None:
        self.books = books
        self._plans = books.plans
        self._messages = books.messages
        self.session = session
        self.progress = progress
        self._command = progress.command
        self.deploys = deploys
        self._backed_off = backed_off
        self._reports = reports
        self._ended: dict[str, EndedTask] = {}  # tasks that came to an end since we are here
        self._read = books.tasks.journal.newest()  # up to here history was asked which
        self._seen: set[EndedTask] | None = None  # what was told at once; None: nobody has looked yet
        self._shown: set[EndedTask] = set()  # what the day's message shows
        self._shown_at: datetime | None = None

    # -- a day ------------------------------------------------------------------------------------------------

    def morning(self, day: str) -> None:
        """Once per day, before anything else: what happened since the last report, then what is known of today."""
        if self._plans.has_ended(day, MORNING):
            return
        self._plans.phase_begins(day, MORNING, self.session.now())
        self._catch_up(day)
        self._morning_page(day)
        self._plans.phase_ended(day, MORNING, self.session.now())

    def planned(self, day: str) -> None:
        """What is asked, at once; the morning's page once more, with the plan, if the day has had no evening."""
        self._tell_urgent(self.session.day())
        if not self._plans.has_ended(day, EVENING):
            self._morning_page(day)

    def tell_what_waited(self) -> None:
        """What a kill, or a service that was not there yet, has kept from the owner."""
        self._shown = self._tell_at_once()

    def step(self, day: str) -> None:
        """After a move: what cannot wait at once, the day's message every few minutes."""
        standing, now = self._tell_at_once(), self.session.now()
        ended = {one for one in standing - self._shown if not one.waits_for}
        if not ended or self._plans.has_ended(day, EVENING):
            return
        if self._shown_at is None or now - self._shown_at >= PAUSE:
            self._shown, self._shown_at = standing, now
            self.progress.write(day)
            if self._messages.notifiers:
                self._tell_day(report_notice.progress(self._account(day), self._command), as_news=False, is_whole=False)

    def _tell_at_once(self) -> set[EndedTask]:
        """What cannot wait -> where it stands now. The whole books are opened only if something new stands there."""
        standing = self._standing()
        if not self._messages.notifiers:
            return standing
        today = self.session.day()  # midnight may have come since the day's phases began
        if self._seen is None or standing - self._seen:
            self._tell_urgent(today)
            self._seen = standing
        if self._messages.flush(today, self.session.now()) and self._plans.has_ended(today, EVENING):
            self._tell_evening(today, as_news=False)
        return standing

    def _standing(self) -> set[EndedTask]:
        """Tasks that are over since we are here, and those that were put before the owner, by the books alone."""
        journal, found = self.books.tasks.journal, set()
        touched = journal.touched_after(self._read)
        self._read = max(touched.values(), default=self._read)
        places = journal.places()
        ended = {id_ for state, tasks in places.items() if is_over(state) for id_ in touched.keys() & tasks}
        for id_ in touched:
            self._ended.pop(id_, None)
        for known in journal.tasks(ended | places[State.IN_REVIEW]).values():
            attempt = known.last.number if known.last else 0
            if is_over(known.seen_in):
                self._ended[known.id] = EndedTask(known.id, attempt)
            elif parked := self.books.tasks.waiting(known):
                found.add(EndedTask(known.id, attempt, parked.reasons))
        return found | set(self._ended.values())

    def _tell_urgent(self, day: str) -> None:
        books = self._day_books(day)
        if any(self._is_news(notice) for notice in self._urgent(books, day)):
            pulls = self.books.tasks.pull_addresses()  # the forge is asked only if there is news
            for notice in self._urgent(books, day, pulls):
                if self._is_news(notice):
                    self._send(notice)

    def evening(self, day: str) -> None:
        """The report of the day, and the last words of its message."""
        self._plans.phase_begins(day, EVENING, self.session.now())
        self._tell_evening(day)
        self.session.tell(f"report: {self._reports / f'{day}.md'}")
        self._plans.phase_ended(day, EVENING, self.session.now())

    def _tell_evening(self, day: str, as_news: bool = True) -> None:
        """The file, and its message; again to a service that did not take it, with what came since then."""
        account = replace(self._account(day), head=self.books.audit.head())
        light, dark = self._write(account)
        notice = report_notice.evening(account, self._command, light, dark)
        self._tell_day(replace(notice, pdf=self._pdf(day, light)), as_news)

    def _pdf(self, day: str, png: bytes) -> bytes:
        """The report for a mail; empty: nobody gets one, or nothing here can print it."""
        if not any(one.takes_pdf for one in self._messages.notifiers):
            return b""
        try:
            return pdf(read_text(self._reports / f"{day}.md"), day, {f"{day}.png": png})
        except Misconfigured:
            return b""  # no Chromium: it is no dependency
        except TeamError as problem:
            self.session.tell(f"the mail comes without a PDF: {problem}")
            return b""

    # -- what cannot wait -------------------------------------------------------------------------------------

    def phase_failed(self, day: str, name: str, problem: str) -> None:
        self._send(report_notice.phase_failed(day, Trouble(name, self.books.clean(problem))))

    def outage(self, day: str, service: str, verb: str, words: str) -> None:
        """One message per service and day, brought up to date; no `words`: it answers again."""
        self._send(report_notice.outage(day, service, verb, self.books.clean(words)))

    def cap_nearly_used(self, day: str, warning: BudgetWarning) -> None:
        """Once for its day or month, and once more against a raised cap."""
        text = f"{in_cents(warning.used)} of {in_cents(warning.cap)} of this {warning.scope} are used"
        period = day if warning.scope == "day" else month_of(day)
        notice = report_notice.cap(day, f"{period}-nearly-{warning.cap}", text, is_reached=False)
        if self._is_news(notice):
            self._send(notice)

    def model_paused(self, day: str, reason: str) -> None:
        """Once for each pause, which its words name."""
        notice = report_notice.model_paused(day, reason)
        if self._is_news(notice):
            self._send(notice)

    def tight(self, day: str, found: Tight) -> None:
        """Once a day for each part of the machine, also after a restart."""
        notice = report_notice.tight(day, found)
        if self._is_news(notice):
            self._send(notice)

    def cap_reached(self, day: str, words: str) -> None:
        """Once per day and amount of its cap: the amounts in its words differ from call to call."""
        words, cap = self.books.clean(words), self.books.money.cap_of(day)
        if self._is_news(report_notice.cap(day, f"{day}-reached-{cap}", words, is_reached=True)):
            self._send(report_notice.cap_reached(self._account(day), words, self._command))

    def deployed(self, deploy: Deploy, task: str, running: str) -> None:
        """The end of a deploy, once: told again it is brought up to date. `running`: what runs there now; empty: none.

        One that is healthy at staging is no news before it is healthy at production too.
        """
        days = self.deploys
        if self._messages.notifiers and is_told(deploy, days.last):
            self._send(message(days.account(deploy, task), running, days.paused(), self._command, self.books.board))

    def _urgent(self, books: DayBooks, day: str, pulls: Mapping[str, str] = NOTHING) -> Iterator[Notice]:
        board, heard = self.books.board, self.books.heard
        said = self._messages.book.parts_said("questions")
        if asked := {words: one for words, one in books.asked().items() if words not in said}:
            yield report_notice.questions(day, asked, self._command, board, heard)
        said = self._messages.book.parts_said("plan")
        if waiting := {one: title for one, title in books.unapproved().items() if one not in said}:
            forecast = plan.forecast if (plan := self._plans.plan(day)) else 0
            yield report_notice.plan(day, waiting, forecast, self._command, board, heard)
        for task in books.tasks(pulls):
            if task.asks:
                yield report_notice.asks(day, task, books.attempt(task.id), self._command, board, heard)
            if task.failed_that_day:
                yield report_notice.gave_up(day, task, books.attempt(task.id), self._command, board, heard)

    def _is_news(self, notice: Notice) -> bool:
        """Not said yet, on whichever day."""
        messages = self._messages
        return bool(messages.notifiers) and not messages.book.was_said(notice.key.partition(":")[2])

    # -- files ------------------------------------------------------------------------------------------------

    def _catch_up(self, day: str) -> None:
        """A report for every day since the last one: of the last day with work if it has none, and of missed days."""
        plans, last = self._plans, self._plans.last_day(day)
        if last and not plans.has_ended(last, EVENING):
            self._write(self._last(last))
        missed = days_between(last, day)
        older, told = missed[:-MOST_MISSED], missed[-MOST_MISSED:]
        for one in told:
            self._write_page(one, report_text.evening(DayAccount(one, "missed", missed=tuple(older)), self._command))
            older = []

    def _write(self, account: DayAccount) -> tuple[bytes, bytes]:
        """The picture first, light and dark: a report never names one that is not there."""
        light, dark = (picture(account, self.session.now(), theme) for theme in (LIGHT, DARK))
        write_bytes(self._reports / f"{account.day}-dark.png", dark)
        write_bytes(self._reports / f"{account.day}.png", light)
        fault_point("picture.written")
        self._write_page(account.day, report_text.evening(account, self._command, f"{account.day}.png"))
        self.books.money.days.keep(account.day, account.spent.cap, account.month.cap)
        return light, dark

    def _write_page(self, day: str, text: str) -> None:
        write_text(self._reports / f"{day}.md", self._linked(text))
        fault_point("report.written")

    def _morning_page(self, day: str) -> None:
        last, command = self._plans.last_day(day), self._command
        today, yesterday = self._account(day), self._last(last) if last else None
        self._write_page(day, morning(today, yesterday, command))
        self._tell_day(report_notice.morning(today, yesterday, command), is_whole=False)

    def _last(self, day: str) -> DayAccount:
        """The last day with work. A kill, or the owner, may have ended it before its evening."""
        had_its_evening = any(self._plans.has_ended(day, name) for name in (EVENING, "wrap_up"))
        return self._day_books(day).account(None if had_its_evening else "cut off")

    def _day_books(self, day: str) -> DayBooks:
        return DayBooks(self.books, day, self.session.day(), self._backed_off(), self.deploys)

    def _account(self, day: str) -> DayAccount:
        return self._day_books(day).account(missed=days_between(self._plans.last_day(day), day))

    def _linked(self, text: str) -> str:
        """Without keys; links into the owner's own repository work."""
        return with_own_links(self.books.clean(text), self.books.tasks.forge.address)

    def _tell_day(self, notice: Notice, as_news: bool = True, is_whole: bool = True) -> None:
        """The day's message; what it says of others that did not arrive is said once it has arrived itself."""
        messages = self._messages
        untold = messages.book.unsent(notice.key)
        self._send(notice, as_news, is_whole)
        if messages.has_arrived(notice.key):
            messages.book.told(untold, notice.key)

    def _send(self, notice: Notice, as_news: bool = True, is_whole: bool = True) -> None:
        clean = self._linked
        sections = tuple(replace(one, text=clean(one.text)) for one in notice.sections)
        notice = replace(
            notice, title=clean(notice.title), text=clean(notice.text), sections=sections, foot=clean(notice.foot)
        )
        self._messages.send(notice, self.session.now(), as_news, is_whole)


def days_between(last: str, day: str) -> list[str]:
    """The days between two days, without them; none if there is no last one."""
    if not last:
        return []
    first = date.fromisoformat(last)
    return [(first + timedelta(days=n)).isoformat() for n in range(1, (date.fromisoformat(day) - first).days)]
