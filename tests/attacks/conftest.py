"""What the attacks on sign-in with an account share."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.journey.accounts_scene import RAHIM, THERE, WAYS, Phone, board, listing
from tests.journey.gated import FILES, VISION
from tests.journey.local_accounts import SECRETS, LocalAccounts, serving
from tests.journey.stage import Stage


@pytest.fixture(scope="module")
def google_and_github() -> Iterator[LocalAccounts]:
    with serving(LocalAccounts(callbacks=tuple(f"{THERE}/signed-in/{one}" for one in WAYS))) as local:
        yield local


@pytest.fixture
def local(google_and_github: LocalAccounts) -> LocalAccounts:
    """As it is when nothing is wrong with it."""
    fresh = LocalAccounts(callbacks=google_and_github.callbacks)
    for name in ("user", "claims", "token", "account", "answers", "asked", "grants", "tokens", "word"):
        setattr(google_and_github, name, getattr(fresh, name))
    return google_and_github


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    stage = Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)
    stage.clock.sleep((datetime.now(UTC) - stage.clock.now()).total_seconds())  # the terminal's is the real one
    keys = stage.home.config / ".env"
    keys.write_text(
        keys.read_text() + f"GOOGLE_CLIENT_SECRET={SECRETS['google']}\nGITHUB_OAUTH_SECRET={SECRETS['github']}\n"
    )
    return stage


@pytest.fixture
def phone(home: Stage, local: LocalAccounts) -> Phone:
    listing(home, RAHIM)
    return Phone(board(home, local))
