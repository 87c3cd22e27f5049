"""Build context: packs a commit's files for a builder.

Plain files and folders go as they are; a link goes as a link, so nothing outside the folder is ever read. The same
files are the same bytes, so that what was built of them is found again.
"""

from __future__ import annotations

import io
import os
import re
import stat
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from sisimpur.agents.devops.drivers.driver import ReleaseFailed
from sisimpur.shared.system.paths import read_text

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
FOLDERS, ANYTHING, NAME = r"(?:[^/]*+/)*?", r".*?", r"[^/]*?"
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
    return parts[0] + "".join(f"(?>{NAME}{part})" for part in parts[1:])


def _part(word: str) -> str:
    match word:
        case "?":
            return "[^/]"
        case _ if word[0] == "[" and len(word) > 1:
            return "(?!/)" + re.sub(r"(?<=.)([\[&|~])", r"\\\1", word)
        case _:
            return re.escape(word.removeprefix("\\") or word)
