"""End of a pull request, by us or by the owner -> what is booked, and what follows at the forge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.events import Merged, TaskRejected
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.agents.orchestrator.gate_books import GateBooks, number_of_attempt
from sisimpur.agents.orchestrator.integration.feature_branches import lands
from sisimpur.agents.orchestrator.publishing import gate_text
from sisimpur.agents.orchestrator.publishing.publishing import Address
from sisimpur.agents.orchestrator.vision.issue_goals import number_of
from sisimpur.shared.forge.forge import ForgeRefused, Pull
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.store.task_records import TaskRecord


@dataclass(frozen=True)
class PullEnds:
    review: GateBooks
    books: Bookkeeping

    def owner_ended(self, known: TaskRecord, pull: Pull, source: State) -> None:
        """The owner merged or closed its pull request, wherever the task lies: told to all who hear of ours, too."""
        self.note(known, pull.number)
        commit, merged = self.review.commits.newest(known), pull.state == "merged"
        if merged:
            to = Address(known.id, number_of_attempt(known), pull.number, commit)
            self._note_merge(known, pull)
            self.merged(known, to)
        self.books.events.happened(Merged(known, commit) if merged else TaskRejected(known))
        done = Event.MERGED if source is State.IN_REVIEW else Event.DONE_BY_OWNER
        word, event = ("merged", done) if merged else ("closed", Event.CANCELLED)
        self.books.tell(f"{known.id}: you {word} its pull request")
        self.books.transitions.move(known.id, source, event, f"{word} by the owner")

    def give_up(self, known: TaskRecord, why: str) -> None:
        """The pull request is closed with a diagnosis that a person can act on."""
        self.review.pulls.hear([known])
        pull = self.review.pulls.known.get(known.id)
        if pull is None or pull.state != "open":
            return
        notes = [attempt.note for attempt in self.books.journal.attempts(known.id) if attempt.note]
        to = Address(known.id, number_of_attempt(known), pull.number, pull.head_sha)
        self.review.publishing.close(to, gate_text.diagnosis(known.id, why, notes[-6:]), self.books.now())

    def note(self, known: TaskRecord, number: int) -> None:
        """The owner's closing or merging is answered once: if he retries the task, a new pull request may be opened."""
        key, now = f"{known.id}:end-{number}", self.books.now()
        self.books.journal.intend(key, "close", known.id, str(number), now)

    def merged(self, known: TaskRecord, to: Address, branch: str = "") -> None:
        """What follows: its issue hears of it, the goal's branch goes if all of it has landed, and its own `branch`."""
        self._tell_issue(known, to)
        if branch:
            self._discard(known, lambda: self.review.publishing.delete_branch(to, branch, self.books.now()))
        self._clear_goal_branch(known, to)

    def _note_merge(self, known: TaskRecord, pull: Pull) -> None:
        """What he merged into a goal's branch has to be there when it lands."""
        if pull.merge_sha and self.review.branches.target(known) != self.review.branches.main.name:
            key = f"{known.id}:merged-{pull.number}"
            self.books.journal.intend(key, "merge by the owner", known.id, pull.merge_sha, self.books.now())
            self.books.journal.achieved(key, pull.merge_sha)

    def _tell_issue(self, known: TaskRecord, to: Address) -> None:
        """When the last task of its goal is done. A token that may not write there costs the word, nothing else."""
        if self.review.branches.target(known) != self.review.branches.main.name:
            return
        issue = number_of(known.goal_id)
        tasks = self.books.journal.tasks_of([known.goal_id]).values() if issue else ()
        others = (one for one in tasks if one.id != known.id and not one.is_dropped)
        if not issue or any(one.seen_in is not State.COMPLETED for one in others):
            return
        told = f"Done by pull request {to.number}. Close this if it is what you wanted."
        try:
            self.review.publishing.fulfilled(to, issue, told, self.books.now())
        except (Misconfigured, ForgeRefused) as problem:
            self.books.tell(f"{known.id}: nothing was said below issue {issue}: {problem}")

    def _discard(self, known: TaskRecord, delete: Callable[[], None]) -> None:
        """A branch that the forge keeps, a protected one for example, costs a word and nothing else."""
        try:
            delete()
        except (Misconfigured, ForgeRefused) as problem:
            self.books.tell(f"{known.id}: its branch stays: {problem}")

    def _clear_goal_branch(self, known: TaskRecord, to: Address) -> None:
        """All of it has landed; with what somebody has pushed there since, it stays."""
        if not lands(known):
            return
        if self.review.branches.has_grown(known):
            self.books.tell(f"{known.branch} stays: there is more on it than has landed")
        else:
            publishing, now = self.review.publishing, self.books.now()
            self._discard(known, lambda: publishing.delete_branch(to, known.branch, now, "delete goal branch"))
