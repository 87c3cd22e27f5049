"""Door to pull requests at GitHub: the home of the forge protocol there.

With one account GitHub takes no verdict on its own pull requests: the verdict stands in a comment, and the commit
status REVIEW_CONTEXT carries it. A second account's token makes it a formal review. docs/github.md tells the owner
which tokens that takes, and what happens when GitHub does not answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from sisimpur.shared.forge.forge import (
    MAX_NOTE,
    MAX_TITLE,
    OURS,
    REVIEW_CONTEXT,
    STATUS_OF_VERDICT,
    CheckResult,
    Comment,
    CommitChecks,
    ForgeRefused,
    Issue,
    MergeMethod,
    Pull,
    Review,
    Verdict,
    clipped,
    key_of,
    marked,
)
from sisimpur.shared.forge.github_check import SetupFinding, findings, required_checks
from sisimpur.shared.forge.github_client import AT_GITHUB, GitHubAccess, GitHubClient, branch_path
from sisimpur.shared.forge.github_pulls import Pulls, sent
from sisimpur.shared.forge.github_values import (
    EVENT,
    WIP,
    Combined,
    GitHubRepository,
    IssueChanges,
    Node,
    RawCheckRun,
    RawComment,
    RawIssue,
    RawPull,
    RawReview,
    lacking,
    review_key,
    worst,
)
from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured
from sisimpur.shared.model.text import one_line
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

DIFF = "application/vnd.github.diff"
EDITED = "... on Comment { lastEditedAt }"  # of a review no list tells it
CHANGED = (
    "... on Issue { lastEditedAt editor { login ... on User { databaseId } } "
    "timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT]) "
    "{ nodes { ... on RenamedTitleEvent { actor { login ... on User { databaseId } } } } } }"
)
INFORMAL = "**{verdict}** (by the account that made this pull request, from which GitHub takes no formal verdict)\n\n"
TOKEN, REVIEWER_TOKEN = "GITHUB_TOKEN", "GITHUB_REVIEWER_TOKEN"


class GitHubForge:
    """`repository` is OWNER/NAME. `reviewer_token` belongs to a second account; empty: there is none.

    Nothing is asked before the first call.
    """

    def __init__(
        self, repository: str, token: str, clock: Clock, *, reviewer_token: str = "", access: GitHubAccess = AT_GITHUB
    ) -> None:
        self._team = GitHubClient(repository, token, clock, TOKEN, access)
        self._second = (
            GitHubClient(repository, reviewer_token, clock, REVIEWER_TOKEN, access) if reviewer_token else None
        )
        self._reviewer = self._second or self._team
        self._pulls = Pulls(self._team, clock)
        self._web = access.url.removesuffix("/").removesuffix("/api/v3").replace("://api.", "://", 1)
        self._default_branch = ""

    def __repr__(self) -> str:
        return f"GitHubForge({self._team!r})"

    def check(self, branch: str = "") -> tuple[SetupFinding, ...]:
        """Check for `doctor` what the tokens are good for, and whether `branch` (or the default one) is guarded."""
        return tuple(findings(self._team, self._second, branch))

    # -- reading ----------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        return f"{self._web}/{self._team.repository}"

    def whoami(self) -> str:
        return self._team.login()

    def find_pull(self, head: str, base: str) -> Pull | None:
        ours = self._team.repository
        listed = self._team.pages(RawPull, "/pulls", state="all", head=f"{ours.partition('/')[0]}:{head}", base=base)
        found = [raw.pull for raw in listed if (raw.head.ref, raw.base.ref) == (head, base) and raw.comes_from(ours)]
        return min(found, key=lambda pull: (pull.state != "open", -pull.number), default=None)

    def get_pull(self, number: int) -> Pull:
        return self._pulls.read(number).pull

    def list_pulls(self, every: bool = False, ended: int | None = None) -> Sequence[Pull]:
        listed = self._team.pages(RawPull, "/pulls", state="all" if every else "open", sort="created", direction="desc")
        pulls = {raw.number: raw.pull for raw in listed}  # one that is made meanwhile moves another to the next page
        newest = sorted(pulls.values(), key=lambda pull: -pull.number)
        shown = {pull.number for pull in [pull for pull in newest if pull.state != "open"][:ended]}
        return [pull for pull in newest if pull.state == "open" or pull.number in shown]

    def list_issues(self, label: str | None = None) -> Sequence[Issue]:
        only = {} if label is None else {"labels": label}
        listed = self._team.pages(RawIssue, "/issues", state="open", sort="created", direction="desc", **only)
        issues = {raw.number: raw for raw in listed if raw.pull_request is None}
        raws = sorted(issues.values(), key=lambda raw: -raw.number)
        changes = self._team.nodes(IssueChanges, [raw.node_id for raw in raws], CHANGED)
        return [dataclasses.replace(raw.issue, changed_by=change.by) for raw, change in zip(raws, changes, strict=True)]

    def diff(self, number: int) -> str:
        text = self._team.text(f"/pulls/{number}", DIFF)
        if text and not text.startswith("diff --git "):
            raise ForgeUnavailable(f"what answers for the diff of #{number} is no diff")
        return text

    def reviews(self, number: int) -> Sequence[Review]:
        us = self._us()
        return [raw.review(us) for raw in self._raw_reviews(number)]

    def comments(self, number: int) -> Sequence[Comment]:
        us = self._us()
        said = [raw.comment(us) for raw in self._raw_comments(number)]
        try:
            said += [comment for raw in self._raw_reviews(number) if (comment := raw.comment(us))]
            said += [raw.comment(us) for raw in self._team.pages(RawComment, f"/pulls/{number}/comments")]
        except ForgeRefused as refusal:
            if refusal.status != 404:  # it is an issue: there are comments below it, and nothing else
                raise
        return sorted(said, key=lambda comment: comment.at)

    def edited(self, said: Sequence[Comment]) -> frozenset[str]:
        asked = [comment for comment in said if comment.node]
        nodes = self._team.nodes(Node, [comment.node for comment in asked], EDITED)
        told = {comment.id for comment, node in zip(asked, nodes, strict=True) if node.lastEditedAt}
        return frozenset(told.union(comment.id for comment in said if comment.edited))

    def checks(self, sha: str) -> CommitChecks:
        combined = self._team.poll(Combined, f"/commits/{sha}/status", per_page="100")
        runs = self._runs(sha)
        said = [(status.name, status.result) for status in combined.statuses]
        said += [(f"{run.name} (run)" if run.name in OURS else run.name, run.result) for run in runs or ()]
        items = worst(said)
        complete = runs is not None and combined.total_count <= len(combined.statuses)
        return CommitChecks(items, complete, runs_workflows=True)

    def required(self, base: str) -> frozenset[str]:
        try:
            return frozenset(required_checks(self._team, base)[0])
        except (Misconfigured, ForgeRefused):
            return frozenset()  # GitHub holds its own rules also where we may not read them

    # -- pull requests ----------------------------------------------------------------------------------------

    def ensure_pull(
        self, head: str, base: str, title: str, body: str, labels: Sequence[str] = (), draft: bool = False
    ) -> Pull:
        title, body = one_line(title, MAX_TITLE), clipped(body)
        if not title:
            raise ForgeRefused("a pull request needs a title")
        found = self._open(head, base)
        pull = found or self._made({"head": head, "base": base, "title": title, "body": body, "draft": draft})
        if (pull.title, pull.body) != (title, body):
            given = self._write("pr", "PATCH", f"/pulls/{pull.number}", {"title": title, "body": body})
            pull = self._team.shaped(RawPull, given).pull
        missing = lacking([one_line(label, MAX_TITLE) for label in labels], pull.labels)
        if draft and not pull.draft and (missing or not found):  # without its labels it was not quite made
            missing.append(WIP)
        if missing:
            self._write("label", "POST", f"/issues/{pull.number}/labels", {"labels": missing})
        return dataclasses.replace(pull, labels=pull.labels | set(missing), draft=pull.draft or WIP in missing)

    def ready(self, number: int) -> None:
        raw = self._pulls.read(number)
        if raw.draft:
            self._mark_ready(raw)
        if raw.is_wip:
            try:
                self._write("ready", "DELETE", f"/issues/{number}/labels/{WIP}")
            except ForgeRefused as refusal:
                if refusal.status != 404:
                    raise

    def close(self, number: int) -> None:
        if self._pulls.read(number).state == "open":
            self._write("close", "PATCH", f"/pulls/{number}", {"state": "closed"})

    def delete_branch(self, name: str) -> None:
        path = branch_path(name)
        if name == self._default():
            raise ForgeRefused(f"{name} is the default branch; it is not deleted")
        try:
            self._write("branch", "DELETE", f"/git/refs/heads/{path}")
        except ForgeRefused as refusal:
            gone = refusal.status == 422 and "does not exist" in refusal.said
            if not gone and (refusal.status != 404 or self._pulls.tip(name)):  # a protected one: 422 as well
                raise

    # -- words about it ---------------------------------------------------------------------------------------

    def ensure_comment(self, number: int, key: str, body: str) -> None:
        text, us = marked(key, body), self.whoami()
        comments = [raw for raw in self._raw_comments(number) if raw.user and raw.user.login == us]
        ours = next((raw for raw in comments if key_of(raw.body or "") == key), None)
        if ours is None:
            self._write("comment", "POST", f"/issues/{number}/comments", {"body": text})
        elif ours.body != text:
            self._write("comment", "PATCH", f"/issues/comments/{ours.id}", {"body": text})

    def review(self, number: int, verdict: Verdict, body: str, sha: str) -> Review:
        raw, us = self._pulls.read(number), self._reviewer.login()
        self._pulls.same_head(raw, sha)
        formal = verdict == "comment" or raw.pull.author != us
        if not self._was_given(number, verdict, sha, us):
            text = marked(review_key(verdict), body if formal else INFORMAL.format(verdict=verdict) + body)
            event = EVENT[verdict] if formal else "COMMENT"
            fields = {"commit_id": sha, "body": text, "event": event}
            self._write("review", "POST", f"/pulls/{number}/reviews", fields, self._reviewer)
        self.set_status(sha, REVIEW_CONTEXT, STATUS_OF_VERDICT[verdict], verdict)
        return Review(us, verdict, sha, clipped(body), formal)

    def set_status(self, sha: str, context: str, state: CheckResult, note: str = "") -> None:
        fields = {"state": state, "context": one_line(context, MAX_TITLE), "description": one_line(note, MAX_NOTE)}
        self._write("status", "POST", f"/statuses/{sha}", fields)

    def merge(self, number: int, sha: str, method: MergeMethod = "squash", into: str = "", message: str = "") -> str:
        return self._pulls.merge(number, sha, method, into, message)

    def _write(
        self, thing: str, verb: str, path: str, body: Mapping[str, Any] | None = None, by: GitHubClient | None = None
    ) -> Any:
        return sent(by or self._team, thing, verb, path, body)

    def _us(self) -> frozenset[str]:
        return frozenset({self._team.login(), self._reviewer.login()})

    def _open(self, head: str, base: str) -> Pull | None:
        pull = self.find_pull(head, base)
        return pull if pull and pull.state == "open" else None

    def _made(self, fields: Mapping[str, Any]) -> Pull:
        try:
            return self._team.shaped(RawPull, self._write("pr", "POST", "/pulls", fields)).pull
        except (ForgeRefused, ForgeUnavailable) as problem:
            if fields["draft"] and "draft pull requests are not supported" in str(problem).lower():
                return self._made({**fields, "draft": False})
            found = self._open(fields["head"], fields["base"])  # the answer was lost, or somebody was faster
            if found is None:
                raise
            return found

    def _mark_ready(self, raw: RawPull) -> None:
        fault_point("ready.planned")
        fields = {"pullRequestId": raw.node_id}
        try:
            self._team.mutate("markPullRequestReadyForReview", fields, "clientMutationId pullRequest { isDraft }")
        except (ForgeRefused, ForgeUnavailable):
            if self._pulls.read(raw.number).draft:
                raise
        fault_point("ready.written")

    def _raw_comments(self, number: int) -> list[RawComment]:
        return self._team.pages(RawComment, f"/issues/{number}/comments")

    def _raw_reviews(self, number: int) -> list[RawReview]:
        """List reviews, without the ones that their author has not sent off."""
        return [raw for raw in self._team.pages(RawReview, f"/pulls/{number}/reviews") if raw.state != "PENDING"]

    def _was_given(self, number: int, verdict: Verdict, sha: str, us: str) -> bool:
        return any(
            raw.user is not None
            and (raw.user.login, raw.commit_id, key_of(raw.body or "")) == (us, sha, review_key(verdict))
            for raw in self._raw_reviews(number)
        )

    def _runs(self, sha: str) -> list[RawCheckRun] | None:
        """Check runs, and runs of Actions: one that never began a job has none. None: neither may be read.

        Fine-grained tokens may not read check runs of a private repository.
        """
        runs, readable = [], False
        for path, key, only in (
            (f"/commits/{sha}/check-runs", "check_runs", {}),
            ("/actions/runs", "workflow_runs", {"head_sha": sha}),
        ):
            try:
                runs += self._team.pages(RawCheckRun, path, key, **only)
                readable = True
            except Misconfigured:
                continue
        return runs if readable else None

    def _default(self) -> str:
        self._default_branch = self._default_branch or self._team.read(GitHubRepository, "").default_branch
        return self._default_branch
