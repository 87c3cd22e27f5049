"""One service of a compose file: what it may say, and what is written instead. Pure.

A mount is a named volume, memory, or what lies in the repository. The last becomes read-only: each release has a folder
of its own, so what is written there would be gone with the next one. Data belongs into named volumes, which stay.
Labels are dropped: they speak to other programs of the machine, some of which would run commands for them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sisimpur.agents.devops.compose.compose_parts import (
    ComposeParts,
    ComposeService,
    ComposeSite,
    Inside,
    add_environment,
    add_image,
)
from sisimpur.agents.devops.compose.compose_values import (
    Problems,
    Shape,
    boolean,
    duration,
    each,
    filled,
    inside,
    is_absent,
    matching,
    number,
    shown,
    text,
    texts,
    words,
)
from sisimpur.shared.config.settings_deploy import CAPABILITIES

PROCESSES = 512  # of one container
LOGGING = {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}}
HOST = matching(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,62})", "the name of a host")
RESTART = matching(r"no|always|unless-stopped|on-failure(:[0-9]{1,3})?", "no, always, unless-stopped or on-failure")
CONDITIONS = matching(
    "service_started|service_healthy|service_completed_successfully",
    "service_started, service_healthy or service_completed_successfully",
)

PLAIN: Mapping[str, Shape] = {  # passed on as they are
    "command": words,
    "entrypoint": words,
    "user": matching(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,80}", "a user, or user:group"),
    "working_dir": matching(r"/[^\n]{0,500}", "a path in the container, from / on"),
    "hostname": HOST,
    "domainname": HOST,
    "read_only": boolean,
    "tty": boolean,
    "stdin_open": boolean,
    "init": boolean,
    "stop_signal": matching(r"[A-Z0-9+]{1,20}", "the name of a signal"),
    "shm_size": matching(r"[0-9]{1,12}([bkmgBKMG][bB]?)?", "a size such as 64m"),
    "cap_add": each(matching("|".join(CAPABILITIES), f"one of {', '.join(CAPABILITIES)}")),
    "tmpfs": each(matching(r"/[^:\n]{0,300}(:[a-z0-9=,]{1,100})?", "a path in the container, from / on")),
}
WRITTEN_ANEW = frozenset(
    {"build", "image", "environment", "env_file", "volumes", "networks", "depends_on", "healthcheck", "links"}
)
OURS = frozenset(  # dropped: said by us, or of no meaning here
    {"ports", "expose", "container_name", "labels", "annotations", "logging", "restart", "stop_grace_period"}
    | {"mem_limit", "mem_reservation", "memswap_limit", "cpus", "cpu_shares", "cpu_quota", "cpu_period", "pids_limit"}
    | {"platform", "pull_policy", "attach", "develop", "profiles", "cap_drop"}
)
DEPLOY_OURS = frozenset(
    {"mode", "replicas", "resources", "restart_policy", "update_config", "rollback_config", "labels"}
)
IN_OURS = "only what runs beside the others in its own container may be run; take it out"
REFUSED: Mapping[str, str] = {
    "privileged": "a container must not be more than its program; take it out",
    "devices": "devices of this machine are not given away; take it out",
    "network_mode": "name networks of the file in `networks` instead",
    "security_opt": "no-new-privileges is set by us; take it out",
    "sysctls": "the kernel's settings are this machine's; take it out",
    "runtime": "the engine's own is used; take it out",
    "extends": "write what it says into this service",
    "external_links": "what runs elsewhere is reached by its address, given in `env`",
    "secrets": "give keys in `env_file` of the place",
    "configs": "put the file into the image",
    "volumes_from": "name the volumes in `volumes`",
    "extra_hosts": "give the address in `env` of the place",
    "scale": "one container of each service is run; take it out",
    **dict.fromkeys(
        ("pid", "ipc", "uts", "userns_mode", "cgroup", "cgroup_parent", "group_add", "oom_kill_disable"), IN_OURS
    ),
}
HEALTH: Mapping[str, Shape] = {
    "test": words,
    "interval": duration,
    "timeout": duration,
    "start_period": duration,
    "retries": number,
    "disable": boolean,
}


def checked(
    name: str, said: Mapping[str, Any], parts: ComposeParts, site: ComposeSite, problems: Problems
) -> ComposeService:
    where = f"services.{name}"
    kept = filled({k: v for k, v in said.items() if k not in OURS}, site.env, where, problems)
    known = {
        key: value for key, value in (kept if isinstance(kept, dict) else {}).items() if not _is_unsaid(key, value)
    }
    _refuse(known, where, problems)
    service = ComposeService(
        {key: problems.shaped(f"{where}.{key}", known[key], PLAIN[key]) for key in PLAIN if key in known}
    )
    add_image(name, known, parts, site, service, problems)
    add_environment(name, known, site, service, problems)
    _restart(name, said, site, service, problems)
    _others(where, known, parts, service, problems)
    aliases = _aliases(said, site, where, problems)
    mounted = mounts(where, known.get("volumes"), parts, site, problems)
    service.inside += mounted.inside
    service.written |= {
        **({"volumes": mounted.written} if mounted.written else {}),
        "networks": networks(where, known.get("networks"), aliases, parts, problems),
        **_limits(name, site, service),
    }
    return service


def _is_unsaid(key: str, value: object) -> bool:
    """An empty command is one."""
    return value is None if key in ("command", "entrypoint") else is_absent(value)


def _refuse(known: Mapping[str, Any], where: str, problems: Problems) -> None:
    for key, value in known.items():
        if key in PLAIN or key in WRITTEN_ANEW or key.startswith("x-") or _is_harmless(key, value):
            continue
        if key == "deploy":
            _refuse_in_deploy(value, f"{where}.deploy", problems)
        else:
            why = REFUSED.get(key, "it is not on the list of what a service may say; take it out")
            problems.add(f"{where}.{shown(key)}", f"not allowed here: {why}")


def _is_harmless(key: str, value: object) -> bool:
    """Say whether we do this anyway."""
    promises = (["no-new-privileges"], ["no-new-privileges:true"], ["no-new-privileges=true"])
    return (key == "security_opt" and value in promises) or (key == "scale" and str(value) == "1")


def _refuse_in_deploy(said: object, where: str, problems: Problems) -> None:
    """Replace its limits by ours; what asks for more than one container, or for devices, is refused."""
    if not isinstance(said, dict):
        problems.add(where, "must be names with values")
        return
    for key in said.keys() - DEPLOY_OURS:
        problems.add(f"{where}.{shown(key)}", "not allowed here: it is for a cluster; take it out")
    if str(said.get("replicas", 1)) != "1":
        problems.add(f"{where}.replicas", f"not allowed here: {REFUSED['scale']}")
    if said.get("mode", "replicated") != "replicated":
        problems.add(f"{where}.mode", f"not allowed here: {REFUSED['scale']}")
    for key, inner in (said.get("resources") or {}).items() if isinstance(said.get("resources"), dict) else ():
        for asked in (inner if isinstance(inner, dict) else {}).keys() - {"cpus", "memory", "pids"}:
            problems.add(f"{where}.resources.{shown(key)}.{shown(asked)}", f"not allowed here: {REFUSED['devices']}")


# --- how it runs ---------------------------------------------------------------------------------------------


def _restart(
    name: str, said: Mapping[str, Any], site: ComposeSite, service: ComposeService, problems: Problems
) -> None:
    """Set when it is started again. What answers always is; of the others a job may end, and stays so."""
    where = f"services.{name}.restart"
    asked = filled(said.get("restart"), site.env, where, problems)
    word = "no" if is_absent(asked) else problems.shaped(where, asked, RESTART) or "no"
    if name == site.service or word == "always":
        word = "unless-stopped"
    service.written["restart"] = word


def _others(
    where: str, known: Mapping[str, Any], parts: ComposeParts, service: ComposeService, problems: Problems
) -> None:
    if "depends_on" in known:
        service.written["depends_on"] = _depends(f"{where}.depends_on", known["depends_on"], parts, problems)
    if "healthcheck" in known:
        service.written["healthcheck"] = _health(f"{where}.healthcheck", known["healthcheck"], problems)
    if "links" in known:
        links = problems.shaped(f"{where}.links", known["links"], texts)
        service.written["links"] = links
        for link in links if isinstance(links, list) else ():
            _exists(f"{where}.links", link.partition(":")[0], parts, problems)


def _depends(where: str, said: object, parts: ComposeParts, problems: Problems) -> dict[str, Any]:
    asked = dict.fromkeys(map(str, said)) if isinstance(said, list) else said
    if not isinstance(asked, dict):
        problems.add(where, "must be a list of services, or services with conditions")
        return {}
    found = {}
    for name, inner in asked.items():
        _exists(where, name, parts, problems)
        condition = inner.get("condition", "service_started") if isinstance(inner, dict) else "service_started"
        found[name] = {"condition": problems.shaped(f"{where}.{shown(name)}.condition", condition, CONDITIONS)}
    return found


def _exists(where: str, name: str, parts: ComposeParts, problems: Problems) -> None:
    if name not in parts.services:
        problems.add(where, f"there is no service {shown(name)} that is run")


def _health(where: str, said: object, problems: Problems) -> dict[str, Any]:
    if not isinstance(said, dict):
        problems.add(where, "must be names with values")
        return {}
    for key in said.keys() - HEALTH.keys() - {"start_interval"}:
        problems.add(f"{where}.{shown(key)}", "not allowed here: it is not known; take it out")
    return {
        key: problems.shaped(f"{where}.{key}", said[key], shape)
        for key, shape in HEALTH.items()
        if not is_absent(said.get(key))
    }


def _aliases(said: Mapping[str, Any], site: ComposeSite, where: str, problems: Problems) -> list[str]:
    """A container's name is ours, but the others may speak to it by the name that the file gives it."""
    name = filled(said.get("container_name"), site.env, f"{where}.container_name", problems)
    return [] if is_absent(name) else [str(problems.shaped(f"{where}.container_name", name, HOST))]


