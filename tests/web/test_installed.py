"""The page as an app: it can be installed, and its worker keeps the shell for who is offline, and nothing else."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI

from sisimpur.web.api.base.guard import Admission, BoardGuard, Failures
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.socket_guard import SocketGuard
from sisimpur.web.api.page_files import BUILT, PageFiles
from sisimpur.web.api.server import server_of
from tests.journey.board_process import free_port, served
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.web.browsing import LONGEST, PHONE, PLAYWRIGHT, needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = needs(PLAYWRIGHT)
KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const one of await (await caches.open(name)).keys()) found.push(new URL(one.url).pathname);
  return found.sort();
}"""
# A browser without a window of its own for apps is told that this is one.
AS_AN_APP = """{
  const real = window.matchMedia.bind(window);
  window.matchMedia = (query) => (query === "(display-mode: standalone)" ? { matches: true } : real(query));
}"""
# As a program that once had this port would have left it: it answers for whoever comes later.
FOREIGN = "addEventListener('fetch', (e) => e.request.mode === 'navigate' && e.respondWith(new Response('not yours')))"


@contextmanager
def site(folder: Path, port: int) -> Iterator[str]:
    """The page's files behind the board's guard, without a home."""
    app, pages = FastAPI(), PageFiles(folder)
    app.include_router(pages.routes())
    admits, place = Admission(lambda _: None, Failures()), BoardPlace(port)
    guard = BoardGuard(app, admits, place, (pages,), lambda _: "GET", SocketGuard(admits, place, {}))
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = server_of(guard)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    found.set_default_timeout(LONGEST)
    yield found
    found.close()


def until(page: Page, script: str) -> None:
    """Wait until it is so; what Playwright has for this the CSP forbids."""
    began = time.monotonic()
    while not page.evaluate(script):
        assert time.monotonic() - began < LONGEST / 1000, script
        time.sleep(0.05)


def installed(context: BrowserContext, address: str) -> Page:
    """Open it as an app of its own, and wait until its worker is there."""
    page = context.new_page()
    page.add_init_script(AS_AN_APP)
    page.goto(address)
    until(page, "navigator.serviceWorker.controller !== null")
    return page


def test_a_browser_finds_nothing_that_keeps_it_from_being_installed(context: BrowserContext) -> None:
    with site(BUILT, free_port()) as address:
        page = context.new_page()
        page.goto(address)
        line = context.new_cdp_session(page)
        found = line.send("Page.getAppManifest")
        assert found["errors"] == [] and found["url"] == f"{address}/manifest.webmanifest"
        assert json.loads(found["data"])["display"] == "standalone"
        problems = [one["errorId"] for one in line.send("Page.getInstallabilityErrors")["installabilityErrors"]]
        assert [one for one in problems if one != "in-incognito"] == [], "each page of this test is incognito"
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


