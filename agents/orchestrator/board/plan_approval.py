"""Which tasks of a plan wait for the owner's yes, and for how long. Pure.

A yes is kept as a waiver: the task begins without PLAN. So `unblock` gives it to one task, and `approve plan` to all.
Whoever retries a task has said yes to it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sisimpur.shared.config.settings_policy import PlanRule
from sisimpur.shared.model.lifecycle import Board, Card, Event, State
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.model.work import DailyPlan
from sisimpur.shared.store.task_records import TaskRecord

MARK = 16  # characters of a digest; an owner types it in a channel
PLAN = "(plan)"  # stands among what a task begins without; no task can be called so


@dataclass(frozen=True)
class PlanApprovals:
    """`plan`: the plan of a day (YYYY-MM-DD), None if it has none."""

    rule: PlanRule
    plan: Callable[[str], DailyPlan | None]
    now: Callable[[], datetime]

    def waiting(self, known: Iterable[TaskRecord]) -> dict[str, str]:
        """The tasks that wait -> why they wait no longer and go; empty: they still do.

        What was begun once is not asked about again, and what the owner put into backlog/ himself never: a retry is
        his yes.
        """
        if self.rule.over is None:
            return {}
        new = [one for one in known if one.seen_in is State.BACKLOG and not one.attempts and not _has_yes(one)]
        days = {day: self._asked_about(day) for day in {_day(one) for one in new}}
        return {one.id: self._over(one) for one in new if one.id in days[_day(one)]}

    def _asked_about(self, day: str) -> frozenset[str]:
        plan = self.plan(day)
        asks = plan is not None and self.rule.over is not None and plan.forecast > self.rule.over
        return frozenset(task.id for task in plan.tasks) if plan and asks else frozenset()

    def _over(self, known: TaskRecord) -> str:
        age = self.now() - datetime.fromisoformat(known.since)
        return f"nobody approved its plan within {self.rule.days} days" if age > timedelta(self.rule.days) else ""


def _has_yes(known: TaskRecord) -> bool:
    return PLAN in known.waived or (known.newest is not None and known.newest.event is Event.RETRIED)


def _day(known: TaskRecord) -> str:
    """YYYY-MM-DD, as ids of plans begin. Another id gives no day, and no day has such a plan."""
    return f"{known.id[:4]}-{known.id[4:6]}-{known.id[6:8]}"


def waits(board: Board) -> tuple[Card, ...]:
    """What waits for the owner's yes. What he has moved away since it was last looked at does not."""
    return tuple(card for card in board.cards if card.unapproved and card.state is State.BACKLOG)


def unapproved(board: Board) -> tuple[str, ...]:
    """The tasks that wait for the owner's yes, by id."""
    return tuple(card.id for card in waits(board))


def mark_of(board: Board) -> str:
    """A digest of what waits, each task in all its words: who says yes to it says to which. Empty: none waits."""
    found = [repr((card.id, card.spec)) for card in waits(board)]
    return sha256_of("\n".join(found))[:MARK] if found else ""
