"""Door to the submodules of the target: each has a mirror of its own, which is only read.

An address in .gitmodules is the repository's word, not the owner's: it may lead to the target's own host alone, or, for
a target on this machine, to what lies beside it. The token of that host goes nowhere else. What is fetched is seen
through git's alternates, so a check-out can hold the files; the commit itself names a submodule as it always did.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from sisimpur.shared.model.change import SUBMODULE
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.git import WHERE, Remote, explain, telling_line
from sisimpur.shared.repo.mirror_tree import TreeEntry, commit_id, tree
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.paths import write_text

MODULES = ".gitmodules"
LONG = 600.0  # seconds for one fetch
MOST = 50  # of a repository; what is beyond is left alone
EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True)
class Submodule:
    """`commit`: which is wanted of it; `why`: it is not asked for its files; empty: it may be."""

    path: str
    commit: str
    url: str = ""
    why: str = ""


def submodules(repository: Repository, entries: Sequence[TreeEntry], commit: str, remote: Remote) -> list[Submodule]:
    """Those of a commit, with where they lie. Asks nobody."""
    links = [entry for entry in entries if entry.mode == SUBMODULE]
    urls = _urls(repository, commit) if links else {}
    return [
        _judged(Submodule(link.path, link.blob, urls.get(link.path, "")), remote, number)
        for number, link in enumerate(links)
    ]


def _urls(repository: Repository, commit: str) -> Mapping[str, str]:
    """Path -> address, as .gitmodules has them."""
    done = repository.try_git("config", "--blob", f"{commit_id(commit)}:{MODULES}", "--list", "-z")
    found: dict[str, dict[str, str]] = {}
    for row in done.text.split("\0") if not done.code else ():
        key, _, value = row.partition("\n")
        section, _, name = key.rpartition(".")
        if section.startswith("submodule."):
            found.setdefault(section, {})[name] = value
    return {one["path"].rstrip("/"): one["url"] for one in found.values() if one.keys() >= {"path", "url"}}


def _judged(one: Submodule, remote: Remote, number: int) -> Submodule:
    shown = one_line(one.url, 100)
    if number >= MOST:
        return replace(one, why=f"there are more than {MOST}")
    if not one.url:
        return replace(one, why=f"{MODULES} does not say where it lies")
    try:
        url = absolute(one.url, remote)
        is_ours = beside(url, remote)
        Remote(url)
    except (Misconfigured, ValueError):
        return replace(one, why=f"its address is none that is asked: {shown}")
    if not is_ours:
        return replace(one, why=f"it lies elsewhere than the target, and is not asked: {shown}")
    return replace(one, url=url)


def absolute(url: str, remote: Remote) -> str:
    """Where a relative address leads, as git reads it: from the target's own."""
    if not url.startswith(("./", "../")):
        return url
    parts = urlsplit(remote.url)
    return parts._replace(path=posixpath.normpath(posixpath.join(parts.path.rstrip("/"), url))).geturl()


def beside(url: str, remote: Remote) -> bool:
    """Whether it lies at the target's own host; on this machine: in the folder that holds the target, or below."""
    if remote.is_local:
        return url.startswith("/") and Path(os.path.realpath(url)).is_relative_to(Path(remote.url).resolve().parent)
    there = urlsplit(url)
    return f"{there.scheme}://{there.netloc}" == remote.origin


# --- fetching ------------------------------------------------------------------------------------------------


def bring(repository: Repository, found: Sequence[Submodule], remote: Remote) -> Iterator[tuple[str, str]]:
    """Fetch what is not here yet. (path, why) of each that cannot be had now; the others work on."""
    for one in found:
        if one.why or is_here(repository, one.commit):
            continue
        try:
            own = _mirror_of(repository, one)
            _fetch(own, Remote(one.url, remote.token))
            _show(repository, own)
        except (TeamError, OSError) as problem:
            yield one.path, one_line(str(problem).replace(f"`repo:` in {WHERE}", MODULES), 200)


def is_here(repository: Repository, commit: str) -> bool:
    return repository.commit(commit_id(commit)) is not None


def _mirror_of(repository: Repository, one: Submodule) -> Repository:
    """Beside the target's own mirror, by its address."""
    folder = repository.path.parent / "submodules"
    folder.mkdir(parents=True, exist_ok=True)
    own = Repository(folder / f"{sha256(one.url.encode()).hexdigest()[:16]}.git")
    if not (own.path / "HEAD").exists():
        own.git("init", "--quiet", "--bare", "--template=", "--initial-branch=none")
    return own


def _fetch(own: Repository, remote: Remote) -> None:
    options = ("--no-recurse-submodules", "--no-auto-gc", "--no-write-fetch-head", "--quiet", "--prune")
    done = own.try_git("fetch", *options, "--", remote.url, *EVERYTHING, timeout=LONG, remote=remote)
    own.close()
    if done.code:
        raise explain(done.complaint, remote) or Misconfigured(telling_line(done.complaint))


def _show(repository: Repository, own: Repository) -> None:
    """Let the target's mirror read the objects of this one."""
    listed = repository.path / "objects" / "info" / "alternates"
    known = listed.read_text("utf-8").splitlines() if listed.exists() else []
    line = os.path.relpath(own.path / "objects", repository.path / "objects")  # a home may be moved
    if line not in known:
        listed.parent.mkdir(exist_ok=True)
        write_text(listed, "".join(f"{one}\n" for one in (*known, line)))
        repository.close()  # the git that is kept has read the list


# --- a check-out ---------------------------------------------------------------------------------------------


def with_submodules(repository: Repository, entries: Sequence[TreeEntry]) -> Sequence[TreeEntry]:
    """The files of a commit, and those of its submodules that are here; what is nested deeper stays a submodule."""
    if not any(entry.mode == SUBMODULE and is_here(repository, entry.blob) for entry in entries):
        return entries
    return [one for entry in entries for one in _files(repository, entry)]


def _files(repository: Repository, entry: TreeEntry) -> Iterator[TreeEntry]:
    if entry.mode != SUBMODULE or not is_here(repository, entry.blob):
        yield entry
        return
    for one in tree(repository, entry.blob):
        yield replace(one, path=f"{entry.path}/{one.path}")
