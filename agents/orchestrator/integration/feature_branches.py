"""Large goals on branches of their own: where a task's change goes, and how such a branch begins and stays fresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING

from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import OPEN, State
from sisimpur.shared.model.naming import WHO, goal_branch, is_landing
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.clock import Clock

if TYPE_CHECKING:  # where things stand is looked at without git
    from sisimpur.shared.repo.mirror import Mirror

MOST_NAMED = 5  # files of a conflict, tasks that are missing


@dataclass(frozen=True)
class Apart:
    """A goal's branch and the target's, which do not go together by themselves. `why` says what the owner can do."""

    newest: str  # commit of the goal's branch
    why: str


# --- which branch, by the books ------------------------------------------------------------------------------


def own_target(journal: Journal, task: TaskRecord) -> str:
    """The branch of its goal, if its change goes there; empty: it does not."""
    return task.branch if task.branch and not lands(task) and not has_landed(journal, task.branch) else ""


def lands(task: TaskRecord) -> bool:
    """A task of ours that brings a goal's branch home; a file of the owner's may have any name."""
    return bool(task.branch) and is_landing(task.id)


def has_landed(journal: Journal, branch: str) -> bool:
    """Whether all that is on a goal's branch is on the target's."""
    return any(_is_done(journal, one) for one in journal.tasks_on(branch).values() if lands(one))


def _is_done(journal: Journal, task: TaskRecord) -> bool:
    """Its file may have been tidied away since."""
    if task.seen_in is State.GONE:
        return [event.target for event in journal.history(task.id)][-2:-1] == [State.COMPLETED]
    return task.seen_in is State.COMPLETED


def open_branches(journal: Journal) -> Mapping[str, str]:
    """Goal -> the branch of its own that its tasks go into. Most homes have none."""
    tasks = journal.tasks_on_branches().values()
    over = {one.branch for one in tasks if lands(one) and _is_done(journal, one)}
    return {one.goal_id: one.branch for one in tasks if one.branch not in over}


def new_branch(journal: Journal, goal: str) -> str:
    """The name of the next one that this goal may begin."""
    had = {one.branch for one in journal.tasks_of([goal]).values() if one.branch}
    return goal_branch(goal, len(had) + 1)


def too_early(task: TaskRecord, known: Mapping[str, TaskRecord]) -> bool:
    """A landing whose goal has other tasks to do again: it is dropped, and made anew when they are done.

    `known`: at least the open ones of its branch.
    """
    others = (one for one in known.values() if one.branch == task.branch and not lands(one))
    return lands(task) and any(one.seen_in in OPEN for one in others)


@dataclass(frozen=True)
class TargetBranch:
    """The owner's branch. `sync` brings our mirror up to date -> its newest commit."""

    name: str
    sync: Callable[[], str]


