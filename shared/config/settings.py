"""Door to the owner's configuration. The only module that reads the environment and config/.

Everything is typed and checked when it is read; an error names file, line and key. Agents get only their part.
"""

from __future__ import annotations

import contextlib
import os
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import replace
from datetime import time, timedelta
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from shared.config.settings_deploy import DeploySettings, HealthSettings
from shared.config.settings_part import SettingsPart
from shared.config.settings_upkeep import UpkeepSettings
from shared.model.errors import Misconfigured, TeamError
from shared.model.gate import Policy
from shared.model.lifecycle import TaskLimits
from shared.model.schedule import Schedule, Slot
from shared.model.work import ModelChoice
from shared.money.token_budget import Caps, dollars
from shared.system import strict_yaml
from shared.system.paths import Home, read_text, stamp

T = TypeVar("T")

SECRETS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GITHUB_TOKEN",
    "GITHUB_REVIEWER_TOKEN",
    "GITHUB_API_URL",
    "DISCORD_WEBHOOK_URL",
    "APPRISE_URLS",
    "TAVILY_API_KEY",
    "PING_URL",
)
ADDRESSES = ("ANTHROPIC_BASE_URL", "GITHUB_API_URL")  # no secrets, but like them they differ from machine to machine
ANTHROPIC = "https://api.anthropic.com"
GITHUB = "https://api.github.com"
OURSELVES = frozenset({"127.0.0.1", "localhost", "::1"})


def _amount(value: Any) -> int:
    """Dollars as the owner writes them -> nano-dollars."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write an amount of dollars, e.g. 5.00")
    return dollars(format(value, ".9f") if isinstance(value, float) else str(value))


def _time_of_day(value: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise ValueError("write a time of day as HH:MM, e.g. 07:00")
    return value


def _phase_time(value: str) -> str:
    """Where clocks are set, the hours before 03:00 come twice or not at all once a year."""
    if "01:00" <= value < "03:00":
        raise ValueError("clocks are set between 01:00 and 03:00; choose another time")
    return value


def _zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise ValueError("not a known time zone; write one like Europe/Berlin or UTC") from None
    return value


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,40}", value):
        raise ValueError("use small letters, digits, - and _ (at most 41)")
    return value


def _login(value: str) -> str:
    if value.casefold() == "ghost":
        raise ValueError("ghost stands for every account that was deleted; name somebody else")
    return value


Dollars = Annotated[int, BeforeValidator(_amount)]
PhaseTime = Annotated[str, AfterValidator(_time_of_day), AfterValidator(_phase_time), Field(examples=["07:00"])]
Zone = Annotated[str, AfterValidator(_zone), Field(examples=["Europe/Berlin"])]
Name = Annotated[str, AfterValidator(_name)]
ModelId = Annotated[
    str,
    Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$", examples=["claude-sonnet-5-5"]),
]
Host = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$", examples=["pypi.org"])]
Login = Annotated[
    str, AfterValidator(_login), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$", examples=["octocat"])
]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]


# --- config/agents.yaml --------------------------------------------------------------------------------------


class EngineModel(SettingsPart):
    model: ModelId
    """The model's id at the vendor."""
    effort: Literal["", "low", "medium", "high"] = "medium"
    """How much the model thinks; empty: its default."""
    max_tokens: int = Field(strict=True, default=8_000, ge=256, le=64_000)
    """The longest answer, in tokens. It is reserved at full price before each call: keep it honest."""

    @property
    def choice(self) -> ModelChoice:
        return ModelChoice(self.model, effort=self.effort, max_tokens=self.max_tokens)


class AgentModel(EngineModel):
    fallback: tuple[ModelId, ...] = Field(default=(), max_length=4)
    """Tried in order when the model is gone, overloaded or refuses."""

    @property
    def choice(self) -> ModelChoice:
        return ModelChoice(self.model, self.fallback, self.effort, self.max_tokens)


class PlannerModel(AgentModel):
    ahead: bool | None = Field(strict=True, default=None)
    """Has no effect any more: it asked for the next day's planning in the evening. Leave it out."""


class CoderModel(EngineModel):
    easy: ModelId | None = None
    """A cheaper model for the first try at each easy task, while that pays; without it: none."""

    @pydantic.model_validator(mode="after")
    def _is_another(self) -> CoderModel:
        if self.easy == self.model:
            raise ValueError("easy names the same model; name a cheaper one, or leave it out")
        return self


class EngineSettings(SettingsPart):
    launcher: Literal["warm", "shim", "plain"] = "warm"
    """How Aider is started: with our policy, once for many tasks (warm) or for each (shim); or by its plain command."""
    minutes: float = Field(default=10, gt=0, le=60)
    """The longest run on one task."""
    calls: int = Field(strict=True, default=12, ge=1, le=100)
    """The most model calls in one run."""
    stall_minutes: float = Field(default=6, gt=0, le=60)
    """Minutes without output, file change or model call after which a run is ended."""
    patience: float = Field(default=120, ge=0, le=240)
    """Seconds that one model call may wait while the model is busy or away."""
    python: str = ""
    """The interpreter of Aider's environment; empty: the one that `make setup` built."""


