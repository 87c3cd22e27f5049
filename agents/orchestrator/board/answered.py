"""What was answered to the findings of a task, by the coder and by the owner, and what is left of them then."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sisimpur.shared.model.evidence import Answers, ChangesRequested, Finding, Reviewed, Severity
from sisimpur.shared.store.gate_book import GateRepository, Ruling
from sisimpur.shared.store.task_records import Attempt, TaskRecord

LED_TO_A_COMMIT = ("ok", "sent back", "stale")


class CommitsOfAttempts(Protocol):
    def of(self, known: TaskRecord, attempt: Attempt) -> str:
        """The commit of one attempt; empty: it led to none."""
        ...


@dataclass(frozen=True)
class AnsweredFindings:
    gates: GateRepository
    commits: CommitsOfAttempts

    def answers(self, known: TaskRecord) -> Answers:
        """Each once, the newest last."""
        told = (self.gates.coder_said(known.id, self.commits.of(known, attempt)) for attempt in known.attempts)
        owner = (ruling.why for ruling in self._said(known) if ruling.kind == "correct")
        return Answers(tuple(dict.fromkeys(filter(None, told))), tuple(dict.fromkeys(owner)), self._over(known))

    def for_coder(self, known: TaskRecord, commit: str) -> Reviewed | None:
        """What was found in a commit, as far as the coder can mend it and the owner has not answered it."""
        reviewed = self.gates.reviewed(known.id, commit) if commit else None
        if reviewed is None or not isinstance(reviewed.verdict, ChangesRequested):
            return reviewed
        said, since = self._said(known), self.gates.begun_at("review", known.id, commit)
        words = OwnerWords(tuple(one.why for one in said), any(since and one.at > since for one in said))
        left = unanswered(reviewed.verdict.findings, words, self._over(known))
        return replace(reviewed, verdict=ChangesRequested(left))

    def settled_commit(self, known: TaskRecord) -> str:
        """The last commit, if the owner has since ruled over all that sent it back. Empty: words are the coder's."""
        over, sent = self.gates.ruled_over(known.id), [one for one in known.attempts if one.outcome in LED_TO_A_COMMIT]
        commit = self.commits.of(known, sent[-1]) if over and sent else ""
        evidence, reviewed = self.gates.evidence(known.id, commit), self.gates.reviewed(known.id, commit)
        if not commit or evidence is None or evidence.is_red or reviewed is None:
            return ""
        left = [one for one in reviewed.verdict.findings if _weighs(one, self._over(known))]
        said_since = [one for one in self._said(known) if one.at > max(ruled.at for ruled in over)]
        is_sent_back = isinstance(reviewed.verdict, ChangesRequested)
        return commit if is_sent_back and not left and not said_since else ""

    def _said(self, known: TaskRecord) -> list[Ruling]:
        return [one for one in self.gates.rulings(known.id) if one.kind != "approve" and one.why]

    def _over(self, known: TaskRecord) -> frozenset[str]:
        return frozenset(one.signature for one in self.gates.ruled_over(known.id))


def _weighs(finding: Finding, over: Collection[str]) -> bool:
    """It sends back, although the owner has ruled over others."""
    is_settled = finding.signature in over and not finding.is_guarded
    return finding.severity is not Severity.LOW and not finding.is_the_owners and not is_settled


@dataclass(frozen=True)
class OwnerWords:
    """What the owner wrote about a change. `since`: some of it after the findings."""

    said: tuple[str, ...] = ()
    since: bool = False


def unanswered(findings: Sequence[Finding], words: OwnerWords, over: Collection[str]) -> tuple[Finding, ...]:
    """What is left for the coder: what the owner decides, has ruled over (`over`) or speaks of is no order any more.

    Where the owner's words came later and name none, a rule's order gives way to them. Guards and keys stand.
    """
    kept = []
    for one in findings:
        is_settled = one.signature in over or any(map(one.is_named_in, words.said))
        if one.is_guarded:
            kept.append(one)
        elif one.source != "model" and words.since and not one.is_the_owners and not is_settled:
            kept.append(replace(one, text="the owner has answered this since: do what the owner says"))
        elif not one.is_the_owners and not is_settled:
            kept.append(one)
    return tuple(kept)
