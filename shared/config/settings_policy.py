"""Settings of what is allowed: config/policy.yaml. Money, capacity, attempts, merging, goals, research, upkeep."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic
from pydantic import Field

from sisimpur.shared.config.settings_part import ON_PAGES, Dollars, SettingsPart
from sisimpur.shared.money.token_budget import Caps, dollars
from sisimpur.shared.system.log import Level

if TYPE_CHECKING:  # who only looks at money loads no tasks
    from sisimpur.shared.model.lifecycle import TaskLimits
    from sisimpur.shared.model.work import Policy

MAIL_SERVER = re.compile(r"smtps?://([A-Za-z0-9.-]{1,253}|\[::1\])(:(6[0-4]|[1-5]?\d)?\d{1,3})?")
MailAddress = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,60}$", examples=["you@example.com"])
]
FINE = 10_000  # a share is counted in so many parts: a float never touches an amount


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
    """The longest chain of tasks that depend on each other; a longer one is planned as fewer tasks."""
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
        from sisimpur.shared.model.lifecycle import TaskLimits

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
        from sisimpur.shared.model.work import Policy

        return Policy(self.auto, self.write_tests)


class ApprovalRules(SettingsPart):
    plan: str = Field(
        default="never",
        pattern=r"^(never|always|over-\$?\d{1,6}(\.\d{1,2})?)$",
        examples=["over-2.50"],
        json_schema_extra=ON_PAGES,
    )
    """Whether a day's plan waits for your `approve plan`: `never`, `always`, or `over-2.50`, above so many dollars."""
    days: int = Field(strict=True, default=3, ge=1, le=30)
    """How long it waits. Then its tasks are dropped, and their goals are planned anew."""

    @property
    def rule(self) -> PlanRule:
        if self.plan in ("never", "always"):
            return PlanRule(None if self.plan == "never" else -1, self.days)
        return PlanRule(dollars(self.plan.removeprefix("over-").removeprefix("$")), self.days)


class QaSettings(SettingsPart):
    independent: Literal["fixes", "all", "off"] = "fixes"
    """Where the coder brings its own tests: for which tasks another is written from the words alone, to be compared."""


class GoalSettings(SettingsPart):
    read: bool = Field(strict=True, default=True)
    """Whether a model reads the end of a goal that no figure settles: its words against what was merged, once."""


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


class UpkeepSettings(SettingsPart):
    tasks: int = Field(strict=True, default=1, ge=0, le=10)
    """How many tasks the team may propose per day when you want nothing else; 0: none."""
    share: float = Field(default=0.2, ge=0, le=1)
    """The most of budget.day that all such tasks together may take, 0: none; `raise-cap` does not raise it."""
    open: int = Field(strict=True, default=2, ge=1, le=50)
    """How many such tasks may be under way or wait for you."""

    def cap(self, day: int) -> int:
        """Share of a day's cap, both in nano-dollars."""
        return day * round(self.share * FINE) // FINE

    def rules(self, day: int) -> UpkeepRules:
        return UpkeepRules(self.tasks, self.open, self.cap(day))


class MachineSettings(SettingsPart):
    most: float = Field(default=0.9, gt=0, le=1)
    """The share of memory, disk and processors that may be taken: over it for five minutes you are told."""


class DiscordSettings(SettingsPart):
    channel: str = Field(default="", pattern=r"^\d{0,20}$", examples=["1300000000000000002"])
    """The number of the channel in which your answers are read, with DISCORD_BOT_TOKEN; empty: none is."""
    owners: tuple[Annotated[str, Field(pattern=r"^\d{1,20}$")], ...] = ()
    """Whose words count there: the numbers of their accounts at Discord."""


