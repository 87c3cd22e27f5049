"""Board -> PROGRESS.md: where things stand, computed anew each time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sisimpur.shared.model.lifecycle import FOLDERS, Board, Card, State, waits_for
from sisimpur.shared.money.token_budget import Totals, cents

HEADINGS: Mapping[State, str] = {
    State.IN_REVIEW: "At the gates",
    State.IN_PROGRESS: "In progress",
    State.BACKLOG: "To do",
    State.FAILED: "Failed: these need you",
    State.COMPLETED: "Done",
}
NOTHING = "", ""


@dataclass(frozen=True)
class Facts:
    """Of tasks, by id. `told`: the title when it was first seen, and the note of what happened last; who is over and
    not in it is only counted.

    `asked`: what the owner is asked, in place of that note; `pulls`: addresses.
    """

    told: Mapping[str, tuple[str, str]]
    asked: Mapping[str, str]
    pulls: Mapping[str, str]


def render(day: str, board: Board, facts: Facts, spent: Totals, unreadable: Sequence[str]) -> str:
    """Generated: edits are lost."""
    counts = ", ".join(f"{board.counts[state]} {state.replace('_', ' ')}" for state in FOLDERS)
    reasons = "\n".join(f"- {reason}" for reason in unreadable)
    parts = [
        f"# Progress on {day}",
        f"{counts}. Spent today: ${cents(spent.spent)} of ${cents(spent.cap)}.",
        *(_group(state, board, facts) for state in HEADINGS),
        f"## Files that cannot be read\n\n{reasons}" if reasons else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _group(state: State, board: Board, facts: Facts) -> str:
    lines = {card.id: _of_card(card, board, facts) for card in board.cards if card.state is state}
    over = board.closed.get(state, frozenset())
    lines |= {id_: _line(id_, facts.told[id_][0], "", facts) for id_ in over & facts.told.keys()}
    more = len(over - facts.told.keys())
    shown = [*(lines[id_] for id_ in sorted(lines)), *([f"- … and {more} that ended before"] if more else [])]
    return f"## {HEADINGS[state]}\n\n" + "\n".join(shown) if shown else ""


def _of_card(card: Card, board: Board, facts: Facts) -> str:
    title = card.spec.title if card.spec else "(cannot be read)"
    return _line(card.id, title, waits_for(card, board) if card.state is State.BACKLOG else "", facts)


def _line(task: str, title: str, waiting: str, facts: Facts) -> str:
    note = facts.asked.get(task) or facts.told.get(task, NOTHING)[1]
    words = filter(None, (facts.pulls.get(task), waiting, note))
    return " — ".join((f"- **{title}** (`{task}`)", *words))
