"""Door to the owner's configuration. The only module that reads the environment and config/.

Everything is typed and checked when it is read; an error names file, line and key. Agents get only their part.
"""

from __future__ import annotations

import contextlib
import os
import zoneinfo
from collections.abc import Mapping
from datetime import time, timedelta
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar
from urllib.parse import unquote, urlsplit

import pydantic
from pydantic import Field, SecretStr

from sisimpur.shared.config.settings_agents import AgentsFile
from sisimpur.shared.config.settings_board import BoardFile
from sisimpur.shared.config.settings_deploy import DeploySettings, HealthSettings
from sisimpur.shared.config.settings_part import (
    Host,
    Name,
    OwnerLogin,
    Pattern,
    PhaseTime,
    SettingsPart,
    Zone,
    checked_name,
    headers_of,
)
from sisimpur.shared.config.settings_policy import PolicyFile
from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.paths import Home, read_text, stamp

if TYPE_CHECKING:
    from sisimpur.shared.model.schedule import Schedule, Slot
    from sisimpur.shared.money.token_budget import Caps

T = TypeVar("T")

SECRETS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GITHUB_TOKEN",
    "GITHUB_REVIEWER_TOKEN",
    "GITHUB_API_URL",
    "DISCORD_WEBHOOK_URL",
    "DISCORD_BOT_TOKEN",
    "DISCORD_API_URL",
    "MAIL_USER",
    "MAIL_PASSWORD",
    "GOOGLE_CLIENT_SECRET",
    "GITHUB_OAUTH_SECRET",
    "APPRISE_URLS",
    "TAVILY_API_KEY",
    "PING_URL",
    "PACKAGE_INDEX_URL",
    "EVENTS_WEBHOOK_URL",
    "EVENTS_WEBHOOK_SECRET",
    "EVENTS_REDIS_URL",
    "EVENTS_OTLP_URL",
    "EVENTS_OTLP_HEADERS",
)
ADDRESSES = (
    "ANTHROPIC_BASE_URL",
    "GITHUB_API_URL",
    "DISCORD_API_URL",
    "MAIL_USER",
)  # no secrets, but like them they differ from machine to machine
ANTHROPIC = "https://api.anthropic.com"
GITHUB = "https://api.github.com"
SHORTEST_SECRET = 16  # letters
OURSELVES = frozenset({"127.0.0.1", "localhost", "::1"})


# --- config/schedules.yaml -----------------------------------------------------------------------------------


class Phases(SettingsPart):
    morning: PhaseTime = "07:00"
    """The vision is read, and the morning's report is told. No phase may begin between 01:00 and 03:00."""
    research: PhaseTime | None = None
    """Ideas are looked up on the web; without it: right after the morning."""
    planning: PhaseTime = "07:45"
    """Goals become tasks."""
    work: PhaseTime = "08:00"
    """Tasks are begun and worked on from now on, until the wrap-up."""
    wrap_up: PhaseTime = "23:00"
    """The day is summed up; no task is begun any more."""

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> Phases:
        if not self.morning <= (self.research or self.morning) <= self.planning < self.work < self.wrap_up:
            raise ValueError("morning <= research <= planning < work < wrap_up must hold")
        return self

    @property
    def slots(self) -> tuple[Slot, ...]:
        from sisimpur.shared.model.schedule import Slot

        at = dict(self) | {"research": self.research or self.morning}
        return tuple(Slot(name, time.fromisoformat(when)) for name, when in at.items())

    @property
    def work_minutes(self) -> int:
        """Minutes of a day in which tasks are worked on."""
        begin, end = (time.fromisoformat(when) for when in (self.work, self.wrap_up))
        return (end.hour - begin.hour) * 60 + end.minute - begin.minute


class SchedulesFile(SettingsPart):
    time_zone: Zone = "UTC"
    """The owner's time zone; a day is a day there."""
    phases: Phases = Phases()
    """When each phase of the day begins; `run-day` runs all of them at once."""
    catch_up_hours: float = Field(default=16, gt=0, le=48)
    """How late a phase may still be begun, when the machine was off or asleep at its time."""

    @property
    def schedule(self) -> Schedule:
        from sisimpur.shared.model.schedule import Schedule

        return Schedule(self.phases.slots, timedelta(hours=self.catch_up_hours))


