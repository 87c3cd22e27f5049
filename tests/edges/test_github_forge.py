"""GitHubForge keeps the forge's contract, with one account and with two, and a few promises of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared.edge.clock import ManualClock
from shared.edge.forge.forge import Forge
from shared.edge.forge.github_forge import GitHubForge
from shared.edge.local_github.local_github import LocalGitHub
from shared.edge.repo.git import git
from tests.edges.github_contract import Contract

pytest.register_assert_rewrite("tests.edges.forge_contract")

from tests.edges.forge_contract import EFFECTS, Effect, ForgeContract, ForgeHome, commit  # noqa: E402

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
NAME = "team/app"
OPENING = """
import os
from datetime import UTC, datetime
from shared.edge.clock import ManualClock
from shared.edge.forge.github_forge import GitHubForge
forge = GitHubForge(
    {name!r}, os.environ["TOKEN_OF_TEAM"], ManualClock(datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    reviewer_token=os.environ["TOKEN_OF_REVIEWER"], url={url!r}, patience=20.0, seconds_between=0.0,
)
"""


class GitHubHome(ForgeHome):
    forge: GitHubForge

    def __init__(self, hub: LocalGitHub, one_account: bool, private: bool = False) -> None:
        self.hub = hub
        self.one_account = one_account
        self.repository = hub.repository(NAME, writers=("team", "reviewer"), private=private)
        commit(self.repository, "main", {"README": "read me\n"})
        self.team, self.reviewer = hub.user("team"), "" if one_account else hub.user("reviewer")
        self.forge = self.opened()

    def opened(self, **given: Any) -> GitHubForge:
        manner = {"url": self.hub.url, "patience": 20.0, "seconds_between": 0.0, "reviewer_token": self.reviewer}
        return GitHubForge(NAME, self.team, ManualClock(NOW), **(manner | given))

    def opening(self) -> str:
        return OPENING.format(name=NAME, url=self.hub.url)

    def environment(self) -> Mapping[str, str]:
        return {"TOKEN_OF_TEAM": self.team, "TOKEN_OF_REVIEWER": self.reviewer}

    def require(self, context: str) -> None:
        self.hub.require(NAME, "main", context)

    def add_issue(self, title: str, labels: list[str]) -> int:
        return int(self.asks("team", "POST", "/issues", {"title": title, "labels": labels})["number"])

    def says(self, author: str, number: int, text: str) -> None:
        self.asks(author, "POST", f"/issues/{number}/comments", {"body": text})

    def remarks(self, author: str, number: int, text: str, path: str, line: int) -> bool:
        remark = {"path": path, "line": line, "body": text}
        self.asks(author, "POST", f"/pulls/{number}/reviews", {"event": "COMMENT", "comments": [remark]})
        return True

    def asks(self, login: str, verb: str, path: str, body: Any = None) -> Any:
        """What somebody does there without us."""
        head = {"Authorization": f"Bearer {self.hub.user(login)}"}
        answer = httpx2.request(verb, f"{self.hub.url}/repos/{NAME}{path}", json=body, headers=head, trust_env=False)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LocalGitHub]:
    contract = Contract()
    with LocalGitHub(tmp_path / "hub", observe=contract.observe) as hub:
        yield hub
    assert contract.violations == []


class TestGitHubWithOneAccount(ForgeContract):
    @pytest.fixture
    def home(self, hub: LocalGitHub) -> GitHubHome:
        return GitHubHome(hub, one_account=True)


class TestGitHubWithTwoAccounts(ForgeContract):
    @pytest.fixture
    def home(self, hub: LocalGitHub) -> GitHubHome:
        return GitHubHome(hub, one_account=False)

    @pytest.mark.parametrize("effect", [EFFECTS["a review"]])  # nothing else needs the second account
    def test_killed_anywhere_and_repeated_is_like_never_killed(self, home: ForgeHome, effect: Effect) -> None:
        super().test_killed_anywhere_and_repeated_is_like_never_killed(home, effect)

    def test_killed_again_in_the_repetition_is_one_merge(self, home: ForgeHome) -> None:
        pytest.skip("as with one account")
