"""The owner's day at the board, in a real browser: Debian's Chromium, driven by Playwright. `make test-web`."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.board_process import served
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import TITLE, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or ""
MISSING = [
    what
    for what, is_there in (
        ("chromium (apt-get install chromium)", CHROMIUM),
        ("playwright (.venv/bin/python -m pip install playwright==1.65.2)", importlib.util.find_spec("playwright")),
    )
    if not is_there
]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")
PHONE, LAPTOP = (360, 740), (1280, 800)
LONGEST = 30_000  # milliseconds; a busy machine is slow


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    home = {"HOME": str(tmp_path_factory.mktemp("home"))}  # else it makes the one that no test may have
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, env={**os.environ, **home})
        yield found
        found.close()


@contextmanager
def opened(browser: Browser, address: str, size: tuple[int, int], scheme: str = "light") -> Iterator[Page]:
    """A page of a browser of its own. Its console tells of no error but a board that is gone; nothing is too wide."""
    said: list[str] = []
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    context.set_default_timeout(LONGEST)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.goto(address)
    yield page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
    assert [one for one in said if "net::ERR_" not in one] == []


def test_the_parked_change_is_approved_on_a_phone_and_merged_without_a_model(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path)
    expect.set_options(timeout=LONGEST)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
        expect(page.locator("body")).to_have_attribute("data-live", "live")
        page.get_by_role("link", name=TITLE).click()
        expect(page.get_by_text("X = 2", exact=True)).to_be_visible()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("form")).to_contain_text("3 files, +6 −2")
        page.get_by_role("button", name="Yes, approve").click()
        expect(page.get_by_text("waits for you")).to_have_count(0)
        page.wait_for_timeout(2_000)  # the news of it come, and the page is read again
        expect(page.get_by_text(f"{ID}: approved")).to_be_visible()
        page.get_by_role("link", name="Today").click()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        with ScriptedModel([]) as model:
            day.model_url = model.url
            day.given_key()
            assert day.run_day() == []
        assert day.states() == {ID: "completed"}
        page.get_by_role("link", name="Board").click()
        page.get_by_role("link", name="Done").click()
        expect(page.get_by_role("region", name="Done").get_by_role("link", name=TITLE)).to_be_visible()


def test_what_is_moved_by_hand_shows_in_seven_tabs_and_whoever_writes_is_not_disturbed(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    mine = day.home.root / "tasks" / "backlog" / "mine.md"
    expect.set_options(timeout=LONGEST)
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP, "dark") as page:
        pages = [page, *(page.context.new_page() for _ in range(6))]
        for one in pages[1:]:
            one.goto(f"{board.here}/board")
        page.get_by_role("link", name="Board").click()
        for one in pages:
            expect(one.get_by_role("heading", name="Board")).to_be_visible()
            expect(one.locator("body")).to_have_attribute("data-live", "live")
        mine.write_text("# Do it by hand\n\nAll of it.\n")
        for one in pages:
            one.get_by_role("link", name="mine").wait_for(timeout=5_000)
        page.get_by_role("link", name="mine").click()
        page.get_by_role("button", name="Cancel it").click()
        words = page.get_by_label("Your words to the coder, if any")
        words.fill("মাঝপথে")
        mine.rename(mine.parents[1] / "in_progress" / mine.name)
        there = pages[1].get_by_role("region", name="In progress").get_by_role("article")
        there.wait_for(timeout=5_000)
        expect(words).to_have_value("মাঝপথে")


def test_a_board_that_is_gone_is_said_and_when_it_is_back_the_page_is_live_again(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    expect.set_options(timeout=LONGEST)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        expect(page.locator("body")).to_have_attribute("data-live", "live")
        board.process.kill()
        board.process.wait()
        expect(page.get_by_text("Not live since")).to_be_visible()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        (day.home.root / "tasks" / "failed" / "mine.md").write_text("# Do it by hand\n\nAll of it.\n")
        with served(day.home.root, int(board.here.rpartition(":")[2])):
            expect(page.locator("body")).to_have_attribute("data-live", "live")
            expect(page.get_by_text("Not live since")).to_be_hidden()
            expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