def test_offline_the_shell_stands_there_and_says_that_it_is_not_live(context: BrowserContext, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    with served(stage.home.root) as board:
        page = installed(context, board.link)
        page.get_by_role("navigation", name="Pages").wait_for()
        page.reload()  # each of its answers comes by the worker now
        page.get_by_role("navigation", name="Pages").wait_for()
        kept = page.evaluate(KEPT)
        assert "/" in kept and all(one == "/" or one.startswith("/assets/") for one in kept)
    for path in ("/", "/money"):  # the board is gone
        page.goto(board.here + path)
        expect(page.get_by_text("Not live since")).to_be_visible()
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text("This page is not here yet. It comes as soon as the board answers.")
    time.sleep(2)  # it does not load itself again and again
    expect(page.get_by_text("Not live since")).to_be_visible()
    with served(stage.home.root, int(board.here.rpartition(":")[2])):
        expect(page.get_by_role("heading", name="Money")).to_be_visible()


def test_a_page_whose_file_does_not_come_leaves_the_frame_and_is_loaded_again_once(
    context: BrowserContext, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    loads: list[Page] = []
    with served(stage.home.root) as board:
        page = context.new_page()
        page.goto(board.link)
        page.route("**/assets/Money-*.js", lambda route: route.abort())
        page.on("load", lambda found: loads.append(found))
        with page.expect_event("load"):
            page.get_by_role("link", name="Money", exact=True).click()
        page.get_by_role("button", name="Load it again").wait_for()
        page.wait_for_timeout(1_000)
        assert len(loads) == 1
        expect(page.get_by_role("alert")).to_contain_text("please report this: TypeError: Failed to fetch")
        page.get_by_role("link", name="Roadmap").click()
        page.get_by_role("heading", name="Roadmap").wait_for()
        page.unroute_all()
        page.get_by_role("link", name="Money").click()
        page.get_by_role("button", name="Load it again").click()
        expect(page.get_by_role("heading", name="Money", exact=True)).to_be_visible()


def test_an_open_page_keeps_its_frame_without_the_board_and_goes_on_with_it(
    context: BrowserContext, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    page = context.new_page()
    with served(stage.home.root) as board:
        page.goto(board.link)
        page.get_by_role("navigation", name="Pages").wait_for()
    expect(page.get_by_text("Not live since")).to_be_visible()
    page.get_by_role("link", name="Team").click()  # its file is not here, and nobody answers
    expect(page.get_by_role("alert")).to_have_text("This page is not here yet. It comes as soon as the board answers.")
    with served(stage.home.root, int(board.here.rpartition(":")[2])):
        expect(page.get_by_role("heading", name="Team")).to_be_visible()


def test_no_old_shell_is_shown_while_the_board_answers(context: BrowserContext, tmp_path: Path) -> None:
    port, newer = free_port(), tmp_path / "newer"
    shutil.copytree(BUILT, newer)
    (script,) = newer.glob("assets/index-*.js")
    script.rename(script.with_name("index-00000000.js"))
    html = (newer / "index.html").read_text()
    (newer / "index.html").write_text(html.replace(script.name, "index-00000000.js"))
    with site(BUILT, port) as address:
        page = installed(context, address)
        until(page, f"({KEPT})().then((all) => all.includes('/assets/{script.name}'))")
    with site(newer, port) as address:
        page.goto(address)
        assert page.locator("script[type=module]").get_attribute("src") == "/assets/index-00000000.js"
        until(page, f"({KEPT})().then((all) => !all.includes('/assets/{script.name}'))")
    page.goto(address)  # nobody answers: the newest one is kept
    assert page.locator("script[type=module]").get_attribute("src") == "/assets/index-00000000.js"


def test_the_policy_lets_through_the_worker_and_no_other_script(context: BrowserContext) -> None:
    """With the CSP of the board; the page's own code makes the policy only when it needs the worker."""
    with site(BUILT, free_port()) as address:
        page = installed(context, address)
        for name in ("other", "default"):
            said = page.evaluate(
                f"(() => {{ try {{ trustedTypes.createPolicy('{name}', {{}}) }} catch (e) {{ return e.name }} }})()"
            )
            assert said == "TypeError"
        tried = "navigator.serviceWorker.register('/other.js').then(() => '', (error) => error.name)"
        assert page.evaluate(tried) == "TypeError"


def test_signing_in_ends_what_another_program_left_on_this_port_and_keeps_how_the_page_looks(
    context: BrowserContext, tmp_path: Path
) -> None:
    port, other = free_port(), tmp_path / "other"
    other.mkdir()
    (tmp_path / "home").mkdir()
    (other / "index.html").write_text("<title>another program</title>")
    (other / "old.js").write_text(FOREIGN)
    stage = Stage(tmp_path / "home", "http://127.0.0.1:1").set_up(VISION, FILES)
    page = context.new_page()
    with site(other, port) as address:
        page.goto(address)
        page.evaluate("""async () => {
          const policy = trustedTypes.createPolicy("board", { createScriptURL: (url) => url });
          await navigator.serviceWorker.register(policy.createScriptURL("/old.js"), { scope: "/task/" });
          localStorage.setItem("sisimpur.theme", "dark");
          localStorage.setItem("theirs", "x");
        }""")
    with served(stage.home.root, port) as board:
        page = context.new_page()
        page.goto(board.link)
        page.get_by_role("navigation", name="Pages").wait_for()
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
        kept = page.evaluate("({...localStorage})")
        assert kept["sisimpur.theme"] == "dark" and kept["sisimpur.key"] and "theirs" not in kept
