"""Each page, in both colours, at phone size: axe finds nothing serious or critical."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journey.board_process import served
from tests.journey.gated import ID
from tests.journey.test_board import run
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs(PLAYWRIGHT, "axe-playwright-python==0.1.8")
PAGES = (
    *("/", "/board", "/vision", "/roadmap", "/money", "/team", "/settings", "/plan"),
    *(f"/task/{ID}", f"/review/{ID}", f"/review/{ID}?do=approve", f"/review/{ID}?do=reject"),
)


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("parked")).home.root


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (LAPTOP, "dark")])
def test_nobody_is_kept_out(browser: Browser, parked: Path, size: tuple[int, int], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    found: list[str] = []
    with served(parked) as board, opened(browser, board.link, size, scheme) as page:
        page.get_by_role("heading").first.wait_for()
        for path in PAGES:
            page.goto(board.here + path)
            page.locator("main :is(h1, [role=alert])").first.wait_for()
            expect(page.locator("main").get_by_text("Reading …")).to_have_count(0)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            for one in Axe().run(page).response["violations"]:
                if one["impact"] in ("serious", "critical"):
                    found += [f"{path}: {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
    assert found == []
