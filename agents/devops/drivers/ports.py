"""Ports of this machine: whether one is free, and who has it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

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
