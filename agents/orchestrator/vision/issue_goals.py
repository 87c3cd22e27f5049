"""Issues at the forge -> goals. Pure.

Whose wish it is decides what it may lead to: an issue of the owner is as good as a line of VISION.md; what somebody
else asks for is a proposal, planned and built like a goal, but never merged without the owner. An issue whose text or
title somebody else has changed says what that one wants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.vision.goal_ids import ISSUE
from sisimpur.shared.forge.forge import Issue
from sisimpur.shared.model.text import around_unseen, one_line
from sisimpur.shared.model.work import Goal, Priority, Vision, VisionChange

MOST = 20  # issues that are looked at
MOST_LINES, LONGEST_LINE = 40, 300


@dataclass(frozen=True)
class InboxRules:
    """Of the owner's configuration. `label` empty: only issues of the owners count.

    `first_id`: the number that an owner's login had when it was first seen, perhaps now.
    """

    owners: tuple[str, ...] = ()  # `login`, or `login#number`
    label: str = ""
    first_id: Callable[[str, int], int] = lambda _, number: number

    def is_owner(self, login: str, number: int = 0) -> bool:
        """An account that got a login of an owner's later has another number, and is a stranger."""
        named = {owner.partition("#")[0]: owner.partition("#")[2] for owner in map(str.casefold, self.owners)}
        if (name := login.casefold()) not in named:
            return False
        return number == (int(named[name]) if named[name] else self.first_id(name, number))


def goals_in(issues: Sequence[Issue], rules: InboxRules, known: Collection[str] = ()) -> tuple[Goal, ...]:
    """The owners' first, then the oldest; at most MOST of the owners and MOST of everybody else.

    `known`: ids that are goals already: a flood of new issues does not wash them away.
    """
    goals = [_goal(issue, rules) for issue in issues if _counts(issue, rules)]
    ordered = sorted(goals, key=lambda goal: (goal.id not in known, number_of(goal.id)))
    kept = (*_first(ordered, is_owners=True), *_first(ordered, is_owners=False))
    return tuple(sorted(kept, key=lambda goal: (bool(goal.proposed_by), number_of(goal.id))))


def unseen_in_issues(issues: Iterable[Issue], goals: Iterable[Goal]) -> Iterator[str]:
    """A line for each issue behind these goals that holds what nobody sees, shown."""
    numbers = {number_of(goal.id) for goal in goals}
    for issue in issues:
        if issue.number in numbers and (around := around_unseen(f"{issue.title}\n{issue.body}")):
            yield f"issue #{issue.number} holds what nobody sees; it is not read: {around}"


def _first(goals: Iterable[Goal], is_owners: bool) -> list[Goal]:
    return [goal for goal in goals if bool(goal.proposed_by) is not is_owners][:MOST]


def is_from_issue(goal: Goal) -> bool:
    return goal.id.startswith(ISSUE)


def number_of(goal_id: str) -> int:
    """The issue's number; 0: the goal stands in VISION.md."""
    return int(goal_id.removeprefix(ISSUE)) if goal_id.startswith(ISSUE) else 0


def with_issues(vision: Vision, goals: Iterable[Goal]) -> Vision:
    return replace(vision, goals=(*vision.goals, *goals))


def own_words(vision: Vision) -> Vision:
    """Without what strangers ask for: their words do not stand beside the owner's when his "don't" is read."""
    return replace(vision, goals=_own(vision.goals))


def own_change(change: VisionChange) -> VisionChange:
    new, changed = _own(change.new), _own(change.changed)
    return replace(change, new=new, changed=changed, removed=_own(change.removed), unchanged=_own(change.unchanged))


def _own(goals: Iterable[Goal]) -> tuple[Goal, ...]:
    return tuple(goal for goal in goals if not goal.proposed_by)


def _counts(issue: Issue, rules: InboxRules) -> bool:
    if not rules.label:
        return rules.is_owner(issue.author, issue.author_id)
    return rules.label.casefold() in {label.casefold() for label in issue.labels}


def _goal(issue: Issue, rules: InboxRules) -> Goal:
    lines = [one_line(line, LONGEST_LINE) for line in issue.body.splitlines() if line.strip()]
    others = [login for login, number in issue.changed_by if not rules.is_owner(login, number)]
    is_his = rules.is_owner(issue.author, issue.author_id) and not others
    return Goal(
        id=f"{ISSUE}{issue.number}",
        title=one_line(issue.title, 200) or f"Issue {issue.number}",
        details=tuple(lines[:MOST_LINES]),
        priority=_priority(issue.labels) if is_his else Priority.LOW,
        proposed_by="" if is_his else (others or [issue.author])[0],
    )


def _priority(labels: Iterable[str]) -> Priority:
    """A label such as `priority: high`, or `critical` alone; the most urgent counts."""
    words = {label.casefold().removeprefix("priority").strip(" :/-") for label in labels}
    return next((priority for priority in Priority if priority.value in words), Priority.MEDIUM)
