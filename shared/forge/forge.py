"""Door to the forge: the place that keeps pull requests. The only module that says what we need of one.

Nineteen methods, two homes (LocalForge, GitHubForge), one set of contract tests. Two ideas carry it:

* Every write may be repeated. After a crash or a lost answer the caller calls again and gets the same result, not a
  second pull request, comment or review.
* Every decision names a commit. `review` and `merge` say which commit was looked at; if the branch is elsewhere by
  now they raise PullNotReady instead of deciding about something that nobody has read.

FORGE_PROBLEMS          every method may raise these five, and nothing else; none is a case of another
 ├ PullNotReady         "moved": test and review the new commit; "blocked", a rule: wait, or tell the owner;
 │                      "conflict": bring the branch up to date with its base
 ├ Misconfigured        the token may not do this: tell the owner which permission is missing
 ├ ForgeRefused         (Refused) our bug, or a rule that we do not know: show the text
 ├ RateLimited          (Stumble) the same call again, after `wait` seconds
 └ ForgeUnavailable     (Unavailable) the same call again; it is unknown whether the work was done
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured, Refused, Stumble, TeamError

PullState = Literal["open", "closed", "merged"]
Verdict = Literal["approve", "request_changes", "comment"]
CheckResult = Literal["success", "failure", "pending"]
MergeMethod = Literal["squash", "merge"]

REVIEW_CONTEXT = "agents/review"  # the commit status that carries a verdict
TESTS_CONTEXT = "agents/tests"  # the commit status that says what the tests said
OURS = frozenset({REVIEW_CONTEXT, TESTS_CONTEXT})
STATUS_OF_VERDICT: Mapping[Verdict, CheckResult] = {
    "approve": "success",
    "request_changes": "failure",
    "comment": "pending",
}
MAX_TITLE = 256  # characters; these three are GitHub's limits
MAX_BODY = 65_536  # of an issue, a pull request, a comment, a review
MAX_NOTE = 140  # of a commit status

MARKER = "<!-- sisimpur-key "
MARKED = re.compile(r"<!-- sisimpur-key ([a-zA-Z0-9][a-zA-Z0-9._:-]{0,199}) -->")
CUT = "\n\n*(cut)*"


@dataclass(frozen=True)
class Pull:
    """A pull request. An open one follows its branch; a closed or merged one keeps its last commit."""

    number: int
    title: str
    body: str
    head: str  # branch
    base: str  # branch
    head_sha: str
    state: PullState
    draft: bool
    labels: frozenset[str]
    author: str
    url: str
    merge_sha: str | None = None  # the commit on the base branch, once merged


@dataclass(frozen=True)
class Review:
    """`formal` is False if the forge itself took no verdict: it stands in a comment and in the commit's status."""

    author: str
    verdict: Verdict
    sha: str
    body: str
    formal: bool = True


@dataclass(frozen=True)
class Issue:
    number: int
    title: str
    body: str
    labels: frozenset[str]
    author: str
    url: str
    author_id: int = 0  # the account's number, which a new account of the same login has not; 0: the forge has none
    changed_by: tuple[tuple[str, int], ...] = ()  # who changed text and title last, if somebody did: login and number


@dataclass(frozen=True)
class Comment:
    """Comment below a pull request or an issue: one of its own, a remark at a line, or a review's own text."""

    id: str  # keeps its value when the text is edited
    author: str
    body: str
    at: datetime
    verdict: Verdict | None = None  # of a review
    sha: str = ""  # the commit that a review or a remark is about
    review: str = ""  # the id of the review that a remark belongs to
    path: str = ""  # of a remark at a line
    line: int = 0  # 0: it is outdated, or there is none
    ours: bool = False  # this program wrote it; what its owner writes by hand is his, also under the same account
    edited: bool = False  # its text was changed after it was written, by whomever, as far as lists say it
    node: str = ""  # what to ask for by, where lists do not say it
    author_id: int = 0  # as of an issue
    changed: datetime | None = None  # when its text last was, as far as lists say it

    @property
    def newest(self) -> datetime:
        return max(self.at, self.changed or self.at)


@dataclass(frozen=True)
class CommitChecks:
    """`complete` is False if a part could not be read: nothing but success then means less than it says.

    `runs_workflows`: the forge runs those that a commit holds; of a new one there may be nothing to see yet.
    """

    items: Mapping[str, CheckResult] = field(default_factory=dict)
    complete: bool = True
    runs_workflows: bool = False


# --- errors --------------------------------------------------------------------------------------------------


class PullNotReady(TeamError):
    """This pull request, or this commit, cannot be merged or reviewed now.

    "moved": the branch is not at the named commit (also: merged already, but at another one).
    "blocked": a rule says no: required check or approval, draft, merge queue, closed.
    "conflict": the branch does not merge cleanly into its base, or is behind it where nothing untested is merged.
    """

    def __init__(self, text: str, kind: Literal["moved", "blocked", "conflict"]) -> None:
        super().__init__(text)
        self.kind = kind


