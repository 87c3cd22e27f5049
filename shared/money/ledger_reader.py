"""The money book for readers: what was spent, by whom, on what, and when. Nothing here writes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from shared.model.work import Run
from shared.money.ticket import BudgetWarning, CallRecord, LostCall, Share, Ticket, TicketOrder
from shared.money.token_budget import TokenUsage, Totals, budget_day, month_of
from shared.store.database import Database

SUMS = """
    coalesce(sum(amount) filter (where state = 'settled'), 0) as spent,
    coalesce(sum(amount) filter (where state = 'open'), 0) as reserved,
    coalesce(sum(amount) filter (where state = 'lost'), 0) as lost"""


class LedgerViews:
    """`db` is the database of the home."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def ticket(self, token: str) -> Ticket | None:
        row = self._db.row("select * from tickets where token_sha256 = ?", (digest(token),))
        return as_ticket(row) if row else None

    def calls_of(self, token: str) -> tuple[CallRecord, ...]:
        """The meter's own record of a run, in the order of the calls: what an engine says of itself is not asked."""
        rows = self._db.rows(
            "select * from calls where ticket = (select id from tickets where token_sha256 = ?) order by id",
            (digest(token),),
        )
        return tuple(_as_record(row) for row in rows)

    # --- a day's cap

    def cap_of(self, day: str, policy: int) -> int:
        """What that day may cost: `policy`, the cap of every day, unless the owner has raised this one."""
        row = self._db.row("select amount from cap_raises where day = ?", (day,))
        return max(policy, row["amount"]) if row else policy

    def day_cap(self, now: datetime, policy: int) -> int:
        """What today may cost; today is the day that a call would be booked on now. `policy`: as in `cap_of`."""
        row = self._db.row("select max(day) as day from calls where state <> 'refused'")
        return self.cap_of(budget_day(now, (row["day"] if row else "") or ""), policy)

    def why_raised(self, day: str) -> str:
        """The owner's reason; empty: he gave none, or has not raised that day's cap."""
        row = self._db.row("select why from cap_raises where day = ?", (day,))
        return row["why"] if row else ""

    def is_reached(self, day: str, cap: int) -> bool:
        """Whether this cap has stopped a call on that day. One that was raised since is not reached yet."""
        sql = "select 1 from calls where state = 'refused' and code = 'meter_day_cap' and day = ? and day_cap >= ?"
        return self._db.row(f"{sql} limit 1", (day, cap)) is not None

    # --- sums

    def totals(self, period: str, cap: int) -> Totals:
        """Of a day (`2026-11-20`) or a month (`2026-11`), against its cap."""
        return self._totals("day between ? and ? || '~'", (period, period), cap)

    def spent_by(self, task: str, cap: int = 0) -> Totals:
        """Of one task over all its attempts, against the task's cap."""
        return self._totals("task = ?", (task,), cap)

    def was_answered(self, since: datetime) -> bool:
        """Whether a call of a model, not a search, that was made after that moment has come to its end."""
        sql = (
            "select 1 from calls where state = 'settled' and model not like 'search/%' and day >= ? and at > ? limit 1"
        )
        return self._db.row(sql, (since.date().isoformat(), since.isoformat(timespec="milliseconds"))) is not None

    def tokens_by_task(self) -> dict[str, int]:
        """Sent and received, of each task over all its attempts."""
        rows = self._db.rows(
            "select task, sum(input + write_5m + write_1h + read + output) tokens from calls"
            " where task <> '' and state <> 'refused' group by task"
        )
        return {row["task"]: row["tokens"] for row in rows}

    def by_day(self) -> tuple[tuple[str, Totals], ...]:
        """Every day with calls, the oldest first, against the cap that was in force at its last call."""
        rows = self._db.rows(
            f"select day, day_cap, max(id), {SUMS} from calls where state <> 'refused' group by day order by day"  # noqa: S608
        )
        return tuple((row["day"], _as_totals(row, row["day_cap"])) for row in rows)

    def by_month(self) -> tuple[tuple[str, Totals], ...]:
        """Every month with calls, the oldest first, against the cap that was in force at its last call."""
        rows = self._db.rows(
            f"""select substr(day, 1, 7) as month, month_cap, max(id), {SUMS} from calls where state <> 'refused'
                group by month order by month"""  # noqa: S608
        )
        return tuple((row["month"], _as_totals(row, row["month_cap"])) for row in rows)

    def breakdown(self, period: str = "") -> tuple[Share, ...]:
        """Who spent what on which task with which model, day by day: of a day or a month (default: of all times).

        The oldest day first, on each day the dearest first.
        """
        rows = self._db.rows(
            f"""select day, agent, task, model, count(*) as calls, {SUMS},
                sum(input + write_5m + write_1h + read) as tokens_in, sum(output) as tokens_out
                from calls where state <> 'refused' and day between ? and ? || '~'
                group by day, agent, task, model order by day, sum(amount) desc, agent, task, model""",  # noqa: S608
            (period, period),
        )
        return tuple(Share(**dict(row)) for row in rows)

    def lost_calls(self, period: str = "") -> tuple[LostCall, ...]:
        """Of a day or a month (default: of all times), the newest first; also those that the owner has written off."""
        rows = self._db.rows(
            """select id as number, at, day, agent, task, model, amount, estimate, coalesce((select why from write_offs
                where call = calls.id order by id desc limit 1), '') as written_off
                from calls where state = 'lost' and day between ? and ? || '~'
                order by id desc""",
            (period, period),
        )
        return tuple(LostCall(**dict(row)) for row in rows)

    def last_words(self, token: str) -> str:
        """What the upstream complained of in the last call on a ticket: data, at most 600 characters."""
        row = self._db.row(
            "select note from calls where ticket = (select id from tickets where token_sha256 = ?)"
            " order by id desc limit 1",
            (digest(token),),
        )
        return row["note"][:600] if row else ""

    def warnings(self, day: str) -> tuple[BudgetWarning, ...]:
        """Those of the day and of its month."""
        rows = self._db.rows(
            "select scope, period, used, cap from budget_warnings where period in (?, ?) order by scope",
            (day, month_of(day)),
        )
        return tuple(BudgetWarning(**dict(row)) for row in rows)

    def paused(self) -> str:
        """Why nothing is spent at all, in one line; empty: spending goes on."""
        row = self._db.row("select reason from halts where not ended order by kind, id limit 1")
        return row["reason"] if row else ""

    def _totals(self, where: str, values: tuple[str, ...], cap: int) -> Totals:
        row = self._db.row(f"select {SUMS} from calls where state <> 'refused' and {where}", values)  # noqa: S608
        assert row is not None
        return _as_totals(row, cap)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def as_ticket(row: sqlite3.Row) -> Ticket:
    order = TicketOrder(
        run=Run(row["run"], row["agent"], row["run_day"], row["task"], row["attempt"]),
        budget=row["budget"],
        models=tuple(json.loads(row["models"])),
        expires=datetime.fromisoformat(row["expires_at"]),
        max_calls=row["max_calls"],
        min_out=row["min_out"],
        retry_s=row["retry_s"],
        beside=row["beside"],
    )
    return Ticket(row["id"], order, closed=row["closed_at"] is not None)


