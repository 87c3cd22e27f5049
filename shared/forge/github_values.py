"""GitHub's words and ours. The only module that knows what its answers hold: the part of them that we read.

Whoever deleted his account is called ghost, as GitHub does. A mark of ours is believed only in what one of our own
accounts wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import AwareDatetime

from sisimpur.shared.forge.forge import (
    MARKED,
    CheckResult,
    Comment,
    Issue,
    Pull,
    PullState,
    Review,
    Verdict,
    is_ours,
    key_of,
)

WIP = "agents:wip"  # a label that stands for "draft" where the repository knows no drafts
EVENT: dict[Verdict, str] = {"approve": "APPROVE", "request_changes": "REQUEST_CHANGES", "comment": "COMMENT"}
FORMAL: dict[str, Verdict] = {"APPROVED": "approve", "CHANGES_REQUESTED": "request_changes"}
GOOD = ("success", "neutral", "skipped")


@dataclass(frozen=True)
class Account:
    login: str
    id: int = 0


GHOST = Account("ghost")


@dataclass(frozen=True)
class Named:
    name: str


@dataclass(frozen=True)
class RawRepository:
    full_name: str


@dataclass(frozen=True)
class GitHubRepository:
    full_name: str
    default_branch: str
    private: bool
    archived: bool = False
    permissions: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """One of the two ends of a pull request. `repo` is None if it was a fork that is gone."""

    ref: str
    sha: str
    repo: RawRepository | None = None


@dataclass(frozen=True)
class RawPull:
    number: int
    node_id: str
    title: str
    state: Literal["open", "closed"]
    head: End
    base: End
    html_url: str
    body: str | None = None
    user: Account | None = None
    labels: tuple[Named, ...] = ()
    draft: bool | None = False
    merged_at: str | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None
    mergeable_state: str = ""

    @property
    def is_wip(self) -> bool:
        return WIP in names(self.labels)

    def comes_from(self, repository: str) -> bool:
        """Tell whether it is from no fork of somebody's, whose branches may have the names of ours."""
        return self.head.repo is not None and self.head.repo.full_name.lower() == repository.lower()

    @property
    def pull(self) -> Pull:
        state: PullState = "merged" if self.merged_at else self.state
        return Pull(
            number=self.number,
            title=self.title,
            body=self.body or "",
            head=self.head.ref,
            base=self.base.ref,
            head_sha=self.head.sha,
            state=state,
            draft=bool(self.draft) or self.is_wip,
            labels=names(self.labels),
            author=(self.user or GHOST).login,
            url=self.html_url,
            merge_sha=self.merge_commit_sha if state == "merged" else None,  # before, it is a trial
        )


@dataclass(frozen=True)
class RawIssue:
    number: int
    title: str
    html_url: str
    node_id: str = ""
    body: str | None = None
    user: Account | None = None
    labels: tuple[Named | str, ...] = ()
    pull_request: dict[str, Any] | None = None

    @property
    def issue(self) -> Issue:
        author = self.user or GHOST
        return Issue(
            self.number, self.title, self.body or "", names(self.labels), author.login, self.html_url, author.id
        )


@dataclass(frozen=True)
class RawComment:
    """Comment below a pull request, or at a line of it.

    A remark may be updated without an edit: when the review that it was drafted in is sent off.
    """

    id: int
    created_at: AwareDatetime
    updated_at: AwareDatetime
    node_id: str = ""
    body: str | None = None
    user: Account | None = None
    path: str | None = None
    line: int | None = None
    commit_id: str | None = None
    pull_request_review_id: int | None = None

    def comment(self, us: Collection[str]) -> Comment:
        kind, author, body = "remark" if self.path else "comment", (self.user or GHOST).login, self.body or ""
        return Comment(
            id=f"{kind}-{self.id}",
            author=author,
            body=body,
            at=self.created_at,
            sha=self.commit_id or "",
            review=f"review-{self.pull_request_review_id}" if self.pull_request_review_id else "",
            path=self.path or "",
            line=self.line or 0,
            ours=is_ours(author, body, us),
            edited=not self.path and self.updated_at > self.created_at,
            node=self.node_id if self.path else "",
            author_id=(self.user or GHOST).id,
            changed=self.updated_at,
        )


