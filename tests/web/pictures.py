"""Pictures of the board for the documentation: `python -m tests.web.pictures HOME` (of `make demo`).

Five for reading, and one of each page: on a phone, light and dark, English and Bengali, side by side.
"""

from __future__ import annotations

import io
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
PAGES = ROOT / "docs" / "board"
NAMED = {
    "today": "/",
    **{name: f"/{name}" for name in ("plan", "board", "vision", "roadmap", "money", "team", "settings")},
}
COLOURS = 48  # of a picture: enough for a page of words


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
        task = page.evaluate(
            "fetch('/api/v1/tasks?state=in_review', {headers: {Authorization:"
            " `Bearer ${localStorage.getItem('sisimpur.key')}`}}).then(a => a.json())"
        )["tasks"][0]["id"]
        for name, at in {**NAMED, "review": f"/review/{task}", "task": f"/task/{task}"}.items():
            _draw_page(page, board.here + at, PAGES / f"{name}.png")
        browser.close()
    for path in PICTURES.glob("board-*.png"):
        assert path.stat().st_size < MOST, path


def _draw_page(page: Page, address: str, to: Path) -> None:
    from PIL import Image

    shown = []
    for language in ("en", "bn"):
        page.evaluate("language => localStorage.setItem('sisimpur.language', language)", language)
        for scheme in ("light", "dark"):
            _look(page, PHONE, scheme)
            page.goto(address)
            page.locator("body[data-live=live]").wait_for()
            page.wait_for_timeout(1_000)  # until its own part has come
            shown.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    sheet = Image.new("RGB", (PHONE[0] * len(shown), PHONE[1]))
    for place, one in enumerate(shown):
        sheet.paste(one, (PHONE[0] * place, 0))
    to.parent.mkdir(exist_ok=True)
    sheet.quantize(COLOURS).save(to, optimize=True)


def _look(page: Page, size: tuple[int, int], scheme: str) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
