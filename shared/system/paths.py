"""Door to files. The only module that knows where things lie in a home, and how a file is read and written safely."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sisimpur.shared.model.errors import Refused, TeamError, Unavailable
from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.system.fault import fault_point

MAX_TEXT = 1 << 20
SOCKET_PATH_LIMIT = 100  # the kernel's is 107 bytes
AT_FDCWD, RENAME_NOREPLACE, RENAME_EXCHANGE = -100, 1, 2
IN_USE = "in-use.lock"  # in a temporary folder: somebody is still at work there, who holds it (lock.said)


@dataclass(frozen=True)
class Home:
    """The one folder that holds all data of one team."""

    root: Path

    @property
    def vision(self) -> Path:
        return self.root / "VISION.md"

    @property
    def progress(self) -> Path:
        return self.root / "PROGRESS.md"

    @property
    def daily_plan(self) -> Path:
        return self.root / "DAILY_PLAN.md"

    @property
    def roadmap(self) -> Path:
        return self.root / "ROADMAP.md"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def targets(self) -> Path:
        return self.config / "targets"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def reports(self) -> Path:
        """One Markdown file per day, and its picture."""
        return self.root / "reports" / "daily"

    @property
    def research(self) -> Path:
        """One note for each question that was looked up."""
        return self.root / "reports" / "research"

    @property
    def memory(self) -> Path:
        """Folder of what each agent has learned, for reading."""
        return self.root / "memory"

    @property
    def state(self) -> Path:
        return self.root / ".state"

    @property
    def database(self) -> Path:
        return self.state / "agents.db"

    @property
    def lock(self) -> Path:
        return self.state / "daemon.lock"

    @property
    def board(self) -> Path:
        """Where the board that runs says its port (see lock.said)."""
        return self.state / "board.port"

    @property
    def push_key(self) -> Path:
        """By which push services know this home; nobody else may read it."""
        return self.state / "push.key"

    @property
    def temporary(self) -> Path:
        return self.state / "tmp"

    @property
    def work(self) -> Path:
        return self.state / "work"

    @property
    def environments(self) -> Path:
        """Folder of what the target's tests need, installed in boxes."""
        return self.state / "environments"

    @property
    def releases(self) -> Path:
        """The files of commits that are deployed, and what was made for it."""
        return self.state / "releases"

    @property
    def talk(self) -> Path:
        """What was said in calls of models, a file a day."""
        return self.state / "talk"

    @property
    def backups(self) -> Path:
        """Folder of what was saved before a deploy that changes data."""
        return self.state / "backups"

    def tasks(self, state: State) -> Path:
        return self.root / "tasks" / state.value

    def mirror(self, target: str) -> Path:
        return self.state / "mirror" / f"{target}.git"

    def forge(self, target: str) -> Path:
        return self.state / "forge" / f"{target}.git"

    @property
    def meter_socket(self) -> Path:
        """Socket in the home, or where its path is too long for one, in a private folder named after the home."""
        place = self.state / "meter.sock"
        if len(os.fsencode(place)) <= SOCKET_PATH_LIMIT:
            return place
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"sisimpur-{os.getuid()}-{name}" / "meter.sock"

    def check(self) -> None:
        """Refused if one of our folders is a link or no folder: what is emptied at start must be ours."""
        if self.root.exists() and not self.root.is_dir():  # he may reach his home through a link
            raise Refused(f"{self.root} is no folder of ours; move it away")
        for folder in (
            *self._owners,
            *self._private,
            self.environments,
            self.talk,
            self.state / "mirror",
            self.state / "forge",
        ):
            if os.path.lexists(folder) and not stat.S_ISDIR(folder.lstat().st_mode):
                raise Refused(f"{folder} is no folder of ours; move it away")

    @property
    def _owners(self) -> tuple[Path, ...]:
        states = (self.tasks(state) for state in FOLDERS)
        kept = (self.logs, self.reports.parent, self.reports, self.research, self.memory)
        return (self.config, self.targets, *kept, self.root / "tasks", *states)

    @property
    def _private(self) -> tuple[Path, ...]:
        return (self.state, self.temporary, self.work)

    def make(self) -> None:
        """All folders; what exists stays."""
        self.check()
        if not self.root.exists():
            self.root.mkdir(mode=0o700, parents=True)
        for folder in (*self._owners, *self._private, self.meter_socket.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self.state.chmod(0o700)
        self._claim_socket_folder()

    def _claim_socket_folder(self) -> None:
        """Somebody else may have made the folder in /tmp first."""
        folder = self.meter_socket.parent
        info = folder.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
            raise Refused(f"{folder} is not ours; remove it, or choose a home with a shorter path")
        folder.chmod(0o700)


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """A plain file of UTF-8 text with `\\n` line ends, or Refused naming the reason. FileNotFoundError if absent.

    A symbolic link is refused: it could make us read, and send to a model, what lies outside.
    """
    data = read_bytes(path, limit)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{path.name}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path, limit: int = MAX_TEXT) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise Refused(f"{path.name}: is a symbolic link; put the file itself there") from None
        raise Refused(f"{path.name}: cannot be read ({error.strerror})") from None
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise Refused(f"{path.name}: is not a plain file")
        if info.st_size > limit:
            raise Refused(f"{path.name}: {info.st_size} bytes, the limit is {limit}")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


