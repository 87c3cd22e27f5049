"""Signing in with Google or GitHub, in a browser: over the board's own TLS, at providers of our own elsewhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sisimpur.shared.config.settings_board import BoardTls
from tests.journey.board_process import in_thread
from tests.journey.gated import FILES, VISION
from tests.journey.local_accounts import CLIENTS, SECRETS, LocalAccounts, serving
from tests.journey.stage import Stage
from tests.web.browsing import EXPECTED, PHONE, PLAYWRIGHT, needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = needs(PLAYWRIGHT, "axe-playwright-python==0.1.8")
NAME = "team.localhost"  # a browser finds each name of this kind on this machine
RAHIM = "{name: Rahim, role: reviewer, github: 12345, google: 12345}"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    one = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    keys = one.home.config / ".env"
    secrets = f"GOOGLE_CLIENT_SECRET={SECRETS['google']}\nGITHUB_OAUTH_SECRET={SECRETS['github']}\n"
    keys.write_text(keys.read_text() + secrets)
    return one


@contextmanager
def board(stage: Stage, local: LocalAccounts) -> Iterator[str]:
    """Where it answers, with a certificate made for it."""
    key, cert = stage.root / "key.pem", stage.root / "cert.pem"
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", f"/CN={NAME}")
    subprocess.run([*made, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True, timeout=60)
    tls = BoardTls(cert=str(cert), key=str(key))
    with in_thread(stage, tls, NAME, providers=local.providers) as port:
        here = f"https://{NAME}:{port}"
        local.callbacks = tuple(f"{here}/signed-in/{way}" for way in CLIENTS)
        listing(stage, here, tls, RAHIM)
        yield here


def listing(stage: Stage, here: str, tls: BoardTls, *people: str) -> None:
    clients = f"google: {CLIENTS['google']}, github: {CLIENTS['github']}"
    text = f"url: {here}\ntls: {{cert: {tls.cert}, key: {tls.key}}}\n"
    (stage.home.config / "board.yaml").write_text(f"{text}sign_in: {{{clients}, people: [{', '.join(people)}]}}\n")


def opened(browser: Browser, here: str) -> tuple[BrowserContext, Page, list[str]]:
    said: list[str] = []
    context = browser.new_context(ignore_https_errors=True, viewport={"width": PHONE[0], "height": PHONE[1]})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(here)
    return context, page, said


@pytest.mark.parametrize("way", ["Google", "GitHub"])
def test_a_phone_signs_in_with_an_account_and_is_who_the_list_says(browser: Browser, stage: Stage, way: str) -> None:
    """The way there and back, the foot of the page, the end of it at once."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    with serving(LocalAccounts()) as local, board(stage, local) as here:
        context, page, said = opened(browser, here)
        button = page.get_by_role("button", name=f"Sign in with {way}")
        expect(button).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert [one["id"] for one in Axe().run(page).response["violations"]] == []
        button.click()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        expect(page.get_by_text(f"Rahim, by {way}")).to_be_visible()
        expect(page.get_by_text("You answer and approve: a reviewer")).to_be_visible()
        assert page.url == f"{here}/", "nothing of it stays in the address"
        (cookie,) = context.cookies(here)
        assert (cookie["name"], cookie["sameSite"]) == ("__Host-sisimpur", "Strict"), "the ticket is gone"
        kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie")
        assert cookie["value"] not in kept and not any(code in kept for code in local.grants)
        page.reload()
        expect(page.get_by_text(f"Rahim, by {way}")).to_be_visible()
        listing(stage, here, BoardTls(cert=str(stage.root / "cert.pem"), key=str(stage.root / "key.pem")))
        page.reload()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.get_by_role("button", name=f"Sign in with {way}").click()
        whose = f"This account is not on the list. Its owner writes it into config/board.yaml: {way.lower()}: 12345"
        expect(page.get_by_text(whose)).to_be_visible()
        assert page.url == f"{here}/"
        context.close()
        assert [one for one in said if not any(known in one for known in EXPECTED)] == []


def test_a_link_back_of_somebody_else_and_one_of_before_sign_nobody_in(browser: Browser, stage: Stage) -> None:
    """Another's code, and the same way back once more: both end at our page, which says it in the language chosen."""
    from playwright.sync_api import expect

    with serving(LocalAccounts()) as local, board(stage, local) as here:
        attacker, page, _ = opened(browser, here)
        page.route("**/github/authorize*", lambda route: route.abort())
        with page.expect_request("**/github/authorize*") as left:
            page.get_by_role("button", name="Sign in with GitHub").click()
        theirs = local.sends_back(left.value.url)
        context, page, _ = opened(browser, here)
        page.evaluate("localStorage.setItem('sisimpur.language', 'bn')")
        page.goto(theirs)
        expect(page.get_by_text("এটি অন্য ব্রাউজারে, বা অনেক আগে শুরু হয়েছিল। আবার শুরু করুন।")).to_be_visible()
        expect(page.get_by_role("button", name="GitHub দিয়ে প্রবেশ করুন")).to_be_visible()
        assert context.cookies(here) == [] and page.evaluate("localStorage.getItem('sisimpur.key')") is None
        assert local.asked == []
        for said in ("javascript:alert(1)", "unlisted:<b>x</b>", "done:x", "%00"):
            page.goto("about:blank")
            page.goto(f"{here}/#sign-in={said}")
            expect(page.get_by_text("আবার শুরু করুন।")).to_be_visible()
        page.goto("about:blank")
        page.goto(f"{here}/#sign-in=done")
        expect(page.get_by_role("button", name="GitHub দিয়ে প্রবেশ করুন")).to_be_visible()
        context.close()
        attacker.close()


def test_where_nothing_is_configured_there_is_no_button(browser: Browser, stage: Stage) -> None:
    from playwright.sync_api import expect

    with in_thread(stage) as port:
        context, first, said = opened(browser, here := f"http://127.0.0.1:{port}")
        first.close()
        page = context.new_page()
        with page.expect_response("**/api/v1/sign-in") as asked:
            page.goto(here)
        assert asked.value.json() == {"ways": []}
        expect(page.get_by_text("sisimpur board --link")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Google|GitHub"))).to_have_count(0)
        context.close()
        assert said == []
