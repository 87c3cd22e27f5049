"""Rows of the money book: what is read and written inside one of the ledger's transactions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from sqlite3 import Connection, Row

from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ticket import UNTRUE, CallEnding, CallRecord, State, Ticket, TicketOrder
from sisimpur.shared.money.token_budget import (
    Ask,
    Caps,
    CapUsage,
    Grant,
    Moment,
    Refusal,
    TokenUsage,
    Uptime,
    budget_day,
    month_of,
    nearly_used,
)
from sisimpur.shared.store.database import row_to

OF_UPKEEP = f"task glob '{'[0-9]' * 8}-u[1-9]*' and substr(task, 11) not glob '*[^0-9]*'"  # naming.is_upkeep
LAST_DAY = "(select max(day) from calls where state <> 'refused')"
REFUSED_ROWS = 100  # per ticket: a caller in a loop must not fill the disk


def cap_usages(db: Connection, ticket: Ticket, caps: Caps, day: str) -> list[CapUsage]:
    """Every cap that a call of this ticket has to fit below, with the sum of the rows that count for it."""
    order, month = ticket.order, month_of(day)
    scopes: list[tuple[str, int | None, str, tuple[object, ...]]] = [
        ("upkeep", caps.upkeep if is_upkeep(order.run.task) else None, f"day = ? and {OF_UPKEEP}", (day,)),
        ("ticket", order.budget, "ticket = ?", (ticket.id,)),
        ("task", caps.task if order.run.task else None, "task = ?", (order.run.task,)),
        ("day", caps.day, "day = ?", (day,)),
        ("month", caps.month, "day between ? and ?", (month, f"{month}~")),
        ("total", caps.total, "true", ()),
    ]
    held = [(name, cap, where, values) for name, cap, where, values in scopes if cap is not None]
    taken = _taken(db, *((f"state <> 'refused' and {where}", values) for _, _, where, values in held))
    return [CapUsage(name, cap, used) for (name, cap, *_), used in zip(held, taken, strict=True)]


def _taken(db: Connection, *scopes: tuple[str, tuple[object, ...]]) -> tuple[int, ...]:
    """Sums of the calls for which each of these holds, SQL with its values: by its own index each, in one question."""
    sums = ", ".join(f"(select coalesce(sum(amount), 0) from calls where {where})" for where, _ in scopes)  # noqa: S608
    return tuple(db.execute(f"select {sums}", [*chain.from_iterable(values for _, values in scopes)]).fetchone())


def ticket_now(db: Connection, ticket: Ticket) -> tuple[Ticket, int]:
    """Return it as it is now, and how many calls its holder made; the meter's repetitions do not count."""
    calls = "(select count(*) from calls where ticket = tickets.id and retry = 0 and state <> 'refused')"
    row = db.execute(f"select *, {calls} as calls from tickets where id = ?", (ticket.id,)).fetchone()  # noqa: S608
    return as_ticket(row), row["calls"]


def untrue_on(db: Connection, call: Row) -> int:
    """Count the calls of this call's model, on its day, whose count cannot be true."""
    found = "select count(*) from calls where day = ? and model = ? and state = 'lost' and code = ?"
    count: int = db.execute(found, (call["day"], call["model"], UNTRUE)).fetchone()[0]
    return count


def another_lied(db: Connection, call: Row) -> bool:
    """Tell whether another model than this call's is paused, or had a count on its day that cannot be true."""
    found = """select 1 from halts where not ended and model not in ('', :model) union all
        select 1 from calls where day = :day and model <> :model and state = 'lost' and code = :code limit 1"""
    return db.execute(found, {"day": call["day"], "model": call["model"], "code": UNTRUE}).fetchone() is not None


def last_day(db: Connection) -> str:
    """Empty before the first call. A refusal opens no day."""
    return db.execute(f"select {LAST_DAY}").fetchone()[0] or ""


def today(db: Connection, now: datetime) -> tuple[str, int]:
    """Return the day that a call is booked on now, and its raise (see raise_of), by one question."""
    known = f"(select json_group_object(day, amount) from cap_raises where day in ({LAST_DAY}, ?))"  # noqa: S608
    last, raises = db.execute(f"select {LAST_DAY}, {known}", (budget_day(now, ""),)).fetchone()
    day = budget_day(now, last or "")
    return day, json.loads(raises).get(day, 0)


def raise_of(db: Connection, day: str) -> int:
    """Return what the owner allows on that day instead of the policy's cap; 0: the policy's cap holds."""
    row = db.execute("select amount from cap_raises where day = ?", (day,)).fetchone()
    return row["amount"] if row else 0


def last_call(db: Connection) -> Row:
    row: Row = db.execute("select * from calls where state <> 'refused' order by id desc limit 1").fetchone()
    return row


def add_ticket(db: Connection, token_sha256: str, order: TicketOrder, now: datetime) -> None:
    run = order.run
    insert(
        db,
        "tickets",
        token_sha256=token_sha256,
        run=run.id,
        agent=run.agent,
        run_day=run.day,
        task=run.task,
        attempt=run.attempt,
        budget=order.budget,
        models=json.dumps(order.models),
        max_calls=order.max_calls,
        min_out=order.min_out,
        retry_s=float(order.retry_s),
        beside=order.beside,
        opened_at=text(now),
        expires_at=text(order.expires),
    )


