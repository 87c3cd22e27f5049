"""The way to the package index: who asks for anything else gets nothing, and says so in one line."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.runner.index_proxy import MOST_TOLD, IndexProxy, ProxyBounds, named_host
from sisimpur.shared.system.http import is_outside

INDEX = "index.example"
ASK = f"CONNECT {INDEX}:443 HTTP/1.1\r\nHost: {INDEX}:443\r\n\r\n".encode()


def hello(host: str | None) -> bytes:
    """What a real client sends first."""
    sent = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=host).do_handshake()
    return sent.read()


HELLO = hello(INDEX)


class Scene:
    """A proxy whose one host is answered by this machine: a server that says everything back."""

    def __init__(self, place: Path, bounds: ProxyBounds, hosts: tuple[str, ...] = (INDEX,)) -> None:
        self.told: list[str] = []
        self.received = b""
        self.dialled: list[str] = []
        self.proxy = IndexProxy(place, hosts, self.told.append, bounds, self.dial)

    def dial(self, host: str, seconds: float) -> socket.socket:
        self.dialled.append(host)
        ours, theirs = socket.socketpair()
        threading.Thread(target=self.echo, args=(theirs,), daemon=True).start()
        return ours

    def echo(self, line: socket.socket) -> None:
        with line:
            while data := line.recv(1000):
                self.received += data
                line.sendall(data)

    @contextmanager
    def asked(self, *said: bytes) -> Iterator[socket.socket]:
        """A client that says this, one after the other's answer."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(str(self.proxy.place))
            with suppress(BrokenPipeError):  # cut off already: what was answered can be read
                for words in said:
                    client.sendall(words)
            yield client

    def answer(self, *said: bytes) -> bytes:
        """All that the proxy says until it ends the connection."""
        with self.asked(*said) as client:
            return b"".join(iter(lambda: received(client), b""))


