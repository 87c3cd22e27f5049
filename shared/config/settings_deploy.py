"""Settings of deployments: `deploy` and `health` of a target's file. Off until a driver is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import pydantic
from pydantic import AfterValidator, Field

from sisimpur.shared.config.settings_part import SettingsPart
from sisimpur.shared.model.naming import PLACES, Place

if TYPE_CHECKING:  # most homes deploy nothing
    from sisimpur.shared.model.deployment import Rule


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"not a regular expression ({error})") from None
    return value


def _absolute(value: str) -> str:
    if value and not value.startswith("/"):
        raise ValueError("write the whole path, from / on")
    return value


Argv = tuple[Annotated[str, Field(max_length=4_000)], ...]
Expression = Annotated[str, Field(max_length=500), AfterValidator(_expression)]
Absolute = Annotated[str, Field(max_length=1_000), AfterValidator(_absolute)]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,100}$", examples=["DATABASE_URL"])]
VolumeName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,40}$", examples=["uploads"])]
ServiceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$", examples=["web"])]
UserName = Annotated[str, Field(pattern=r"^([a-z_][a-z0-9_-]{0,31})?$", examples=["site"])]
Inside = Annotated[str, Field(pattern=r"^[^/\s][^\s]{0,200}$", examples=["docker/Dockerfile"])]  # the repository
Capability = Literal[  # of a container; the engine's usual ones but for raw packets, devices, and what grants others
    "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "NET_BIND_SERVICE", "SYS_CHROOT"
]
CAPABILITIES: tuple[str, ...] = get_args(Capability)


# A key -> the drivers that heed it; all others are heeded by each. "box": command, which runs in a box of ours.
DRIVERS_OF: Mapping[str, tuple[str, ...]] = {
    "dockerfile": ("dockerfile",),
    "compose_file": ("compose",),
    "service": ("compose",),
    "container_port": ("compose", "dockerfile"),
    "memory": ("box", "compose", "dockerfile"),
    "cpus": ("compose", "dockerfile"),
    "capabilities": ("dockerfile",),
    "volumes": ("dockerfile",),
    "build": ("box", "command"),
    "start": ("box", "command"),
    "running": ("command",),
    "logs": ("command",),
    "unsandboxed": ("command",),
    "run_as": ("command",),
    "releases": ("box", "command"),
}
INSTEAD = {  # how else it is said
    ("compose", "volumes"): "name volumes in the compose file",
    ("compose", "capabilities"): "name them in `cap_add` of the service",
    ("command", "volumes"): "your commands say where data is kept",
    ("compose", "build"): "the compose file says how it is built",
}


WRITE = (
    "write `run_as: USER` below `deploy:` in config/targets, or `unsandboxed: yes` if that may be the daemon's own,"
    " who can read its keys; or leave `running` and `logs` out and name a `port`: then `start` runs in a box"
)


class PlaceSettings(SettingsPart):
    port: int = Field(strict=True, default=0, ge=0, le=65_535)
    """The port on this machine, 127.0.0.1 only, where it can be reached; needed with containers and in a box."""
    url: str = Field(default="", max_length=500, pattern=r"^(https?://[^\s]+)?$", examples=["http://127.0.0.1:8001"])
    """Where its pages are asked for; empty: http://127.0.0.1:PORT."""
    env: Mapping[EnvName, str] = Field(default_factory=dict)
    """Its environment. Keys belong into `env_file`."""
    env_file: Absolute = ""
    """A file of NAME=VALUE lines on this machine with more of its environment; read at each start."""
    volumes: Mapping[VolumeName, Absolute] = Field(default_factory=dict)
    """With dockerfile: what is kept from one version to the next, as {name: path in the container}."""
    backup: Argv = ()
    """Run before a deploy that carries migrations; {backup} is the path that it must write to."""
    verify: Argv = ()
    """Run after it, to prove that {backup} can be read; a SQLite file is always checked."""
    build: Argv = ()
    """With command: makes a version ready; it and `start` may use {commit}, {folder} (its files) and {place}."""
    start: Argv = ()
    """With command: makes that version what runs, and returns. In a box: is what runs, and stays; its port is PORT."""
    running: Argv = ()
    """With command: prints the commit that runs, or nothing. Without it `start` runs in a box."""
    logs: Argv = ()
    """With command: prints the newest lines of its log."""

    @pydantic.field_serializer("env", when_used="json")
    def _names_alone(self, env: Mapping[str, str]) -> dict[str, str]:
        """Whoever looks at the settings need not know: a key may stand there after all."""
        return dict.fromkeys(env, "(set)")


