"""MailNotifier keeps the notifier's contract against a real mail server; what a mail may hold, and what it may not."""

from __future__ import annotations

import base64
import dataclasses
import re
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.config.settings_policy import MailSettings
from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.notify.mail_notifier import MailNotifier, MailServer
from sisimpur.shared.notify.mail_text import STYLE, Letterhead, letter
from sisimpur.shared.notify.notice import AGAIN, DeliveryUnknown, Notice, Picture, Section
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home
from tests.edges.notifier_contract import NOTICE, NotifierContract, NotifierHome, everything_said
from tests.edges.test_discord import HOSTILE, NOTICES
from tests.killing import finishes, killed_at, points, snippet
from tests.mail_sink import LOOPBACK, OTHER, PASSWORD, USER, MailSink, certificate

AS_IT_IS_TYPED = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).decode()
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HEAD = Letterhead("you@example.com", ("you@example.com", "other@example.com"), "home")
PNG = bytes.fromhex("89504e470d0a1a0a") + bytes(range(256))
DAY = Notice("2026-11-20:day", "2026-11-20: the day's report", "2 merged, $0.13 of $5.00 spent\nThe whole report: `x`")
WITH_BOTH = dataclasses.replace(DAY, picture=Picture("a.png", PNG, "two merged", PNG[::-1]))
WITH_PICTURE = dataclasses.replace(DAY, picture=Picture("a\r\nb.png", PNG, 'two "merged"'))


class Server(NotifierHome):
    """Whoever is called 127.0.0.2 is another machine: without TLS nothing is said there."""

    secret = PASSWORD

    def __init__(self, sink: MailSink, trust: ssl.SSLContext) -> None:
        self.sink, self.trust = sink, trust
        self.notifier: MailNotifier = self.asked()

    def asked(self, url: str = "", password: str = PASSWORD, patience: float = 10.0) -> MailNotifier:
        server = MailServer(url or self.sink.url, USER, password, patience, self.trust)
        return MailNotifier(server, HEAD, ManualClock(NOON))

    def shown(self) -> list[str]:
        return [mail.text for mail in self.sink.mails]

    def fail(self) -> None:
        self.sink.fates.append(f"at END 451 4.3.0 try later, {PASSWORD}")

    def lose(self) -> None:
        self.sink.fates.append("lost")

    def misdirected(self) -> MailNotifier:
        return self.asked(password="not this one")


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return certificate(tmp_path_factory.mktemp("tls"), f"IP:{OTHER}")


