"""Pictures of the board for the documentation: `python -m tests.web.pictures HOME` (of `make demo`)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.journey.board_process import ROOT, served
from tests.web.browsing import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = ROOT / "docs" / "pictures"
MOST = 150_000  # bytes
PHONE, LAPTOP = (390, 844), (1280, 720)


def draw(home: Path) -> None:
    from playwright.sync_api import sync_playwright

    with served(home) as board, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(reduced_motion="reduce")
        _look(page, PHONE, "light")
        page.goto(board.link)
        page.get_by_role("heading", name="What waits for you").wait_for()
        page.screenshot(path=PICTURES / "board-today.png")
        page.get_by_role("link", name="Look and approve").first.click()
        page.get_by_role("button", name="Yes, approve").wait_for()
        page.locator(".line.plus").first.wait_for()
        page.screenshot(path=PICTURES / "board-review.png")
        page.get_by_role("button", name="Not yet").click()
        _look(page, LAPTOP, "light")
        page.locator(".pair").first.scroll_into_view_if_needed()
        page.screenshot(path=PICTURES / "board-change.png")
        _look(page, LAPTOP, "dark")
        page.get_by_role("link", name="Board").click()
        page.get_by_role("region", name="Done").get_by_role("article").first.wait_for()
        page.screenshot(path=PICTURES / "board-columns.png")
        _look(page, PHONE, "dark")
        page.get_by_role("link", name="Settings").click()
        page.get_by_label("বাংলা").check()
        page.get_by_role("link", name="খরচ").click()
        page.get_by_role("heading", name="এজেন্ট অনুযায়ী").wait_for()
        page.screenshot(path=PICTURES / "board-bengali.png")
        browser.close()
    for path in PICTURES.glob("board-*.png"):
        assert path.stat().st_size < MOST, path


def _look(page: Page, size: tuple[int, int], scheme: str) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
