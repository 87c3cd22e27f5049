"""What the gates found -> the forge: status, comment, review, merge, closing. Each is an intent and may be repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.shared.forge.forge import REVIEW_CONTEXT, TESTS_CONTEXT, Forge, Pull, Verdict, marked
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import Approved, ChangesRequested, Evidence, Reviewed
from sisimpur.shared.model.text import defuse
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.system.fault import fault_point


@dataclass(frozen=True)
class Address:
    """The commit of one attempt, and its pull request."""

    task: str
    attempt: int
    number: int
    commit: str


@dataclass(frozen=True)
class Publishing:
    journal: Journal
    forge: Forge
    clean: Callable[[str], str]  # the filter for outgoing text

    def evidence(self, to: Address, evidence: Evidence, now: datetime) -> None:
        """What is red stays a draft: nobody need look at it yet."""

        def publish() -> str:
            state, note = gate_text.status(evidence)
            self.forge.set_status(to.commit, TESTS_CONTEXT, state, self._safe(note))
            self.forge.ensure_comment(to.number, f"{to.task}:tests", self._safe(gate_text.evidence(evidence)))
            if not evidence.is_red:
                self.forge.ready(to.number)
            return to.commit

        self._once(to, "tests", to.commit, publish, now)

    def review(self, to: Address, reviewed: Reviewed, now: datetime) -> None:
        """PullNotReady if somebody moved the branch."""

        def publish() -> str:
            text = self._safe(gate_text.review(to.task, reviewed))
            self.forge.review(to.number, _verdict(reviewed), text, to.commit)
            return to.commit

        again = f"-{reviewed.heard}" if reviewed.heard else ""  # read once more, since somebody answered
        self._once(to, f"review{again}", to.commit, publish, now)

    def approval(self, to: Address, now: datetime) -> None:
        """The owner's word stands for the reviewer's."""

        def publish() -> str:
            self.forge.set_status(to.commit, REVIEW_CONTEXT, "success", "approved by the owner")
            return to.commit

        self._once(to, "approval", to.commit, publish, now)

    def waiting(self, to: Address, text: str, now: datetime) -> None:
        """One comment per task, brought up to date. It is a draft no more, whatever its tests say."""

        def publish() -> str:
            self.forge.ready(to.number)
            self.forge.ensure_comment(to.number, f"{to.task}:owner", self._safe(text))
            return str(to.number)

        self._once(to, f"waiting-{gate_text.digest(text)}", text, publish, now)

    def heard(self, to: Address, text: str, now: datetime) -> None:
        """What came of the owner's words: one comment per task, brought up to date."""

        def publish() -> str:
            self.forge.ensure_comment(to.number, f"{to.task}:heard", self._safe(text))
            return str(to.number)

        self._once(to, f"heard-{gate_text.digest(text)}", text, publish, now)

    def merge(self, to: Address, into: str, now: datetime, is_untested: bool = False) -> str:
        """The commit on the base branch. PullNotReady: nothing was merged.

        What the owner has made a draft again stays one. `is_untested`, and approved by him: it never ceased to be one.
        """

        def publish() -> str:
            if is_untested:
                self.forge.ready(to.number)
            return self.forge.merge(to.number, to.commit, into=into)

        return self._once(to, "merge", to.commit, publish, now)

    def fulfilled(self, to: Address, issue: int, text: str, now: datetime) -> None:
        """A word below the issue that asked for it. Closing it is left to whoever opened it."""

        def publish() -> str:
            self.forge.ensure_comment(issue, f"{to.task}:issue", self._safe(text))
            return str(issue)

        self._once(to, "issue", str(issue), publish, now)

    def close(self, to: Address, text: str, now: datetime) -> None:
        """With a last word. The branch stays: the owner may want to look."""

        def publish() -> str:
            self.forge.ensure_comment(to.number, f"{to.task}:end", self._safe(text))
            self.forge.close(to.number)
            return str(to.number)

        self._once(to, "close", str(to.number), publish, now)

    def delete_branch(self, to: Address, name: str, now: datetime, kind: str = "delete branch") -> None:
        def publish() -> str:
            self.forge.delete_branch(name)
            return name

        self._once(to, kind, name, publish, now)

    def delete_goal_branch(self, to: Address, name: str, now: datetime) -> None:
        """All that was on it has landed."""
        self.delete_branch(to, name, now, "delete goal branch")

    # -- details ----------------------------------------------------------------------------------------------

    def _once(self, to: Address, kind: str, payload: str, publish: Callable[[], str], now: datetime) -> str:
        key = f"{to.task}.a{to.attempt}:{kind}"
        if found := self.journal.outcome_of(key):
            return found
        self.journal.intend(key, kind, to.task, payload, now)
        external = publish()
        fault_point(f"{kind.split('-')[0].replace(' ', '-')}.published")
        self.journal.achieved(key, external)
        return external

    def _safe(self, text: str) -> str:
        return defuse(self.clean(text))


def _verdict(reviewed: Reviewed) -> Verdict:
    match reviewed.verdict:
        case Approved():
            return "approve"
        case ChangesRequested():
            return "request_changes"
        case _:
            return "comment"


# --- the first pull request ----------------------------------------------------------------------------------


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
            ours = {None, *(self.mirror.attempt(ref) for ref in self.journal.attempt_refs(task.id))}
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
        title = defuse(self.clean(pull_title(task)))
        body = marked(f"{task.id}:pr", defuse(self.clean(pull_body(task, branch, said.goal, said.cost, said.words))))
        pull = self.forge.ensure_pull(branch.name, said.into, title, body, LABELS, draft=True)
        self.journal.achieved(key, str(pull.number))
        return pull


def _key(task: TaskSpec, attempt: int) -> str:
    return f"{task.id}.a{attempt}:push"


# --- the title and the body of a pull request ----------------------------------------------------------------


LABELS = ("agents",)


def pull_title(task: TaskSpec) -> str:
    return task.title


def pull_body(task: TaskSpec, branch: Branch, goal: str, cost: int, words: Iterable[str] = ()) -> str:
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