@pytest.fixture(params=["STARTTLS", "TLS at once", "on this machine"])
def home(request: pytest.FixtureRequest, tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> Iterator[Server]:
    shows, trusts = tls
    host = LOOPBACK if request.param == "on this machine" else OTHER
    with MailSink(shows, request.param == "TLS at once", host=host).listening() as sink:
        yield Server(sink, trusts)


@pytest.fixture
def other(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> Iterator[Server]:
    with MailSink(tls[0], host=OTHER).listening() as sink:
        yield Server(sink, tls[1])


class TestMailNotifier(NotifierContract):
    def test_between_machines_all_is_encrypted(self, home: Server) -> None:
        home.notifier.send(NOTICE)
        (mail,) = home.sink.mails
        assert (mail.sender, mail.to) == (USER, [*HEAD.to])
        assert mail.was_encrypted == (home.sink.host == OTHER)
        if home.sink.host == OTHER:
            assert {line.split()[0] for line in home.sink.heard if not line.startswith("TLS ")} <= {"ehlo", "STARTTLS"}


# --- the line ------------------------------------------------------------------------------------------------


def test_a_server_that_offers_no_encryption_hears_neither_a_word_nor_the_password(other: Server) -> None:
    other.sink.fates.append("plain")
    with pytest.raises(Misconfigured, match=r"offers no encryption .STARTTLS., so nothing was said"):
        other.notifier.send(NOTICE)
    assert [line.split()[0].lower() for line in other.sink.heard] == ["ehlo"]


def test_a_certificate_that_nobody_vouches_for_ends_it(other: Server) -> None:
    other.trust = ssl.create_default_context()
    with pytest.raises(Unavailable, match=r"a certificate that is none of its own .self-signed"):
        other.asked().send(NOTICE)
    assert other.sink.mails == [] and not any("AUTH" in line for line in other.sink.heard)


def test_a_certificate_for_another_name_ends_it(other: Server, tmp_path: Path) -> None:
    shows, other.trust = certificate(tmp_path, "DNS:mail.example.com")
    other.sink.tls = shows
    with pytest.raises(Unavailable, match=r"not valid for '127.0.0.2'"):
        other.asked().send(NOTICE)
    assert other.sink.mails == []


@pytest.mark.parametrize(
    ("fate", "kind", "said"),
    [
        ("at GREETING 554 no", Unavailable, "554 no"),
        ("at GREETING 421 later", Unavailable, "421 later"),
        ("at AUTH 454 later", Unavailable, "454 later"),
        ("at AUTH 535 no", Misconfigured, "MAIL_USER and MAIL_PASSWORD in config/.env"),
        ("at MAIL 550 no", Misconfigured, "mail from you@example.com; see mail.sender in config/policy.yaml"),
        ("at RCPT 550 nobody", Misconfigured, "mail to you@example.com; see mail.to in config/policy.yaml"),
        ("at RCPT 450 greylisted", Unavailable, "450 greylisted"),
        ("at DATA 503 no", Refused, "503 no"),
        ("at END 554 spam", Refused, "554 spam"),
        ("at END 452 full", Unavailable, "452 full"),
        ("at END what", DeliveryUnknown, "perhaps it has it"),
        ("cut", DeliveryUnknown, "perhaps it has it"),
        ("lost", DeliveryUnknown, "perhaps it has it"),
        ("silent", Unavailable, "127.0.0.2"),
    ],
)
def test_whatever_it_answers_it_is_told_what_became_of_the_mail(
    other: Server, fate: str, kind: type[TeamError], said: str
) -> None:
    other.sink.fates.append(fate)
    with pytest.raises(kind) as caught:
        other.asked(patience=0.5 if fate == "silent" else 10).send(NOTICE)
    assert type(caught.value) is kind and said in str(caught.value)
    assert len(other.sink.mails) == (fate == "lost")


def test_a_server_that_answers_ever_so_slowly_is_left_after_a_while(other: Server) -> None:
    other.sink.fates.append("slow")
    begun = time.monotonic()
    with pytest.raises(Unavailable):
        other.asked(patience=0.4).send(NOTICE)
    assert time.monotonic() - begun < 3


def test_nobody_there_is_named_with_where_to_look(other: Server) -> None:
    with pytest.raises(Unavailable, match=r"127.0.0.2:9 cannot be reached .Connection refused.; see mail.server"):
        other.asked("smtp://127.0.0.2:9").check()


def test_a_password_that_a_server_repeats_is_in_no_error_however_it_is_written(other: Server) -> None:
    other.sink.fates.append(f"at RCPT 550 {PASSWORD.replace(' ', '')} {AS_IT_IS_TYPED}")
    with pytest.raises(Misconfigured) as caught:
        other.notifier.send(NOTICE)
    told = everything_said(caught.value)
    assert told.count("[removed: MAIL_PASSWORD]") >= 2 and "mnop" not in told and "bW5vc" not in told


def test_doctor_signs_in_and_sends_nothing(other: Server) -> None:
    assert other.notifier.check() == f"{OTHER}:{other.sink.port} answers; goes to you@example.com, other@example.com"
    assert other.sink.mails == []
    with pytest.raises(Misconfigured, match=r"535 5.7.8 not .*with .removed: MAIL_PASSWORD.*docs/reports.md"):
        other.misdirected().check()


def test_a_name_without_a_password_is_no_silence() -> None:
    with pytest.raises(Misconfigured, match="both"):
        MailNotifier(MailServer("smtp://localhost", USER), HEAD, ManualClock(NOON))


def test_a_line_of_dots_ends_no_mail(other: Server) -> None:
    other.notifier.send(dataclasses.replace(NOTICE, text="a\n.\n..\nQUIT\n.b"))
    assert "a\n.\n..\nQUIT\n.b" in other.shown()[0]


# --- what it holds -------------------------------------------------------------------------------------------

BENGALI = "যোগফল ঠিক করো: ক্ষমা, বাংলাদেশ"


def test_bengali_arrives_letter_by_letter_in_the_subject_and_the_words(other: Server) -> None:
    other.notifier.send(Notice("2026-11-20:t:waiting-1", f"Waits for you: {BENGALI * 4}", f"**{BENGALI}**"))
    (mail,) = other.sink.mails
    assert mail.message["Subject"] == f"Waits for you: {BENGALI * 4}"
    assert mail.raw.isascii() and b"Subject: Waits for you: =?utf-8?" in mail.raw
    assert max(map(len, mail.raw.split(b"\r\n"))) <= 78
    assert BENGALI in mail.text and f"<b>{BENGALI}</b>" in mail.page


def test_the_subject_of_the_evening_is_its_headline() -> None:
    assert letter(DAY, HEAD, NOON)["Subject"] == "2026-11-20: 2 merged, $0.13 of $5.00 spent"


def test_the_picture_lies_in_the_page_as_wide_as_a_phone(other: Server) -> None:
    other.notifier.send(WITH_PICTURE)
    (mail,) = other.sink.mails
    assert [part.get_content_type() for part in mail.message.walk()] == [
        *("multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png")
    ]
    *_, image = mail.message.walk()
    assert image.get_payload(decode=True) == PNG
    assert (image["Content-ID"], image.get_filename()) == ("<picture>", "day.png")
    assert (
        '<img src="cid:picture" width="360" style="max-width:100%;height:auto" alt="two &quot;merged&quot;">'
        in mail.page
    )


def test_a_dark_picture_is_shown_where_it_is_dark(other: Server) -> None:
    other.notifier.send(WITH_BOTH)
    (mail,) = other.sink.mails
    images = [part for part in mail.message.walk() if part.get_content_type() == "image/png"]
    assert {str(one["Content-ID"]): one.get_payload(decode=True) for one in images} == {
        "<picture>": PNG,
        "<dark>": PNG[::-1],
    }
    dark = '<picture><source srcset="cid:dark" media="(prefers-color-scheme: dark)"><img src="cid:picture"'
    assert dark in mail.page


def test_a_report_as_a_pdf_is_attached_under_the_name_of_its_day(other: Server) -> None:
    other.notifier.send(dataclasses.replace(WITH_BOTH, pdf=b"%PDF-1.4 a report"))
    (mail,) = other.sink.mails
    (attached,) = mail.message.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == ("application/pdf", "2026-11-20.pdf")
    assert attached.get_payload(decode=True) == b"%PDF-1.4 a report"
    assert '<img src="cid:picture"' in mail.page and "2 merged" in mail.text


def test_the_same_words_are_the_same_mail_and_a_day_is_one_thread() -> None:
    def ids(notice: Notice, head: Letterhead = HEAD) -> tuple[str, str]:
        mail = letter(notice, head, NOON)
        assert mail["In-Reply-To"] == mail["References"]
        return mail["Message-ID"], mail["References"]

    own, thread = ids(DAY)
    again = dataclasses.replace(WITH_PICTURE, text=f"{DAY.text}\n\n{AGAIN}")
    assert ids(again) == (own, thread)
    for change in ({"text": "other"}, {"key": "2026-11-20:day#1"}, {"sections": (Section("a", "b"),)}):
        other, same = ids(dataclasses.replace(DAY, **change))
        assert other != own and same == thread
    assert ids(dataclasses.replace(DAY, key="2026-11-21:day"))[1] != thread
    assert not {own, thread} & {*ids(DAY, dataclasses.replace(HEAD, home="another"))}


@pytest.mark.parametrize("sender", ["me@example.com", f"me@{'long.' * 11}example"])
def test_the_ids_stand_whole_in_one_line_each(sender: str) -> None:
    raw = letter(NOTICE, dataclasses.replace(HEAD, sender=sender), NOON).as_bytes()
    for name in ("Message-ID", "In-Reply-To", "References"):
        assert re.search(rf"^{name}:(\r\n)? <[0-9a-f]{{32}}@[a-z.]+>\r$", raw.decode(), re.MULTILINE)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\0"])
def test_no_title_becomes_a_header(other: Server, end: str) -> None:
    """Of a task, of a picture, of a section; folded or not."""
    attack = f"Fix{end}Bcc: thief@evil.example{end}{end}{end}.{end}RCPT TO:<thief@evil.example>{end} {'x ' * 90}é"
    words = (Section(attack, attack),)
    for key in ("2026-11-20:t:waiting-1", "2026-11-20:day", f"{attack}:day"):
        other.notifier.send(Notice(key, attack, attack, sections=words, picture=Picture(attack, PNG, attack)))
    for mail in other.sink.mails:
        assert mail.to == [*HEAD.to]
        assert [name.lower() for name in mail.message] == [
            *("from", "to", "subject", "date", "message-id", "in-reply-to", "references", "auto-submitted"),
            *("mime-version", "content-type"),
        ]
        assert "evil" not in "".join(str(mail.message[name]) for name in mail.message if name != "Subject")


@settings(deadline=None)
@given(NOTICES, HOSTILE)
def test_whatever_a_notice_holds_it_is_a_mail_in_which_nothing_acts(notice: Notice, key: str) -> None:
    mail = letter(dataclasses.replace(notice, key=key), HEAD, NOON, ("github.com",))
    assert mail.as_bytes().isascii()
    page = mail.get_body(("html",))
    assert page
    html = page.get_content()
    tags = set(re.findall(r"<[^>]*>", html))
    assert {tag for tag in tags if re.match("<(?!a href)", tag)} <= {
        *("<!doctype html>", "<html>", f'<body style="{STYLE}">', "</body>", "</html>"),
        *("<b>", "</b>", "<code>", "</code>", "<br>", "</a>"),
        *(tag for tag in tags if re.fullmatch(r'<img src="cid:picture" width="360" style="[^"]*" alt="[^"<>]*">', tag)),
    }
    for link in re.findall(r"<a ([^>]*)>", html):
        assert re.fullmatch(r'href="https://github\.com(/[^"<>]*)?"', link), link
    text = mail.get_body(("plain",))
    assert text and not re.search(r"@(everyone|here)|\]\(", text.get_content(), re.IGNORECASE)


# --- the settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"server": "smtp.example.com", "to": ["you@example.com"]},
        {"server": "http://smtp.example.com", "to": ["you@example.com"]},
        {"server": "smtp://you:secret@smtp.example.com", "to": ["you@example.com"]},
        {"server": "smtp://smtp.example.com:99999", "to": ["you@example.com"]},
        {"server": "smtp://smtp.example.com"},
        {"to": ["you@example.com"]},
        {"server": "smtp://smtp.example.com", "to": ["you@example.com\r\nBcc: a@b.example"]},
        {"server": "smtp://smtp.example.com", "to": ["a@b.example, c@d.example"]},
        {"server": "smtp://smtp.example.com", "to": ["a@b.example"], "sender": "a@b.example> SIZE=1"},
        {"server": "smtp://smtp.example.com", "to": ["a@b.example"], "password": "secret"},
    ],
)
def test_settings_that_mail_nobody_or_hold_a_key_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        MailSettings.model_validate(wrong)


