"""Door to what a repository of ours holds. The only module that keeps a git at hand, to ask it again and again.

One process answers all questions about objects; it is started by the first one, and sees what was fetched, imported or
packed since.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Refused, Unavailable
from sisimpur.shared.repo.git import ENVIRONMENT, LIMIT, MISSING, NOWHERE, SWITCHES, Remote, git, telling_line, try_git
from sisimpur.shared.system.process import Finished, KeptProgram

SECONDS = 60.0  # for one answer
LONG = 600.0  # seconds for all files of a commit
AS_IT_IS = "* -text -eol -crlf -ident -filter -working-tree-encoding\n"  # gitattributes(5): no rule for any file
MOST_BYTES = 48_000_000  # of answers that are remembered
MOST_KEPT = 20_000  # commits whose parents are remembered
LONGEST_COMMIT = 1_000_000  # bytes of one whose parents are read here
PARENTS = re.compile(rb"tree [0-9a-f]+\n((?:parent [0-9a-f]+\n)*)")
FOUND = re.compile(rb"([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)")


@dataclass(frozen=True)
class Found:
    """An object. `size` in bytes."""

    sha: str
    kind: str
    size: int


Told = TypeVar("Told")
Answer = tuple[Found | None, bytes]
Parents = Mapping[str, tuple[str, ...]]  # commit -> the commits that it was made on


class Unchanging:
    """Unchanging that never change, as each is about full ids: the newest ones, in so many bytes at most."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._kept: dict[tuple[str, ...], tuple[Any, int]] = {}  # in the order in which they were asked for last
        self._lock = Lock()

    def once(self, question: tuple[str, ...], ask: Callable[[], Told], size: Callable[[Told], int]) -> Told:
        """Two that ask at the same time may both ask git; size in bytes."""
        with self._lock:
            kept = self._kept.pop(question, None)
            if kept:
                self._kept[question] = kept
                told: Told = kept[0]
                return told
        told = ask()
        with self._lock:
            self._forget(question)
            self._kept[question] = (told, size(told))
            self._bytes += self._kept[question][1]
            while self._bytes > self._most:
                self._forget(next(iter(self._kept)))
        return told

    def _forget(self, question: tuple[str, ...]) -> None:
        self._bytes -= self._kept.pop(question, (None, 0))[1]


