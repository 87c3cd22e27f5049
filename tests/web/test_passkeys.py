"""A passkey in a real browser, with Chromium's own virtual authenticator: on this machine, and over TLS by a name."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.web.api.server import board as board_command
from tests.journey.board_process import free_port, served
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import run
from tests.web.browsing import CHROMIUM, PHONE, PLAYWRIGHT, needs, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

pytestmark = needs(PLAYWRIGHT)
NAME = "team.localhost"  # a browser finds each name of this kind on this machine
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def home(tmp_path: Path) -> Stage:
    return Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)


def with_authenticator(page: Page) -> tuple[CDPSession, str]:
    line = page.context.new_cdp_session(page)
    line.send("WebAuthn.enable")
    id_: str = line.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})["authenticatorId"]
    return line, id_


def knows(device: tuple[CDPSession, str], is_known: bool) -> None:
    """Whether it knows from now on who holds it, by finger, face or PIN."""
    line, id_ = device
    line.send("WebAuthn.setUserVerified", {"authenticatorId": id_, "isUserVerified": is_known})


def told_link(stage: Stage, capsys: pytest.CaptureFixture[str], role: str = "owner") -> str:
    """Print another link, as somebody at the terminal does, for the board that runs."""
    assert board_command(Arguments("board", stage.home.root, link=True, role=role)) == 0
    return next(line for line in capsys.readouterr().out.splitlines() if "#code=" in line)


def adds_signs_out_and_in_and_is_closed(
    page: Page, here: str, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole story, from a browser that is signed in by a link."""
    from playwright.sync_api import expect

    with_authenticator(page)
    page.goto(f"{here}/settings")
    page.get_by_label("What this device is called").fill("আমার ফোন")
    page.get_by_role("button", name="Add a passkey").click()
    mine = page.get_by_role("listitem").filter(has_text="আমার ফোন")
    expect(mine).to_contain_text("owner")
    page.get_by_label("What this device is called").fill("once more")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_text("has a passkey of yours already")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    by_it = page.get_by_role("button", name="Sign in with a passkey")
    by_it.click()
    expect(mine).to_contain_text("you came by it")
    page.reload()
    expect(mine).to_contain_text("you came by it")
    capsys.readouterr()
    assert board_command(Arguments("board", stage.home.root, sessions=True)) == 0
    listed = capsys.readouterr().out
    (id_,) = re.findall(r"(\w{8})\s+owner, আমার ফোন", listed)
    assert f"owner, by passkey {id_}" in re.sub(r"\s+", " ", listed)
    assert board_command(Arguments("board", stage.home.root, close=id_)) == 0
    expect(page.get_by_text("You are not signed in any more")).to_be_visible()
    by_it.click()
    expect(page.get_by_role("alert")).to_contain_text("it may have been deleted")


