"""What the local GitHub remembers: accounts, repositories, issues, pull requests. In memory; the commits are git's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from sisimpur.simulators.github.commits import HubCommits

Kind = Literal["fine-grained", "classic", "app"]


@dataclass(kw_only=True)
class Account:
    """`lacks`: permissions that its token was not given, as GitHub names them: "statuses", "contents", ..."""

    id: int
    login: str
    token: str
    kind: Kind = "fine-grained"
    lacks: frozenset[str] = frozenset()


@dataclass(kw_only=True)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(kw_only=True)
class Issue:
    """Times are GitHub's texts, `2026-11-20T07:00:00Z`, everywhere in this room."""

    id: int
    number: int
    title: str
    body: str | None
    author: str
    created_at: str
    updated_at: str
    state: str = "open"
    state_reason: str | None = None
    labels: list[str] = field(default_factory=list)  # in lower case: the keys of Repository.labels
    closed_at: str | None = None
    edited_by: tuple[str, str] | None = None  # when and by whom, the last time
    renamed_by: str | None = None


@dataclass(kw_only=True)
class Pull(Issue):
    """On GitHub a pull request is an issue too, with a number from the same row."""

    head: str
    base: str
    head_sha: str  # follows the branch while it is open
    base_sha: str  # follows the branch until it is merged
    draft: bool = False
    merged_at: str | None = None
    merged_by: str | None = None
    merge_sha: str | None = None
    looked: tuple[str, str] = ("", "")  # (head, base) that "mergeable" was asked for last,
    looks: int = 0  # and how often


@dataclass(kw_only=True)
class Comment:
    id: int
    number: int
    author: str
    body: str
    created_at: str
    updated_at: str


@dataclass(kw_only=True)
class Review:
    id: int
    number: int
    author: str
    body: str
    state: str
    commit: str
    at: str
    edited_at: str | None = None  # which no list of REST tells


@dataclass(kw_only=True)
class Remark:
    """At a line of a file, part of a review."""

    id: int
    number: int
    review: int
    author: str
    body: str
    path: str
    line: int | None
    commit: str
    at: str
    edited_at: str | None = None


@dataclass(kw_only=True)
class Status:
    id: int
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: str
    at: str


@dataclass(kw_only=True)
class Run:
    """A check run, or a workflow run."""

    id: int
    sha: str
    name: str
    status: str
    conclusion: str | None
    at: str
    branch: str = ""


@dataclass(frozen=True)
class Rule:
    """What must be so before something is merged into `branch`: a status, or approvals.

    `classic`: branch protection, which only administrators can read; else a ruleset, which everybody can.
    """

    id: int
    branch: str
    context: str = ""
    approvals: int = 0
    classic: bool = False


@dataclass(kw_only=True)
class Repository:
    id: int
    full_name: str
    commits: HubCommits
    private: bool
    writers: frozenset[str]
    readers: frozenset[str]
    created_at: str
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    check_runs: list[Run] = field(default_factory=list)
    workflow_runs: list[Run] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    @property
    def pulls(self) -> list[Pull]:
        return [issue for issue in self.issues.values() if isinstance(issue, Pull)]

    def is_owned_by(self, login: str) -> bool:
        return login.lower() == self.owner.lower()

    def may_write(self, login: str) -> bool:
        return login in self.writers or self.is_owned_by(login)

    def may_read(self, login: str) -> bool:
        return not self.private or login in self.readers or self.may_write(login)

    def rules_of(self, branch: str) -> list[Rule]:
        return [rule for rule in self.rules if rule.branch == branch]

    def latest_statuses(self, sha: str) -> dict[str, Status]:
        """Context -> the newest status of that name, which alone counts."""
        return {status.context: status for status in self.statuses if status.sha == sha}


class State:
    """Everything there is. `looks_until_known`: so many reads of a pull request say "mergeable": null."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[str, Repository] = {}
        self.looks_until_known = 1
        self._last_id = 1000

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def account(self, login: str, kind: Kind | None = None, lacks: Collection[str] = ()) -> Account:
        """Made on the first call; a later one may change the kind of its token and what that lacks."""
        if login not in self.accounts:
            number = self.next_id()
            self.accounts[login] = Account(id=number, login=login, token=f"local-token-{number}-{login}")
        account = self.accounts[login]
        account.kind = kind or account.kind
        account.lacks = frozenset(lacks) or account.lacks
        return account

    def account_of(self, token: str) -> Account | None:
        return next((account for account in self.accounts.values() if account.token == token), None)

    def repository(self, full_name: str) -> Repository | None:
        return self.repositories.get(full_name.lower())

    def label(self, repository: Repository, name: str) -> Label:
        """GitHub, too, makes a label that is not there yet."""
        if name.lower() not in repository.labels:
            repository.labels[name.lower()] = Label(id=self.next_id(), name=name)
        return repository.labels[name.lower()]
