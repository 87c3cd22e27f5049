"""The money book for readers: what was spent, by whom, on what, and when. Nothing here writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime

from sisimpur.shared.money.ticket import BudgetWarning, LostCall, Share, Spending, Used
from sisimpur.shared.money.token_budget import Totals, budget_day, month_of
from sisimpur.shared.store.database import OfDatabase

LAST_MINUTE = 24 * 60 - 1

SUMS = """
    coalesce(sum(amount) filter (where state = 'settled'), 0) as spent,
    coalesce(sum(amount) filter (where state = 'open'), 0) as reserved,
    coalesce(sum(amount) filter (where state = 'lost'), 0) as lost"""


class LedgerReader(OfDatabase):
    """Sums, shares and warnings of the money book. `db` is the database of the home."""

    # --- a day's cap

    def cap_of(self, day: str, policy: int) -> int:
        """Return what that day may cost: `policy`, the cap of every day, unless the owner has raised this one."""
        row = self._db.row("select amount from cap_raises where day = ?", (day,))
        return max(policy, row["amount"]) if row else policy

    def day_cap(self, now: datetime, policy: int) -> int:
        """Return what today may cost; today is the day that a call would be booked on now. `policy`: as in `cap_of`."""
        row = self._db.row("select max(day) as day from calls where state <> 'refused'")
        return self.cap_of(budget_day(now, (row["day"] if row else "") or ""), policy)

    def why_raised(self, day: str) -> str:
        """The owner's reason; empty: none was given, or that day's cap is not raised."""
        row = self._db.row("select why from cap_raises where day = ?", (day,))
        return row["why"] if row else ""

    def is_reached(self, day: str, cap: int) -> bool:
        """Tell whether this cap has stopped a call on that day. One that was raised since is not reached yet."""
        sql = "select 1 from calls where state = 'refused' and code = 'meter_day_cap' and day = ? and day_cap >= ?"
        return self._db.row(f"{sql} limit 1", (day, cap)) is not None

    # --- sums

    def totals(self, period: str, cap: int) -> Totals:
        """Return what a day (`2026-11-20`) or a month (`2026-11`) took, against its cap."""
        row = self._db.row(
            "select coalesce(sum(spent), 0) spent, coalesce(sum(reserved), 0) reserved, coalesce(sum(lost), 0) lost"
            " from day_sums where day between ? and ? || '~'",
            (period, period),
        )
        assert row is not None
        return _as_totals(row, cap)

    def spent_by(self, task: str) -> Totals:
        """Return what one task took over all its attempts, against no cap."""
        row = self._db.row(f"select {SUMS} from calls where state <> 'refused' and task = ?", (task,))  # noqa: S608
        assert row is not None
        return _as_totals(row, 0)

    def was_answered(self, since: datetime) -> bool:
        """Tell whether a call of a model, not a search, that was made after that moment has come to its end."""
        sql = (
            "select 1 from calls where state = 'settled' and model not like 'search/%' and day >= ? and at > ? limit 1"
        )
        return self._db.row(sql, (since.date().isoformat(), since.isoformat(timespec="milliseconds"))) is not None

    def used_by(self, tasks: Iterable[str]) -> dict[str, Used]:
        """Return what each of these tasks has used over all its attempts."""
        found = dict.fromkeys(tasks, Used())
        if not found:
            return found
        rows = self._db.rows(
            "select task, sum(amount) amount, sum(input + write_5m + write_1h + read + output) tokens from calls"
            " where state <> 'refused' and task in (select value from json_each(?)) group by task",
            (json.dumps(sorted(found)),),
        )
        return found | {row["task"]: Used(row["amount"], row["tokens"]) for row in rows}

    def settled_for(self, tasks: Iterable[str]) -> int:
        """Return what is known to have been billed for all these tasks together."""
        row = self._db.row(
            "select sum(amount) from calls where state = 'settled' and task in (select value from json_each(?))",
            (json.dumps(list(tasks)),),
        )
        return (row[0] if row else 0) or 0

    def by_day(self) -> tuple[tuple[str, Totals], ...]:
        """Every day with calls, the oldest first, against the cap that was in force at its last call."""
        return self._by("day", "day_cap")

    def by_month(self) -> tuple[tuple[str, Totals], ...]:
        """Every month with calls, the oldest first, against the cap that was in force at its last call."""
        return self._by("substr(day, 1, 7)", "month_cap")

    def _by(self, period: str, cap: str) -> tuple[tuple[str, Totals], ...]:
        rows = self._db.rows(
            f"select {period} as period, {cap} as cap, max(day), sum(spent) spent, sum(reserved) reserved,"  # noqa: S608
            " sum(lost) lost from day_sums group by period order by period"
        )
        return tuple((row["period"], _as_totals(row, row["cap"])) for row in rows)

    def breakdown(self, period: str = "", last: str = "") -> tuple[Share, ...]:
        """List who spent what on which task with which model, day by day: of a day or a month (default: of all times).

        Or from one of these to the `last`. The oldest day first, on each day the dearest first.
        """
        rows = self._db.rows(
            "select day, agent, task, model, calls, spent, reserved, lost, tokens_in, tokens_out from call_sums"
            " where calls > 0 and day between ? and ? || '~'"
            " order by day, spent + reserved + lost desc, agent, task, model",
            (period, last or period),
        )
        return tuple(Share(**dict(row)) for row in rows)

    def lost_calls(self, period: str = "") -> tuple[LostCall, ...]:
        """Lost calls of a day or a month (default: of all times), the newest first; also those written off."""
        rows = self._db.rows(
            """select id as number, at, day, agent, task, model, amount, estimate, coalesce((select why from write_offs
                where call = calls.id order by id desc limit 1), '') as written_off
                from calls where state = 'lost' and day between ? and ? || '~'
                order by id desc""",
            (period, period),
        )
        return tuple(LostCall(**dict(row)) for row in rows)

    def warnings(self, day: str) -> tuple[BudgetWarning, ...]:
        """Warnings of the day and of its month."""
        rows = self._db.rows(
            "select scope, period, used, cap from budget_warnings where period in (?, ?) order by scope",
            (day, month_of(day)),
        )
        return tuple(BudgetWarning(**dict(row)) for row in rows)

    def course(self, day: str) -> tuple[Spending, ...]:
        """Return what was booked on that day, in order. Its sum is what the day's cap has lost."""
        rows = self._db.rows(
            "select at, amount from calls where day = ? and state <> 'refused' and amount > 0 order by id", (day,)
        )
        found = (Spending(_minute(row["at"], day), row["amount"]) for row in rows)
        return tuple(sorted(found, key=lambda one: one.minute))

    def paused(self, model: str = "") -> str:
        """Say why nothing is spent at all, or not on this model, in one line; empty: spending goes on."""
        found = "select reason from halts where not ended and model in ('', ?) order by model, kind, id limit 1"
        row = self._db.row(found, (model,))
        return row["reason"] if row else ""

    def stops(self) -> tuple[str, ...]:
        """Say of all spending and of each model why it is stopped, in one line each."""
        return tuple(row["reason"] for row in self._db.rows("select reason from halts where not ended order by id"))

    def paused_models(self) -> tuple[str, ...]:
        """Say of each model that is paused why, in one line that names it and what lifts it."""
        rows = self._db.rows("select reason from halts where not ended and model <> '' order by id")
        return tuple(row["reason"] for row in rows)


def _as_totals(row: sqlite3.Row, cap: int) -> Totals:
    return Totals(cap, row["spent"], row["reserved"], row["lost"])


def _minute(at: str, day: str) -> int:
    """The minute of the day (0-1439). A clock that was set back, or ran past midnight, books on another day."""
    when = datetime.fromisoformat(at)
    if (found := when.date().isoformat()) != day:
        return 0 if found < day else LAST_MINUTE
    return when.hour * 60 + when.minute
