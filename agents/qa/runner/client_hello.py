"""The first bytes of an encrypted connection (TLS): the host that the caller says he wants to speak to.

Many hosts share one address. Who is let through to an address could otherwise ask there for somebody else's host.
"""

from __future__ import annotations

HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME = 22, 1, 0, 0
RECORD_HEAD = 5  # bytes: kind, version, length


def record_length(head: bytes) -> int:
    """How many bytes follow the head of a record; 0: it begins no handshake."""
    return int.from_bytes(head[3:5], "big") if len(head) == RECORD_HEAD and head[0] == HANDSHAKE else 0


def named_host(record: bytes) -> str:
    """The host's name in the first record of a connection, in lower case; empty: it names none."""
    try:
        return _named_host(record[RECORD_HEAD:]).decode("ascii").lower()
    except (IndexError, UnicodeDecodeError):
        return ""


def _named_host(hello: bytes) -> bytes:
    if hello[0] != CLIENT_HELLO:
        return b""
    rest = hello[4 + 2 + 32 :]  # kind and length, version, random number
    for width in (1, 2, 1):  # session, ciphers, compressions
        _, rest = _field(rest, width)
    extensions, _ = _field(rest, 2)
    while extensions:
        kind = extensions[:2]
        content, extensions = _field(extensions[2:], 2)
        if int.from_bytes(kind, "big") == SERVER_NAME:
            names, _ = _field(content, 2)
            return _field(names[1:], 2)[0] if names[0] == HOST_NAME else b""
    return b""


def _field(data: bytes, width: int) -> tuple[bytes, bytes]:
    """(content, what follows) of a field that begins with its length. IndexError: it is shorter than it says."""
    end = width + int.from_bytes(data[:width], "big")
    if len(data) < end:
        raise IndexError(end)
    return data[width:end], data[end:]
