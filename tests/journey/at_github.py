"""The stage with GitHub beside it: the owner's repository, his issues and his comments are there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2

from sisimpur.cli.commands.owner_commands import init
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.simulators.github.local_github import LocalGitHub
from tests.journey.gated import FILES, VISION
from tests.journey.stage import KEY, Stage, git, repository


@dataclass
class GitHubStage(Stage):
    """alice owns the repository, `team` is our account; `hub` is entered by the story."""

    hub: LocalGitHub | None = None
    name: str = "alice/site"
    bare: Path = Path()

    @property
    def _hub(self) -> LocalGitHub:
        assert self.hub
        return self.hub

    def set_up(self, vision: str = VISION, files: Mapping[str, str] = FILES, private: bool = False) -> GitHubStage:
        self.bare = self._hub.repository(
            self.name, repository(self.root / "site", files), private=private, writers=("team", "reviewer")
        )
        self._hub.require(self.name, "main", "agents/review")
        self.home.config.mkdir(parents=True)
        self.keys()
        with redirect_stdout(StringIO()):
            assert init(Arguments("init", self.home.root, target=f"{self._hub.url}/{self.name}.git")) == 0
        self.given_config("policy", upkeep="{tasks: 0}", goals="{read: false}")
        self.given_inbox("owners: [alice]")
        self.given_vision(vision)
        return self

    def keys(self, **more: str) -> None:
        values = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.model_url, "GITHUB_API_URL": self._hub.url}
        values |= {"GITHUB_TOKEN": self._hub.user("team"), **more}
        keys = self.home.config / ".env"
        keys.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
        keys.chmod(0o600)

    def given_inbox(self, rules: str) -> None:
        (target,) = (path for path in self.home.targets.glob("*.yaml") if path.name != "example.yaml")
        kept = [line for line in target.read_text().splitlines() if not line.startswith("inbox:")]
        target.write_text("\n".join([*kept, f"inbox: {{{rules}}}"]) + "\n")

    def forge(self, *words: str) -> str:
        return git(self.bare, *words)

    # -- what people do at GitHub -----------------------------------------------------------------------------

    def says(self, login: str, method: str, path: str, **body: Any) -> Any:
        """One call of the API by a person."""
        headers = {"Authorization": f"Bearer {self._hub.user(login)}"}
        url = f"{self._hub.url}/repos/{self.name}{path}"
        answer = httpx2.request(
            method, url, json=body, headers=headers, timeout=20, verify=False
        )  # loading takes 25 ms
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def comments(self, number: int, login: str = "team") -> list[str]:
        return [
            c["body"] for c in self.says("alice", "GET", f"/issues/{number}/comments") if c["user"]["login"] == login
        ]

    def made(self) -> dict[str, int]:
        """How many of everything there is."""
        pulls = self.says("alice", "GET", "/pulls?state=all&per_page=100")
        numbers = [pull["number"] for pull in pulls]
        return {
            "pulls": len(pulls),
            "comments": sum(len(self.says("alice", "GET", f"/issues/{number}/comments")) for number in numbers),
            "reviews": sum(len(self.says("alice", "GET", f"/pulls/{number}/reviews")) for number in numbers),
            "commits": int(git(self.bare, "rev-list", "--count", "main")),
        }
