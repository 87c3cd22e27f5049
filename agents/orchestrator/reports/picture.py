"""What the day's picture shows of an account."""

from __future__ import annotations

from datetime import datetime

from sisimpur.agents.orchestrator.reports.account import DayAccount
from sisimpur.agents.orchestrator.reports.drawn.canvas import LIGHT, Theme
from sisimpur.agents.orchestrator.reports.drawn.chart import Column, day_picture
from sisimpur.agents.orchestrator.reports.report_words import HOURS, columns, spent_by_hour
from sisimpur.shared.money.token_budget import in_cents


def picture(account: DayAccount, now: datetime, theme: Theme = LIGHT) -> bytes:
    """A PNG. Everything that it shows stands in the report's words too; hours after `now` have no bar."""
    spent = account.spent
    title = f"{account.day}: {in_cents(spent.used)} of {in_cents(spent.cap)} spent, {len(account.merged)} merged"
    come = now.hour + 1 if account.day == now.date().isoformat() else HOURS
    shares = [used / spent.cap if spent.cap else 0.0 for used in spent_by_hour(account)[:come]]
    board = [
        Column(heading, tuple((task.id, task.title) for task in tasks)) for heading, tasks in columns(account).items()
    ]
    return day_picture(title, shares, in_cents(spent.cap), board, theme)