@dataclass(frozen=True)
class CallEntry:
    """The beginning of every row of a call. `caps`: those in force, if they were looked at."""

    ticket: Ticket
    day: str
    at: datetime
    caps: Caps | None = None

    @property
    def values(self) -> dict[str, object]:
        run = self.ticket.order.run
        found = {"ticket": self.ticket.id, "at": text(self.at), "day": self.day}
        found |= {"agent": run.agent, "task": run.task, "attempt": run.attempt}
        return found | ({"day_cap": self.caps.day, "month_cap": self.caps.month} if self.caps else {})


def add_open(db: Connection, entry: CallEntry, ask: Ask, grant: Grant, retry: int, stream: bool) -> int:
    """Reserve -> the number of the call."""
    return insert(
        db,
        "calls",
        **entry.values,
        model=ask.model,
        price_version=ask.price_version,
        retry=retry,
        stream=int(stream),
        state="open",
        reserved=grant.reserved,
        amount=grant.reserved,
        max_tokens=grant.max_tokens,
        clamped=int(grant.clamped),
    )


def add_refusal(db: Connection, entry: CallEntry, model: str, refusal: Refusal, answered: int = 400) -> Refusal:
    """Note a refusal, at most REFUSED_ROWS of them per ticket -> the same with its number."""
    rows = "select count(*) from calls where ticket = ? and state = 'refused'"
    if db.execute(rows, (entry.ticket.id,)).fetchone()[0] >= REFUSED_ROWS:
        return refusal
    told = {"model": model[:100], "price_version": "", "answered": answered, "code": refusal.code}
    told["note"] = refusal.text
    return replace(refusal, call=insert(db, "calls", **entry.values, **told, state="refused"))


def end_call(
    db: Connection, number: int, state: State, amount: int, estimate: int | None, ending: CallEnding
) -> Row | None:
    """End a call -> its row; None if it was ended already."""
    values = {"state": state, "amount": amount, "estimate": estimate, **_told(ending)}
    columns = ", ".join(f"{name} = :{name}" for name in values)
    update = f"update calls set {columns} where id = :id and state = 'open' returning *"  # noqa: S608
    row: Row | None = db.execute(update, {**values, "id": number}).fetchone()
    return row


def _told(ending: CallEnding) -> dict[str, object]:
    """The columns of a call's end: they bear the names of the fields."""
    told = vars(ending) | vars(ending.usage)
    del told["usage"]
    return told


def warn(db: Connection, call: Row, now: datetime, percent: int) -> None:
    """Warn once per day and month, and per raised cap. Settled and lost money only: a reservation mostly comes back."""
    day, month = call["day"], month_of(call["day"])
    known = "state in ('settled', 'lost') and day between ? and ?"
    taken = _taken(db, *((known, (period, f"{period}~")) for period in (day, month)))
    day_cap = call["day_cap"]
    if nearly_used(taken[0], day_cap, percent):
        day_cap = max(day_cap, raise_of(db, day))  # raised since
    caps = (("day", day, day_cap), ("month", month, call["month_cap"]))
    for (scope, period, cap), used in zip(caps, taken, strict=True):
        if nearly_used(used, cap, percent):
            values = (scope, period, text(now), used, cap)
            db.execute("insert or ignore into budget_warnings values (?, ?, ?, ?, ?)", values)


def stop(db: Connection, kind: str, reason: str, now: datetime, model: str = "") -> None:
    """Stop all spending, or that on one model; one stop of a kind is enough."""
    if not db.execute("select 1 from halts where kind = ? and model = ? and not ended", (kind, model)).fetchone():
        insert(db, "halts", kind=kind, at=text(now), reason=reason, model=model)


def anchor(db: Connection) -> Moment | None:
    """Return when the clock was first believed in this boot, or last confirmed."""
    row = db.execute("select at, boot, uptime from clock_anchor").fetchone()
    return Moment(datetime.fromisoformat(row["at"]), Uptime(row["boot"], row["uptime"])) if row else None


def set_anchor(db: Connection, moment: Moment) -> None:
    values = (text(moment.at), moment.uptime.boot, moment.uptime.seconds)
    db.execute("insert or replace into clock_anchor values (1, ?, ?, ?)", values)


def insert(db: Connection, table: str, **values: object) -> int:
    """The new row's number."""
    names, holes = ", ".join(values), ", ".join("?" * len(values))
    number = db.execute(f"insert into {table} ({names}) values ({holes})", tuple(values.values())).lastrowid  # noqa: S608
    assert number is not None
    return number


def text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


# --- from rows to words


def digest(token: str) -> str:
    """All that is kept of a ticket's token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def as_ticket(row: Row) -> Ticket:
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


def as_record(row: Row) -> CallRecord:
    return row_to(CallRecord, row, cost=row["amount"], usage=as_usage(row))


def as_usage(row: Row) -> TokenUsage:
    return row_to(TokenUsage, row)
