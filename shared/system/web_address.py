"""Door to addresses of the web. The only module that says which of them may be read at all.

The address is taken apart once, by the library that connects, and the connection is made to what was looked at: no
second reading of it, and no second asking for the name.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.model.errors import Refused

if TYPE_CHECKING:
    import httpx2

PORTS = frozenset({80, 443})
USUAL = {"http": 80, "https": 443}
LONGEST_URL, LONGEST_HOST, LONGEST_SHOWN = 2_000, 253, 120  # characters

NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # the last part of what systems take for an IPv4 address: 0x7f.1, 127.1

IPV6 = ipaddress.IPv6Network("2000::/3")  # all that is given to anybody
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in its last four bytes
# What `is_global` takes for public, now or in an older Python: tunnels to IPv4 addresses, relays, protocols' own.
SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))


@dataclass(frozen=True)
class WebAddress:
    """`host`: in lower case and ASCII, or an IP address without brackets. `target`: path and query, encoded."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == USUAL[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.target

    def at(self, address: str) -> str:
        """The same with an IP address instead of the host."""
        return f"{self.scheme}://{f'[{address}]' if ':' in address else address}:{self.port}{self.target}"


def web_address(url: str, ports: Collection[int] = PORTS) -> WebAddress:
    """Refused: nothing on the web that we read. Whom the name belongs to is not asked here."""
    import httpx2

    if len(url) > LONGEST_URL:
        raise Refused(f"{shown(url)} is not read: it is longer than {LONGEST_URL} characters")
    try:
        found = httpx2.URL(url)
        return _checked(found, url, ports)
    except (httpx2.InvalidURL, ValueError):
        raise Refused(f"{shown(url)} is not read: it is no address") from None


def redirected(at: WebAddress, location: str, ports: Collection[int] = PORTS) -> WebAddress:
    """Where a page sends us on to. Refused: nothing that we read, or no longer encrypted."""
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


def is_public(address: str) -> bool:
    """Whether anybody can reach an IP address: none of this machine, of its networks, or of several machines."""
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


def resolved(host: str, port: int) -> Sequence[str]:
    """The system's answer. OSError: it has none."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_literal(host: str) -> bool:
    return ":" in host or bool(NUMBER.fullmatch(host.rpartition(".")[2]))


def shown(url: str) -> str:
    """For a line of text: bounded, without what would break or bend it."""
    words = ascii(url[:LONGEST_SHOWN])[1:-1]
    return words + ("…" if len(url) > LONGEST_SHOWN else "")


def _checked(found: httpx2.URL, url: str, ports: Collection[int]) -> WebAddress:
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
    return WebAddress(found.scheme, host, port, found.raw_path.decode("ascii"))


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
