"""Door to the index's address. The only module that connects to a host on behalf of a box."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

from shared.model.errors import Refused

HTTPS = 443

# This machine, the networks behind it, and what is no single machine at all.
HOME_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.168.0.0/16", "224.0.0.0/3"),
        *("::/8", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8"),
    )
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in its last four bytes


def dialled(host: str, seconds: float) -> socket.socket:
    """A connection to a host's https port. Refused: it is on this machine or its networks. OSError: no answer.

    What is connected is the address that was looked at, not the name once more.
    """
    addresses = [str(row[4][0]) for row in socket.getaddrinfo(host, HTTPS, type=socket.SOCK_STREAM)]
    for address in addresses:
        if not is_public(address):
            raise Refused(f"{host} is at {address}, which is no public address; the set-up does not reach it")
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, HTTPS), seconds)
    return socket.create_connection((addresses[-1], HTTPS), seconds)


def is_public(address: str) -> bool:
    """Whether an IP address may be an index: not of this machine, nor of a network that only we can reach."""
    found = ipaddress.ip_address(address)
    if found in NAT64:
        found = ipaddress.IPv4Address(found.packed[-4:])
    return not any(found in network for network in HOME_NETWORKS if network.version == found.version)
