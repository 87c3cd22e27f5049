"""Door to the money book. The only module that writes what was spent.

Reserve the worst case, send, settle: in this order, each durable before the next. A call has exactly one final state;
one whose outcome is unknown stays at its worst case for ever.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime

from shared.domain.ticket import (
    BudgetWarning,
    CallRecord,
    Ending,
    Reservation,
    Share,
    State,
    Ticket,
    TicketOrder,
)
from shared.domain.token_budget import (
    Ask,
    Caps,
    Moment,
    Refusal,
    Standing,
    Uptime,
    as_dollars,
    budget_day,
    clock_jumped,
    decide,
    month_of,
    nearly_used,
)
from shared.edge.database import Database
from shared.edge.ledger_views import LedgerViews, as_ticket, digest

__all__ = ["BudgetWarning", "CallRecord", "Ending", "Ledger", "Reservation", "Share", "Ticket", "TicketOrder"]

REFUSED_ROWS = 100  # per ticket: a caller in a loop must not fill the disk

NO_NEW_SPENDING = {
    "pause": "meter_paused",
    "halt": "meter_halted",
}


class Ledger(LedgerViews):
    """`uptime` checks the wall clock against the machine's; None believes the clock, for simulated days."""

    def __init__(self, db: Database, uptime: Callable[[], Uptime] | None = None, warn_at: float = 0.8) -> None:
        super().__init__(db)
        self._uptime = uptime
        self._warn_percent = round(warn_at * 100)

    # --- tickets

    def open_ticket(self, order: TicketOrder, now: datetime) -> str:
        """The token that its holder calls the meter with. Only its digest is kept."""
        token = f"mt-{secrets.token_urlsafe(32)}"
        run = order.run
        with self._db.transaction() as db:
            _insert(
                db,
                "tickets",
                token_sha256=digest(token),
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
                opened_at=_text(now),
                expires_at=_text(order.expires),
            )
        return token

    def close_ticket(self, token: str, now: datetime) -> None:
        """Nothing is reserved on it any more; what is in flight goes on."""
        with self._db.transaction() as db:
            db.execute(
                "update tickets set closed_at = ? where token_sha256 = ? and closed_at is null",
                (_text(now), digest(token)),
            )

    # --- before a call

    def reserve(
        self, ticket: Ticket, ask: Ask, caps: Caps, now: datetime, retry: int = 0, stream: bool = False
    ) -> Reservation | Refusal:
        """One transaction reads every sum and takes the worst case from them all, or notes the refusal."""
        with self._db.transaction() as db:
            day = budget_day(now, _last_day(db))
            refusal = self._no(db, ticket, retry, now)
            answer = refusal or decide(ask, list(_standings(db, ticket, caps, day)), ticket.order.min_out)
            if isinstance(answer, Refusal):
                _note_refusal(db, ticket, ask.model, answer, now, day)
                return answer
            number = _insert(
                db,
                "calls",
                **_who(ticket, now, day),
                model=ask.model,
                price_version=ask.price_version,
                retry=retry,
                stream=int(stream),
                state="open",
                reserved=answer.reserved,
                amount=answer.reserved,
                max_tokens=answer.max_tokens,
                clamped=int(answer.clamped),
                day_cap=caps.day,
                month_cap=caps.month,
            )
        return Reservation(number, day, ask, answer, now)

    def refused(self, ticket: Ticket, model: str, refusal: Refusal, now: datetime, answered: int = 400) -> None:
        """A call that came to nothing before its money was looked at has a row too."""
        with self._db.transaction() as db:
            _note_refusal(db, ticket, model, refusal, now, budget_day(now, _last_day(db)), answered)

    # --- after a call: each answers False if the call already had its final state

    def settle(self, reservation: Reservation, amount: int, ending: Ending, now: datetime) -> bool:
        """What it truly cost. More than was reserved means that our prices are wrong: all spending stops."""
        with self._db.transaction() as db:
            done = self._finish(db, reservation.id, "settled", amount, None, ending, now)
            if done and amount > reservation.grant.reserved:
                _stop(db, "halt", _too_much(reservation, amount), now)
        return done

    def void(self, reservation: Reservation, ending: Ending, now: datetime) -> bool:
        """It is certain that nothing was billed."""
        with self._db.transaction() as db:
            return self._finish(db, reservation.id, "void", 0, None, ending, now)

    def lost(self, reservation: Reservation, at_most: int, estimate: int | None, ending: Ending, now: datetime) -> bool:
        """Nobody knows what it cost: it stays booked at `at_most`, which can only be below what was reserved."""
        reserved = reservation.grant.reserved
        is_wrong = (estimate or 0) > reserved
        with self._db.transaction() as db:
            amount = at_most if is_wrong else min(at_most, reserved)
            done = self._finish(db, reservation.id, "lost", amount, estimate, ending, now)
            if done and is_wrong:
                _stop(db, "halt", _too_much(reservation, amount), now)
        return done

    def reconcile(self, now: datetime) -> int:
        """At start, before the first call: what a dead process left open is lost, and its pauses are over."""
        with self._db.transaction() as db:
            db.execute("update halts set ended = 1 where kind = 'pause'")
            left = db.execute("update calls set state = 'lost', code = 'meter_restart' where state = 'open'").rowcount
            if left:
                self._warn(db, _last_call(db), now)
        return left

    # --- stopping the world

    def pause(self, reason: str, now: datetime) -> None:
        """Until `resume` or the next start. One line for the owner; a second pause adds nothing."""
        with self._db.transaction() as db:
            _stop(db, "pause", reason, now)

    def halt(self, reason: str, now: datetime) -> None:
        """Until `resume`, also over a restart: somebody has to look at it."""
        with self._db.transaction() as db:
            _stop(db, "halt", reason, now)

    def resume(self) -> None:
        """The owner has looked: pauses and halts end."""
        with self._db.transaction() as db:
            db.execute("update halts set ended = 1 where not ended")

    def confirm_clock(self, now: datetime) -> None:
        """The owner says that the clock is right; jumps are measured from here."""
        if self._uptime is not None:
            with self._db.transaction() as db:
                _anchor(db, Moment(now, self._uptime()))

    def close(self) -> None:
        """This thread's connection."""
        self._db.close()

    # --- the parts

    def _no(self, db: sqlite3.Connection, ticket: Ticket, retry: int, now: datetime) -> Refusal | None:
        """What forbids a call before its price matters."""
        stop = db.execute("select kind, reason from halts where not ended order by kind, id limit 1").fetchone()
        if stop:
            return Refusal(NO_NEW_SPENDING[stop["kind"]], f"no spending now: {stop['reason']}")
        current = as_ticket(db.execute("select * from tickets where id = ?", (ticket.id,)).fetchone())
        if not current.is_open(now):
            return Refusal("meter_ticket_closed", "this ticket is closed or has expired")
        if self._clock_is_wrong(db, now):
            return Refusal("meter_clock", "the clock jumped ahead by more than a day; check the date, then confirm it")
        calls = "select count(*) from calls where ticket = ? and retry = 0 and state <> 'refused'"
        if not retry and db.execute(calls, (ticket.id,)).fetchone()[0] >= ticket.order.max_calls:
            return Refusal("meter_call_cap", f"this run has used its {ticket.order.max_calls} calls")
        return None

    def _clock_is_wrong(self, db: sqlite3.Connection, now: datetime) -> bool:
        if self._uptime is None:
            return False
        moment = Moment(now, self._uptime())
        row = db.execute("select at, boot, uptime from clock_anchor").fetchone()
        if row is None or row["boot"] != moment.uptime.boot:
            _anchor(db, moment)
            return False
        return clock_jumped(Moment(datetime.fromisoformat(row["at"]), Uptime(row["boot"], row["uptime"])), moment)

    def _finish(
        self,
        db: sqlite3.Connection,
        number: int,
        state: State,
        amount: int,
        estimate: int | None,
        ending: Ending,
        now: datetime,
    ) -> bool:
        values = {"state": state, "amount": amount, "estimate": estimate, **_told(ending)}
        columns = ", ".join(f"{name} = :{name}" for name in values)
        done = db.execute(
            f"update calls set {columns} where id = :id and state = 'open'",  # noqa: S608
            {**values, "id": number},
        ).rowcount
        if done:
            self._warn(db, db.execute("select * from calls where id = ?", (number,)).fetchone(), now)
        return bool(done)

    def _warn(self, db: sqlite3.Connection, call: sqlite3.Row, now: datetime) -> None:
        """Settled and lost money only: a reservation mostly comes back."""
        for scope, period, cap in (
            ("day", call["day"], call["day_cap"]),
            ("month", month_of(call["day"]), call["month_cap"]),
        ):
            gone = (
                "select coalesce(sum(amount), 0) from calls where state in ('settled', 'lost') and day between ? and ?"
            )
            used = db.execute(gone, (period, f"{period}~")).fetchone()[0]
            if nearly_used(used, cap, self._warn_percent):
                db.execute(
                    "insert or ignore into budget_warnings values (?, ?, ?, ?, ?)",
                    (scope, period, _text(now), used, cap),
                )


