"""Released files: lays out a commit's files for a deploy, removes them again, and reads a place's `env_file`.

A commit's folder is there as a whole or not at all; it is laid out once, whatever place asks for it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

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
            self.mirror.check_out(commit, half, whole=True)
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
    return name.strip(), _unquoted(value.strip())


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
