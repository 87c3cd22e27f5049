"""The money book and its writer.

Reserve the worst case, send, settle: in this order, each durable before the next. A call has exactly one final state;
one whose outcome is unknown stays at its worst case for ever.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection, Row

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money import ledger_rows as rows
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.ledger_rows import insert, last_day, text
from sisimpur.shared.money.ticket import (
    LIFTED,
    MODEL_PAUSED,
    UNTRUE,
    CallEnding,
    CallRecord,
    Reservation,
    State,
    Ticket,
    TicketOrder,
)
from sisimpur.shared.money.token_budget import (
    Ask,
    Caps,
    Moment,
    Refusal,
    Uptime,
    as_dollars,
    budget_day,
    clock_jumped,
    decide,
    raise_forbidden,
    raised,
)
from sisimpur.shared.store.database import Database, OfDatabase
from sisimpur.shared.system.fault import fault_point

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
ENOUGH_LIES = 2  # of one model on one day
NO_SPENDING = {"pause": "meter_paused", "halt": "meter_halted"}


class Ledger:
    """The writer of the money book. Who only reads takes its `reader`.

    `uptime` checks the wall clock against the machine's; None believes the clock, for simulated days. `warn_at`: the
    part of a cap at which the owner is warned.
    """

    def __init__(self, db: Database, uptime: Callable[[], Uptime] | None = None, warn_at: float = 0.8) -> None:
        self._db = db
        self.reader = LedgerReader(db)
        self._uptime = uptime
        self._warn_percent = round(warn_at * 100)

    # --- tickets

    def open_ticket(self, order: TicketOrder, now: datetime) -> str:
        """Open a ticket -> the token that its holder calls the meter with. Only its digest is kept."""
        token = f"mt-{secrets.token_urlsafe(32)}"
        with self._db.transaction() as db:
            rows.add_ticket(db, rows.digest(token), order, now)
        fault_point("ticket.opened")
        return token

    def close_ticket(self, token: str, now: datetime) -> None:
        """Reserve nothing on it any more; what is in flight goes on."""
        self._db.write(
            "update tickets set closed_at = ? where token_sha256 = ? and closed_at is null",
            (rows.text(now), rows.digest(token)),
        )
        fault_point("ticket.closed")

    def ticket(self, token: str) -> Ticket | None:
        """The ticket of a token, open or closed; None: there is none."""
        row = self._db.row("select * from tickets where token_sha256 = ?", (rows.digest(token),))
        return rows.as_ticket(row) if row else None

    def calls_of(self, token: str) -> tuple[CallRecord, ...]:
        """The meter's own record of a run, in the order of the calls: what an engine says of itself is not asked."""
        return tuple(rows.as_record(row) for row in self._calls_of(token))

    def last_words(self, token: str) -> str:
        """Return what the upstream complained of in the last call on a ticket: data, at most 600 characters."""
        calls = self._calls_of(token)
        return calls[-1]["note"][:600] if calls else ""

    # --- before a call

    def reserve(
        self, ticket: Ticket, ask: Ask, caps: Caps, now: datetime, retry: int = 0, stream: bool = False
    ) -> Reservation | Refusal:
        """Take the worst case from every cap in one transaction, or note the refusal.

        `caps`: the policy's; what the owner has said of this one day is in the book.
        """
        with self._db.transaction() as db:
            day, amount = rows.today(db, now)
            caps = raised(caps, amount)
            refusal = self._forbidden(db, ticket, ask.model, retry, now)
            answer = refusal or decide(ask, rows.cap_usages(db, ticket, caps, day), ticket.order.min_out)
            entry = rows.CallEntry(ticket, day, now, caps)
            if isinstance(answer, Refusal):
                return rows.add_refusal(db, entry, ask.model, answer)
            number = rows.add_open(db, entry, ask, answer, retry, stream)
        return Reservation(number, day, ask, answer)

    def refused(self, ticket: Ticket, model: str, refusal: Refusal, now: datetime, answered: int = 400) -> Refusal:
        """Note a call that came to nothing before its money was looked at -> the same with its number."""
        with self._db.transaction() as db:
            entry = rows.CallEntry(ticket, budget_day(now, rows.last_day(db)), now)
            noted = rows.add_refusal(db, entry, model, refusal, answered)
        fault_point("call.refused")
        return noted

    # --- after a call: each answers False if the call already had its final state

    def settle(self, reservation: Reservation, amount: int, ending: CallEnding, now: datetime) -> bool:
        """Book what it truly cost. More than it can cost means that our prices are wrong: all spending stops."""
        return self._end(reservation, "settled", amount, None, ending, now)

    def disbelieve(self, reservation: Reservation, told: int | None, ending: CallEnding, now: datetime) -> bool:
        """Book a call at its reservation, as its count cannot be true; `told`: what it would cost by that.

        The second of a model on one day pauses it, one of another model then stops all spending: somebody has to look
        at this upstream.
        """
        return self._end(reservation, "lost", reservation.grant.reserved, told, ending, now)

    def void(self, reservation: Reservation, ending: CallEnding, now: datetime) -> bool:
        """Free the reservation: it is certain that nothing was billed."""
        return self._end(reservation, "void", 0, None, ending, now)

    def lost(
        self, reservation: Reservation, at_most: int, estimate: int | None, ending: CallEnding, now: datetime
    ) -> bool:
        """Book a call of unknown cost at `at_most`, but never above what was reserved.

        `estimate` is what it has cost already; if even that is above, the prices are wrong as in `settle`.
        """
        reserved = reservation.grant.reserved
        amount = at_most if (estimate or 0) > reserved else min(at_most, reserved)
        return self._end(reservation, "lost", amount, estimate, ending, now)

    def reconcile(self, now: datetime) -> int:
        """Book what a dead process left open as lost -> how many calls, and end its pauses. Before the first call."""
        with self._db.transaction() as db:
            db.execute("update halts set ended = 1 where kind = 'pause'")
            left = db.execute("update calls set state = 'lost', code = 'meter_restart' where state = 'open'").rowcount
            if left:
                rows.warn(db, rows.last_call(db), now, self._warn_percent)
        fault_point("ledger.reconciled")
        return left

    # --- stopping the world

    def pause(self, reason: str, now: datetime) -> None:
        """Stop spending until `resume` or the next start. `reason`: one line; a second pause adds nothing."""
        with self._db.transaction() as db:
            rows.stop(db, "pause", reason, now)
        fault_point("money.paused")

    def halt(self, reason: str, now: datetime) -> None:
        """Stop spending until `resume`, also over a restart: somebody has to look at it."""
        with self._db.transaction() as db:
            rows.stop(db, "halt", reason, now)
        fault_point("money.halted")

    def resume(self) -> None:
        """End pauses and halts: the owner has looked."""
        self._db.write("update halts set ended = 1 where not ended")
        fault_point("money.resumed")

    def confirm_clock(self, now: datetime) -> None:
        """Measure jumps of the clock from here: the owner says that it is right."""
        if self._uptime is not None:
            with self._db.transaction() as db:
                rows.set_anchor(db, Moment(now, self._uptime()))
            fault_point("clock.confirmed")

    def believes(self, now: datetime) -> bool:
        """Tell whether the clock is believed: by a wrong one nothing is paid for, and nothing thrown away."""
        with self._db.transaction() as db:
            return not self._clock_is_wrong(db, now)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    # --- the parts

    def _calls_of(self, token: str) -> list[Row]:
        return self._db.rows(
            "select * from calls where ticket = (select id from tickets where token_sha256 = ?) order by id",
            (rows.digest(token),),
        )

    def _forbidden(self, db: Connection, ticket: Ticket, model: str, retry: int, now: datetime) -> Refusal | None:
        """Return what forbids a call before its price matters."""
        found = "select * from halts where not ended and model in ('', ?) order by model, kind, id limit 1"
        if stop := db.execute(found, (model,)).fetchone():
            if stop["model"]:
                return Refusal(MODEL_PAUSED, f"no spending on this model: {stop['reason']}")
            return Refusal(NO_SPENDING[stop["kind"]], f"no spending now: {stop['reason']}")
        current, calls = rows.ticket_now(db, ticket)
        if not current.is_open(now):
            return Refusal("meter_ticket_closed", "this ticket is closed or has expired")
        if self._clock_is_wrong(db, now):
            return Refusal(
                "meter_clock",
                "the clock jumped ahead by more than a day; check the date, then type: python main.py resume",
            )
        if not retry and calls >= ticket.order.max_calls:
            return Refusal("meter_call_cap", f"this run has used its {ticket.order.max_calls} calls")
        return None

    def _clock_is_wrong(self, db: Connection, now: datetime) -> bool:
        if self._uptime is None:
            return False
        moment, first = Moment(now, self._uptime()), rows.anchor(db)
        if first is None or first.uptime.boot != moment.uptime.boot:
            rows.set_anchor(db, moment)
            return False
        return clock_jumped(first, moment)

    def _end(
        self,
        reservation: Reservation,
        state: State,
        amount: int,
        estimate: int | None,
        ending: CallEnding,
        now: datetime,
    ) -> bool:
        most = max(reservation.limit, reservation.grant.reserved)
        with self._db.transaction() as db:
            call = rows.end_call(db, reservation.id, state, amount, estimate, ending)
            if call is None:
                return False
            rows.warn(db, call, now, self._warn_percent)
            if amount > most:
                told = f"cost ${as_dollars(amount)}, at most ${as_dollars(most)} was expected"
                wrong = f"its count cannot be true: {ending.note}" if ending.note else "its prices are wrong"
                rows.stop(db, "halt", f"call {reservation.id} of {call['model']} {told}; {wrong}", now)
            elif ending.code == UNTRUE:
                told = f"counts what cannot be true (call {reservation.id}: {ending.note}); {LIFTED}"
                self._lied(db, call, told, now)
        return True

    def _lied(self, db: Connection, call: Row, told: str, now: datetime) -> None:
        """One model may be served by a liar; two are the upstream's own."""
        model: str = call["model"]
        if rows.another_lied(db, call):
            rows.stop(db, "halt", f"the upstream of {model}, and of another model, {told}", now)
        elif rows.untrue_on(db, call) >= ENOUGH_LIES:
            rows.stop(db, "halt", f"{model} {told}", now, model)


