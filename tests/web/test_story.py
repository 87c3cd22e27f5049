"""The owner's day at the board, in a real browser: Debian's Chromium, driven by Playwright. `make test-web`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.board_process import served
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import TITLE, run
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs(PLAYWRIGHT)
BENGALI_IS_LOADED = "[...document.fonts].some((one) => one.family.includes('Bengali') && one.status === 'loaded')"


def test_the_parked_change_is_approved_on_a_phone_and_merged_without_a_model(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path)
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


def test_the_keys_go_through_what_waits_and_an_approval_is_only_asked_for(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP, "dark") as page:
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(page.get_by_role("article").first).to_be_focused()
        page.keyboard.press("a")
        form = page.get_by_role("form", name="Approve this change?")
        expect(form).to_contain_text("What the gates could not see")
        expect(form.get_by_role("heading")).to_be_focused()
        page.keyboard.press("Escape")
        expect(form).to_be_hidden()
        page.keyboard.press("r")
        words = page.get_by_label("Why, or what to do differently")
        expect(words).to_be_focused()
        page.keyboard.type("a j k o r are words here")
        page.get_by_role("button", name="Not yet").click()
        with day.records() as records:
            assert records.gates.rulings(ID) == []


def test_a_change_is_rejected_with_words_and_a_card_that_is_dragged_asks_before_it_moves(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = run(tmp_path)
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP) as page:
        page.get_by_role("link", name=TITLE).click()
        page.get_by_role("button", name="Reject").click()
        page.get_by_role("button", name="Reject it").click()
        expect(page.get_by_text("Say why first.")).to_be_visible()
        page.get_by_label("Why, or what to do differently").fill("leave the settings")
        page.get_by_role("button", name="Reject it").click()
        expect(page.get_by_text("in_review -> failed")).to_be_visible()
        assert day.states() == {ID: "failed"}
        page.get_by_role("link", name="Board").click()
        card = page.get_by_role("region", name="Failed").get_by_role("article")
        card.drag_to(page.get_by_role("region", name="In progress"))
        expect(page.get_by_text("that means nothing")).to_be_visible()
        card.drag_to(page.get_by_role("region", name="To do"))
        page.get_by_role("dialog").get_by_role("button", name="Not yet").click()
        assert day.states() == {ID: "failed"}, "a card that is only dropped moves nothing"
        card.get_by_text("Move").click()
        card.get_by_role("button", name="Try again").click()
        page.get_by_role("dialog").get_by_role("button", name="Try again").click()
        expect(page.get_by_role("region", name="To do").get_by_role("article")).to_be_visible()
        assert day.states() == {ID: "backlog"}
        page.get_by_role("region", name="To do").get_by_role("article").drag_to(page.get_by_role("region", name="Done"))
        page.get_by_role("dialog").get_by_role("button", name="Call it done").click()
        expect(page.get_by_role("region", name="Done").get_by_role("article")).to_be_visible()
        assert day.states() == {ID: "completed"}


def test_letters_that_nobody_sees_are_shown_and_bengali_has_its_letters_and_its_words(
    browser: Browser, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    day = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    backlog = day.home.root / "tasks" / "backlog"
    (backlog / "theirs.md").write_text("# Mend \u202elleh\u202c of র\u200d্যাব <img src=x>\n\nAll of it.\n")
    with served(day.home.root) as board, opened(browser, board.link, PHONE) as page:
        page.get_by_role("link", name="Board").click()
        page.get_by_role("link", name="To do").click()
        page.get_by_role("link", name="theirs").click()
        expect(page.locator("pre mark")).to_have_text(["U+202E", "U+202C"])
        expect(page.locator("pre").first).to_contain_text("র\u200d্যাব <img src=x>")
        page.get_by_role("link", name="Settings").click()
        page.get_by_label("বাংলা").check()
        expect(page.get_by_role("heading", name="সেটিংস")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "bn")
        page.reload()
        expect(page.get_by_role("link", name="বোর্ড")).to_be_visible()
        page.wait_for_function(BENGALI_IS_LOADED)
