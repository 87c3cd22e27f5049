"""Each page, in both colours, at phone size: axe finds nothing serious or critical."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sisimpur.web.api.access.passkey_book import PasskeyFacts, Passkeys
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import SignedIn
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
    stage = run(tmp_path_factory.mktemp("parked"))
    with stage.records() as records:
        owner, facts = SignedIn("00000000", Role.OWNER), PasskeyFacts("one", b"", 0)
        Passkeys(records.db).add(owner, "localhost", "my phone", facts, records.clock.now())
    return stage.home.root


def by_name(address: str) -> str:
    """Where Settings takes a passkey."""
    return address.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (LAPTOP, "dark")])
def test_nobody_is_kept_out(browser: Browser, parked: Path, size: tuple[int, int], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    found: list[str] = []
    with served(parked) as board, opened(browser, by_name(board.link), size, scheme) as page:
        page.get_by_role("navigation", name="Pages").wait_for()
        for address in (
            board.here,
            *(by_name(board.here) + path for path in PAGES),
        ):  # at the first nobody is signed in
            page.goto(address)
            page.locator("main :is(h1, [role=alert])").first.wait_for()
            expect(page.locator("main").get_by_text("Reading …")).to_have_count(0)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
            for one in Axe().run(page).response["violations"]:
                if one["impact"] in ("serious", "critical"):
                    found += [f"{address}: {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
    assert found == []
