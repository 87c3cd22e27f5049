"""Door to pull requests without a server: the home of the forge protocol in a bare repository and one SQLite file.

The default when there is no GitHub token. It keeps GitHub's rules, and one of its own: the statuses named in
`required` must be "success" before a merge, so "reviewed first" holds offline too. Branches are pushed and fetched by
plain git. Many processes and threads may use one forge at once: what they write goes through immediate transactions,
and merges, closing and repairs are done one at a time under a file lock that the kernel releases with its holder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

from sisimpur.shared.forge.forge import (
    MAX_NOTE,
    MAX_TITLE,
    REVIEW_CONTEXT,
    STATUS_OF_VERDICT,
    CheckResult,
    Comment,
    CommitChecks,
    ForgeRefused,
    Issue,
    MergeMethod,
    Pull,
    PullNotReady,
    Review,
    Verdict,
    clipped,
    marked,
    same_base,
)
from sisimpur.shared.forge.local_forge_book import LocalForgeRepository, PlannedMerge, readable_uri
from sisimpur.shared.forge.local_forge_git import ACTOR, Commits, follow, kept, locked
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

REVIEWER = "sisimpur-reviewer"


class LocalForge:
    """`path` was made by create(). `required`: the statuses without which nothing is merged.

    `up_to_date`: a branch is merged only if it holds its base's newest commit. Then the merged files are, to the last
    byte, the ones at the commit that was tested.
    """

    opens: type[Repository] = Repository  # who answers for its commits
    address = ""  # no browser finds it

    def __init__(
        self,
        path: Path,
        clock: Clock,
        *,
        actor: str = ACTOR,
        reviewer: str = REVIEWER,
        required: Collection[str] = (),
        up_to_date: bool = False,
    ) -> None:
        if not (path / "forge.db").exists():
            raise Misconfigured(f"there is no local forge at {path}")
        self._path = path
        self._clock = clock
        self._actor = actor
        self._reviewer = reviewer
        self._required = frozenset(required)
        self._only_up_to_date = up_to_date
        self._commits = Commits(path, self.opens)
        self._book = LocalForgeRepository(path / "forge.db", readable_uri(path))

    def release(self) -> None:
        """End the git that is kept; whoever asks on starts another."""
        self._commits.close()

    def follow(self, source: Remote, branch: str) -> str:
        """Bring in what the owner committed to a branch of his -> its newest commit here; see local_forge_git."""
        return follow(self._commits, source, branch)

    # -- reading ----------------------------------------------------------------------------------------------

    def whoami(self) -> str:
        return self._actor

    def find_pull(self, head: str, base: str) -> Pull | None:
        branches = self._up_to_date()
        found = self._book.find(head, base)
        return _as_it_is(found, branches) if found else None

    def get_pull(self, number: int) -> Pull:
        branches = self._up_to_date(self._book.pull(number).base)
        return _as_it_is(self._book.pull(number), branches)

    def list_pulls(self, every: bool = False, ended: int | None = None) -> Sequence[Pull]:
        branches = self._up_to_date()
        return [_as_it_is(pull, branches) for pull in self._book.pulls(every, ended)]

    def list_issues(self, label: str | None = None) -> Sequence[Issue]:
        return [issue for issue in self._book.issues() if label is None or label in issue.labels]

    def diff(self, number: int) -> str:
        branches = self._up_to_date(self._book.pull(number).base)
        pull = _as_it_is(self._book.pull(number), branches)
        before = self._book.base_before(pull.merge_sha) if pull.merge_sha else None
        return self._commits.diff(before or _commit_of(pull.base, branches), pull.head_sha)

    def reviews(self, number: int) -> Sequence[Review]:
        return self._book.reviews(self._book.pull(number).number)

    def comments(self, number: int) -> Sequence[Comment]:
        return self._book.comments(self._book.item(number), (self._actor,))

    def edited(self, said: Sequence[Comment]) -> frozenset[str]:
        """Nobody can edit here what somebody else has written."""
        return frozenset(comment.id for comment in said if comment.edited)

    def checks(self, sha: str) -> CommitChecks:
        items = self._book.statuses(sha)
        return CommitChecks(items)

    def required(self, base: str) -> frozenset[str]:  # noqa: ARG002 - the same for each branch
        return self._required

    # -- writing ----------------------------------------------------------------------------------------------

    def ensure_pull(
        self, head: str, base: str, title: str, body: str, labels: Sequence[str] = (), draft: bool = False
    ) -> Pull:
        title, body = one_line(title, MAX_TITLE), clipped(body)
        if not title:
            raise ForgeRefused("a pull request needs a title")
        branches = self._up_to_date(head, base)
        fault_point("pr.planned")
        with self._book.transaction() as db:  # immediate: of two callers the second finds what the first made
            pull = self._book.find(head, base)
            if pull is None or pull.state != "open":
                new = Pull(
                    0, title, body, head, base, self._proposed(head, base, branches), "open", draft, frozenset(), "", ""
                )
                number = self._book.add_pull(db, dataclasses.replace(new, author=self._actor))
                self._commits.keep(number, new.head_sha)
                fault_point("pr.kept")
            else:
                number = pull.number
                self._book.reword(db, number, title, body)
            self._book.label(db, number, [one_line(label, MAX_TITLE) for label in labels])
            fault_point("pr.written")
        fault_point("pr.created")
        return _as_it_is(self._book.pull(number), branches)

    def ready(self, number: int) -> None:
        self._book.pull(number)
        fault_point("ready.planned")
        with self._book.transaction() as db:
            self._book.ready(db, number)
        fault_point("ready.written")

    def ensure_comment(self, number: int, key: str, body: str) -> None:
        self._book.item(number)
        fault_point("comment.planned")
        with self._book.transaction() as db:
            self._book.comment(db, number, key, self._actor, marked(key, body), self._clock.now())
        fault_point("comment.written")

    def review(self, number: int, verdict: Verdict, body: str, sha: str) -> Review:
        pull = _as_it_is(self._book.pull(number), self._up_to_date())
        _same_head(pull, sha)
        formal = verdict == "comment" or self._reviewer != pull.author
        given = Review(self._reviewer, verdict, sha, clipped(body), formal)
        fault_point("review.planned")
        with self._book.transaction() as db:
            self._book.review(db, number, given, self._clock.now())
        fault_point("review.written")
        self.set_status(sha, REVIEW_CONTEXT, STATUS_OF_VERDICT[verdict], verdict)
        return given

    def set_status(self, sha: str, context: str, state: CheckResult, note: str = "") -> None:
        if not self._commits.has(sha):
            raise ForgeRefused(f"there is no commit {sha[:80]!r}")
        fault_point("status.planned")
        with self._book.transaction() as db:
            self._book.set_status(db, sha, one_line(context, MAX_TITLE), state, one_line(note, MAX_NOTE))
        fault_point("status.written")

    def merge(self, number: int, sha: str, method: MergeMethod = "squash", into: str = "", message: str = "") -> str:
        """Three steps, so that a kill between any two leaves a merge that happened once or not at all:

        1. the merge commit is written, and noted as planned;
        2. the base moves to it, if it is still where it was (compare and swap);
        3. the pull request is marked as merged.

        Who comes next looks whether a planned commit is part of the base: then it did happen, and is marked so.
        """
        with locked(self._path):
            branches = self._repair()
            pull = self._book.pull(number)
            same_base(pull, into)
            if pull.merge_sha:
                _same_head(pull, sha)
                return pull.merge_sha
            pull = _as_it_is(pull, branches)
            self._may_merge(pull, sha)
            base_sha = _commit_of(pull.base, branches)
            if self._commits.contains(base_sha, sha):  # the owner merged it by hand
                self._mark_merged(number, sha, base_sha)
                return base_sha
            plan = self._planned(pull, base_sha, method, message)
            self._commits.move(pull.base, plan.merge_sha, base_sha, {kept(number): sha})
            fault_point("merge.moved")
            self._mark_merged(number, sha, plan.merge_sha)
            return plan.merge_sha

    def close(self, number: int) -> None:
        with locked(self._path):
            branches = self._repair()
            pull = _as_it_is(self._book.pull(number), branches)
            if pull.state == "open":
                self._close(pull)

    def delete_branch(self, name: str) -> None:
        if self._commits.is_default(name):
            raise ForgeRefused(f"{name} is the default branch; it is not deleted")
        with locked(self._path):
            branches = self._repair()
            for pull in self._book.pulls():
                if pull.head == name:
                    self._close(_as_it_is(pull, branches))
            fault_point("branch.planned")
            self._commits.delete(name)
            fault_point("branch.deleted")

    # -- what happened behind our back ------------------------------------------------------------------------

    def _up_to_date(self, *names: str) -> dict[str, str]:
        """These branches and those of open pull requests, with their commits, after repairs.

        If somebody is just at it, his word counts.
        """
        ends = self._book.open_branches()
        branches = self._commits.heads({*names, *chain.from_iterable(ends)})
        if self._book.open_plans() or not {head for head, _ in ends} <= branches.keys():
            with locked(self._path, wait=False) as ours:
                branches = self._repair(*names) if ours else self._commits.branches()
        return branches

    def _repair(self, *names: str) -> dict[str, str]:
        """Under the lock: merges that happened are marked; a pull request whose branch is gone is closed.

        These branches and those of open pull requests, with their commits, which it leaves as they are.
        """
        pulls = self._book.pulls()  # before their branches: one that is opened meanwhile is not missed
        branches = self._commits.heads({*names, *chain.from_iterable((pull.head, pull.base) for pull in pulls)})
        for plan in self._book.open_plans():
            if plan.base in branches and self._commits.contains(branches[plan.base], plan.merge_sha):
                self._mark_merged(plan.number, plan.head_sha, plan.merge_sha)
        for pull in pulls:
            if pull.head not in branches and self._book.pull(pull.number).state == "open":
                self._close(pull)
        return branches

    def _proposed(self, head: str, base: str, branches: dict[str, str]) -> str:
        """The commit of a branch that may become a pull request."""
        head_sha, base_sha = _commit_of(head, branches), _commit_of(base, branches)
        if self._commits.contains(base_sha, head_sha):
            raise ForgeRefused(f"no commits between {base} and {head}")
        if not self._commits.contains(head_sha, base_sha) and not self._commits.are_related(base_sha, head_sha):
            raise ForgeRefused(f"{head} has no history in common with {base}")
        return head_sha

    def _may_merge(self, pull: Pull, sha: str) -> None:
        if pull.state != "open":
            raise PullNotReady(f"#{pull.number} is closed", "blocked")
        if pull.draft:
            raise PullNotReady(f"#{pull.number} is still a draft", "blocked")
        _same_head(pull, sha)
        passed = {name for name, result in self._book.statuses(sha).items() if result == "success"}
        if missing := sorted(self._required - passed):
            raise PullNotReady(f"#{pull.number} lacks the required status {', '.join(missing)}", "blocked")

    def _planned(self, pull: Pull, base_sha: str, method: MergeMethod, message: str) -> PlannedMerge:
        tree = self._merged_tree(pull, base_sha)
        parents = [base_sha, pull.head_sha] if method == "merge" else [base_sha]
        text = clipped(message).strip() or f"{pull.title} (#{pull.number})"
        merge_sha = self._commits.write(tree, parents, text, self._actor, self._clock.now())
        plan = PlannedMerge(pull.number, merge_sha, pull.head_sha, base_sha, pull.base)
        fault_point("merge.written")
        with self._book.transaction() as db:
            self._book.plan(db, plan)
        fault_point("merge.planned")
        return plan

    def _merged_tree(self, pull: Pull, base_sha: str) -> str:
        """The base moves by compare and swap from `base_sha`: what is true of it here is true of the merge."""
        if not self._only_up_to_date:
            return self._commits.merged_tree(base_sha, pull.head_sha)
        if not self._commits.contains(pull.head_sha, base_sha):
            raise PullNotReady(f"#{pull.number} is behind {pull.base}; bring it up to date", "conflict")
        return self._commits.tree_of(pull.head_sha)

    def _mark_merged(self, number: int, sha: str, merge_sha: str) -> None:
        self._commits.keep(number, sha)
        fault_point("merge.kept")
        with self._book.transaction() as db:
            self._book.merged(db, number, sha, merge_sha)
        fault_point("merge.recorded")

    def _close(self, pull: Pull) -> None:
        self._commits.keep(pull.number, pull.head_sha)
        fault_point("close.kept")
        with self._book.transaction() as db:
            self._book.closed(db, pull.number, pull.head_sha)
        fault_point("close.recorded")


def _as_it_is(pull: Pull, branches: dict[str, str]) -> Pull:
    """An open pull request follows its branch; a closed or merged one stays where it was."""
    live = branches.get(pull.head) if pull.state == "open" else None
    return dataclasses.replace(pull, head_sha=live) if live else pull


def _same_head(pull: Pull, sha: str) -> None:
    if pull.head_sha != sha:
        raise PullNotReady(
            f"#{pull.number} {'was merged' if pull.merge_sha else 'is'} at {pull.head_sha}, not at {sha}", "moved"
        )


def _commit_of(branch: str, branches: dict[str, str]) -> str:
    if branch not in branches:
        raise ForgeRefused(f"there is no branch {branch[:200]!r}")
    return branches[branch]