def _as_totals(row: sqlite3.Row, cap: int) -> Totals:
    return Totals(cap, row["spent"], row["reserved"], row["lost"])


def _as_record(row: sqlite3.Row) -> CallRecord:
    return CallRecord(
        model=row["model"],
        state=row["state"],
        cost=row["amount"],
        retry=row["retry"],
        clamped=bool(row["clamped"]),
        status=row["status"],
        answered=row["answered"],
        stop_reason=row["stop_reason"],
        code=row["code"],
        usage=TokenUsage(row["input"], row["write_5m"], row["write_1h"], row["read"], row["output"], row["thinking"]),
    )


LAST_MINUTE = 24 * 60 - 1


class LedgerCourse:
    """`db` is the database of the home."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, day: str) -> tuple[Spending, ...]:
        """What was booked on that day, in order. Its sum is what the day's cap has lost."""
        rows = self._db.rows(
            "select at, amount from calls where day = ? and state <> 'refused' and amount > 0 order by id", (day,)
        )
        found = (Spending(_minute(row["at"], day), row["amount"]) for row in rows)
        return tuple(sorted(found, key=lambda one: one.minute))


def _minute(at: str, day: str) -> int:
    """A clock that was set back or runs past midnight books on a day that is not its own."""
    when = datetime.fromisoformat(at)
    if (found := when.date().isoformat()) != day:
        return 0 if found < day else LAST_MINUTE
    return when.hour * 60 + when.minute


@dataclass(frozen=True)
class Spending:
    """Money that was taken from the cap at some minute of the day (0-1439)."""

    minute: int
    amount: int
