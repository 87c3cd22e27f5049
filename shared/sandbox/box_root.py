"""Root and user of a box: what is to be seen in there, in bubblewrap's words, and who works there.

As root the box's user is nobody, who may not pass through the folders that lead to a source (a home is often 0700).
So each source is first bound to a short name below /tmp, in a mount namespace that only one run has.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box_job import MB, Job, Mount
from sisimpur.shared.sandbox.box_usage import walk

# --- the user -------------------------------------------------------------------------------------------------

NOBODY = 65534


def box_uid() -> int:
    """Return who works in a box: we ourselves, and nobody when we are root, whom limits do not bind."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


def hand_over(path: Path) -> None:
    """Give a folder with all that is in it (or a file, or a socket) to the box's user. No box may run in it.

    Refused: folders nested too deep.
    """
    if os.geteuid() != 0:
        return
    if path.is_dir() and not path.is_symlink():
        for parent, name in walk(path):
            os.chown(name, NOBODY, NOBODY, dir_fd=parent, follow_symlinks=False)
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def private_places(job: Job) -> tuple[str, ...]:
    """Folders of the box's own, in memory: what a mount of ours covers is a file system of the machine."""
    covered = {mount.target for mount in job.mounts}
    return tuple(place for place in (*SCRATCH, *job.private) if place not in covered)


# --- the root -------------------------------------------------------------------------------------------------

STAGE = "/tmp"  # noqa: S108  only in the mount namespace of one run
MOST_COVERED = 100  # files of one folder

SCRATCH = ("/tmp", "/home/sandbox", "/dev/shm")  # noqa: S108  the box's own
HOST_FILES = ("/etc/ld.so.cache", "/etc/ssl/certs", "/etc/localtime", "/etc/alternatives")
HIDDEN = ("--tmpfs", "/proc/1", "--remount-ro", "/proc/1")  # who writes its memory would outlive us
COVERED = ("/proc/keys", "/proc/key-users", "/proc/kcore", "/proc/timer_list", "/proc/sched_debug")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/sandbox", "LANG": "C.UTF-8"}


def options(job: Job, mounts: tuple[Mount, ...], names: dict[Path, str]) -> Iterator[str]:
    """List what bwrap is told. The first of the mounts is our own folder; `names`: where bwrap finds each source.

    Refused: the job cannot be boxed safely.
    """
    yield from _host()
    yield from _private(job)
    for number, path in enumerate(job.under):
        yield from ("--bind", f"{_upper(number)}/seen", path)
    ours = names[mounts[0].source]
    for path in filter(os.path.exists, COVERED):
        yield from ("--ro-bind", f"{ours}/empty", path)
    for name in ("passwd", "group", "hosts"):
        yield from ("--ro-bind", f"{ours}/{name}", f"/etc/{name}")
    for mount in mounts:
        yield from ("--bind" if mount.writable else "--ro-bind", names[mount.source], mount.target)
    for cover, target in _covers(job):
        yield from ("--ro-bind", f"{ours}/{cover}", target)
    yield from ("--chdir", job.cwd, "--clearenv")
    for name, value in {**ENVIRONMENT, **job.env}.items():
        yield from ("--setenv", name, value)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")  # both would hold half of the machine's memory


def _host() -> Iterator[str]:
    """Mount only what is named: with all of the host's root, each socket in /run could be connected."""
    yield from ("--ro-bind", "/usr", "/usr")
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in HOST_FILES:
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)


def _private(job: Job) -> Iterator[str]:
    if lost := job.under.keys() - job.private.keys():
        raise Refused(f"{', '.join(sorted(lost))}: files lie under a private folder only")
    yield from ("--dev", "/dev", "--proc", "/proc", *HIDDEN)
    for path, size in {**dict.fromkeys(SCRATCH, job.limits.tmp_mb), **job.private}.items():
        if not path.startswith("/") or size < 1:  # without a size it would take half of the machine's memory
            raise Refused(f"{path!r} of {size} MB cannot be a private folder of the box")
        if path in job.under:
            continue
        yield from ("--size", str(size * MB), "--tmpfs", path)  # the size belongs to what follows it


def _covers(job: Job) -> Iterator[tuple[str, str]]:
    """(cover, target) for each file that the mask names. bwrap can cover plain files only."""
    for mount in job.mounts:
        if not (mount.writable and mount.source.is_dir()):
            continue
        hit = [name for name in sorted(os.listdir(mount.source)) if any(fnmatch.fnmatchcase(name, p) for p in job.mask)]
        if len(hit) > MOST_COVERED:
            raise Refused(f"more than {MOST_COVERED} files like {', '.join(job.mask)} in {mount.target}")
        for name in hit:
            if not stat.S_ISREG((mount.source / name).lstat().st_mode):
                raise Refused(f"{name!r} in {mount.target} is not a plain file; it cannot be covered")
            structured = name.endswith((".yml", ".yaml", ".json"))
            yield ("empty.yml" if structured else "empty", f"{mount.target}/{name}")


def write_ours(folder: Path) -> None:
    """The files that each box gets from us."""
    uid = box_uid()
    files = {
        "passwd": f"sandbox:x:{uid}:{uid}::/home/sandbox:/bin/sh\n",
        "group": f"sandbox:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost\n",
        "empty": "",
        "empty.yml": "{}\n",
        "box_forward.py": Path(__file__).with_name("box_forward.py").read_text("utf-8"),
    }
    _make(folder)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:  # another box may be reading it now
            path.write_text(text, "utf-8")
        path.chmod(0o644)


# --- the stage -----------------------------------------------------------------------------------------------


def staged(sources: tuple[Path, ...]) -> dict[Path, str]:
    """Under which name bwrap finds each source."""
    if os.geteuid() != 0:
        return {source: str(source.resolve()) for source in sources}
    kinds = {source: "folder" if source.is_dir() else "file" for source in sources}
    return {source: f"{STAGE}/{kind}{number}" for number, (source, kind) in enumerate(kinds.items())}


def mount_table(names: dict[Path, str], stage: Path) -> bytes:
    """Write the mounts as fstab(5). The bottom of each is an empty file or folder that stays for the next run."""
    if os.geteuid() != 0:
        return b""
    _make(stage)
    lines = []
    for source, name in names.items():
        bottom = stage / Path(name).name
        if source.is_dir():
            _make(bottom)
        else:
            bottom.touch()
        lines.append(f"{_escaped(source.resolve())} {_escaped(bottom)} none rbind 0 0\n")
    return os.fsencode("".join(lines) + f"{_escaped(stage)} {STAGE} none rbind 0 0\n")


def layers(job: Job, names: dict[Path, str], stage: Path) -> Iterator[str]:
    """Size, lower folder and place of each overlay, for whoever mounts them. The places are on the stage."""
    for number, (path, source) in enumerate(job.under.items()):
        _make(stage / Path(_upper(number)).name)
        yield from (str(job.private[path] * MB), names[source], _upper(number))


def _upper(number: int) -> str:
    return f"{STAGE}/upper{number}"


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # whatever our umask is: the box's user passes through


def _escaped(path: Path) -> str:
    """Escape it as fstab(5) wants it."""
    return "".join(f"\\{ord(sign):03o}" if sign in " \t\n\\" else sign for sign in str(path))