@dataclass(frozen=True)
class FeatureBranches:
    """Each push is an intent with a number; what it came to is "<commit> <the target's newest that it holds>".

    `command`: what the owner types before a command's name.
    """

    journal: Journal
    mirror: Mirror
    main: TargetBranch
    clock: Clock
    tell: Callable[[str], None]
    command: str = "python main.py"

    # -- by the books -----------------------------------------------------------------------------------------

    def target(self, task: TaskRecord) -> str:
        """The branch that a change goes into. What was planned for a branch that has landed goes to the owner's."""
        return own_target(self.journal, task) or self.main.name

    def is_current(self, task: TaskRecord, base: str) -> bool:
        """Whether the branch that a change goes into is still where the change begins."""
        return base == self.mirror.head(self.target(task))

    def is_outdated(self, task: TaskRecord) -> bool:
        """A landing that was made of less than is on its branch now, as far as we have looked."""
        made_of = self.journal.gathered(task.id) if lands(task) else ""
        newest = self.mirror.head(task.branch) if made_of else None
        return newest is not None and not self._holds(made_of, newest)

    def lands_early(self, task: TaskRecord) -> bool:
        """A landing that has to wait: its goal has other tasks to do, or there is more on its branch."""
        return lands(task) and (too_early(task, self.journal.tasks_on(task.branch)) or self.is_outdated(task))

    def _holds(self, newer: str, older: str) -> bool:
        """False also if one of the commits is not here."""
        try:
            return self.mirror.is_ancestor(older, newer)
        except TeamError:
            return False

    # -- at the forge -----------------------------------------------------------------------------------------

    def base(self, task: TaskRecord) -> str:
        """What its change begins on: of a goal's branch with the target's brought in, or Misconfigured."""
        tip, branch = self.main.sync(), self.target(task)
        return tip if branch == self.main.name else self.fresh(branch, tip)

    def ensured(self, branch: str) -> str:
        """Its newest commit; one of a goal is pushed if it is not at the forge."""
        tip = self.main.sync()
        return tip if branch == self.main.name else self._ensured(branch, tip)

    def look(self, branch: str) -> str | None:
        """Its newest commit as it is at the forge, and now here; None: it is not there."""
        if branch == self.main.name:
            return self.main.sync()
        return self.mirror.fetch(branch) if self.mirror.remote_head(branch) else None

    def has_grown(self, task: TaskRecord) -> bool:
        """Tell whether there is more on the branch that a landing brings home than it was made of."""
        self.look(task.branch)
        return self.is_outdated(task)

    def has_lost_target(self, task: TaskRecord) -> bool:
        """GitHub closes what goes into a branch that somebody deletes: that is no word about the change."""
        into = self.target(task)
        return into != self.main.name and self.look(into) is None

    def hear(self, tasks: Iterable[TaskRecord]) -> frozenset[str]:
        """The branches of goals to which the owner has pushed; one that is not there yet begins with its first task."""
        branches = {task.branch for task in tasks if task.branch}
        still = [branch for branch in sorted(branches) if not has_landed(self.journal, branch)]
        before = {branch: self.mirror.head(branch) for branch in still}
        return frozenset(branch for branch, head in before.items() if self.look(branch) != head)

    def fresh(self, branch: str, tip: str) -> str:
        """Its newest commit, which holds `tip`: that of the target's branch. Misconfigured, of a task: it cannot."""
        match self.joined(branch, tip):
            case Apart(_, why):
                raise Misconfigured(why, "task")
            case newest:
                return newest

    def joined(self, branch: str, tip: str) -> str | Apart:
        """As `fresh`; that they do not go together is an answer."""
        mirror, newest, before = self.mirror, self._ensured(branch, tip), self._brought_in(branch)
        is_rewritten = bool(before) and not self._holds(tip, before)
        if mirror.is_ancestor(tip, newest):
            if is_rewritten:  # and the owner has set that right
                self.journal.intend(self._next(branch), "push", "", branch, self.clock.now())
                self.journal.achieved(self._next(branch), f"{newest} {tip}")
            return newest
        main = self.main.name
        if is_rewritten:
            why = f"{main} was rewritten since it was merged into {branch}: rebase that yourself and push it"
            return Apart(newest, why)
        if mirror.is_ancestor(newest, tip):
            return self._push(branch, tip, newest, tip)
        made = mirror.joined(newest, tip, WHO, f"Merge {main} into {branch}", self.clock.now())
        if not isinstance(made, str):
            where = ", ".join(made.paths[:MOST_NAMED]) or "its history"
            why = f"{main} conflicts with {branch} in {where}: merge {main} into {branch} yourself and push it"
            return Apart(newest, why)
        self.tell(f"{branch}: brought up to date with {main}")
        return self._push(branch, made, newest, tip)

    def _ensured(self, branch: str, tip: str) -> str:
        """It begins where the target's branch is; deleted by somebody, it begins where it was."""
        mirror = self.mirror
        newest = self.look(branch)
        if newest is None:
            last = (mirror.head(branch) if self._pushes(branch) else None) or tip
            self._check_whole(branch, last)
            return self._push(branch, last, None, self._brought_in(branch) or tip)
        self._check_ours(branch, newest, tip)
        self._check_whole(branch, newest)
        key = self._next(branch)
        if self.journal.intended(key) and mirror.is_ancestor(tip, newest):
            self.journal.achieved(key, f"{newest} {tip}")  # what a kill kept from being booked
        return newest

    def _check_ours(self, branch: str, newest: str, tip: str) -> None:
        is_begun = self.journal.intended(_key(branch, 1)) and self.mirror.is_ancestor(newest, tip)
        if not (is_begun or self._pushes(branch)):
            raise Misconfigured(f"{branch} is there already, and not ours: remove that branch at the forge", "task")

    def _check_whole(self, branch: str, newest: str) -> None:
        """A rewritten history is whole if it has the same commits by their first lines."""
        known, titles = self.journal.tasks_on(branch), self.mirror.titles(newest)
        missing = [
            task
            for task, sha in self.journal.merged_into(branch).items()
            if known[task].seen_in is State.COMPLETED
            and not lands(known[task])
            and not (self._holds(newest, sha) or self._title(sha) in titles)
        ]
        if missing:
            what = ", ".join(missing[:MOST_NAMED])
            how = f"push it there again, or type: {self.command} retry {missing[0]}"
            raise Misconfigured(f"{branch} does not hold what was merged for {what} any more: {how}", "task")

    def _title(self, sha: str) -> str | None:
        try:
            return self.mirror.titles(sha)[0]
        except TeamError:  # it is not here
            return None

    def _push(self, branch: str, sha: str, expected: str | None, tip: str) -> str:
        key = self._next(branch)
        self.journal.intend(key, "push", "", branch, self.clock.now())
        self.mirror.push(sha, branch, expected)
        self.journal.achieved(key, f"{sha} {tip}")
        return self.mirror.fetch(branch)

    def _brought_in(self, branch: str) -> str:
        """The newest commit of the target's branch that was merged into it; empty: none yet."""
        done = self._pushes(branch)
        return done[-1].partition(" ")[2] if done else ""

    def _next(self, branch: str) -> str:
        """The key of the push that comes next, or that was begun."""
        return _key(branch, len(self._pushes(branch)) + 1)

    def _pushes(self, branch: str) -> list[str]:
        """What they have come to, in order."""
        return [*takewhile(bool, (self.journal.outcome_of(_key(branch, number)) for number in count(1)))]


def _key(branch: str, number: int) -> str:
    return f"{branch}:{number}"
