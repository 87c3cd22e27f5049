"""Parts of a compose file: its volumes and networks, and a service's image, build and environment. Pure."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sisimpur.agents.devops.compose.compose_values import (
    Problems,
    boolean,
    filled,
    inside,
    is_absent,
    matching,
    pairs,
    shown,
    text,
)
from sisimpur.shared.model.deployment import Place

SERVICE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")

ELSEWHERE = "what is somebody else's cannot be used; take `external` out, and ours is made"
DRIVEN = "options of a driver can name folders and machines; take them out"
OURS = frozenset({"name", "labels"})
VOLUME_KEYS = OURS
NETWORK_KEYS = OURS | {"internal", "attachable"}
REFUSED: Mapping[str, str] = {
    "external": ELSEWHERE,
    "driver_opts": DRIVEN,
    "ipam": "staging and production run side by side; the engine chooses addresses",
}


@dataclass(frozen=True)
class ComposeSite:
    """The owner's words about a place, and what of ours the file is written for.

    `env`: its whole environment, with what `env_file` holds; `has_env_file`: one is configured. `files`: env files of
    the repository, by path, None: it is not there.
    """

    place: Place
    commit: str
    name: str  # all names of ours begin with it
    labels: Mapping[str, str]  # of everything but images, without its commit
    image_labels: Mapping[str, str]  # fewer, as what others make of an image gets them too
    commit_label: str
    folder: str  # the commit's files, an absolute path
    file: str = "docker-compose.yml"  # its path there
    service: str = "web"
    port: int = 8_000
    container_port: int = 8_000
    memory: int = 1_024  # MB
    cpus: float = 1.0
    env: Mapping[str, str] = field(default_factory=dict)
    has_env_file: bool = False
    files: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The folder that the paths of the file begin at."""
        return self.file.rpartition("/")[0]

    def image(self, service: str) -> str:
        """The image of a service that is built. The engine wants small letters, and few signs."""
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", service):
            digest = hashlib.sha256(service.encode()).hexdigest()[:8]
            service = "-".join((*re.findall(r"[a-z0-9]+", service.lower()), digest))
        return f"{self.name}-{service}:{self.commit[:12]}"


@dataclass(frozen=True)
class Inside:
    """A path of the repository, the key that names it, and what must be there."""

    where: str
    path: str
    kind: Literal["folder", "file", "any"]


@dataclass(frozen=True)
class ComposeParts:
    """`volumes`, `networks`: as they are written. `images`: a name in the file -> ours. `services`: all that run."""

    services: tuple[str, ...]
    images: Mapping[str, str]
    volumes: Mapping[str, Any]
    networks: Mapping[str, Any]


def named_parts(
    parsed: Mapping[str, Any],
    services: tuple[str, ...],
    images: Mapping[str, str],
    site: ComposeSite,
    problems: Problems,
) -> ComposeParts:
    volumes = {
        name: {"name": f"{site.name}-{name}", "labels": dict(site.labels)}
        for name, _ in _declared("volumes", parsed, site, VOLUME_KEYS, "local", problems)
    }
    networks = {
        name: _network(name, said, site, problems)
        for name, said in _declared("networks", parsed, site, NETWORK_KEYS, "bridge", problems)
    }
    networks.setdefault("default", _network("default", {}, site, problems))
    return ComposeParts(services, images, volumes, networks)


def _network(name: str, said: Mapping[str, Any], site: ComposeSite, problems: Problems) -> dict[str, Any]:
    """Name what is internal differently: the engine cannot change a network that is there."""
    is_internal = problems.shaped(f"networks.{name}.internal", said.get("internal") or False, boolean)
    if not is_internal:
        return {"name": f"{site.name}-{name}", "labels": dict(site.labels)}
    return {"name": f"{site.name}.internal-{name}", "labels": dict(site.labels), "internal": True}


def _declared(
    section: str, parsed: Mapping[str, Any], site: ComposeSite, allowed: frozenset[str], driver: str, problems: Problems
) -> list[tuple[str, Mapping[str, Any]]]:
    """(name, what is said of it) for each that may be made; what may not is told."""
    declared = parsed.get(section)
    if declared is None:
        return []
    if not isinstance(declared, dict):
        problems.add(section, "must be names, each with what is said of it")
        return []
    found = []
    for name, said in declared.items():
        where = f"{section}.{shown(name)}"
        if not PART_NAME.fullmatch(str(name)):
            problems.add(where, "a name is made of letters, digits, `_`, `.` and `-`, at most 61 of them")
        elif said is not None and not isinstance(said, dict):
            problems.add(where, "must be empty, or say what it is")
        else:
            kept = filled({k: v for k, v in (said or {}).items() if k not in OURS}, site.env, where, problems)
            found.append((name, _kept(kept if isinstance(kept, dict) else {}, where, allowed, driver, problems)))
    return found


def _kept(
    said: Mapping[str, Any], where: str, allowed: frozenset[str], driver: str, problems: Problems
) -> Mapping[str, Any]:
    for key, value in said.items():
        if key in allowed or key.startswith("x-") or is_absent(value) or (key == "driver" and value == driver):
            continue
        why = f"only {driver} may be used" if key == "driver" else REFUSED.get(key, "it is not known; take it out")
        problems.add(f"{where}.{shown(key)}", f"not allowed here: {why}")
    return said