def _standings(db: sqlite3.Connection, ticket: Ticket, caps: Caps, day: str) -> Iterator[Standing]:
    """Every cap that a call of this ticket has to fit below, with the sum of the rows that count for it."""
    order, month = ticket.order, month_of(day)
    scopes: list[tuple[str, int | None, str, tuple[object, ...]]] = [
        ("ticket", order.budget, "ticket = ?", (ticket.id,)),
        ("task", caps.task if order.run.task else None, "task = ?", (order.run.task,)),
        ("day", caps.day, "day = ?", (day,)),
        ("month", caps.month, "day between ? and ?", (month, f"{month}~")),
        ("total", caps.total, "true", ()),
    ]
    for name, cap, where, values in scopes:
        if cap is not None:
            taken = f"select coalesce(sum(amount), 0) from calls where state <> 'refused' and {where}"  # noqa: S608
            yield Standing(name, cap, db.execute(taken, values).fetchone()[0])


def _note_refusal(
    db: sqlite3.Connection,
    ticket: Ticket,
    model: str,
    refusal: Refusal,
    now: datetime,
    day: str,
    answered: int = 400,
) -> None:
    rows = "select count(*) from calls where ticket = ? and state = 'refused'"
    if db.execute(rows, (ticket.id,)).fetchone()[0] < REFUSED_ROWS:
        told = {"state": "refused", "answered": answered, "code": refusal.code}
        _insert(db, "calls", **_who(ticket, now, day), model=model[:100], price_version="", **told)


