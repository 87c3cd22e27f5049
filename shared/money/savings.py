"""Savings: what prompt caching and cheap first tries save, and whether they pay. Amounts are nano-dollars.

For readers, where the money book and the journal meet; nothing here writes. What came of a try stands in the journal,
what it cost in the book. A price that nobody knows any more saves nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from sqlite3 import Row
from typing import Literal

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.model.work import Difficulty, ModelChoice
from sisimpur.shared.money.ledger_rows import as_usage
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Rates, TokenUsage, cost
from sisimpur.shared.store.database import Database

KEPT = timedelta(minutes=5)  # since its last use
ENOUGH = 8  # calls that say something
ENOUGH_ANSWERS = 5  # of an agent, that say how long the next one may be: among few there may be no long one
BYTES_PER_TOKEN = 4  # of plain text: a guess, on the side of fewer tokens
LEAST, LEAST_OF_SMALL = 1_024, 4_096  # tokens: a shorter beginning is not kept, and no error says so


@dataclass(frozen=True)
class Saved:
    """Savings in nano-dollars; a loss is negative."""

    caching: int = 0
    routing: int = 0

    def __add__(self, other: Saved) -> Saved:
        return Saved(self.caching + other.caching, self.routing + other.routing)


def pays(rates: Rates, calls: int, again: int) -> bool:
    """Tell whether marks pay where, of so many calls, so many begin as one did within five minutes before.

    These read what the others have written. A model whose price for reading is not lower never pays.
    """
    return again * (rates.input - rates.read) > (calls - again) * (rates.write_5m - rates.input)


def cached(rates: Rates, usage: TokenUsage) -> int:
    """Saving of a call beside one without marks; negative: loss. `rates` are those for a prompt of this size."""
    surcharge = usage.write_5m * (rates.write_5m - rates.input) + usage.write_1h * (rates.write_1h - rates.input)
    return usage.read * (rates.input - rates.read) - surcharge


def is_long_enough(model: str, size: int) -> bool:
    """Tell whether a beginning of so many bytes is kept by this model: it is about so many tokens as it needs."""
    return size // BYTES_PER_TOKEN >= (LEAST_OF_SMALL if "haiku" in model else LEAST)


# --- read from the book ---------------------------------------------------------------------------------------

MOST_CALLS, RECENT = 50, 5_000  # the newest, that tell how a run goes; and of how many calls of all agents
LARGEST = 1_000_000  # tokens of a prompt
NOT_TAKEN = ("meter_upstream_refused", "meter_model_gone")

# A first try is good once its change is merged and no other run of the coder was needed; it has come to nothing once
# it is sent back, or failed, or what was merged of it is rolled back. Until then nobody knows (good is null).
# `day`: of its last call.
FIRST_TRIES = """
    with first as (
        select id, task, attempt, beside, json_extract(models, '$[0]') as model,
            (select min(id) from tickets n where n.task = t.task and n.agent = 'coder' and n.id > t.id) as next
        from tickets t where beside <> '' {among}
    ), known as (
        select first.*, a.outcome,
            (select min(opened_at) from tickets where id = next) as until,
            (select min(at) from task_events where task = first.task and +event = ?1 and done) as merged_at,
            (select min(at) from task_events where task = first.task and +event = ?2) as sick_at
        from first join attempts a on a.task = first.task and a.number = first.attempt
    )
    select *, case
        when outcome in ('failed', 'sent back') then 0
        when merged_at is null or julianday(until) < julianday(merged_at) then null
        when sick_at is not null and (until is null or julianday(sick_at) <= julianday(until)) then 0
        else 1 end as good,
        (select max(day) from calls where ticket = known.id and state <> 'refused') as day,
        (select coalesce(sum(amount), 0) from calls where task = known.task and agent = 'reviewer'
            and ticket > known.id and (next is null or ticket < next) and state <> 'refused') as checks
    from known where good is not null"""
OF_PERIOD = "and task in (select task from call_sums where day between ?3 and ?3 || '~' and task <> '')"
# Calls of tickets, those of a day as one; each by itself if the price of the ticket depends on the size of its prompt.
CALLS = """
    select ticket, day, state = 'settled' as settled, sum(amount) as amount, sum(input) as input,
        sum(write_5m) as write_5m, sum(write_1h) as write_1h, sum(read) as read, sum(output) as output
    from calls where ticket in (select value from json_each(?)) and state <> 'refused'
    group by ticket, day, settled, iif(ticket in (select value from json_each(?)), id, 0)"""


class LedgerSavings:
    """Savings of routing and caching. `db` is the database of the home."""

    def __init__(self, db: Database, pricing: Pricing) -> None:
        self._db = db
        self._pricing = pricing

    # --- routing

    def tries(self, task: str, before: int) -> int:
        """Tries of the coder at a task before this attempt. What was cut off, or had no money, was no try."""
        row = self._db.row(
            "select count(*) as tries from attempts where task = ? and number < ?"
            " and outcome in ('ok', 'failed', 'sent back', 'stale')",
            (task, before),
        )
        return row["tries"] if row else 0

    def refused(self, model: str, day: str) -> bool:
        """Tell whether the vendor did not take, or does not know, what was asked of this model last, on that day."""
        row = self._db.row("select day, code from calls where model = ? order by id desc limit 1", (model,))
        return row is not None and row["day"] == day and row["code"] in NOT_TAKEN

    def record(self, cheap: str, dear: str) -> tuple[FirstTry, ...]:
        """First tries at easy tasks with these models, as far as it is known what came of them. The newest first."""
        which = f"beside = ?3 and model = ?4 order by id desc limit {NEWEST}"
        return tuple(one for model in (cheap, dear) for _, one in self._tries(which, dear, model))

    def _tries(self, which: str, *values: str, among: str = "") -> list[tuple[Row, FirstTry]]:
        sql = f"{FIRST_TRIES.format(among=among)} and {which}"
        rows = self._db.rows(sql, (Event.MERGED.value, Event.SICK.value, *values))
        by_size = [row["id"] for row in rows if not self._is_one_price(row["beside"], row["day"])]
        calls: dict[int, list[Row]] = {row["id"]: [] for row in rows}
        for call in self._db.rows(CALLS, (json.dumps(list(calls)), json.dumps(by_size))) if calls else ():
            calls[call["ticket"]].append(call)
        return [(row, self._try(row, calls[row["id"]])) for row in rows]

    def _try(self, row: Row, calls: Sequence[Row]) -> FirstTry:
        lane: Lane = "cheap" if row["model"] != row["beside"] else "dear"
        worth = sum(self._worth(call, row["beside"]) for call in calls)
        return FirstTry(lane, bool(row["good"]), sum(call["amount"] for call in calls), row["checks"], worth)

    def _worth(self, call: Row, model: str) -> int:
        """The same tokens at that model's prices."""
        rates = self._rates(model, call["day"], as_usage(call).prompt)
        return cost(rates, as_usage(call)) if rates and call["settled"] else int(call["amount"])

    # --- caching

    def begun_again(self, agent: str, model: str) -> tuple[int, int]:
        """Count an agent's newest calls of a model, and those within five minutes after one on the same task."""
        return self._calls(
            """with found as (
                select id, at, lag(at) over (partition by task order by id) as other from recent where model = ?
            ) select * from found order by id desc""",
            agent,
            model,
        )

    def gone_on(self, agent: str, nth: int) -> tuple[int, int]:
        """Count an agent's newest runs that came to an n-th call, and those that made another soon after it."""
        return self._calls(
            """with found as (
                select id, at, lead(at) over (partition by run order by id) as other,
                    row_number() over (partition by run order by id) as nth
                from recent
            ) select * from found where nth = ? order by id desc""",
            agent,
            nth,
        )

    def _calls(self, which: str, agent: str, *values: int | str) -> tuple[int, int]:
        row = self._db.row(
            f"""with recent as (
                select c.id, c.at, c.task, c.model, t.run from calls c join tickets t on t.id = c.ticket
                where c.agent = ? and +c.state = 'settled' and c.model not like 'search/%'
                    and c.id > (select max(id) from calls) - {RECENT}
            ), newest as ({which} limit {MOST_CALLS})
            select count(*) as calls,
                coalesce(sum(round(abs(julianday(other) - julianday(at)) * 86400, 1) <= ?), 0) as again
            from newest""",  # noqa: S608
            (agent, *values, KEPT.total_seconds()),
        )
        return (row["calls"], row["again"]) if row else (0, 0)

    # --- room for an answer

    def longest(self, agent: str, model: str) -> int:
        """Return the tokens of the longest of an agent's newest answers by a model; 0: there are too few.

        One that was cut counts with the room that it had: what comes after it gets more.
        """
        row = self._db.row(
            f"""select iif(count(*) < {ENOUGH_ANSWERS}, 0, max(output)) as longest from (select output from calls
                where agent = ? and +model = ? and +state = 'settled'
                    and id > (select max(id) from calls) - {RECENT} order by id desc limit {MOST_CALLS})""",  # noqa: S608
            (agent, model),
        )
        return row["longest"] if row else 0

    # --- for the owner

    def by_day(self, period: str = "") -> dict[str, Saved]:
        """Return what was saved on each day of a day, a month (default: of all times).

        A try counts on the day of its last call, once it is known what came of it.
        """
        found: dict[str, Saved] = {}
        for day, amount in (*self._by_caching(period), *self._by_routing(period)):
            found[day] = found.get(day, Saved()) + amount
        return found

    def total(self, period: str) -> Saved:
        return sum(self.by_day(period).values(), Saved())

    def _by_caching(self, period: str) -> Iterable[tuple[str, Saved]]:
        sums = self._db.rows(
            "select day, model, sum(read) as read, sum(write_5m) as write_5m, sum(write_1h) as write_1h from call_sums"
            " where read + write_5m + write_1h > 0 and day between ? and ? || '~' group by day, model",
            (period, period),
        )
        for one in sums:
            for usage in self._marked(one):
                if rates := self._rates(one["model"], one["day"], usage.prompt):
                    yield one["day"], Saved(caching=cached(rates, usage))

    def _marked(self, sums: Row) -> Iterable[TokenUsage]:
        """A day's calls of a model as one; each by itself only where the price depends on the size of its prompt."""
        if self._is_one_price(sums["model"], sums["day"]):
            return [TokenUsage(write_5m=sums["write_5m"], write_1h=sums["write_1h"], read=sums["read"])]
        rows = self._db.rows(
            "select * from calls where read + write_5m + write_1h > 0 and state = 'settled' and day = ? and model = ?",
            (sums["day"], sums["model"]),
        )
        return map(as_usage, rows)

    def _by_routing(self, period: str) -> Iterable[tuple[str, Saved]]:
        most = cache(lambda cheap, dear: usual(self.record(cheap, dear)))
        which = "model <> beside and day between ?3 and ?3 || '~'"
        for row, one in self._tries(which, period, among=OF_PERIOD if period else ""):
            yield row["day"], Saved(routing=saved(one, most(row["model"], row["beside"])))

    def _is_one_price(self, model: str, day: str | None) -> bool:
        """Tell whether a token cost the same on that day in a prompt of any size. No day: nothing was paid."""
        return not day or self._rates(model, day, 1) == self._rates(model, day, LARGEST)

    def _rates(self, model: str, day: str, prompt: int) -> Rates | None:
        """Prices of that day for a prompt of so many tokens; None: unknown by now."""
        try:
            return self._pricing.rates(model, prompt, datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC))
        except Misconfigured:
            return None


