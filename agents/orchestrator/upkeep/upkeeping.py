"""Nothing is asked for, and the day has room: a look at the code -> what is proposed to the owner. Asks no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from sisimpur.agents.orchestrator.board.roles import ChecksChange
from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.board.transitions import Transitions
from sisimpur.agents.orchestrator.integration.feature_branches import TargetBranch
from sisimpur.agents.orchestrator.upkeep.upkeep import (
    KINDS,
    Kind,
    Past,
    UpkeepFinding,
    UpkeepLook,
    at_rest,
    chosen,
    noted,
    owner_waits,
    proposal,
    room,
    taken,
)
from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from sisimpur.agents.orchestrator.upkeep.upkeep_findings import (
    Reach,
    Releases,
    failing,
    outdated,
    texts,
    uncovered,
    untidy,
)
from sisimpur.shared.config.settings_policy import UpkeepRules
from sisimpur.shared.model.errors import Refused, Replaced, Stopping, TeamError
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.lifecycle import OPEN, Board, Event, State, wording
from sisimpur.shared.model.naming import upkeep_task
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.linter import Lint
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.words.meaning import kept_notes

NO_MEANS_NO = (Event.CANCELLED, Event.DELETED)
USABLE = ("finished", "no tests")  # how a run of the base ends that says something
FILES = ("100644", "100755")  # modes of what is a file, and no link
NOTHING, NOT_SEEN = "nothing worth doing", "nothing found in what could be looked at"


@dataclass(frozen=True)
class UpkeepTools:
    """What finds work that nobody asked for, and the owner's rules. What needs a sandbox is made when it is needed.

    `least`: nano-dollars that the dearest single call of a task may cost.
    """

    rules: UpkeepRules
    lint: Callable[[Mapping[str, str]], Sequence[Lint]]
    releases: Callable[[], Releases]
    protected: Sequence[str] = ()  # paths of the owner's own list
    least: int = 0


@dataclass(frozen=True)
class Proposals:
    """What was proposed so far, and the files of it."""

    book: UpkeepRepository
    journal: Journal
    transitions: Transitions

    def keep(self, look: UpkeepLook) -> None:
        self.book.keep(look)
        self.write()

    def write(self) -> None:
        """A file for each proposal that history does not know yet; repeatable after a kill."""
        proposals = self.book.proposals()
        known = self.journal.tasks(one.task.id for one in proposals)
        for one in proposals:
            if one.task.id not in known:
                self.transitions.file(one.task, "proposed: nobody asked for it", wording(one.goal))

    def past(self) -> Iterator[Past]:
        """How each proposal ended."""
        proposals = self.book.proposals()
        known = self.journal.tasks(one.task.id for one in proposals)
        for one in proposals:
            found = known.get(one.task.id)
            is_open = found is None or found.seen_in in OPEN
            yield Past(one.kind, one.subject, one.day, is_open, found is not None and self._is_rejected(found))

    def _is_rejected(self, known: TaskRecord) -> bool:
        """The owner cancelled it, or took its file away; what was done before it was tidied away is no such case."""
        history = self.journal.history(known.id)
        if not history or history[-1].event not in NO_MEANS_NO:
            return False
        before = history[-2].target if history[1:] else State.BACKLOG
        return history[-1].event is Event.CANCELLED or before is not State.COMPLETED

    def numbers(self, day: str) -> Iterator[int]:
        """Those of the day that no task has: the owner may have dropped a file of such a name."""
        begin = upkeep_task(day, 1)[:-1]
        taken = self.journal.ids_beginning(begin) | self.transitions.store.names_beginning(begin)
        return (number for number in range(1, 10_000) if upkeep_task(day, number) not in taken)


@dataclass(frozen=True)
class Upkeep:
    """`capacity_left`: how many tasks a day has room for when all that is wanted is planned; `board`: as it is now."""

    proposals: Proposals
    tools: UpkeepTools
    eyes: CodeEyes
    board: Callable[[], Board]
    capacity_left: Callable[[str], int]
    tell: Callable[[str], None]

    def look_after(self, day: str) -> None:
        """One look a day, and none while anything that the owner wants is left to plan or to begin.

        What cannot be looked at today is left out, and said; nothing of it is a reason for the day not to go on.
        """
        rules = self.tools.rules
        if not rules.is_on or self.proposals.book.look(day) or owner_waits(board := self.board()):
            return
        past, free = tuple(self.proposals.past()), self.capacity_left(day)
        if free and (why := at_rest(past, rules, self.tools.least)):
            self._told(UpkeepLook(day, (why,)))
        elif min(free, room(past, rules, day)):
            try:
                commit = self.eyes.main.sync()
            except (Stopping, Replaced):
                raise
            except TeamError as problem:  # the branch is not known: another planning of the day looks again
                self.tell(f"upkeep: {problem}")
                return
            look = _Look(self.eyes, self.tools, day, commit, taken(board))
            self._told(self._seen(look, past, free))

    def _seen(self, look: _Look, past: Sequence[Past], free: int) -> UpkeepLook:
        found = look.found(past)[:free]
        numbers, day = self.proposals.numbers(look.day), look.day
        notes = self._notes()
        proposals = tuple(proposal(one, day, next(numbers), look.reach.guards, notes) for one in found)
        nothing = [] if proposals else [NOT_SEEN if look.left_out else NOTHING]
        return UpkeepLook(day, (*nothing, *map(noted, look.left_out)), proposals)

    def _notes(self) -> str:
        """What the owner's notes say of every task."""
        accepted = self.eyes.plans.accepted()
        if accepted is None:
            return ""
        return kept_notes((note.text for note in accepted.vision.notes), {guard.note for guard in accepted.guards})

    def _told(self, look: UpkeepLook) -> None:
        self.proposals.keep(look)
        for line in (*(f"proposes {one.task.id}: {one.task.title}" for one in look.proposals), *look.notes):
            self.tell(f"upkeep: {line}")


