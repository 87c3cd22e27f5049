"""Who comes after whom: told from the parents of few commits, which never change, else by a git that is asked once."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sisimpur.shared.model.errors import CommandFailed
from sisimpur.shared.repo.mirror_tree import commit_id
from sisimpur.shared.repo.objects import Parents, Repository
from sisimpur.shared.repo.remote import telling_line

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
