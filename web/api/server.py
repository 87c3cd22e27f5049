"""`board`: serves it until Ctrl-C. `--link`: prints another link. `demo --board`: beside the demo.

`--sessions`, `--close`: who is signed in, and not any more.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sisimpur.cli.terminal.arguments import DONE, Arguments
from sisimpur.cli.terminal.printing import command, print_list
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.config.settings import load_board
from sisimpur.shared.config.settings_board import BoardFile, BoardTls
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.text import counted
from sisimpur.shared.system import lock
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.access.passkey_book import Passkey, Passkeys
from sisimpur.web.api.base.place import place_of
from sisimpur.web.api.base.rights import SCOPES, Role
from sisimpur.web.api.base.sign_in import LINK_LASTS, BoardKeys, BoardSession, named

if TYPE_CHECKING:
    from uvicorn import Server

    from sisimpur.web.api.base.board_home import BoardHome
    from sisimpur.web.api.base.guard import BoardGuard

DAYS, MOST_DAYS = 90, 3650  # of a key
MINUTES = LINK_LASTS.seconds // 60
WAITING, STOPPING = 128, 3  # connections that wait, seconds to end
HALVES = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
LONGEST_MESSAGE = 4 << 10  # of a socket: it says who it is, and no more
SILENT = 30_000  # milliseconds in which the other end takes what it was sent; then the kernel cuts it


def board(arguments: Arguments) -> int:
    _require_sense(arguments)
    if arguments.sessions:
        return _sessions(arguments)
    if arguments.key:
        return _key(arguments)
    if arguments.close:
        return _close(arguments)
    file = load_board(Home(arguments.home))
    if arguments.port:
        file = file.model_copy(update={"port": arguments.port})
    if arguments.link:
        runs = lock.holder(Home(arguments.home).board)
        if runs.isdecimal() and not arguments.port:
            file = file.model_copy(update={"port": int(runs)})
        where = "at the board that runs" if runs else f"while the board runs ({command(arguments.home, 'board')})"
        print(f"signs in once as {arguments.role or Role.OWNER}, within {MINUTES} minutes, {where}:")
        _print_link(arguments, file)
        return DONE
    _require_tls(file.tls)
    with (
        _opened(arguments, file, "Ctrl-C ends it, and nothing else") as (server, listener),
        suppress(KeyboardInterrupt),
    ):
        server.run([listener])  # it has ended in order
    return DONE


def demo(arguments: Arguments) -> int:
    """Run the demo's day; `--board`: with the board beside it."""
    from sisimpur.cli.commands import offline

    @contextmanager
    def beside(home: Path) -> Iterator[None]:
        own, file = Arguments("board", home), BoardFile(port=offline.free_port())
        with _opened(own, file, "it ends with the demo") as (server, listener):
            threading.Thread(target=server.run, args=([listener],), daemon=True).start()
            yield
            print(f"the board:    what you approve there is merged by: {command(home, 'run-day')}")
            _print_sign_in(own, file)
            print("Ctrl-C ends the board, and the demo's model and site with it", flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()

    return offline.demo(arguments, beside) if arguments.board else offline.demo(arguments)


@contextmanager
def _opened(arguments: Arguments, file: BoardFile, ends: str) -> Iterator[tuple[Server, socket.socket]]:
    """Print where it is, how it `ends`, and how to sign in; while the block lasts, `--link` knows its port."""
    from sisimpur.web.api.base.board_home import BoardHome
    from sisimpur.web.api.board_app import make_app

    with _listening(file.port, file.listen) as listener:
        print(f"the board of {arguments.home}: {' and '.join(_addresses(file))}; {ends}", flush=True)
        home = BoardHome(arguments.home)
        app = make_app(home, place_of(file, file.port))
        _read_ahead(home)
        _print_sign_in(arguments, file)
        with lock.said(Home(arguments.home).board, str(file.port)):
            yield server_of(app, file.tls), listener


def _read_ahead(home: BoardHome) -> None:
    """Read what the first page shows before anybody can open it: ten thousand files take a second."""
    from sisimpur.web.api.reading.readers import last_done, status

    with suppress(TeamError):  # whoever opens it is told
        home.read(status)
        home.read(last_done)


def _print_sign_in(arguments: Arguments, file: BoardFile) -> None:
    another = command(arguments.home, "board", "--link")
    print(f"to sign in (once, within {MINUTES} minutes; another: {another}):")
    _print_link(arguments, file)


def _addresses(file: BoardFile) -> tuple[str, ...]:
    """Where it answers: on this machine, and by its own name."""
    here = () if file.tls.cert else (f"http://127.0.0.1:{file.port}",)
    return (*here, file.url) if file.is_private else here


def _print_link(arguments: Arguments, file: BoardFile) -> None:
    """Make one. Its code stands behind the `#`: no browser sends that, and no log keeps it."""
    with open_records(arguments.home) as records:
        code = BoardKeys(records.db).link(records.clock.now(), Role(arguments.role or Role.OWNER))
    links = [f"{address}/#code={code}" for address in _addresses(file)]
    print("\n".join(links), flush=True)
    if file.is_private and sys.stdout.isatty():  # a phone cannot open what is on this machine
        print(f"for a phone:\n{drawn(links[-1])}", flush=True)


def drawn(text: str) -> str:
    """Return its QR code, two rows of it in each line: dark is the letter's colour, so the colours are set."""
    import segno

    rows = [list(map(bool, row)) for row in segno.make(text, micro=False, error="l").matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    lines = ("".join(HALVES[pair] for pair in zip(*rows[at : at + 2], strict=True)) for at in range(0, len(rows), 2))
    return "\n".join(f"\x1b[30;107m{line}\x1b[0m" for line in lines)


def _require_sense(arguments: Arguments) -> None:
    """Misconfigured: words that mean nothing together."""
    if arguments.role and not arguments.link:
        raise Misconfigured("a role belongs to a link: board --link --role viewer")
    if (arguments.scope in SCOPES or arguments.days) and not arguments.key:
        raise Misconfigured("scope and days belong to a key: board --key NAME --scope read --days 90")
    if arguments.key and not re.fullmatch(r"\w[\w .-]{0,39}", arguments.key):
        raise Misconfigured("name the key after what uses it, in at most 40 letters: board --key ci")
    if arguments.days and not 1 <= arguments.days <= MOST_DAYS:
        raise Misconfigured(f"a key lasts from 1 to {MOST_DAYS} days: board --key NAME --days 90")


def _key(arguments: Arguments) -> int:
    """Print it alone on its line; nobody can see it again."""
    scope = Role(arguments.scope) if arguments.scope in SCOPES else Role.READ
    days = arguments.days or DAYS
    with open_records(arguments.home) as records:
        now = records.clock.now()
        key = BoardKeys(records.db).make_key(arguments.key, scope, now, days)
    may_also = "may look only" if scope is Role.READ else "may look, answer questions, and send changes back"
    print(f"the key of {arguments.key} {may_also}, until {now + timedelta(days=days):%Y-%m-%d}; it is shown only now:")
    print(key)
    print(f"to send: Authorization: Bearer KEY; to end it: {command(arguments.home, 'board', '--close', named(key))}")
    return DONE


def _line(one: BoardSession) -> str:
    is_key = one.kind == "key"
    by = f"{one.by} {one.passkey}".strip()
    what = f"key {one.name}, may {one.role}" if is_key else f"{one.role} {one.name}".strip() + f", by {by}"
    notified = f", notifies {counted(one.pushes, 'browser')}" if one.pushes else ""
    return f"{one.id}  {what}, since {one.made[:16]}, last used {one.seen[:16]}, until {one.until[:16]}{notified}"


def _passkey_line(one: Passkey) -> str:
    return f"{one.id}  {one.role}, {one.name}, at {one.site}, since {one.made[:16]}, last used {one.used[:16]}"


def _sessions(arguments: Arguments) -> int:
    with open_records(arguments.home, looking=True) as records:
        keys = BoardKeys(records.db, lambda account: load_board(records.home).sign_in.listed(account))
        found, passkeys = keys.sessions(records.clock.now()), Passkeys(records.db).all()
    print_list(
        "signed in (times in UTC)",
        map(_line, found),
    )
    print_list("passkeys", map(_passkey_line, passkeys))
    is_any = found or passkeys
    print(f"\nto end one: {command(arguments.home, 'board', '--close', 'ID')}" if is_any else "nobody is signed in")
    return DONE


def _close(arguments: Arguments) -> int:
    with open_records(arguments.home) as records:
        is_there = BoardKeys(records.db).close(arguments.close)
        if not Passkeys(records.db).close(arguments.close, records.clock.now()) and not is_there:
            raise Misconfigured(
                f"no session, key or passkey is called {arguments.close}; see: python main.py board --sessions"
            )
    print(f"{arguments.close} is closed: who used it has to sign in anew")
    return DONE


def _require_tls(tls: BoardTls) -> None:
    """Misconfigured: certificate and key cannot be read, or do not belong together."""
    if not tls.cert:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.cert, tls.key, password="")
    except (OSError, ValueError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise Misconfigured(f"config/board.yaml: tls: {tls.cert} with {tls.key} cannot be used ({why})") from None


def server_of(app: BoardGuard, tls: BoardTls = BoardTls()) -> Server:  # noqa: B008 (it is frozen)
    """Set it up. It ends when it is asked to."""
    import uvicorn

    from sisimpur.web.api.yielding_connection import YieldingConnection, YieldingSocket

    return uvicorn.Server(
        uvicorn.Config(  # without `limit_concurrency`: it counts what was closed a moment ago, and refuses who is new
            app,
            ws=YieldingSocket,
            ws_max_size=LONGEST_MESSAGE,
            ws_per_message_deflate=False,
            http=YieldingConnection,
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=STOPPING,
            ssl_certfile=tls.cert or None,
            ssl_keyfile=tls.key or None,
        )
    )


def _listening(port: int, address: str = "127.0.0.1") -> socket.socket:
    """Listen there: on the loopback, or where the settings let it."""
    if not 0 < port < 1 << 16:
        raise Misconfigured(f"{port} is no port; choose one from 1024 to 65535: board --port N")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # asyncio sends at once, without Nagle's wait for the other end, only where TCP is named
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT)
    try:
        listener.bind((address, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise Misconfigured(f"config/board.yaml: listen: {address} is no address of this machine") from None
        why = "somebody listens there already" if error.errno == errno.EADDRINUSE else error.strerror
        raise Misconfigured(f"port {port} cannot be used ({why}); choose another: board --port N") from None
    listener.listen(WAITING)
    return listener
