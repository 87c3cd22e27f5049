"""Released files: lays out a commit's files for a deploy, removes them again, and reads a place's `env_file`.

A commit's folder is there as a whole or not at all; it is laid out once, whatever place asks for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from sisimpur.agents.devops.drivers.driver import EngineAway, ReleaseFailed
from sisimpur.shared.config.settings_deploy import PlaceSettings
from sisimpur.shared.model.deployment import PLACES, Place
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_tree import commit_id
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import move, read_text, remove_folder, write_text

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HALF = re.compile(rf"\.({COMMIT.pattern})\.(half|gone)")  # half written, half removed


@dataclass(frozen=True)
class ReleaseFiles:
    """`folder`: ours alone. `former`: where they were laid out before; none is any more.

    `own`: gives a folder to whoever builds in it.
    """

    mirror: Mirror
    folder: Path
    former: Path | None = None
    own: Callable[[Path], None] = lambda _folder: None

    def of(self, commit: str) -> Path:
        """The folder with the commit's plain files. What was built in it since is still there.

        ReleaseFailed: these files cannot be laid out here, and why. EngineAway: there is no room for them.
        """
        place = self.folder / commit_id(commit)
        if not place.is_dir():
            try:
                self._lay_out(commit, place)
            except Refused as refusal:
                raise ReleaseFailed(f"the files of {commit[:12]} cannot be laid out: {refusal}") from None
            except OSError as error:
                raise EngineAway(f"{self.folder} cannot be written ({error.strerror}); make room there") from None
        return place

    def built(self, commit: str, place: Place) -> str:
        """Say how this was built in its folder that is there still, in the words of `set_built`; empty: it was not."""
        with contextlib.suppress(FileNotFoundError, Refused):
            return read_text(self._mark(commit, place)) if (self.folder / commit_id(commit)).is_dir() else ""
        return ""

    def set_built(self, commit: str, place: Place, how: str) -> None:
        """Empty: it has to be built again. That it cannot be noted is no harm: it is built once more."""
        mark = self._mark(commit, place)
        with contextlib.suppress(OSError):
            if how:
                write_text(mark, how)
                fault_point("deploy.marked")
            else:
                mark.unlink()
                fault_point("deploy.unmarked")

    @property
    def known(self) -> tuple[str, ...]:
        """Commits whose files are there."""
        return tuple(sorted(name for name in self._names() if COMMIT.fullmatch(name)))

    def clean(self, keep: Collection[str]) -> int:
        """Throws away the files of all commits but these -> of how many. What cannot be removed now is tried again."""
        before = replace(self, folder=self.former, former=None).clean(keep) if self.former else 0
        gone = [commit for commit in self.known if commit not in keep]
        for commit in gone:
            self._unmark(commit)
            move(self.folder / commit, self._retired(commit))
            fault_point("deploy.files-retired")
        for name in filter(HALF.fullmatch, self._names()):
            with contextlib.suppress(OSError):  # somebody still writes there, or it is not ours any more
                remove_folder(self.folder / name)
            fault_point("deploy.files-removed")
        return before + len(gone)

    def _lay_out(self, commit: str, place: Path) -> None:
        half = self.folder / f".{commit}.half"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_folder(half)
        self._unmark(commit)
        fault_point("deploy.files-begun")
        try:
            self.mirror.check_out_all(commit, half, whole=True)
            self.own(half)
            os.sync()  # a power cut must not leave a complete name with empty files
            fault_point("deploy.files-written")
            move(half, place)
        except BaseException:
            remove_folder(half)
            raise
        fault_point("deploy.files")

    def _mark(self, commit: str, place: Place) -> Path:
        return self.folder / f"{commit_id(commit)}.built-{place}"

    def _unmark(self, commit: str) -> None:
        """Before the folder goes, and before it is there again: a mark never speaks of another one."""
        for place in PLACES:
            self.set_built(commit, place, "")

    def _retired(self, commit: str) -> Path:
        """A free name: what was half removed before goes first."""
        place = self.folder / f".{commit}.gone"
        remove_folder(place)
        fault_point("deploy.files-removed")
        return place

    def _names(self) -> list[str]:
        return os.listdir(self.folder) if self.folder.is_dir() else []


# --- a place's environment -----------------------------------------------------------------------------------

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
MOST_LISTED = 5  # lines


def release_env(place: PlaceSettings) -> dict[str, str]:
    """Merge `env` over the place's `env_file`. Misconfigured: what is wrong with the file."""
    return {**(read_env_file(Path(place.env_file)) if place.env_file else {}), **place.env}


