"""Commits of our mirror: those made of others, a branch's own line of them, and how people name them.

A change is brought on top of another commit, joined with one, gathered from a whole branch, or taken back. Without a
work tree: no hook, no filter and no merge driver runs. A change that is made once more touches no path that the old one
did not touch, whatever git takes for a renamed file: what was judged about its paths still holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sisimpur.shared.model.errors import CommandFailed, Refused
from sisimpur.shared.repo.differences import paths
from sisimpur.shared.repo.git import git, telling_line, try_git
from sisimpur.shared.repo.mirror_tree import commit_id
from sisimpur.shared.repo.objects import Parents, Repository
from sisimpur.shared.system.fault import fault_point

MOST_WALKED = 1_000  # commits that are read for one answer


def is_ancestor(repository: Repository, older: str, newer: str) -> bool:
    """Tell if `newer`'s history holds `older`; a commit is its own ancestor. CommandFailed if one is not here."""
    told = comes_after(commit_id(newer), commit_id(older), repository.parents)
    if told is not None:
        return told
    done = repository.try_git("merge-base", "--is-ancestor", older, newer)
    if done.code > 1:
        raise CommandFailed(f"git merge-base: {telling_line(done.complaint)}")
    return done.ok


def comes_after(newer: str, older: str, parents_of: Callable[[Collection[str]], Parents]) -> bool | None:
    """Whether `newer` is `older` or comes after it; None: it cannot be told from MOST_WALKED commits. Pure.

    `parents_of` leaves out what it cannot read. What `older` comes after cannot come after `older`: there the search
    ends, so that two branches are compared as far as where they parted, however long their common history is.
    """
    known: dict[str, tuple[str, ...]] = {}
    before: set[str] = set()  # commits that `older` comes after
    edge, wave, seen = {older}, {newer}, {newer}
    while wave:
        asked = wave | edge
        found = parents_of(asked)
        if len(known) > MOST_WALKED or not asked <= found.keys():
            return None
        if older in wave:
            return True
        known.update(found)
        edge = _grown(before, edge, known)
        wave = {parent for commit in wave for parent in known[commit]} - seen
        seen |= wave
        wave -= before
    return False


def _grown(before: set[str], edge: set[str], known: Parents) -> set[str]:
    """Follow the edge through all that is known: `before` grows -> the commits whose parents are not known yet."""
    waiting, new_edge = list(edge), set[str]()
    while waiting:
        commit = waiting.pop()
        if commit not in known:
            new_edge.add(commit)
            continue
        fresh = set(known[commit]) - before
        before |= fresh
        waiting += fresh
    return new_edge


MOST_PATHS = 50  # of a conflict that are named
MERGED = 1_000  # bytes that an answer takes in memory, about


@dataclass(frozen=True)
class Rebased:
    """The commit that makes the same change on top of the new base."""

    sha: str