# --- cheap first tries ---------------------------------------------------------------------------------------
# The cheap model tries an easy task first while it pays, by what earlier tries cost. Pure.

ENOUGH_TRIES = 8  # first tries that say something
NEWEST = 50  # that count, of each model
ONE_IN = 10  # easy tasks, while the cheap model rests

Lane = Literal["cheap", "dear"]


@dataclass(frozen=True)
class Route:
    """The way one run of the coder asks its model.

    `beside`: the model that a first try at an easy task is measured by; else empty. `marks`: its prompt is to be kept.
    """

    model: ModelChoice
    beside: str = ""
    marks: bool = False


@dataclass(frozen=True)
class FirstTry:
    """The first try at an easy task, once it is known what came of it.

    `good`: it was merged, and stayed. `cost`: the coder's calls; `checks`: the reviewer's after it. `worth`: what the
    coder's tokens cost at the dear model's prices.
    """

    lane: Lane
    good: bool
    cost: int
    checks: int
    worth: int


def choose(difficulty: Difficulty, tries: int, record: Sequence[FirstTry], number: int) -> Lane:
    """Choose the model. `tries` so far, whatever came of them; `record`: the newest first; `number`: `number_of` it."""
    if difficulty is not Difficulty.EASY or tries:
        return "dear"
    if len(_newest(record, "cheap")) < ENOUGH_TRIES or balance(record) > 0:
        return "cheap"
    return "dear" if number % ONE_IN else "cheap"


def balance(record: Sequence[FirstTry]) -> int:
    """Savings of the cheap model, less what its failures cost on top of the dear tries that followed them."""
    most = usual(record)
    return sum(saved(one, most) for one in _newest(record, "cheap"))


def saved(one: FirstTry, most: int | None) -> int:
    """Saving of a try with the cheap model; negative: lost. `most`: what a try with the dear one is known to cost.

    A model that needs more words for the same work has not saved what those words would have cost elsewhere.
    """
    if not one.good:
        return -(one.cost + one.checks)
    return (one.worth if most is None else min(one.worth, most)) - one.cost


def number_of(task: str) -> int:
    """A number of the task that stays the same, also after a crash."""
    return int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big")


def usual(record: Sequence[FirstTry]) -> int | None:
    """Return what a first try with the dear model costs on average; None: too few are known."""
    dear = _newest(record, "dear")
    return sum(one.cost for one in dear) // len(dear) if len(dear) >= ENOUGH_TRIES else None


def _newest(record: Sequence[FirstTry], lane: Lane) -> Sequence[FirstTry]:
    return [one for one in record if one.lane == lane][:NEWEST]
