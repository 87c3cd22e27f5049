"""The books -> PROGRESS.md: where things stand when it is written."""

from __future__ import annotations

from agents.orchestrator.board.snapshot import load_snapshot
from agents.orchestrator.reports import progress_tracker
from agents.orchestrator.reports.day_account import pull_addresses, waiting
from agents.orchestrator.reports.report_words import answers
from agents.orchestrator.team import Desk
from shared.model.lifecycle import Card, State
from shared.store.task_records import TaskRecord
from shared.system.paths import write_text


def write_progress(desk: Desk, day: str) -> None:
    """A forge that is away costs the addresses of pull requests, nothing else."""
    sight = load_snapshot(desk.store, desk.journal, desk.wanted(), desk.rules.limits)
    waiting = ((card.id, _waiting(desk, card, sight.known.get(card.id))) for card in sight.board.cards)
    asked = {id_: words for id_, words in waiting if words}
    spent = desk.ledger.totals(day, desk.ledger.cap_of(day, desk.rules.day_cap))
    facts = progress_tracker.Facts(desk.journal.told(), asked, pull_addresses(desk))
    text = progress_tracker.render(day, sight.board, facts, spent, sight.unreadable)
    write_text(desk.home.progress, desk.delivery.clean(text))


def _waiting(desk: Desk, card: Card, known: TaskRecord | None) -> str:
    """What the owner is asked and how he answers, or that he has answered."""
    parked = waiting(desk, known) if known and card.state is State.IN_REVIEW else None
    if parked is None:
        return ""
    if desk.gates.is_approved(card.id, parked.subject):
        return "you approved it: it is merged when the team works next"
    return f"**waits for you**: {'; '.join(parked.reasons)} ({answers(card.id, desk.command)})"