@dataclass(frozen=True)
class Conflict:
    """Conflict: it does not fit. `paths`: where; none: the branch was rewritten, the old base is not in it any more."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlreadyThere:
    """The new base holds the whole change already."""


OnTop = Rebased | Conflict | AlreadyThere


def rebased(repository: Repository, commit: str, onto: str, ref: str, now: datetime) -> OnTop:
    """See Mirror.rebased."""
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
    data = _commit(tree, onto, head, now) + b"\n\n" + message
    made = repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip()
    strayed = paths(repository, onto, made) - paths(repository, parent, commit)
    return _conflict(strayed) if strayed else Rebased(made)


def tree_id(repository: Repository, sha: str) -> str:
    return repository.one(f"{commit_id(sha)}^{{tree}}")


def merged_tree(repository: Repository, onto: str, commit: str) -> str | Conflict:
    """The id of the tree of both. It never changes: it is asked for once, unless what was made has been tidied away."""

    def ask() -> str | Conflict:
        done = repository.try_git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit)
        if done.code > 1:
            raise CommandFailed(f"git merge-tree: {telling_line(done.complaint)}")
        tree, *paths = done.text.split("\0")
        return _conflict(set(paths) - {""}) if done.code else tree.strip()

    told = repository.answers.once(("merge-tree", onto, commit), ask, lambda _: MERGED)
    is_gone = isinstance(told, str) and repository.find([told]) == [None]
    return ask() if is_gone else told


def _conflict(paths: set[str]) -> Conflict:
    return Conflict(tuple(sorted(paths)[:MOST_PATHS]))


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
        raise CommandFailed(f"git update-ref: {telling_line(done.complaint)}")
    if _files_and_base(repository, there) != _files_and_base(repository, sha):
        raise Refused(f"{ref} is at {there} already: it cannot take another commit")
    return there


def _files_and_base(repository: Repository, sha: str) -> list[str]:
    """The ids of its tree and of its parents."""
    (text,) = repository.contents([sha])
    head = text.partition(b"\n\n")[0]
    return [found.decode() for found in re.findall(rb"^(?:tree|parent) ([0-9a-f]+)$", head, re.MULTILINE)]


# --- a branch that lasts --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signed:
    """Author, message and time of a new commit. `who`: "Name <address>"."""

    who: str
    text: str
    at: datetime


def joined(repository: Repository, ours: str, theirs: str, signed: Signed) -> str | Conflict:
    """See Mirror.joined."""
    tree = merged_tree(repository, commit_id(ours), commit_id(theirs))
    if isinstance(tree, Conflict):
        return tree
    sha = _written(repository, tree, (ours, theirs), signed)
    fault_point("join.written")
    return sha


def gathered(repository: Repository, branch: str, onto: str, ref: str, signed: Signed) -> Rebased | AlreadyThere:
    """See Mirror.gathered."""
    if not is_ancestor(repository, onto, branch):
        raise Refused(f"{branch[:12]} does not hold {onto[:12]}: it has to be brought up to date first")
    tree = tree_id(repository, branch)
    if tree == tree_id(repository, onto):
        return AlreadyThere()
    sha = _written(repository, tree, (onto,), signed)
    fault_point("gather.written")
    return Rebased(stand(repository, ref, sha))


def _written(repository: Repository, tree: str, parents: tuple[str, ...], signed: Signed) -> str:
    by = f"{signed.who} {int(signed.at.timestamp())} +0000"
    head = [f"tree {tree}", *(f"parent {commit_id(sha)}" for sha in parents), f"author {by}", f"committer {by}"]
    data = "\n".join((*head, "", signed.text.rstrip("\n"), "")).encode("utf-8", "replace")
    return repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip()


# --- a branch's own line --------------------------------------------------------------------------------------

MOST_COMMITS = 1_000  # of a line: what is farther back is not asked about


def line(repository: Repository, old: str, new: str) -> tuple[str, ...]:
    """The commits after `old` up to `new`, the oldest first, one for each merge; only `new` if `old` is elsewhere."""
    is_here = bool(old) and repository.commit(commit_id(old)) is not None
    if not is_here or not is_ancestor(repository, old, new):
        return (commit_id(new),)
    between, most = f"{commit_id(old)}..{commit_id(new)}", f"--max-count={MOST_COMMITS}"
    return tuple(reversed(repository.git("rev-list", "--first-parent", most, between).decode().split()))


def taken_back(
    repository: Repository, sha: str, onto: str, ref: str, who: str, now: datetime
) -> Rebased | Conflict | AlreadyThere:
    """Undo what `sha` changed on its branch, on top of `onto`, as a commit at the free `ref`; see `rebased`.

    `who`: "Name <address>".
    """
    before = repository.one(f"{commit_id(sha)}^")
    tree = tree_id(repository, before)
    signed = f"{who} {int(now.timestamp())} +0000"
    title = repository.git("log", "-1", "--format=%s", commit_id(sha)).decode("utf-8", "replace").strip()
    text = (
        f"tree {tree}\nparent {commit_id(sha)}\nauthor {signed}\ncommitter {signed}\n\n"
        f'Revert "{title}"\n\nThis takes back {sha}, which was sick where it was deployed.\n'
    )
    undone = repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode()).decode().strip()
    fault_point("revert.written")
    return rebased(repository, undone, onto, ref, now)


# --- names ----------------------------------------------------------------------------------------------------

BEGIN = re.compile(r"[0-9a-f]{4,64}")
LONGEST_SUBJECT = 200  # characters


def commits_like(repository: Path, begin: str) -> tuple[str, ...]:
    """All commits here whose id begins so, in full; none for what is no begin of one (4 digits at least)."""
    if not BEGIN.fullmatch(begin) or not repository.is_dir():
        return ()
    found = git(repository, "rev-parse", f"--disambiguate={begin}")
    kinds = git(repository, "cat-file", "--batch-check=%(objectname) %(objecttype)", data=found)
    rows = (row.split() for row in kinds.decode().splitlines())
    return tuple(row[0] for row in rows if row[1:] == ["commit"])


def subjects(repository: Path, commits: Iterable[str]) -> dict[str, str]:
    """Commit -> the first line of its message, by whoever wrote it. What is not here is left out."""
    wanted = "".join(f"{commit_id(sha)}\n" for sha in dict.fromkeys(commits))
    if not wanted or not repository.is_dir():
        return {}
    options = ("--no-walk=unsorted", "--ignore-missing", "--no-show-signature", "--format=%H %s", "--stdin")
    done = try_git(repository, "log", *options, data=wanted.encode())
    rows = (row.partition(" ") for row in done.output.decode("utf-8", "replace").splitlines())
    return {sha: subject[:LONGEST_SUBJECT] for sha, _, subject in rows} if done.ok else {}