def read_env_file(path: Path) -> dict[str, str]:
    """Read lines of NAME=VALUE; the last of one name counts. Misconfigured: it is not there, or not as it should be."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise Misconfigured(f"there is no {path}: make it (it may be empty), or take its `env_file` out") from None
    except Refused as refused:
        raise Misconfigured(f"`env_file` {path.parent}/{refused}") from None
    rows = list(_rows(text))
    if broken := [number for number, row in rows if row is None]:
        lines = ", ".join(map(str, broken[:MOST_LISTED])) + (", ..." if broken[MOST_LISTED:] else "")
        raise Misconfigured(f"{path}, line {lines}: write NAME=VALUE")
    return dict(row for _, row in rows if row)


def _rows(text: str) -> Iterator[tuple[int, tuple[str, str] | None]]:
    """(line from 1, name and value; None: it is not as it should be)."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, _row(line)


def _row(line: str) -> tuple[str, str] | None:
    name, equals, value = line.strip().removeprefix("export ").partition("=")
    if not equals or not NAME.fullmatch(name.strip()) or CONTROL.search(value):
        return None
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return name.strip(), value[1:-1] if is_quoted else value


# --- packed for a builder ------------------------------------------------------------------------------------
# Plain files and folders go as they are; a link goes as a link, so nothing outside the folder is ever read. The same
# files are the same bytes, so that what was built of them is found again.

IGNORE = ".dockerignore"
FROM = re.compile(r"\s*FROM\s", re.IGNORECASE)
ESCAPE = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
DIRECTIVE = re.compile(r"#\s*\w+\s*=")
COMMENT = re.compile(r"\s*(#|$)")
MOST_PATTERNS, LONGEST_PATTERN = 500, 300  # lines of a .dockerignore, characters of one


def pack(folder: Path, dockerfile: str, labels: Mapping[str, str], target: IO[bytes]) -> None:
    """Writes a tar file of what .dockerignore leaves. Each stage of the Dockerfile gets the labels first.

    So every step that is kept for later is ours to know and to throw away, and none of anybody else's is taken for it.
    ReleaseFailed: there is no such Dockerfile. Refused: it is no text.
    """
    try:
        text = labelled(read_text(_inside(folder, dockerfile)), labels)
    except FileNotFoundError:
        raise ReleaseFailed(f"there is no {dockerfile} in this commit (`deploy.dockerfile` names it)") from None
    ignored = DockerIgnore(_ignore_file(folder))
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, info in _walk(folder, ""):
            if path == dockerfile:
                _add(tar, path, info, text.encode())
            elif path == IGNORE or not ignored(path):
                _add(tar, path, info, folder / path)
    target.seek(0)


def _inside(folder: Path, name: str) -> Path:
    """No link on the way: it could lead elsewhere."""
    path = folder
    for part in Path(name).parts:
        path = path / part
        if part == ".." or path.is_symlink():
            raise ReleaseFailed(f"{name} is no plain file of this commit (`deploy.dockerfile` names it)")
    return path


def _ignore_file(folder: Path) -> str:
    try:
        return read_text(_inside(folder, IGNORE))
    except FileNotFoundError:
        return ""


def _walk(folder: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    """Every path with what it is, a folder before what lies in it, by name. Never through a link."""
    with os.scandir(folder / below) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{below}/{entry.name}".lstrip("/")
        yield path, entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder, path)


def _add(tar: tarfile.TarFile, path: str, found: os.stat_result, content: Path | bytes) -> None:
    """Neither its time nor its owner matter; of its mode, whether it may be run. What is no file is left out."""
    info = tarfile.TarInfo(path)
    info.mode = 0o755 if stat.S_ISDIR(found.st_mode) or found.st_mode & 0o100 else 0o644
    if stat.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif stat.S_ISLNK(found.st_mode) and isinstance(content, Path):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(content)
        tar.addfile(info)
    elif isinstance(content, bytes):
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    elif stat.S_ISREG(found.st_mode):
        info.size = found.st_size
        with open(content, "rb", opener=_no_link) as file:
            tar.addfile(info, file)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


