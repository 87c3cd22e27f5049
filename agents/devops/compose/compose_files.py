"""Door to a repository's compose file. The only module that reads it, and sees whether what it names lies there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agents.devops.compose import compose_rules
from agents.devops.compose.compose_parts import ComposeSite, Inside
from agents.devops.compose.compose_rules import Composed, Forbidden
from agents.devops.compose.compose_values import Problems, escaped, plain
from agents.devops.drivers import build_context
from agents.devops.drivers.release_env import read_env_file
from shared.model.errors import Misconfigured, Refused
from shared.system import strict_yaml
from shared.system.fault import fault_point
from shared.system.paths import read_text, write_text


class NotToRun(Refused):
    """The commit's file may not be run. The text says all that is wrong with it."""


def composed(root: Path, site: ComposeSite) -> Composed:
    """What is run of the file in the folder `root`, which holds a commit's files. NotToRun."""
    try:
        parsed = strict_yaml.parse(read_text(_real(root, Inside("compose_file", site.file, "file"))), site.file).value
        held = {name: _env_file(root, name) for name in compose_rules.env_files(parsed, site)}
    except NotToRun:
        raise
    except Refused as refused:
        raise NotToRun(str(refused)) from None
    found = compose_rules.checked(parsed, replace(site, files=held))
    problems = found.problems if isinstance(found, Forbidden) else _told(_outside(root, found))
    if problems or isinstance(found, Forbidden):
        raise NotToRun("\n".join((f"{site.file} may not be run as it is:", *problems)))
    return found


def labelled(composed: Composed, folder: Path, labels: Mapping[str, str]) -> Composed:
    """The same, with Dockerfiles of ours in `folder`, each stage of which begins with the labels. NotToRun.

    The older builder keeps every step of a build, also of one that failed: so they are ours to know and to throw away.
    """
    services = dict(composed.document["services"])
    for number, name in enumerate(composed.built):
        build = services[name]["build"]
        said, ours = Path(plain(build["context"]), plain(build["dockerfile"])), folder / f"Dockerfile.{number}"
        try:
            write_text(ours, build_context.labelled(read_text(said), labels))
        except (Refused, FileNotFoundError) as refused:
            raise NotToRun(f"services.{name}.build.dockerfile: {refused}") from None
        fault_point("deploy.dockerfile-written")
        services[name] = {**services[name], "build": {**build, "dockerfile": escaped(str(ours))}}
    return replace(composed, document={**composed.document, "services": services})


def _told(problems: list[str]) -> tuple[str, ...]:
    """Each whole, or only counted."""
    told = Problems(problems)
    return told.all()


def _outside(root: Path, composed: Composed) -> list[str]:
    """What is wrong with the paths that the file names, as they lie there."""
    problems = []
    for named in composed.inside:
        try:
            _real(root, named)
            if named.kind == "folder":
                _real(root, replace(named, path=f"{named.path}/.dockerignore", kind="file"))
        except Refused as refused:
            problems.append(str(refused))
    return problems


def _real(root: Path, named: Inside) -> Path:
    """Where it lies. Refused: not in the repository, also by way of a link, or not what it has to be."""
    path = Path(os.path.realpath(root / named.path))
    if not path.is_relative_to(os.path.realpath(root)):
        raise Refused(f"{named.where}: {named.path} leads out of the repository by a link; put the thing itself there")
    if named.path.endswith("/.dockerignore") and not path.exists():
        return path
    fits = {"file": path.is_file(), "folder": path.is_dir(), "any": path.is_file() or path.is_dir()}
    if not fits[named.kind]:
        data = "; what is to be kept belongs into a named volume" if named.kind == "any" else ""
        raise Refused(f"{named.where}: there is no {named.path} in the repository{data}")
    return path


def _env_file(root: Path, name: str) -> Mapping[str, str] | None:
    """None: it is not there. Refused: it cannot be read, or is a link."""
    path = root / name
    if not os.path.lexists(path):
        return None
    _real(root, Inside("env_file", name, "file"))
    try:
        return read_env_file(path)
    except Misconfigured as wrong:
        raise Refused(str(wrong)) from None
