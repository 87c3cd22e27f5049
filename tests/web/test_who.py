"""Who may what, seen in a browser: on the phone over TLS, in each role, and the plan that waits."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.server import board as board_command
from tests.journey.board_process import BoardProcess, free_port, served
from tests.journey.gated import ID
from tests.journey.stage import VISION, Stage, goals_of, plans, reads, task
from tests.journey.test_board import TITLE, run
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = needs(PLAYWRIGHT)
NAME = "team.localhost"  # a browser finds each name of this kind on this machine


# --- the phone, over TLS -------------------------------------------------------------------------------------


@pytest.fixture
def phone(browser: Browser, tmp_path: Path) -> Iterator[tuple[Page, str]]:
    """One that is signed in over TLS at a board whose change waits, and where that is."""
    from playwright.sync_api import expect

    day, port, key, cert = run(tmp_path), free_port(), tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", f"/CN={NAME}")
    subprocess.run([*made, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True, timeout=60)
    here = f"https://{NAME}:{port}"
    (day.home.config / "board.yaml").write_text(f"url: {here}\ntls: {{cert: {cert}, key: {key}}}\n")
    with served(day.home.root, port) as board:
        assert board.link.startswith(f"{here}/#code=")
        context = browser.new_context(ignore_https_errors=True, viewport={"width": PHONE[0], "height": PHONE[1]})
        page = context.new_page()
        page.goto(board.link)
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
        expect(page.locator("body")).to_have_attribute("data-live", "live")
        yield page, here
        context.close()


def test_a_phone_signs_in_over_tls_and_no_script_of_the_page_finds_its_session(phone: tuple[Page, str]) -> None:
    from playwright.sync_api import expect

    page, here = phone
    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie")
    (cookie,) = page.context.cookies(here)
    assert cookie["name"] == "__Host-sisimpur" and cookie["httpOnly"] and cookie["secure"]
    assert cookie["sameSite"] == "Strict" and cookie["value"] not in kept and "__Host-" not in kept
    page.get_by_role("link", name=TITLE).click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Yes, approve").click()
    expect(page.get_by_text(f"{ID}: approved")).to_be_visible()
    page.reload()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.context.cookies(here) == []


def test_who_signs_out_is_out_or_hears_that_not_and_leaves_nothing_to_the_next_one(phone: tuple[Page, str]) -> None:
    from playwright.sync_api import expect

    page, here = phone
    page.evaluate("sessionStorage.setItem('sisimpur.comments.x', '[]'); window.read = 'what was read'")
    page.context.set_offline(True)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are still signed in here")).to_be_visible()
    assert page.context.cookies(here), "only the board takes it back"
    page.context.set_offline(False)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.context.cookies(here) == []
    assert page.evaluate("[sessionStorage.length, localStorage.getItem('sisimpur.key'), window.read]") == [
        0,
        None,
        None,
    ]
    page.goto(f"{here}/#sign-in=done")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_no_page_elsewhere_signs_somebody_out_by_a_link(browser: Browser, parked: Stage) -> None:
    from playwright.sync_api import expect

    with served(parked.home.root) as board, opened(browser, board.link, LAPTOP) as page:
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()
        page.goto("about:blank")
        page.goto(f"{board.here}/#sign-in=done")
        page.reload()
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


# --- in each role --------------------------------------------------------------------------------------------

ORDERS = {  # what somebody could press, by its page
    "/": ("Look and approve", "Send back"),
    f"/review/{ID}": ("Approve", "Send back", "Reject"),
    "/money": ("Raise today's cap",),
    "/vision": ("Save",),
    "/roadmap": ("Move",),
}
OWNED = {"/money", "/vision", "/roadmap"}


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return run(tmp_path_factory.mktemp("parked"))


@pytest.mark.parametrize("role", ["owner", "reviewer", "viewer"])
def test_each_role_sees_the_buttons_that_it_may_press_and_no_others(
    browser: Browser, parked: Stage, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from playwright.sync_api import expect

    with served(parked.home.root) as board, opened(browser, as_(role, parked, board, capsys), PHONE) as page:
        page.get_by_role("heading", name="What waits for you").wait_for()
        expect(page.get_by_text("You look only")).to_have_count(int(role == "viewer"))
        for path, words in ORDERS.items():
            page.goto(board.here + path)
            page.locator("main h1").first.wait_for()
            expect(page.locator("main").get_by_text("Reading …")).to_have_count(0)
            is_there = role == "owner" or (role == "reviewer" and path not in OWNED)
            for word in words:
                if is_there:
                    expect(pressed(page, word)).not_to_have_count(0)
                else:
                    expect(pressed(page, word)).to_have_count(0)
        if role == "viewer":
            page.goto(f"{board.here}/vision")
            expect(page.get_by_role("textbox")).to_have_attribute("readonly", "")


def as_(role: str, stage: Stage, board: BoardProcess, capsys: pytest.CaptureFixture[str]) -> str:
    port = int(board.here.rpartition(":")[2])
    assert board_command(Arguments("board", stage.home.root, link=True, role=role, port=port)) == 0
    return next(line for line in capsys.readouterr().out.splitlines() if "#code=" in line)


def pressed(page: Page, word: str) -> Locator:
    return page.locator("main").locator("button, a.button, summary").filter(has_text=word)


# --- the plan ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["approve", "drop"])
def test_a_plan_that_waits_is_read_and_answered_on_a_phone(browser: Browser, tmp_path: Path, answer: str) -> None:
    from playwright.sync_api import expect

    goal = goals_of(VISION)[0]
    with ScriptedModel([reads(), plans(task(goal), task(goal, "Say it in the readme", ["README.md"]))]) as model:
        stage = Stage(tmp_path, model.url).set_up()
        stage.given_config("policy", approve="{plan: always, days: 3}")
        stage.run_day()
    with served(stage.home.root) as board, opened(browser, board.link, PHONE) as page:
        expect(page.get_by_text("a plan to approve")).to_be_visible()
        page.get_by_role("link", name="Look at the plan").click()
        expect(page.get_by_role("article")).to_have_count(2)
        expect(page.get_by_text("for all 2 tasks")).to_be_visible()
        name = f"{answer.capitalize()} the plan"
        page.get_by_role("button", name=name).click()
        file = stage.home.root / "tasks" / "backlog" / "20261120-02.md"
        file.write_text(file.read_text().replace("Say it in the readme", "Say it aloud"))
        expect(page.get_by_text("The plan has changed since you asked")).to_be_visible()
        expect(page.get_by_role("button", name=f"Yes, {answer} it")).to_be_disabled()
        page.get_by_role("button", name="Not yet").click()
        expect(page.get_by_role("link", name="Say it aloud")).to_be_visible()
        page.get_by_role("button", name=name).click()
        page.get_by_role("button", name=f"Yes, {answer} it").click()
        expect(page.get_by_text("2 tasks of the plan")).to_be_visible()
        expect(page.get_by_text("No plan waits for you.")).to_be_visible()
    assert set(stage.states().values()) == {"backlog" if answer == "approve" else "failed"}


# --- the roadmap ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_keys", [True, False])
def test_a_goal_is_moved_to_another_week_by_hand_and_by_keys_alone(
    browser: Browser, tmp_path: Path, by_keys: bool
) -> None:
    from playwright.sync_api import expect

    home = run(tmp_path).home
    with served(home.root) as board, opened(browser, board.link, LAPTOP) as page:
        page.get_by_role("link", name="Roadmap").click()
        later = page.get_by_role("region", name="Later")
        goal = page.get_by_role("article").first
        if by_keys:
            goal.locator("summary").focus()
            page.keyboard.press("Enter")
            goal.get_by_role("button", name="Later").focus()
            page.keyboard.press("Enter")
        else:
            goal.drag_to(later.get_by_role("heading"))
        expect(later.get_by_role("article")).to_have_count(1)
        expect(later).to_contain_text("moved by you")
    assert "- [ ]" in home.roadmap.read_text().partition("## Later")[2]
