"""HTTP adapter: one request to one address, one bounded answer.

No proxy is asked, no redirect followed, no connection kept and nothing logged. A name is looked up once, all its
addresses are vetted, and one of these is connected: nobody asks for the name again. What goes wrong is a value, not an
exception that remembers the request: an address may be a secret.
"""

from __future__ import annotations

import ipaddress
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import httpx2

USUAL = {"http": 80, "https": 443}
CONNECT = 5.0  # seconds for one of several addresses of a name
MOST_ADDRESSES = 3  # of a name that are tried
SLOWEST = 10  # times the longest silence: what a patient call may take until its answer begins
MOVED = frozenset({301, 302, 303, 307, 308})
LONGEST_SHOWN = 120  # characters
CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)

NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # the last part of what systems take for an IPv4 address: 0x7f.1, 127.1
IPV6 = ipaddress.IPv6Network("2000::/3")  # all that is given to anybody
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in its last four bytes
# What `is_global` takes for public, now or in an older Python: tunnels to IPv4 addresses, relays, protocols' own.
SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))
# This machine, the networks behind it, and what is no single machine at all.
HOME_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.168.0.0/16", "224.0.0.0/3"),
        *("::/8", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8"),
    )
)

Resolve = Callable[[str, int], Sequence[str]]
# `unknown`: nobody says in time where the host is. `cut`: the other side hung up before the end of its answer.
Why = Literal[
    "no address", "unknown", "no host", "forbidden", "unreached", "certificate", "late", "cut", "no HTTP", "broken"
]


# --- addresses -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HttpAddress:
    """`host`: in lower case and ASCII, or an IP address without brackets. `target`: path and query, encoded."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        return _bracketed(self.host) + ("" if self.port == USUAL[self.scheme] else f":{self.port}")

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.target

    def at(self, address: str) -> str:
        """The same with an IP address instead of the host."""
        return f"{self.scheme}://{_bracketed(address)}:{self.port}{self.target}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def http_address(url: str) -> HttpAddress:
    """Return what a configured URL leads to; a user and a fragment in it are left out. ValueError: it leads nowhere."""
    import httpx2

    try:
        found = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise ValueError("it is no address") from None
    host, port = found.raw_host.decode("ascii").removesuffix("."), found.port
    if found.scheme not in USUAL or not host or (port is not None and not 0 < port < 1 << 16):
        raise ValueError("it is no address of http or https")
    return HttpAddress(found.scheme, host, port or USUAL[found.scheme], found.raw_path.decode("ascii"))


def is_public(address: str) -> bool:
    """Tell whether anybody can reach an IP address: none of this machine, of its networks, or of several machines."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found in NAT64 and found.scope_id is None:
            found = ipaddress.IPv4Address(found.packed[-4:])
        elif found not in IPV6 or found.scope_id is not None:
            return False
    special = any(found in network for network in SPECIAL if network.version == found.version)
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_link_local or special)


def is_outside(address: str) -> bool:
    """Check a host that the owner names: not of this machine, nor of a network that only we can reach.

    Unlike `is_public`, it lets through what is set aside for tests and documents: some resolvers answer with it.
    """
    found = ipaddress.ip_address(address)
    if found in NAT64:
        found = ipaddress.IPv4Address(found.packed[-4:])
    return not any(found in network for network in HOME_NETWORKS if network.version == found.version)


def is_configured(_address: str) -> bool:
    """Check what the owner configured: it may lie on this machine or in a private network."""
    return True


def is_literal(host: str) -> bool:
    """Tell whether a host is an IP address, in whatever spelling."""
    return ":" in host or bool(NUMBER.fullmatch(host.rpartition(".")[2]))


