"""What the services of a compose file share: where they run, their volumes and networks, and the image names. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agents.devops.compose.compose_values import Problems, boolean, filled, is_absent, shown
from shared.model.deployment import Place

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
    """What is internal has another name: the engine cannot change a network that is there."""
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
        problems.tell(section, "must be names, each with what is said of it")
        return []
    found = []
    for name, said in declared.items():
        where = f"{section}.{shown(name)}"
        if not PART_NAME.fullmatch(str(name)):
            problems.tell(where, "a name is made of letters, digits, `_`, `.` and `-`, at most 61 of them")
        elif said is not None and not isinstance(said, dict):
            problems.tell(where, "must be empty, or say what it is")
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
        problems.tell(f"{where}.{shown(key)}", f"not allowed here: {why}")
    return said
