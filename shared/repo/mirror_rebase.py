"""Door to changes on a new base. The only module that makes a commit's change once more, on top of another commit.

Without a work tree: no hook, no filter and no merge driver runs. The new commit changes no path that the old one did
not change, whatever git takes for a renamed file: what was judged about its paths still holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from shared.model.errors import Refused
from shared.repo.git import GitFailed
from shared.repo.mirror_tree import commit_id
from shared.repo.objects import Repository
from shared.repo.remote import telling_line
from shared.system.fault import fault_point

MOST_PATHS = 50  # of a conflict that are named


@dataclass(frozen=True)
class Rebased:
    """The commit that makes the same change on top of the new base."""

    sha: str


@dataclass(frozen=True)
class Conflict:
    """It does not fit. `paths`: where; none: the branch was rewritten, the old base is not part of it any more."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlreadyThere:
    """The new base holds the whole change already."""


OnTop = Rebased | Conflict | AlreadyThere


def rebased(repository: Repository, commit: str, onto: str, ref: str, now: datetime) -> OnTop:
    """As Mirror.rebased says."""
    made = on_top(repository, commit, onto, now)
    fault_point("rebase.written")
    return Rebased(stand(repository, ref, made.sha)) if isinstance(made, Rebased) else made


def on_top(repository: Repository, commit: str, onto: str, now: datetime | None = None) -> OnTop:
    """The change as a commit that no reference holds; `now`: its date, else the old one.

    The old parent is the only merge base: the commit has no other parent, and `onto` holds the old one.
    """
    (text,) = repository.contents([f"{commit_id(commit)}^{{commit}}"])
    head, message = text.split(b"\n\n", 1)
    parents = re.findall(rb"^parent ([0-9a-f]+)$", head, re.MULTILINE)
    if len(parents) != 1:
        raise Refused(f"{commit} has {len(parents)} parents: only a commit with one can be brought up to date")
    parent = parents[0].decode()
    if parent == commit_id(onto):
        return Rebased(commit)
    if not is_ancestor(repository, parent, onto):
        return Conflict()
    tree = merged_tree(repository, onto, commit)
    if isinstance(tree, Conflict):
        return tree
    if tree == tree_id(repository, onto):
        return AlreadyThere()
    if strayed := _paths(repository, onto, tree) - _paths(repository, parent, commit):
        return _conflict(strayed)
    data = _commit(tree, onto, head, now) + b"\n\n" + message
    return Rebased(repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip())


def tree_id(repository: Repository, sha: str) -> str:
    return repository.one(f"{commit_id(sha)}^{{tree}}")


def merged_tree(repository: Repository, onto: str, commit: str) -> str | Conflict:
    """The id of the tree of both."""
    done = repository.try_git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit)
    if done.code > 1:
        raise GitFailed(f"git merge-tree: {telling_line(done.complaint)}")
    tree, *paths = done.text.split("\0")
    return _conflict(set(paths) - {""}) if done.code else tree.strip()


def is_ancestor(repository: Repository, older: str, newer: str) -> bool:
    done = repository.try_git("merge-base", "--is-ancestor", commit_id(older), commit_id(newer))
    if done.code > 1:
        raise GitFailed(f"git merge-base: {telling_line(done.complaint)}")
    return done.ok


# --- details -------------------------------------------------------------------------------------------------


def _conflict(paths: set[str]) -> Conflict:
    return Conflict(tuple(sorted(paths)[:MOST_PATHS]))


def _paths(repository: Repository, old: str, new: str) -> set[str]:
    """All that differ between two commits or trees."""
    names = repository.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return set(names.decode("utf-8", "replace").split("\0")) - {""}


def _commit(tree: str, parent: str, head: bytes, now: datetime | None) -> bytes:
    """The head of a commit object, by whom and in which encoding the old one is; its signature is void."""
    kept = re.findall(rb"^(?:author|committer|encoding) .*$", head, re.MULTILINE)
    if now:
        date = f"> {int(now.timestamp())} +0000".encode()
        kept = [re.sub(rb"> -?\d+ [+-]\d+$", date, line) for line in kept]
    return b"\n".join([f"tree {tree}\nparent {parent}".encode(), *kept])


def stand(repository: Repository, ref: str, sha: str) -> str:
    """Sets the reference if it is free, or adopts what stands there with the same files and parent."""
    done = repository.try_git("update-ref", "--stdin", data=f"create {ref} {sha}\n".encode())
    fault_point("ref.update")
    if done.ok:
        return sha
    there = repository.commit(ref)
    if there is None:
        raise GitFailed(f"git update-ref: {telling_line(done.complaint)}")
    if _files_and_base(repository, there) != _files_and_base(repository, sha):
        raise Refused(f"{ref} is at {there} already: it cannot take another commit")
    return there


def _files_and_base(repository: Repository, sha: str) -> list[str]:
    """The ids of its tree and of its parents."""
    (text,) = repository.contents([sha])
    head = text.partition(b"\n\n")[0]
    return [found.decode() for found in re.findall(rb"^(?:tree|parent) ([0-9a-f]+)$", head, re.MULTILINE)]
