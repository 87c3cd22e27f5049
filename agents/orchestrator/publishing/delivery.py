"""Branch -> PullRequest: the two outward effects of a task, each written down before and after it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sisimpur.shared.forge.forge import Forge, Pull, marked
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.model.text import defuse, defused_line, own_place, with_links
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.journal import Journal


@dataclass(frozen=True)
class PullFacts:
    """`into`: the branch that it goes to; `goal`: its title; `cost`: of the task so far, in nano-dollars.

    `words`: that were said about it and its goal, one line each.
    """

    into: str
    goal: str
    cost: int
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delivery:
    journal: Journal
    mirror: Mirror
    forge: Forge
    clean: Callable[[str], str]  # the filter for outgoing text

    def deliver(self, task: TaskSpec, attempt: int, branch: Branch, said: PullFacts, now: datetime) -> Pull:
        """Repeatable at any point: what is there already is found, not made again."""
        self._push(task, attempt, branch, now)
        return self._pull(task, attempt, branch, said, now)

    def _push(self, task: TaskSpec, attempt: int, branch: Branch, now: datetime) -> None:
        """From where our books say that we left the branch, or from where else we did; somebody else's stays."""
        if self.journal.intend(_key(task, attempt), "push", task.id, branch.commit, now):
            return
        pushed = (self.journal.outcome_of(_key(task, number)) for number in range(attempt - 1, 0, -1))
        last = next(filter(None, pushed), None)
        try:
            self.mirror.push(branch.commit, branch.name, expected=last)
        except Refused:
            found = self.mirror.remote_head(branch.name)
            refs = (attempt_ref(task.id, one.number) for one in self.journal.attempts(task.id))
            ours = {None, *map(self.mirror.attempt, refs)}
            if found == last or found not in ours:
                raise
            self.mirror.push(branch.commit, branch.name, expected=found)
        self.journal.achieved(_key(task, attempt), branch.commit)

    def _pull(self, task: TaskSpec, attempt: int, branch: Branch, said: PullFacts, now: datetime) -> Pull:
        """Refused: the owner has closed the task's pull request. It is not opened again."""
        found = self.forge.find_pull(branch.name, said.into)
        if found and found.state == "closed" and not self.journal.has_closed(task.id, found.number):
            raise Refused(f"you closed pull request #{found.number}; it is not opened again (retry starts a new round)")
        key = f"{task.id}.a{attempt}:pr"
        self.journal.intend(key, "pull request", task.id, branch.commit, now)
        title = defused_line(self.clean(task.title))
        told, home = self.clean(pull_body(task, branch, said.goal, said.cost, said.words)), self.forge.address
        body = marked(f"{task.id}:pr", defuse(with_links(told, home, branch.commit), own_place(home)))
        pull = self.forge.ensure_pull(branch.name, said.into, title, body, LABELS, draft=True)
        self.journal.achieved(key, str(pull.number))
        return pull


def _key(task: TaskSpec, attempt: int) -> str:
    return f"{task.id}.a{attempt}:push"


# --- the title and the body of a pull request ----------------------------------------------------------------


LABELS = ("agents",)
BEFORE = "Before you approve"


def pull_body(task: TaskSpec, branch: Branch, goal: str, cost: int, words: Iterable[str] = ()) -> str:
    """What a reviewer needs: what and why, what was said, how to see that it is right, what it cost, its origin."""
    parts = [
        task.description,
        _section(BEFORE, (f"- {line}" for line in words)),
        _section("Acceptance criteria", (f"- {line}" for line in task.acceptance)),
        _section("Changed", (f"- `{path}`" for path in branch.changed)),
        _section("Needs your eyes", (f"- `{path}` is a protected path" for path in branch.protected)),
        _section("Where it comes from", _origin(task, branch, goal, cost)),
    ]
    return "\n\n".join(part for part in parts if part)


def after_merge(body: str) -> str:
    """As it is shown when it is merged: nothing is to be approved or ticked any more."""
    return body.replace(f"### {BEFORE}\n", "### Said before it was merged\n").replace("\n- [ ] ", "\n- ")


def _origin(task: TaskSpec, branch: Branch, goal: str, cost: int) -> Iterable[str]:
    yield f"- task: `{task.id}` (`python main.py show {task.id}`)"
    yield f"- goal: {goal}" if goal else "- goal: dropped into tasks/backlog by the owner"
    yield f"- commit: {branch.commit}, on top of {branch.base}"
    yield f"- model cost until this pull request: ${cents(cost)}; reviews and corrections come on top"
    yield "- written by a model; what tests and review say of exactly this commit stands in the comments"


def _section(heading: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f"### {heading}\n\n{text}" if text else ""
