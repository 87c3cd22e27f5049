"""The owner says what is wrong on the lines of a change, by thumb or by keys; the coder reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.board_process import served
from tests.journey.gated import ID
from tests.journey.stage import APPROVES, CODES
from tests.journey.test_board import TITLE, run
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs(PLAYWRIGHT, "axe-playwright-python==0.1.8")
THREE = "Two is too few.\nতিন করো।"


def test_comments_on_lines_are_kept_in_the_tab_and_sent_back_to_the_coder(browser: Browser, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    day = run(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        page.get_by_role("link", name=TITLE).click()
        line = page.locator(".line.plus", has_text="X = 2")
        line.click(position={"x": 12, "y": 8})
        form = page.get_by_role("form", name="settings.py, line 1")
        expect(form.get_by_role("textbox")).to_be_focused()
        form.get_by_role("textbox").fill(THREE)
        form.get_by_role("button", name="Keep it").click()
        page.locator(".line.minus", has_text="X = 1").click(position={"x": 12, "y": 8})
        page.get_by_role("form", name="settings.py, line 1 as it was").get_by_role("textbox").fill("why?")
        page.get_by_role("button", name="Keep it").click()
        page.reload()
        expect(page.locator(".comment .words")).to_have_text(["why?", THREE])
        page.get_by_role("button", name="Remove: settings.py, line 1 as it was").click()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("form")).to_contain_text("not sent with a yes")
        page.get_by_role("button", name="Not yet").click()
        page.get_by_role("button", name="Send back (1 comments)").click()
        page.get_by_text("1 comments on lines go with it").click()
        assert [
            one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")
        ] == []
        page.get_by_role("button", name="Send it back").click()
        expect(page.get_by_text("in_review -> backlog")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0, "what was sent is not kept"
    with ScriptedModel([CODES, APPROVES]) as model:
        day.model_url = model.url
        day.given_key()
        day.run_day()
        sent = json.dumps([request.body for request in model.requests], ensure_ascii=False)
    assert "settings.py:1 (new) `X = 2`: Two is too few." in sent and "why?" not in sent


def test_by_keys_alone_a_line_is_chosen_and_spoken_of_side_by_side(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP, "dark") as page:
        page.get_by_role("link", name=TITLE).click()
        page.locator(".pair").first.wait_for()
        page.keyboard.press("c")
        expect(page.locator(".line:focus")).to_have_count(1)
        first = page.locator(".line:focus").text_content()
        page.keyboard.press("ArrowDown")
        assert page.locator(".line:focus").text_content() != first
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        form = page.locator("form.comment")
        expect(form.get_by_role("textbox")).to_be_focused()
        assert "as it was" in (form.get_attribute("aria-label") or ""), "the left side is the file as it was"
        page.keyboard.type("a j k o r c are words here")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".comment .words")).to_have_text("a j k o r c are words here")
        page.locator(".pair .line.plus").first.click(position={"x": 200, "y": 8})
        expect(page.locator("form.comment")).to_have_count(0)  # a mouse marks words
        with day.records() as records:
            assert records.gates.rulings(ID) == []


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_a_last_line_without_its_end_says_so(browser: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path, settings="X = 1")
    with served(day.home.root) as board, opened(browser, board.link, size) as page:
        page.get_by_role("link", name=TITLE).click()
        expect(page.locator(".line.plus", has_text="X = 1")).to_have_text("X = 1\\ No newline at end of file")
        expect(page.locator(".line.minus", has_text="X = 1")).to_have_text("X = 1")