def resolved(host: str, port: int) -> Sequence[str]:
    """The system's answer. OSError: it has none."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def shown(url: str) -> str:
    """Shorten it for a line of text, without what would break or bend that."""
    words = ascii(url[:LONGEST_SHOWN])[1:-1]
    return words + ("…" if len(url) > LONGEST_SHOWN else "")


# --- calls and answers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HttpCall:
    """`size`: bytes of the answer's body that are kept; 0: it is not read. `seconds`: for all of it.

    `body`: as httpx2.Request takes it, `content` or `files`. `only_ok`: no body is read but that of a 200.
    `patient`: an upload may be slow. `seconds` is the longest silence, then the longest that the answer's body may take
    to come in; and the status counts also if the rest is lost.
    """

    headers: Mapping[str, str]
    size: int
    seconds: float
    method: str = "GET"
    body: Mapping[str, Any] = field(default_factory=dict)
    only_ok: bool = False
    patient: bool = False


@dataclass(frozen=True)
class HttpAnswer:
    """`headers`: names in any case. `body`: its beginning, packed as it came. `whole`: that is all of it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool

    @property
    def location(self) -> str:
        """Return where a redirect leads; empty: it is none."""
        return self.headers.get("location", "") if self.status in MOVED else ""

    @property
    def kind(self) -> str:
        """The media type, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        found = CHARSET.search(self.headers.get("content-type", ""))
        return found[1] if found else ""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True)
class NoAnswer:
    """`error`: its name, or the address that may not be reached. `sent`: the call may have arrived."""

    why: Why
    error: str = ""
    sent: bool = False


class Http:
    """`may_reach`: whether an IP address may be connected. `resolve`: a name and a port -> IP addresses.

    `context`: whom to believe that a host is who it says; default: the usual authorities.
    """

    def __init__(
        self,
        may_reach: Callable[[str], bool] = is_public,
        resolve: Resolve = resolved,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._may_reach, self._resolve, self._context = may_reach, resolve, context

    def ask(self, at: HttpAddress | str, call: HttpCall) -> HttpAnswer | NoAnswer:
        """Ask; never raise, whatever the other side does."""
        import asyncio  # like httpx2, it takes long to load

        import httpx2

        began = time.monotonic()
        try:
            at = http_address(at) if isinstance(at, str) else at
        except ValueError as error:
            return NoAnswer("no address", type(error).__name__)
        addresses = self._addresses(at, call.seconds)
        if isinstance(addresses, NoAnswer):
            return addresses
        left = call.seconds if call.patient else call.seconds - (time.monotonic() - began)
        try:
            return asyncio.run(self._within(at, addresses, replace(call, seconds=left)))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            return _no_answer(error)

    def _addresses(self, at: HttpAddress, seconds: float) -> Sequence[str] | NoAnswer:
        """All of them may be reached, or none is used: whoever mixes them has something in mind."""
        found = [at.host] if is_literal(at.host) else _in_time(lambda: self._resolve(at.host, at.port), seconds)
        if not found:
            return NoAnswer("unknown" if found is None else "no host", "no address of the host")
        forbidden = next((address for address in found if not self._may_reach(address)), None)
        return NoAnswer("forbidden", forbidden) if forbidden else found[:MOST_ADDRESSES]

    async def _within(self, at: HttpAddress, addresses: Sequence[str], call: HttpCall) -> HttpAnswer:
        import asyncio

        import httpx2

        async with asyncio.timeout(call.seconds * (SLOWEST if call.patient else 1)):
            for address in addresses[:-1]:
                try:
                    return await self._exchange(at, address, call, min(CONNECT, call.seconds))
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    pass  # the name has another address
            return await self._exchange(at, addresses[-1], call, call.seconds)

    async def _exchange(self, at: HttpAddress, address: str, call: HttpCall, connect: float) -> HttpAnswer:
        import httpx2

        headers = {"host": at.authority, **call.headers, "connection": "close"}
        timeout = httpx2.Timeout(call.seconds if call.patient else None, connect=connect)
        # The name for the encrypted connection: it is asked for there, and the certificate has to be its own.
        extensions = {"sni_hostname": at.host, "timeout": timeout.as_dict()}
        request = httpx2.Request(call.method, at.at(address), headers=headers, extensions=extensions, **call.body)
        async with httpx2.AsyncHTTPTransport(verify=self._believed(at), trust_env=False) as way:
            response = await way.handle_async_request(request)
            try:
                body, whole = await _beginning(response, call)
            finally:
                await response.aclose()
        return HttpAnswer(response.status_code, response.headers, body, whole)

    def _believed(self, at: HttpAddress) -> ssl.SSLContext:
        import httpx2

        if at.scheme == "http":  # no authorities are needed, and to load them takes long
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._context is None:
            self._context = httpx2.create_ssl_context(trust_env=False)
        return self._context


async def _beginning(response: httpx2.Response, call: HttpCall) -> tuple[bytes, bool]:
    """-> at most `size` bytes, and whether that is all. One byte more tells that there is more."""
    import asyncio

    import httpx2

    body = bytearray()
    if not call.size or (call.only_ok and response.status_code != 200):
        return b"", False
    try:
        async with asyncio.timeout(call.seconds):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > call.size:
                    return bytes(body[: call.size]), False
    except (httpx2.TransportError, TimeoutError):
        if not call.patient:
            raise
        return bytes(body), False
    return bytes(body), True


def _no_answer(error: Exception) -> NoAnswer:
    import httpx2

    name = type(error).__name__
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            return NoAnswer("late", name, sent=not isinstance(error, httpx2.ConnectTimeout))
        case httpx2.ConnectError():
            is_theirs = "CERTIFICATE_VERIFY_FAILED" in str(error)
            return NoAnswer("certificate" if is_theirs else "unreached", name)
        case httpx2.RemoteProtocolError():
            is_cut = "disconnected" in str(error) or "without sending complete" in str(error)
            return NoAnswer("cut" if is_cut else "no HTTP", name, sent=True)
        case _:
            return NoAnswer("broken", name, sent=True)


def _in_time(ask: Callable[[], Sequence[str]], seconds: float) -> Sequence[str] | None:
    """None: no answer in time. The system cannot be told to stop asking, so nobody waits for this thread."""
    answers: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(ask())
        except (OSError, ValueError):
            answers.put(())

    threading.Thread(target=run, name="resolve", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return None