class Price(SettingsPart):
    input: Dollars
    """Dollars per million input tokens."""
    output: Dollars
    """Dollars per million output tokens."""


class AgentsFile(SettingsPart):
    orchestrator: AgentModel
    """Reads the vision where the grammar cannot."""
    planner: PlannerModel
    """Turns goals into tasks."""
    reviewer: AgentModel
    """Reads what the coder wrote before it is merged."""
    researcher: AgentModel | None = None
    """Looks up on the web what stands below Ideas; without it: the planner's model."""
    coder: CoderModel
    """Writes code, through the engine."""
    engine: EngineSettings = EngineSettings()
    """The coding engine."""
    prices: Mapping[ModelId, Price] = Field(default_factory=dict)
    """Prices of models that have no public one, e.g. local models: {input: 0, output: 0}."""

    @property
    def asking(self) -> dict[str, ModelChoice]:
        """Of each agent that asks a model itself; the coder's engine asks for it."""
        agents = {"orchestrator": self.orchestrator, "planner": self.planner, "reviewer": self.reviewer}
        agents["researcher"] = self.researcher or self.planner
        return {name: agent.choice for name, agent in agents.items()}


# --- config/policy.yaml --------------------------------------------------------------------------------------


class Budget(SettingsPart):
    task: Dollars
    """The most that one task may cost, over all its attempts."""
    day: Dollars
    """The most that a day may cost."""
    month: Dollars
    """The most that a calendar month may cost."""
    warn_at: float = Field(default=0.8, gt=0, le=1)
    """The share of the day's cap at which the owner is warned."""

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> Budget:
        if not self.task <= self.day <= self.month:
            raise ValueError("task <= day <= month must hold")
        return self

    @property
    def caps(self) -> Caps:
        return Caps(task=self.task, day=self.day, month=self.month)


class Capacity(SettingsPart):
    tasks_per_day: int = Field(strict=True, default=5, ge=1, le=50)
    """The most tasks that a day's plan may hold."""
    depth: int = Field(strict=True, default=3, ge=1, le=10)
    """The longest chain of tasks that depend on each other."""
    parallel: int = Field(strict=True, default=2, ge=1, le=16)
    """How many tasks are worked on at once."""
    open_pulls: int = Field(strict=True, default=5, ge=1, le=50)
    """How many pull requests may wait for you; at that many no new task is begun."""


class AttemptLimits(SettingsPart):
    failed: int = Field(strict=True, default=3, ge=1, le=10)
    """Failed attempts before the task goes to failed/."""
    lost: int = Field(strict=True, default=5, ge=1, le=20)
    """Attempts lost to crashes before the task goes to failed/."""
    rounds: int = Field(strict=True, default=3, ge=0, le=10)
    """How often a change is sent back to the coder by the tests or the review."""
    minutes: float = Field(default=240, gt=0, le=10_000)
    """How long agents may work on one task, in all, before it goes to failed/."""
    tokens: int = Field(strict=True, default=3_000_000, ge=10_000)
    """How many tokens one task may take in its whole life; where a model costs nothing this is its cap."""

    @property
    def limits(self) -> TaskLimits:
        return TaskLimits(self.failed, self.lost, self.rounds, minutes=self.minutes, tokens=self.tokens)


class MergeRules(SettingsPart):
    auto: bool = Field(strict=True, default=True)
    """Whether anything is merged without you. Protected paths never are."""
    write_tests: bool = Field(strict=True, default=True)
    """Whether tests are written where a change brings none."""
    coverage_drop: float = Field(default=1.0, ge=0, le=100)
    """By how many points the coverage may fall before a change is sent back."""
    long_goals: Literal["branch", "main"] = "branch"
    """Where a goal grows that one day is too short for: on a branch of its own until it is whole, or on main."""

    @property
    def policy(self) -> Policy:
        return Policy(self.auto, self.write_tests)


class ResearchSettings(SettingsPart):
    questions: int = Field(strict=True, default=3, ge=0, le=20)
    """How many questions are looked up on the web per day; 0: none."""
    turns: int = Field(strict=True, default=5, ge=2, le=10)
    """How often a model may look further before it has to answer."""
    tokens: int = Field(strict=True, default=40_000, ge=10_000, le=1_000_000)
    """How many tokens one try at a question may take. Its money is bounded by budget.task, over all tries."""
    search_price: Dollars = Field(default="0.008", validate_default=True)
    """Dollars for one search at Tavily (TAVILY_API_KEY); without a key DuckDuckGo is asked, for nothing."""
    recorded: str = Field(default="", max_length=500)
    """A folder with recorded answers (searches.yaml, pages.yaml), from the home's, instead of the web: for demos."""


