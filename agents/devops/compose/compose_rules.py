"""May this compose file be run, and as what? (the parsed file, what the owner says of the place) -> what we run. Pure.

Nothing of the file is passed on. A new one is written from what stands on the lists here; what stands on none is
refused by its full name, all of it at once. Names, labels, ports, limits, log and restarts are ours;
variables come from the owner's words only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sisimpur.agents.devops.compose import compose_service, compose_values
from sisimpur.agents.devops.compose.compose_parts import (
    SERVICE_NAME,
    ComposeSite,
    Inside,
    env_file_entries,
    named_parts,
)
from sisimpur.agents.devops.compose.compose_values import UNPRINTED, Problems, inside, is_absent, shown

MOST_SERVICES = 50
TOP = frozenset({"services", "volumes", "networks", "version", "name"})
REFUSED_AT_TOP: Mapping[str, str] = {
    "include": "only one file is read; write what it says into it",
    "secrets": "give keys in `env_file` of the place",
    "configs": "put the file into the image",
}


@dataclass(frozen=True)
class Composed:
    """File that we run. `document`: the file that compose is given, with nothing left to put in.

    `inside`: the paths of the repository that it names; they must lie in it in fact, which is for a door to see.
    `built`: service -> the name of its image; `pulled`: service -> an image that is only named.
    """

    document: Mapping[str, Any]
    inside: tuple[Inside, ...]
    built: Mapping[str, str]
    pulled: Mapping[str, str]

    @property
    def as_json(self) -> str:
        """Text that a reader of JSON and one of YAML read as the same."""
        written = json.dumps(self.document, ensure_ascii=False, indent=1)
        return UNPRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


@dataclass(frozen=True)
class Forbidden:
    """File that may not be run. Each problem is a sentence that names the key and says what to do."""

    problems: tuple[str, ...]


def checked(parsed: object, site: ComposeSite) -> Composed | Forbidden:
    """`parsed`: mappings, lists and plain values, as read from the repository's file."""
    problems = Problems()
    services = _services(parsed, site, problems)
    if not isinstance(parsed, dict) or not services:
        return Forbidden(problems.all())
    _top(parsed, problems)
    parts = named_parts(parsed, tuple(services), _images(services, site, problems), site, problems)
    found = {name: compose_service.checked(name, service, parts, site, problems) for name, service in services.items()}
    if problems.told:
        return Forbidden(problems.all())
    document = {
        "services": {name: one.written for name, one in found.items()},
        "volumes": parts.volumes,
        "networks": parts.networks,
    }
    return Composed(
        document={key: compose_values.escaped(value) for key, value in document.items()},
        inside=tuple(dict.fromkeys(path for one in found.values() for path in one.inside)),
        built={name: site.image(name) for name, one in found.items() if "build" in one.written},
        pulled={name: one.pulled for name, one in found.items() if one.pulled},
    )


def env_files(parsed: object, site: ComposeSite) -> tuple[str, ...]:
    """The paths of the repository that `env_file` names somewhere, so that they can be read before `checked`."""
    unheard = Problems()
    named: list[str] = []
    for service in _services(parsed, site, unheard).values():
        said = compose_values.filled(service.get("env_file"), site.env, "", unheard)
        for one in env_file_entries(said):
            try:
                named.append(inside(one.get("path"), site.base))
            except ValueError:
                continue
    return tuple(dict.fromkeys(named))


def _services(parsed: object, site: ComposeSite, problems: Problems) -> dict[str, dict[str, Any]]:
    """Services that are run: with a profile, compose runs none unless it is asked to."""
    services = parsed.get("services") if isinstance(parsed, dict) else None
    if not isinstance(services, dict) or not services:
        problems.add("services", "a compose file must say which services there are")
        return {}
    if len(services) > MOST_SERVICES:
        problems.add("services", f"more than {MOST_SERVICES}")
        return {}
    found = {}
    for name, service in services.items():
        where = f"services.{shown(name)}"
        if not SERVICE_NAME.fullmatch(str(name)):
            problems.add(where, "a name is made of letters, digits, `_`, `.` and `-`, at most 40 of them")
        elif not isinstance(service, dict):
            problems.add(where, "must say what the service is")
        elif is_absent(service.get("profiles")):
            found[str(name)] = service
    if site.service not in found and not problems.told:
        problems.add(
            f"services.{shown(site.service)}",
            "there is no such service, or it has a profile; name the one that answers in `deploy.service`",
        )
    return found


def _top(parsed: Mapping[str, object], problems: Problems) -> None:
    for key, value in parsed.items():
        if key in TOP or key.startswith("x-") or is_absent(value):
            continue
        problems.add(shown(key), f"not allowed here: {REFUSED_AT_TOP.get(key, 'it is not known; take it out')}")


def _images(services: Mapping[str, Mapping[str, Any]], site: ComposeSite, problems: Problems) -> dict[str, str]:
    """The name that the file gives an image which it builds -> ours: another service may use it by that name."""
    found: dict[str, str] = {}
    for name, service in services.items():
        if not is_absent(service.get("build")) and not is_absent(service.get("image")):
            said = compose_values.filled(service["image"], site.env, f"services.{name}.image", problems)
            found.setdefault(str(said), site.image(name))
    return found
