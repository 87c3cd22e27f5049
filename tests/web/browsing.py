"""A page of the board in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

import pytest

from bench.rows import STANDARD, start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, StorageState

CHROMIUM = shutil.which("chromium") or ""
PHONE, LAPTOP = (360, 740), (1280, 800)
EXPECTED = ("net::ERR_", "status of 4", "Clear-Site-Data header", "closed before the connection is established")
LONGEST = 30_000  # milliseconds; a busy machine is slow


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip, and say why, without a browser or these (`name==version`)."""
    missing = [] if CHROMIUM else ["chromium (apt-get install chromium)"]
    for package in packages:
        if not importlib.util.find_spec(package.partition("==")[0].replace("-", "_")):
            missing.append(f"{package.partition('==')[0]} (.venv/bin/python -m pip install {package})")
    return pytest.mark.skipif(bool(missing), reason=f"missing: {', '.join(missing)}")


PLAYWRIGHT = "playwright==1.65.2"


def slower() -> float:
    """How many times slower this machine is now than that of the bench's figures, at least 1."""
    return max(1.0, median(start() for _ in range(5)) / STANDARD)


@contextmanager
def opened(
    browser: Browser, address: str, size: tuple[int, int], scheme: str = "light", kept: StorageState | None = None
) -> Iterator[Page]:
    """A page of a browser of its own; nothing is too wide. `kept`: what another one kept, but none of its files.

    Its console tells nothing but of a board that is gone, of an address that is not there yet, that signing in emptied
    its storage, and that a page went before its socket was one.
    """
    said: list[str] = []
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        storage_state=kept,
    )
    context.set_default_timeout(LONGEST)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.goto(address)
    yield page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
    assert not (strange := [one for one in said if not any(known in one for known in EXPECTED)]), strange
