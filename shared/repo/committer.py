"""Door to commits. The only module that turns a folder which a box could write into a commit.

git never reads that folder: it is walked file by file, only what differs from the base goes to git as a stream, and the
difference that git then sees decides, before the attempt's reference is set, whether the commit may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sisimpur.shared.model.change import Change, ChangeLimits, needs_owner, refusal
from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Refused
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer_harvest import Harvest, harvest
from sisimpur.shared.repo.git import telling_line
from sisimpur.shared.repo.mirror import Mirror, attempt_name
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.outgoing import Outgoing


@dataclass(frozen=True)
class Committed:
    """A commit that stands in the mirror. `protected`: changed paths that need the owner's approval."""

    sha: str
    tree: str
    changed: tuple[str, ...]
    protected: tuple[str, ...] = ()


@dataclass(frozen=True)
class NothingChanged:
    """The folder holds exactly what the base holds."""


@dataclass(frozen=True)
class Author:
    name: str
    email: str

    def __post_init__(self) -> None:
        if not self.name.strip() or re.search(r"[<>\x00-\x1f\x7f]", self.name + self.email):
            raise Misconfigured(f"not an author of commits: {self.name!r} <{self.email}>; write a name and an address")


class Committer:
    """`protected`: the target's own patterns besides the built-in list."""

    def __init__(
        self,
        mirror: Mirror,
        outgoing: Outgoing,
        author: Author,
        protected: Sequence[str] = (),
        limits: ChangeLimits | None = None,
    ) -> None:
        self._mirror = mirror
        self._outgoing = outgoing
        self._author = author
        self._protected = protected
        self._limits = limits or ChangeLimits()

    def commit(
        self, folder: Path, *, base: str, ref: str, text: CommitText, scope: Scope, now: datetime
    ) -> Committed | NothingChanged:
        """The folder's files as a commit on top of `base`, at the attempt's `ref`, which must be free.

        Refused names file and limit; then no reference was set. Repeated after a kill, it answers with the commit
        that stands at `ref` if that has the same files.
        """
        files = self._mirror.tree(base)
        found = harvest(self._mirror.repository, folder, files, self._limits)
        if not found.altered and not found.missing:
            return NothingChanged()
        scratch = attempt_name(ref).replace("attempts", "scratch", 1)
        sha = self._import(scratch, base, text, now, found)
        changes = self._mirror.changed(base, sha)
        tracked = [entry.path for entry in files]
        if reason := refusal(changes, scope, self._limits, tracked) or self._secret(changes):
            self._mirror.repository.git("update-ref", "-d", scratch)
            raise Refused(self._outgoing.clean(reason))
        sha = self._stand(ref, scratch, sha)
        paths = tuple(change.path for change in changes)
        return Committed(sha, self._mirror.tree_id(sha), paths, needs_owner(changes, self._protected))

    def _import(self, scratch: str, base: str, text: CommitText, now: datetime, found: Harvest) -> str:
        """The commit as an object; no reference that anybody looks at holds it yet."""
        message = text.written(self._outgoing.clean).encode("utf-8", "replace")
        stream = b"".join(self._stream(scratch, base, message, now, found))
        repository = self._mirror.repository
        repository.git("fast-import", "--quiet", "--force", "--done", data=stream)  # a cut stream is an error
        fault_point("commit.import")
        return repository.one(f"{scratch}^{{commit}}")

    def _stream(self, scratch: str, base: str, message: bytes, now: datetime, found: Harvest) -> Iterator[bytes]:
        who = f"{self._author.name} <{self._author.email}> {int(now.timestamp())} +0000"
        yield f"commit {scratch}\ncommitter {who}\n".encode() + _data(message) + f"from {base}\n".encode()
        for path in found.missing:  # first: a file may have become a folder of the same name
            yield b"D " + _quoted(path) + b"\n"
        for file in found.altered:
            yield b"M %s inline %s\n" % (file.mode.encode(), _quoted(file.path)) + _data(file.data)
        yield b"done\n"

    def _secret(self, changes: Sequence[Change]) -> str | None:
        for change in changes:
            if change.kind == "deleted":
                continue
            if hits := self._outgoing.find(change.path):
                return f"a file's name holds a secret ({hits[0].name}); rename the file"
            if hits := self._outgoing.find_in_change("\n".join(text for _, text in change.added_lines)):
                number, hit = change.added_lines[hits[0].line - 1][0], hits[0]
                return f"{change.path}: line {number} holds a secret ({hit.name}); remove it{hit.how_to_allow}"
        return None

    def _stand(self, ref: str, scratch: str, sha: str) -> str:
        """Sets the attempt's reference if it is free, or adopts what stands there with the same files and base."""
        step = f"create {ref} {sha}\ndelete {scratch}\n".encode()
        done = self._mirror.repository.try_git("update-ref", "--stdin", data=step)
        fault_point("ref.update")
        if done.ok:
            return sha
        self._mirror.repository.git("update-ref", "-d", scratch)
        there = self._mirror.attempt(ref)
        if there is None:
            raise CommandFailed(f"git update-ref: {telling_line(done.complaint)}")
        if self._files_and_base(there) != self._files_and_base(sha):
            raise Refused(f"{ref} is at {there} already: it cannot take another commit")
        return there

    def _files_and_base(self, sha: str) -> tuple[str, str]:
        """The ids of its tree and of its parent."""
        return self._mirror.tree_id(sha), self._mirror.parent(sha)


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _quoted(path: str) -> bytes:
    """Quote a path as fast-import reads it, whatever it holds."""
    plain = (bytes([c]) if 32 <= c < 127 and c not in b'"\\' else b"\\%03o" % c for c in path.encode())
    return b'"' + b"".join(plain) + b'"'
