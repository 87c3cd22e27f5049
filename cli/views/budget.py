"""`budget`: what was spent, by whom, on what, and where the month is going."""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import attrgetter
from typing import Any, TypeVar

from sisimpur.agents.orchestrator.reports.report_words import savings
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import MOST_SHOWN, command, money, plain, print_json, print_line, print_table, short
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import LedgerSavings, Saved
from sisimpur.shared.money.ticket import LostCall, Share
from sisimpur.shared.money.token_budget import Totals, as_dollars, cents

T = TypeVar("T", Share, LostCall)

DAYS_SHOWN, WEEKS_SHOWN = 31, 5
GROUPS = ("agent", "task", "model")
AMOUNTS = ("spent", "reserved", "lost")
SUMS = attrgetter("calls", *AMOUNTS, "tokens_in", "tokens_out")
HEADINGS = (*AMOUNTS, "cap")
LOST_HEADINGS = ("number", "at", "agent", "task", "booked", "written off")
LOST = "lost: calls whose outcome is unknown stay booked at the most that they can have cost"
MOST_DAYS = 7  # of work that make the pace


def budget(arguments: Arguments) -> int:
    """Print what was spent. `--json`: a list with one object per day, the oldest first; today is always there."""
    with open_records(arguments.home, looking=True) as records:
        day, caps = records.day(), records.settings.policy.budget.caps
        if arguments.json:
            return print_json(budget_facts(records))
        days = _days_of(records)
        months = dict(records.spending.by_month()) | {day[:7]: records.spending.totals(day[:7], caps.month)}
        since = day[:7]  # people are shown this month
        shares, lost = records.spending.breakdown(since), records.spending.lost_calls(since)
        paused = records.spending.stops()
        raised = _raised(day, days[day].cap, caps.day, records.spending.why_raised(day))
        saved = LedgerSavings(records.db, Pricing(records.settings.agents.prices)).by_day(since)
        write_off = command(arguments.home, "write-off", "NUMBER", "--why", "TEXT")
    shown = sorted(days.items())[-DAYS_SHOWN:]
    print_table("Dollars per day", ("day", *HEADINGS), [_row(name, totals) for name, totals in shown])
    print_table("Dollars per week", ("week from", *AMOUNTS), by_week(days)[-WEEKS_SHOWN:])
    print_table(
        "Dollars per month", ("month", *HEADINGS), [_row(name, totals) for name, totals in sorted(months.items())]
    )
    _print_shares(shares, day)
    if any(totals.lost for totals in days.values()):
        print(LOST)
    _print_lost(lost, write_off)
    if words := savings(sum(saved.values(), Saved())):
        print(f"{day[:7]}: {words}")
    if raised:
        print(raised)
    for reason in paused:
        print(f"stopped: {plain(reason)}")
    print_line(_forecast(day, days, months[day[:7]]), 4)
    return 0


def budget_facts(records: Records, period: str = "") -> list[dict[str, Any]]:
    """Return a day each, the oldest first, in the form of `--json`: of a month or a day (default: of all times)."""
    shares, lost = by_day(records.spending.breakdown(period)), by_day(records.spending.lost_calls(period))
    saved = LedgerSavings(records.db, Pricing(records.settings.agents.prices)).by_day(period)
    return [
        _day(name, totals, shares[name], lost[name], saved.get(name, Saved()))
        for name, totals in sorted(_days_of(records).items())
        if name.startswith(period)
    ]


def _days_of(records: Records) -> dict[str, Totals]:
    """Return each day that cost something, and today."""
    day, caps = records.day(), records.settings.policy.budget.caps
    today = records.spending.totals(day, records.spending.cap_of(day, caps.day))
    return dict(records.spending.by_day()) | {day: today}


def by_day(found: Iterable[T]) -> Mapping[str, Sequence[T]]:
    """Put what is of one day together; there is nothing of any other."""
    days: defaultdict[str, list[T]] = defaultdict(list)
    for one in found:
        days[one.day].append(one)
    return days


def by_week(days: Mapping[str, Totals]) -> list[list[str]]:
    """Add up the days from each Monday on, the oldest week first; a week has no cap of its own."""
    weeks: defaultdict[date, list[Totals]] = defaultdict(list)
    for name, totals in days.items():
        day = date.fromisoformat(name)
        weeks[day - timedelta(days=day.weekday())].append(totals)
    return [
        [monday.isoformat(), *(short(sum(getattr(totals, amount) for totals in found)) for amount in AMOUNTS)]
        for monday, found in sorted(weeks.items())
    ]


def _day(day: str, totals: Totals, shares: Sequence[Share], lost: Sequence[LostCall], saved: Saved) -> dict[str, Any]:
    """Return a day in the form of `--json`. Work for no single task stands under the empty name."""
    groups = {f"by_{by}": _for_scripts(summed(shares, by)) for by in GROUPS}
    amounts = {name: as_dollars(amount) for name, amount in vars(saved).items()}
    return {"day": day, **money(totals), **groups, "lost_calls": list(map(_lost, lost)), "savings": amounts}


