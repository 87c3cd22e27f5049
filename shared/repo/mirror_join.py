"""Door to branches that last. The only module that brings one up to date, and makes one change of all that is on it.

Without a work tree: no hook, no filter and no merge driver runs.
"""

from __future__ import annotations

from datetime import datetime

from shared.model.errors import Refused
from shared.repo.mirror_rebase import AlreadyThere, Conflict, Rebased, is_ancestor, merged_tree, stand, tree_id
from shared.repo.mirror_tree import commit_id
from shared.repo.objects import Repository
from shared.system.fault import fault_point


def joined(repository: Repository, ours: str, theirs: str, who: str, text: str, now: datetime) -> str | Conflict:
    """As Mirror.joined says. `who`: "Name <address>"."""
    tree = merged_tree(repository, commit_id(ours), commit_id(theirs))
    if isinstance(tree, Conflict):
        return tree
    sha = _written(repository, tree, (ours, theirs), who, text, now)
    fault_point("join.written")
    return sha


def gathered(
    repository: Repository, branch: str, onto: str, ref: str, who: str, text: str, now: datetime
) -> Rebased | AlreadyThere:
    """As Mirror.gathered says."""
    if not is_ancestor(repository, onto, branch):
        raise Refused(f"{branch[:12]} does not hold {onto[:12]}: it has to be brought up to date first")
    tree = tree_id(repository, branch)
    if tree == tree_id(repository, onto):
        return AlreadyThere()
    sha = _written(repository, tree, (onto,), who, text, now)
    fault_point("gather.written")
    return Rebased(stand(repository, ref, sha))


def _written(repository: Repository, tree: str, parents: tuple[str, ...], who: str, text: str, now: datetime) -> str:
    signed = f"{who} {int(now.timestamp())} +0000"
    head = [f"tree {tree}", *(f"parent {commit_id(sha)}" for sha in parents), f"author {signed}", f"committer {signed}"]
    data = "\n".join((*head, "", text.rstrip("\n"), "")).encode("utf-8", "replace")
    return repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip()
