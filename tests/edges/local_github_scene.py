"""A small language for the tests of the local GitHub: a repository of its own for each, and people who ask."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from sisimpur.simulators.github.graphql import QUERY
from sisimpur.simulators.github.local_github import LocalGitHub
from tests import repositories
from tests.edges.github_contract import Contract

NUMBERS = itertools.count(1)


def client(**how: Any) -> httpx2.Client:
    return httpx2.Client(verify=False, **how)  # loading certificates is slow


@dataclass
class World:
    """A repository of its own in the local GitHub, and somebody who pushes to it."""

    hub: LocalGitHub
    name: str  # owner/name
    bare: Path
    contract: Contract
    folder: Path
    clients: dict[str, httpx2.Client]

    def ask(self, method: str, path: str, body: object = None, login: str = "team", **headers: str) -> httpx2.Response:
        """`path` below the repository, or from the root if it begins with two slashes."""
        if login not in self.clients:
            token = {"authorization": f"token {self.hub.user(login)}"}
            self.clients[login] = client(base_url=self.hub.url, headers=token, timeout=10)
        url = path[1:] if path.startswith("//") else f"/repos/{self.name}{path}"
        content = None if body is None else json.dumps(body).encode()
        return self.clients[login].request(method, url, content=content, headers=headers)

    def get(self, path: str, **headers: str) -> Any:
        answer = self.ask("GET", path, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def push(self, branch: str, files: Mapping[str, str] | None = None, base: str = "main") -> str:
        """The branch is one commit on top of another branch -> its sha."""
        head = f"commit refs/heads/{branch}\ncommitter t <t@t> 1 +0000\ndata 4\nwork\nfrom refs/heads/{base}^0\n"
        parts = [head.encode()]
        for name, text in (files or {"a.txt": "x\n"}).items():
            parts.append(f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n".encode())
        argv = ["git", "fast-import", "--quiet", "--force"]
        subprocess.run(argv, input=b"".join(parts), cwd=self.bare, env=repositories.ENVIRONMENT, check=True, timeout=30)
        return self.sha(branch)

    def sha(self, branch: str = "main") -> str:
        return repositories.shell(f"git rev-parse {branch}", self.bare)

    @property
    def work(self) -> Path:
        """A clone with a work tree."""
        place = self.folder / self.name.replace("/", "-")
        if not place.exists():
            repositories.shell(f"git clone -q '{self.bare}' '{place}'", self.folder)
        return place

    def pull(self, branch: str = "task", base: str = "main", **fields: object) -> Any:
        """An open pull request; its branch is made if there is none."""
        if not (self.bare / "refs" / "heads" / branch).exists():
            self.push(branch)
        answer = self.ask("POST", "/pulls", {"title": "T", "head": branch, "base": base, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def status(self, sha: str, context: str = "agents/review", state: str = "success") -> httpx2.Response:
        return self.ask("POST", f"/statuses/{sha}", {"state": state, "context": context})

    def merge(self, number: int, login: str = "team", **fields: object) -> tuple[int, str]:
        answer = self.ask("PUT", f"/pulls/{number}/merge", fields, login)
        return answer.status_code, answer.json()["message"]

    def ready(self, pull: Any, login: str = "team") -> Any:
        given = {"query": QUERY, "variables": {"input": {"pullRequestId": pull["node_id"]}}}
        return self.ask("POST", "//graphql", given, login).json()


@dataclass
class Scene:
    """One server for many tests."""

    hub: LocalGitHub
    contract: Contract
    clients: dict[str, httpx2.Client] = field(default_factory=dict)

    @contextmanager
    def watched(self, folder: Path) -> Iterator[Any]:
        """Yields what makes a World. In the end every exchange must have been one of GitHub's, every fault used up."""

        def make(**how: Any) -> World:
            name = f"owner/app-{next(NUMBERS)}"
            bare = self.hub.repository(name, **how)
            return World(self.hub, name, bare, self.contract, folder, self.clients)

        self.contract.violations.clear()
        before = self.contract.judged
        yield make
        assert self.contract.violations == []
        assert self.contract.judged > before
        assert self.hub.faults.left == 0


@contextmanager
def serving(folder: Path) -> Iterator[Scene]:
    contract = Contract()
    with LocalGitHub(folder, observe=contract.observe) as hub:
        scene = Scene(hub, contract)
        yield scene
        for caller in scene.clients.values():
            caller.close()


def says(answer: httpx2.Response) -> tuple[int, str]:
    """Status, and the most telling text."""
    body = answer.json()
    errors = [
        e.get("message") or f"{e.get('field')}: {e['code']}" if isinstance(e, dict) else e
        for e in body.get("errors", [])
    ]
    return answer.status_code, errors[0] if errors else body["message"]
