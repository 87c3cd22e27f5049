"""Door to the wire of a site. The only module that sends a request to a stranger, and takes bytes from one.

Each request is a connection of its own, to an address that was looked at before. No proxy is asked, no redirect
followed, nothing remembered from one request to the next. What the other side sends is bounded in size and time.
"""

from __future__ import annotations

import asyncio
import queue
import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.model.errors import Refused, Unavailable
from shared.system.web_address import WebAddress, is_literal, is_public, resolved, shown

if TYPE_CHECKING:
    import httpx2

AGENT = "sisimpur-agents/0.1 (research)"
CONNECT = 5.0  # seconds for one of several addresses of a name
MOST_ADDRESSES = 3  # of a name that are tried
CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)
GZIP = 16 + zlib.MAX_WBITS

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class WebAnswer:
    """`kind`: the media type, in lower case. `location`: where a redirect leads. `whole`: the body is not cut."""

    status: int
    kind: str = ""
    charset: str = ""
    location: str = ""
    body: bytes = b""
    whole: bool = True


class WebTimeouts:
    """How long one page with all that belongs to it may keep us, in seconds; pauses of our own are not counted."""

    def __init__(self, seconds: float) -> None:
        self._all = self._left = seconds

    @contextmanager
    def spent(self, at: WebAddress, most: float) -> Iterator[float]:
        """How long this may take. Unavailable: nothing is left."""
        if self._left <= 0:
            raise Unavailable(f"{shown(at.url)} took longer than {self._all:g} s")
        began = time.monotonic()
        try:
            yield min(self._left, most)
        finally:
            self._left -= time.monotonic() - began


class WebLine:
    """`resolve`: a name and a port -> IP addresses. `may_reach`: whether an IP address may be connected.

    `context`: whom to believe that a site is who it says; default: the usual authorities.
    """

    def __init__(
        self,
        resolve: Resolve = resolved,
        may_reach: Callable[[str], bool] = is_public,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._resolve, self._may_reach, self._context = resolve, may_reach, context

    def get(self, at: WebAddress, accept: str, most: int, seconds: float) -> WebAnswer:
        """`most`: bytes of the body, packed and unpacked; a longer one is cut.

        Unavailable: it does not answer. Refused: it is no site of the public, or what it answers cannot be used.
        """
        import httpx2

        began = time.monotonic()
        addresses = self._addresses(at, seconds)
        left = seconds - (time.monotonic() - began)
        try:
            return asyncio.run(self._within(at, addresses, accept, most, left))
        except (TimeoutError, httpx2.TimeoutException):
            raise Unavailable(f"{shown(at.url)} took longer than {seconds:.3g} s") from None
        except httpx2.ConnectError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise Refused(f"{shown(at.url)} is not read: its certificate is not valid") from None
            raise Unavailable(f"{shown(at.url)} cannot be reached") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise Unavailable(f"{shown(at.url)} does not answer as a site should ({type(error).__name__})") from None

    def _addresses(self, at: WebAddress, seconds: float) -> Sequence[str]:
        """All of them are public, or none is used: whoever mixes them has something in mind."""
        found = [at.host] if is_literal(at.host) else _in_time(lambda: self._resolve(at.host, at.port), seconds)
        if found is None:
            raise Unavailable(f"{shown(at.url)} took longer than {seconds:.3g} s: nobody says where {at.host} is")
        if not found:
            raise Unavailable(f"{shown(at.url)} cannot be reached: there is no {at.host}")
        for address in found:
            if not self._may_reach(address):
                raise Refused(f"{shown(at.url)} is not read: {at.host} is at {shown(address)}, which is not public")
        return found[:MOST_ADDRESSES]

    async def _within(
        self, at: WebAddress, addresses: Sequence[str], accept: str, most: int, seconds: float
    ) -> WebAnswer:
        import httpx2

        async with asyncio.timeout(seconds):
            for address in addresses[:-1]:
                try:
                    return await self._ask(at, address, accept, most, min(CONNECT, seconds))
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    pass  # the name has another address
            return await self._ask(at, addresses[-1], accept, most, seconds)

    async def _ask(self, at: WebAddress, address: str, accept: str, most: int, connect: float) -> WebAnswer:
        import httpx2

        headers = {
            "host": at.authority,
            "user-agent": AGENT,
            "accept": accept,
            "accept-encoding": "gzip",
            "connection": "close",
        }
        # The name for the encrypted connection: it is asked for there, and the certificate has to be its own.
        extensions = {"sni_hostname": at.host, "timeout": httpx2.Timeout(None, connect=connect).as_dict()}
        request = httpx2.Request("GET", at.at(address), headers=headers, extensions=extensions)
        async with httpx2.AsyncHTTPTransport(verify=self._believed(at), trust_env=False) as way:
            response = await way.handle_async_request(request)
            try:
                return await _answer(response, at, most)
            finally:
                await response.aclose()

    def _believed(self, at: WebAddress) -> ssl.SSLContext:
        import httpx2

        if at.scheme == "http":  # no authorities are needed, and to load them takes long
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._context is None:
            self._context = httpx2.create_ssl_context(trust_env=False)
        return self._context


async def _answer(response: httpx2.Response, at: WebAddress, most: int) -> WebAnswer:
    """The body only where there is one to read: of no redirect, and of no error."""
    headers, status = response.headers, response.status_code
    if response.has_redirect_location:
        return WebAnswer(status, location=headers["location"])
    if status != 200:
        return WebAnswer(status)
    kind = headers.get("content-type", "")
    charset = CHARSET.search(kind)
    packed = await _beginning(response, most)
    body, whole = _unpacked(packed, headers.get("content-encoding", ""), at, most)
    media = kind.partition(";")[0].strip().lower()
    return WebAnswer(status, media, charset[1] if charset else "", body=body[:most], whole=whole and len(body) <= most)


async def _beginning(response: httpx2.Response, most: int) -> bytes:
    """One byte more than allowed tells that there is more."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > most:
            break
    return bytes(body[: most + 1])


def _unpacked(data: bytes, how: str, at: WebAddress, most: int) -> tuple[bytes, bool]:
    """-> at most one byte more than allowed, and whether that is all."""
    how = how.strip().lower()
    if how in ("", "identity"):
        return data, True
    if how not in ("gzip", "x-gzip"):
        raise Refused(f"{shown(at.url)} is not read: it is packed as {shown(how)}, which nobody asked for")
    unpacker = zlib.decompressobj(GZIP)
    try:
        body = unpacker.decompress(data, most + 1)
    except zlib.error:
        raise Refused(f"{shown(at.url)} is not read: it cannot be unpacked") from None
    if len(body) <= most and len(data) <= most and not unpacker.eof:
        raise Refused(f"{shown(at.url)} is not read: it cannot be unpacked to its end")
    return body, unpacker.eof


def _in_time(ask: Callable[[], Sequence[str]], seconds: float) -> Sequence[str] | None:
    """None: no answer in time. The system cannot be told to stop asking, so nobody waits for this thread."""
    answers: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(ask())
        except (OSError, UnicodeError):
            answers.put(())

    threading.Thread(target=run, name="resolve", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return None