# --- image, build and environment ----------------------------------------------------------------------------

IMAGE = matching(
    r"[a-z0-9]([a-z0-9._:/-]{0,250})(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?",
    "the name of an image",
)
BUILD_REFUSED: Mapping[str, str] = {
    "additional_contexts": "only the context itself is sent; copy what is needed into it",
    "ssh": "keys of this machine are not given away; take it out",
    "secrets": "keys of this machine are not given away; take it out",
    "network": "a build has the engine's usual network; take it out",
    "cache_from": "what others built is not trusted; take it out",
    "tags": "the image has a name of ours; take it out",
}
BUILD_OURS = frozenset(
    {"context", "dockerfile", "args", "target", "labels", "no_cache", "pull", "platforms", "shm_size"}
)


@dataclass
class ComposeService:
    """`written`: as compose is given it. `pulled`: its image, if that is only named."""

    written: dict[str, Any]
    pulled: str = ""
    is_marked: bool = False
    inside: list[Inside] = field(default_factory=list)


# --- image ---------------------------------------------------------------------------------------------------


def add_image(
    name: str,
    known: Mapping[str, Any],
    parts: ComposeParts,
    site: ComposeSite,
    service: ComposeService,
    problems: Problems,
) -> None:
    where = f"services.{name}"
    if "build" in known:
        service.written["image"] = site.image(name)
        service.written["build"] = _build(f"{where}.build", known["build"], site, service, problems)
        service.is_marked = True
    elif "image" in known:
        said = str(problems.shaped(f"{where}.image", known["image"], IMAGE))
        ours = parts.images.get(said, "")
        service.pulled = "" if ours else said
        service.is_marked = bool(ours) or name == site.service
        service.written["image"] = ours or said
    else:
        problems.add(where, "needs `build` or `image`")


def _build(where: str, said: object, site: ComposeSite, service: ComposeService, problems: Problems) -> dict[str, Any]:
    said = said if isinstance(said, dict) else {"context": said}
    for key, value in said.items():
        if not (
            key in BUILD_OURS or key.startswith("x-") or is_absent(value) or (key, value) == ("network", "default")
        ):
            why = BUILD_REFUSED.get(key, "it is not on the list of what a build may say; take it out")
            problems.add(f"{where}.{shown(key)}", f"not allowed here: {why}")
    context = problems.shaped(f"{where}.context", said.get("context", "."), lambda path: inside(path, site.base)) or "."
    dockerfile = problems.shaped(
        f"{where}.dockerfile", said.get("dockerfile") or "Dockerfile", lambda path: inside(path, str(context))
    )
    service.inside += [
        Inside(f"{where}.context", str(context), "folder"),
        Inside(f"{where}.dockerfile", str(dockerfile), "file"),
    ]
    target, args = said.get("target"), said.get("args") or {}
    found = {
        "context": posixpath.normpath(posixpath.join(site.folder, str(context))),
        "dockerfile": posixpath.relpath(str(dockerfile), str(context)),
        "args": problems.shaped(f"{where}.args", args, lambda value: pairs(value, site.env)),
        "target": target and problems.shaped(f"{where}.target", target, matching(r"[A-Za-z0-9_.-]{1,100}", "a stage")),
        "labels": dict(site.image_labels),
    }
    return {key: value for key, value in found.items() if value}


# --- environment ---------------------------------------------------------------------------------------------


def env_file_entries(said: object) -> list[dict[str, Any]]:
    """Short and long way of writing it -> {path, required, format}."""
    entries = said if isinstance(said, list) else [] if is_absent(said) else [said]
    return [one if isinstance(one, dict) else {"path": one} for one in entries]


def add_environment(
    name: str, known: Mapping[str, Any], site: ComposeSite, service: ComposeService, problems: Problems
) -> None:
    """The owner's words come last, and go to what is built here, what answers, and what asks for a file."""
    where = f"services.{name}"
    found: dict[str, str] = {}
    is_owners = service.is_marked
    for one in env_file_entries(known.get("env_file")):
        held = _file(f"{where}.env_file", one, site, problems)
        is_owners |= held is None
        found |= held or {}
    said = problems.shaped(f"{where}.environment", known.get("environment") or {}, lambda v: pairs(v, site.env))
    found |= said if isinstance(said, dict) else {}
    found |= site.env if is_owners else {}
    for key, value in found.items():
        problems.shaped(f"{where}.environment.{shown(key)}", value, text)
    if found:
        service.written["environment"] = found


def _file(where: str, entry: Mapping[str, Any], site: ComposeSite, problems: Problems) -> Mapping[str, str] | None:
    """Content of the file; None: it is not in the repository, and the owner's is used."""
    for key in entry.keys() - {"path", "required", "format"}:
        problems.add(f"{where}.{shown(key)}", "not allowed here: it is not known; take it out")
    path = problems.shaped(where, entry.get("path", ""), lambda said: inside(said, site.base))
    if path is None:
        return {}
    if (held := site.files.get(str(path))) is not None:
        return held
    if not site.has_env_file and entry.get("required", True) not in (False, "false"):
        problems.add(
            where,
            f"{shown(path)} is not in the repository: write the path of a file with its values, which may be empty,"
            f" into `deploy.{site.place}.env_file` of config/targets/",
        )
    return None