@dataclass(frozen=True)
class RawReview:
    id: int
    state: str
    node_id: str = ""
    body: str | None = None
    user: Account | None = None
    commit_id: str | None = None
    submitted_at: AwareDatetime | None = None  # None: its author has not sent it off

    def review(self, us: Collection[str]) -> Review:
        """A verdict of ours that GitHub did not take formally stands in our mark."""
        author, body = (self.user or GHOST).login, self.body or ""
        ours = is_ours(author, body, us)
        marked_as = verdict_of(body) if ours and self.state == "COMMENTED" else "comment"
        verdict = FORMAL.get(self.state, marked_as)
        formal = self.state in FORMAL or verdict == "comment"
        return Review(
            author, verdict, self.commit_id or "", MARKED.sub("", body, count=1).lstrip("\n") if ours else body, formal
        )

    def comment(self, us: Collection[str]) -> Comment | None:
        """None: it says nothing. A formal verdict says something also without words."""
        author, body = (self.user or GHOST).login, self.body or ""
        if self.submitted_at is None or not (body or self.state in FORMAL):
            return None
        return Comment(
            id=f"review-{self.id}",
            author=author,
            body=body,
            at=self.submitted_at,
            verdict=self.review(us).verdict,
            sha=self.commit_id or "",
            ours=is_ours(author, body, us),
            node=self.node_id,
            author_id=(self.user or GHOST).id,
        )


@dataclass(frozen=True)
class Node:
    """Any kind of comment, as GraphQL tells of it; it was never edited if there is no time."""

    lastEditedAt: AwareDatetime | None  # noqa: N815 - GitHub's word


@dataclass(frozen=True)
class Actor:
    """An account, as GraphQL tells of it; what is no user's has no number."""

    login: str
    databaseId: int = 0  # noqa: N815


@dataclass(frozen=True)
class Renaming:
    actor: Actor | None = None


@dataclass(frozen=True)
class Renamings:
    nodes: tuple[Renaming, ...] = ()


@dataclass(frozen=True)
class IssueChanges:
    """Who changed an issue last: its text, and its title. Lists name its author alone, whoever wrote its words."""

    lastEditedAt: AwareDatetime | None = None  # noqa: N815
    editor: Actor | None = None
    timelineItems: Renamings = Renamings()  # noqa: N815

    @property
    def by(self) -> tuple[tuple[str, int], ...]:
        edited = [self.editor] if self.lastEditedAt else []
        actors = (*edited, *(one.actor for one in self.timelineItems.nodes))
        return tuple((one.login, one.databaseId) if one else (GHOST.login, 0) for one in actors)


@dataclass(frozen=True)
class Commit:
    sha: str


@dataclass(frozen=True)
class Reference:
    object: Commit


@dataclass(frozen=True)
class RawStatus:
    context: str
    state: str

    @property
    def name(self) -> str:
        return self.context

    @property
    def result(self) -> CheckResult:
        results: dict[str, CheckResult] = {"success": "success", "pending": "pending"}
        return results.get(self.state, "failure")


@dataclass(frozen=True)
class Combined:
    """A page of the statuses of a commit; `total_count` says whether there are more."""

    total_count: int
    statuses: tuple[RawStatus, ...]


@dataclass(frozen=True)
class RawCheckRun:
    """A check run, or a run of Actions."""

    name: str
    status: str | None
    conclusion: str | None = None

    @property
    def result(self) -> CheckResult:
        if self.status != "completed":
            return "pending"
        return "success" if self.conclusion in GOOD else "failure"


def names(labels: Iterable[Named | str]) -> frozenset[str]:
    return frozenset(label if isinstance(label, str) else label.name for label in labels)


def lacking(wanted: Iterable[str], labels: Collection[str]) -> list[str]:
    """GitHub does not tell labels apart by their capitals."""
    have = {label.casefold() for label in labels}
    return [label for label in wanted if label.casefold() not in have]


def review_key(verdict: Verdict) -> str:
    return f"review:{verdict}"


def verdict_of(body: str) -> Verdict:
    """Return what a review of ours says in its mark."""
    kind, _, verdict = key_of(body).partition(":")
    return next((known for known in EVENT if (kind, verdict) == ("review", known)), "comment")


def worst(found: Iterable[tuple[str, CheckResult]]) -> dict[str, CheckResult]:
    """Key the results by name: one with the name of another check cannot hide that it failed."""
    order: dict[CheckResult, int] = {"success": 0, "pending": 1, "failure": 2}
    items: dict[str, CheckResult] = {}
    for name, result in found:
        items[name] = max(items.get(name, result), result, key=order.__getitem__)
    return items


# --- what guards a branch ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RequiredStatus:
    context: str


@dataclass(frozen=True)
class StatusRule:
    required_status_checks: tuple[RequiredStatus, ...] = ()
    strict_required_status_checks_policy: bool = False


@dataclass(frozen=True)
class BranchRule:
    """One rule of a ruleset; only those about statuses have parameters that we read."""

    type: str
    parameters: StatusRule | None = None


@dataclass(frozen=True)
class ClassicStatuses:
    contexts: tuple[str, ...] = ()
    strict: bool | None = None


@dataclass(frozen=True)
class ClassicProtection:
    required_status_checks: ClassicStatuses | None = None


@dataclass(frozen=True)
class GuardedBranch:
    protected: bool
    protection: ClassicProtection = field(default_factory=ClassicProtection)