@pytest.mark.parametrize("server", ["smtps://smtp.example.com", "smtp://smtp.example.com:587", "smtp://[::1]:25"])
def test_servers_that_are_taken(server: str) -> None:
    assert MailSettings.model_validate({"server": server, "to": ["you@example.com"]}).server == server


def test_nothing_is_mailed_by_default() -> None:
    assert MailSettings().server == ""


def test_the_password_is_cleaned_from_every_text_and_the_owners_address_is_not(tmp_path: Path) -> None:
    """Whoever signs in by his address has it in his commits, too."""
    secrets = read_secrets(Home(tmp_path), {"MAIL_USER": USER, "MAIL_PASSWORD": PASSWORD})
    clean = Outgoing(secrets.to_hide).clean
    assert clean(f"{USER} has {PASSWORD}") == f"{USER} has [removed: MAIL_PASSWORD]"


# --- kills ---------------------------------------------------------------------------------------------------

SEND = """
    import sys
    from pathlib import Path
    from sisimpur.shared.notify.mail_notifier import MailNotifier, MailServer
    from sisimpur.shared.notify.messenger import Messenger
    from sisimpur.shared.notify.notice_book import NoticeRepository
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.system.clock import ManualClock
    from tests.edges.test_mail import HEAD, NOON, WITH_PICTURE
    mail = MailNotifier(MailServer(sys.argv[2]), HEAD, ManualClock(NOON))
    Messenger(NoticeRepository(Database(Path(sys.argv[1]) / "agents.db")), [mail], print).send(WITH_PICTURE, NOON)
"""


def test_a_kill_at_any_point_loses_nothing_and_what_comes_twice_is_the_same_mail(tmp_path: Path) -> None:
    with MailSink().listening() as sink:
        (tmp_path / "clean").mkdir()
        passed = points(snippet(SEND, str(tmp_path / "clean"), sink.url))
        (clean,) = sink.mails
        for number in range(len(passed) - 3, len(passed) + 1):
            sink.mails.clear()
            place = tmp_path / str(number)
            place.mkdir()
            killed_at(number, snippet(SEND, str(place), sink.url))
            finishes(snippet(SEND, str(place), sink.url))
            assert len(sink.mails) == 1 + (passed[number - 1] == "notice.sent")
            assert {mail.message["Message-ID"] for mail in sink.mails} == {clean.message["Message-ID"]}
            assert (AGAIN in sink.mails[-1].text) == (passed[number - 1] in ("notice.sending", "notice.sent"))
