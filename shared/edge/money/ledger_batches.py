"""The money book's batches: which questions were asked ahead, what the vendor calls them, and whether it was of use."""

from __future__ import annotations

import json
from dataclasses import astuple
from datetime import datetime
from sqlite3 import Connection, Row

from shared.domain.batching import Batch
from shared.domain.token_budget import Ask, Rates, Refusal
from shared.edge.fault import fault_point
from shared.edge.money.ledger_views import LedgerViews

BATCHES = """
    select b.*, c.model, c.at, c.reserved, c.state, c.price_version from batches b join calls c on c.id = b.call"""


class LedgerBatches(LedgerViews):
    """Their money is that of their calls: reserved, settled, void or lost as every other one's."""

    def batch(self, vendor: str) -> Batch | None:
        """Ours of this vendor's id."""
        row = self._db.row(f"{BATCHES} where vendor = ?", (vendor,))
        return _batch(row) if row else None

    def batches_of(self, day: str) -> tuple[Batch, ...]:
        """Asked for that day, whatever came of them; the oldest first."""
        return tuple(map(_batch, self._db.rows(f"{BATCHES} where b.day = ? order by call", (day,))))

    def batches_to_fetch(self, day: str) -> tuple[Batch, ...]:
        """The oldest first: those that the vendor may still answer, and those whose answer is paid for and may be of
        use on that day or later."""
        waits = "vendor is not null and (state = 'open' or (state = 'settled' and used is null and b.day >= ?))"
        return tuple(map(_batch, self._db.rows(f"{BATCHES} where {waits} order by call", (day,))))

    def batches_open(self) -> tuple[Batch, ...]:
        """Those whose price nobody knows yet, the oldest first."""
        return tuple(map(_batch, self._db.rows(f"{BATCHES} where state = 'open' order by call")))

    def is_taken(self, call: int) -> bool:
        """Whether the vendor has told its id: then it may still be answered."""
        return self._db.row("select 1 from batches where call = ? and vendor is not null", (call,)) is not None

    def batch_taken(self, call: int, vendor: str) -> bool:
        """The vendor has it; from now on its reservation outlives us. False: it calls another one so already."""
        with self._db.transaction() as db:
            free = "not exists (select 1 from batches where vendor = ?)"
            done = db.execute(f"update batches set vendor = ? where call = ? and {free}", (vendor, call, vendor))  # noqa: S608
        fault_point("batch.taken")
        return done.rowcount == 1

    def batch_used(self, key: str) -> None:
        """Somebody asked this question, and was answered ahead; also later on a day on which nobody seemed to."""
        if self._db.row("select 1 from batches where key = ? and used is not 1", (key,)):
            with self._db.transaction() as db:
                db.execute("update batches set used = 1 where key = ?", (key,))
            fault_point("batch.used")

    def batch_unused(self, key: str) -> None:
        """This question was asked directly."""
        if self._db.row("select 1 from batches where key = ? and used is not 0", (key,)):
            with self._db.transaction() as db:
                db.execute("update batches set used = 0 where key = ?", (key,))
            fault_point("batch.unused")

    def batches_unused(self, day: str) -> None:
        """Whatever was asked for that day or an earlier one and is not used yet is not needed any more."""
        if self._db.row("select 1 from batches where day <= ? and used is null", (day,)):
            with self._db.transaction() as db:
                db.execute("update batches set used = 0 where day <= ? and used is null", (day,))
            fault_point("batch.unused")


def sent_before(db: Connection, key: str) -> Refusal | None:
    """A question is asked ahead once, whatever came of it."""
    if key and db.execute("select 1 from batches where key = ?", (key,)).fetchone():
        return Refusal("meter_sent_before", "this question was sent before")
    return None


def add_batch(db: Connection, call: int, key: str, day: str, ask: Ask) -> None:
    rates = json.dumps(astuple(ask.rates))
    sql = "insert into batches (call, key, day, hour_cache, rates) values (?, ?, ?, ?, ?)"
    db.execute(sql, (call, key, day, int(ask.hour_cache), rates))


def _batch(row: Row) -> Batch:
    return Batch(
        id=row["call"],
        key=row["key"],
        day=row["day"],
        model=row["model"],
        at=datetime.fromisoformat(row["at"]),
        rates=Rates(*json.loads(row["rates"])),
        price_version=row["price_version"],
        reserved=row["reserved"],
        hour_cache=bool(row["hour_cache"]),
        state=row["state"],
        vendor=row["vendor"] or "",
        used=None if row["used"] is None else bool(row["used"]),
    )
