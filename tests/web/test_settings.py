"""Settings are changed on their page: in a form made of their types, with what the board says beside the field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.journey.board_process import served
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.web.browsing import PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs(PLAYWRIGHT)


def test_settings_are_changed_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """A number that cannot be is told beside its field; a cap is asked about; who changed it meanwhile is not lost."""
    from playwright.sync_api import expect

    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    policy = stage.home.config / "policy.yaml"
    with served(stage.home.root) as board, opened(browser, board.link, PHONE) as page:
        page.get_by_role("link", name="Settings").click()
        page.get_by_text("config/policy.yaml").click()
        depth = page.get_by_label("capacity.depth")
        expect(depth).to_have_value("3")
        depth.fill("99")
        page.get_by_role("button", name="Save").click()
        expect(depth).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_text("write a whole number from 1 to 10", exact=True)).to_be_visible()
        depth.fill("2")
        page.get_by_label("qa.independent").select_option("off")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Done")).to_be_visible()
        assert "depth: 2" in policy.read_text() and "independent: off" in policy.read_text()

        page.get_by_label("budget.day").fill("7,5")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("budget.day: 5.00 → 7,5")).to_be_visible()
        assert "day: 5" in policy.read_text(), "it is only asked"
        page.get_by_role("button", name="Yes, change it").click()
        expect(page.get_by_label("budget.day")).to_have_value("7.50")
        assert "day: 7.5" in policy.read_text()

        page.get_by_label("talk.days").fill("9")
        policy.write_text(policy.read_text().replace("depth: 2", "depth: 4"))
        page.get_by_label("talk.days").press("Enter")  # a button waits to be enabled: it is not, once the page knows
        expect(page.get_by_text("This file has changed meanwhile")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(depth).to_have_value("4")
        assert "days: 9" not in policy.read_text()
