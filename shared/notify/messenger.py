"""Notice -> the owner, at each service: once, and brought up to date. What does not arrive is known, not lost.

A message is booked before it is sent. Where its id is known it may be repeated for ever, since that edits it. Without
an id one more try is made after a lost answer, and that one says so; then only other words are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.model.schedule import Backoff
from sisimpur.shared.notify.notice import AGAIN, DeliveryUnknown, Notice, Notifier, key_of_day
from sisimpur.shared.notify.notice_book import NoticeRepository, Slip

PAUSE = timedelta(minutes=5)  # between two tries of the same words


@dataclass
class Messenger:
    book: NoticeRepository
    services: Sequence[Notifier]
    tell: Callable[[str], None]
    phones: Callable[[], Sequence[Notifier]] = tuple  # those that are to be told now: they come and go while we work
    problems: list[str] = field(default_factory=list)  # the owner's to correct; such a service is not asked again
    _shut: dict[str, Backoff] = field(default_factory=dict)  # by service: it takes nothing meanwhile

    @property
    def notifiers(self) -> Sequence[Notifier]:
        return (*self.services, *self.phones())

    def send(self, notice: Notice, now: datetime, as_news: bool = True, is_whole: bool = True) -> None:
        """Send, but not the same words again. Only `as_news` is a message sent that would stand beside an older one.

        `is_whole`: no more is to follow in this message.
        """
        for notifier in self.notifiers:
            if not notifier.wants(notice, is_whole):
                continue
            slip = self.book.intend(notice, notifier.name, now, as_news)
            if slip.is_due and (as_news or slip.stands_alone):
                self._try(notifier, notice, slip, now)

    def flush(self, day: str, now: datetime) -> bool:
        """Send again what did not arrive five minutes ago, and tell whether the day's own message did not, either.

        That one is not sent here, but by whoever has its newest words.
        """
        owed = False
        for notifier in self.notifiers:
            for notice, slip in self.book.due(day):
                rests = slip.tried_at and Backoff(1, slip.tried_at, slip.tried_at + PAUSE).lasts(now)
                if slip.service == notifier.name and not rests:
                    if notice.key == key_of_day(day):
                        owed = owed or (slip.stands_alone and not self._is_shut(notifier, now))
                    else:
                        self._try(notifier, notice, slip, now)
        return owed

    def has_arrived(self, key: str) -> bool:
        """Tell whether that message stands at one of the services in its newest words."""
        return any(self.book.is_delivered(key, notifier.name) for notifier in self.notifiers)

    def _is_shut(self, notifier: Notifier, now: datetime) -> bool:
        shut = self._shut.get(notifier.name)
        return bool(shut and shut.lasts(now))

    def _try(self, notifier: Notifier, notice: Notice, slip: Slip, now: datetime) -> None:
        if self._is_shut(notifier, now):
            return
        if slip.is_perhaps_there:
            notice = replace(notice, text=f"{notice.text}\n\n{AGAIN}")
        if slip.posts and not slip.message_id:  # another message beside that one
            notice = replace(notice, key=f"{notice.key}#{slip.posts}")
        self.book.trying(slip, now)
        try:
            message_id = notifier.send(notice, slip.message_id)
        except TeamError as problem:
            self._failed(slip, problem, now)
        else:
            self.book.delivered(slip, message_id)

    def _failed(self, slip: Slip, problem: TeamError, now: datetime) -> None:
        words = f"{slip.service}: {problem}"
        self.tell(f"not delivered ({slip.title}): {words}")
        match problem:
            case DeliveryUnknown():
                self.book.unknown(slip, f"perhaps delivered: {problem}")
            case Refused():
                self.book.refused(slip, str(problem))
            case Misconfigured():
                self.book.undelivered(slip, str(problem))
                self.problems.append(words)
                self._shut[slip.service] = Backoff(1, now, datetime.max.replace(tzinfo=now.tzinfo))
            case _:
                self.book.undelivered(slip, str(problem))
                if isinstance(problem, Unavailable) and problem.wait:
                    self._shut[slip.service] = Backoff(1, now, now + timedelta(seconds=problem.wait))
