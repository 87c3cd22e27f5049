"""The sums of the money book, and the same reckoned anew from its rows by other means."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sisimpur.shared.store.database import Database

Sums = dict[tuple[object, ...], tuple[object, ...]]
KEY = ("day", "agent", "task", "model")
TOKENS = ("tokens_in", "tokens_out", "read", "write_5m", "write_1h")
AMOUNTS = ("spent", "reserved", "lost")
COLUMN_OF = {"settled": "spent", "open": "reserved", "lost": "lost"}


def kept(db: Database) -> tuple[Sums, Sums]:
    """The two tables of sums, by their keys."""
    of_calls = db.rows(f"select {', '.join((*KEY, 'calls', *AMOUNTS, *TOKENS))} from call_sums where calls > 0")
    of_days = db.rows(f"select day, {', '.join(AMOUNTS)}, day_cap, month_cap from day_sums")
    return {tuple(row)[:4]: tuple(row)[4:] for row in of_calls}, {(row[0],): tuple(row)[1:] for row in of_days}


def reckoned(db: Database) -> tuple[Sums, Sums]:
    """The same from every row of `calls`, one after the other."""
    calls: dict[tuple[object, ...], dict[str, int]] = defaultdict(
        lambda: dict.fromkeys(("calls", *AMOUNTS, *TOKENS), 0)
    )
    days: dict[tuple[object, ...], dict[str, Any]] = defaultdict(lambda: dict.fromkeys(AMOUNTS, 0))
    for row in db.rows("select * from calls where state <> 'refused' order by id"):
        call, day = calls[tuple(row[name] for name in KEY)], days[row["day"],]
        call["calls"] += 1
        if column := COLUMN_OF.get(row["state"]):
            call[column] += row["amount"]
            day[column] += row["amount"]
        call["tokens_in"] += row["input"] + row["write_5m"] + row["write_1h"] + row["read"]
        call["tokens_out"] += row["output"]
        for name in ("read", "write_5m", "write_1h"):
            call[name] += row[name] if row["state"] == "settled" else 0
        day |= {"day_cap": row["day_cap"], "month_cap": row["month_cap"]}
    of_calls: Sums = {key: tuple(one.values()) for key, one in calls.items()}
    return of_calls, {key: tuple(one.values()) for key, one in days.items()}