class DeploySettings(SettingsPart):
    driver: Literal["none", "compose", "dockerfile", "command"] = "none"
    """What runs the target: docker compose, its Dockerfile, commands of yours, or nothing."""
    dockerfile: Inside = "Dockerfile"
    """With dockerfile: its path in the repository."""
    compose_file: Inside = "docker-compose.yml"
    """With compose: its path in the repository. What it asks for is checked; see docs/deploys.md."""
    unsandboxed: Literal["no", "yes"] = "no"
    """With command: yes: what was merged may run in no box, as the daemon's own user, who can read its keys."""
    run_as: UserName = ""
    """With command, instead: the user of this machine as whom they run; he may read neither the home nor keys."""
    releases: Absolute = ""
    """With command: where versions are laid out; empty: a folder `<home>.releases` beside the home."""
    service: ServiceName = "web"
    """With compose: the service that answers at `port`."""
    container_port: int = Field(strict=True, default=8_000, ge=1, le=65_535)
    """The port that it listens on in its container."""
    memory: int = Field(strict=True, default=1_024, ge=16, le=1_048_576)
    """MB that each container may take."""
    cpus: float = Field(default=1.0, gt=0, le=256)
    """Processors that each container may take."""
    capabilities: tuple[Capability, ...] = ()
    """With dockerfile: what its container may do besides; the others are dropped. With compose: `cap_add` there."""
    minutes: float = Field(default=20, gt=0, le=240)
    """The longest build, start and backup."""
    keep: int = Field(strict=True, default=3, ge=1, le=100)
    """How many versions that were healthy are kept at each place, to go back to."""
    pause_after: int = Field(strict=True, default=3, ge=1, le=100)
    """After so many deploys in a row that came to nothing, none is begun until you type `resume-deploys`."""
    migrations: tuple[str, ...] = ("**/migrations/*.py", "**/migrations/*.sql", "**/alembic/versions/*.py")
    """Changed paths that mean that data is changed too, so that `backup` is run first (git patterns)."""
    staging: PlaceSettings | None = None
    """Where a version has to be healthy first."""
    production: PlaceSettings | None = None
    """Where it goes then; without staging, at once."""

    @property
    def places(self) -> Mapping[Place, PlaceSettings]:
        """Places that are configured, in their order."""
        return {place: settings for place in PLACES if (settings := getattr(self, place))}

    @property
    def as_whom(self) -> str:
        """Who runs commands of a deploy, for people; empty where containers seal off what was merged."""
        if self.driver != "command":
            return ""
        if self.is_boxed:
            return "in a box, of which one port is let through"
        other = (
            f"as the user {self.run_as}, in no box" if self.run_as else "in no box, as the daemon's user (unsandboxed)"
        )
        return self.refused or other

    @property
    def is_boxed(self) -> bool:
        """Tell whether commands run in a box of ours: no other user is named, and nothing of this machine is asked."""
        is_free = self.unsandboxed == "yes" or self.run_as
        asks = any(place.running or place.logs for place in self.places.values())
        return self.driver == "command" and not is_free and not asks

    @property
    def refused(self) -> str:
        """Say why nothing is deployed by commands, and what to write; empty: it is."""
        if self.driver != "command" or self.unsandboxed == "yes" or self.run_as or self.is_boxed:
            return ""
        return "nothing is deployed: its commands would run what was merged in no box; " + WRITE

    @pydantic.model_validator(mode="after")
    def _is_whole(self) -> DeploySettings:
        if "driver" not in self.model_fields_set and self.places:
            raise ValueError(
                "name the `driver`: compose, dockerfile or command; or none, while nothing is to be deployed"
            )
        if problem := "" if self.driver == "none" else next(self._problems(), ""):
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        if not self.places:
            yield "name a place: staging, production, or both"
        if self.unsandboxed == "yes" and self.run_as:
            yield "`unsandboxed` lets commands run as the daemon's user, `run_as` as another: write one of the two"
        yield from self._idle(self, "")
        for name, place in self.places.items():
            yield from self._idle(place, f"{name}.")
            if self.driver == "command" and not (place.start and (place.running or self.is_boxed)):
                yield f"{name} needs the command `start`" + ("" if self.is_boxed else " and `running`")
            if (self.driver != "command" or self.is_boxed) and not place.port:
                yield f"{name} needs a port"
            yield from _saved_in_vain(name, place)
        ports = [place.port for place in self.places.values() if place.port]
        if len(set(ports)) < len(ports):
            yield "staging and production need different ports"

    def _idle(self, part: SettingsPart, prefix: str) -> Iterator[str]:
        """List what was written, and would do nothing with this driver."""
        for key, field in type(part).model_fields.items():
            kind = "box" if self.is_boxed else self.driver
            drivers = DRIVERS_OF.get(key, (kind,))
            if kind not in drivers and getattr(part, key) != field.get_default(call_default_factory=True):
                how = INSTEAD.get((self.driver, key), "take it out")
                yield f"`{prefix}{key}` does nothing with `driver: {self.driver}`: {how} (it is for {_or(drivers)})"


