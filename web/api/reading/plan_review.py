"""The plan that waits for the owner's yes: its tasks with their words, what they will probably cost, until when."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sisimpur.agents.orchestrator.board.plan_approval import mark_of, waits
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.lifecycle import Card
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.money.token_budget import as_dollars
from sisimpur.web.api.reading.beside import goal_words, planners_words


def plan_review(records: Records) -> dict[str, Any]:
    """The plan that waits: its tasks by day, cost and mark. `mark`: empty: none waits. It is what a ruling names."""
    seen = records.snapshot(frozenset())
    found = waits(seen.board)
    lasts = timedelta(records.settings.policy.approve.rule.days)
    by_day: dict[str, list[Card]] = {}
    for card in found:
        by_day.setdefault(f"{card.id[:4]}-{card.id[4:6]}-{card.id[6:8]}", []).append(card)
    return {
        "mark": mark_of(seen.board),
        "days": [_day(records, day, cards) for day, cards in sorted(by_day.items())],
        "until": min(
            ((datetime.fromisoformat(seen.known[card.id].since) + lasts).isoformat() for card in found), default=""
        ),
    }


def _day(records: Records, day: str, cards: list[Card]) -> dict[str, Any]:
    """`forecast`: of all that was planned that day, in dollars; null: nobody knows."""
    plan = records.plans.plan(day)
    reasons = dict(zip((task.id for task in plan.tasks), plan.reasons, strict=False)) if plan else {}
    return {
        "day": day,
        "forecast": as_dollars(plan.forecast) if plan else None,
        "planned": len(plan.tasks) if plan else 0,
        "tasks": [_task(records, card, reasons.get(card.id, "")) for card in cards],
    }


def _task(records: Records, card: Card, why: str) -> dict[str, Any]:
    spec = card.spec or TaskSpec(card.id, "", "")  # its file cannot be read
    return {
        "id": card.id,
        "title": spec.title,
        "text": "\n".join((spec.description, *(f"- {one}" for one in spec.acceptance))),
        "goal": spec.goal_id,
        "goal_words": goal_words(records, spec.goal_id),
        "said": planners_words(records, spec.goal_id, card.id),
        "priority": spec.priority.value if card.spec else "",
        "files": [*spec.files, *spec.new_files],
        "after": list(spec.depends_on),
        "why": why,
    }
