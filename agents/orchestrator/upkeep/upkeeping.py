"""Nothing is asked for, and the day has room: a look at the code -> what is proposed to the owner. Asks no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from agents.orchestrator.board.transitions import file_task
from agents.orchestrator.planning.planning import due_goals, write_plan_file
from agents.orchestrator.team import Desk, Team, UpkeepTools
from agents.orchestrator.upkeep.upkeep import (
    KINDS,
    Kind,
    Past,
    UpkeepFinding,
    UpkeepLook,
    at_rest,
    chosen,
    noted,
    proposal,
    room,
)
from agents.orchestrator.upkeep.upkeep_findings import Reach, failing, texts, uncovered, untidy
from agents.orchestrator.upkeep.upkeep_pins import outdated
from shared.model.errors import Refused, Replaced, Stopping, TeamError
from shared.model.evidence import SuiteRun
from shared.model.lifecycle import Event, State, wording
from shared.model.naming import upkeep_task
from shared.store.task_records import TaskRecord

OPEN = (State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW)
NO_MEANS_NO = (Event.CANCELLED, Event.DELETED)
USABLE = ("finished", "no tests")  # how a run of the base ends that says something
FILES = ("100644", "100755")  # modes of what is a file, and no link
NOTHING, NOT_SEEN = "nothing worth doing", "nothing found in what could be looked at"


def look_after(desk: Desk, team: Team, day: str) -> None:
    """One look a day, and none while anything that the owner wants is left to plan.

    What cannot be looked at today is left out, and said; nothing of it is a reason for the day not to go on.
    """
    upkeep = team.upkeep
    if upkeep is None or not upkeep.rules.is_on or desk.upkeep.look(day):
        return
    past, free = tuple(_past(desk)), capacity_left(desk, day)
    if free and (why := at_rest(past, upkeep.rules, upkeep.least)):
        _told(desk, UpkeepLook(day, (why,)))
        return
    if not min(free, room(past, upkeep.rules, day)):
        return
    try:
        commit = team.sync()
    except (Stopping, Replaced):
        raise
    except TeamError as problem:  # the branch is not known: another planning of the day looks again
        desk.tell(f"upkeep: {problem}")
        return
    eyes = _Eyes(desk, team, upkeep, day, commit)
    found = eyes.look(past)[:free]
    numbers = _numbers(desk, day)
    proposals = tuple(proposal(one, day, next(numbers), eyes.reach.guards) for one in found)
    nothing = [] if proposals else [NOT_SEEN if eyes.left_out else NOTHING]
    _told(desk, UpkeepLook(day, (*nothing, *map(noted, eyes.left_out)), proposals))


def _told(desk: Desk, look: UpkeepLook) -> None:
    desk.upkeep.keep(look)
    write_proposals(desk)
    for line in (*(f"proposes {one.task.id}: {one.task.title}" for one in look.proposals), *look.notes):
        desk.tell(f"upkeep: {line}")
    if accepted := desk.plans.accepted():
        write_plan_file(desk, accepted, look.day)


def write_proposals(desk: Desk) -> None:
    """A file for each proposal that history does not know yet; repeatable after a kill."""
    proposals = desk.upkeep.proposals()
    known = desk.journal.tasks(one.task.id for one in proposals)
    for one in proposals:
        if one.task.id not in known:
            file_task(desk, one.task, "proposed: nobody asked for it", wording(one.goal))


def capacity_left(desk: Desk, day: str) -> int:
    """How many tasks the day has room for, when all that is wanted now is planned; 0: something is left to plan."""
    accepted, plan = desk.plans.accepted(), desk.plans.plan(day)
    if accepted is None or plan is None or plan.deferred:
        return 0
    return 0 if due_goals(desk, accepted.vision, day) else max(0, desk.rules.capacity - len(plan.tasks))


def _numbers(desk: Desk, day: str) -> Iterator[int]:
    """Those of the day that no task has: the owner may have dropped a file of such a name."""
    begin = upkeep_task(day, 1)[:-1]
    taken = desk.journal.ids_beginning(begin) | desk.store.names_beginning(begin)
    return (number for number in range(1, 10_000) if upkeep_task(day, number) not in taken)


# --- what was proposed before --------------------------------------------------------------------------------


def _past(desk: Desk) -> Iterable[Past]:
    proposals = desk.upkeep.proposals()
    known = desk.journal.tasks(one.task.id for one in proposals)
    for one in proposals:
        found = known.get(one.task.id)
        is_open = found is None or found.seen_in in OPEN
        yield Past(one.kind, one.subject, one.day, is_open, found is not None and _is_rejected(desk, found))


def _is_rejected(desk: Desk, known: TaskRecord) -> bool:
    """He cancelled it, or took its file away; what was done before it was tidied away is no such case."""
    history = desk.journal.history(known.id)
    if not history or history[-1].event not in NO_MEANS_NO:
        return False
    before = history[-2].target if history[1:] else State.BACKLOG
    return history[-1].event is Event.CANCELLED or before is not State.COMPLETED


# --- the look ------------------------------------------------------------------------------------------------


@dataclass
class _Eyes:
    """On one commit. `left_out`: what could not be looked at, and why."""

    desk: Desk
    team: Team
    upkeep: UpkeepTools
    day: str
    commit: str
    left_out: list[str] = field(default_factory=list)

    def look(self, past: Iterable[Past]) -> tuple[UpkeepFinding, ...]:
        """Of the first kind that has anything new; the others are not looked for."""
        past = tuple(past)
        for kind in KINDS:
            if self.desk.stopping():
                raise Stopping("the team is being stopped")
            if found := chosen(self._found(kind), past, self.upkeep.rules, self.day):
                return found
        return ()

    def _found(self, kind: Kind) -> tuple[UpkeepFinding, ...]:
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
            "failing test": lambda: failing(self._base, self.reach, self._read),
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
            self.left_out.append(f"tests: those of {self.desk.rules.branch} come to no end ({run.end})")
            return SuiteRun(run.end, run.code)
        return run

    def _run_base(self) -> SuiteRun:
        desk, qa = self.desk, self.team.qa()
        with desk.journal.running("qa", self.day, desk.clock) as run, desk.chair.left():
            return qa.base(run, self.commit)

    def _outdated(self) -> tuple[UpkeepFinding, ...]:
        with self.desk.chair.left():
            return tuple(outdated(self.reach, self._read, self.upkeep.releases()))

    def _untidy(self) -> tuple[UpkeepFinding, ...]:
        with self.desk.chair.left():
            return tuple(untidy(self.upkeep.lint(texts(self.reach, self._read)), self.reach))

    @cached_property
    def reach(self) -> Reach:
        desk, accepted = self.desk, self.desk.plans.accepted()
        guards = tuple(pattern for guard in (accepted.guards if accepted else ()) for pattern in guard.patterns)
        paths = frozenset(entry.path for entry in desk.mirror.tree(self.commit) if entry.mode in FILES)
        return Reach(paths, desk.rules.allow, guards, self.upkeep.protected)

    def _read(self, path: str) -> str:
        try:
            return (self.desk.mirror.read(self.commit, path) or b"").decode("utf-8", "replace")
        except Refused:  # larger than anything that we would touch
            return ""
