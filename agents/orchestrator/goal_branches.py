"""Large goals on branches of their own: where a task's change goes, and how such a branch begins and stays fresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from agents.orchestrator.team import WHO, Desk
from shared.domain.errors import Misconfigured, Stumble
from shared.domain.lifecycle import State
from shared.domain.naming import goal_branch, is_landing
from shared.edge.journal import Journal, Known
from shared.edge.repo.mirror_rebase import Conflict

MOST_NAMED = 5  # files of a conflict


class Diverged(Stumble):
    """The goal's branch and the target's do not go together by themselves."""


# --- which branch, by the books ------------------------------------------------------------------------------


def target(desk: Desk, task: Known) -> str:
    """The branch that its change goes into. What was planned for a branch that has landed goes into the target's."""
    main = desk.rules.branch
    if not task.branch or lands(task) or task.branch in landed(desk.journal):
        return main
    return task.branch


def lands(task: Known) -> bool:
    """A task of ours that brings a goal's branch home; a file of the owner's may have any name."""
    return bool(task.branch) and is_landing(task.id)


def landed(journal: Journal) -> frozenset[str]:
    """Branches of goals all of which is on the target's branch."""
    return frozenset(one.branch for one in journal.known().values() if lands(one) and _is_done(journal, one))


def landings(known: Iterable[Known], branch: str) -> list[Known]:
    return [one for one in known if one.branch == branch and lands(one)]


def _is_done(journal: Journal, task: Known) -> bool:
    """Its file may have been tidied away since."""
    if task.seen_in is State.GONE:
        return [event.target for event in journal.history(task.id)][-2:-1] == [State.COMPLETED]
    return task.seen_in is State.COMPLETED


def open_branches(journal: Journal) -> Mapping[str, str]:
    """Goal -> the branch of its own that its tasks go into. Most homes have none."""
    over = landed(journal)
    return {one.goal_id: one.branch for one in journal.known().values() if one.branch and one.branch not in over}


def new_branch(journal: Journal, goal: str) -> str:
    """The name of the next one that this goal may begin."""
    had = {one.branch for one in journal.known().values() if one.goal_id == goal and one.branch}
    return goal_branch(goal, len(had) + 1)


def goes_on(task: Known, known: Mapping[str, Known]) -> bool:
    """A landing whose goal has other tasks to do again: it waits for them, and is made anew."""
    others = (one for one in known.values() if one.branch == task.branch and not lands(one))
    return lands(task) and any(one.seen_in in (State.BACKLOG, State.IN_PROGRESS, State.IN_REVIEW) for one in others)


# --- at the forge --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoalBranches:
    """`sync`: brings our mirror up to date -> the newest commit of the target's branch."""

    desk: Desk
    sync: Callable[[], str]

    def base(self, task: Known) -> str:
        """What its change begins on: of a goal's branch with the target's brought in. Diverged: it cannot be."""
        tip, branch = self.sync(), target(self.desk, task)
        return tip if branch == self.desk.rules.branch else self.fresh(branch, tip)

    def newest(self, branch: str) -> str:
        """As it is at the forge."""
        return self.sync() if branch == self.desk.rules.branch else self._newest(branch, self.sync())

    def hear(self, tasks: Iterable[Known]) -> None:
        """What the owner has pushed to branches of goals; one that is not there yet begins with its first task."""
        mirror, main = self.desk.mirror, self.desk.rules.branch
        for branch in sorted({target(self.desk, task) for task in tasks} - {main}):
            if mirror.remote_head(branch):
                mirror.fetch(branch)

    def fresh(self, branch: str, tip: str) -> str:
        """Its newest commit, which holds `tip`: that of the target's branch."""
        mirror, newest = self.desk.mirror, self._newest(branch, tip)
        if mirror.is_ancestor(tip, newest):
            return newest
        if mirror.is_ancestor(newest, tip):
            return self._push(branch, tip, newest)
        main = self.desk.rules.branch
        made = mirror.joined(newest, tip, WHO, f"Merge {main} into {branch}", self.desk.clock.now())
        if isinstance(made, Conflict):
            where = ", ".join(made.paths[:MOST_NAMED]) or "its history"
            raise Diverged(
                f"{main} conflicts with {branch} in {where}: merge {main} into {branch} yourself and push it"
            )
        self.desk.tell(f"{branch}: brought up to date with {main}")
        return self._push(branch, made, newest)

    def _newest(self, branch: str, tip: str) -> str:
        """It begins where the target's branch is; deleted by somebody, it begins where it was."""
        mirror, journal = self.desk.mirror, self.desk.journal
        there = mirror.remote_head(branch)
        if there is None:
            return self._push(branch, mirror.head(branch) or tip, None)
        newest = mirror.fetch(branch)
        pushing = self._pushing(branch)
        if pushing == _key(branch, 1) and not (journal.intended(pushing) and mirror.is_ancestor(newest, tip)):
            raise Misconfigured(f"{branch} is there already, and not ours: remove that branch at the forge")
        if journal.intended(pushing) and mirror.is_ancestor(tip, newest):
            journal.achieved(pushing, newest)  # what a kill kept from being booked
        return newest

    def _push(self, branch: str, sha: str, expected: str | None) -> str:
        key = self._pushing(branch)
        self.desk.journal.intend(key, "push", "", branch, self.desk.clock.now())
        self.desk.mirror.push(sha, branch, expected)
        self.desk.journal.achieved(key, sha)
        return self.desk.mirror.fetch(branch)

    def _pushing(self, branch: str) -> str:
        """The key of the push that comes next, or that was begun."""
        return next(key for key in self._keys(branch) if not self.desk.journal.outcome_of(key))

    def _keys(self, branch: str) -> Iterator[str]:
        return (_key(branch, number) for number in count(1))


def _key(branch: str, number: int) -> str:
    return f"{branch}:{number}"