class ForgeRefused(Refused):
    """Everything else: no such number, branch or commit, nothing to merge.

    `status`: the number that a forge on the web gave, and `said` its words; 0 and empty: it was not asked.
    """

    def __init__(self, text: str, status: int = 0, said: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.said = said


class RateLimited(Stumble):
    """Too many calls; ask again after `wait` seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"the forge's rate limit is reached; it allows the next call in {wait:.0f} s")
        self.wait = wait


FORGE_PROBLEMS = (PullNotReady, Misconfigured, ForgeRefused, RateLimited, ForgeUnavailable)


# --- the protocol --------------------------------------------------------------------------------------------


class Forge(Protocol):
    @property
    def address(self) -> str:
        """Where a browser finds the repository, `https://HOST/OWNER/NAME`; empty: nowhere."""

    def whoami(self) -> str:
        """The account's login; only what it wrote itself is believed."""

    def find_pull(self, head: str, base: str) -> Pull | None:
        """The open one if there is one, else the newest: look here first, what the owner closed stays closed."""

    def get_pull(self, number: int) -> Pull: ...

    def list_pulls(self, every: bool = False, ended: int | None = None) -> Sequence[Pull]:
        """The open ones, or every one; the newest first. `ended`: at most so many of those that are not open."""

    def list_issues(self, label: str | None = None) -> Sequence[Issue]:
        """The open ones, the newest first. Never pull requests."""

    def diff(self, number: int) -> str:
        """Return its patch against its base, as git writes it, to the last blank."""

    def reviews(self, number: int) -> Sequence[Review]:
        """The oldest first."""

    def comments(self, number: int) -> Sequence[Comment]:
        """All that was said, also by ourselves and by strangers; the oldest first."""

    def edited(self, said: Sequence[Comment]) -> frozenset[str]:
        """Ids of those whose text was changed after it was written: the name beside it need not be who changed it."""

    def checks(self, sha: str) -> CommitChecks:
        """All statuses and check runs of a commit. None at all is "pending", not "success"."""

    def required(self, base: str) -> frozenset[str]:
        """Names without which nothing is merged into a branch, as far as this account may see them."""

    def ensure_pull(
        self, head: str, base: str, title: str, body: str, labels: Sequence[str] = (), draft: bool = False
    ) -> Pull:
        """The open one from head to base: made, or brought up to date. Closed and merged ones do not count.

        Labels are added, never removed; `draft` counts when it is made.
        """

    def ready(self, number: int) -> None:
        """Make it a draft no more. One that was none already is a success."""

    def ensure_comment(self, number: int, key: str, body: str) -> None:
        """One comment of ours for each key: made, or edited if its text differs."""

    def review(self, number: int, verdict: Verdict, body: str, sha: str) -> Review:
        """One review for each (account, verdict, commit); `sha` is the commit that was read.

        Also sets the status REVIEW_CONTEXT on it, whatever the forge says.
        """

    def set_status(self, sha: str, context: str, state: CheckResult, note: str = "") -> None: ...

    def merge(self, number: int, sha: str, method: MergeMethod = "squash", into: str = "", message: str = "") -> str:
        """Merge exactly `sha`. The answer is the commit on the base branch, also if `sha` was merged before.

        `message`: what that commit says; empty: what the forge says.
        `into`: the branch that is meant; PullNotReady if somebody has turned the pull request to another one.
        """

    def close(self, number: int) -> None:
        """One that is closed or merged already is a success."""

    def delete_branch(self, name: str) -> None:
        """One that is gone already is a success. Its open pull requests are closed."""


# --- decisions that all homes share --------------------------------------------------------------------------


def same_base(pull: Pull, into: str) -> None:
    """PullNotReady if it goes into another branch than is meant; `into` empty: any."""
    if into and pull.base != into:
        raise PullNotReady(
            f"somebody has turned #{pull.number} to {pull.base}; turn it to {into} again, or close it", "blocked"
        )


def marker(key: str) -> str:
    """Return what stands at the start of a text of ours, so that we find it again: `<task>:pr` for a pull request."""
    text = f"{MARKER}{key} -->"
    if not MARKED.fullmatch(text):
        raise ForgeRefused(f"not a key: {key[:80]!r}; use letters, digits and . _ : - (at most 200)")
    return text


def marked(key: str, text: str) -> str:
    """A body: our marker, then the text, in which markers are defused (a model must not forge one), clipped."""
    return clipped(f"{marker(key)}\n{text.replace(MARKER, MARKER.replace('-key', chr(0x200B) + '-key'))}")


def key_of(body: str) -> str:
    """The key of the marker at the very start of a body, else empty. Believe it only in what we wrote ourselves."""
    found = MARKED.match(body)
    return found[1] if found else ""


def is_ours(author: str, body: str, us: Collection[str]) -> bool:
    """Tell whether this program wrote it: one of its accounts, and a marker, which nobody types by hand."""
    return author in us and bool(key_of(body))


def task_of(pull: Pull, us: str) -> str:
    """The task that a pull request of ours belongs to; empty for everybody else's."""
    task, _, kind = key_of(pull.body).rpartition(":")
    return task if kind == "pr" and pull.author == us else ""


def clipped(text: str, limit: int = MAX_BODY) -> str:
    """Well-formed text of at most `limit` characters; a longer one says that it was cut."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT
