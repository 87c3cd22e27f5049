"""Door to git. The only module that runs it.

Always on a repository of our own, never on a folder that a box could write: what git finds in a work tree can start
programs. No configuration but ours is read, no terminal is asked, and what is written is on the disk when it returns.

Addresses: https with a token from askpass.sh, or a local path. Nothing else: no ssh, no helper programs, no credentials
in a URL.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from sisimpur.shared.model.errors import CommandFailed, ForgeUnavailable, Misconfigured, TeamError, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.system.process import Finished, RunOptions, repeated, run

ASKPASS = Path(__file__).with_name("askpass.sh")
WHERE = "config/targets"
OURSELVES = ("127.0.0.1", "localhost")  # the only hosts that may be spoken to without encryption


@dataclass(frozen=True)
class Remote:
    """Address of the target: an https URL or an absolute path. Misconfigured if it is anything else."""

    url: str
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.url.isprintable() or self.url.startswith("-"):
            raise _wrong(self.url, "it holds a control character, or begins with -")
        if not self.is_local:
            _check_url(self.url)

    @property
    def is_local(self) -> bool:
        return self.url.startswith("/")

    @property
    def protocol(self) -> str:
        """Name of its protocol, in git's words."""
        return "file" if self.is_local else urlsplit(self.url).scheme

    @property
    def origin(self) -> str:
        """`https://host[:port]`, as git writes it when it asks for a user."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@contextmanager
def access(remote: Remote | None) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Variables and descriptors for one run of git: it reaches this remote and nothing else, by its token."""
    environment = {"GIT_ALLOW_PROTOCOL": remote.protocol if remote else ""}
    if remote is None or remote.token is None or remote.is_local:
        yield environment, ()
        return
    descriptor = os.memfd_create("forge-token")
    try:
        os.write(descriptor, remote.token.encode())
        asking = {"GIT_ASKPASS": str(ASKPASS), "FORGE_ORIGIN": remote.origin, "FORGE_TOKEN_FD": str(descriptor)}
        yield environment | asking, (descriptor,)
    finally:
        os.close(descriptor)


def explain(complaint: str, remote: Remote) -> TeamError | None:
    """Turn what git says about a remote into an error that tells the owner what to do; None: it says something else."""
    said = complaint.lower()
    if any(word in said for word in ("authentication failed", "could not read username", "error: 403", "error: 401")):
        begin = f"{remote.url} refused the token" if remote.token else f"{remote.url} asks for a token"
        return Misconfigured(f"{begin}; put one that may read and write its contents into config/.env as GITHUB_TOKEN")
    if any(word in said for word in ("not found", "not appear to be a git repository", "does not exist", "error: 404")):
        return Misconfigured(f"there is no repository at {remote.url}; correct `repo:` in {WHERE}")
    if "from redirection" in said or "error: 30" in said:
        return Misconfigured(f"{remote.url} has moved; write its new address as `repo:` in {WHERE}")
    if "dubious ownership" in said:
        return Misconfigured(f"{remote.url} belongs to another user; run as its owner, or give another `repo:`")
    if any(word in said for word in ("unable to access", "could not resolve", "hung up", "early eof", "timed out")):
        return ForgeUnavailable(f"{remote.url} does not answer: {telling_line(complaint)}")
    return None


