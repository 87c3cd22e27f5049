"""What every home of the notifier protocol keeps. A test file gives its home as the fixture `home`:

class TestMyNotifier(NotifierContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> NotifierHome: ...
"""

from __future__ import annotations

import dataclasses
import re
import traceback
from abc import ABC, abstractmethod

import pytest

from sisimpur.shared.model.errors import Misconfigured, TeamError, Unavailable
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice, Notifier, Section, Tone

NOTICE = Notice(
    "2026-11-20:day",
    "The day is done",
    "Two tasks were merged, one waits for you.",
    Tone.ATTENTION,
    (Section("Merged", "greeting, farewell"), Section("Waiting", "`20261120-03`: approve or reject")),
)
CHANGED = dataclasses.replace(NOTICE, text="Three tasks were merged.", tone=Tone.GOOD)


class NotifierHome(ABC):
    """A notifier, and a look at its service from behind."""

    notifier: Notifier
    secret: str  # the part of its address that nobody may see

    @abstractmethod
    def shown(self) -> list[str]:
        """The messages that are to be read there now, the oldest first, each as one text."""

    @abstractmethod
    def fail(self) -> None:
        """The next call is not answered well, and nothing is delivered."""

    @abstractmethod
    def lose(self) -> None:
        """The next call is delivered; its sender is not told so."""

    @abstractmethod
    def misdirected(self) -> Notifier:
        """One with an address that cannot be right. Misconfigured, now or when it is used."""


class NotifierContract:
    def test_it_has_the_name_that_the_owner_knows(self, home: NotifierHome) -> None:
        assert home.notifier.name.strip()

    def test_all_of_a_notice_is_to_be_read(self, home: NotifierHome) -> None:
        home.notifier.send(NOTICE)
        (text,) = home.shown()
        for part in (NOTICE.title, NOTICE.text, *(s.heading for s in NOTICE.sections), "approve or reject"):
            assert part in text

    def test_a_notice_that_was_sent_before_is_brought_up_to_date(self, home: NotifierHome) -> None:
        sent = home.notifier.send(NOTICE)
        assert home.notifier.send(CHANGED, sent) == sent
        assert CHANGED.text in home.shown()[-1]
        if sent:
            assert len(home.shown()) == 1

    def test_a_service_that_fails_is_an_error_and_can_be_tried_again(self, home: NotifierHome) -> None:
        home.fail()
        with pytest.raises(Unavailable):
            home.notifier.send(NOTICE)
        assert home.shown() == []
        home.notifier.send(NOTICE)
        assert len(home.shown()) == 1

    def test_an_answer_that_is_lost_is_told_apart(self, home: NotifierHome) -> None:
        home.lose()
        with pytest.raises(DeliveryUnknown):
            home.notifier.send(NOTICE)
        assert len(home.shown()) == 1

    def test_a_wrong_address_is_the_owners_to_change(self, home: NotifierHome) -> None:
        with pytest.raises(Misconfigured) as caught:
            home.misdirected().send(NOTICE)
        assert re.search("http|docs/", str(caught.value))  # where to look, or what to type

    def test_nobody_is_called_by_what_is_shown(self, home: NotifierHome) -> None:
        hostile = "@everyone @here <@123> <#5> <@&6> <!channel> [our site](https://evil.example/a)"
        home.notifier.send(Notice("k", hostile, hostile, sections=(Section(hostile, hostile),)))
        (text,) = home.shown()
        for acting in ("@everyone", "@here", "<@", "<#", "<!", "](", "https://evil"):
            assert acting not in text

    def test_the_address_stands_in_no_error_and_no_description(self, home: NotifierHome) -> None:
        for plant in (home.fail, home.lose):
            plant()
            with pytest.raises(TeamError) as caught:
                home.notifier.send(NOTICE)
            assert home.secret not in everything_said(caught.value)
        assert home.secret not in repr(home.notifier)


def everything_said(error: BaseException) -> str:
    """The error, and whatever it remembers of others."""
    texts, link = [], error
    while link:
        texts += [repr(link), *traceback.format_exception(link)]
        link = link.__context__  # type: ignore[assignment]
    return "\n".join(texts)