# --- secrets -------------------------------------------------------------------------------------------------


class Secrets(SettingsPart):
    """Keys from config/.env or the environment (which wins). They never leave the daemon's process."""

    values: Mapping[str, SecretStr] = Field(default_factory=dict)

    def get(self, name: str) -> str:
        """Empty if it is not set."""
        return self.values[name].get_secret_value() if name in self.values else ""

    @property
    def base_url(self) -> str:
        return (self.get("ANTHROPIC_BASE_URL") or ANTHROPIC).rstrip("/")

    @property
    def github_url(self) -> str:
        """Address of the API."""
        return (self.get("GITHUB_API_URL") or GITHUB).rstrip("/")

    @property
    def otlp_headers(self) -> Mapping[str, str]:
        return headers_of(self.get("EVENTS_OTLP_HEADERS"))

    @property
    def to_hide(self) -> dict[str, str]:
        """Name -> value of everything that may not appear in any text that leaves."""
        secret = {name: self.get(name) for name in self.values if name not in ADDRESSES}
        several = {
            f"APPRISE_URLS {number}": url for number, url in enumerate(secret.pop("APPRISE_URLS", "").split(), 1)
        }
        for name in ("PACKAGE_INDEX_URL", "EVENTS_REDIS_URL"):
            password = urlsplit(self.get(name)).password
            several |= {f"{name}'s password": unquote(password)} if password else {}
        return secret | several | {f"EVENTS_OTLP_HEADERS' {name}": value for name, value in self.otlp_headers.items()}


class Settings(SettingsPart):
    agents: AgentsFile
    policy: PolicyFile
    schedules: SchedulesFile
    target: Target
    secrets: Secrets

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.schedules.time_zone)


def load(home: Home, environment: Mapping[str, str] = os.environ) -> Settings:
    """All of config/, or Misconfigured naming file, line and key."""
    return Settings(
        agents=_read(home, "agents.yaml", AgentsFile),
        policy=_read(home, "policy.yaml", PolicyFile),
        schedules=_read(home, "schedules.yaml", SchedulesFile),
        target=_target(home),
        secrets=read_secrets(home, environment),
    )


