"""Package index adapter: lets a box reach a few hosts, by https only.

It listens on a unix socket, which the box finds as a web proxy at http://127.0.0.1:METER_PORT. What it passes on is
encrypted between the installer and the index; so it looks at the first bytes, which name the host once more.
"""

from __future__ import annotations

import os
import re
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.qa.runner.private_index import PrivateIndex
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box import hand_over
from sisimpur.shared.system.http import is_outside, resolved

HTTPS = 443
HOSTS = ("pypi.org", "files.pythonhosted.org")
CHUNK = 1 << 16
MOST_TOLD = 10  # refusals that are told one by one; who is refused for ever shall not fill the log

CONNECT = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}):([0-9]{1,5}) HTTP/1\.[01]\r\n")
OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
CLOSED = "HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

Dial = Callable[[str, float], socket.socket]


@dataclass(frozen=True)
class ProxyBounds:
    """Bounds on what the box may take of us altogether."""

    connections: int = 32  # at once
    megabytes: int = 4_096  # there and back
    idle: float = 60  # seconds without a byte, also at the start
    header: int = 8_192  # bytes


class IndexProxy:
    """Serves while the block runs. `print_progress` gets one line for each refusal, from threads of ours.

    `unreached`: why a host that is allowed was not reached, or empty.
    """

    def __init__(
        self,
        place: Path,
        hosts: Collection[str] = HOSTS,
        print_progress: Callable[[str], None] = lambda _line: None,
        bounds: ProxyBounds = ProxyBounds(),
        way: Dial | PrivateIndex | None = None,
    ) -> None:
        """`place`: the socket's path, its folder exists. `way`: how a host that is allowed is reached, or the owner's
        own index, which is asked before these hosts."""
        self.place = place
        self.unreached = ""
        self._hosts = dict.fromkeys(host.lower() for host in hosts)
        self._private = way if isinstance(way, PrivateIndex) else None
        self._dial: Dial = dialled if way is None or isinstance(way, PrivateIndex) else way
        self._print_progress, self._bounds = print_progress, bounds
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        self._left = bounds.megabytes << 20
        self._refused = 0

    def __enter__(self) -> IndexProxy:
        self._listener = listening(self.place)
        threading.Thread(target=self._accept, name="index", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop passing anything on."""
        with self._guard:
            for line in (self._listener, *self._open):
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.place.unlink(missing_ok=True)

    # --- one connection --------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with suppress(OSError):  # closed: the block has ended
            while True:
                client, _ = self._listener.accept()
                client.settimeout(self._bounds.idle)
                with self._guard:
                    busy = len(self._open) >= self._bounds.connections
                    if not busy:
                        self._open.add(client)
                if busy:
                    client.close()
                else:
                    threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, suppress(OSError):
                self._answer(client)
        finally:
            with self._guard:
                self._open.discard(client)

    def _answer(self, client: socket.socket) -> None:
        try:
            header = _header(client, self._bounds.header)
            if self._private and header.startswith(b"GET /"):
                self.unreached = self._private.answer(client, header, tuple(self._hosts), self._spend) or self.unreached
                return
            host = self._wanted(header)
            upstream = self._reached(host)
        except Refused as error:
            self._note(str(error))
            client.sendall(CLOSED.format(403, "Forbidden").encode())
            return
        if upstream is None:
            client.sendall(CLOSED.format(502, "Bad Gateway").encode())
            return
        with upstream:
            client.sendall(OPEN)
            self._relay(client, upstream, host)

    def _wanted(self, header: bytes) -> str:
        """The host that is asked for, one of ours."""
        asked = CONNECT.match(header)
        if asked is None:
            raise Refused(f"only https goes through to the package index, not {_shown(header)}")
        host, port = asked[1].decode().lower(), int(asked[2])
        if host not in self._hosts or port != HTTPS:
            raise Refused(f"{host}:{port} is not the package index; the set-up reaches nothing else")
        return host

    def _reached(self, host: str) -> socket.socket | None:
        try:
            upstream = self._dial(host, self._bounds.idle)
        except OSError as error:
            self.unreached = f"{host} cannot be reached ({error})"
            return None
        upstream.settimeout(self._bounds.idle)
        return upstream

    def _relay(self, client: socket.socket, upstream: socket.socket, host: str) -> None:
        """Pass bytes there and back until one side has ended, or a bound is reached.

        Who sends without reading waits.
        """
        first = _first_record(client, self._bounds.header)
        if (named := named_host(first)) != host:
            self._note(f"a connection to {host} asked for {named[:80] or 'nobody'} there: it was cut")
            return
        self._pass_on(first, upstream)
        with selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, (client, upstream))
            ready.register(upstream, selectors.EVENT_READ, (upstream, client))
            while found := ready.select(self._bounds.idle):
                for key, _ in found:
                    source, target = key.data
                    if not (data := source.recv(CHUNK)):
                        return
                    self._pass_on(data, target)

    def _pass_on(self, data: bytes, target: socket.socket) -> None:
        self._spend(len(data))
        target.sendall(data)

    def _spend(self, size: int) -> None:
        with self._guard:
            self._left -= size
        if self._left < 0:
            self._note(f"more than {self._bounds.megabytes} MB went through to the package index: it was cut")
            raise ConnectionAbortedError

    def _note(self, line: str) -> None:
        with self._guard:
            self._refused += 1
            number = self._refused
        if number <= MOST_TOLD:
            self._print_progress(line + ("; more are not listed" if number == MOST_TOLD else ""))


# --- the way out ---------------------------------------------------------------------------------------------


def dialled(host: str, seconds: float) -> socket.socket:
    """A connection to a host's https port. Refused: it is on this machine or its networks. OSError: no answer.

    What is connected is the address that was looked at, not the name once more.
    """
    addresses = resolved(host, HTTPS)
    for address in addresses:
        if not is_outside(address):
            raise Refused(f"{host} is at {address}, which is no public address; the set-up does not reach it")
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, HTTPS), seconds)
    return socket.create_connection((addresses[-1], HTTPS), seconds)


# --- sockets -------------------------------------------------------------------------------------------------


def listening(place: Path) -> socket.socket:
    """A socket for the box's user alone. By the folder's descriptor: an address has room for 107 letters only."""
    with _folder(place.parent) as descriptor:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"/proc/self/fd/{descriptor}/{place.name}")
    place.chmod(0o600)
    hand_over(place)
    listener.listen(64)
    return listener


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _header(client: socket.socket, most: int) -> bytes:
    """Up to the empty line, and not a byte of what follows."""
    header = b""
    while not header.endswith(b"\r\n\r\n"):
        if len(header) >= most:
            raise Refused(f"a request with more than {most} bytes before its end")
        if not (sign := client.recv(1)):
            raise Refused("a request that does not end")
        header += sign
    return header


def _first_record(client: socket.socket, most: int) -> bytes:
    head = _exactly(client, RECORD_HEAD)
    size = record_length(head)
    return head + _exactly(client, size) if size <= most else b""


def _exactly(client: socket.socket, size: int) -> bytes:
    """Read that many bytes, or what came before the end."""
    data = b""
    while len(data) < size and (more := client.recv(size - len(data))):
        data += more
    return data


def _shown(header: bytes) -> str:
    return ascii(header.partition(b"\r\n")[0][:80].decode("utf-8", "replace"))


# --- the host that a connection asks for ---------------------------------------------------------------------

HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME = 22, 1, 0, 0
RECORD_HEAD = 5  # bytes: kind, version, length


def record_length(head: bytes) -> int:
    """Count the bytes that follow the head of a record; 0: it begins no handshake."""
    return int.from_bytes(head[3:5], "big") if len(head) == RECORD_HEAD and head[0] == HANDSHAKE else 0


def named_host(record: bytes) -> str:
    """Read the host in the first record of a connection (TLS), in lower case; empty: it names none.

    Many hosts share one address: who is let through to it could otherwise ask there for somebody else's host.
    """
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
