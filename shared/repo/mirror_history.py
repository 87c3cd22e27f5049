"""Door to a branch's own line of commits. The only module that follows it, and makes the commit that takes one back."""

from __future__ import annotations

from datetime import datetime

from shared.repo import mirror_rebase
from shared.repo.mirror_rebase import AlreadyThere, Conflict, Rebased
from shared.repo.mirror_tree import commit_id
from shared.repo.objects import Repository
from shared.system.fault import fault_point

MOST_COMMITS = 1_000  # of a line: what is farther back is not asked about


def line(repository: Repository, old: str, new: str) -> tuple[str, ...]:
    """The commits after `old` up to `new`, the oldest first, one for each merge; only `new` if `old` is elsewhere."""
    is_here = bool(old) and repository.commit(commit_id(old)) is not None
    if not is_here or not mirror_rebase.is_ancestor(repository, old, new):
        return (commit_id(new),)
    between, most = f"{commit_id(old)}..{commit_id(new)}", f"--max-count={MOST_COMMITS}"
    return tuple(reversed(repository.git("rev-list", "--first-parent", most, between).decode().split()))


def titles(repository: Repository, sha: str) -> tuple[str, ...]:
    """As Mirror.titles says."""
    told = repository.git("log", f"--max-count={MOST_COMMITS}", "--format=%s", "-z", commit_id(sha))
    return tuple(told.decode("utf-8", "replace").split("\0"))


def taken_back(
    repository: Repository, sha: str, onto: str, ref: str, who: str, now: datetime
) -> Rebased | Conflict | AlreadyThere:
    """What `sha` changed on its branch, undone on top of `onto`, as a commit at the free `ref`; see `rebased`.

    `who`: "Name <address>".
    """
    before = repository.one(f"{commit_id(sha)}^")
    tree = mirror_rebase.tree_id(repository, before)
    signed = f"{who} {int(now.timestamp())} +0000"
    title = repository.git("log", "-1", "--format=%s", commit_id(sha)).decode("utf-8", "replace").strip()
    text = (
        f"tree {tree}\nparent {commit_id(sha)}\nauthor {signed}\ncommitter {signed}\n\n"
        f'Revert "{title}"\n\nThis takes back {sha}, which was sick where it was deployed.\n'
    )
    undone = repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode()).decode().strip()
    fault_point("revert.written")
    return mirror_rebase.rebased(repository, undone, onto, ref, now)
