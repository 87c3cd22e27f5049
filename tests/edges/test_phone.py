"""PhoneNotifier keeps the notifier's contract with a push service that opens what comes; and which browsers count."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.config.settings_sign_in import ListedPerson
from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.notify.notice import Asks, DeliveryUnknown, Notice, Tone
from sisimpur.shared.notify.notice_book import NoticeRepository
from sisimpur.shared.notify.phone import phone_notifier
from sisimpur.shared.notify.phone.phone_notifier import KNOWN, PhoneNotifier, PushSender
from sisimpur.shared.notify.phone.push_book import MOST_EACH, Push, PushBook
from sisimpur.shared.notify.phone.sealing import BrowserKeys, VapidKey, packed, sealed, unpacked, vapid_key
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.http import Http, is_configured
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import IDLE, LONGEST, BoardKeys
from tests.edges.notifier_contract import CHANGED, NOTICE, NotifierContract, NotifierHome
from tests.killing import finishes, killed_at, points, snippet
from tests.mail_sink import certificate
from tests.push_sink import LOOPBACK, PushSink, SinkBrowser

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TASK = "20261120-03"
WAITS = Notice(f"2026-11-20:{TASK}:waiting-1-ab", "Waits for you: app.py", "touches `app.py`", waits=TASK)
KEY = VapidKey(packed(bytes(range(1, 33))))
TOLD = {"title": "1 change waits for you", "body": TASK, "task": TASK, "lang": "en"}

RAHIM = ListedPerson(name="Rahim", role="viewer", github="12345")


def book_with(path: Path, browser: SinkBrowser, language: str = "en") -> tuple[PushBook, Push]:
    """A session, and its browser."""
    db = Database(path)
    token = BoardKeys(db).sign_in(BoardKeys(db).link(NOON), NOON)
    found = BoardKeys(db).lets_in(token, NOON)
    assert found is not None
    book = PushBook(db)
    return book, book.keep(found.digest, browser.endpoint, browser.keys, language, NOON)


def sender(sink: PushSink, trust: ssl.SSLContext, key: VapidKey = KEY) -> PushSender:
    takes = re.compile(re.escape(sink.url) + r"/[\w/-]+")
    return PushSender(key, "https://team.example.net", ManualClock(NOON), Http(is_configured, context=trust), takes)


class Phone(NotifierHome):
    def __init__(self, folder: Path, sink: PushSink, trust: ssl.SSLContext) -> None:
        self.sink, self.trust = sink, trust
        self.browser = sink.browser()
        self.secret = self.browser.endpoint.rpartition("/")[2]
        self.book, self.push = book_with(folder / "agents.db", self.browser)
        self.notifier: PhoneNotifier = PhoneNotifier(self.push, self.book, sender(sink, trust))

    def shown(self) -> list[str]:
        return [" ".join((one["title"], one.get("body", ""))) for one in self.sink.shown()]

    def fail(self) -> None:
        self.sink.fates.append("503")

    def lose(self) -> None:
        self.sink.fates.append("lost")

    def misdirected(self) -> PhoneNotifier:
        elsewhere = replace(self.push, endpoint="https://127.0.0.1/send")
        return PhoneNotifier(elsewhere, self.book, sender(self.sink, self.trust))

    @property
    def kept(self) -> list[Push]:
        return self.book.alive(NOON)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return certificate(tmp_path_factory.mktemp("tls"), f"IP:{LOOPBACK}")


@pytest.fixture
def home(tmp_path: Path, tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> Iterator[Phone]:
    with PushSink(tls[0], NOON.timestamp()).listening() as sink:
        yield Phone(tmp_path, sink, tls[1])


class TestPhoneNotifier(NotifierContract):
    def test_all_of_a_notice_is_to_be_read(self, home: NotifierHome) -> None:
        """Of what waits: that it does, and which task. No word of a title or of a change comes to a locked screen."""
        home.notifier.send(replace(NOTICE, waits=TASK))
        assert home.shown() == [f"1 change waits for you {TASK}"]

    def test_a_notice_that_was_sent_before_is_brought_up_to_date(self, home: NotifierHome) -> None:
        """A phone shows the newest of one tag."""
        for notice in (NOTICE, CHANGED):
            assert home.notifier.send(replace(notice, waits=TASK)) == ""
        assert home.shown() == [f"1 change waits for you {TASK}"]


@pytest.mark.parametrize(
    ("asks", "language", "title", "leads"),
    [
        ("failed", "en", "1 task has failed", {"task": TASK}),
        ("failed", "bn", "১টি কাজ হয়নি", {"task": TASK}),
        ("question", "en", "The team has a question", {}),
        ("question", "bn", "দলের একটি প্রশ্ন আছে", {}),
        ("plan", "en", "A plan waits for you", {}),
        ("plan", "bn", "একটি পরিকল্পনা আপনার অপেক্ষায়", {}),
    ],
)
def test_what_is_asked_is_said_in_the_phones_words_and_what_is_of_no_task_leads_to_today(
    tmp_path: Path, home: Phone, asks: Asks, language: str, title: str, leads: dict[str, str]
) -> None:
    book, push = book_with(tmp_path / "other.db", home.sink.browser(), language)
    PhoneNotifier(push, book, sender(home.sink, home.trust)).send(replace(WAITS, asks=asks))
    (shown,) = home.sink.shown()
    assert {**shown, "tag": ""} == {"title": title, "body": TASK, "lang": language, "tag": "", **leads}


def test_only_what_waits_for_the_owner_comes_to_a_phone(home: Phone) -> None:
    assert home.notifier.wants(WAITS, is_whole=True)
    for notice in (NOTICE, CHANGED, Notice("k", "the machine is nearly full", "x", Tone.ATTENTION)):
        assert not home.notifier.wants(notice, is_whole=True)


def test_what_comes_is_signed_kept_for_a_day_urgent_and_replaced_by_its_like(home: Phone) -> None:
    home.notifier.send(WAITS)
    home.notifier.send(replace(WAITS, key="another"))
    first, other = home.sink.pushes
    assert (first.headers["ttl"], first.headers["urgency"]) == ("86400", "high")
    assert first.headers["topic"] == first.shown["tag"] != other.headers["topic"]
    assert re.fullmatch(r"[\w-]{1,32}", first.headers["topic"], re.ASCII), "as RFC 8030 has it"
    assert first.claims == {"aud": home.sink.url, "sub": "https://team.example.net", "exp": first.claims["exp"]}
    assert {**first.shown, "tag": ""} == {**TOLD, "tag": ""}


def test_a_phone_is_told_in_its_language(tmp_path: Path, home: Phone) -> None:
    book, push = book_with(tmp_path / "other.db", home.sink.browser(), "bn")
    PhoneNotifier(push, book, sender(home.sink, home.trust)).send(WAITS)
    assert home.sink.pushes[-1].shown["title"] == "১টি পরিবর্তন আপনার অপেক্ষায়"


# --- what a service answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["404", "410"])
def test_a_browser_that_is_gone_is_forgotten(home: Phone, status: str) -> None:
    home.sink.fates.append(status)
    with pytest.raises(Refused, match="takes nothing any more"):
        home.notifier.send(WAITS)
    assert home.kept == []


def test_a_service_that_is_busy_says_when_it_is_asked_again(home: Phone) -> None:
    for fate, wait in (("429 120", 120), ("503", 0), ("500 99999999", 3600), ("429 Fri, 20 Nov 2026 12:00:00 GMT", 0)):
        home.sink.fates.append(fate)
        with pytest.raises(Unavailable) as caught:
            home.notifier.send(WAITS)
        assert caught.value.wait == wait
    (push,) = home.kept
    assert "answers with 429" in push.why and push.told == ""
    home.notifier.send(WAITS)
    (push,) = home.kept
    assert push.why == "" and push.told.startswith("2026-11-20T12:00")


def test_another_key_than_the_browser_allowed_is_the_owners_to_mend(home: Phone) -> None:
    home.sink.key = "another"
    with pytest.raises(Misconfigured, match=r"does not know our key .*docs/phone\.md"):
        home.notifier.send(WAITS)


def test_a_redirect_is_not_followed_and_much_is_not_read(home: Phone) -> None:
    home.sink.fates += ["moved", "huge"]
    with pytest.raises(Refused, match="answers with 302"):
        home.notifier.send(WAITS)
    assert home.sink.tries == 1
    assert len(home.notifier.test()) < 400


def test_a_service_that_never_ends_its_answer_is_not_waited_for(home: Phone, tls: tuple[ssl.SSLContext, ...]) -> None:
    home.sink.fates.append("slow")
    began = datetime.now(UTC)
    with pytest.raises(DeliveryUnknown):
        home.notifier.send(WAITS)
    assert datetime.now(UTC) - began < timedelta(seconds=phone_notifier.PATIENCE + 5)


# --- which addresses are called ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/dQw4:APA91b-_x",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAAA-_=",
        "https://web.push.apple.com/QGuQyavXutnMH",
        "https://wns2-par02p.notify.windows.com/w/?token=BQYAAA%3d%3d",
    ],
)
def test_the_services_of_the_browsers_are_known(endpoint: str) -> None:
    assert KNOWN.fullmatch(endpoint)


# --- which browsers count ------------------------------------------------------------------------------------


def test_a_phone_is_told_while_its_session_would_be_let_in_and_no_longer(home: Phone) -> None:
    assert home.book.alive(NOON + IDLE + timedelta(days=1)) == [home.push], "it lay there for a night"
    assert home.book.alive(NOON + LONGEST + timedelta(seconds=1)) == []


def test_what_ends_a_session_ends_its_phone(tmp_path: Path) -> None:
    browser = SinkBrowser("https://fcm.googleapis.com/fcm/send/a")
    book, push = book_with(tmp_path / "agents.db", browser)
    keys = BoardKeys(Database(tmp_path / "agents.db"))
    assert [one.pushes for one in keys.sessions(NOON)] == [1]
    later = NOON + IDLE + timedelta(hours=1)
    assert keys.sign_in(keys.link(later), later), "what is old is swept"
    assert [one.pushes for one in keys.sessions(later)] == [0, 1], "who is signed out and notified is seen, and closed"
    assert keys.close(push.session[:8]) and book.alive(NOON) == []
    later = NOON + LONGEST + timedelta(hours=1)
    book, push = book_with(tmp_path / "other.db", browser)
    keys = BoardKeys(Database(tmp_path / "other.db"))
    assert keys.sign_in(keys.link(later, Role.VIEWER), later), "another one comes in, and what is old is swept"
    assert PushBook(Database(tmp_path / "other.db")).alive(NOON) == []


def test_who_was_taken_from_the_list_of_accounts_hears_nothing_any_more(tmp_path: Path) -> None:
    keys = BoardKeys(db := Database(tmp_path / "agents.db"), lambda _: RAHIM)
    found = keys.lets_in(keys.enter("github:12345", Role.VIEWER, NOON), NOON)
    assert found is not None
    browser, book = SinkBrowser("https://fcm.googleapis.com/fcm/send/a"), PushBook(db)
    book.keep(found.digest, browser.endpoint, browser.keys, "en", NOON)
    assert len(book.alive(NOON, {"github:12345"}.__contains__)) == 1
    assert book.alive(NOON, {"github:1"}.__contains__) == []


def test_the_same_browser_again_takes_its_own_place_and_there_are_not_many(home: Phone) -> None:
    again = home.book.keep(home.push.session, home.browser.endpoint, home.browser.keys, "bn", NOON)
    assert [one.id for one in home.kept] == [again.id] != [home.push.id]
    for _ in range(MOST_EACH - 1):
        home.book.keep(home.push.session, home.sink.browser().endpoint, home.browser.keys, "en", NOON)
    with pytest.raises(Refused, match="remove one first"):
        home.book.keep(home.push.session, home.sink.browser().endpoint, home.browser.keys, "en", NOON)


def test_none_is_kept_for_a_session_that_has_just_ended(tmp_path: Path) -> None:
    """It would be told of to nobody, and never end: a hundred of them, and nobody is notified any more."""
    book, push = book_with(tmp_path / "agents.db", SinkBrowser("https://fcm.googleapis.com/fcm/send/a"))
    db = Database(tmp_path / "agents.db")
    assert BoardKeys(db).close(push.session[:8])
    with pytest.raises(Refused, match="not signed in"):
        book.keep(push.session, push.endpoint, push.keys, "en", NOON)
    assert not db.rows("select * from pushes")


# --- sealed and signed ---------------------------------------------------------------------------------------


def test_the_example_of_rfc_8291_comes_out_byte_for_byte() -> None:
    once = ec.derive_private_key(
        int.from_bytes(unpacked("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big"), ec.SECP256R1()
    )
    point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    keys = BrowserKeys(point, "BTBZMqHH6r4Tts7J_aSIgg")
    found = sealed(b"When I grow up, I want to be a watermelon", keys, once, unpacked("DGv6ra1nlYgDCS1FRnbzlw"))
    assert packed(found) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
        "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


@pytest.mark.parametrize(
    ("p256dh", "auth"),
    [
        ("", "BTBZMqHH6r4Tts7J_aSIgg"),
        (packed(b"\x04" + bytes(64)), "BTBZMqHH6r4Tts7J_aSIgg"),  # no point of the curve
        (packed(b"\x00"), "BTBZMqHH6r4Tts7J_aSIgg"),  # the one at infinity
        (KEY.public, ""),
        (KEY.public, packed(bytes(17))),
        (KEY.public, "not base64!"),
        ("ключ", packed(bytes(16))),
    ],
)
def test_keys_that_are_none_are_refused(p256dh: str, auth: str) -> None:
    with pytest.raises(ValueError):
        BrowserKeys(p256dh, auth)


def test_the_homes_key_is_made_once_is_for_its_owner_alone_and_is_hidden(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.make()
    assert vapid_key(home).public == vapid_key(home).public
    assert home.push_key.stat().st_mode & 0o777 == 0o600
    secret = home.push_key.read_text()
    assert secret not in Outgoing(read_secrets(home, {}).to_hide).clean(f"a log with {secret} in it")


# --- kills ---------------------------------------------------------------------------------------------------

SEND = """
    import sys
    from pathlib import Path
    from sisimpur.shared.notify.messenger import Messenger
    from sisimpur.shared.notify.notice_book import NoticeRepository
    from sisimpur.shared.notify.phone.phone_notifier import PhoneNotifier
    from sisimpur.shared.notify.phone.push_book import PushBook
    from sisimpur.shared.store.database import Database
    from tests.edges.test_phone import NOON, WAITS, sender_for
    db = Database(Path(sys.argv[1]) / "agents.db")
    book, send = PushBook(db), sender_for(sys.argv[2], sys.argv[3])
    phones = lambda: [PhoneNotifier(push, book, send) for push in book.alive(NOON)]
    Messenger(NoticeRepository(db), [], print, phones).send(WAITS, NOON)