def _who(ticket: Ticket, now: datetime, day: str) -> dict[str, object]:
    run = ticket.order.run
    return {
        "ticket": ticket.id,
        "at": _text(now),
        "day": day,
        "agent": run.agent,
        "task": run.task,
        "attempt": run.attempt,
    }


def _told(ending: Ending) -> dict[str, object]:
    usage = ending.usage
    return {
        "status": ending.status,
        "answered": ending.answered,
        "stop_reason": ending.stop_reason,
        "request_id": ending.request_id,
        "code": ending.code,
        "note": ending.note,
        "ms": ending.ms,
        "input": usage.input,
        "write_5m": usage.write_5m,
        "write_1h": usage.write_1h,
        "read": usage.read,
        "output": usage.output,
        "thinking": usage.thinking,
    }


def _too_much(reservation: Reservation, amount: int) -> str:
    told = f"cost ${as_dollars(amount)}, at most ${as_dollars(reservation.grant.reserved)} was expected"
    return f"call {reservation.id} {told}: the prices of {reservation.ask.model} are wrong"


def _last_call(db: sqlite3.Connection) -> sqlite3.Row:
    row: sqlite3.Row = db.execute("select * from calls where state <> 'refused' order by id desc limit 1").fetchone()
    return row


def _last_day(db: sqlite3.Connection) -> str:
    return db.execute("select max(day) from calls where state <> 'refused'").fetchone()[0] or ""


def _stop(db: sqlite3.Connection, kind: str, reason: str, now: datetime) -> None:
    if not db.execute("select 1 from halts where kind = ? and not ended", (kind,)).fetchone():
        _insert(db, "halts", kind=kind, at=_text(now), reason=reason)


def _anchor(db: sqlite3.Connection, moment: Moment) -> None:
    values = (_text(moment.at), moment.uptime.boot, moment.uptime.seconds)
    db.execute("insert or replace into clock_anchor values (1, ?, ?, ?)", values)


def _insert(db: sqlite3.Connection, table: str, **values: object) -> int:
    """The new row's number."""
    names, holes = ", ".join(values), ", ".join("?" * len(values))
    number = db.execute(f"insert into {table} ({names}) values ({holes})", tuple(values.values())).lastrowid  # noqa: S608
    assert number is not None
    return number


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
