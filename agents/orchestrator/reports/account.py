"""The words of a report: what was asked for, what came of it, what it cost, and what waits for the owner.

Amounts are nano-dollars. Texts are as somebody wrote them: whoever shows them makes them harmless.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sisimpur.agents.orchestrator.reports.reflection import Reflection
from sisimpur.agents.orchestrator.roadmap.roadmap import RoadmapAccount
from sisimpur.shared.model.deployment import Deploy, DeployStage, Place
from sisimpur.shared.model.lifecycle import OPEN, Event, State
from sisimpur.shared.model.work import Priority
from sisimpur.shared.money.savings import Saved
from sisimpur.shared.money.ticket import Spending
from sisimpur.shared.money.token_budget import Totals
from sisimpur.shared.record.audit import AuditHead
from sisimpur.shared.store.plan_book import Trouble

# How a day went. "cut off": it has no evening, somebody or something stopped it; "missed": nobody was there at all.
Kind = Literal["worked", "idle", "failed", "cut off", "missed"]


@dataclass(frozen=True)
class QuestionAccount:
    """What the owner is asked about a line of VISION.md. `id`: what `answer` takes; empty: only the file answers it."""

    text: str
    id: str = ""


@dataclass(frozen=True)
class TaskAccount:
    """One task at the end of a day. `ended` is the event that brought it where it is, if its life is over there."""

    id: str
    title: str
    state: State
    ended: Event | None = None
    is_of_the_day: bool = False  # its last event happened on this day
    note: str = ""  # of that event
    pull: str = ""  # the address of its open pull request
    cost: int = 0  # over all its attempts
    cost_of_day: int = 0
    asks: tuple[str, ...] = ()  # why it waits for the owner; he has not answered yet
    words: tuple[str, ...] = ()  # that were said about it, and about its goal
    new_tests: int = 0  # of what was merged
    coverage: float | None = None  # what the merged change adds, in percentage points
    effect: str = ""  # of what was merged, for its users; UNSEEN_EFFECT: nothing; empty: nobody said
    into: str = ""  # the branch of its goal, as long as that has not landed
    stuck: str = ""  # on what, and since when, if only the owner can free it
    ways: tuple[str, ...] = ()  # what he may type then
    held_up: str = ""  # why it does not go on by itself either: it waits for one that is stuck
    refused: tuple[str, ...] = ()  # paths that its engine wanted to write and may not

    @property
    def merged(self) -> bool:
        return self.ended is Event.MERGED and self.is_of_the_day

    @property
    def failed(self) -> bool:
        """The team gave it up, on whichever day; what the owner cancelled has not failed."""
        return self.ended is Event.EXHAUSTED

    @property
    def failed_that_day(self) -> bool:
        return self.failed and self.is_of_the_day

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


@dataclass(frozen=True)
class GoalAccount:
    """What was asked, in its present wording, and the tasks that were made of it."""

    title: str
    priority: Priority
    tasks: tuple[TaskAccount, ...] = ()
    is_asked_about: bool = False  # a question about it is open
    is_deferred: bool = False  # it, or a part of it, waits for another day
    placed: str = ""  # where the owner has put it in ROADMAP.md, if that keeps it from being planned
    grows_on: str = ""  # a branch of its own, until all of it lands
    told: str = ""  # what was seen of it: its figure, or what is missing
    is_unsettled: bool = False  # its tasks are merged, and nobody has seen that it holds
    is_again: bool = False  # so it is planned again

    @property
    def cost(self) -> int:
        return sum(task.cost for task in self.tasks)

    @property
    def cost_of_day(self) -> int:
        return sum(task.cost_of_day for task in self.tasks)

    @property
    def is_done_before(self) -> bool:
        """All of it was over before this day, and had landed."""
        over = [not task.is_open and not task.failed and not task.is_of_the_day for task in self.tasks]
        open_ = self.is_asked_about or self.is_deferred or self.grows_on or self.is_unsettled
        return bool(over) and all(over) and not open_


@dataclass(frozen=True)
class Live:
    """What is healthy at a place; without a commit nothing is, or nobody knows."""

    place: Place
    commit: str = ""
    subject: str = ""


@dataclass(frozen=True)
class DeployAccount:
    """One deploy that was begun or came to its end on a day, with the task whose change it is (empty: none of ours)."""

    deploy: Deploy
    task: str = ""
    title: str = ""  # of the task; of a commit of nobody of ours, the first line of its message
    is_again: bool = False  # the task went back to the coder because of it
    was_live: bool = False  # it had been healthy at its place before
    unwatched: str = ""  # the commit that runs there, if nobody watched it to its end
    ahead: tuple[Live, ...] = ()  # what is healthy at the places that it did not come to


@dataclass(frozen=True)
class PlanAccount:
    """What a day was planned for."""

    tasks: tuple[str, ...] = ()  # titles
    forecast: int = 0
    upkeep: tuple[str, ...] = ()  # what came of our own look at the code: one line each


@dataclass(frozen=True)
class ResearchAccount:
    """A question that was looked up on a day. `note`: the file that tells more, from the home's folder."""

    question: str
    recommendation: str
    note: str


