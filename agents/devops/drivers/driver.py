"""Driver port: what any way of running the target has to do.

A release is one commit for one place. Everything may be repeated at any point: what is there already is found, and what
was cut off half way is done anew. What a place runs is asked, never remembered.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from sisimpur.shared.model.deployment import Place, Running
from sisimpur.shared.model.errors import Stumble, TeamError


class ReleaseFailed(Stumble):
    """The commit cannot be built, or does not start, e.g. for want of a port.

    A build touches nothing that runs; the text ends with its last lines. After a start, what ran before may be gone.
    `is_untouched`: nothing was ended or begun for the start: what ran when it was to be started runs on. That holds for
    this one call: after a start that was cut off half way, that may be nothing.
    """

    def __init__(self, text: str, is_untouched: bool = False) -> None:
        super().__init__(text)
        self.is_untouched = is_untouched


class EngineAway(TeamError):
    """Engine that does not answer, or has no room: no commit is to blame. The text says what to type.

    `said`: the words of one that answers, and refuses; `status`: HTTP's. Whoever asked for a commit's sake knows
    whether that is to blame, and nobody else.
    """

    def __init__(self, text: str, said: str = "", status: int = 0) -> None:
        super().__init__(text)
        self.said = said
        self.status = status


@dataclass(frozen=True)
class Release:
    place: Place
    commit: str  # in full


@dataclass(frozen=True)
class Cleaned:
    """Numbers of things that were thrown away."""

    containers: int = 0
    builds: int = 0  # images, or folders

    @property
    def any(self) -> bool:
        return bool(self.containers or self.builds)


@runtime_checkable
class HasPorts(Protocol):
    """A driver that knows who has a port of this machine."""

    def has_port(self, place: Place) -> bool:
        """Say whether a container of ours there has the place's port. EngineAway."""


class Driver(Protocol):
    """Every method may raise EngineAway; Misconfigured if the owner has to change something."""

    def check(self) -> str:
        """Check that it can work here at all -> what it found, for `doctor`: "Docker 20.10.24, …"."""

    def build(self, release: Release) -> None:
        """After it, `start` needs nothing from outside. ReleaseFailed."""

    def start(self, release: Release, hurry: bool = False) -> None:
        """Makes it what the place runs; the one before ends. Returns when it was started, not when it is up.

        `hurry`: the one before is sick, and ended without a last word. ReleaseFailed; untouched if it was found out
        before anything was done, e.g. that somebody else has its port. Nothing happens if it runs this commit already.
        """

    def running(self, place: Place) -> Running | None:
        """None: nothing of ours is there. Containers of several commits at once count as none that is up."""

    def logs(self, place: Place, lines: int = 50) -> str:
        """The newest lines that it printed, of every part of it; text from outside."""

    def clean(self, keep: Collection[Release]) -> Cleaned:
        """Throws away what is ours, but for what runs and `keep`. Nobody else's is ever touched."""


# --- ports of this machine: whether one is free, and who has it ----------------------------------------------


PROC = Path("/proc")
LISTENS = "0A"  # the kernel's word


def is_taken(port: int) -> bool:
    """Say whether anybody has this port of 127.0.0.1.

    One that we may not have ourselves (below 1024) counts as free.
    """
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def holder(port: int) -> str:
    """The program that listens there, e.g. "python3 (process 4711)"; empty: nobody does, or it is not for us to see."""
    wanted = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _sockets(PROC / "net" / table, port)}
    for folder in PROC.glob("[0-9]*") if wanted else ():
        if wanted & set(_open(folder / "fd")):
            return f"{_name(folder / 'comm')} (process {folder.name})"
    return ""


def _open(folder: Path) -> Iterator[str]:
    """List what a process has open; nothing if it has ended, or is somebody else's."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):  # closed in between
                yield os.readlink(folder / name)


def _name(file: Path) -> str:
    with contextlib.suppress(OSError):
        return re.sub(r"[^\w.:/+-]", "?", file.read_text("utf-8", "replace").strip())
    return "a program"


def _sockets(table: Path, port: int) -> list[str]:
    """`  0: 0100007F:1F90 00000000:0000 0A ... <inode>`: the tenth word."""
    try:
        rows = [line.split() for line in table.read_text("ascii").splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == LISTENS and int(row[1].rpartition(":")[2], 16) == port]
