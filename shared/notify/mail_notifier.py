"""Mail adapter: what a mail server's answers mean for a notice.

It cannot be asked what it has, and takes nothing back: it keeps no ids, and gets of a day's message the last words
alone. Nothing is said to another machine before the line is encrypted and its certificate was checked. What a server
or the library says may repeat the password: it is cleaned, and stands behind no error.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Timer
from urllib.parse import urlsplit

from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.notify.mail_text import Letterhead, letter
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.outgoing import Outgoing

OURSELVES = frozenset({"127.0.0.1", "localhost", "::1"})  # here alone nothing is encrypted
NAMELESS = "[127.0.0.1]"  # what we call ourselves: nobody has to look up a name
BUDGET = 3  # times a server's patience: for one mail
LONGEST_WORDS = 200
KEYS = "MAIL_USER and MAIL_PASSWORD in config/.env"
HOW = "docs/reports.md says what stands there"


@dataclass(frozen=True)
class MailServer:
    """`address`: smtps://HOST:PORT is encrypted at once, smtp://HOST:PORT by STARTTLS, which it must offer.

    `patience`: the longest silence, in seconds. `trust`: whose certificates count; None: whose this machine trusts.
    """

    address: str
    user: str = ""
    password: str = field(default="", repr=False)
    patience: float = 10.0
    trust: ssl.SSLContext | None = None


class MailNotifier:
    """Misconfigured if there is no password to the name."""

    name: str = "mail"

    def __init__(self, server: MailServer, head: Letterhead, clock: Clock, hosts: Collection[str] = ()) -> None:
        if bool(server.user) != bool(server.password):
            raise Misconfigured(f"mail needs both, {KEYS}, or neither; {HOW}")
        parts = urlsplit(server.address)
        self._is_encrypted, self._host = parts.scheme == "smtps", parts.hostname or ""
        self._port = parts.port or (465 if self._is_encrypted else 587)
        self._server, self._head, self._clock, self._hosts = server, head, clock, tuple(hosts)
        self.takes_pdf = head.takes_pdf
        self._clean = Outgoing({"MAIL_PASSWORD": server.password} if server.password else {}).clean

    def wants(self, notice: Notice, is_whole: bool) -> bool:  # noqa: ARG002
        """The day's message comes once, when the day is over."""
        return is_whole

    def send(self, notice: Notice, sent: str = "") -> str:  # noqa: ARG002
        """To all or to nobody: see Notifier."""
        content = letter(notice, self._head, self._clock.now(), self._hosts).as_bytes()
        self._work(lambda line: self._post(line, content))
        return ""

    def check(self) -> str:
        """Sign in, and send nothing -> what is so; else what `send` would raise."""
        self._work(lambda _: None)
        return f"{self._host}:{self._port} answers; goes to {', '.join(self._head.to)}"

    # --- one mail

    def _work(self, do: Callable[[smtplib.SMTP], None]) -> None:
        if problem := self._problem(do):
            raise problem  # here, where no error of the library is behind it

    def _problem(self, do: Callable[[smtplib.SMTP], None]) -> TeamError | None:
        try:
            with self._signed_in() as line:
                do(line)
                with suppress(OSError, ValueError):
                    line.quit()
        except TeamError as problem:
            return problem
        except (OSError, ValueError) as error:
            return self._meant(error)
        return None

    @contextmanager
    def _signed_in(self) -> Iterator[smtplib.SMTP]:
        server, trust = self._server, self._server.trust or ssl.create_default_context()
        if self._is_encrypted:
            line: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, NAMELESS, timeout=server.patience, context=trust
            )
        else:
            line = smtplib.SMTP(self._host, self._port, NAMELESS, server.patience)
        end = Timer(BUDGET * server.patience, _cut, [line])
        end.daemon = True
        with closing(line):
            end.start()
            try:
                line.ehlo_or_helo_if_needed()
                if not self._is_encrypted and self._host not in OURSELVES:
                    self._encrypt(line, trust)
                if server.user:
                    line.login(server.user, server.password)
                yield line
            finally:
                end.cancel()

    def _encrypt(self, line: smtplib.SMTP, trust: ssl.SSLContext) -> None:
        if not line.has_extn("starttls"):
            raise Misconfigured(
                f"{self._host} offers no encryption (STARTTLS), so nothing was said to it;"
                f" write smtps://{self._host}:465 as mail.server in config/policy.yaml if it has that"
            )
        line.starttls(context=trust)

    def _post(self, line: smtplib.SMTP, content: bytes) -> None:
        head = self._head
        self._expect(line.mail(head.sender), f"mail from {head.sender}; see mail.sender in config/policy.yaml")
        for one in head.to:
            self._expect(line.rcpt(one), f"mail to {one}; see mail.to in config/policy.yaml")
        self._expect(line.docmd("DATA"), "the mail", Refused)
        answer = None
        with suppress(OSError, ValueError):  # from here on it may have all of it
            line.send(re.sub(rb"(?m)^\.", b"..", content) + b".\r\n")
            answer = line.getreply()
        if answer is None or answer[0] // 100 not in (2, 4, 5):
            raise DeliveryUnknown(f"{self._host} did not confirm the mail; perhaps it has it")
        self._expect(answer, "the mail", Refused)

    # --- what it means

    def _expect(self, answer: tuple[int, bytes], what: str, never: type[TeamError] = Misconfigured) -> None:
        if answer[0] // 100 == 5:
            raise never(f"{self._host} does not take {what} ({self._said(*answer)})")
        if answer[0] // 100 not in (2, 3):
            raise Unavailable(f"{self._host} does not take it now ({self._said(*answer)})")

    def _meant(self, error: Exception) -> TeamError:
        match error:
            case smtplib.SMTPAuthenticationError(smtp_code=code, smtp_error=said) if code // 100 == 5:
                return Misconfigured(f"{self._host} does not take {KEYS} ({self._said(code, said)}); {HOW}")
            case smtplib.SMTPResponseException(smtp_code=code, smtp_error=said):
                return Unavailable(f"{self._host} does not take it now ({self._said(code, said)})")
            case ssl.SSLCertVerificationError(verify_message=why):
                return Unavailable(f"{self._host} shows a certificate that is none of its own ({why})")
            case smtplib.SMTPNotSupportedError() | UnicodeEncodeError():
                return Misconfigured(f"{self._host} takes no password in any way that we know; see {KEYS}; {HOW}")
        why = getattr(error, "strerror", "") or one_line(self._clean(str(error)))
        return Unavailable(
            f"{self._host}:{self._port} cannot be reached ({why}); see mail.server in config/policy.yaml"
        )

    def _said(self, code: int, words: bytes | str) -> str:
        text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
        return one_line(f"{code} {self._clean(text)}", LONGEST_WORDS)


def _cut(line: smtplib.SMTP) -> None:
    """However slowly it goes on answering."""
    with suppress(OSError):
        if line.sock:
            socket.socket.shutdown(line.sock, socket.SHUT_RDWR)  # the way of its own would end the encryption first
