"""What the owner was told, and what happens when the service that tells him is away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.notify.messenger import PAUSE, Messenger
from sisimpur.shared.notify.notice import AGAIN, DeliveryUnknown, Notice, Picture, Section
from sisimpur.shared.notify.notice_book import NoticeRepository
from tests.books import new_book
from tests.killing import finishes, killed_at, points, snippet
from tests.mailbox import Mailbox

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
DAY = "2026-11-20"
NOTE = Notice(f"{DAY}:t:waiting-1", "Waits for you: Fix", "please", sections=(Section("Money", "- $1"),))
OTHER = replace(NOTE, text="please, now")
MESSAGE = Notice(f"{DAY}:day", "the day", "at work")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[NoticeRepository]:
    db = new_book(tmp_path / "agents.db")
    yield NoticeRepository(db)
    db.close()


@pytest.fixture
def box(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path / "box")


@pytest.fixture
def messenger(book: NoticeRepository, box: Mailbox) -> Messenger:
    return Messenger(book, [box], lambda _: None)


def texts(box: Mailbox) -> list[str]:
    return [message["text"] for message in box.messages()]


# --- one message ---------------------------------------------------------------------------------------------


def test_the_same_words_are_sent_once(messenger: Messenger, box: Mailbox) -> None:
    messenger.send(NOTE, NOW)
    messenger.send(NOTE, NOW)
    assert (box.tries, texts(box)) == (1, ["please"])


def test_other_words_change_the_message_that_is_there(messenger: Messenger, box: Mailbox) -> None:
    messenger.send(NOTE, NOW)
    messenger.send(OTHER, NOW)
    assert texts(box) == ["please, now"]


def test_another_picture_is_other_words(messenger: Messenger, box: Mailbox) -> None:
    messenger.send(replace(NOTE, picture=Picture("a.png", b"one", "a picture")), NOW)
    messenger.send(replace(NOTE, picture=Picture("a.png", b"more", "a picture")), NOW)
    assert [message["png"] for message in box.messages()] == [4]


def test_a_picture_alone_is_nothing_new_where_messages_cannot_be_changed(
    book: NoticeRepository, tmp_path: Path
) -> None:
    """A day that is run again has one bar more."""
    mail = Mailbox(tmp_path / "mail", keeps_ids=False)
    for png in (b"one", b"more"):
        Messenger(book, [mail], lambda _: None).send(replace(NOTE, picture=Picture("a.png", png, "a picture")), NOW)
    assert [message["png"] for message in mail.messages()] == [3]


def test_each_service_gets_its_own(book: NoticeRepository, tmp_path: Path) -> None:
    boxes = [Mailbox(tmp_path / name, name=name) for name in ("one", "two")]
    boxes[0].before.append(Unavailable("away"))
    Messenger(book, boxes, lambda _: None).send(NOTE, NOW)
    assert [len(list(box.messages())) for box in boxes] == [0, 1]
    assert [slip.service for slip in book.unsent("x")] == ["one"]


def test_a_service_without_ids_is_not_flooded_with_the_days_progress(book: NoticeRepository, tmp_path: Path) -> None:
    mail = Mailbox(tmp_path / "mail", keeps_ids=False)
    messenger = Messenger(book, [mail], lambda _: None)
    messenger.send(MESSAGE, NOW)
    for number in range(5):
        messenger.send(replace(MESSAGE, text=f"step {number}"), NOW, as_news=False)
    messenger.send(replace(MESSAGE, text="evening"), NOW)
    assert texts(mail) == ["at work", "evening"]


def test_where_only_evenings_are_told_the_day_is_one_message_and_the_rest_comes_as_usual(
    book: NoticeRepository, tmp_path: Path
) -> None:
    mail = Mailbox(tmp_path / "mail", keeps_ids=False, evening_only=True)
    messenger = Messenger(book, [mail], lambda _: None)
    messenger.send(MESSAGE, NOW, is_whole=False)
    messenger.send(NOTE, NOW)
    messenger.send(replace(MESSAGE, text="evening"), NOW)
    assert texts(mail) == ["please", "evening"]


def test_each_message_beside_an_older_one_has_a_key_of_its_own(book: NoticeRepository, tmp_path: Path) -> None:
    """Away, back and away again: three mails, of which no reader takes the last for the first."""
    mail = Mailbox(tmp_path / "mail", keeps_ids=False)
    for words in (NOTE, OTHER, NOTE):
        Messenger(book, [mail], lambda _: None).send(words, NOW)
    assert mail.told() == [NOTE.key, f"{NOTE.key}#1", f"{NOTE.key}#2"]


# --- what goes wrong -----------------------------------------------------------------------------------------


def test_what_did_not_arrive_is_sent_when_the_service_is_back(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(NOTE, NOW)
    messenger.flush(DAY, NOW + PAUSE / 2)
    assert texts(box) == []  # not yet: it is given some time
    messenger.flush(DAY, NOW + PAUSE)
    assert texts(box) == ["please"]
    assert messenger.book.unsent("x") == ()


def test_the_days_own_message_is_owed_and_not_sent_in_old_words(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(MESSAGE, NOW)
    assert [messenger.flush(DAY, NOW + wait) for wait in (PAUSE / 2, PAUSE)] == [False, True]
    assert texts(box) == []
    messenger.send(replace(MESSAGE, text="newest"), NOW + PAUSE, as_news=False)
    assert texts(box) == ["newest"] and not messenger.flush(DAY, NOW + 2 * PAUSE)


def test_nothing_is_owed_that_is_not_sent_again(book: NoticeRepository, tmp_path: Path) -> None:
    """What is owed is drawn and printed anew: by each tick until midnight, for a mail that stays where it is."""
    box, mail = Mailbox(tmp_path / "box"), Mailbox(tmp_path / "mail", keeps_ids=False, name="mail")
    messenger = Messenger(book, [box, mail], lambda _: None)
    box.before.append(Unavailable("away"))
    messenger.send(MESSAGE, NOW)
    assert messenger.flush(DAY, NOW + PAUSE)
    messenger.send(replace(MESSAGE, text="newest"), NOW + PAUSE, as_news=False)
    assert (texts(box), texts(mail)) == (["newest"], ["at work"])
    assert not messenger.flush(DAY, NOW + 3 * PAUSE) and book.unsent("x") == ()


def test_a_days_message_that_may_be_there_is_not_owed(book: NoticeRepository, tmp_path: Path) -> None:
    mail = Mailbox(tmp_path / "mail", keeps_ids=False, after=[DeliveryUnknown("no answer")])
    messenger = Messenger(book, [mail], lambda _: None)
    messenger.send(MESSAGE, NOW)
    assert not messenger.flush(DAY, NOW + 2 * PAUSE)


def test_nothing_is_owed_to_a_service_that_takes_nothing(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Misconfigured("the webhook is gone"))
    messenger.send(MESSAGE, NOW)
    assert not messenger.flush(DAY, NOW + PAUSE)


def test_its_sections_are_there_when_it_is_sent_late(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(NOTE, NOW)
    messenger.flush(DAY, NOW + PAUSE)
    assert box.of("waiting-1")["sections"] == {"Money": "- $1"}


def test_a_lost_answer_is_followed_by_one_more_try_that_says_so(messenger: Messenger, box: Mailbox) -> None:
    box.after += [DeliveryUnknown("silence") for _ in range(9)]
    messenger.send(NOTE, NOW)
    for number in range(1, 9):
        messenger.flush(DAY, NOW + number * PAUSE)
    assert texts(box) == ["please", f"please\n\n{AGAIN}"]
    (slip,) = messenger.book.unsent("x")
    assert slip.is_perhaps_there and "perhaps delivered: silence" in slip.why


def test_once_the_second_try_is_answered_all_is_as_usual(messenger: Messenger, box: Mailbox) -> None:
    box.after.append(DeliveryUnknown("silence"))
    messenger.send(NOTE, NOW)
    messenger.send(OTHER, NOW)
    messenger.send(NOTE, NOW)
    assert texts(box) == ["please", "please"]  # the first one has stayed behind; the second was edited
    assert messenger.book.unsent("x") == ()


def test_other_words_are_tried_again_however_many_answers_were_lost(messenger: Messenger, box: Mailbox) -> None:
    box.before += [DeliveryUnknown("502"), DeliveryUnknown("502")]
    for words in (MESSAGE, MESSAGE, MESSAGE):
        messenger.send(words, NOW)
    assert (box.tries, texts(box)) == (2, [])
    messenger.send(replace(MESSAGE, text="evening"), NOW)
    assert texts(box) == [f"evening\n\n{AGAIN}"]


def test_they_are_tried_once_and_mere_progress_is_not(messenger: Messenger, box: Mailbox) -> None:
    """Each try may have put one more message there."""
    box.after += [DeliveryUnknown("silence") for _ in range(9)]
    messenger.send(MESSAGE, NOW)
    for number in range(5):
        messenger.send(replace(MESSAGE, text=f"step {number}"), NOW, as_news=False)
    for _ in range(5):
        messenger.send(replace(MESSAGE, text="evening"), NOW)
    assert texts(box) == ["at work", f"evening\n\n{AGAIN}"]


def test_a_refused_message_is_not_sent_again_in_these_words(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Refused("too long"))
    messenger.send(NOTE, NOW)
    messenger.flush(DAY, NOW + PAUSE)
    messenger.send(NOTE, NOW)
    assert box.tries == 1
    messenger.send(OTHER, NOW)
    assert texts(box) == ["please, now"]


def test_an_address_that_is_wrong_is_not_used_again_and_the_owner_is_told(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Misconfigured("the webhook is gone"))
    messenger.send(NOTE, NOW)
    messenger.send(MESSAGE, NOW + timedelta(days=1))
    assert (box.tries, messenger.problems) == (1, ["Mailbox: the webhook is gone"])
    assert [slip.key for slip in messenger.book.unsent("x")] == [NOTE.key, MESSAGE.key]


@pytest.mark.parametrize("wait", [pytest.param(0, id="our pause"), pytest.param(600, id="the service's own")])
def test_a_clock_that_was_set_back_makes_no_message_wait_longer(messenger: Messenger, box: Mailbox, wait: int) -> None:
    box.before.append(Unavailable("away", wait=wait))
    messenger.send(NOTE, NOW)
    messenger.flush(DAY, NOW - timedelta(hours=1))
    assert texts(box) == ["please"]


def test_a_service_that_says_how_long_is_left_alone_so_long(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("busy", wait=600))
    messenger.send(NOTE, NOW)
    messenger.send(MESSAGE, NOW + timedelta(seconds=599))
    assert box.tries == 1
    messenger.send(MESSAGE, NOW + timedelta(seconds=600))
    assert texts(box) == ["at work"]


@pytest.mark.parametrize(
    "problem", [Unavailable("away"), DeliveryUnknown("silence"), Refused("no"), Unavailable("b", wait=9)]
)
def test_whatever_goes_wrong_is_told_and_known(problem: TeamError, book: NoticeRepository, box: Mailbox) -> None:
    said: list[str] = []
    (box.after if isinstance(problem, DeliveryUnknown) else box.before).append(problem)
    Messenger(book, [box], said.append).send(NOTE, NOW)
    assert said == [f"not delivered (Waits for you: Fix): Mailbox: {problem}"]
    assert [slip.title for slip in book.unsent("x")] == ["Waits for you: Fix"]


def test_the_days_message_is_never_sent_late_in_old_words(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(MESSAGE, NOW)
    messenger.flush(DAY, NOW + PAUSE)
    assert box.tries == 1


def test_yesterdays_messages_are_told_about_not_sent(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(NOTE, NOW)
    messenger.flush("2026-11-21", NOW + timedelta(days=1))
    assert box.tries == 1
    assert len(messenger.book.unsent("2026-11-21:day")) == 1


def test_what_was_told_is_told_in_one_message_only(messenger: Messenger, box: Mailbox) -> None:
    box.before.append(Unavailable("away"))
    messenger.send(NOTE, NOW)
    book = messenger.book
    book.told(book.unsent("2026-11-21:day"), "2026-11-21:day")
    assert len(book.unsent("2026-11-21:day")) == 1  # that message keeps saying so, however often it is edited
    assert book.unsent("2026-11-22:day") == ()


def test_whether_something_was_said_does_not_depend_on_the_day(messenger: Messenger) -> None:
    messenger.send(NOTE, NOW)
    assert messenger.book.was_said("t:waiting-1")
    assert not messenger.book.was_said("t:waiting-2")


def test_a_task_whose_name_ends_like_another_s_is_another_task(messenger: Messenger) -> None:
    messenger.send(replace(NOTE, key=f"{DAY}:fix-login:waiting-1"), NOW)
    assert messenger.book.was_said("fix-login:waiting-1")
    assert not messenger.book.was_said("login:waiting-1")


# --- kills ---------------------------------------------------------------------------------------------------

SEND = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.notify.messenger import Messenger
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.notify.notice_book import NoticeRepository
    from tests.edges.test_notice_book import NOTE, NOW
    from tests.mailbox import Mailbox
    place = Path(sys.argv[1])
    messenger = Messenger(NoticeRepository(Database(place / "agents.db")), [Mailbox(place / "box")], print)
    messenger.send(NOTE, NOW)
"""


def test_a_kill_at_any_point_of_sending_loses_nothing_and_doubles_only_what_it_cannot_know(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    passed = points(snippet(SEND, str(tmp_path / "clean")))
    assert passed[-4:] == ["notice.planned", "notice.sending", "notice.sent", "notice.done"]
    for number in range(len(passed) - 3, len(passed) + 1):
        place = tmp_path / str(number)
        place.mkdir()
        killed_at(number, snippet(SEND, str(place)))
        finishes(snippet(SEND, str(place)))
        there = texts(Mailbox(place / "box"))
        expected = {
            "notice.planned": ["please"],
            "notice.sending": [f"please\n\n{AGAIN}"],  # it could have been sent
            "notice.sent": ["please", f"please\n\n{AGAIN}"],  # it was, and nobody knows
            "notice.done": ["please"],
        }
        assert there == expected[passed[number - 1]]
