"""Door to the local forge's commits. The only module that merges, without a work tree, in a bare repository.

Every failure is an error of the forge door. Names of branches arrive unchecked: git sees them as full references only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from shared.forge.forge import ForgeRefused, ForgeUnavailable, MergeConflict
from shared.model.errors import CommandFailed
from shared.repo.objects import Repository
from shared.system.process import Finished

MAX_DIFF = 20_000_000  # bytes
LAST_SECOND = 253_402_300_799  # of the year 9999: a commit may claim to be later
NOTHING = "0" * 40  # git's word for a reference that is not there


@dataclass(frozen=True)
class Commits:
    """The commits of one bare repository. `close` ends the git that is kept to read them."""

    repository: Path
    opens: type[Repository] = Repository

    @cached_property
    def _objects(self) -> Repository:
        return self.opens(self.repository)

    def close(self) -> None:
        self._objects.close()

    # -- reading ----------------------------------------------------------------------------------------------

    def branches(self) -> dict[str, str]:
        """Every branch with its commit, in one call."""
        return {name.removeprefix("refs/heads/"): sha for name, sha in self._references("refs/heads/").items()}

    def followed(self, branch: str) -> tuple[str | None, str | None, str | None]:
        """(our commit of a branch, the owner's that we took in last, theirs that was fetched last); None: none yet."""
        names = (f"refs/heads/{branch}", _taken(branch), f"refs/remotes/origin/{branch}")
        found = self._references(*names)
        ours, taken, theirs = map(found.get, names)
        return ours, taken, theirs

    def _references(self, *names: str) -> dict[str, str]:
        lines = self._text("for-each-ref", "--format=%(objectname) %(refname)", *names).splitlines()
        return {name: sha for sha, name in (line.split(" ", 1) for line in lines)}

    def default_branch(self) -> str:
        return self._text("symbolic-ref", "HEAD").strip().removeprefix("refs/heads/")

    def has(self, sha: str) -> bool:
        """Whether this full name is one of our commits."""
        plain = len(sha) == 40 and set(sha) <= set("0123456789abcdef")
        return plain and self._objects.commit(sha) is not None

    def contains(self, later: str, earlier: str) -> bool:
        """Whether `earlier` is part of `later`'s history; one that `git gc` took is part of nothing."""
        return self.has(earlier) and self._answer("merge-base", "--is-ancestor", earlier, later)

    def are_related(self, one: str, other: str) -> bool:
        return self._answer("merge-base", one, other)

    def tree_of(self, sha: str) -> str:
        try:
            return self._objects.one(f"{sha}^{{tree}}")
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None

    def diff(self, base: str, head: str) -> str:
        """From where they parted to `head`."""
        how = ("--no-color", "--no-ext-diff", "--no-textconv")
        try:
            done = self._objects.try_git("diff", *how, f"{base}...{head}", limit=MAX_DIFF)
        except CommandFailed as error:
            raise ForgeRefused(f"the diff cannot be shown: {error}") from None
        return _must("diff", done).output.decode("utf-8", "replace")

    # -- merging ----------------------------------------------------------------------------------------------

    def merged_tree(self, base: str, head: str) -> str:
        """The tree of both together, or MergeConflict naming the files."""
        done = self._try("merge-tree", "--write-tree", "--name-only", "--no-messages", base, head)
        tree, *files = done.text.splitlines() or [""]
        if done.code == 1:
            raise MergeConflict(f"conflicts in {', '.join(sorted(set(files)))[:200]}")
        _must("merge-tree", done)
        return tree

    def write(self, tree: str, parents: Sequence[str], message: str, who: str, at: datetime) -> str:
        """A commit that no branch shows yet. The same words give the same commit."""
        signed = f"{who} <{who}@localhost> {int(at.timestamp())} {at.strftime('%z') or '+0000'}"
        lines = [f"tree {tree}", *(f"parent {p}" for p in parents), f"author {signed}", f"committer {signed}"]
        text = "\n".join([*lines, "", message, ""])
        return self._text("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode()).strip()

    def move(self, branch: str, target: str, expected: str) -> None:
        """Compare and swap: only from `expected`, else ForgeUnavailable."""
        done = self._try("update-ref", f"refs/heads/{branch}", target, expected)
        if done.code:
            raise ForgeUnavailable(f"{branch} has moved meanwhile, or cannot be moved: {done.complaint[:300]}")

    def merge(self, ours: str, theirs: str, message: str, who: str) -> str:
        """A commit that holds both, or MergeConflict. Its date is the later one of theirs, so it is always the same."""
        tree = self.merged_tree(ours, theirs)
        dates = self._text("show", "--no-patch", "--format=%ct", ours, theirs).split()
        seconds = max((int(date) for date in dates if date.isdigit()), default=0)
        at = datetime.fromtimestamp(min(seconds, LAST_SECOND), UTC)
        return self.write(tree, [ours, theirs], message, who, at)

    def take(self, branch: str, target: str, expected: str | None, theirs: str) -> None:
        """As move(), and notes in one step that the owner's commit `theirs` was taken in."""
        moves = [f"update refs/heads/{branch}", target, expected or NOTHING, f"update {_taken(branch)}", theirs, "", ""]
        done = self._try("update-ref", "-z", "--stdin", data="\0".join(moves).encode())
        if done.code:
            raise ForgeUnavailable(f"{branch} has moved meanwhile, or cannot be moved: {done.complaint[:300]}")

    def delete(self, branch: str) -> None:
        _must("update-ref", self._try("update-ref", "-d", f"refs/heads/{branch}"))

    def keep(self, number: int, sha: str) -> None:
        """A pull request's commit outlives its branch."""
        _must("update-ref", self._try("update-ref", f"refs/pull/{number}/head", sha))

    # -- parts ------------------------------------------------------------------------------------------------

    def _text(self, *arguments: str, data: bytes | None = None) -> str:
        return _must(arguments[0], self._try(*arguments, data=data)).text

    def _answer(self, *arguments: str) -> bool:
        """0 is yes, 1 is no."""
        done = self._try(*arguments)
        return done.code == 0 if done.code == 1 else _must(arguments[0], done).ok

    def _try(self, *arguments: str, data: bytes | None = None) -> Finished:
        try:
            return self._objects.try_git(*arguments, data=data)
        except CommandFailed as error:
            raise ForgeUnavailable(f"{self.repository}: {error}") from None


def _taken(branch: str) -> str:
    return f"refs/taken/{branch}"


def _must(what: str, done: Finished) -> Finished:
    if done.code:
        raise ForgeUnavailable(f"git {what}: {done.complaint[:300]}")
    return done
