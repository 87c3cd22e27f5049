"""Docker in words: our containers and images, their names, and what an engine says of what went wrong. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sisimpur.agents.devops.drivers.driver import Release
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.text import legible, one_line

HOME, PLACE, COMMIT = "sisimpur.home", "sisimpur.place", "sisimpur.commit"  # labels
SHORT = 12  # digits of a commit in the name of an image
UP = frozenset({"running", "restarting", "paused"})
SIGNALS = 128  # exit codes above it say which one
NO_ROOM = re.compile(r"no space left on device|disk quota exceeded|not enough space", re.IGNORECASE)
NO_REGISTRY = re.compile(
    r"/v2/.*(?:dial tcp|timeout|no such host|connection re|EOF|awaiting headers|: 50\d )|toomanyrequests",
    re.IGNORECASE | re.DOTALL,
)
ENGINE_ENDS = re.compile(r"dial unix \S*containerd|transport is closing|server is shutting down|context canceled", re.I)
PORT_TAKEN = re.compile(r"port is already allocated|address already in use", re.IGNORECASE)
NOISE = re.compile(r"Step \d+/\d+ : | ---> |Removing intermediate container |Successfully (?:built|tagged) ")
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Container:
    """`state`: created, running, paused, restarting, removing, exited, dead. `commit`: empty if it is of no release.

    `out_of_memory`: it ended for that.
    """

    id: str
    name: str
    place: Place
    commit: str
    state: str
    exit_code: int = 0
    restarts: int = 0
    out_of_memory: bool = False
    created: str = ""  # when, in a form that can be sorted

    @property
    def is_up(self) -> bool:
        return self.state in UP

    @property
    def ended(self) -> str:
        """Say how it ended; empty: it runs, or is about to again."""
        match self.state:
            case "running" | "restarting":
                return ""
            case "created":
                return "was never started"
            case "paused":
                return "is paused"
            case "exited" | "dead":
                return _ended(self.exit_code, self.out_of_memory)
            case _:
                return f"is {self.state}"


def _ended(code: int, out_of_memory: bool) -> str:
    if out_of_memory:
        return "took more memory than `deploy.memory` allows"
    return f"was ended by signal {code - SIGNALS}" if code > SIGNALS else f"ended with exit code {code}"


def summed_up(containers: Sequence[Container]) -> Running | None:
    """Sum up what a place of these says of itself; None: there are none.

    One without a commit is a part of any release.
    """
    commits = list(dict.fromkeys(one.commit for one in sorted(containers, key=lambda one: one.created) if one.commit))
    if not containers:
        return None
    if len(commits) != 1:
        short = ", ".join(commit[:SHORT] for commit in commits)
        return Running(
            commits[-1] if commits else "", f"containers of several commits at once: {short}" if short else ""
        )
    ended = [f"{one.name} {one.ended}" if len(containers) > 1 else f"it {one.ended}" for one in containers if one.ended]
    return Running(commits[0], ended[0] if ended else "", sum(one.restarts for one in containers))


@dataclass(frozen=True)
class Image:
    id: str
    names: tuple[str, ...]
    commit: str  # of its label


@dataclass(frozen=True)
class Names:
    """Names of the things of this home."""

    home: str
    _image: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{12}", self.home):
            raise ValueError(f"a home has 12 hexadecimal digits: {self.home!r}")
        ours = rf"sisimpur-{self.home}-({'|'.join(PLACES)})(?:[-_][a-zA-Z0-9._-]+)?:([0-9a-f]{{{SHORT}}})"
        object.__setattr__(self, "_image", re.compile(ours))

    def of(self, place: Place) -> str:
        """Prefix of every name of that place."""
        return f"sisimpur-{self.home}-{place}"

    def is_at(self, place: Place, name: str) -> bool:
        """A label alone does not say so: what somebody makes of an image of ours has its labels too."""
        return re.fullmatch(rf"{self.of(place)}(?:[-_.].*)?", name) is not None

    def image(self, release: Release) -> str:
        return f"{self.of(release.place)}:{release.commit[:SHORT]}"

    def released(self, image: str) -> tuple[Place, str] | None:
        """Place and short commit of an image of that name; None: it is none of ours."""
        found = self._image.fullmatch(image)
        return next((place, found[2]) for place in PLACES if place == found[1]) if found else None

    def labels(self, place: Place, commit: str = "") -> dict[str, str]:
        return {HOME: self.home, PLACE: place, **({COMMIT: commit} if commit else {})}


def why_away(said: str) -> str:
    """Say why no commit is to blame for the engine's words, and what to do; empty: one may be."""
    if NO_ROOM.search(said):
        return "Docker has no room left; see: docker system df; make room, e.g. with: docker image prune"
    if NO_REGISTRY.search(said):
        return f"the registry of the base image does not answer: {plain_line(said)}"
    if ENGINE_ENDS.search(said):
        return f"Docker is being stopped, or not whole: {plain_line(said)}; see: systemctl status docker containerd"
    return ""


def plain_line(said: str, longest: int = 300) -> str:
    return one_line(plain(said), longest)


def without_noise(said: str) -> str:
    """Leave out what the older builder says of each step, so that the last lines say what is wrong."""
    return "\n".join(line for line in said.split("\n") if not NOISE.match(line))


def plain(said: str) -> str:
    """Remove colours and what cannot be printed; a line keeps what was printed over it last."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in said.split("\n"))
    return legible(COLOURS.sub("", "\n".join(lines)))
