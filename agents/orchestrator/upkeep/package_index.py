"""Door to what a package index offers. The only module that asks which versions there are, and fetches none of them.

An index is asked by https (PyPI's simple API, as JSON); where the target installs from a folder of wheels, that folder
is all there is. What either says is data: names of files, and what Python each is for.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from sisimpur.agents.orchestrator.upkeep.upkeep_findings import NewerVersion
from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.system.http import Http, HttpAddress, HttpAnswer, shown
from sisimpur.shared.system.web_line import WebLine, followed, web_address

HTTPS = 443
JSON = "application/vnd.pypi.simple.v1+json"
MOST_BYTES = 16_000_000  # of one package's page: some have thousands of files
MOST_FILES = 50_000
MOST_METADATA = 1_000_000
MOST_REDIRECTS = 2
SECONDS, SECONDS_EACH = 120.0, 20.0  # for all that is asked on a day, and for one package
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")


@dataclass(frozen=True)
class ReleaseFile:
    """One file of a release. `python`: which versions it is for, in the words of its author."""

    name: str
    python: str = ""
    yanked: bool = False


# --- an index on the web -------------------------------------------------------------------------------------


class PackageIndex:
    """`hosts`: the only ones that are asked; the first is the index. `python`: the target's version, such as 3.12.4.

    For one thread, and one look at a repository.
    """

    def __init__(
        self, hosts: Sequence[str], python: str, http: Http | None = None, port: int = HTTPS, seconds: float = SECONDS
    ) -> None:
        """`seconds`: for all that is asked."""
        self._hosts, self._python, self._port = tuple(host.lower() for host in hosts), python, port
        self._line = WebLine(http or Http(), seconds)

    def newer(self, name: str, version: str) -> NewerVersion | None:
        """None: none is newer. Refused: nothing is known of this package. Unavailable: the index does not answer."""
        wanted = _asked(name)
        return newest(name, version, self._python, self._files(wanted))

    def _files(self, name: str) -> Iterator[ReleaseFile]:
        if not self._hosts:
            raise Refused("the target names no package index")
        port = "" if self._port == HTTPS else f":{self._port}"
        at = web_address(f"https://{self._hosts[0]}{port}/simple/{name}/", (self._port,))
        at, answer = followed(at, self._get, MOST_REDIRECTS, (self._port,))
        return _listed(at.url, answer)

    def _get(self, at: HttpAddress) -> HttpAnswer:
        if at.host not in self._hosts:
            raise Refused(f"{shown(at.url)} is not asked: it is no host of the target's `index`")
        return self._line.get(at, JSON, MOST_BYTES, SECONDS_EACH)


def _listed(url: str, answer: HttpAnswer) -> Iterator[ReleaseFile]:
    if answer.status >= 500 or answer.status == 429:
        raise Unavailable(f"{shown(url)} answers with status {answer.status}")
    if answer.status != 200 or answer.kind != JSON or not answer.whole:
        raise Refused(f"{shown(url)} tells nothing that we can read (status {answer.status})")
    try:
        files = json.loads(answer.body.decode())["files"]
        return iter([_file(one) for one in files[:MOST_FILES]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        raise Refused(f"{shown(url)} is no list of files") from None


def _file(one: Mapping[str, Any]) -> ReleaseFile:
    python = one.get("requires-python")
    return ReleaseFile(str(one["filename"])[:300], python if isinstance(python, str) else "", bool(one.get("yanked")))


# What reading an archive that is none, or is damaged, may end in.
UNREADABLE = (
    *(OSError, ValueError, EOFError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)

# --- a folder of wheels --------------------------------------------------------------------------------------


class WheelFolder:
    """All that the target is installed from. `python`: its version."""

    def __init__(self, folder: Path, python: str) -> None:
        self._folder, self._python = folder, python

    def newer(self, name: str, version: str) -> NewerVersion | None:
        """As PackageIndex.newer. Misconfigured: the folder cannot be read."""
        wanted = _asked(name)
        try:
            paths = sorted(path for path in self._folder.iterdir() if path.is_file())[:MOST_FILES]
        except OSError as error:
            raise Misconfigured(f"{self._folder} cannot be read ({error.strerror}); correct `packages:`") from None
        ours = (path for path in paths if _is_of(path.name, wanted))
        return newest(name, version, self._python, (ReleaseFile(path.name, _required(path)) for path in ours))


def _is_of(file: str, name: str) -> bool:
    release = _release(ReleaseFile(file))
    return release is not None and release[0] == name


def _required(path: Path) -> str:
    """What Python a wheel is for; empty: it does not say, or is none."""
    try:
        with zipfile.ZipFile(path) as wheel:
            metadata = next((i for i in wheel.infolist() if i.filename.endswith(".dist-info/METADATA")), None)
            if metadata is None or metadata.file_size > MOST_METADATA:
                return ""
            with wheel.open(metadata) as data:
                return str(BytesHeaderParser().parsebytes(data.read(MOST_METADATA)).get("Requires-Python", ""))
    except UNREADABLE:
        return ""


# --- which version it is -------------------------------------------------------------------------------------


def _asked(name: str) -> str:
    """As an index writes it. Refused: no package has such a name."""
    if not NAME.fullmatch(name):
        raise Refused(f"{shown(name)} is no name of a package")
    return canonicalize_name(name)


def newest(name: str, version: str, python: str, files: Iterable[ReleaseFile]) -> NewerVersion | None:
    """Of what these files offer. Refused: the pinned version is none that can be compared."""
    try:
        pinned, ours = Version(version), Version(python)
    except InvalidVersion:
        raise Refused(f"{shown(name)} {shown(version)}: no version that can be compared") from None
    wanted = canonicalize_name(name)
    newer = {
        found[1]
        for one in files
        if (found := _release(one)) and found[0] == wanted and _is_offered(one, found, ours) and found[1] > pinned
    }
    return NewerVersion(str(max(newer)), len(newer)) if newer else None


Release = tuple[str, Version, frozenset[Tag]]


def _release(file: ReleaseFile) -> Release | None:
    """(package, version, tags; none of source code). None: a file of another kind."""
    try:
        if file.name.endswith(".whl"):
            name, version, _, tags = parse_wheel_filename(file.name)
            return name, version, tags
        name, version = parse_sdist_filename(file.name)
        return name, version, frozenset()
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion, ValueError):
        return None


def _is_offered(file: ReleaseFile, release: Release, python: Version) -> bool:
    """Final, not taken back, and for this Python."""
    _, version, tags = release
    if file.yanked or version.is_prerelease or version.local:
        return False
    try:
        fits = SpecifierSet(file.python).contains(python, prereleases=True)
    except InvalidSpecifier:
        return False
    return fits and (not tags or any(_runs_on(tag, python) for tag in tags))


def _runs_on(tag: Tag, python: Version) -> bool:
    """Whatever the machine: pure Python, for exactly this version, or for it and later ones."""
    own = f"{python.major}{python.minor}"
    if tag.interpreter in (f"py{python.major}", f"py{own}", f"cp{own}"):
        return True
    since = re.fullmatch(r"cp3(\d{1,2})", tag.interpreter)
    return tag.abi == "abi3" and since is not None and python.major == 3 and int(since[1]) <= python.minor