class PolicyFile(SettingsPart):
    budget: Budget
    """Hard caps in dollars."""
    capacity: Capacity = Capacity()
    """How much is planned for one day."""
    attempts: AttemptLimits = AttemptLimits()
    """How often a task is tried."""
    merge: MergeRules = MergeRules()
    """What may be merged without you."""
    research: ResearchSettings = ResearchSettings()
    """What is looked up on the web."""
    upkeep: UpkeepSettings = UpkeepSettings()
    """What the team proposes by itself when you want nothing else; it is never merged without you."""

    @property
    def caps(self) -> Caps:
        """Those that the meter holds."""
        return replace(self.budget.caps, upkeep=self.upkeep.cap(self.budget.day))


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
        at = dict(self) | {"research": self.research or self.morning}
        return tuple(Slot(name, time.fromisoformat(when)) for name, when in at.items())

    @property
    def work_minutes(self) -> int:
        """Of a day in which tasks are worked on."""
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
        return Schedule(self.phases.slots, timedelta(hours=self.catch_up_hours))


# --- config/targets/<name>.yaml ------------------------------------------------------------------------------


class InboxSettings(SettingsPart):
    owners: tuple[Login, ...] = Field(default=(), max_length=50)
    """Whose issues are goals, and whose words below a pull request are answers: logins at GitHub."""
    label: str = Field(default="", max_length=50)
    """Only issues with this label count, then also those of others: what these ask for is never merged without you."""


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
    inbox: InboxSettings = InboxSettings()
    """Who else than VISION.md says what is wanted: issues and comments at GitHub."""
    setup: str = Field(default="", max_length=2_000)
    """The command that installs what the tests need; empty: what requirements*.txt and pyproject.toml ask for."""
    test: str = Field(default="", max_length=2_000)
    """The command that runs the tests; empty: pytest, or manage.py test."""
    python: str = Field(default="", max_length=500)
    """The interpreter that the target's environment is made with; empty: the one that runs this program."""
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
        """Of the API."""
        return (self.get("GITHUB_API_URL") or GITHUB).rstrip("/")

    @property
    def to_hide(self) -> dict[str, str]:
        """Name -> value of everything that may not appear in any text that leaves."""
        secret = {name: self.get(name) for name in self.values if name not in ADDRESSES}
        several = secret.pop("APPRISE_URLS", "").split()
        return secret | {f"APPRISE_URLS {number}": url for number, url in enumerate(several, 1)}


class Settings(SettingsPart):
    agents: AgentsFile
    policy: PolicyFile
    schedules: SchedulesFile
    target: Target
    secrets: Secrets

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.schedules.time_zone)


# --- reading -------------------------------------------------------------------------------------------------


def load(home: Home, environment: Mapping[str, str] = os.environ) -> Settings:
    """All of config/, or Misconfigured naming file, line and key."""
    return Settings(
        agents=_read(home, "agents.yaml", AgentsFile),
        policy=_read(home, "policy.yaml", PolicyFile),
        schedules=_read(home, "schedules.yaml", SchedulesFile),
        target=_target(home),
        secrets=read_secrets(home, environment),
    )


def read_secrets(home: Home, environment: Mapping[str, str] = os.environ) -> Secrets:
    from io import StringIO

    from dotenv import dotenv_values

    try:
        text = read_text(home.config / ".env")
    except FileNotFoundError:
        text = ""
    filed = dotenv_values(stream=StringIO(text), interpolate=False)
    found = {name: environment.get(name) or filed.get(name) or "" for name in SECRETS}
    for name, value in found.items():
        if value != value.strip() or not value.isprintable():
            raise Misconfigured(f"{name} holds a blank or a control character; write it again in config/.env")
    if not _may_be_called(found["PING_URL"]):
        raise Misconfigured("PING_URL is no https address; write it in config/.env as PING_URL=https://…")
    return Secrets(values={name: SecretStr(value) for name, value in found.items() if value})


def _may_be_called(url: str) -> bool:
    """Whoever reads it on its way could keep the alarm silent. On this machine nobody does."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    there = parts.scheme == "https" or (parts.scheme == "http" and host in OURSELVES)
    return not url or (there and bool(host) and "@" not in parts.netloc and not parts.fragment)


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
        name = _name(paths[0].stem)
    except ValueError as error:
        raise Misconfigured(f"config/targets/{paths[0].name}: the file's name: {error}") from None
    return Target(name=name, file=_read(home, f"targets/{paths[0].name}", TargetFile))


def _read(home: Home, name: str, wanted: type[T]) -> T:
    try:
        text = read_text(home.config / name, strict_yaml.MAX_BYTES)
    except FileNotFoundError:
        raise Misconfigured(f"config/{name} is missing; type: python main.py init --target PATH_OR_URL") from None
    return strict_yaml.parse(text, f"config/{name}").as_type(wanted)