def test_on_this_machine_a_passkey_is_for_localhost_and_the_page_says_so(
    browser: Browser, home: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    from playwright.sync_api import expect

    with served(home.home.root) as board:
        by_name = board.here.replace("127.0.0.1", "localhost")
        with opened(browser, board.link, PHONE) as page:
            page.get_by_role("navigation", name="Pages").wait_for()
            page.goto(f"{board.here}/settings")
            expect(page.get_by_text(f"Open {by_name}/settings for that")).to_be_visible()
            expect(page.get_by_role("button", name="Add a passkey")).to_have_count(0)
            page.get_by_role("button", name="Sign out").click()
            page.get_by_role("button", name="Sign in with a passkey").click()
            expect(page.get_by_role("alert")).to_contain_text(f"open {by_name} for that")
        link = told_link(home, capsys).replace("127.0.0.1", "localhost")
        with opened(browser, link, PHONE) as page:
            page.get_by_role("navigation", name="Pages").wait_for()
            adds_signs_out_and_in_and_is_closed(page, by_name, home, capsys)


def test_a_device_without_a_passkey_is_told_so_and_a_viewer_adds_one_for_looking(
    browser: Browser, home: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    from playwright.sync_api import expect

    with served(home.home.root) as board:
        by_name = board.here.replace("127.0.0.1", "localhost")
        with opened(browser, by_name, PHONE) as page:
            with_authenticator(page)
            page.get_by_role("button", name="Sign in with a passkey").click()
            expect(page.get_by_role("alert")).to_contain_text("has no passkey of this board")
            page.goto(told_link(home, capsys, "viewer").replace("127.0.0.1", "localhost"))
            expect(page.get_by_text("You look only")).to_be_visible()
            page.goto(f"{by_name}/settings")
            page.get_by_label("What this device is called").fill("a guest")
            page.get_by_role("button", name="Add a passkey").click()
            expect(page.get_by_role("listitem").filter(has_text="a guest")).to_contain_text("viewer")
            page.get_by_role("button", name="Sign out").click()
            page.get_by_role("button", name="Sign in with a passkey").click()
            expect(page.get_by_text("You look only")).to_be_visible()
            page.get_by_role("button", name="Delete").click()
            page.get_by_role("button", name="Yes, delete it").click()
            expect(page.get_by_text("You are not signed in any more")).to_be_visible()


def test_a_protected_change_is_approved_by_who_signs_it_on_a_phone_in_bengali_and_by_keys_alone(
    browser: Browser, tmp_path: Path
) -> None:
    """First by somebody who has none, then by one who lets it be, then signed."""
    from playwright.sync_api import expect

    day = run(tmp_path)
    day.given_config("board", step_up="guarded")
    with served(day.home.root) as board:
        by_name = board.here.replace("127.0.0.1", "localhost")
        with opened(browser, board.link.replace(board.here, by_name), PHONE) as page:
            page.get_by_role("navigation", name="Pages").wait_for()
            line = with_authenticator(page)
            page.goto(f"{by_name}/review/{ID}")
            page.get_by_role("button", name="Approve").press("Enter")
            page.get_by_role("button", name="Yes, approve").press("Enter")
            expect(page.get_by_text("register a passkey under Settings first")).to_be_visible()
            page.goto(f"{by_name}/settings")
            page.get_by_label("What this device is called").fill("my phone")
            page.get_by_role("button", name="Add a passkey").click()
            expect(page.get_by_role("listitem").filter(has_text="my phone")).to_contain_text("owner")
            page.get_by_label("বাংলা").check()
            page.goto(f"{by_name}/review/{ID}?do=approve")
            knows(line, False)
            yes = page.get_by_role("form").locator("button[type=submit]")
            yes.press("Enter")
            expect(page.get_by_text("কিছুই স্বাক্ষর হয়নি")).to_be_visible()
            knows(line, True)
            yes.press("Enter")
            expect(page.get_by_text(f"{ID}: approved")).to_be_visible()
    with day.records() as records:
        (row,) = records.audit.rows(kind="ruling")
    assert json.loads(row.detail)["signed"]["task"] == ID and row.via == "board"


# --- over TLS ------------------------------------------------------------------------------------------------


@pytest.fixture
def certified(browser: Browser, tmp_path: Path) -> Iterator[tuple[Path, Path, Browser]]:
    """A certificate, its key, and a browser that trusts exactly that one: with an error of TLS it takes no passkey."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", f"/CN={NAME}")
    names = ("-addext", f"subjectAltName=DNS:{NAME}")
    run: dict[str, Any] = {"check": True, "capture_output": True, "timeout": 60}
    subprocess.run([*made, *names, "-keyout", str(key), "-out", str(cert)], **run)
    public = subprocess.run(["openssl", "x509", "-in", str(cert), "-pubkey", "-noout"], **run).stdout
    plain = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, **run).stdout
    trusted = f"--ignore-certificate-errors-spki-list={base64.b64encode(sha256(plain).digest()).decode()}"
    own = {"HOME": str(tmp_path)}
    found = browser.browser_type.launch(executable_path=CHROMIUM, env={**os.environ, **own}, args=[trusted])
    yield cert, key, found
    found.close()


def test_over_tls_a_phone_that_was_signed_out_comes_in_by_its_passkey_and_not_once_that_is_closed(
    certified: tuple[Path, Path, Browser], home: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    cert, key, browser = certified
    port = free_port()
    here = f"https://{NAME}:{port}"
    (home.home.config / "board.yaml").write_text(f"url: {here}\ntls: {{cert: {cert}, key: {key}}}\n")
    with served(home.home.root, port) as board, opened(browser, board.link, PHONE) as page:
        page.get_by_role("navigation", name="Pages").wait_for()
        adds_signs_out_and_in_and_is_closed(page, here, home, capsys)
        assert page.evaluate("localStorage.getItem('sisimpur.key')") is None
