"""Board -> PROGRESS.md: where things stand, computed anew each time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shared.model.board import Board, Card, waits_for
from shared.model.lifecycle import FOLDERS, State
from shared.money.token_budget import Totals, cents

HEADINGS: Mapping[State, str] = {
    State.IN_REVIEW: "At the gates",
    State.IN_PROGRESS: "In progress",
    State.BACKLOG: "To do",
    State.FAILED: "Failed: these need you",
    State.COMPLETED: "Done",
}


def render(
    day: str, board: Board, notes: Mapping[str, str], pulls: Mapping[str, str], spent: Totals, unreadable: Sequence[str]
) -> str:
    """`notes` and `pulls` by task id: the last event's note, the pull request's address. Generated: edits are lost."""
    parts = [
        f"# Progress on {day}",
        _counts(board) + f" Spent today: ${cents(spent.spent)} of ${cents(spent.cap)}.",
        *(_group(state, board, notes, pulls) for state in HEADINGS),
        _unreadable(unreadable),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _counts(board: Board) -> str:
    counted = ((state, sum(card.state is state for card in board.cards)) for state in FOLDERS)
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counted) + "."


def _group(state: State, board: Board, notes: Mapping[str, str], pulls: Mapping[str, str]) -> str:
    cards = [card for card in board.cards if card.state is state]
    if not cards:
        return ""
    lines = (_line(card, board, notes.get(card.id, ""), pulls.get(card.id, "")) for card in cards)
    return f"## {HEADINGS[state]}\n\n" + "\n".join(lines)


def _line(card: Card, board: Board, note: str, pull: str) -> str:
    title = card.spec.title if card.spec else "(cannot be read)"
    waiting = waits_for(card, board) if card.state is State.BACKLOG else ""
    facts: Iterable[str] = (text for text in (pull, waiting, note) if text)
    return " — ".join((f"- **{title}** (`{card.id}`)", *facts))


def _unreadable(reasons: Sequence[str]) -> str:
    return "## Files that cannot be read\n\n" + "\n".join(f"- {reason}" for reason in reasons) if reasons else ""
