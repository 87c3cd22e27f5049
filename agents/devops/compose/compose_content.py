"""What a service of a compose file is made of: its image, or how that is built, and its environment. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.devops.compose.compose_parts import ComposeParts, ComposeSite, Inside
from agents.devops.compose.compose_values import Problems, inside, is_absent, matching, pairs, shown, text

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
    """`written`: as compose is given it. `pulled`: its image, if that is only named; `ends`: it may end with 0."""

    written: dict[str, Any]
    pulled: str = ""
    is_marked: bool = False
    ends: bool = False
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
        problems.tell(where, "needs `build` or `image`")


def _build(where: str, said: object, site: ComposeSite, service: ComposeService, problems: Problems) -> dict[str, Any]:
    said = said if isinstance(said, dict) else {"context": said}
    for key, value in said.items():
        if not (
            key in BUILD_OURS or key.startswith("x-") or is_absent(value) or (key, value) == ("network", "default")
        ):
            why = BUILD_REFUSED.get(key, "it is not on the list of what a build may say; take it out")
            problems.tell(f"{where}.{shown(key)}", f"not allowed here: {why}")
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
    """What it holds; None: it is not in the repository, and the owner's is used."""
    for key in entry.keys() - {"path", "required", "format"}:
        problems.tell(f"{where}.{shown(key)}", "not allowed here: it is not known; take it out")
    path = problems.shaped(where, entry.get("path", ""), lambda said: inside(said, site.base))
    if path is None:
        return {}
    if (held := site.files.get(str(path))) is not None:
        return held
    if not site.has_env_file and entry.get("required", True) not in (False, "false"):
        problems.tell(
            where,
            f"{shown(path)} is not in the repository: write the path of a file with its values, which may be empty,"
            f" into `deploy.{site.place}.env_file` of config/targets/",
        )
    return None
