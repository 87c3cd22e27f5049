"""requirements*.txt -> findings: pinned versions of which an index has newer ones. Pure but for whom it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sisimpur.agents.orchestrator.upkeep.upkeep import UpkeepFinding
from sisimpur.agents.orchestrator.upkeep.upkeep_findings import SAME, Reach, Read
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import matches

FILES = ("requirements*.txt", "*-requirements.txt", "requirements/*.txt", "requirements/**/*.txt")
PIN = re.compile(  # name[extra]==1.2 ; marker  # remark
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!_-]{1,60})"
    r"\s*(?:;[^#\\]*)?(?:\s#.*)?"
)
MOST_PINS = 80  # that an index is asked about on one day


@dataclass(frozen=True)
class RequirementPin:
    """A line that holds one version of a package and nothing else that decides on it."""

    path: str
    line: int
    name: str
    version: str


class NewerRelease(Protocol):
    """The newest version that may be installed. `behind`: how many are newer than the pinned one."""

    @property
    def version(self) -> str: ...
    @property
    def behind(self) -> int: ...


class Releases(Protocol):
    """A package index."""

    def newer(self, name: str, version: str) -> NewerRelease | None:
        """None: there is none. Refused: nothing is known of this package. Unavailable: nothing is known at all."""


def pins(path: str, text: str) -> Iterator[RequirementPin]:
    """A line with hashes, with another condition or that goes on is left alone: to change it takes a tool."""
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        found = PIN.fullmatch(line.strip())
        if found and not goes_on:
            yield RequirementPin(path, number, found["name"], found["version"])
        goes_on = line.endswith("\\")


def outdated(reach: Reach, read: Read, releases: Releases) -> Iterator[UpkeepFinding]:
    """Unavailable, as `Releases.newer`; Refused: nothing is known of any of them."""
    listed = [pin for path in sorted(reach.paths) if _is_list(path, reach) for pin in pins(path, read(path))]
    refused: list[Refused] = []
    for pin in listed[:MOST_PINS]:
        try:
            newer = releases.newer(pin.name, pin.version)
        except Refused as reason:
            refused.append(reason)
            continue
        if newer:
            yield _outdated(pin, newer)
    if refused and len(refused) == len(listed[:MOST_PINS]):
        raise refused[0]


def _is_list(path: str, reach: Reach) -> bool:
    return bool(matches(path, FILES)) and path.endswith(".txt") and reach.may_pin(path)


def _outdated(pin: RequirementPin, newer: NewerRelease) -> UpkeepFinding:
    return UpkeepFinding(
        "outdated pin",
        f"{re.sub(r'[-_.]+', '-', pin.name).lower()} in {pin.path}",
        f"Update {pin.name} to {newer.version} in {pin.path}",
        f"Line {pin.line} of {pin.path} pins {pin.name} to {pin.version}; {newer.version} is the newest final version."
        f" Write =={newer.version} there and change nothing else: extras, markers and remarks of the line stay. {SAME}",
        (f"{pin.path} pins {pin.name}=={newer.version}", "the tests pass with it"),
        size=newer.behind,
        edit=(pin.path,),
    )
