"""One browser for each file of stories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.web.browsing import CHROMIUM, LONGEST

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=LONGEST)
    home = {"HOME": str(tmp_path_factory.mktemp("home"))}  # else it makes the one that no test may have
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, env={**os.environ, **home})
        yield found
        found.close()