Stamp = tuple[int, int, int]
ABSENT: Stamp = (0, 0, 0)


def stamp(path: Path) -> Stamp:
    """Return what changes when the file does: number, time, size. ABSENT if there is none, or nobody may look."""
    try:
        info = os.stat(path)
    except OSError:
        return ABSENT
    return info.st_ino, info.st_mtime_ns, info.st_size


def write_text(path: Path, text: str) -> None:
    """Replaces the file as a whole or not at all; durable when it returns."""
    write_bytes(path, _encoded(text))


def write_bytes(path: Path, data: bytes) -> None:
    temporary = _written(path.parent, data)
    fault_point("file.written")
    try:
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create_text(path: Path, text: str, temporary_folder: Path, mode: int = 0o644) -> None:
    """A new file that appears complete and durable; FileExistsError if the name is taken."""
    temporary = _written(temporary_folder, _encoded(text), mode)
    fault_point("file.written")
    try:
        move(temporary, path)
    except (OSError, Unavailable):
        temporary.unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str) -> None:
    """Replace a file that is there, as a whole or not at all; FileNotFoundError: it has just been moved away."""
    temporary = _written(path.parent, _encoded(text))
    fault_point("file.written")
    try:
        if not _renamed(temporary, path, RENAME_EXCHANGE):
            path.lstat()
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)  # what was there before
    sync_folder(path.parent)


def move(source: Path, target: Path) -> None:
    """An atomic, durable rename that never overwrites: FileExistsError, FileNotFoundError. Unavailable: not now."""
    try:
        if not _renamed(source, target, RENAME_NOREPLACE):
            os.link(source, target, follow_symlinks=False)
            os.unlink(source)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        raise Unavailable(f"{target.parent} or {source.parent} cannot be written ({error.strerror})") from None
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, whatever its permissions; links are removed, not followed.

    However deep it is: what lies in a folder of it is moved up before that folder goes.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    elif folder.exists():
        folder.chmod(0o700)
        with _folder(folder) as top:
            while names := os.listdir(top):
                for name in names:
                    _remove(name, top)
        folder.rmdir()


def _remove(name: str, top: int) -> None:
    if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)
    with _folder(name, top) as inner:
        for child in os.listdir(inner):
            if stat.S_ISDIR(os.lstat(child, dir_fd=inner).st_mode):
                os.chmod(child, 0o700, dir_fd=inner)
                os.rename(child, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(child, dir_fd=inner)
    os.rmdir(name, dir_fd=top)


@contextlib.contextmanager
def _folder(path: Path | str, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_half_written(folder: Path) -> None:
    """Remove what a kill left of `write_bytes`. Only for whoever knows that nobody writes there."""
    for path in folder.glob(".*.tmp"):
        if re.fullmatch(r"\.[0-9]+\.[0-9a-f]{8}\.tmp", path.name):
            path.unlink(missing_ok=True)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _written(folder: Path, data: bytes, mode: int = 0o644) -> Path:
    temporary = folder / f".{os.getpid()}.{secrets.token_hex(4)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(temporary, flags, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise TeamError(
            f"{folder} cannot be written ({error.strerror}); make room, or give it back to its owner"
        ) from None
    return temporary


def _renamed(source: Path, target: Path, flag: int) -> bool:
    """Return False where that cannot be done: an old kernel, or a file system without it. OSError: it may not be."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    if not libc.renameat2(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flag):
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


def head_and_tail(file: BinaryIO, limit: int) -> tuple[bytes, bool]:
    """Read up to `limit` bytes of the file, and whether some is missing; a line in the middle says how much."""
    number, size = file.fileno(), os.fstat(file.fileno()).st_size
    if size <= limit:
        return os.pread(number, size, 0), False
    head, tail = limit // 2, limit - limit // 2
    notice = f"\n[... {size - limit} bytes left out ...]\n".encode()
    return os.pread(number, head, 0) + notice + os.pread(number, tail, size - tail), True