def _lost(call: LostCall) -> dict[str, Any]:
    estimate = None if call.estimate is None else as_dollars(call.estimate)
    return vars(call) | {"amount": as_dollars(call.amount), "estimate": estimate}


def _for_scripts(groups: Mapping[str, Share]) -> dict[str, dict[str, Any]]:
    return {
        name: {"calls": share.calls, **{amount: as_dollars(getattr(share, amount)) for amount in AMOUNTS}}
        for name, share in groups.items()
    }


def summed(shares: Iterable[Share], by: str) -> dict[str, Share]:
    """Add up one share per agent, task or model, the dearest first."""
    groups: defaultdict[str, list[Share]] = defaultdict(list)
    for share in shares:
        groups[getattr(share, by)].append(share)
    found = {name: _added(same) for name, same in groups.items()}
    return dict(sorted(found.items(), key=lambda item: (-_used(item[1]), item[0])))


def _added(shares: Sequence[Share]) -> Share:
    one, sums = shares[0], map(sum, zip(*map(SUMS, shares), strict=True))
    return Share(one.day, one.agent, one.task, one.model, *sums)


def _used(share: Share) -> int:
    return share.spent + share.reserved + share.lost


# --- for people ----------------------------------------------------------------------------------------------


def _row(name: str, totals: Totals) -> list[str]:
    return [name, *(short(getattr(totals, heading)) for heading in HEADINGS)]


def _print_shares(month: Sequence[Share], day: str) -> None:
    """Print the shares by agent, task and model, the dearest of the month first."""
    if not month:
        return
    today = [share for share in month if share.day == day]
    sections = [_section(summed(month, by), summed(today, by)) for by in GROUPS]
    print_table("Dollars by agent, task and model", ("", "calls", "lost", "today", "this month"), *sections)


def _section(month: Mapping[str, Share], today: Mapping[str, Share]) -> list[list[str]]:
    rows = [
        [name or "no single task", str(share.calls), short(share.lost), _taken(today.get(name)), _taken(share)]
        for name, share in month.items()
    ]
    more = len(rows) - MOST_SHOWN
    return rows if more <= 0 else [*rows[:MOST_SHOWN], [f"… and {more} more", "", "", "", ""]]


def _taken(share: Share | None) -> str:
    return short(_used(share)) if share else "-"


def _print_lost(calls: Sequence[LostCall], write_off: str) -> None:
    """Print the lost calls of this month, and how the owner corrects one that the vendor did not bill."""
    if not calls:
        return
    rows = [
        [str(call.number), call.at[:16].replace("T", " "), call.agent, call.task, short(call.amount), call.written_off]
        for call in calls
    ]
    print_table("Calls of this month that were lost", LOST_HEADINGS, rows[:MOST_SHOWN])
    more = f"… and {len(rows) - MOST_SHOWN} more; " if len(rows) > MOST_SHOWN else ""
    print(f"{more}one that is not on the vendor's bill: {write_off}")


def _raised(day: str, cap: int, policy: int, why: str) -> str:
    because = f": {plain(why)}" if why else ""
    return f"{day} may cost ${cents(cap)} instead of ${cents(policy)}, by your word{because}" if cap > policy else ""


def _forecast(today: str, days: Mapping[str, Totals], month: Totals) -> str:
    so_far = f"this month: ${cents(month.used)} of ${cents(month.cap)}"
    found = forecast(today, {day: totals.used for day, totals in days.items()})
    if found is None:
        return so_far
    pace = f"at the pace of the last {_days(found.days)} with work (${cents(found.pace)} a day)"
    end = f"${cents(found.end_of_month)}, if work is done on each of the {_days(found.left)} left"
    over = "; the cap will stop it before" if found.end_of_month > month.cap else ""
    return f"{so_far}; {pace} it ends at {end}{over}" if found.left else so_far


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"


# --- the end of the month ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forecast:
    """Forecast in nano-dollars: `days` with work make the pace; `left` days of the month come after today."""

    days: int
    pace: int
    left: int
    end_of_month: int


def forecast(today: str, used: Mapping[str, int]) -> Forecast | None:
    """Forecast from what was `used` by day. Today makes the pace only without another day; None: no day had work."""
    past = sorted(day for day, amount in used.items() if amount and day < today)[-MOST_DAYS:]
    with_work = past or [day for day in (today,) if used.get(day)]
    if not with_work:
        return None
    pace = sum(used[day] for day in with_work) // len(with_work)
    at = date.fromisoformat(today)
    left = calendar.monthrange(at.year, at.month)[1] - at.day
    so_far = sum(amount for day, amount in used.items() if day[:7] == today[:7])
    return Forecast(len(with_work), pace, left, so_far + pace * left)
