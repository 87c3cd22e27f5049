"""Whether a page is live, in a real browser: by a socket or without one, offline and back, at a board that hangs."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.web.api.server import board as board_command
from tests.journey.board_process import free_port, served
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs(PLAYWRIGHT)
STALE = 25_000  # milliseconds
LIVE = "data-live"
LISTEN = """() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) { window.said = text; send.call(this, text); };
}"""


def staged(folder: Path) -> Stage:
    return Stage(folder, "http://127.0.0.1:1").set_up(VISION, FILES)


def drop(day: Stage, name: str) -> None:
    (day.home.root / "tasks" / "failed" / f"{name}.md").write_text("# Do it by hand\n\nAll of it.\n")


def test_offline_it_is_stale_and_shows_what_it_showed_and_back_it_goes_on_from_its_number(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = staged(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        body = page.locator("body")
        expect(body).to_have_attribute(LIVE, "live")
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        page.evaluate(LISTEN)
        page.wait_for_timeout(2_000)  # a reading that fails would say so sooner than the socket, which then stays
        page.context.set_offline(True)
        expect(body).to_have_attribute(LIVE, "stale", timeout=STALE)
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        drop(day, "mine")
        with day.records() as records:
            newest = records.audit.newest()
        page.wait_for_timeout(3_000)  # it looks each two seconds, and lets go of its socket
        page.context.set_offline(False)
        expect(body).to_have_attribute(LIVE, "live", timeout=5_000)
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
        assert json.loads(page.evaluate("window.said"))["last"] == newest


def test_before_a_board_that_hangs_it_is_stale_within_25_seconds_and_live_again_when_it_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = staged(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        body = page.locator("body")
        expect(body).to_have_attribute(LIVE, "live")
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        os.kill(board.process.pid, signal.SIGSTOP)
        expect(body).to_have_attribute(LIVE, "stale", timeout=STALE)
        expect(page.get_by_text("Not live since")).to_be_visible()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        os.kill(board.process.pid, signal.SIGCONT)
        expect(body).to_have_attribute(LIVE, "live")


def test_seven_tabs_each_have_a_socket_and_whoever_is_hidden_lets_go_of_it(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = staged(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP) as first:
        expect(first.locator("body")).to_have_attribute(LIVE, "live")
        took, last = [], first
        for _ in range(6):
            last, began = first.context.new_page(), time.monotonic()
            with last.expect_websocket():
                last.goto(f"{board.here}/board")
            expect(last.locator("body")).to_have_attribute(LIVE, "live")
            took.append(time.monotonic() - began)
        last.evaluate("Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true })")
        for away, there in ((True, 6), (False, 7)):
            last.evaluate(
                "(away) => { window.away = away; document.dispatchEvent(new Event('visibilitychange')); }", away
            )
            until = time.monotonic() + 20
            while lines_at(board.here) != there:
                assert time.monotonic() < until
                last.wait_for_timeout(100)
        expect(last.locator("body")).to_have_attribute(LIVE, "live")


def lines_at(here: str) -> int:
    """Count the sockets there; what else is open asks and goes."""
    end = f":{int(here.rpartition(':')[2]):04X}"
    rows = [one.split() for one in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(end) and row[3] == "01" for row in rows)


def test_a_session_that_is_closed_ends_its_page_though_nobody_touches_it(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = staged(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        expect(page.locator("body")).to_have_attribute(LIVE, "live")
        key = page.evaluate("localStorage.getItem('sisimpur.key')")
        with day.records() as records:
            row = records.db.row("select substr(digest, 1, 8) as id from board_keys where kind = 'session'", ())
        assert row and key
        assert board_command(Arguments("board", day.home.root, close=row["id"])) == 0
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=15_000)
        assert page.evaluate("localStorage.getItem('sisimpur.key')") is None


def test_through_a_proxy_that_lets_no_socket_through_it_is_live_by_events(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = staged(tmp_path)
    with served(day.home.root) as board, without_sockets(board.here) as here, browser.new_context() as context:
        page = context.new_page()
        page.goto(board.link.replace(board.here, here))
        expect(page.locator("body")).to_have_attribute(LIVE, "live")
        drop(day, "mine")
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()


@contextmanager
def without_sockets(here: str) -> Iterator[str]:
    """A proxy that speaks to the board by the board's own name, and does not know what an upgrade is."""
    port = free_port()
    theirs, ours = f"127.0.0.1:{port}".encode(), here.removeprefix("http://").encode()

    def carry(one: socket.socket, other: socket.socket, is_asked: bool) -> None:
        try:
            while data := one.recv(65_536):
                if is_asked:
                    data = data.replace(theirs, ours).replace(b"Upgrade: websocket\r\n", b"")
                other.sendall(data)
        except OSError:
            pass
        finally:
            for line in (one, other):
                line.close()

    def serve() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            host, its = ours.decode().split(":")
            other = socket.create_connection((host, int(its)))
            for pair in ((one, other, True), (other, one, False)):
                threading.Thread(target=carry, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", port)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
        listener.shutdown(socket.SHUT_RDWR)


class _Deployed(BaseHTTPRequestHandler):
    """What a model wrote, on another port of this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<p>hello</p>")

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_on_another_port_of_this_machine_gets_no_socket(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day, server = staged(tmp_path), HTTPServer(("127.0.0.1", 0), _Deployed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        expect(page.locator("body")).to_have_attribute(LIVE, "live")
        other = page.context.new_page()
        other.goto(f"http://127.0.0.1:{server.server_port}/")
        script = """(address) => new Promise((done) => {
            const line = new WebSocket(address);
            line.onopen = () => done("open");
            line.onclose = ({ code }) => done(code);
        })"""
        assert other.evaluate(script, f"ws{board.here.removeprefix('http')}/api/v1/news") == 1006
    server.shutdown()
    server.server_close()