@dataclass(frozen=True)
class DayAccount:
    """Everything that a report tells, and nothing else."""

    day: str  # YYYY-MM-DD in the owner's time zone
    kind: Kind
    goals: tuple[GoalAccount, ...] = ()  # the most urgent first
    others: tuple[TaskAccount, ...] = ()  # the owner's own, or of a goal that is not in the vision any more
    spent: Totals = field(default_factory=lambda: Totals(0))
    month: Totals = field(default_factory=lambda: Totals(0))
    week: Totals = field(default_factory=lambda: Totals(0))  # from Monday on; it has no cap
    saved: Saved = field(default_factory=Saved)  # in the month
    course: tuple[Spending, ...] = ()  # in the order in which it was spent
    plan: PlanAccount = field(default_factory=PlanAccount)
    roadmap: RoadmapAccount = field(default_factory=RoadmapAccount)
    deferred: tuple[str, ...] = ()  # titles of goals that wait for another day
    questions: tuple[QuestionAccount, ...] = ()
    guards: tuple[str, ...] = ()  # new and lost ones, and notes that protect nothing: one line each
    troubles: tuple[Trouble, ...] = ()
    stopped: str = ""  # why nothing is spent at all
    is_capped: bool = False  # the day's cap has stopped a call
    raise_to: int = 0  # today's cap could be so much for this day; 0: it is too late, or the month has no room
    blocked: tuple[str, ...] = ()  # paused models, unreadable files, tasks that were set backed_off: one line each
    unsent: tuple[str, ...] = ()  # messages that did not reach the owner: one line each
    missed: tuple[str, ...] = ()  # days just before this one on which nobody was there, the oldest first
    deploys: tuple[DeployAccount, ...] = ()  # the oldest first
    deploys_as: str = ""  # who runs what was merged, where no container does
    deploys_refused: str = ""  # why nothing may be deployed, and what the owner writes
    deploys_paused: str = ""  # why none is begun unasked; the owner has to end it
    research: tuple[ResearchAccount, ...] = ()
    learned: tuple[str, ...] = ()  # on this day: what was added to memory
    lessons_used: int = 0  # how often a prompt held one whose try has ended, on whichever day
    lessons_passed: int = 0  # of these, how many of the tries went well
    reflection: Reflection = field(default_factory=Reflection)
    head: AuditHead | None = None  # of the audit, in the evening
    board: str = ""  # the address of the owner's board; empty: no link is told
    heard: bool = False  # what the owner writes in his channel is an answer

    @property
    def tasks(self) -> tuple[TaskAccount, ...]:
        """Each once, in the order of the goals."""
        return (*(task for goal in self.goals for task in goal.tasks), *self.others)

    @property
    def merged(self) -> tuple[TaskAccount, ...]:
        return tuple(task for task in self.tasks if task.merged)

    @property
    def failed(self) -> tuple[TaskAccount, ...]:
        """On this day."""
        return tuple(task for task in self.tasks if task.failed_that_day)

    @property
    def asking(self) -> tuple[TaskAccount, ...]:
        """Changes that wait for the owner's word."""
        return tuple(task for task in self.tasks if task.asks)

    @property
    def going_on(self) -> tuple[TaskAccount, ...]:
        """Tasks that need nobody's word."""
        return tuple(task for task in self.tasks if task.is_open and not (task.asks or task.stuck or task.held_up))

    @property
    def stuck(self) -> tuple[TaskAccount, ...]:
        """Tasks that only the owner can free."""
        return tuple(task for task in self.tasks if task.stuck)

    @property
    def held_up(self) -> tuple[TaskAccount, ...]:
        """Tasks that wait for those."""
        return tuple(task for task in self.tasks if task.held_up)

    @property
    def given_up(self) -> tuple[TaskAccount, ...]:
        """Tasks that wait for a retry, from whichever day."""
        return tuple(task for task in self.tasks if task.failed)

    @property
    def waiting(self) -> int:
        """How many things wait for the owner."""
        return len(self.asking) + len(self.given_up) + len(self.stuck) + len(self.questions)

    def deployed(self, *stages: DeployStage) -> int:
        """How many deploys of the day stand there."""
        return sum(one.deploy.stage in stages for one in self.deploys)

    @property
    def overhead(self) -> int:
        """What the day cost beside its tasks: reading the vision, planning."""
        return self.spent.used - sum(task.cost_of_day for task in self.tasks)

    @property
    def per_merged(self) -> int:
        """What a task that was merged on this day has cost over its whole life, on average; 0: none was."""
        return sum(task.cost for task in self.merged) // len(self.merged) if self.merged else 0
