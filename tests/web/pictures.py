"""Three pictures of the board for the documentation: `python -m tests.web.pictures HOME` (of `make demo`)."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.journey.board_process import ROOT, served

PICTURES = ROOT / "docs" / "pictures"
MOST = 150_000  # bytes


def draw(home: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    with served(home) as board, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium")
        page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="light", reduced_motion="reduce")
        page.goto(board.link)
        page.get_by_role("heading", name="What waits for you").wait_for()
        page.screenshot(path=PICTURES / "board-today.png")
        page.get_by_role("article").filter(has_text="a change to approve").get_by_role("link").first.click()
        page.locator(".diff .plus").first.wait_for()
        page.screenshot(path=PICTURES / "board-task.png", full_page=True, clip=_beginning(1_700))
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="dark")
        page.get_by_role("link", name="Goals").click()
        page.get_by_role("heading", name="Goals").wait_for()
        expect(page.locator("article").first).to_be_visible()
        page.screenshot(path=PICTURES / "board-goals.png")
        browser.close()
    for path in PICTURES.glob("board-*.png"):
        assert path.stat().st_size < MOST, path


def _beginning(height: int) -> dict[str, float]:
    return {"x": 0, "y": 0, "width": 390, "height": height}


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
