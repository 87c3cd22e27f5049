"""Dockerfiles and compose files, read by ourselves: no engine is needed, and nothing of them is run. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator

from sisimpur.agents.qa.tools.readings import ToolRemark
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.system import strict_yaml

KNOWN = frozenset(
    (
        *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"),
        *("ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
    )
)
HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)")


def dockerfile(path: str, text: str, paths: Collection[str]) -> Iterator[ToolRemark | str]:
    """`paths`: the files of the commit. A source is missed if neither the root nor the file's own folder has it."""
    begun, there = False, {place for path in paths for place in (path, *_folders(path))}
    for number, line in _instructions(text):
        word, _, rest = line.partition(" ")
        name = word.upper()
        if name not in KNOWN:
            yield ToolRemark(f"{path} unknown {name}", f"{path}:{number}: {word} is no instruction")
        elif name == "FROM":
            begun = True
        elif not begun and name != "ARG":
            yield ToolRemark(f"{path} no FROM", f"{path}:{number}: {name} stands before the first FROM")
        elif name in ("COPY", "ADD"):
            for source in dict.fromkeys(_sources(rest)):
                if not _is_there(source, posixpath.dirname(path), there):
                    yield ToolRemark(f"{path} source {source}", f"{path}:{number}: {source} is not in the repository")
    if not begun:
        yield ToolRemark(f"{path} no FROM", f"{path}: there is no FROM")


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """(line, instruction on one line); comments and the texts of here-documents are left out."""
    lines = enumerate(text.splitlines(), 1)
    whole, first = "", 0
    for number, raw in lines:
        line = raw.strip()
        if not line or line.startswith("#"):  # also between the lines of one instruction
            continue
        first = first or number
        whole += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        yield first, " ".join(whole.split())
        for end in HEREDOC.findall(whole):
            while next(lines, (0, end))[1].strip() != end:
                pass
        whole, first = "", 0


def _sources(rest: str) -> list[str]:
    words = rest.split()
    if any(word.startswith("--from") for word in words) or "<<" in rest:
        return []
    rest = " ".join(word for word in words if not word.startswith("--"))
    try:
        named = json.loads(rest) if rest.startswith("[") else rest.split()
    except (ValueError, RecursionError):
        return []
    plain = [str(one) for one in named[:-1]]
    return [one for one in plain if not re.search(r"[$*?\[\]\"'\\]|^[a-z]+://|^git@", one)]


def _folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _is_there(source: str, folder: str, there: Collection[str]) -> bool:
    """`there`: files and folders."""
    name = posixpath.normpath(source.lstrip("/"))
    if name in (".", "..") or name.startswith("../"):
        return True
    return name in there or posixpath.normpath(posixpath.join(folder, name)) in there


def compose(path: str, text: str, _paths: Collection[str]) -> Iterator[ToolRemark | str]:
    """What can be said of one file alone: services with neither image nor build, and names that are not there."""
    try:
        parsed = strict_yaml.parse(text, path).value
    except Refused as error:
        if "not valid YAML" in str(error):
            yield ToolRemark(f"{path} no YAML", str(error))
        else:
            yield str(error)
        return
    services = parsed.get("services") if isinstance(parsed, dict) else None
    if not isinstance(services, dict):
        yield ToolRemark(f"{path} no services", f"{path}: there is no `services:`")
        return
    is_part = "override" in path or "-" in posixpath.basename(path).removeprefix("docker-")
    for name, service in services.items():
        said = service if isinstance(service, dict) else {}
        if not is_part and not said.keys() & {"image", "build", "extends"}:
            yield ToolRemark(f"{path} {name} image", f"{path}: the service {name} has neither `image:` nor `build:`")
        needed = said.get("depends_on") or ()
        for other in map(str, needed if isinstance(needed, list | dict) else ()):
            if not is_part and other not in services:
                yield ToolRemark(
                    f"{path} {name} needs {other}", f"{path}: {name} depends on {other}, which is no service"
                )
