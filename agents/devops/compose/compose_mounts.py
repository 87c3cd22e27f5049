"""What a service of a compose file mounts, and the networks that it is in. Pure.

A mount is a named volume, memory, or what lies in the repository; the last is read-only. What the containers write
there would be gone with the next release, which has a folder of its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.devops.compose.compose_parts import ComposeParts, ComposeSite, Inside
from agents.devops.compose.compose_values import (
    Problems,
    Unfit,
    boolean,
    each,
    inside,
    is_absent,
    matching,
    number,
    shown,
    text,
)

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
        problems.tell(f"{where}.volumes", "must be a list")
        return found
    for number_, one in enumerate(said):
        here = f"{where}.volumes[{number_}]"
        try:
            mount = _long(one) if isinstance(one, dict) else _short(text(one))
            found.written.append(_written(here, mount, parts, site, found))
        except Unfit as error:
            problems.tell(here, str(error))
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
        raise Unfit("whoever speaks to the engine owns this machine; take it out")
    source, colon, rest = said.partition(":")
    if not colon:
        raise Unfit(f"{shown(said)}: {NAMELESS}")
    target, _, options = rest.partition(":")
    for option in filter(None, options.split(",")):
        if option not in SHORT_OPTIONS:
            raise Unfit(f"the option {shown(option)} is not allowed; take it out")
    kind = "bind" if source.startswith((".", "/", "~")) or "/" in source or "\\" in source else "volume"
    nocopy = {"nocopy": True} if kind == "volume" and "nocopy" in options.split(",") else {}
    return _Mount(kind, source, str(TARGET(target)), "ro" in options.split(","), nocopy)


def _long(said: Mapping[str, Any]) -> _Mount:
    kind, source = text(said.get("type", "")), said.get("source")
    if kind not in LONG_OPTIONS:
        raise Unfit(f"type {shown(kind)} is not allowed: name a volume, a folder of the repository, or tmpfs")
    if "docker.sock" in str(source):
        raise Unfit("whoever speaks to the engine owns this machine; take it out")
    options = said.get(kind) or {}
    unknown = (said.keys() - LONG_KEYS) | (
        (options.keys() if isinstance(options, dict) else {"?"}) - LONG_OPTIONS[kind]
    )
    if unknown := {key for key in unknown if not str(key).startswith("x-")}:
        raise Unfit(f"{', '.join(sorted(map(shown, unknown)))}: not allowed here; take it out")
    if is_absent(source) and kind != "tmpfs":
        raise Unfit(NAMELESS)
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
        raise Unfit(f"there is no volume {shown(mount.source)}; declare it in `volumes`")
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
        problems.tell(f"{where}.networks", "must be a list of networks")
        return {}
    found: dict[str, Any] = {}
    for name, inner in asked.items():
        here = f"{where}.networks.{shown(name)}"
        if name not in parts.networks:
            problems.tell(here, "there is no such network; declare it in `networks`")
        found[name] = {"aliases": sorted({*aliases, *_own_aliases(here, inner, problems)})}
    return {name: inner if inner["aliases"] else {} for name, inner in found.items()}


def _own_aliases(where: str, said: object, problems: Problems) -> list[str]:
    if said is None:
        return []
    if not isinstance(said, dict):
        problems.tell(where, "must be empty, or names with values")
        return []
    for key in said.keys() - {"aliases", "priority"}:
        problems.tell(f"{where}.{shown(key)}", "not allowed here: the engine chooses addresses; take it out")
    found = problems.shaped(f"{where}.aliases", said.get("aliases") or [], each(ALIAS))
    return [str(alias) for alias in found] if isinstance(found, list) else []
