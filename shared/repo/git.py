"""Door to git. The only module that runs it.

Always on a repository of our own, never on a folder that a box could write: what git finds in a work tree can start
programs. No configuration but ours is read, no terminal is asked, and what is written is on the disk when it returns.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Unavailable
from sisimpur.shared.repo.remote import Remote, access, telling_line
from sisimpur.shared.system.process import Finished, RunOptions, repeated, run

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
