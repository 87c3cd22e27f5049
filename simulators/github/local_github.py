"""A GitHub without GitHub: serves its API and its git on this machine.

For a day on trial and for tests. It knows pull requests, reviews, issues, comments, labels, statuses, runs and rules of
a branch, over real git repositories; what it refuses, it refuses in GitHub's words. It does not know forks, teams,
webhooks and merge queues: an unknown operation or parameter is answered 404 or 501, never with a guess.
"""

from __future__ import annotations

import base64
import binascii
import re
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.clock import Clock, SystemClock
from sisimpur.simulators.github import git
from sisimpur.simulators.github.api import Api, template_of
from sisimpur.simulators.github.call import Answer, Request
from sisimpur.simulators.github.faults import Fault, Faults
from sisimpur.simulators.github.follow import follow
from sisimpur.simulators.github.state import Account, Kind, Remark, Repository, Review, Rule, Run, State
from sisimpur.simulators.github.store import stored
from sisimpur.simulators.github.wire import Wire

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Exchange:
    """What was asked and what the work answered. Never a token.

    `route`: the path with names for its parts, "/repos/{r}/pulls/{n}"; empty if there is no such operation. `body` and
    `answer`: JSON, or text; None for git. `fault`: what was planted here; the caller then got that. `worked`: False if
    it came before the work: then status, headers and answer are the fault's own.
    """

    method: str
    path: str
    route: str
    query: Mapping[str, str]
    body: Any
    login: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    answer: Any = field(repr=False)
    fault: Fault | None = None
    worked: bool = True


class LocalGitHub:
    """`with LocalGitHub(folder) as hub:` serves at `hub.url` until the block ends; repositories lie in `folder`.

    `observe` is told of each exchange, on the server's threads; `exchanges` keeps them, but not what was said.
    Port 0: any free one; Misconfigured if it is taken.
    `looks_until_known`: so many reads of a pull request say "mergeable": null before the answer is there.
    """

    def __init__(
        self,
        folder: Path,
        *,
        observe: Callable[[Exchange], None] | None = None,
        port: int = 0,
        clock: Clock | None = None,
        looks_until_known: int = 1,
    ) -> None:
        from sisimpur.simulators.model.wire import http_server, listener  # loads a web server

        self.faults = Faults()
        self.exchanges: list[Exchange] = []
        self._folder = folder
        self._observe = observe
        self._state = State()
        self._state.looks_until_known = looks_until_known
        self._socket = listener(port)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._api = Api(self._state, self.url, clock or SystemClock())
        self._server = http_server(Wire(self._answer, self._record, self.faults))
        self._thread = threading.Thread(target=self._run, name="local-github", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def __enter__(self) -> LocalGitHub:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.leave()
        self._thread.join()

    # --- setting the scene

    def user(self, login: str, lacks: Collection[str] = (), kind: Kind | None = None) -> str:
        """The account's token. It is fine-grained, with all permissions but what it `lacks`: "statuses", ...

        `kind`: "classic" and "app" tokens may do what their account may.
        """
        with self._api.lock:
            return self._state.account(login, kind, lacks).token

    def repository(
        self,
        full_name: str,
        start: Path | None = None,
        *,
        private: bool = False,
        writers: Collection[str] = ("team",),
        readers: Collection[str] = (),
    ) -> Path:
        """The bare repository: a copy of the branches of `start`, or one commit on main.

        The owner may do everything, `writers` may write; what is private is seen by them and by `readers` alone.
        """
        if not NAME.fullmatch(full_name) or full_name.endswith(".git"):
            raise Misconfigured(f"{full_name[:100]!r} is no repository's name; write it as OWNER/NAME")
        with self._api.lock:
            self._state.repositories[full_name.lower()] = Repository(
                id=self._state.next_id(),
                full_name=full_name,
                commits=stored(self._folder / f"{full_name}.git", start),
                private=private,
                writers=frozenset(writers),
                readers=frozenset(readers),
                created_at=self._api.now(),
            )
        return self._folder / f"{full_name}.git"

    def require(self, full_name: str, branch: str, context: str, *, classic: bool = False) -> None:
        """A status without which nothing is merged: by a ruleset, or by classic branch protection."""
        self._rule(full_name, Rule(self._state.next_id(), branch, context, classic=classic))

    def require_approvals(self, full_name: str, branch: str, number: int = 1) -> None:
        self._rule(full_name, Rule(self._state.next_id(), branch, approvals=number))

    def check_run(
        self, full_name: str, sha: str, name: str, conclusion: str | None = "success", again: bool = False
    ) -> None:
        """As an App would report it; without a conclusion it is still at work. `again`: only this one is listed."""
        runs = self._named(full_name).check_runs
        if again:
            runs[:] = [run for run in runs if (run.sha, run.name) != (sha, name)]
        runs.append(self._a_run(sha, name, conclusion))

    def workflow_run(self, full_name: str, sha: str, name: str, conclusion: str | None = "success") -> None:
        self._named(full_name).workflow_runs.append(self._a_run(sha, name, conclusion))

    def edit(self, full_name: str, body: str, to: str) -> None:
        """Somebody who may write changes a review or a remark on its page: no list of REST shows it."""
        repository = self._named(full_name)
        with self._api.lock:
            said: list[Review | Remark] = [*repository.reviews, *repository.remarks]
            for one in said:
                if one.body == body:
                    one.body, one.edited_at = to, self._api.now()

    def _rule(self, full_name: str, rule: Rule) -> None:
        self._named(full_name).rules.append(rule)

    def _a_run(self, sha: str, name: str, conclusion: str | None) -> Run:
        status = "completed" if conclusion else "in_progress"
        number = self._state.next_id()
        return Run(id=number, sha=sha, name=name, status=status, conclusion=conclusion, at=self._api.now())

    def _named(self, full_name: str) -> Repository:
        repository = self._state.repository(full_name)
        if repository is None:
            raise Misconfigured(f"there is no repository {full_name[:100]!r} here; make it first")
        return repository

    # --- one request, on a thread of the server

    def _answer(self, request: Request) -> Answer:
        account = self._account(request)
        if not git.is_git(request.path):
            return self._api.answer(request, account)
        answer = git.answer(self._state, request, account)
        repository = git.repository_of(self._state, request.path)
        if request.method == "POST" and git.is_push(request) and repository and account:
            with self._api.lock:
                follow(repository, self._api.now(), account.login)
        return answer

    def _account(self, request: Request) -> Account | None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":  # git sends user:token
            token = _decoded(token).partition(":")[2]
        with self._api.lock:
            return self._state.account_of(token)

    def _record(self, request: Request, work: Answer | None, fault: Fault | None) -> None:
        account, is_git = self._account(request), git.is_git(request.path)
        shown = work or (fault.answer(None) if fault else None) or Answer(0)
        exchange = Exchange(
            method=request.method,
            path=request.path,
            route=git.template_of(request.path) if is_git else template_of(request),
            query=request.query,
            body=None if is_git else _json(request),
            login=account.login if account else "",
            status=shown.status,
            headers=shown.headers,
            answer=None if is_git else shown.body,
            fault=fault,
            worked=work is not None,
        )
        self.exchanges.append(replace(exchange, body=None, answer=None))
        if self._observe:
            self._observe(exchange)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _json(request: Request) -> Any:
    try:
        return request.json()
    except (ValueError, RecursionError):
        return None
