"""What the owner does about money: `raise-cap` for one day, `write-off` for a call that was not billed."""

from __future__ import annotations

from cli.terminal.arguments import Arguments
from cli.views.daemon_state import how_it_goes_on
from cli.wiring.records import Records, open_records
from shared.model.errors import Misconfigured
from shared.model.text import one_line
from shared.money.ledger_owner import OwnerAdjustments
from shared.money.token_budget import cents, dollars
from shared.system.clock import Clock

LONGEST_WHY = 500  # characters


def raise_cap(arguments: Arguments, clock: Clock | None = None) -> int:
    """The day of the money book may cost up to this much. Whoever is at work sees it by himself."""
    to, why = _amount(arguments.amount), _why(arguments.why)
    with open_records(arguments.home, clock=clock) as records:
        policy = records.settings.policy.budget.caps
        day = OwnerAdjustments(records.db).raise_cap(to, policy, why, records.clock.now())
        print(f"{day} may cost up to {_used(records, day, records.spending.cap_of(day, policy.day))}")
        print(f"its month: {_used(records, day[:7], policy.month)}; the day after, ${cents(policy.day)} count again")
        print(how_it_goes_on(records.db, records.home))
    return 0


def write_off(arguments: Arguments) -> int:
    """Never more than is booked, never by itself; the reason is kept."""
    amount, why = _amount(arguments.amount), _why(arguments.why)
    if not why:
        raise Misconfigured("say how you know that it was not billed: --why TEXT")
    with open_records(arguments.home) as records:
        booked = OwnerAdjustments(records.db).write_off(arguments.call, amount, why, records.clock.now())
    now = "as before" if amount == booked else f"before: ${cents(booked)}"
    print(f"call {arguments.call}: booked at ${cents(amount)} ({now})")
    return 0


def _amount(typed: str) -> int:
    try:
        return dollars(typed)
    except ValueError as problem:
        raise Misconfigured(str(problem)) from None


def _why(typed: str) -> str:
    return one_line(typed, LONGEST_WHY)


def _used(records: Records, period: str, cap: int) -> str:
    return f"${cents(cap)} (${cents(records.spending.totals(period, cap).used)} used so far)"