def uptime() -> Uptime:
    """Return how long the machine has been up. Time asleep counts; nobody can set this clock."""
    return Uptime(BOOT_ID.read_text("ascii").strip(), int(time.clock_gettime(time.CLOCK_BOOTTIME)))


# --- the owner's adjustments ----------------------------------------------------------------------------------


class OwnerAdjustments(OfDatabase):
    """Each is durable when it returns. `db` is the database of the home."""

    def raise_cap(self, to: int, caps: Caps, why: str, now: datetime) -> str:
        """Let today cost up to `to`; said again, the last word counts. -> the day that it holds for.

        `caps`: the policy's. Misconfigured if `to` is not between its day and its month. Against another cap the owner
        is warned anew.
        """
        if forbidden := raise_forbidden(to, caps):
            raise Misconfigured(forbidden)
        with self._db.transaction() as db:
            day = budget_day(now, last_day(db))
            values = (day, to, text(now), why)
            db.execute("insert or replace into cap_raises (day, amount, at, why) values (?, ?, ?, ?)", values)
            db.execute("delete from budget_warnings where scope = 'day' and period = ? and cap <> ?", (day, to))
        fault_point("cap.raised")
        return day

    def write_off(self, number: int, amount: int, why: str, now: datetime) -> int:
        """Book a lost call at no more than `amount` -> what it was booked at. It stays lost.

        Misconfigured if it is not lost, or is booked at less.
        """
        with self._db.transaction() as db:
            call = db.execute("select state, amount from calls where id = ?", (number,)).fetchone()
            if call is None or call["state"] != "lost":
                state = f"call {number} is {call['state']}, not lost" if call else f"there is no call {number}"
                raise Misconfigured(f"{state}; the lost ones stand with their numbers in: python main.py budget")
            booked: int = call["amount"]
            if amount > booked:
                told = f"call {number} is booked at less already; type an --amount below that, or none for 0"
                raise Misconfigured(told)
            if amount < booked:
                insert(db, "write_offs", call=number, at=text(now), booked=booked, amount=amount, why=why)
                db.execute("update calls set amount = ? where id = ? and state = 'lost'", (amount, number))
        fault_point("call.written-off")
        return booked
