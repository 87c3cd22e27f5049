"""The books -> PROGRESS.md: where things stand when it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.orchestrator.board.events import Evening, TeamEvent
from agents.orchestrator.reports import progress_tracker
from agents.orchestrator.reports.books import MoneyBooks, TaskBooks
from agents.orchestrator.reports.report_words import answers
from shared.model.board import Card
from shared.model.lifecycle import State
from shared.store.task_records import TaskRecord
from shared.system.paths import write_text


@dataclass(frozen=True)
class ProgressFile:
    """Hears of each evening. `command`: what the owner types before a command's name."""

    path: Path
    tasks: TaskBooks
    money: MoneyBooks
    clean: Callable[[str], str]
    command: str

    def hear(self, event: TeamEvent) -> None:
        if isinstance(event, Evening):
            self.write(event.day)

    def write(self, day: str) -> None:
        """A forge that is away costs the addresses of pull requests, nothing else."""
        snapshot = self.tasks.snapshot()
        waiting = ((card.id, self._waiting(card, snapshot.known.get(card.id))) for card in snapshot.board.cards)
        asked = {id_: words for id_, words in waiting if words}
        spent = self.money.ledger.totals(day, self.money.cap_of(day))
        facts = progress_tracker.Facts(self.tasks.journal.told(), asked, self.tasks.pull_addresses())
        text = progress_tracker.render(day, snapshot.board, facts, spent, snapshot.unreadable)
        write_text(self.path, self.clean(text))

    def _waiting(self, card: Card, known: TaskRecord | None) -> str:
        """What the owner is asked and how to answer, or that it was answered."""
        parked = self.tasks.waiting(known) if known and card.state is State.IN_REVIEW else None
        if parked is None:
            return ""
        if self.tasks.gates.is_approved(card.id, parked.subject):
            return "you approved it: it is merged when the team works next"
        return f"**waits for you**: {'; '.join(parked.reasons)} ({answers(card.id, self.command)})"
