"""Issues at the forge -> goals. Pure.

Whose wish it is decides what it may lead to: an issue of the owner is as good as a line of VISION.md; what somebody
else asks for is a proposal, planned and built like a goal, but never merged without the owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agents.orchestrator.goal_ids import ISSUE
from shared.domain.work import Goal, Priority, Vision
from shared.edge.forge.forge import Issue, one_line

MOST = 20  # issues that are looked at
MOST_LINES, LONGEST_LINE = 40, 300


@dataclass(frozen=True)
class InboxRules:
    """Of the owner's configuration. `label` empty: only issues of the owners count."""

    owners: tuple[str, ...] = ()  # logins
    label: str = ""

    def is_owner(self, login: str) -> bool:
        return login.casefold() in {owner.casefold() for owner in self.owners}

    @property
    def takes_issues(self) -> bool:
        return bool(self.owners or self.label)


def goals_in(issues: Sequence[Issue], rules: InboxRules) -> tuple[Goal, ...]:
    """The oldest first."""
    wanted = [issue for issue in issues if _counts(issue, rules)]
    return tuple(_goal(issue, rules) for issue in sorted(wanted, key=lambda issue: issue.number)[:MOST])


def is_from_issue(goal: Goal) -> bool:
    return goal.id.startswith(ISSUE)


def number_of(goal_id: str) -> int:
    """The issue's number; 0: the goal stands in VISION.md."""
    return int(goal_id.removeprefix(ISSUE)) if goal_id.startswith(ISSUE) else 0


def with_issues(vision: Vision, goals: Iterable[Goal]) -> Vision:
    return replace(vision, goals=(*vision.goals, *goals))


def _counts(issue: Issue, rules: InboxRules) -> bool:
    return rules.label in issue.labels if rules.label else rules.is_owner(issue.author)


def _goal(issue: Issue, rules: InboxRules) -> Goal:
    lines = [one_line(line, LONGEST_LINE) for line in issue.body.splitlines() if line.strip()]
    is_his = rules.is_owner(issue.author)
    return Goal(
        id=f"{ISSUE}{issue.number}",
        title=one_line(issue.title, 200) or f"Issue {issue.number}",
        details=tuple(lines[:MOST_LINES]),
        priority=_priority(issue.labels) if is_his else Priority.LOW,
        proposed_by="" if is_his else issue.author,
    )


def _priority(labels: Iterable[str]) -> Priority:
    """A label such as `priority: high`, or `critical` alone; the most urgent counts."""
    words = {label.casefold().removeprefix("priority").strip(" :/-") for label in labels}
    return next((priority for priority in Priority if priority.value in words), Priority.MEDIUM)