def telling_line(text: str) -> str:
    """The first line that says what git complains of, in at most 200 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "no reason"
    )
    return one_line(telling, 200)


# --- which URLs are taken ------------------------------------------------------------------------------------


def _check_url(url: str) -> None:
    if re.match(r"(ssh://|git@|[\w.-]+@[\w.-]+:)", url):
        raise _wrong(url, f"ssh is not supported; write {_as_https(url)}")
    parts = _split(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in OURSELVES):
        raise _wrong(url, "write an https:// URL or an absolute path")
    if "@" in parts.netloc:
        raise Misconfigured(f"`repo:` in {WHERE} holds a user or a password; remove it, the token goes to config/.env")
    if not re.fullmatch(r"[A-Za-z0-9.-]+(:\d+)?", parts.netloc) or parts.query or parts.fragment or " " in url:
        raise _wrong(url, "write it as https://HOST/OWNER/NAME.git")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise _wrong(url, "write it as https://HOST/OWNER/NAME.git") from None


def _as_https(url: str) -> str:
    host, path = re.sub(r"^(ssh://)?([^@/]*@)?", "", url).replace(":", "/", 1).split("/", 1)
    return f"https://{host}/{re.sub(r'^[0-9]+/', '', path)}"


def _wrong(url: str, why: str) -> Misconfigured:
    return Misconfigured(f"`repo:` in {WHERE} cannot be used ({url[:100]!r}): {why}")


HELD = 1.0  # seconds; a git that lives holds a lock for less
LIMIT = 64_000_000  # bytes of one answer

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "LC_ALL": "C",  # we read what it says
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
CONFIGURATION = (
    "core.bare=true",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=all",  # by default neither references nor small imports are synced
    "fastimport.unpackLimit=1",  # one synced pack instead of loose objects
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=all",
    "commit.gpgSign=false",
    "credential.helper=",
    "gc.auto=0",
    "protocol.allow=never",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1",  # bytes per second, for 20 seconds: a silent server ends the call
    "http.lowSpeedTime=20",
)
NOWHERE = {"GIT_ALLOW_PROTOCOL": ""}  # it may speak to no other repository
MISSING = "git is missing; install git 2.38 or later"
SWITCHES = tuple(word for setting in CONFIGURATION for word in ("-c", setting))


def git(
    repository: Path,
    *arguments: str,
    data: bytes | None = None,
    timeout: float = 60,
    limit: int = LIMIT,
    remote: Remote | None = None,
) -> bytes:
    """Run git on the bare repository -> all that it prints, or CommandFailed."""
    done = try_git(repository, *arguments, data=data, timeout=timeout, limit=limit, remote=remote)
    if done.code:
        raise CommandFailed(f"git {arguments[0]}: {telling_line(done.complaint)}")
    return done.output


def try_git(
    repository: Path,
    *arguments: str,
    data: bytes | None = None,
    timeout: float = 60,
    limit: int = LIMIT,
    remote: Remote | None = None,
) -> Finished:
    """Run git; a bad exit code is an answer. Only with `remote` it may speak to another repository.

    timeout in seconds, limit in bytes: an answer beyond it is an error, never silently short.
    """
    argv = ("git", *SWITCHES, f"--git-dir={repository}", *arguments)

    def attempt() -> Finished:
        with access(remote) as (variables, descriptors):
            how = RunOptions(limit=limit, pass_fds=descriptors)
            done = run(argv, env=ENVIRONMENT | variables, timeout=timeout, data=data, how=how)
        if done.is_killed:
            remove_locks_of_the_dead(repository, done.seconds)
        return done

    done = repeated(attempt)
    if done.is_killed:
        raise CommandFailed(f"git {arguments[0]} was ended by {done.signal}, twice")
    if done.end == "not found":
        raise Misconfigured(MISSING)
    if done.end == "timed out" and remote:
        raise Unavailable(f"{remote.url} did not answer within {timeout:g} s")
    if done.end != "exited":
        raise CommandFailed(f"git {arguments[0]}: {done.end} after {done.seconds:.0f} s (limit {timeout:g} s)")
    if done.cut:
        raise CommandFailed(f"git {arguments[0]}: the answer is longer than {limit} bytes")
    return done


def remove_locks_of_the_dead(repository: Path, seconds: float) -> None:
    """Remove the locks that a git which ended just now, after so many seconds, left behind.

    Others may be at work there: they hold a lock for milliseconds. What was made while the dead one lived, and still
    is there a while later, is its own.
    """
    since = time.time() - seconds - HELD
    found = {lock: lock.stat().st_ino for lock in _locks(repository) if lock.stat().st_mtime >= since}
    if not found:
        return
    time.sleep(HELD)
    for lock, number in found.items():
        with suppress(FileNotFoundError):
            if lock.stat().st_ino == number:
                lock.unlink()


def remove_stale_locks(repository: Path, keep: str = "") -> None:
    """Remove what a killed git left behind. Only for whoever knows that no other git is at work there."""
    for lock in _locks(repository):
        if lock.name != keep:
            lock.unlink(missing_ok=True)


def _locks(repository: Path) -> Iterator[Path]:
    yield from repository.glob("*.lock")
    yield from repository.glob("refs/**/*.lock")
