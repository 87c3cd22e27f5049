"""The forge's contract at a real GitHub, for whoever can reach one: opt-in, in a repository made for it.

    FORGE_LIVE_REPO=OWNER/NAME GITHUB_TOKEN=... python -m pytest --noconftest -n 0 tests/edges/test_github_live.py

Every test has branches of its own, `contract-<number>-…`, also for what it calls main, and clears them away. What needs
a second person, rules of a branch or several processes is left out. The same tests run at the local GitHub too, so that
what is opt-in works when it is wanted.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sisimpur.shared.forge.forge import Issue, Pull
from sisimpur.shared.forge.github_client import GITHUB, GitHubAccess
from sisimpur.shared.forge.github_forge import GitHubForge
from sisimpur.shared.repo.git import Remote, git
from sisimpur.shared.system.clock import SystemClock
from sisimpur.simulators.github.local_github import LocalGitHub
from tests.edges.forge_contract import ForgeContract, ForgeHome, commit

REPOSITORY, TOKEN = os.environ.get("FORGE_LIVE_REPO", ""), os.environ.get("GITHUB_TOKEN", "")
SAMPLE = ("brings_the_same_one", "exactly_the_named_commit", "is_ready_is_merged", "repeated_review", "newest_first")
LEFT_OUT = "needs what we may not do at somebody's GitHub"


class OwnCorner:
    """A forge whose branches have a prefix, and whose lists show what was made here. The rest is as it is."""

    def __init__(self, forge: GitHubForge, prefix: str, changed: Callable[[], None]) -> None:
        self._forge = forge
        self._prefix = prefix
        self._changed = changed  # the branches there may be newer than the copy here
        self._before = max((issue.number for issue in forge.list_issues()), default=0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._forge, name)

    def ensure_pull(self, head: str, base: str, *words: Any, **more: Any) -> Pull:
        return self._ours(self._forge.ensure_pull(self._prefix + head, self._prefix + base, *words, **more))

    def find_pull(self, head: str, base: str) -> Pull | None:
        found = self._forge.find_pull(self._prefix + head, self._prefix + base)
        return self._ours(found) if found else None

    def get_pull(self, number: int) -> Pull:
        return self._ours(self._forge.get_pull(number))

    def list_pulls(self, every: bool = False, ended: int | None = None) -> Sequence[Pull]:
        pulls = self._forge.list_pulls(every, ended)
        return [self._ours(pull) for pull in pulls if pull.head.startswith(self._prefix)]

    def list_issues(self, label: str | None = None) -> Sequence[Issue]:
        return [issue for issue in self._forge.list_issues(label) if issue.number > self._before]

    def merge(self, *words: Any) -> str:
        merged = self._forge.merge(*words)
        self._changed()
        return merged

    def delete_branch(self, name: str) -> None:
        self._forge.delete_branch(self._prefix + name)
        self._changed()

    def _ours(self, pull: Pull) -> Pull:
        return replace(pull, head=pull.head.removeprefix(self._prefix), base=pull.base.removeprefix(self._prefix))


class DistantHome(ForgeHome):
    """`repository` is a copy here, without the prefix; what a test pushes goes there at once."""

    one_account = True

    def __init__(self, folder: Path, name: str, token: str, url: str, remote: Remote, pause: float) -> None:
        self.repository, self.remote = folder, remote
        self.prefix = f"contract-{secrets.token_hex(4)}-"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main")
        self.direct = GitHubForge(name, token, SystemClock(), access=GitHubAccess(url, seconds_between=pause))
        self.push("main", {"README": f"{self.prefix}\n"}, start="")
        self.forge = OwnCorner(self.direct, self.prefix, self.fetch)

    def push(self, branch: str, files: Mapping[str, str] | None = None, start: str = "refs/heads/main") -> str:
        sha = commit(self.repository, branch, files or {f"{branch}.txt": "x\n"}, start)
        self._there(f"+refs/heads/{branch}:refs/heads/{self.prefix}{branch}", "push")
        return sha

    def fetch(self) -> None:
        self._there(f"+refs/heads/{self.prefix}*:refs/heads/*", "fetch", "--prune", "--refmap=", "--no-tags")

    def clear(self) -> None:
        for pull in self.forge.list_pulls():
            self.direct.close(pull.number)
        for branch in git(self.repository, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split():
            self.direct.delete_branch(self.prefix + branch.decode())

    def _there(self, refs: str, verb: str, *how: str) -> None:
        git(self.repository, verb, "--quiet", *how, self.remote.url, refs, remote=self.remote)

    def says(self, author: str, number: int, text: str) -> None:
        pytest.skip(LEFT_OUT)

    def require(self, context: str) -> None:
        pytest.skip(LEFT_OUT)

    def add_issue(self, title: str, labels: list[str]) -> int:
        pytest.skip(LEFT_OUT)

    def opening(self) -> str:
        pytest.skip(LEFT_OUT)

    def opened(self) -> GitHubForge:
        pytest.skip(LEFT_OUT)


class DistantContract(ForgeContract):
    @pytest.fixture(autouse=True)
    def _only_what_goes_there(self, request: pytest.FixtureRequest) -> None:
        name = request.node.originalname
        if any(word in name for word in ("default_branch", "unknown_numbers", "nonsense")):
            pytest.skip(LEFT_OUT)


class TestAtTheLocalGitHub(DistantContract):
    @pytest.fixture(autouse=True)
    def _only_a_sample(self, request: pytest.FixtureRequest) -> None:
        if not any(word in request.node.originalname for word in SAMPLE):
            pytest.skip("a sample is enough to know that the way there works")

    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[ForgeHome]:
        with LocalGitHub(tmp_path / "hub") as hub:
            hub.repository("team/app")
            token = hub.user("team")
            remote = Remote(f"{hub.url}/team/app.git", token)
            home = DistantHome(tmp_path / "copy.git", "team/app", token, hub.url, remote, 0.0)
            yield home
            home.clear()
            assert git(tmp_path / "hub/team/app.git", "branch", "--list", "contract-*") == b""


@pytest.mark.skipif(not (REPOSITORY and TOKEN), reason="opt-in: FORGE_LIVE_REPO and GITHUB_TOKEN are not both set")
class TestAtGitHubItself(DistantContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[ForgeHome]:
        remote = Remote(f"https://github.com/{REPOSITORY}.git", TOKEN)
        home = DistantHome(tmp_path / "copy.git", REPOSITORY, TOKEN, GITHUB, remote, 1.0)
        yield home
        home.clear()
