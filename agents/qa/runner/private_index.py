"""Private package index: what its pages and files are asked for, with a password that no box ever sees.

The box asks in plain text, on the socket that is its way out; the name and the password of the owner are put in here.
Only GET, and only below the index: a password may open far more than packages.

    PACKAGE_INDEX_URL=https://NAME:PASSWORD@HOST/team/simple/     what lies below /team/ is passed on
"""

from __future__ import annotations

import base64
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import unquote, urlsplit

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box import METER_PORT

ASKED = re.compile(rb"GET (/[!-~]{0,2000}) HTTP/1\.[01]\r\n")
WANTS = re.compile(rb"\r\naccept: ([!-~ ]{1,500})\r\n", re.IGNORECASE)
LARGEST_PAGE = 32 << 20  # bytes; the list of a package's files
CHUNK = 1 << 16
SECONDS = 60.0
MOVED = 300
IN_ENV = "the name or password of PACKAGE_INDEX_URL in config/.env"
PAGES = ("text/html", "application/vnd.pypi.simple")


@dataclass(frozen=True)
class PrivateIndex:
    """`url`: the owner's, with name and password; it stands in no message. `here`: where the box finds us."""

    url: str = field(repr=False)
    here: str = f"http://127.0.0.1:{METER_PORT}"

    @property
    def path(self) -> str:
        return (urlsplit(self.url).path or "/").rstrip("/")

    @property
    def in_the_box(self) -> str:
        """What pip takes as its index."""
        return f"{self.here}{self.path}/"

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def target(self, header: bytes) -> str | None:
        """The path that is asked for; None: it is no question to us. Refused: it lies elsewhere than the packages."""
        if (asked := ASKED.match(header)) is None:
            return None
        target = asked[1].decode("ascii")
        path = unquote(target.partition("?")[0])
        below = f"{self.path.rpartition('/')[0]}/"
        if not path.startswith(below) or ".." in path.split("/") or "%" in path or "\\" in path:
            raise Refused(f"{target[:80]} does not lie below {below} of the index in config/.env")
        return target

    def beside(self, target: str, hosts: tuple[str, ...]) -> str:
        """Where a package is looked for that this index does not have: at the first host, never at both."""
        name = re.fullmatch(rf"{re.escape(self.path)}/([A-Za-z0-9._-]+)/?", target)
        return f"https://{hosts[0]}/simple/{name[1]}/" if name and hosts else ""

    @contextmanager
    def opened(self, target: str, accept: str) -> Iterator[HTTPResponse]:
        """OSError, HTTPException: it does not answer."""
        parts = urlsplit(self.url)
        known = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
        headers = {"Accept": accept, "User-Agent": "pip", "Accept-Encoding": "identity"}
        if parts.username or parts.password:
            headers["Authorization"] = f"Basic {base64.b64encode(known).decode()}"
        line = (
            HTTPSConnection(self.host, parts.port, timeout=SECONDS, context=ssl.create_default_context())
            if parts.scheme == "https"
            else HTTPConnection(self.host, parts.port, timeout=SECONDS)
        )
        try:
            line.request("GET", target, headers=headers)
            yield line.getresponse()
        finally:
            line.close()

    def answer(self, client: socket.socket, header: bytes, hosts: tuple[str, ...], spend: Callable[[int], None]) -> str:
        """Pass the answer on, without a word of how we were let in. Return why there is none; empty: there is one."""
        target = self.target(header)
        if target is None:
            raise Refused("the private index is only asked for pages and files (GET)")
        wants = WANTS.search(header)
        try:
            with self.opened(target, wants[1].decode() if wants else "*/*") as found:
                self._passed_on(client, found, self.beside(target, hosts), spend)
                return f"{self.host} refuses {IN_ENV} ({found.status})" if found.status in (401, 403) else ""
        except (OSError, HTTPException) as error:
            with suppress(OSError):
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return f"{self.host} cannot be reached ({type(error).__name__})"

    def _passed_on(self, client: socket.socket, found: HTTPResponse, beside: str, spend: Callable[[int], None]) -> None:
        kind = found.headers.get("Content-Type", "application/octet-stream")
        if found.status in (404, 410) and beside:
            client.sendall(_head(302, Location=beside, Content_Length="0"))
            return
        if found.status >= MOVED:  # what an error's page says of the question is nobody's business
            to = self._ours(found.headers.get("Location", ""))
            client.sendall(_head(found.status, **({"Location": to} if to else {}), Content_Length="0"))
            return
        if kind.startswith(PAGES):
            page = found.read(LARGEST_PAGE + 1)
            if len(page) > LARGEST_PAGE:
                raise HTTPException("a page that is too long")
            page = self._ours(page.decode("utf-8", "replace")).encode()
            spend(len(page))
            client.sendall(_head(found.status, Content_Type=kind, Content_Length=str(len(page))) + page)
            return
        length = found.headers.get("Content-Length")
        client.sendall(_head(found.status, Content_Type=kind, **({"Content_Length": length} if length else {})))
        while data := found.read(CHUNK):
            spend(len(data))
            client.sendall(data)

    def _ours(self, text: str) -> str:
        """Links to the index, as links to us; a name and password in them are left out."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        there = rf"{parts.scheme}://(?:[^/@\s\"'<>]{{0,500}}@)?{re.escape(f'{self.host}{port}')}(?=/)"
        return re.sub(there, self.here, text)


def _head(status: int, **fields: str) -> bytes:
    lines = [f"HTTP/1.1 {status} -", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {''.join(filter(str.isprintable, value))}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
