"""A task in review -> Submission: everything that the merge policy decides on. Looks and changes nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.orchestrator.integration.feature_branches import is_outdated, lands, target, too_early
from agents.orchestrator.team import Desk
from shared.forge.forge import ForgeRefused, Pull
from shared.model.change import needs_owner
from shared.model.gate import ReviewState, Wish, fingerprint
from shared.model.lifecycle import wording
from shared.model.naming import attempt_ref, branch_name, is_upkeep
from shared.model.scope import matches
from shared.model.work import Branch, Vision
from shared.store.task_records import Attempt, TaskRecord


@dataclass(frozen=True)
class SeenCommit:
    """What a commit is, once and for all."""

    branch: Branch
    subject: str  # digest of the change itself


class ReviewFacts:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._seen: dict[str, SeenCommit] = {}
        self.pulls: dict[str, Pull] = {}  # by task, as the forge said when it was last asked

    def hear(self, known: Iterable[TaskRecord]) -> None:
        """Asks the forge for the pull requests of these tasks: the owner may have merged, closed or moved one."""
        desk = self._desk
        for one in known:
            branch = branch_name(one.id, one.title)
            pull = desk.delivery.forge.find_pull(branch, target(desk, one)) or self._turned(one, branch)
            if pull is not None:
                self.pulls[one.id] = pull

    def _turned(self, known: TaskRecord, branch: str) -> Pull | None:
        """The one that we made, if somebody has turned it to another base; at another forge its number is another's."""
        attempts = reversed(known.attempts)
        numbers = (self._desk.journal.outcome_of(f"{known.id}.a{attempt.number}:pr") for attempt in attempts)
        number = next(filter(None, numbers), "")
        try:
            pull = self._desk.delivery.forge.get_pull(int(number)) if number else None
        except ForgeRefused:
            return None
        return pull if pull and pull.head == branch else None

    def seen(self, known: TaskRecord, commit: str) -> SeenCommit:
        """`known.title` is the one at birth: a task keeps its branch when the owner rewords it."""
        if commit not in self._seen:
            mirror = self._desk.mirror
            base = mirror.parent(commit)
            changes = mirror.changed(base, commit)
            paths, listed = tuple(change.path for change in changes), self._desk.rules.protected
            branch = Branch(branch_name(known.id, known.title), base, commit, paths, needs_owner(changes, listed))
            self._seen[commit] = SeenCommit(branch, _subject(mirror.diff(base, commit)))
        return self._seen[commit]

    def submission(self, known: TaskRecord, vision: Vision | None, guards: Sequence[str] = ()) -> ReviewState | None:
        """None if the commit is not in our mirror. `guards`: what the owner says now not to touch."""
        desk, commit = self._desk, self.commit(known)
        if not commit:
            return None
        seen, evidence = self.seen(known, commit), desk.gates.evidence(known.id, commit)
        parked = desk.gates.parked(known.id)
        return ReviewState(
            commit=commit,
            subject=seen.subject,
            is_current=seen.branch.base == desk.mirror.head(target(desk, known)),
            in_full_box=evidence is None or not evidence.box.startswith("reduced"),
            in_budget=desk.ledger.used_by([known.id])[known.id].amount <= desk.rules.task_cap,
            approved=desk.gates.is_approved(known.id, seen.subject),
            goal=self._wish(known, vision),
            protected=seen.branch.protected,
            guarded=tuple(path for path in seen.branch.changed if matches(path, guards)),
            pull_state=self._pull_state(known),
            head=self._foreign_head(known, commit),
            evidence=evidence,
            checks_begun=desk.gates.begun("check", known.id, commit),
            reviewed=desk.gates.reviewed(known.id, commit),
            reviews_begun=desk.gates.begun("review", known.id, commit),
            fingerprints=frozenset(self._fingerprints(known)),
            tests_written=any(self._wanted_tests(known, attempt) for attempt in self.sent_back(known)),
            told="\n".join(parked.reasons) if parked and parked.subject == seen.subject else "",
        )

    def _wish(self, known: TaskRecord, vision: Vision | None) -> Wish:
        if lands(known):
            others = self._desk.journal.tasks_on(known.branch)
            if too_early(known, others) or is_outdated(self._desk, known):
                return "early"
        return _goal(known, vision)

    # -- attempts ---------------------------------------------------------------------------------------------

    def commit(self, known: TaskRecord) -> str:
        """The newest commit that led to a pull request; empty: none that we know."""
        attempts = (one for one in reversed(known.attempts) if one.outcome != "void")
        return next((commit for one in attempts if (commit := self.commit_of(known, one))), "")

    def commit_of(self, known: TaskRecord, attempt: Attempt) -> str:
        return self._desk.mirror.attempt(attempt_ref(known.id, attempt.number)) or ""

    def sent_back(self, known: TaskRecord) -> list[Attempt]:
        """Of the newest round, the oldest first."""
        newest = max((attempt.round for attempt in known.attempts), default=0)
        return [attempt for attempt in known.attempts if attempt.outcome == "sent back" and attempt.round == newest]

    def _fingerprints(self, known: TaskRecord) -> Iterable[str]:
        for attempt in self.sent_back(known):
            commit = self.commit_of(known, attempt)
            gates = self._desk.gates
            yield fingerprint(gates.evidence(known.id, commit), gates.reviewed(known.id, commit))

    def _wanted_tests(self, known: TaskRecord, attempt: Attempt) -> bool:
        evidence = self._desk.gates.evidence(known.id, self.commit_of(known, attempt))
        return evidence is not None and not evidence.is_red and bool(evidence.needing("write tests"))

    # -- the forge --------------------------------------------------------------------------------------------

    def _pull_state(self, known: TaskRecord) -> Literal["open", "closed", "merged", ""]:
        pull = self.pulls.get(known.id)
        return pull.state if pull else ""

    def _foreign_head(self, known: TaskRecord, commit: str) -> str:
        pull = self.pulls.get(known.id)
        return pull.head_sha if pull and pull.state == "open" and pull.head_sha != commit else ""


def _subject(diff: bytes) -> str:
    """The digest of a change wherever it stands: without the ids of whole files, and without the numbers of lines."""
    plain = re.sub(rb"^(?:index [0-9a-f]+\.\.[0-9a-f]+|@@ [^\n]*? @@)[^\n]*$", b"", diff, flags=re.MULTILINE)
    return hashlib.sha256(plain).hexdigest()


def _goal(known: TaskRecord, vision: Vision | None) -> Wish:
    """What the team began by itself is told by the task's own id, as for its money and its place in the order."""
    ours = is_upkeep(known.id)
    if not known.goal_id or vision is None:
        return "upkeep" if ours else "wanted"
    goal = next((goal for goal in vision.goals if goal.id == known.goal_id), None)
    if goal is None:
        return "removed"
    if ours:
        return "upkeep"
    if wording(goal) != known.wording:
        return "reworded"
    return "proposed" if goal.proposed_by else "wanted"
