"""The local forge's repository: how it is made, how it follows the owner's, and its merges, without a work tree.

Every failure is an error of the forge. Names of branches arrive unchecked: git sees them as full references only.
"""

from __future__ import annotations

import fcntl
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from sisimpur.shared.forge.forge import ForgeRefused, PullNotReady
from sisimpur.shared.forge.local_forge_book import LocalForgeRepository, readable_uri
from sisimpur.shared.model.errors import CommandFailed, ForgeUnavailable
from sisimpur.shared.repo.git import Remote, git, remove_stale_locks
from sisimpur.shared.repo.mirror import NO_BRANCH, Mirror
from sisimpur.shared.repo.mirror_commits import is_ancestor
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import remove_half_written, write_text
from sisimpur.shared.system.process import Finished

LOCK = "forge.lock"
ACTOR = "sisimpur"
CONFIGURATION = """\
[core]
	fsync = all
[gc]
	auto = 0
[receive]
	autogc = false
"""  # holds also for what others push
MAX_DIFF = 20_000_000  # bytes
LAST_SECOND = 253_402_300_799  # of the year 9999: a commit may claim to be later
NOTHING = "0" * 40  # git's word for a reference that is not there


@dataclass(frozen=True)
class Commits:
    """The commits of one bare repository. `close` ends the git that is kept to read them."""

    repository: Path
    opens: type[Repository] = Repository

    @cached_property
    def objects(self) -> Repository:
        """Answer from the git that is kept."""
        return self.opens(self.repository)

    def close(self) -> None:
        self.objects.close()

    # -- reading ----------------------------------------------------------------------------------------------

    def branches(self) -> dict[str, str]:
        """Every branch with its commit, in one call."""
        lines = self._text("for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/").splitlines()
        return {name: sha for sha, name in (line.split(" ", 1) for line in lines)}

    def heads(self, names: Iterable[str]) -> dict[str, str]:
        """Those of these branches that are there, with their commits, in one question to the git that is kept."""
        wanted = [name for name in dict.fromkeys(names) if not NO_BRANCH.search(name)]
        found = self._find(f"refs/heads/{name}" for name in wanted)
        return {name: sha for name, sha in zip(wanted, found, strict=True) if sha}

    def followed(self, branch: str) -> tuple[str | None, str | None, str | None]:
        """(our commit of a branch, the owner's that we took in last, theirs that was fetched last); None: none yet."""
        ours, taken, theirs = self._find((f"refs/heads/{branch}", _taken(branch), f"refs/remotes/origin/{branch}"))
        return ours, taken, theirs

    def _find(self, names: Iterable[str]) -> list[str | None]:
        try:
            return [found.sha if found else None for found in self.objects.find(names)]
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None

    def default_branch(self) -> str:
        return self._text("symbolic-ref", "HEAD").strip().removeprefix("refs/heads/")

    def is_default(self, branch: str) -> bool:
        """Whether it is the default branch. What stands elsewhere than HEAD is not, and costs no process."""
        head, there = self._find(("HEAD", f"refs/heads/{branch}"))
        return head == there and branch == self.default_branch()

    def has(self, sha: str) -> bool:
        """Tell whether this full name is one of our commits."""
        plain = len(sha) == 40 and set(sha) <= set("0123456789abcdef")
        return plain and self.objects.commit(sha) is not None

    def contains(self, later: str, earlier: str) -> bool:
        """Tell whether `earlier` is part of `later`'s history; one that `git gc` took is part of nothing."""
        try:
            return self.has(earlier) and is_ancestor(self.objects, earlier, later)
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None

    def are_related(self, one: str, other: str) -> bool:
        return self._answer("merge-base", one, other)

    def tree_of(self, sha: str) -> str:
        try:
            return self.objects.one(f"{sha}^{{tree}}")
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None

    def diff(self, base: str, head: str) -> str:
        """Patch from where they parted to `head`."""
        how = ("--no-color", "--no-ext-diff", "--no-textconv")
        try:
            done = self.objects.try_git("diff", *how, f"{base}...{head}", limit=MAX_DIFF)
        except CommandFailed as error:
            raise ForgeRefused(f"the diff cannot be shown: {error}") from None
        return _must("diff", done).output.decode("utf-8", "replace")

    # -- merging ----------------------------------------------------------------------------------------------

    def merged_tree(self, base: str, head: str) -> str:
        """The tree of both together, or PullNotReady naming the files."""
        done = self._try("merge-tree", "--write-tree", "--name-only", "--no-messages", base, head)
        tree, *files = done.text.splitlines() or [""]
        if done.code == 1:
            raise PullNotReady(f"conflicts in {', '.join(sorted(set(files)))[:200]}", "conflict")
        _must("merge-tree", done)
        return tree

    def write(self, tree: str, parents: Sequence[str], message: str, who: str, at: datetime) -> str:
        """A commit that no branch shows yet. The same words give the same commit."""
        signed = f"{who} <{who}@localhost> {int(at.timestamp())} {at.strftime('%z') or '+0000'}"
        lines = [f"tree {tree}", *(f"parent {p}" for p in parents), f"author {signed}", f"committer {signed}"]
        text = "\n".join([*lines, "", message, ""])
        return self._text("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode()).strip()

    def move(
        self, branch: str, target: str, expected: str | None, beside: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Compare and swap: only from `expected` (None: nowhere), else ForgeUnavailable.

        `beside`: references, and the commits at which they stand in the same step.
        """
        moves = [f"update refs/heads/{branch}", target, expected or NOTHING]
        moves += [word for name, sha in beside.items() for word in (f"update {name}", sha, "")]
        done = self._try("update-ref", "-z", "--stdin", data="\0".join([*moves, ""]).encode())
        if done.code:
            raise ForgeUnavailable(f"{branch} has moved meanwhile, or cannot be moved: {done.complaint[:300]}")

    def merge(self, ours: str, theirs: str, message: str, who: str) -> str:
        """A commit that holds both, or PullNotReady. Its date is the later one of theirs, so it is always the same."""
        tree = self.merged_tree(ours, theirs)
        dates = self._text("show", "--no-patch", "--format=%ct", ours, theirs).split()
        seconds = max((int(date) for date in dates if date.isdigit()), default=0)
        at = datetime.fromtimestamp(min(seconds, LAST_SECOND), UTC)
        return self.write(tree, [ours, theirs], message, who, at)

    def delete(self, branch: str) -> None:
        _must("update-ref", self._try("update-ref", "-d", f"refs/heads/{branch}"))

    def keep(self, number: int, sha: str) -> None:
        """A pull request's commit outlives its branch."""
        name = kept(number)
        if self._find([name]) != [sha]:
            _must("update-ref", self._try("update-ref", name, sha))

    def _text(self, *arguments: str, data: bytes | None = None) -> str:
        return _must(arguments[0], self._try(*arguments, data=data)).text

    def _answer(self, *arguments: str) -> bool:
        """0 is yes, 1 is no."""
        done = self._try(*arguments)
        return done.code == 0 if done.code == 1 else _must(arguments[0], done).ok

    def _try(self, *arguments: str, data: bytes | None = None) -> Finished:
        try:
            return self.objects.try_git(*arguments, data=data)
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None


def kept(number: int) -> str:
    """The reference of a pull request's commit."""
    return f"refs/pull/{number}/head"


def _taken(branch: str) -> str:
    """The reference of the owner's commit that was taken in last."""
    return f"refs/taken/{branch}"


def _must(what: str, done: Finished) -> Finished:
    if done.code:
        raise ForgeUnavailable(f"git {what}: {done.complaint[:300]}")
    return done


def create(path: Path, source: Path | None, branch: str, opens: type[Repository] = Repository) -> None:
    """A forge at `path`: empty with `branch` as its default, or seeded with that branch of the repository `source`.

    May be repeated: what exists stays, also after a kill half way. CommandFailed or Misconfigured if git cannot.
    """
    path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        remove_stale_locks(path, keep=LOCK)
        remove_half_written(path)
        if not ((path / "HEAD").exists() and CONFIGURATION in _settings(path)):
            opens(path).git("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}")
            write_text(path / "config", f"{_settings(path).replace(CONFIGURATION, '')}{CONFIGURATION}")
        fault_point("forge.made")
        if source and branch not in Commits(path, opens).branches():
            refs = f"refs/heads/{branch}:refs/heads/{branch}"
            git(path, "fetch", "--quiet", "--no-tags", str(source), refs, timeout=600, remote=Remote(str(source)))
        fault_point("forge.seeded")
        LocalForgeRepository(path / "forge.db", readable_uri(path))


def _settings(path: Path) -> str:
    """The configuration of the repository there, for git to read; empty: there is none."""
    settings = path / "config"
    return settings.read_text("utf-8") if settings.exists() else ""


def follow(commits: Commits, source: Remote, branch: str) -> str:
    """Brings in what the owner committed to `branch` of his repository; what was merged here stays -> its commit.

    If both went on, a merge commit holds both: his next pull from here is a fast-forward. If he rewrote what we had
    from him, we follow as long as nothing was merged on top of it. PullNotReady, and nothing has moved: both changed
    the same lines, or he rewrote what something was merged on top of.
    """
    with locked(commits.repository):
        Mirror(commits.repository, source, lambda _: commits.objects).bring(branch)
        ours, taken, theirs = commits.followed(branch)
        if theirs is None:
            raise ForgeUnavailable(f"{branch} of {source.url} did not arrive")
        try:
            target = _with_theirs(commits, branch, ours, theirs, taken)
        except PullNotReady as error:
            raise PullNotReady(
                f"{branch} of {source.url} and what was merged here do not go together: {error}; in your repository "
                f"type: git pull --no-rebase {_place(commits, branch)}; resolve, commit, and push if it is a clone",
                "conflict",
            ) from None
        fault_point("follow.written")
        if (ours, taken) != (target, theirs):
            commits.move(branch, target, ours, {_taken(branch): theirs})
        fault_point("forge.followed")
        return target


def _with_theirs(commits: Commits, branch: str, ours: str | None, theirs: str, taken: str | None) -> str:
    """Return where the branch goes, or PullNotReady. `taken`: what we last had from the owner."""
    if ours is None or ours == taken or commits.contains(theirs, ours):  # nothing was merged here that he lacks
        return theirs
    if not commits.contains(theirs, taken) if taken else not commits.are_related(ours, theirs):
        way = f"git push --force {_place(commits, branch)}"
        raise PullNotReady(
            f"commits were taken back there that ours are on top of (to drop ours, type there: {way})", "conflict"
        )
    if commits.contains(ours, theirs):
        return ours
    return commits.merge(ours, theirs, f"Merge the owner's {branch}", ACTOR)


def _place(commits: Commits, branch: str) -> str:
    return f"{shlex.quote(str(commits.repository))} {shlex.quote(branch)}"


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """One at a time over all processes and threads; without `wait`: whether it is ours. Not to be nested."""
    with open(path / LOCK, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