"""


def sender_for(url: str, certificates: str) -> PushSender:
    trust = ssl.create_default_context(cafile=certificates)
    return sender(PushSink(trust, NOON.timestamp(), url=url), trust)


def test_a_kill_at_any_point_loses_nothing_and_what_comes_twice_is_seen_once(tmp_path: Path) -> None:
    shows, _ = certificate(tmp_path, f"IP:{LOOPBACK}")
    with PushSink(shows, NOON.timestamp()).listening() as sink:

        def typed(name: str) -> list[str]:
            (place := tmp_path / name).mkdir()
            book_with(place / "agents.db", sink.browser())
            return snippet(SEND, str(place), sink.url, str(tmp_path / "cert.pem"))

        passed = points(typed("clean"))
        assert "phone.asked" in passed and len(sink.pushes) == 1
        for number in range(passed.index("notice.planned") + 1, len(passed) + 1):
            sink.pushes.clear()
            argv = typed(str(number))
            killed_at(number, argv)
            finishes(argv)
            is_twice = passed[number - 1] in ("phone.asked", "phone.noted", "notice.sent")
            assert len(sink.pushes) == 1 + is_twice, passed[number - 1]
            assert len(sink.shown()) == 1, "the same tag"


def test_a_messenger_asks_anew_who_is_to_be_told(home: Phone) -> None:
    told = Messenger(
        NoticeRepository(Database(home.book._db.path)),
        [],
        print,
        lambda: [home.notifier] if home.kept else (),
    )
    told.send(WAITS, NOON)
    assert told.has_arrived(WAITS.key) and len(home.sink.pushes) == 1
    home.book.end(home.push.id)
    told.send(replace(WAITS, key="2026-11-20:other"), NOON)
    assert len(home.sink.pushes) == 1
