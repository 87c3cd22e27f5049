"""TaskSpec, Branch -> the title and the body of a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.money.token_budget import cents

LABELS = ("agents",)


def title(task: TaskSpec) -> str:
    return task.title


def body(task: TaskSpec, branch: Branch, goal: str, cost: int, words: Iterable[str] = ()) -> str:
    """What a reviewer needs: what and why, what was said, how to see that it is right, what it cost, its origin."""
    parts = [
        task.description,
        _section("Before you approve", (f"- {line}" for line in words)),
        _section("Acceptance criteria", (f"- [ ] {line}" for line in task.acceptance)),
        _section("Changed", (f"- `{path}`" for path in branch.changed)),
        _section("Needs your eyes", (f"- `{path}` is a protected path" for path in branch.protected)),
        _section("Where it comes from", _origin(task, branch, goal, cost)),
    ]
    return "\n\n".join(part for part in parts if part)


def _origin(task: TaskSpec, branch: Branch, goal: str, cost: int) -> Iterable[str]:
    yield f"- task: `{task.id}` (`python main.py show {task.id}`)"
    yield f"- goal: {goal}" if goal else "- goal: dropped into tasks/backlog by the owner"
    yield f"- commit: {branch.commit}, on top of {branch.base}"
    yield f"- model cost: ${cents(cost)}"
    yield "- written by a model; what tests and review say of exactly this commit stands in the comments"


def _section(heading: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f"### {heading}\n\n{text}" if text else ""
