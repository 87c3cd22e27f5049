"""Door to our copy of the target. The only module that fetches from and pushes to the forge's git.

A bare repository that no box can reach. Every reference is written with its full name; a branch of the target stands
at refs/remotes/origin/<branch>, an attempt's commit at refs/attempts/<task>.a<n>.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sisimpur.shared.model.change import SUBMODULE, Change, ChangeLimits
from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Refused, TeamError
from sisimpur.shared.model.naming import is_agent_branch
from sisimpur.shared.repo import mirror_commits, mirror_tree, submodules
from sisimpur.shared.repo.differences import changed, diff
from sisimpur.shared.repo.git import LIMIT, WHERE, Remote, explain, remove_stale_locks, telling_line, try_git
from sisimpur.shared.repo.mirror_commits import MOST_COMMITS, AlreadyThere, Conflict, Rebased, is_ancestor
from sisimpur.shared.repo.mirror_tree import TreeEntry, commit_id, forget, pack
from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.process import Finished

LONG = 600.0  # seconds for what goes over the network
NO_BRANCH = re.compile(r"[\s~^:?*\[\\\x00-\x20\x7f]|\.\.|@\{|//|/\.|\.lock(/|$)|[./]$|^[-+./]|^refs/|^$")
LONGEST_BRANCH = 200
LONGEST_LINE = 300  # characters of a line that was searched for


@dataclass(frozen=True)
class Match:
    """A line of a file that holds what was searched for."""

    path: str
    line: int
    text: str


class Mirror:
    """`path`: the bare repository, by convention `<target>.git`; its parent folder is created too.

    `opens`: who answers for it; another one may keep it elsewhere than on the disk.
    """

    def __init__(self, path: Path, remote: Remote, opens: Callable[[Path], Repository] = Repository) -> None:
        self.path = path
        self.remote = remote
        self.repository = opens(path)
        self._lacking: dict[str, str] = {}  # submodules that could not be fetched -> why

    def close(self) -> None:
        """End the git that is kept; whoever asks on starts another."""
        self.repository.close()

    def create(self) -> None:
        """Ready to use; what is there stays, but for what a kill or a power cut left half done. Call it at start."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        remove_stale_locks(self.path)
        listed = ("for-each-ref", "--format=delete %(refname)", "refs/scratch/")
        done = self.repository.try_git(*listed)
        half_done = done.output
        if done.code:  # there is no repository yet, or not all of one; what stays broken is told
            self.repository.git("init", "--quiet", "--bare", "--template=", "--initial-branch=none")
            half_done = b"" if is_new else self.repository.git(*listed)
        if half_done:
            self.repository.git("update-ref", "--stdin", data=half_done)

    @classmethod
    def at(cls, path: Path) -> Mirror:
        """Open one to read it: nothing is fetched or pushed through it."""
        return cls(path, Remote(str(path)))

    # --- branches of the target ------------------------------------------------------------------------------

    def fetch(self, branch: str) -> str:
        """The branch's newest commit, which is now here. Misconfigured, Unavailable: the text says what to type."""
        self.bring(branch)
        sha = self.head(branch)
        if sha is None:
            raise CommandFailed(f"git fetch: {branch} did not arrive")
        return sha

    def bring(self, branch: str) -> None:
        """Fetch, for one who asks afterwards where the branch is."""
        name = _branch(branch)
        options = ("--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--no-write-fetch-head", "--quiet")
        spec = f"+{name}:{_tracking(branch)}"
        done = self.repository.try_git("fetch", *options, "--", self.remote.url, spec, timeout=LONG, remote=self.remote)
        if done.code:
            raise self._cannot_fetch(branch, done)
        if "shallow roots are not allowed" in done.complaint:  # git ends well, and the branch stays where it was
            raise Misconfigured(f"{self.remote.url} holds only the newest commits; type in it: git fetch --unshallow")
        if sha := self.head(branch):
            self._bring_submodules(sha)

    def _bring_submodules(self, sha: str) -> None:
        """What cannot be had now is left alone, and asked for again with the next fetch."""
        with suppress(TeamError):  # a tree that nobody here can read is refused where it is laid out
            (written,) = self.repository.find([f"{sha}:{submodules.MODULES}"])
            tree = self.tree(sha) if written else ()  # most targets have none: no further process
            found = submodules.submodules(self.repository, tree, sha, self.remote)
            self._lacking = dict(submodules.bring(self.repository, found, self.remote))

    def head(self, branch: str) -> str | None:
        """The commit that the last fetch saw; None: never fetched."""
        return self.repository.commit(_tracking(branch))

    def remote_head(self, branch: str) -> str | None:
        """The commit that the branch is at in the forge, asked now; None: there is no such branch."""
        return self._remote_branches(_branch(branch)).get(branch)

    def push(self, sha: str, branch: str, expected: str | None = None) -> None:
        """Moves the forge's branch from `expected` (None: it must not exist) to `sha`; there already: done.

        Refused if somebody else was faster, or the forge does not take it. Only branches of ours.
        """
        if not is_agent_branch(branch):
            raise Refused(f"{branch}: not a branch of ours; nothing was pushed")
        name = _branch(branch)
        lease = f"--force-with-lease={name}:{commit_id(expected) if expected else ''}"
        argv = ("push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", lease)
        spec = f"{commit_id(sha)}:{name}"
        done = self.repository.try_git(*argv, "--", self.remote.url, spec, timeout=LONG, remote=self.remote)
        fault_point("push.sent")
        if done.code:
            self._look_after_failed_push(sha, branch, expected, done)
        fault_point("push.ack")

    # --- attempts --------------------------------------------------------------------------------------------

    def attempt(self, ref: str) -> str | None:
        """The commit at `refs/attempts/<task>.a<n>`, or None."""
        return self.repository.commit(attempt_name(ref))

    def restore(self, ref: str, sha: str) -> bool:
        """Sets an attempt's reference to the sha that was booked, after a power cut; False: the commit is lost."""
        if self.repository.commit(commit_id(sha)) is None:
            return False
        self.repository.git("update-ref", attempt_name(ref), sha)
        fault_point("ref.update")
        return True

    def parent(self, sha: str) -> str:
        """The commit that an attempt was made from."""
        return self.repository.one(f"{commit_id(sha)}^")

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell if `newer`'s history holds `older`; a commit is its own ancestor. CommandFailed if one is not here."""
        return is_ancestor(self.repository, older, newer)

    def tidy(self, is_over: Callable[[str], bool], now: datetime) -> Iterator[str]:
        """Once a day: forgets the attempts of tasks (by id) that are over, and packs what lies scattered."""
        yield from forget(self.repository, is_over)
        yield from pack(self.repository, now)
        self.repository.close()  # it would hold on to packs that are gone

    # --- a new base ------------------------------------------------------------------------------------------

    def rebased(self, commit: str, onto: str, ref: str, now: datetime) -> Rebased | Conflict | AlreadyThere:
        """The same change by the same people, dated `now`, on top of `onto`, at the attempt's free `ref`.

        On top of it already: the same commit. Repeated after a kill, it answers with the commit that stands at `ref`
        if that has the same files and parent, else Refused. The new files are untested, whatever the old ones were.
        """
        return mirror_commits.rebased(self.repository, commit, onto, attempt_name(ref), now)

    def start_for(self, commit: str, onto: str) -> str | None:
        """The commit whose files a correction starts from: the change on top of `onto`; None: they conflict.

        `onto` itself if the change is there already. No reference holds it: it is for a check-out now.
        """
        made = mirror_commits.on_top(self.repository, commit, onto)
        if isinstance(made, Conflict):
            return None
        return made.sha if isinstance(made, Rebased) else onto

    # --- a branch and the one that it comes from -------------------------------------------------------------

    def joined(self, ours: str, theirs: str, who: str, text: str, now: datetime) -> str | Conflict:
        """A commit with both as parents, and the files of both; no reference holds it: it is pushed at once."""
        return mirror_commits.joined(self.repository, ours, theirs, mirror_commits.Signed(who, text, now))

    def gathered(self, branch: str, onto: str, ref: str, who: str, text: str, now: datetime) -> Rebased | AlreadyThere:
        """The files of `branch`, whose history holds `onto`, as one commit on top of that, at the free `ref`.

        Refused if it does not hold it: something of `onto` would be undone.
        """
        signed = mirror_commits.Signed(who, text, now)
        return mirror_commits.gathered(self.repository, branch, onto, attempt_name(ref), signed)

    # --- the branch's own line -------------------------------------------------------------------------------

    def line(self, old: str, new: str) -> tuple[str, ...]:
        """The commits after `old` up to `new`, the oldest first, one for each merge; only `new` without a past."""
        return mirror_commits.line(self.repository, old, new)

    def message(self, sha: str) -> str:
        """What a commit says, whoever wrote it."""
        (text,) = self.repository.contents([f"{commit_id(sha)}^{{commit}}"])
        return text.partition(b"\n\n")[2].decode("utf-8", "replace")

    def titles(self, sha: str) -> tuple[str, ...]:
        """The first lines of its history's newest thousand commits, its own first."""
        told = self.repository.git("log", f"--max-count={MOST_COMMITS}", "--format=%s", "-z", commit_id(sha))
        return tuple(told.decode("utf-8", "replace").split("\0"))

    def changed_last(self, sha: str, path: str) -> datetime | None:
        """When a file was changed last, as the commit says; None: there is no such file."""
        told = self.repository.git("log", "-1", "--format=%ct", commit_id(sha), "--", path).split()
        return datetime.fromtimestamp(int(told[0]), UTC) if told else None

    def taken_back(self, sha: str, onto: str, ref: str, who: str, now: datetime) -> Rebased | Conflict | AlreadyThere:
        """Undo what `sha` changed on top of `onto`, at the attempt's free `ref`; by `who`: "Name <address>"."""
        return mirror_commits.taken_back(self.repository, sha, onto, attempt_name(ref), who, now)

    # --- what commits hold -----------------------------------------------------------------------------------

    def tree(self, sha: str) -> tuple[TreeEntry, ...]:
        """All files of the commit. What was merged as it was tested has the same ones."""
        return mirror_tree.tree(self.repository, self.tree_id(sha))

    def tree_id(self, sha: str) -> str:
        """Two commits with the same one hold the same files, to the last byte."""
        return mirror_commits.tree_id(self.repository, sha)

    def read(self, sha: str, path: str, limit: int = 1_000_000) -> bytes | None:
        """A file's bytes; None: there is no such file. Refused beyond `limit` bytes."""
        if re.search(r"[\n\0]", path) or any(name in ("", ".", "..") for name in path.split("/")):
            return None
        return self.repository.read(f"{commit_id(sha)}:{path}", limit)

    def grep(self, sha: str, needle: str, limit: int = 50) -> tuple[Match, ...]:
        """The first `limit` lines of text files that hold `needle`, letter by letter."""
        if not needle or re.search(r"[\0\r\n]", needle):
            return ()
        options = ("--fixed-strings", "-I", "--line-number", "--null", "--full-name", f"--max-count={limit}")
        done = self.repository.try_git("grep", *options, "-e", needle, commit_id(sha))
        if done.code > 1:
            raise CommandFailed(f"git grep: {telling_line(done.complaint)}")
        return tuple(_match(row) for row in done.output.split(b"\n")[:limit] if row)

    def check_out(self, sha: str, target: Path, limits: ChangeLimits | None = None, whole: bool = False) -> None:
        """The commit's exact bytes as plain files below `target`, which is created or empty.

        What is left alone (see `laid_out`) is not there; `whole`: then nothing is, and it is Refused.
        """
        mirror_tree.check_out(self.repository, self.tree(sha), target, limits or ChangeLimits(), whole)

    def check_out_all(self, sha: str, target: Path, limits: ChangeLimits | None = None, whole: bool = False) -> None:
        """As check_out, with the files of submodules that are here: to run it, never to commit what lies there."""
        entries, _ = self._with_submodules(sha, limits or ChangeLimits())
        mirror_tree.check_out(self.repository, entries, target, limits or ChangeLimits(), whole)

    def differing(self, sha: str, folder: Path) -> list[str]:
        """Paths of a folder that hold something else than the commit, or are new there and not ignored.

        Git looks with our settings and an index of our own: what lies in the folder names programs, and starts none.
        Of what Git LFS keeps the folder holds the file itself, and the commit only what points to it: not told.
        """
        there = ("-c", "core.bare=false", f"--work-tree={folder}")
        self.repository.git(*there, "read-tree", commit_id(sha))
        listed = self.repository.git(*there, "ls-files", "-z", "--modified", "--others", "--exclude-standard")
        found = {path.decode("utf-8", "replace") for path in listed.split(b"\0") if path}
        large = mirror_tree.LargeFiles.of(self.repository, self.tree(sha))
        return sorted(path for path in found if not large.keep(path))

    def laid_out(self, sha: str, limits: ChangeLimits | None = None) -> mirror_tree.Laid:
        """(the files that check_out_all writes, path -> why of what it leaves alone). Refused: it writes nothing."""
        entries, problem = self._with_submodules(sha, limits or ChangeLimits())
        laid, left = mirror_tree.laid_out(self.repository, entries, limits or ChangeLimits())
        return laid, {**left, **self._why_no_files(sha, left, problem or "it was not fetched yet")}

    def _with_submodules(self, sha: str, limits: ChangeLimits) -> tuple[Sequence[TreeEntry], str]:
        """The files of a commit with those of its submodules; without any of these if no box can take them, and why."""
        own = self.tree(sha)
        every = submodules.with_submodules(self.repository, own)
        if every is own:
            return own, ""
        try:
            mirror_tree.laid_out(self.repository, every, limits)
        except Refused as problem:
            return own, str(problem)
        return every, ""

    def _why_no_files(self, sha: str, left: Mapping[str, str], usual: str) -> dict[str, str]:
        """Why a submodule that is left alone has no files here."""
        found = submodules.submodules(self.repository, self.tree(sha), sha, self.remote)
        whys = {one.path: one.why or self._lacking.get(one.path, usual) for one in found}
        return {path: f"{left[path]}: {why}" for path, why in whys.items() if path in left}

    def submodules(self, sha: str) -> tuple[str, ...]:
        """The paths of those whose files a check-out of all holds."""
        left = self.laid_out(sha)[1]
        return tuple(one.path for one in self.tree(sha) if one.mode == SUBMODULE and one.path not in left)

    def write_out(self, entries: Sequence[TreeEntry], target: Path, limits: ChangeLimits | None = None) -> None:
        """Write some files of a commit, as check_out does with all of them."""
        mirror_tree.check_out(self.repository, entries, target, limits or ChangeLimits())

    def diff(self, old: str, new: str, limit: int = LIMIT) -> bytes:
        """The whole change as a patch, whatever the repository's attributes say."""
        return diff(self.repository, old, new, limit)

    def changed(self, old: str, new: str) -> tuple[Change, ...]:
        """One Change for each path that differs."""
        return changed(self.repository, old, new)

    def _remote_branches(self, *names: str) -> dict[str, str]:
        url = self.remote.url
        done = self.repository.try_git("ls-remote", "--heads", "--", url, *names, timeout=60, remote=self.remote)
        if done.code:
            raise explain(done.complaint, self.remote) or CommandFailed(
                f"git ls-remote: {telling_line(done.complaint)}"
            )
        rows = (row.split("\t") for row in done.text.splitlines() if "\t" in row)
        return {name.removeprefix("refs/heads/"): sha for sha, name in rows}

    def _cannot_fetch(self, branch: str, done: Finished) -> Exception:
        if "couldn't find remote ref" not in done.complaint:
            reason = explain(done.complaint, self.remote)
            return reason or CommandFailed(f"git fetch: {telling_line(done.complaint)}")
        there = sorted(self._remote_branches())
        if not there:
            return Misconfigured(f"{self.remote.url} is empty; push a first commit to its branch {branch}")
        names = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
        return Misconfigured(f"{self.remote.url} has no branch {branch}; set `branch:` in {WHERE} to one of: {names}")

    def _look_after_failed_push(self, sha: str, branch: str, expected: str | None, done: Finished) -> None:
        """A failure may hide a success: what counts is where the branch is now."""
        found = self.remote_head(branch)
        if found == sha:
            return
        if found != expected:
            raise moved(branch, found)
        if rejected := re.search(r"^!\t.*\[(?:remote )?rejected\] \((.*)\)$", done.text, re.MULTILINE):
            raise Refused(f"the forge does not take {branch}: {telling_line(rejected[1])}")
        raise explain(done.complaint, self.remote) or CommandFailed(f"git push: {telling_line(done.complaint)}")