def faults(home: Home, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Say what is wrong in each file; `load` stops at the first one."""
    found = []
    for read in (
        lambda: _read(home, "agents.yaml", AgentsFile),
        lambda: _read(home, "policy.yaml", PolicyFile),
        lambda: _read(home, "schedules.yaml", SchedulesFile),
        lambda: load_board(home),
        lambda: _target(home),
        lambda: read_secrets(home, environment),
    ):
        try:
            read()
        except TeamError as problem:
            found.append(str(problem))
    return found


def load_board(home: Home) -> BoardFile:
    """What the board is told; apart from the rest: a mistake there stops no team. Without the file: as usual."""
    if not (home.config / "board.yaml").exists():
        return BoardFile()
    return _read(home, "board.yaml", BoardFile)


def board_url(home: Home) -> str:
    """Return what links to the board begin with; empty: none are told, or nobody knows where it is."""
    try:
        return load_board(home).url
    except TeamError:
        return ""


def read_secrets(home: Home, environment: Mapping[str, str] = os.environ) -> Secrets:
    try:
        filed = _dotenv(read_text(home.config / ".env"))
    except FileNotFoundError:
        filed = {}
    found = {name: environment.get(name) or filed.get(name) or "" for name in SECRETS}
    for name, value in found.items():
        if value != value.strip() or not value.isprintable():
            raise Misconfigured(f"{name} holds a blank or a control character; write it again in config/.env")
    if not _may_be_called(found["PING_URL"]):
        raise Misconfigured("PING_URL is no https address; write it in config/.env as PING_URL=https://…")
    if not _may_be_called(found["PACKAGE_INDEX_URL"], with_password=True):
        wanted = "PACKAGE_INDEX_URL=https://NAME:PASSWORD@HOST/PATH/simple/"
        raise Misconfigured(f"PACKAGE_INDEX_URL is no https address; write it in config/.env as {wanted}")
    _check_events(found)
    with contextlib.suppress(FileNotFoundError, Refused):  # whoever sends by it says what is wrong with it
        found["our push key"] = read_text(home.push_key)  # of no file that the owner writes; it is hidden like the rest
    return Secrets(values={name: SecretStr(value) for name, value in found.items() if value})


def _check_events(found: Mapping[str, str]) -> None:
    if not _may_be_called(found["EVENTS_WEBHOOK_URL"]):
        raise Misconfigured("EVENTS_WEBHOOK_URL is no https address; write it in config/.env as https://…")
    if found["EVENTS_WEBHOOK_URL"] and len(found["EVENTS_WEBHOOK_SECRET"]) < SHORTEST_SECRET:
        typed = "python -c 'import secrets; print(secrets.token_hex(32))'"
        raise Misconfigured(
            f"EVENTS_WEBHOOK_URL needs an EVENTS_WEBHOOK_SECRET of at least {SHORTEST_SECRET} letters in config/.env, "
            f"which your server knows, too; to make one, type: {typed}"
        )
    if found["EVENTS_REDIS_URL"] and not found["EVENTS_REDIS_URL"].startswith(("redis://", "rediss://", "unix://")):
        raise Misconfigured("EVENTS_REDIS_URL is no address of a Redis; write it in config/.env as redis://HOST:PORT/0")
    if not _may_be_called(found["EVENTS_OTLP_URL"]):
        raise Misconfigured("EVENTS_OTLP_URL is no https address; write it in config/.env as https://HOST:PORT")
    headers_of(found["EVENTS_OTLP_HEADERS"])


def _dotenv(text: str) -> Mapping[str, str | None]:
    from io import StringIO

    from dotenv import dotenv_values

    return dotenv_values(stream=StringIO(text), interpolate=False)


def _may_be_called(url: str, with_password: bool = False) -> bool:
    """Whoever reads it on its way could keep the alarm silent. On this machine nobody does."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    there = parts.scheme == "https" or (parts.scheme == "http" and host in OURSELVES)
    return not url or (there and bool(host) and (with_password or "@" not in parts.netloc) and not parts.fragment)


class LiveCaps:
    """The caps as config/policy.yaml says now. While that file cannot be read, the last good ones hold."""

    def __init__(self, home: Home, caps: Caps) -> None:
        self._home = home
        self._caps = caps
        self._seen = stamp(home.config / "policy.yaml")

    def __call__(self) -> Caps:
        if (now := stamp(self._home.config / "policy.yaml")) != self._seen:
            with contextlib.suppress(TeamError):
                self._caps = _read(self._home, "policy.yaml", PolicyFile).caps
                self._seen = now
        return self._caps


def _target(home: Home) -> Target:
    paths = sorted(path for path in home.targets.glob("*.yaml") if path.name != "example.yaml")
    if not paths:
        raise Misconfigured("no target yet; type: python main.py init --target PATH_OR_URL")
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise Misconfigured(f"config/targets holds {names}; keep one, and use another --home for each other target")
    try:
        name = checked_name(paths[0].stem)
    except ValueError as error:
        raise Misconfigured(f"config/targets/{paths[0].name}: the file's name: {error}") from None
    return Target(name=name, file=_read(home, f"targets/{paths[0].name}", TargetFile))


def _read(home: Home, name: str, wanted: type[T]) -> T:
    try:
        text = read_text(home.config / name, strict_yaml.MAX_BYTES)
    except FileNotFoundError:
        raise Misconfigured(f"config/{name} is missing; type: python main.py init --target PATH_OR_URL") from None
    return strict_yaml.parse(text, f"config/{name}").as_type(wanted)


# --- settings of the target: config/targets/<name>.yaml ------------------------------------------------------


class InboxSettings(SettingsPart):
    owners: tuple[OwnerLogin, ...] = Field(default=(), max_length=50)
    """Whose issues are goals, and whose words below a pull request are answers: logins at GitHub, or `login#number`."""
    label: str = Field(default="", max_length=50)
    """Only issues with this label count, then also those of others: what these ask for is never merged without you."""


class RootSettings(SettingsPart):
    root: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$", max_length=200)
    """The package's folder, from the repository's root."""
    setup: str = Field(default="", max_length=2_000)
    """The command that installs what its tests need, from that folder; empty: what its own files ask for."""
    test: str = Field(default="", max_length=2_000)
    """The command that runs its tests, from that folder; empty: what its files run; `none`: none."""


class TargetFile(SettingsPart):
    repo: str = Field(min_length=1, max_length=500)
    """The repository: an https URL or a local path."""
    forge: Literal["auto", "local", "github"] = "auto"
    """Where pull requests are made; auto: on GitHub if `repo` lies there and GITHUB_TOKEN is set, else locally."""
    branch: str = Field(default="main", min_length=1, max_length=200)
    """The branch that work starts from and is merged into."""
    allow: tuple[Pattern, ...] = ("**",)
    """Paths that tasks may touch (git patterns)."""
    protected: tuple[Pattern, ...] = ()
    """Paths that need the owner's approval, besides the built-in list."""
    ignore_checks: tuple[str, ...] = Field(default=(), max_length=50)
    """Checks of others at the forge that may be red or missing at a merge, by name; `*` stands for any letters."""
    inbox: InboxSettings = InboxSettings()
    """Who else than VISION.md says what is wanted: issues and comments at GitHub."""
    setup: str = Field(default="", max_length=2_000)
    """The command that installs what the tests need; empty: what the repository's own files ask for."""
    test: str = Field(default="", max_length=2_000)
    """The command that runs the tests; empty: what the repository's files run; `none`: no change is tested."""
    roots: tuple[RootSettings, ...] = Field(default=(), max_length=50)
    """Packages that are installed and tested each by itself, the touched ones first; empty: what is found."""
    allow_secrets: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", examples=["0f1e2d3c4b5a6978"])], ...] = ()
    """What looks like a key and opens nothing: the numbers that a refusal of a change names."""
    tests: tuple[Pattern, ...] = ()
    """Paths of the tests and of what is only for them; empty: what held tests when they were last run, and helpers."""
    python: str = Field(default="", max_length=500)
    """The interpreter that the target's environment is made with: a path, or a version as "3.12", which uv finds or
    installs; empty: the one that runs this program, or one on this machine that the target takes."""
    packages: str = Field(default="", max_length=500)
    """A folder of wheels to install from, without any network; empty: the package index."""
    index: tuple[Host, ...] = ("pypi.org", "files.pythonhosted.org")
    """The hosts that the set-up may reach, by https; nothing else is reachable for it."""
    minutes: float = Field(default=10, gt=0, le=120)
    """The longest run of the tests, and of the set-up."""
    memory: int = Field(strict=True, default=2_048, ge=128, le=262_144)
    """MB that the tests may take."""
    deploy: DeploySettings = DeploySettings()
    """What is done with what merged."""
    health: HealthSettings = HealthSettings()
    """How it is seen whether it is healthy."""

    @pydantic.model_validator(mode="after")
    def _one_word_on_the_tests(self) -> TargetFile:
        if self.roots and (self.setup.strip() or self.test.strip()):
            raise ValueError("roots: each has its own `setup` and `test`; remove those beside `roots:`")
        folders = [f"{one.root}/" for one in self.roots]
        if any(other.startswith(one) for at, one in enumerate(folders) for other in folders[:at] + folders[at + 1 :]):
            raise ValueError("roots: none may be named twice or lie in another")
        return self

    @pydantic.model_validator(mode="after")
    def _health_is_asked(self) -> TargetFile:
        if self.deploy.driver != "none" and self.health.pages is None:
            raise ValueError("health: name the pages that must answer, or write `pages: []` if it has none")
        unknown = [name for name, place in self.deploy.places.items() if not (place.url or place.port)]
        if self.deploy.driver != "none" and self.health.pages and unknown:
            raise ValueError(f"deploy.{unknown[0]}: write a `url` (or a port): its pages are asked there")
        return self


class Target(SettingsPart):
    name: Name
    file: TargetFile
