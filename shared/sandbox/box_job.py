"""Job of a box: what is to run, what it may see, and what it may take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured

MB = 1 << 20


@dataclass(frozen=True)
class Mount:
    """A file, folder or socket of ours that is visible inside under `target` (absolute)."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class JobLimits:
    """Limits of a job. Reaching one ends it, or fails the call inside that asks for more."""

    seconds: float = 600
    memory_mb: int = 2048  # of the whole box, shared pages counted once
    address_mb: int = 4096  # address space of each process
    processes: int = 128  # with threads
    file_mb: int = 64  # the largest file; also the most that it can print
    tmp_mb: int = 64  # each of /tmp, /home/sandbox, /dev/shm
    disk_mb: int = 256  # how much the writable mounts may grow
    files: int = 100_000  # in the writable mounts
    output: int = 200_000  # bytes kept of what it printed
    stall: float = 0  # seconds without a sign of life (see watchdog.Signs); 0: as long as it likes


@dataclass(frozen=True)
class Job:
    """One command for a box.

    `private`: empty folders of its own besides /tmp, absolute path -> MB; they take memory and are gone with the box.
    `under`: one of these -> a folder of ours, owned by the box's user, whose files it holds at first; what the job does
    to them is gone with the box, and takes of its MB. Mounts lie over them, later ones over earlier ones. `env` is
    added to PATH, HOME and LANG. `mask`: names (with `*`) at the top of each writable folder that are covered by
    nothing. `meter`: a unix socket; the command finds it as http://127.0.0.1:METER_PORT, and it must be open to
    `box_uid()`. `pulse`: asked every few seconds if `stall` is limited; another answer than before shows that something
    happens, where it cannot be seen on the box itself. `channel`: a descriptor from 10 on that the command inherits
    under its number. Such a command serves many tasks: what its writable mounts take is counted by whoever speaks to
    it. `port`: of the box's own loopback; connections come to it by the channel, which the command does not inherit.
    """

    command: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    cwd: str = "/tmp"  # noqa: S108  the box's own
    env: Mapping[str, str] = field(default_factory=dict)
    limits: JobLimits = JobLimits()
    mask: tuple[str, ...] = ()
    meter: Path | None = None
    private: Mapping[str, int] = field(default_factory=dict)
    under: Mapping[str, Path] = field(default_factory=dict)
    pulse: Callable[[], object] | None = field(default=None, compare=False)
    channel: int | None = None
    port: int = 0


def base_python() -> Path:
    """Name our own interpreter, without the packages of ours: a box may see it."""
    return Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")


def python_mounts(interpreter: Path) -> tuple[Mount, ...]:
    """Return what an interpreter needs to see, read-only and under its own names: its virtual environment and its base.

    Of a base only the program, library and Python's header folders: a prefix may well be somebody's home. /usr is in
    every box.
    Misconfigured: there is no such interpreter.
    """
    if not os.access(interpreter, os.X_OK):
        raise Misconfigured(f"there is no Python at {interpreter}: type `make setup`")
    venv = interpreter.parent.parent
    found = [venv] if (venv / "pyvenv.cfg").is_file() else []
    for program in _links(interpreter):
        prefix = program.parent.parent
        if prefix != venv or not found:
            found += [prefix / name for name in ("bin", "lib", "lib64") if (prefix / name).is_dir()]
            found += sorted(prefix.glob("include/python3*"))  # what is compiled in a box includes Python.h
    visible = (folder for folder in dict.fromkeys(found) if not _in_every_box(folder))
    return tuple(Mount(folder.resolve(), str(folder)) for folder in visible)


def _links(interpreter: Path) -> Iterator[Path]:
    """The interpreter as named, as each link on the way names it, as its environment names it, and as it is."""
    program, config = interpreter, interpreter.parent.parent / "pyvenv.cfg"
    yield program
    for _ in range(40):  # as many as the kernel follows
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / os.readlink(program)))
        yield program
    if config.is_file():
        lines = (line.partition("=") for line in config.read_text("utf-8").splitlines())
        yield from (Path(value.strip(), "python") for key, _, value in lines if key.strip() == "home")
    yield program.resolve()


def _in_every_box(folder: Path) -> bool:
    return folder.is_relative_to("/usr") or folder.parent == Path("/")
