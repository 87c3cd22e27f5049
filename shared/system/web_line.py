"""A GET to a stranger's site: which addresses are read, where a page may lead, and what it means that none answers.

Pages come packed, and are unpacked here.
"""

from __future__ import annotations

import ipaddress
import re
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sisimpur.shared.model.errors import Refused, TeamError, Unavailable
from sisimpur.shared.system.http import USUAL, Http, HttpAddress, HttpAnswer, HttpCall, NoAnswer, Why, is_literal, shown

if TYPE_CHECKING:
    import httpx2

AGENT = "sisimpur-agents/0.1 (research)"
GZIP = 16 + zlib.MAX_WBITS

PROBLEMS: Mapping[Why, tuple[type[TeamError], str]] = {
    "unknown": (Unavailable, "took longer than {seconds:.3g} s: nobody says where {host} is"),
    "no host": (Unavailable, "cannot be reached: there is no {host}"),
    "forbidden": (Refused, "is not read: {host} is at {error}, which is not public"),
    "unreached": (Unavailable, "cannot be reached"),
    "certificate": (Refused, "is not read: its certificate is not valid"),
    "late": (Unavailable, "took longer than {seconds:.3g} s"),
}
SICK = (Unavailable, "does not answer as a site should ({error})")

PORTS = frozenset({80, 443})
LONGEST_URL, LONGEST_HOST = 2_000, 253  # characters
NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


# --- addresses -----------------------------------------------------------------------------------------------


def web_address(url: str, ports: Collection[int] = PORTS) -> HttpAddress:
    """Refused: nothing on the web that we read. Whom the name belongs to is not asked here."""
    import httpx2

    if len(url) > LONGEST_URL:
        raise Refused(f"{shown(url)} is not read: it is longer than {LONGEST_URL} characters")
    try:
        return _checked(httpx2.URL(url), url, ports)
    except (httpx2.InvalidURL, ValueError):
        raise Refused(f"{shown(url)} is not read: it is no address") from None


def redirected(at: HttpAddress, location: str, ports: Collection[int] = PORTS) -> HttpAddress:
    """Find where a page sends us on to. Refused: nothing that we read, or no longer encrypted."""
    import httpx2

    if len(location) > LONGEST_URL:
        raise Refused(
            f"{shown(at.url)} is not read: it leads to an address that is longer than {LONGEST_URL} characters"
        )
    try:
        joined = str(httpx2.URL(at.url).join(location))
    except (httpx2.InvalidURL, ValueError):
        raise Refused(f"{shown(at.url)} is not read: it leads to {shown(location)}, which is no address") from None
    target = web_address(joined, ports)
    if (at.scheme, target.scheme) == ("https", "http"):
        raise Refused(f"{shown(at.url)} is not read: it leads to {shown(target.url)}, which is not encrypted")
    return target


def _checked(found: httpx2.URL, url: str, ports: Collection[int]) -> HttpAddress:
    host = found.raw_host.decode("ascii").removesuffix(".")
    if found.scheme not in USUAL:
        raise Refused(f"{shown(url)} is not read: only http and https addresses are")
    if found.userinfo:
        raise Refused(f"{shown(host)} is not read: its address holds a name or a password")
    if not _is_host(host):
        raise Refused(f"{shown(url)} is not read: {shown(host) or 'nothing'} is no name of a site")
    port = USUAL[found.scheme] if found.port is None else found.port
    if port not in ports:
        raise Refused(f"{shown(url)} is not read: port {port} is none of the web's")
    return HttpAddress(found.scheme, host, port, found.raw_path.decode("ascii"))


def _is_host(host: str) -> bool:
    """A name with a dot in it, or an IP address in its usual spelling."""
    if len(host) > LONGEST_HOST:
        return False
    if not is_literal(host):
        return bool(NAME.fullmatch(host))
    try:
        return str(ipaddress.ip_address(host)) == host or ":" in host
    except ValueError:
        return False


# --- pages ---------------------------------------------------------------------------------------------------


class WebLine:
    """`seconds`: what one page with all that belongs to it may keep us; pauses of our own are not counted."""

    def __init__(self, http: Http, seconds: float) -> None:
        self._http = http
        self._all = self._left = seconds

    def get(self, at: HttpAddress, accept: str, most: int, seconds: float) -> HttpAnswer:
        """`most`: bytes of the body, packed and unpacked; a longer one is cut. `seconds`: for this one, of those left.

        Unavailable: it does not answer. Refused: it is no site of the public, or what it answers cannot be used.
        """
        if self._left <= 0:
            raise Unavailable(f"{shown(at.url)} took longer than {self._all:g} s")
        began, seconds = time.monotonic(), min(self._left, seconds)
        headers = {"user-agent": AGENT, "accept": accept, "accept-encoding": "gzip"}
        answer = self._http.ask(at, HttpCall(headers, most, seconds, only_ok=True))
        self._left -= time.monotonic() - began
        if isinstance(answer, NoAnswer):
            kind, words = PROBLEMS.get(answer.why, SICK)
            told = words.format(seconds=seconds, host=at.host, error=shown(answer.error))
            raise kind(f"{shown(at.url)} {told}")
        return _unpacked(answer, at, most) if answer.status == 200 else answer


def followed(
    at: HttpAddress, get: Callable[[HttpAddress], HttpAnswer], most: int, ports: Collection[int] = PORTS
) -> tuple[HttpAddress, HttpAnswer]:
    """Find where at most `most` redirects lead, each vetted anew, and what is answered. Refused: they lead on."""
    first = at
    for _ in range(most + 1):
        answer = get(at)
        if not answer.location:
            return at, answer
        at = redirected(at, answer.location, ports)
    raise Refused(f"{shown(first.url)} is not read: it leads on and on, more than {most} times")


def _unpacked(answer: HttpAnswer, at: HttpAddress, most: int) -> HttpAnswer:
    """Return at most so many bytes of the body, however it was packed."""
    how = answer.headers.get("content-encoding", "").strip().lower()
    if how in ("", "identity"):
        return answer
    if how not in ("gzip", "x-gzip"):
        raise Refused(f"{shown(at.url)} is not read: it is packed as {shown(how)}, which nobody asked for")
    unpacker = zlib.decompressobj(GZIP)
    try:
        body = unpacker.decompress(answer.body, most + 1)
    except zlib.error:
        raise Refused(f"{shown(at.url)} is not read: it cannot be unpacked") from None
    if len(body) <= most and answer.whole and not unpacker.eof:
        raise Refused(f"{shown(at.url)} is not read: it cannot be unpacked to its end")
    return replace(answer, body=body[:most], whole=unpacker.eof and len(body) <= most)