class MailSettings(SettingsPart):
    server: str = Field(default="", max_length=270, examples=["smtp://smtp.gmail.com:587"])
    """The mail server: `smtps://HOST:465`, or `smtp://HOST:587` with STARTTLS; empty: nothing is mailed."""
    to: tuple[MailAddress, ...] = Field(default=(), max_length=20)
    """Who gets the evening's report and what waits for you; keys are MAIL_USER and MAIL_PASSWORD in config/.env."""
    sender: MailAddress | None = None
    """Whose address it comes from; without it: the first of `to`."""
    pdf: bool = True
    """Whether the evening's mail has the whole report as a PDF, where Chromium is installed."""

    @pydantic.model_validator(mode="after")
    def _can_be_sent(self) -> MailSettings:
        if self.server and not MAIL_SERVER.fullmatch(self.server):
            raise ValueError("server: write smtps://HOST:465, or smtp://HOST:587; keys stand in config/.env alone")
        if bool(self.server) != bool(self.to):
            raise ValueError("name both, the `server` and whom it mails `to`, or neither")
        return self


class LogSettings(SettingsPart):
    level: Level = "info"
    """The least that is written into logs/: debug has each agent's begin and end, warning only what went wrong."""


class TalkSettings(SettingsPart):
    days: int = Field(strict=True, default=30, ge=0, le=3650)
    """How long it is kept; 0: none of it is, from the next start on."""
    megabytes: int = Field(strict=True, default=500, ge=1, le=1_000_000)
    """How much all of it may take on the disk, packed; the oldest days go first, at the end of each day."""


class EventSettings(SettingsPart):
    file: str = Field(default="", max_length=500, pattern=r"^([^\x00-\x1f]+\.jsonl)?$", examples=["events.jsonl"])
    """A `.jsonl` file, from the home's folder, that gets a line of JSON for each; empty: none."""


@dataclass(frozen=True)
class PlanRule:
    """Which plans wait for the owner's yes (config/policy.yaml, `approve`)."""

    over: int | None = None  # nano-dollars: a plan that will probably cost more waits; None: none does
    days: int = 3  # how long


@dataclass(frozen=True)
class UpkeepRules:
    """The owner's (config/policy.yaml, `upkeep`)."""

    tasks: int = 1  # proposed per day; 0: none
    open: int = 2  # that may be under way or wait for the owner
    share: int = 0  # nano-dollars of a day, for all of them together; 0: nothing is proposed

    @property
    def is_on(self) -> bool:
        return self.tasks > 0 and self.share > 0


class PolicyFile(SettingsPart):
    budget: Budget
    """Hard caps in dollars."""
    capacity: Capacity = Capacity()
    """How much is planned for one day."""
    attempts: AttemptLimits = AttemptLimits()
    """How often a task is tried."""
    merge: MergeRules = MergeRules()
    """What may be merged without you."""
    approve: ApprovalRules = ApprovalRules()
    """What begins only with your yes."""
    qa: QaSettings = QaSettings()
    """How tests are written."""
    goals: GoalSettings = GoalSettings()
    """When a goal counts as done."""
    research: ResearchSettings = ResearchSettings()
    """What is looked up on the web."""
    upkeep: UpkeepSettings = UpkeepSettings()
    """What the team proposes by itself when you want nothing else; it is never merged without you."""

    talk: TalkSettings = TalkSettings()
    """What was said to models and by them, for `show ID --talk`."""
    events: EventSettings = EventSettings()
    """What happened, for other programs; a webhook and a Redis are named in config/.env."""

    discord: DiscordSettings = DiscordSettings()
    """Where you answer at Discord."""

    mail: MailSettings = MailSettings()
    """Where the day's report is mailed."""

    log: LogSettings = LogSettings()
    """What the agents write down, for `logs`."""

    machine: MachineSettings = MachineSettings()
    """When the machine counts as full: with too little memory or disk nothing new is begun."""

    @property
    def caps(self) -> Caps:
        """Caps that the meter holds."""
        return replace(self.budget.caps, upkeep=self.upkeep.cap(self.budget.day))