def _or(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _saved_in_vain(name: str, place: PlaceSettings) -> Iterator[str]:
    if place.backup and not any("{backup}" in word for word in place.backup):
        yield f"`{name}.backup` has to hold {{backup}}, the path to write to; add it"
    if place.verify and not place.backup:
        yield f"`{name}.verify` proves what `{name}.backup` has saved: write that too, or take it out"


class Page(SettingsPart):
    path: str = Field(pattern=r"^/[^\s]*$", max_length=500, examples=["/healthz/"])
    """What is asked for, e.g. /healthz/."""
    status: int = Field(strict=True, default=200, ge=100, le=599)
    """The status that the answer must have."""
    contains: Expression = ""
    """A regular expression that must be found in the page."""
    seconds: float = Field(default=5, gt=0, le=60)
    """How long the answer may take."""


class HealthSettings(SettingsPart):
    pages: tuple[Page, ...] | None = Field(default=None, max_length=20)
    """What must answer: e.g. /healthz/, /ping/, and a real page. [] if it has none."""
    log_patterns: tuple[Expression, ...] = Field(default=(), max_length=20)
    """A line of its log in which one of these is found means that it is sick."""
    grace: float = Field(default=30, ge=0, le=3_600)
    """Seconds after its start in which pages need not answer yet."""
    watch_minutes: float = Field(default=15, ge=0, le=1_440)
    """How long it must be healthy before it counts as deployed."""
    every: float = Field(default=5, ge=0.1, le=300)
    """Seconds between two looks."""
    retries: int = Field(strict=True, default=2, ge=0, le=10)
    """How often a page that fails is asked again, a second later, before it counts."""
    flaps: int = Field(strict=True, default=5, ge=0, le=1_000)
    """So many looks that needed a second try mean that it is sick; 0: any number is fine."""
    restarts: int = Field(strict=True, default=0, ge=0, le=100)
    """How often a container may be started again by itself."""

    @property
    def rule(self) -> Rule:
        from sisimpur.shared.model.deployment import Rule

        watch = timedelta(minutes=self.watch_minutes).total_seconds()
        return Rule(self.grace, watch, self.flaps, self.restarts)