# --- the look ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CodeEyes:
    """With what a commit is looked at. `allow`: further paths that may be changed."""

    mirror: Mirror
    main: TargetBranch
    qa: Callable[[], ChecksChange]
    runs: AgentRuns
    plans: PlanRepository
    allow: Sequence[str]


@dataclass
class _Look:
    """At one commit. `taken`: files of open tasks; `left_out`: what could not be looked at, and why."""

    eyes: CodeEyes
    tools: UpkeepTools
    day: str
    commit: str
    taken: Sequence[str] = ()
    left_out: list[str] = field(default_factory=list)

    def found(self, past: Sequence[Past]) -> tuple[UpkeepFinding, ...]:
        """Of the first kind that has anything new; the others are not looked for."""
        for kind in KINDS:
            if self.eyes.runs.session.stopping():
                raise Stopping("the team is being stopped")
            if found := chosen(self._of(kind), past, self.tools.rules, self.day):
                return found
        return ()

    def _of(self, kind: Kind) -> tuple[UpkeepFinding, ...]:
        try:
            return tuple(self._finders[kind]())
        except (Stopping, Replaced):
            raise
        except TeamError as problem:
            self.left_out.append(f"{kind}: not looked for today: {problem}")
            return ()

    @property
    def _finders(self) -> Mapping[Kind, Callable[[], Iterable[UpkeepFinding]]]:
        return {
            "failing test": lambda: failing(self._base, self.reach, self._read, self._changed),
            "uncovered code": lambda: uncovered(self._base, self.reach),
            "outdated pin": self._outdated,
            "lint": self._untidy,
        }

    @cached_property
    def _base(self) -> SuiteRun:
        """One that says nothing, if it cannot be made."""
        try:
            run = self._run_base()
        except (Stopping, Replaced):
            raise
        except TeamError as problem:
            self.left_out.append(f"tests: not looked at today: {problem}")
            return SuiteRun("not run", 0)
        if run.end not in USABLE:
            self.left_out.append(f"tests: they do not run on {self.eyes.main.name} ({run.end})")
            return SuiteRun(run.end, run.code)
        return run

    def _run_base(self) -> SuiteRun:
        qa = self.eyes.qa()
        with self.eyes.runs.unlocked("qa", day=self.day) as run:
            return qa.base(run, self.commit)

    def _outdated(self) -> tuple[UpkeepFinding, ...]:
        with self.eyes.runs.session.lock.released():
            return tuple(outdated(self.reach, self._read, self.tools.releases()))

    def _untidy(self) -> tuple[UpkeepFinding, ...]:
        with self.eyes.runs.session.lock.released():
            return tuple(untidy(self.tools.lint(texts(self.reach, self._read)), self.reach))

    @cached_property
    def reach(self) -> Reach:
        paths = frozenset(entry.path for entry in self.eyes.mirror.tree(self.commit) if entry.mode in FILES)
        return Reach(paths, tuple(self.eyes.allow), self.eyes.plans.guarded(), (*self.tools.protected, *self.taken))

    def _changed(self, path: str) -> datetime | None:
        return self.eyes.mirror.changed_last(self.commit, path)

    def _read(self, path: str) -> str:
        try:
            return (self.eyes.mirror.read(self.commit, path) or b"").decode("utf-8", "replace")
        except Refused:  # larger than anything that we would touch
            return ""
