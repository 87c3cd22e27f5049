"""The books of the gates: what is known of a change that waits, and where that is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sisimpur.agents.orchestrator.board.review_facts import AnsweredFindings, AttemptCommits, PullRequests
from sisimpur.agents.orchestrator.board.writing import TestTurns
from sisimpur.agents.orchestrator.integration.feature_branches import FeatureBranches
from sisimpur.agents.orchestrator.publishing.publishing import Address, Publishing
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.model.gate import ReviewState
from sisimpur.shared.repo.commit_text import squashed, whose
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.goal_book import GoalWords
from sisimpur.shared.store.task_records import TaskRecord


@dataclass(frozen=True)
class GateBooks:
    """What the gates know of a change, and where they say so."""

    gates: GateRepository
    commits: AttemptCommits
    pulls: PullRequests
    branches: FeatureBranches
    publishing: Publishing
    owners: bool  # somebody's words below a pull request count
    words: GoalWords
    turns: TestTurns
    wish: Callable[[TaskRecord], tuple[str, str]]  # its goal, for who reads the change, and who proposed it
    has_room: Callable[[str], bool]  # a task, by its id, has not yet used half of what it may cost

    @property
    def findings(self) -> AnsweredFindings:
        return AnsweredFindings(self.gates, self.commits)

    def address(self, known: TaskRecord, commit: str) -> Address:
        """Unavailable: the forge has not said where its pull request is."""
        pull = self.pulls.known.get(known.id)
        if pull is None:
            raise Unavailable(f"{known.id}: its pull request is not at the forge")
        return Address(known.id, number_of_attempt(known), pull.number, commit)

    def merge(self, known: TaskRecord, found: ReviewState, to: Address, into: str, now: datetime) -> str:
        """Merge it in our words -> the commit on the branch. PullNotReady: nothing was merged."""
        goal, of = dict(found.terms).get("its goal", ""), whose(known.goal_id, known.id, to.attempt)
        text = squashed(self.branches.mirror.message(found.commit), goal, of, to.number)
        return self.publishing.merge(to, into, text, now, is_untested=found.evidence is None)


def number_of_attempt(known: TaskRecord) -> int:
    """The number of its last attempt; 0: none was begun."""
    return known.last.number if known.last else 0
