"""History, evidence and our mirror -> what went wrong with a task's attempts. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from sisimpur.agents.orchestrator.board.writing import TestTurns
from sisimpur.agents.orchestrator.memory import lesson_text, target_facts
from sisimpur.agents.orchestrator.memory.lesson_text import ReviewComplaint, SeenOfTry, TaskSetback
from sisimpur.shared.model.evidence import ChangesRequested
from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_records import Attempt


@dataclass(frozen=True)
class Setbacks:
    journal: Journal
    gates: GateRepository
    mirror: Mirror
    turns: TestTurns

    def of(self, task: str) -> Iterator[tuple[Attempt, TaskSetback]]:
        """The newest first. That a base has moved under a change, or a test of QA's is wrong, is no coder's mistake."""
        known = self.journal.task(task)
        to_qa = self.turns.to_qa(known) if known else []
        for attempt in reversed(self.journal.attempts(task)):
            if attempt.outcome not in ("failed", "sent back") or attempt in to_qa:
                continue
            commit = self.commit(task, attempt) or ""
            if attempt.refreshes and not commit:
                continue
            said = self.gates.evidence(task, commit), self.gates.reviewed(task, commit)
            if found := lesson_text.setback(attempt.note, *said):
                yield attempt, found

    def seen(self, task: str, attempt: Attempt) -> SeenOfTry:
        if not (commit := self.commit(task, attempt)):
            return lesson_text.seen_of(attempt.note, None, None)
        return lesson_text.seen_of("", self.gates.evidence(task, commit), self.gates.reviewed(task, commit))

    def facts(self, task: str, attempt: Attempt) -> tuple[str, ...]:
        """What the tests of a try say of their environment."""
        commit = self.commit(task, attempt)
        evidence = self.gates.evidence(task, commit) if commit else None
        if not commit or evidence is None:
            return ()
        texts = [*(failure.text for failure in evidence.failures), evidence.output]
        ours = target_facts.is_module_of([entry.path for entry in self.mirror.tree(commit)])
        return target_facts.facts(texts, ours, target_facts.touches_tables(self.changed(commit)))

    def commit(self, task: str, attempt: Attempt) -> str | None:
        """None: the attempt led to no commit, or it is not in our mirror."""
        return self.mirror.attempt(attempt_ref(task, attempt.number))

    def changed(self, commit: str) -> tuple[str, ...]:
        """Paths that a commit changed."""
        return tuple(change.path for change in self.mirror.changed(self.mirror.parent(commit), commit))

    def other(self, before: str | None, commit: str, changed: Sequence[str]) -> tuple[str, ...]:
        """Which of the changed files are not as the earlier try had left them."""
        if not before:
            return tuple(changed)
        other = {change.path for change in self.mirror.changed(before, commit)}
        return tuple(path for path in changed if path in other)

    def keywords(self, task: str) -> tuple[str, ...]:
        """Words by which the task's newest review that names any would look for it."""
        return next((one.keywords for one in reversed(self.gates.reviews(task)) if one.keywords), ())

    def complaints(self, day: str) -> Iterator[ReviewComplaint]:
        """Findings of the tasks that the reviewer has sent back of late; nothing if none was on that day."""
        first = (date.fromisoformat(day) - lesson_text.WINDOW).isoformat()
        last = {task: at[:10] for task, at in self.journal.times_of(Event.CHANGES, first).items()}
        for task, sent in last.items() if day in last.values() else ():
            for reviewed in self.gates.reviews(task) if lesson_text.is_of_late(sent, day) else ():
                if isinstance(reviewed.verdict, ChangesRequested):
                    found, words = reviewed.verdict.findings, reviewed.keywords
                    yield from (ReviewComplaint(task, sent, finding, words) for finding in found)
