"""What git's news mean for pull requests: open ones follow their branches; gone, emptied or merged ones are closed."""

from __future__ import annotations

from collections.abc import Mapping

from sisimpur.simulators.github.state import Pull, Repository


def follow(repository: Repository, now: str, pusher: str = "") -> Mapping[str, str]:
    """Brings every open pull request up to date -> the branches with their commits."""
    branches = repository.commits.branches()
    for pull in repository.pulls:
        if pull.state == "open":
            _follow(repository, pull, branches, now, pusher or repository.owner)
    return branches


def _follow(repository: Repository, pull: Pull, branches: Mapping[str, str], now: str, pusher: str) -> None:
    head, base = branches.get(pull.head), branches.get(pull.base)
    if head is None or base is None:
        close(pull, now)
    elif (head, base) == (pull.head_sha, pull.base_sha):
        return
    elif not repository.commits.holds(base, head):
        pull.head_sha, pull.base_sha = head, base
        repository.commits.keep(pull.number, head)
    else:
        if head == pull.head_sha:  # somebody pushed the merge himself; else he pushed the work away
            pull.merge_sha, pull.merged_at, pull.merged_by = base, now, pusher
        close(pull, now)


def close(pull: Pull, now: str) -> None:
    pull.state, pull.closed_at, pull.updated_at = "closed", now, now
