"""DayAccount -> its picture: what was left of the cap hour by hour, and the task board."""

from __future__ import annotations

from datetime import datetime

from agents.orchestrator.reports.account import DayAccount
from agents.orchestrator.reports.picture import Column, day_picture
from agents.orchestrator.reports.report_words import COLUMNS, HOURS, left_by_hour, on_board
from shared.money.token_budget import in_dollars


def picture(account: DayAccount, now: datetime) -> bytes:
    """A PNG. Everything that it shows stands in the report's words too; hours after `now` have no bar."""
    spent = account.spent
    title = f"{account.day}: {in_dollars(spent.used)} of {in_dollars(spent.cap)}, {len(account.merged)} merged"
    come = now.hour + 1 if account.day == now.date().isoformat() else HOURS
    shares = [left / spent.cap if spent.cap else 0.0 for left in left_by_hour(account)[:come]]
    columns = [
        Column(heading, tuple((task.id, task.title) for task in on_board(account, state)))
        for state, heading in COLUMNS.items()
    ]
    return day_picture(title, shares, in_dollars(spent.cap), columns)