def _limits(name: str, site: ComposeSite, service: ComposeService) -> dict[str, Any]:
    marked = {site.commit_label: site.commit} if service.is_marked else {}
    found: dict[str, Any] = {
        "labels": {**site.labels, **marked},
        "logging": LOGGING,
        "mem_limit": f"{site.memory}m",
        "memswap_limit": f"{site.memory}m",
        "cpus": site.cpus,
        "pids_limit": PROCESSES,
        "security_opt": ["no-new-privileges:true"],
        "cap_drop": ["ALL"],
    }
    if service.is_marked:
        found["init"] = service.written.get("init", True)
    if name == site.service:
        found["ports"] = [f"127.0.0.1:{site.port}:{site.container_port}"]
    return found


# --- mounts and networks -------------------------------------------------------------------------------------

TARGET = matching(r"/[^\n]{0,500}", "a path in the container, from / on")
ALIAS = matching(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", "the name of a host")
SHORT_OPTIONS = frozenset({"ro", "rw", "z", "Z", "cached", "delegated", "consistent", "nocopy"})
LONG_KEYS = frozenset({"type", "source", "target", "read_only", "consistency", "bind", "volume", "tmpfs"})
LONG_OPTIONS: Mapping[str, frozenset[str]] = {
    "bind": frozenset({"create_host_path", "selinux"}),
    "volume": frozenset({"nocopy"}),
    "tmpfs": frozenset({"size", "mode"}),
}
NAMELESS = "data needs a name to be kept: declare it in `volumes`, and write name:/path"


@dataclass
class Mounts:
    written: list[dict[str, Any]] = field(default_factory=list)
    inside: list[Inside] = field(default_factory=list)


def mounts(where: str, said: object, parts: ComposeParts, site: ComposeSite, problems: Problems) -> Mounts:
    found = Mounts()
    if is_absent(said):
        return found
    if not isinstance(said, list):
        problems.add(f"{where}.volumes", "must be a list")
        return found
    for number_, one in enumerate(said):
        here = f"{where}.volumes[{number_}]"
        try:
            mount = _long(one) if isinstance(one, dict) else _short(text(one))
            found.written.append(_written(here, mount, parts, site, found))
        except ValueError as error:
            problems.add(here, str(error))
    return found


@dataclass(frozen=True)
class _Mount:
    kind: str  # bind, volume, tmpfs
    source: str
    target: str
    is_read_only: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def _short(said: str) -> _Mount:
    """SOURCE:TARGET[:OPTIONS]"""
    if "docker.sock" in said:
        raise ValueError("whoever speaks to the engine owns this machine; take it out")
    source, colon, rest = said.partition(":")
    if not colon:
        raise ValueError(f"{shown(said)}: {NAMELESS}")
    target, _, options = rest.partition(":")
    for option in filter(None, options.split(",")):
        if option not in SHORT_OPTIONS:
            raise ValueError(f"the option {shown(option)} is not allowed; take it out")
    kind = "bind" if source.startswith((".", "/", "~")) or "/" in source or "\\" in source else "volume"
    nocopy = {"nocopy": True} if kind == "volume" and "nocopy" in options.split(",") else {}
    return _Mount(kind, source, str(TARGET(target)), "ro" in options.split(","), nocopy)


def _long(said: Mapping[str, Any]) -> _Mount:
    kind, source = text(said.get("type", "")), said.get("source")
    if kind not in LONG_OPTIONS:
        raise ValueError(f"type {shown(kind)} is not allowed: name a volume, a folder of the repository, or tmpfs")
    if "docker.sock" in str(source):
        raise ValueError("whoever speaks to the engine owns this machine; take it out")
    options = said.get(kind) or {}
    unknown = (said.keys() - LONG_KEYS) | (
        (options.keys() if isinstance(options, dict) else {"?"}) - LONG_OPTIONS[kind]
    )
    if unknown := {key for key in unknown if not str(key).startswith("x-")}:
        raise ValueError(f"{', '.join(sorted(map(shown, unknown)))}: not allowed here; take it out")
    if is_absent(source) and kind != "tmpfs":
        raise ValueError(NAMELESS)
    return _Mount(
        kind,
        "" if kind == "tmpfs" else text(source),
        str(TARGET(said.get("target", ""))),
        bool(boolean(said.get("read_only", False))),
        {key: value for key, value in options.items() if not is_absent(value)},
    )


def _written(where: str, mount: _Mount, parts: ComposeParts, site: ComposeSite, found: Mounts) -> dict[str, Any]:
    """Long syntax: with it the engine makes no folder for a source that is not there."""
    written: dict[str, Any] = {"type": mount.kind, "target": mount.target}
    match mount.kind:
        case "bind":
            path = inside(mount.source, site.base)
            found.inside.append(Inside(where, path, "any"))
            source = posixpath.normpath(posixpath.join(site.folder, path))
            return {**written, "source": source, "read_only": True}
        case "tmpfs":
            size = mount.options.get("size")
            return written if size is None else {**written, "tmpfs": {"size": number(size)}}
    if mount.source not in parts.volumes:
        raise ValueError(f"there is no volume {shown(mount.source)}; declare it in `volumes`")
    written["source"] = mount.source
    if mount.is_read_only:
        written["read_only"] = True
    if boolean(mount.options.get("nocopy", False)):
        written["volume"] = {"nocopy": True}
    return written


def networks(where: str, said: object, aliases: list[str], parts: ComposeParts, problems: Problems) -> dict[str, Any]:
    """Name of a network -> names by which the others may call the service there."""
    asked = {"default": None} if is_absent(said) else said
    asked = dict.fromkeys(map(str, asked)) if isinstance(asked, list) else asked
    if not isinstance(asked, dict):
        problems.add(f"{where}.networks", "must be a list of networks")
        return {}
    found: dict[str, Any] = {}
    for name, inner in asked.items():
        here = f"{where}.networks.{shown(name)}"
        if name not in parts.networks:
            problems.add(here, "there is no such network; declare it in `networks`")
        found[name] = {"aliases": sorted({*aliases, *_own_aliases(here, inner, problems)})}
    return {name: inner if inner["aliases"] else {} for name, inner in found.items()}


def _own_aliases(where: str, said: object, problems: Problems) -> list[str]:
    if said is None:
        return []
    if not isinstance(said, dict):
        problems.add(where, "must be empty, or names with values")
        return []
    for key in said.keys() - {"aliases", "priority"}:
        problems.add(f"{where}.{shown(key)}", "not allowed here: the engine chooses addresses; take it out")
    found = problems.shaped(f"{where}.aliases", said.get("aliases") or [], each(ALIAS))
    return [str(alias) for alias in found] if isinstance(found, list) else []
