"""A mail server on this machine: real lines, real TLS, and every kind of bad weather."""

from __future__ import annotations

import base64
import socketserver
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

USER, PASSWORD = "you@example.com", "abcd efgh ijkl mnop"
LOOPBACK, OTHER = "127.0.0.1", "127.0.0.2"  # the same machine; but only of the first everybody knows that


@dataclass
class Mail:
    """`raw`: as it came over the line, without its dots."""

    sender: str
    to: list[str]
    raw: bytes
    was_encrypted: bool

    @property
    def message(self) -> EmailMessage:
        found = message_from_bytes(self.raw, policy=default)
        assert isinstance(found, EmailMessage)
        return found

    @property
    def text(self) -> str:
        """What is to be read of it by who sees no pages."""
        part = self.message.get_body(("plain",))
        assert part
        return f"{self.message['Subject']}\n{part.get_content()}".replace("\r\n", "\n")

    @property
    def page(self) -> str:
        part = self.message.get_body(("html",))
        assert part
        return str(part.get_content()).replace("\r\n", "\n")


@dataclass
class MailSink:
    """`fates`: for one connection each, what becomes of it; then all is well.

    `at VERB ANSWER`: this answer to that command. `lost`: taken, and the line ends. `cut`: it ends within the mail.
    `silent`: no greeting. `slow`: each answer comes late. `plain`: it offers no encryption.
    """

    tls: ssl.SSLContext | None = None
    at_once: bool = False  # TLS without asking
    fates: list[str] = field(default_factory=list)
    mails: list[Mail] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)  # each command, with what was encrypted
    host: str = LOOPBACK
    port: int = 0

    @property
    def url(self) -> str:
        return f"smtp{'s' * self.at_once}://{self.host}:{self.port}"

    @contextmanager
    def listening(self) -> Iterator[MailSink]:
        sink = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                talk = _Talk(sink, self.request)
                with suppress(OSError, ValueError):
                    talk.go_on()
                talk.end()

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, block_on_close = True, True, False

        with Server((self.host, 0), Handler) as server:
            self.port = server.server_address[1]
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            yield self
            server.shutdown()
            thread.join()


class _Talk:
    """One connection."""

    def __init__(self, sink: MailSink, line: Any) -> None:
        self.sink, self.line = sink, line
        self.fate = sink.fates.pop(0) if sink.fates else ""
        self.is_encrypted = False
        self.sender, self.to = "", list[str]()
        self.file = line.makefile("rb")
        line.settimeout(20)

    def encrypt(self) -> None:
        assert self.sink.tls
        self.file.close()
        self.line = self.sink.tls.wrap_socket(self.line, server_side=True)
        self.file = self.line.makefile("rb")
        self.is_encrypted = True

    def end(self) -> None:
        self.file.close()
        self.line.close()

    def say(self, text: str) -> None:
        if self.fate == "slow":
            time.sleep(0.3)
        self.line.sendall(f"{text}\r\n".encode())

    def go_on(self) -> None:
        if self.sink.at_once:
            self.encrypt()
        if self.fate == "silent":
            time.sleep(5)
            return
        self.say(self.planned("GREETING") or "220 here")
        while command := self.file.readline().decode().strip():
            self.sink.heard.append(f"{'TLS ' * self.is_encrypted}{command}")
            verb = command.split()[0].split(":")[0].upper()
            if verb == "DATA":
                if not self.take():
                    return
            elif answer := self.planned(verb):
                self.say(answer)
            else:
                getattr(self, f"on_{verb.lower()}")(command)
            if verb == "QUIT":
                return

    def planned(self, verb: str) -> str:
        begin = f"at {verb} "
        return self.fate.removeprefix(begin) if self.fate.startswith(begin) else ""

    def on_ehlo(self, _: str) -> None:
        can = ["here", "AUTH PLAIN"]
        if self.sink.tls and not self.is_encrypted and self.fate != "plain":
            can.append("STARTTLS")
        for number, one in enumerate(can, 1):
            self.say(f"250{' ' if number == len(can) else '-'}{one}")

    def on_starttls(self, _: str) -> None:
        self.say("220 go on")
        self.encrypt()

    def on_auth(self, command: str) -> None:
        given = base64.b64decode(command.split()[2])
        good = given == f"\0{USER}\0{PASSWORD}".encode()
        told = given.decode().split("\0")[-1]
        self.say("235 welcome" if good else f"535 5.7.8 not {command.split()[2]} with {told}")

    def on_mail(self, command: str) -> None:
        self.sender = command.partition("<")[2].partition(">")[0]
        self.say("250 ok")

    def on_rcpt(self, command: str) -> None:
        self.to.append(command.partition("<")[2].partition(">")[0])
        self.say("250 ok")

    def on_quit(self, _: str) -> None:
        self.say("221 bye")

    def take(self) -> bool:
        """False: the line has ended."""
        if answer := self.planned("DATA"):
            self.say(answer)
            return True
        self.say("354 go on")
        lines: list[bytes] = []
        while (line := self.file.readline()) and line != b".\r\n":
            if self.fate == "cut":
                return False
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if answer := self.planned("END"):
            self.say(answer)
            return True
        self.sink.mails.append(Mail(self.sender, self.to, b"".join(lines), self.is_encrypted))
        if self.fate == "lost":
            return False
        self.say("250 taken")
        return True


def certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A certificate for these names, as openssl makes one -> who shows it, and who trusts it."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    told = ("-days", "2", "-subj", "/CN=mail", "-addext", f"subjectAltName={','.join(names)}")
    subprocess.run([*made, *told, "-keyout", key, "-out", cert], check=True, capture_output=True, timeout=60)
    shows = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shows.load_cert_chain(cert, key)
    return shows, ssl.create_default_context(cafile=str(cert))
