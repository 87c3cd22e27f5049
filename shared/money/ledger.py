"""Door to the money book. The only module that writes what was spent.

Reserve the worst case, send, settle: in this order, each durable before the next. A call has exactly one final state;
one whose outcome is unknown stays at its worst case for ever.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from sqlite3 import Connection

from shared.money.ledger_owner import LedgerOwner
from shared.money.ledger_reader import as_ticket, digest
from shared.money.ledger_rows import (
    add_open,
    add_refusal,
    add_ticket,
    anchor,
    calls_on,
    end_call,
    last_call,
    last_day,
    raise_of,
    set_anchor,
    standings,
    stop,
    text,
    warn,
)
from shared.money.ticket import (
    BudgetWarning,
    CallEnding,
    CallRecord,
    Reservation,
    Share,
    State,
    Ticket,
    TicketOrder,
)
from shared.money.token_budget import (
    Ask,
    Caps,
    Moment,
    Refusal,
    Uptime,
    as_dollars,
    budget_day,
    clock_jumped,
    decide,
    raised,
)
from shared.store.database import Database
from shared.system.fault import fault_point

__all__ = ["BudgetWarning", "CallEnding", "CallRecord", "Ledger", "Reservation", "Share", "Ticket", "TicketOrder"]

NO_SPENDING = {"pause": "meter_paused", "halt": "meter_halted"}


class Ledger(LedgerOwner):
    """`uptime` checks the wall clock against the machine's; None believes the clock, for simulated days."""

    def __init__(self, db: Database, uptime: Callable[[], Uptime] | None = None, warn_at: float = 0.8) -> None:
        super().__init__(db)
        self._uptime = uptime
        self._warn_percent = round(warn_at * 100)

    # --- tickets

    def open_ticket(self, order: TicketOrder, now: datetime) -> str:
        """The token that its holder calls the meter with. Only its digest is kept."""
        token = f"mt-{secrets.token_urlsafe(32)}"
        with self._db.transaction() as db:
            add_ticket(db, digest(token), order, now)
        fault_point("ticket.opened")
        return token

    def close_ticket(self, token: str, now: datetime) -> None:
        """Nothing is reserved on it any more; what is in flight goes on."""
        with self._db.transaction() as db:
            db.execute(
                "update tickets set closed_at = ? where token_sha256 = ? and closed_at is null",
                (text(now), digest(token)),
            )
        fault_point("ticket.closed")

    # --- before a call

    def reserve(
        self, ticket: Ticket, ask: Ask, caps: Caps, now: datetime, retry: int = 0, stream: bool = False
    ) -> Reservation | Refusal:
        """One transaction reads every cap and sum and takes the worst case from them all, or notes the refusal.

        `caps`: the policy's; what the owner has said of this one day is in the book.
        """
        with self._db.transaction() as db:
            day = budget_day(now, last_day(db))
            caps = raised(caps, raise_of(db, day))
            refusal = self._forbidden(db, ticket, retry, now)
            answer = refusal or decide(ask, list(standings(db, ticket, caps, day)), ticket.order.min_out)
            if isinstance(answer, Refusal):
                add_refusal(db, ticket, day, now, ask.model, answer, caps)
                return answer
            number = add_open(db, ticket, day, now, ask, answer, caps, retry, stream)
        return Reservation(number, day, ask, answer)

    def refused(self, ticket: Ticket, model: str, refusal: Refusal, now: datetime, answered: int = 400) -> None:
        """A call that came to nothing before its money was looked at has a row too."""
        with self._db.transaction() as db:
            add_refusal(db, ticket, budget_day(now, last_day(db)), now, model, refusal, answered=answered)
        fault_point("call.refused")

    # --- after a call: each answers False if the call already had its final state

    def settle(self, reservation: Reservation, amount: int, ending: CallEnding, now: datetime) -> bool:
        """What it truly cost. More than was reserved means that our prices are wrong: all spending stops."""
        return self._end(reservation, "settled", amount, None, ending, now)

    def void(self, reservation: Reservation, ending: CallEnding, now: datetime) -> bool:
        """It is certain that nothing was billed."""
        return self._end(reservation, "void", 0, None, ending, now)

    def lost(
        self, reservation: Reservation, at_most: int, estimate: int | None, ending: CallEnding, now: datetime
    ) -> bool:
        """Nobody knows what it cost: it stays booked at `at_most`, but never above what was reserved.

        `estimate` is what it has cost already; if even that is above, the prices are wrong as in `settle`.
        """
        reserved = reservation.grant.reserved
        amount = at_most if (estimate or 0) > reserved else min(at_most, reserved)
        return self._end(reservation, "lost", amount, estimate, ending, now)

    def reconcile(self, now: datetime) -> int:
        """At start, before the first call: what a dead process left open is lost, and its pauses are over."""
        with self._db.transaction() as db:
            db.execute("update halts set ended = 1 where kind = 'pause'")
            left = db.execute("update calls set state = 'lost', code = 'meter_restart' where state = 'open'").rowcount
            if left:
                warn(db, last_call(db), now, self._warn_percent)
        fault_point("ledger.reconciled")
        return left

    # --- stopping the world

    def pause(self, reason: str, now: datetime) -> None:
        """Until `resume` or the next start. One line for the owner; a second pause adds nothing."""
        with self._db.transaction() as db:
            stop(db, "pause", reason, now)
        fault_point("money.paused")

    def halt(self, reason: str, now: datetime) -> None:
        """Until `resume`, also over a restart: somebody has to look at it."""
        with self._db.transaction() as db:
            stop(db, "halt", reason, now)
        fault_point("money.halted")

    def resume(self) -> None:
        """The owner has looked: pauses and halts end."""
        with self._db.transaction() as db:
            db.execute("update halts set ended = 1 where not ended")
        fault_point("money.resumed")

    def confirm_clock(self, now: datetime) -> None:
        """The owner says that the clock is right; jumps are measured from here."""
        if self._uptime is not None:
            with self._db.transaction() as db:
                set_anchor(db, Moment(now, self._uptime()))
            fault_point("clock.confirmed")

    def believes(self, now: datetime) -> bool:
        """Whether the clock is believed: by a wrong one nothing is paid for, and nothing thrown away."""
        with self._db.transaction() as db:
            return not self._clock_is_wrong(db, now)

    def close(self) -> None:
        """This thread's connection."""
        self._db.close()

    # --- the parts

    def _forbidden(self, db: Connection, ticket: Ticket, retry: int, now: datetime) -> Refusal | None:
        """What forbids a call before its price matters."""
        stop = db.execute("select kind, reason from halts where not ended order by kind, id limit 1").fetchone()
        if stop:
            return Refusal(NO_SPENDING[stop["kind"]], f"no spending now: {stop['reason']}")
        current = as_ticket(db.execute("select * from tickets where id = ?", (ticket.id,)).fetchone())
        if not current.is_open(now):
            return Refusal("meter_ticket_closed", "this ticket is closed or has expired")
        if self._clock_is_wrong(db, now):
            return Refusal(
                "meter_clock",
                "the clock jumped ahead by more than a day; check the date, then type: python main.py resume",
            )
        if not retry and calls_on(db, ticket) >= ticket.order.max_calls:
            return Refusal("meter_call_cap", f"this run has used its {ticket.order.max_calls} calls")
        return None

    def _clock_is_wrong(self, db: Connection, now: datetime) -> bool:
        if self._uptime is None:
            return False
        moment, first = Moment(now, self._uptime()), anchor(db)
        if first is None or first.uptime.boot != moment.uptime.boot:
            set_anchor(db, moment)
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
        with self._db.transaction() as db:
            call = end_call(db, reservation.id, state, amount, estimate, ending)
            if call is None:
                return False
            warn(db, call, now, self._warn_percent)
            if amount > reservation.grant.reserved:
                told = f"cost ${as_dollars(amount)}, at most ${as_dollars(reservation.grant.reserved)} was expected"
                stop(db, "halt", f"call {reservation.id} {told}: the prices of {call['model']} are wrong", now)
        return True
