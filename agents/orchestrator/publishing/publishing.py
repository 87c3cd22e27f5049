"""What the gates found -> the forge: status, comment, review, merge, closing. Each is an intent and may be repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.shared.forge.forge import REVIEW_CONTEXT, TESTS_CONTEXT, Forge, Verdict
from sisimpur.shared.model.evidence import Approved, ChangesRequested, Evidence, Reviewed
from sisimpur.shared.model.text import defuse, own_place, with_links
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.system.fault import fault_point

HEARD = "heard"  # marks what came of the owner's words: it says nothing new of the change


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
            self.forge.ensure_comment(to.number, f"{to.task}:{HEARD}", self._safe(text))
            return str(to.number)

        self._once(to, f"heard-{gate_text.digest(text)}", text, publish, now)

    def merge(self, to: Address, into: str, text: CommitText, now: datetime, is_untested: bool = False) -> str:
        """The commit on the base branch. PullNotReady: nothing was merged.

        What the owner has made a draft again stays one. `is_untested`, and approved by him: it never ceased to be one.
        """

        def publish() -> str:
            if is_untested:
                self.forge.ready(to.number)
            return self.forge.merge(to.number, to.commit, into=into, message=text.written(self.clean))

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
        home = self.forge.address
        return defuse(with_links(self.clean(text), home), own_place(home))


def _verdict(reviewed: Reviewed) -> Verdict:
    match reviewed.verdict:
        case Approved():
            return "approve"
        case ChangesRequested():
            return "request_changes"
        case _:
            return "comment"