# --- the Dockerfile ------------------------------------------------------------------------------------------


def labelled(dockerfile: str, labels: Mapping[str, str]) -> str:
    """Add a LABEL after each FROM. The names and values are words of ours, which need no quotes."""
    line = "LABEL " + " ".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return "\n".join(_labelled(dockerfile.split("\n"), line))


def _labelled(lines: list[str], label: str) -> Iterator[str]:
    escape, in_words, is_from, is_head = "\\", False, False, True
    for line in lines:
        if is_head and (found := ESCAPE.match(line)):
            escape = found[1]
        is_head = is_head and bool(DIRECTIVE.match(line))
        yield line
        if COMMENT.match(line):  # also between the lines of one instruction
            continue
        is_from = is_from if in_words else bool(FROM.match(line))
        in_words = line.rstrip().endswith(escape)
        if is_from and not in_words:
            yield label


# --- .dockerignore -------------------------------------------------------------------------------------------


class DockerIgnore:
    """Patterns of a .dockerignore: of all patterns that fit a path, or a folder above it, the last one counts."""

    def __init__(self, text: str) -> None:
        stripped = (line.strip() for line in text.splitlines() if not line.startswith("#"))
        lines = [line for line in stripped if line]
        if len(lines) > MOST_PATTERNS or max(map(len, lines), default=0) > LONGEST_PATTERN:
            at_most = f"{MOST_PATTERNS} patterns, each of {LONGEST_PATTERN} characters"
            raise ReleaseFailed(f"{IGNORE} is too long: there may be at most {at_most}")
        self._patterns = [pattern for line in lines if (pattern := _pattern(line))]

    def __call__(self, path: str) -> bool:
        ignored = False
        for expression, is_out in self._patterns:
            if ignored != is_out and expression.match(path):
                ignored = is_out
        return ignored


def _pattern(line: str) -> tuple[re.Pattern[str], bool] | None:
    is_out = not line.startswith("!")
    name = os.path.normpath(line.lstrip("!").strip().lstrip("/") or ".")
    if name == ".":
        return None
    try:
        return re.compile(_expression(name), re.DOTALL), is_out
    except re.error:
        raise ReleaseFailed(f"{IGNORE}: {line[:100]!r} is no pattern") from None


# A path is gone through once for each wildcard, never again and again: whatever follows one is looked for where it
# comes first, and that is never taken back (`(?>...)`), since each piece between two of them has one length, or ends at
# the same slash. Otherwise a single line of stars could hold up this whole program for years.
FOLDERS, ANYTHING, STAGE_NAME = r"(?:[^/]*+/)*?", r".*?", r"[^/]*?"
END = r"(?=/|\Z)"  # of a path, or of a folder above it
WORDS = re.compile(r"(?:(?<=/)|^)\*\*/|\*{2,}|\*|\?|\[\^?[^\]]+\]|\\.|.", re.DOTALL)


def _expression(pattern: str) -> str:
    skips, pieces = [""], [[""]]  # what comes before each piece, and its parts, with a * between them
    for word in WORDS.findall(pattern):
        if word.startswith("**"):
            skips.append(FOLDERS if word == "**/" else ANYTHING)
            pieces.append([""])
        elif word == "*":
            pieces[-1].append("")
        else:
            pieces[-1][-1] += _part(word)
    pieces[-1][-1] += END
    return "".join(f"(?>{skip}{_joined(parts)})" for skip, parts in zip(skips, pieces, strict=True))


def _joined(parts: list[str]) -> str:
    return parts[0] + "".join(f"(?>{STAGE_NAME}{part})" for part in parts[1:])


def _part(word: str) -> str:
    match word:
        case "?":
            return "[^/]"
        case _ if word[0] == "[" and len(word) > 1:
            return "(?!/)" + re.sub(r"(?<=.)([\[&|~])", r"\\\1", word)
        case _:
            return re.escape(word.removeprefix("\\") or word)
