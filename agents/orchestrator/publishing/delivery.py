"""Branch -> PullRequest: the two outward effects of a task, each written down before and after it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sisimpur.agents.orchestrator.publishing import pull_text
from sisimpur.shared.forge.forge import Forge, Pull, marked
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import defuse
from sisimpur.shared.model.work import Branch, TaskSpec
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
        """The forge is asked first; only a branch that we left there ourselves is moved on."""
        key = f"{task.id}.a{attempt}:push"
        if self.journal.intend(key, "push", task.id, branch.commit, now):
            return
        there = self.mirror.remote_head(branch.name)
        ours = {self.mirror.attempt(ref) for ref in self.journal.attempt_refs(task.id)}
        self.mirror.push(branch.commit, branch.name, expected=there if there in ours else None)
        self.journal.achieved(key, branch.commit)

    def _pull(self, task: TaskSpec, attempt: int, branch: Branch, said: PullFacts, now: datetime) -> Pull:
        """Refused: the owner has closed the task's pull request. It is not opened again."""
        found = self.forge.find_pull(branch.name, said.into)
        if found and found.state == "closed" and not self.journal.has_closed(task.id, found.number):
            raise Refused(f"you closed pull request #{found.number}; it is not opened again (retry starts a new round)")
        key = f"{task.id}.a{attempt}:pr"
        self.journal.intend(key, "pull request", task.id, branch.commit, now)
        title = defuse(self.clean(pull_text.title(task)))
        body = marked(
            f"{task.id}:pr", defuse(self.clean(pull_text.body(task, branch, said.goal, said.cost, said.words)))
        )
        pull = self.forge.ensure_pull(branch.name, said.into, title, body, pull_text.LABELS, draft=True)
        self.journal.achieved(key, str(pull.number))
        return pull