class Repository:
    """A bare repository of our own. `close` ends the git that is kept; the next question starts another.

    Names are those of git's manual (gitrevisions), checked by the caller. CommandFailed: no answer, or none in time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._git: KeptProgram | None = None
        self.answers = Unchanging()
        self._parents: dict[str, tuple[str, ...]] = {}

    def find(self, names: Iterable[str]) -> list[Found | None]:
        """Find what stands under each name; None: nothing."""
        return [found for found, _ in self._asked("info", names)]

    def commit(self, name: str) -> str | None:
        """The commit under a name; None: there is none, or no repository yet."""
        try:
            (found,) = self.find([f"{name}^{{commit}}"])
        except CommandFailed:  # what is there cannot be read: a power cut leaves such objects
            return None
        return found.sha if found else None

    def one(self, name: str) -> str:
        """The id of what stands under a name. CommandFailed if nothing does."""
        (found,) = self.find([name])
        if found is None:
            raise CommandFailed(f"git cat-file: there is no {name[:200]}")
        return found.sha

    def read(self, name: str, limit: int) -> bytes | None:
        """The bytes of a file; None: there is no such file. Refused beyond `limit` bytes: then they are not read."""
        (found,) = self.find([name])
        if found is None or found.kind != "blob":
            return None
        if found.size > limit:
            raise Refused(f"{name.partition(':')[2]}: {found.size} bytes (limit {limit})")
        (data,) = self.contents([found.sha])
        return data

    def contents(self, names: Iterable[str]) -> list[bytes]:
        """The bytes of each object. CommandFailed if one is not here."""
        wanted = list(names)
        answers = self._asked("contents", wanted)
        if missing := [name for name, (found, _) in zip(wanted, answers, strict=True) if found is None]:
            raise CommandFailed(f"git cat-file: there is no {missing[0][:200]}")
        return [data for _, data in answers]

    def parents(self, commits: Iterable[str]) -> Parents:
        """The parents of each full id; what is not here, or no commit of usual size, is left out. They never change."""
        wanted = set(commits)
        new = sorted(wanted - self._parents.keys())
        if new:
            fit = [
                found.sha
                for found in self.find(new)
                if found and found.kind == "commit" and found.size <= LONGEST_COMMIT
            ]
            if len(self._parents) > MOST_KEPT:
                self._parents.clear()
            heads = zip(fit, map(PARENTS.match, self.contents(fit)), strict=True)
            self._parents.update((sha, tuple(head[1].decode().split()[1::2])) for sha, head in heads if head)
        return {sha: self._parents[sha] for sha in wanted if sha in self._parents}

    def git(self, *arguments: str, data: bytes | None = None, timeout: float = 60, limit: int = LIMIT) -> bytes:
        """What git prints here, whole, or CommandFailed."""
        done = self.try_git(*arguments, data=data, timeout=timeout, limit=limit)
        if done.code:
            raise CommandFailed(f"git {arguments[0]}: {telling_line(done.complaint)}")
        return done.output

    def try_git(
        self,
        *arguments: str,
        data: bytes | None = None,
        timeout: float = 60,
        limit: int = LIMIT,
        remote: Remote | None = None,
    ) -> Finished:
        """As git(), but a bad exit code is an answer. Only with `remote` it may speak to another repository."""
        return try_git(self.path, *arguments, data=data, timeout=timeout, limit=limit, remote=remote)

    def write_out(self, files: Iterable[tuple[str, str, str]], folder: Path) -> None:
        """Write (mode, blob, path) below a folder as plain files with their exact bytes.

        git writes them for a repository of its own, which borrows our objects and whose attributes undo all others.
        """
        told = "".join(f"{mode} {blob}\t{path}\0" for mode, blob, path in files).encode()
        with tempfile.TemporaryDirectory(prefix=".git-", dir=folder.parent) as name:
            place, prefix = Path(name), f"--prefix={folder.absolute()}/"
            (place / "refs").mkdir()
            (place / "info").mkdir()
            (place / "info/attributes").write_text(AS_IT_IS, "ascii")
            (place / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
            (place / "objects").symlink_to(self.path.resolve() / "objects")
            git(place, "update-index", "-z", "--index-info", data=told)
            git(place, "checkout-index", "--all", "--force", "--quiet", prefix, timeout=LONG)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _asked(self, what: str, names: Iterable[str]) -> list[Answer]:
        """One that has died since it was asked last is followed by another, once."""
        wanted = list(names)
        if any("\n" in name or "\0" in name for name in wanted):
            raise Refused("not the name of an object: it holds a line break or a NUL byte")
        with self._lock:
            for is_last in (self._git is None, True):
                try:
                    return self._answers(what, wanted)
                except CommandFailed as problem:
                    if is_last:
                        raise CommandFailed(f"git cat-file: {telling_line(str(problem))}") from None
        raise AssertionError("the last one answers or raises")

    def _answers(self, what: str, names: Sequence[str]) -> list[Answer]:
        """All are asked before the first answer is waited for."""
        try:
            git = self._git = self._git or self._started()
            git.tell("".join(f"{what} {name}\0" for name in names).encode())
            return [_answer(git, what) for _ in names]
        except BaseException:  # what it says next would be taken for the answer to another question
            self._close()
            raise

    def _started(self) -> KeptProgram:
        argv = ("git", *SWITCHES, f"--git-dir={self.path}", "cat-file", "--batch-command", "-z")
        try:
            return KeptProgram(argv, env=ENVIRONMENT | NOWHERE)
        except Unavailable:
            raise Misconfigured(MISSING) from None

    def _close(self) -> None:
        if self._git:
            self._git.close()
            self._git = None


def _answer(git: KeptProgram, what: str) -> Answer:
    line = git.line(SECONDS)
    found = FOUND.fullmatch(line)
    if found is None:
        if line.endswith((b" missing", b" ambiguous")):
            return None, b""
        raise CommandFailed(line.decode("utf-8", "replace"))
    size = int(found[3])
    data = git.take(size + 1, SECONDS)[:-1] if what == "contents" else b""
    return Found(found[1].decode(), found[2].decode(), size), data