def moved(branch: str, found: str | None) -> Refused:
    """Somebody else moved it. `found`: the commit that it is at; None: it is gone."""
    return Refused(f"{branch} is at {found or 'no commit'}: somebody else moved it; nothing was pushed")


def default_branch(folder: Path, remote: Remote) -> str:
    """The branch that the repository itself calls its main one; `folder`: any. Misconfigured if it is empty."""
    done = try_git(folder, "ls-remote", "--symref", "--", remote.url, "HEAD", remote=remote)
    if done.code:
        raise explain(done.complaint, remote) or CommandFailed(f"git ls-remote: {telling_line(done.complaint)}")
    head = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", done.text, re.MULTILINE)
    if head is None:
        raise Misconfigured(
            f"{remote.url} is empty or names no main branch; push a first commit, or type --branch NAME"
        )
    return head[1]


def _branch(name: str) -> str:
    """The full name. What git itself would refuse as a branch is refused before it is an argument."""
    if NO_BRANCH.search(name) or len(name) > LONGEST_BRANCH:
        raise Misconfigured(f"{name[:80]!r} cannot be a branch; correct `branch:` in {WHERE}")
    return f"refs/heads/{name}"


def _tracking(branch: str) -> str:
    return _branch(branch).replace("refs/heads/", "refs/remotes/origin/", 1)


def attempt_name(ref: str) -> str:
    """The reference, or Refused: nothing else is ever set or asked under this name."""
    if not re.fullmatch(r"refs/attempts/[a-z0-9._-]{1,100}", ref):
        raise Refused(f"not the reference of an attempt: {ref[:100]!r}")
    return ref


def _match(row: bytes) -> Match:
    """sha:path NUL line NUL text"""
    name, number, text = row.split(b"\0", 2)
    path = name.split(b":", 1)[1].decode("utf-8", "replace")
    return Match(path, int(number), text.decode("utf-8", "replace").rstrip("\r")[:LONGEST_LINE])