def received(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionResetError:
        return b""


Make = Callable[..., Scene]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as running:

        def make(bounds: ProxyBounds | None = None, hosts: tuple[str, ...] = (INDEX,)) -> Scene:
            made = Scene(tmp_path / "index.sock", bounds or ProxyBounds(idle=5), hosts)
            running.enter_context(made.proxy)
            return made

        yield make


def passed(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (more := client.recv(size - len(data))):
        data += more
    return data


def exchanged(client: socket.socket, *pieces: bytes) -> bytes:
    """What comes back for these, each waited for."""
    answer = b""
    for piece in pieces:
        client.sendall(piece)
        answer += passed(client, len(piece))
    return answer


OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_a_host_that_is_allowed_is_spoken_to_both_ways(scene: Make) -> None:
    made = scene()
    with made.asked(ASK) as client:
        assert passed(client, len(OPEN)) == OPEN
        assert exchanged(client, HELLO) == HELLO
        assert exchanged(client, *[b"x" * 50_000] * 6) == b"x" * 300_000
    assert (made.dialled, made.told) == ([INDEX], [])


def connect(target: str) -> bytes:
    return f"CONNECT {target} HTTP/1.1\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        pytest.param(connect("evil.example:443"), "evil.example:443 is not", id="another host"),
        pytest.param(connect(f"{INDEX}.evil.example:443"), "evil.example:443 is not", id="a longer name"),
        pytest.param(connect(f"x{INDEX}:443"), "is not the package index", id="a name that ends like it"),
        pytest.param(connect(f"{INDEX}.:443"), "is not the package index", id="a dot at the end"),
        pytest.param(connect(f"{INDEX}:80"), ":80 is not the package index", id="another port"),
        pytest.param(connect(f"{INDEX}:0443"), None, id="the same port"),
        pytest.param(connect(INDEX.upper() + ":443"), None, id="in capital letters"),
        pytest.param(connect("127.0.0.1:443"), "127.0.0.1:443 is not", id="this machine"),
        pytest.param(connect("[::1]:443"), "only https goes through", id="an IPv6 address"),
        pytest.param(connect(f"{INDEX}\0.evil:443"), "only https goes through", id="NUL"),
        pytest.param(f"GET http://{INDEX}/ HTTP/1.1\r\n\r\n".encode(), "not 'GET http", id="plain http"),
        pytest.param(b"\x16\x03\x01\r\n\r\n", r"not '\x16\x03\x01'", id="no text at all"),
        pytest.param(connect(f"{INDEX}:443").replace(b"\r\n\r\n", b"\r\nA: " + b"x" * 9000), "more than 8192",
                     id="a request without an end"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(scene: Make, request_: bytes, told: str | None) -> None:
    made = scene()
    with made.asked(request_) as client:
        if told is None:
            assert passed(client, len(OPEN)) == OPEN
        else:
            assert received(client).startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert made.dialled == []
            (line,) = made.told
            assert told in line
            assert line.isprintable()


@pytest.mark.parametrize(
    ("first", "named"),
    [
        pytest.param(hello("evil.example"), "evil.example", id="another host at the same address"),
        pytest.param(hello(None), "nobody", id="no host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "nobody", id="nothing encrypted"),
        pytest.param(HELLO[:3] + b"\xff\xff" + HELLO[5:], "nobody", id="a record beyond all measure"),
    ],
)
def test_who_asks_at_the_index_for_another_host_is_cut_off(scene: Make, first: bytes, named: str) -> None:
    made = scene()
    assert made.answer(ASK, first) == OPEN
    assert made.received == b""
    assert made.told == [f"a connection to {INDEX} asked for {named} there: it was cut"]


def test_a_host_on_this_machine_is_refused_whoever_allowed_it(tmp_path: Path) -> None:
    told: list[str] = []
    with IndexProxy(tmp_path / "s", ("localhost",), told.append) as proxy, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(proxy.place))
        client.sendall(connect("localhost:443"))
        assert client.recv(100).startswith(b"HTTP/1.1 403")
    assert told[0].startswith("localhost is at ")
    assert "no public address" in told[0]


def test_a_host_without_an_address_is_remembered_as_not_reached(tmp_path: Path) -> None:
    with IndexProxy(tmp_path / "s", ("index.invalid",)) as proxy, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(proxy.place))
        client.sendall(connect("index.invalid:443"))
        assert client.recv(100).startswith(b"HTTP/1.1 502")
        assert proxy.unreached.startswith("index.invalid cannot be reached (")


# --- bounds --------------------------------------------------------------------------------------------------


def test_bytes_are_limited_over_all_connections(scene: Make) -> None:
    made = scene(ProxyBounds(megabytes=1, idle=5))
    sizes = []
    for _ in range(3):
        with made.asked(ASK, HELLO) as client, suppress(OSError):
            passed(client, len(OPEN) + len(HELLO))
            sizes.append(len(exchanged(client, *[b"x" * 40_000] * 5)))
    assert sizes[:2] == [200_000, 200_000]
    assert sum(sizes) < 520_000
    assert "more than 1 MB went through" in made.told[0]


def test_connections_are_limited_and_a_place_becomes_free_again(scene: Make) -> None:
    made = scene(ProxyBounds(connections=2, idle=5))
    with made.asked(ASK) as one, made.asked(ASK) as two:
        assert (passed(one, len(OPEN)), passed(two, len(OPEN))) == (OPEN, OPEN)
        assert made.answer(connect("evil.example:443")) == b""
    deadline = time.monotonic() + 5
    while not made.answer(connect("evil.example:443")) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert time.monotonic() < deadline


@pytest.mark.parametrize("said", [(b"CONN",), (ASK, HELLO[:20]), (ASK, HELLO)], ids=["asks", "greets", "is silent"])
def test_who_stops_talking_is_cut_off(scene: Make, said: tuple[bytes, ...]) -> None:
    began = time.monotonic()
    scene(ProxyBounds(idle=0.2)).answer(*said)
    assert 0.1 < time.monotonic() - began < 3


def test_refusals_without_end_do_not_fill_the_log(scene: Make) -> None:
    made = scene()
    for _ in range(MOST_TOLD + 5):
        made.answer(connect("evil.example:443"))
    assert len(made.told) == MOST_TOLD
    assert made.told[-1].endswith("more are not listed")


def test_nothing_goes_through_after_the_end(tmp_path: Path) -> None:
    made = Scene(tmp_path / "index.sock", ProxyBounds(idle=30))
    with made.proxy:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(5)
        client.connect(str(made.proxy.place))
        client.sendall(ASK + HELLO)
        passed(client, len(OPEN) + len(HELLO))
    with client:
        assert received(client) == b""
    assert not made.proxy.place.exists()


def test_a_socket_below_a_long_path_is_open_to_the_box_alone(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    with IndexProxy(folder / "index.sock") as proxy:
        seen = proxy.place.stat()
        assert seen.st_mode & 0o777 == 0o600
        assert seen.st_uid == (65534 if os.geteuid() == 0 else os.geteuid())


# --- what an address and a greeting say ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("151.101.0.223", True),
        ("2a04:4e42::223", True),
        ("64:ff9b::9765:df", True),
        pytest.param("64:ff9b::a00:1", False, id="10.0.0.1 behind a translator"),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        pytest.param("169.254.169.254", False, id="a cloud's own service"),
        ("172.16.0.1", False),
        ("172.31.255.255", False),
        ("172.32.0.1", True),
        ("192.168.1.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("fc00::1", False),
        ("fd12::1", False),
        ("fe80::1%eth0", False),
        ("ff02::1", False),
    ],
)
def test_only_public_addresses_are_connected(address: str, public: bool) -> None:
    assert is_outside(address) == public


@given(st.binary(max_size=400), st.integers(0, len(HELLO)))
def test_no_greeting_is_too_broken_to_be_read(noise: bytes, cut: int) -> None:
    assert named_host(noise) == ""
    assert named_host(HELLO[:cut] + noise) in ("", INDEX)
    assert named_host(HELLO[:cut]) in ("", INDEX)
