"""Recompute every figure of a day's report from the books alone. It shares no code with the product.

`python -I recount.py HOME DAY`: each line of the page that the evening of that day has written whose figures the books
do not bear out, or that no rule here knows; 1 if there is one. The books name and do not hold what a token cost
(`price_version` of a call): the price library is asked. What the owner has written into the files of tasks, and where
he has put them, is not known here.
"""

import hashlib
import json
import math
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
OPEN, OVER = ("backlog", "in_progress", "in_review"), ("completed", "failed", "gone")
COLUMNS = {
    "backlog": "To do",
    "in_progress": "In progress",
    "in_review": "At the gates",
    "completed": "Done",
    "failed": "Failed",
}
SICK = "rolled back after its deployment"
ENDS = {"merged", "attempts used up", "cancelled by the owner"}
REOPENS = {SICK, "retried by the owner", "taken back by the owner"}
FATES = {
    "merged": "merged",
    "attempts used up": "failed",
    "given back to the planner": "given back to the planner",
    "done by the owner": "done by you",
    "cancelled by the owner": "cancelled by you",
    "goal removed from VISION.md": "dropped",
    "file deleted by the owner": "deleted by you",
}
LANDING, PROPOSED = re.compile(r"[0-9]{8}-l[1-9][0-9]*"), re.compile(r"[0-9]{8}-u[1-9][0-9]*")


@dataclass
class Task:
    """One as the books had it when the report was written."""

    id: str
    goal: tuple[str, str]
    branch: str
    events: Sequence[Row]
    attempts: Sequence[Row]
    waits_for: frozenset[str] = frozenset()
    asks: bool = False
    cost: int = 0
    cost_of_day: int = 0
    tokens: int = 0
    minutes: float = 0.0
    day: str = ""
    checks: Sequence[Any] = ()
    effect: str = ""
    is_stuck: bool = False
    now: str = ""  # where it stands; its last event of the day may have brought it elsewhere

    @property
    def state(self) -> str:
        return self.now or str(self.events[-1]["to_state"])

    @property
    def ended(self) -> str:
        last = self.events[-1]
        return str(last["event"]) if self.state == last["to_state"] and self.state in OVER else ""

    @property
    def is_of_the_day(self) -> bool:
        return str(self.events[-1]["at"])[:10] == self.day

    @property
    def is_merged(self) -> bool:
        return self.ended == "merged" and self.is_of_the_day

    def brought(self, commit: str) -> bool:
        """Tell whether it was merged as this commit, on this day or before."""
        notes = (re.match(r"merged as ([0-9a-f]{7,})", event["note"]) for event in self.events)
        return any(note and commit.startswith(note[1]) for note in notes)

    @property
    def has_failed(self) -> bool:
        return self.ended == "attempts used up"

    @property
    def column(self) -> str:
        return "Dropped" if self.state == "failed" and not self.has_failed else COLUMNS.get(self.state, "")

    @property
    def is_told(self) -> bool:
        return self.state in OPEN or self.is_of_the_day or self.has_failed

    @property
    def fate(self) -> str:
        word = FATES.get(self.ended) or COLUMNS.get(self.state, "gone").lower()
        return "waits for you" if self.asks or self.is_stuck else word


@dataclass
class Book:
    """What was booked until the report was written."""

    path: str
    day: str
    is_older: bool = False  # its page cut its sums, and told neither the week's money, nor the month, nor effects
    is_brief: bool = False  # a message: it tells cents, and no cost twice
    is_of_now: bool = False  # it tells of a day before, as the books are now
    told_what_is_left: bool = False  # an older one that told what was left, not what was spent, and "Failed" of all
    tasks: dict[str, Task] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows("select * from tasks order by rowid"):
            task = self._task(row)
            if task.events:
                self.tasks[task.id] = task
        self._look_who_is_stuck()

    def dollars(self, nano: float) -> str:
        """An older page cut what it said, where one of today rounds."""
        return cents(nano) if self.is_brief else dollars(nano, self.is_older)

    def rows(self, sql: str, *values: object) -> list[Row]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(sql, values)]

    @cached_property
    def until(self) -> datetime:
        """Of the newest day everything counts: whoever wrote into the books may have had another clock."""
        if self.is_of_now:
            return datetime.max.replace(tzinfo=UTC)
        evening = "name = 'evening report' and exists (select 1 from phases later where later.day > phases.day)"
        told = self.rows(f"select ended_at from phases where day = ? and {evening}", self.day)
        return moment(told[0]["ended_at"]) if told and told[0]["ended_at"] else datetime.max.replace(tzinfo=UTC)

    def then(self, rows: Iterable[Row], at: str = "at") -> list[Row]:
        return [row for row in rows if row[at] and moment(row[at]) <= self.until]

    def _of_task(self, table: str, at: str) -> Mapping[str, list[Row]]:
        found = defaultdict(list)
        for row in self.then(self.rows(f"select * from {table} order by rowid"), at):
            found[row.get("task") or row["task_id"]].append(row)
        return found

    @cached_property
    def _tables(self) -> Mapping[str, Mapping[str, list[Row]]]:
        begun = {"attempts": "started_at", "agent_runs": "started_at"}
        names = ("task_events", "attempts", "agent_runs", "parked", "rulings", "gate_runs", "waivers")
        return {name: self._of_task(name, begun.get(name, "at")) for name in names}

    def _task(self, row: Row) -> Task:
        of = {name: rows.get(row["id"], []) for name, rows in self._tables.items()}
        events = [event for event in of["task_events"] if event["at"][:10] <= self.day]
        calls = self.calls_of.get(row["id"], [])
        waived = {one["without"] for one in of["waivers"]}
        task = Task(row["id"], (row["goal_id"], row["wording"]), row["branch"], events, of["attempts"], day=self.day)
        task.now = str(of["task_events"][-1]["to_state"]) if self.is_of_now and of["task_events"] else ""
        task.waits_for = frozenset(self._needs.get(row["id"], ())) - waived
        task.cost = sum(call["amount"] for call in calls)
        task.cost_of_day = sum(call["amount"] for call in calls if call["day"] == self.day)
        task.tokens = sum(map(tokens, calls))
        task.minutes = minutes(of["attempts"], self.then(of["agent_runs"], "ended_at"))
        task.checks = [json.loads(one["answer_json"]) for one in of["gate_runs"] if checked(one)]
        task.effect = effect(of["gate_runs"])
        task.asks = bool(events) and task.state == "in_review" and self._asks(of)
        return task

    def _asks(self, of: Mapping[str, Sequence[Row]]) -> bool:
        """What was put before the owner last, of the last attempt, and he has not allowed in these words."""
        parked, last = max(of["parked"], key=lambda one: one["at"], default=None), of["attempts"][-1:]
        if parked is None or (last and last[0]["ended_at"] and moment(parked["at"]) < moment(last[0]["ended_at"])):
            return False
        said = [one for one in of["rulings"] if one["subject"] == parked["subject"]]
        if not said or said[-1]["kind"] != "approve":
            return True
        was, now = (dict(json.loads(one["terms"] or "[]")) for one in (said[-1], parked))
        return any(was[name] != now[name] for name in was if name in now)

    @cached_property
    def _needs(self) -> Mapping[str, Sequence[str]]:
        """As tasks were planned; what the owner wrote into a file stands there alone."""
        plans = self.rows("select plan_json from daily_plans where plan_json is not null")
        specs = [spec for plan in plans for spec in json.loads(plan["plan_json"])["tasks"]]
        specs += [json.loads(row["task_json"]) for row in self.rows("select task_json from upkeep_proposals")]
        return {spec["id"]: spec["depends_on"] for spec in specs}

    def _look_who_is_stuck(self) -> None:
        states = {task.id: task.state for task in self.tasks.values()}
        for task in self.tasks.values():
            lost = any(states.get(other, "gone") in ("failed", "gone") for other in task.waits_for)
            task.is_stuck = task.state == "backlog" and lost

    # -- money ------------------------------------------------------------------------------------------------

    @cached_property
    def calls(self) -> list[Row]:
        """What the owner has lowered since counts as it was."""
        found = self.then(self.rows("select * from calls order by id"))
        later = self.rows("select call, at, booked from write_offs order by id desc")
        was = {row["call"]: row["booked"] for row in later if moment(row["at"]) > self.until}
        return [{**call, "amount": was.get(call["id"], call["amount"])} for call in found if call["state"] != "refused"]

    @cached_property
    def calls_of(self) -> Mapping[str, list[Row]]:
        found = defaultdict(list)
        for call in self.calls:
            found[call["task"]].append(call)
        return found

    def spent(self, period: str, *states: str) -> int:
        theirs = (call for call in self.calls if call["day"].startswith(period))
        return sum(call["amount"] for call in theirs if call["state"] in (states or ("settled", "open", "lost")))

    def cap(self, of: str) -> int:
        """As the evening has kept it; else in force at the day's last call, or as the owner has raised it since."""
        kept = self.rows("select day_cap as day, month_cap as month from metric_days where day = ?", self.day)
        if kept and kept[0][of] is not None:
            return int(kept[0][of])
        known = [call[f"{of}_cap"] for call in self.calls if call["day"] == self.day]
        raised = self.then(self.rows("select * from cap_raises where day = ?", self.day)) if of == "day" else []
        return max([*known[-1:], *(row["amount"] for row in raised)], default=0)

    # -- goals ------------------------------------------------------------------------------------------------

    @cached_property
    def vision(self) -> Any:
        last = "9999" if self.is_of_now else self.day
        found = self.rows("select vision_json from visions where day <= ? order by id desc limit 1", last)
        return json.loads(found[0]["vision_json"]) if found else {"goals": [], "notes": [], "unread": []}

    @cached_property
    def wordings(self) -> Mapping[str, str]:
        notes = (*self.vision["notes"], *self.vision["unread"])
        said = {goal["id"]: "\0".join((goal["title"], *goal["details"])) for goal in self.vision["goals"]}
        return {id_: digest(words)[:16] for id_, words in said.items()} | {
            f"n-{digest(note['text'])[:6]}": "" for note in notes
        }

    def of_goal(self, goal: Row) -> list[Task]:
        now = (goal["id"], self.wordings[goal["id"]])
        return [task for task in self.tasks.values() if task.goal == now]

    @property
    def told(self) -> list[Task]:
        theirs = [task.id for goal in self.vision["goals"] for task in self.of_goal(goal)]
        return [task for task in self.tasks.values() if task.is_told or task.id in theirs]

    def is_growing(self, task: Task) -> bool:
        """Its change lies on the branch of its goal."""
        theirs = [one for one in self.tasks.values() if task.branch and one.branch == task.branch]
        landed = any(LANDING.fullmatch(one.id) and one.state == "completed" for one in theirs)
        return bool(task.branch) and not LANDING.fullmatch(task.id) and not landed

    @property
    def questions(self) -> int:
        answered = {(row["goal_id"], row["wording"], row["question"]) for row in self.then(self.rows(ANSWERS))}
        done = {row["goal"]: row["wording"] for row in self.rows("select * from roadmap_pins where place = 'done'")}
        asked = [row for row in self.rows("select * from questions") if self.is_of_now or row["day"] <= self.day]
        return sum(
            row["wording"] == self.wordings.get(row["goal_id"])
            and (row["goal_id"], row["wording"], row["text"]) not in answered
            and done.get(row["goal_id"]) != row["wording"]
            for row in asked
        )

    @property
    def waiting(self) -> int:
        return sum(task.asks + task.has_failed + task.is_stuck for task in self.told) + self.questions

    @cached_property
    def deploys(self) -> list[Row]:
        """Begun or ended on the day, or under way; what has ended since was under way."""
        found: list[Row] = []
        for row in self.then(self.rows("select * from deploys order by number"), "begun_at"):
            is_over = bool(row["ended_at"]) and moment(row["ended_at"]) <= self.until
            days = {row["begun_at"][:10], row["ended_at"][:10] if is_over else self.day}
            if self.day in days:
                found.append({**row, "stage": row["stage"] if is_over else "under way"})
        return found

    def deployed(self, stage: str) -> int:
        return sum(row["stage"] == stage for row in self.deploys)

    @property
    def failures(self) -> int:
        return sum(task.has_failed and task.is_of_the_day for task in self.told)

    @property
    def needing_nobody(self) -> list[Task]:
        return [task for task in self.told if task.state in OPEN and not (task.asks or task.is_stuck)]

    @property
    def going_on(self) -> list[Task]:
        """Without those that wait for one that only the owner can free."""
        held = {task.id for task in self.tasks.values() if task.is_stuck}
        for _ in self.tasks:
            held |= {task.id for task in self.tasks.values() if task.state == "backlog" and task.waits_for & held}
        return [task for task in self.needing_nobody if task.id not in held]

    @property
    def troubles(self) -> int:
        return len(self.rows("select name from phases where day = ? and problem <> ''", self.day))

    @property
    def before(self) -> str:
        """The last day on which anything was begun; empty: there was none."""
        return str(self.rows("select coalesce(max(day), '') as day from phases where day < ?", self.day)[0]["day"])

    @property
    def missed(self) -> list[str]:
        """The days since then."""
        first, last = (date.fromisoformat(day) for day in (self.before or self.day, self.day))
        return [(first + timedelta(days=number)).isoformat() for number in range(1, (last - first).days)]

    @property
    def is_cut_off(self) -> bool:
        """It has come to no evening."""
        evening = "select name from phases where day = ? and name in ('wrap_up', 'evening report') and ended_at <> ''"
        return self.is_of_now and not self.rows(evening, self.day)


ANSWERS = "select * from answers"


# --- small sums ------------------------------------------------------------------------------------------------


def moment(at: str) -> datetime:
    found = datetime.fromisoformat(at)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tokens(call: Row) -> int:
    return sum(call[kind] for kind in ("input", "write_5m", "write_1h", "read", "output"))


def checked(look: Row) -> bool:
    return look["kind"] == "check" and bool(look["answer_json"])


def effect(looks: Sequence[Row]) -> str:
    """What the review said of the commit that was tested last."""
    tested = [one["commit_id"] for one in looks if checked(one)][-1:]
    read = [one for one in looks if one["kind"] == "review" and one["answer_json"] and [one["commit_id"]] == tested]
    return str(json.loads(read[-1]["answer_json"]).get("effect", "")) if read else ""


def minutes(attempts: Sequence[Row], runs: Iterable[Row]) -> float:
    """Of all runs since the owner last gave the attempts back; one that was cut off ended when nobody knows."""
    newest = max((one["round"] for one in attempts), default=0)
    since = min((moment(one["started_at"]) for one in attempts if one["round"] == newest), default=None)
    theirs = [run for run in runs if since and moment(run["started_at"]) >= since]
    whole = (run for run in theirs if not (run["result"] or "cut off").startswith("cut off"))
    return sum((moment(run["ended_at"]) - moment(run["started_at"])).total_seconds() for run in whole) / 60


def dollars(nano: float, is_cut: bool) -> str:
    places = 4 if 0 < nano < 10**8 else 2
    step = 10 ** (9 - places)
    whole, decimals = divmod((round(nano) + (0 if is_cut else step // 2)) // step, 10**places)
    return f"${whole}.{decimals:0{places}d}"


def cents(nano: float) -> str:
    whole = (abs(round(nano)) + 5 * 10**6) // 10**7
    return "under $0.01" if nano and not whole else f"{'-' * (nano < 0)}${whole // 100}.{whole % 100:02d}"


def many(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or f'{one}s'}"


# --- what tokens cost, and what was saved ----------------------------------------------------------------------


def prices(version: str, model: str, day: str, prompt: int) -> tuple[int, ...]:
    """Nano-dollars for a token that is read anew, kept for five minutes, for an hour, read again, and written."""
    if own := re.fullmatch(r"owner (\d+)/(\d+)", version):
        into, out = (-(-int(price) // 10**6) for price in own.groups())
        return into, into, into, into, out
    return tuple(max(pair) for pair in zip(*(_asked(model, day, size) for size in (1, max(prompt, 1))), strict=True))


def _asked(model: str, day: str, size: int) -> tuple[int, ...]:
    from genai_prices import Usage, calc_price

    kinds: tuple[dict[str, int], ...] = (
        {},
        {"cache_write_tokens": size},
        {"cache_write_tokens": size, "cache_write_1h_tokens": size},
        {"cache_read_tokens": size},
    )
    noon = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC)
    usages = [Usage(input_tokens=size, output_tokens=size, **kind) for kind in kinds]
    found = [calc_price(one, model, provider_id="anthropic", genai_request_timestamp=noon) for one in usages]
    amounts = (*(one.input_price for one in found), found[0].output_price)
    return tuple(math.ceil(amount * 10**9 / size) for amount in amounts)


KINDS = ("input", "write_5m", "write_1h", "read", "output")


def worth(call: Row, model: str, version: str) -> int:
    """The same tokens at that model's prices."""
    prompt = sum(call[kind] for kind in KINDS[:-1])
    rates = prices(version, model, call["day"], prompt)
    return sum(call[kind] * rate for kind, rate in zip(KINDS, rates, strict=True))


def saved_by_caching(book: Book) -> int:
    theirs = [one for one in book.calls if one["day"][:7] == book.day[:7] and one["state"] == "settled"]
    marked = [one for one in theirs if one["read"] + one["write_5m"] + one["write_1h"]]
    plain = [{**one, "input": sum(one[kind] for kind in KINDS[:-1]), **dict.fromkeys(KINDS[1:-1], 0)} for one in marked]
    both = ((worth(one, one["model"], one["price_version"]) for one in some) for some in (plain, marked))
    without, with_marks = map(sum, both)
    return int(without - with_marks)


@dataclass(frozen=True)
class FirstTry:
    """The first try at an easy task, once it is known what came of it. `lane`: its model, and the one it stands for."""

    lane: tuple[str, str]
    ticket: int
    day: str
    is_good: bool
    cost: int
    checks: int
    worth: int


def saved_by_routing(book: Book) -> int:
    tries = sorted(first_tries(book), key=lambda one: -one.ticket)
    total = 0
    for one in tries:
        model, dear = one.lane
        if model != dear and one.day[:7] == book.day[:7]:
            usual = [other.cost for other in tries if other.lane == (dear, dear)][:50]
            most = min(one.worth, sum(usual) // len(usual)) if len(usual) >= 8 else one.worth
            total += most - one.cost if one.is_good else -(one.cost + one.checks)
    return total


def first_tries(book: Book) -> Iterator[FirstTry]:
    by_ticket = defaultdict(list)
    for call in book.calls:
        by_ticket[call["ticket"]].append(call)
    tickets = book.then(book.rows("select * from tickets order by id"), "opened_at")
    for row in (row for row in tickets if row["beside"]):
        task, calls = book.tasks.get(row["task"]), by_ticket[row["id"]]
        others = (one for one in tickets if (one["task"], one["agent"]) == (row["task"], "coder"))
        later = [one for one in others if one["id"] > row["id"]]
        good = _came_well(task, row["attempt"], later[0]["opened_at"] if later else "") if task else None
        if good is not None and task is not None:
            until = later[0]["id"] if later else float("inf")
            theirs = (call for call in book.calls_of[task.id] if row["id"] < call["ticket"] < until)
            checks = sum(call["amount"] for call in theirs if call["agent"] == "reviewer")
            lane = json.loads(row["models"])[0], row["beside"]
            cost, day = sum(call["amount"] for call in calls), max((call["day"] for call in calls), default="")
            yield FirstTry(lane, row["id"], day, good, cost, checks, sum(_at_its_price(one, lane[1]) for one in calls))


def _came_well(task: Task, number: int, next_try: str) -> bool | None:
    outcome = next((one["outcome"] for one in task.attempts if one["number"] == number), None)
    ends = [[event["at"] for event in task.events if event["event"] == what] for what in ("merged", SICK)]
    merged, sick = (moment(min(ats)) if ats else None for ats in ends)
    again = moment(next_try) if next_try else None
    if outcome in ("failed", "sent back"):
        return False
    if merged is None or (again and again < merged):
        return None
    return not (sick and (again is None or sick <= again))


def _at_its_price(call: Row, model: str) -> int:
    version = call["price_version"] if call["price_version"].startswith("genai") else "genai"
    return worth(call, model, version) if call["state"] == "settled" else int(call["amount"])


# --- lines of the report ---------------------------------------------------------------------------------------

Wrong = Iterator[str]


def same(line: str, expected: str) -> Wrong:
    if line != expected:
        yield f"{line!r}: by the books {expected!r}"


def pairs(lines: Sequence[str], expected: Sequence[str]) -> Wrong:
    for number in range(max(len(lines), len(expected))):
        yield from same("".join(lines[number : number + 1]), "".join(expected[number : number + 1]))


def headline(book: Book) -> str:
    merged = [task for task in book.told if task.is_merged]
    growing = sum(map(book.is_growing, merged))
    failed = book.failures
    counts = (
        (book.deployed("stuck"), "a deploy needs you"),
        (len(merged) - growing, f"{len(merged) - growing} merged"),
        (growing, f"{growing} merged into a goal's own branch"),
        (book.deployed("healthy"), many(book.deployed("healthy"), "deploy")),
        (book.deployed("rolled back"), f"{book.deployed('rolled back')} rolled back"),
        (failed, f"{failed} failed"),
        (book.waiting, f"{many(book.waiting, 'thing')} wait{'s' * (book.waiting == 1)} for you"),
        (book.troubles, f"{many(book.troubles, 'phase')} had a problem"),
        (book.is_cut_off, "cut off before its evening"),
    )
    words = [word for count, word in counts if count]
    is_idle = not (book.spent(book.day) or planned(book) or any(task.is_of_the_day for task in book.told))
    words = ["nothing to do", *words] if is_idle and not (book.troubles or book.is_cut_off) else words
    of = f" of {book.dollars(book.cap('day'))}" * bool(book.cap("day"))
    return ", ".join([*(words or ["at work"]), f"{book.dollars(book.spent(book.day))}{of} spent"])


def capless(book: Book, line: str) -> str:
    """Before the day's first call its cap stands in the configuration alone."""
    return line if book.cap("day") else re.sub(r" of \$[\d.]+ spent", " spent", line)


def planned(book: Book) -> bool:
    plans = book.rows("select plan_json from daily_plans where day = ? and plan_json is not null", book.day)
    return any(json.loads(plan["plan_json"])["tasks"] for plan in plans)


GOAL = re.compile(r"\*\*(.*)\*\* \((?:critical|high|medium|low)\): .*")
OTHER = re.compile(r"(proposed by the team|without a goal): \*\*.*\*\* \(`(.*?)`\): (.*?)(?:; cost (.+))?")
BEFORE = re.compile(r"(\d+) goals? (?:was|were) done before this day")
CUT = re.compile(r"and \d+ more")
MORE = re.compile(r"and (\d+) more(?: tasks)?")


def asked(book: Book, lines: Sequence[str]) -> Wrong:
    """Each goal of the vision, and what was done without one; those that were done before are only counted."""
    goals = {letters(goal["title"]): goal for goal in book.vision["goals"]}
    theirs = {task.id for goal in goals.values() for task in book.of_goal(goal)}
    others = [task for task in book.told if task.id not in theirs]
    for line in lines:
        if goal := GOAL.fullmatch(line):
            yield from _goal(book, line, goals[letters(goal[1])])
        elif other := OTHER.fullmatch(line):
            task = book.tasks.get(other[2])
            whose = "proposed by the team" if PROPOSED.fullmatch(other[2]) else "without a goal"
            cost = "None" if task and book.is_brief and task.is_merged else book.dollars(task.cost if task else 0)
            # without a task: a file that nobody can read
            told = f"{task.fate} {cost}" if task else f"{other[3]} {cost}"
            yield from same(f"{other[1]} {other[3]} {other[4]}", f"{whose} {told}")
            others += [] if task else [Task(other[2], ("", ""), "", (), ())]
        elif not (MORE.fullmatch(line) or BEFORE.fullmatch(line)):
            yield f"Asked: nobody knows {line!r}"
    if not is_cut(book, lines):
        yield from counts("Asked", lines, len(goals) + len(others))


def _goal(book: Book, line: str, goal: Row) -> Wrong:
    tasks = book.of_goal(goal)
    fates = Counter(task.fate for task in tasks)
    told = ", ".join(f"{count} {fate}" if len(tasks) > 1 else fate for fate, count in fates.items())
    cost, of_day = sum(task.cost for task in tasks), sum(task.cost_of_day for task in tasks)
    cost *= not (book.is_brief and any(task.is_merged for task in tasks))
    whole = f"; {book.dollars(cost)} so far" * bool(cost)
    part = f", {book.dollars(of_day)} of it on this day" * bool(of_day and not book.is_brief)
    figures = (whole + part, *((whole,) if of_day in (0, cost) else ()))  # an older report told the part in any case
    if not (line.partition("): ")[2].startswith(told) and line.endswith(figures)) or (not cost and "so far" in line):
        yield f"{line!r}: by the books '{told}{figures[-1]}'"


def is_cut(book: Book, lines: Sequence[str]) -> bool:
    """A message has more to say than it has room for: what its lines add up to is not told."""
    return book.is_brief and any(CUT.fullmatch(line) for line in lines)


def counts(heading: str, lines: Sequence[str], expected: int) -> Wrong:
    """As many as there are, those that are only counted among them."""
    numbers = [MORE.fullmatch(line) or BEFORE.fullmatch(line) for line in lines]
    found = sum(int(number[1]) if number else 1 for number in numbers)
    if found != expected:
        yield f"{heading}: {found} are told, the books have {expected}"


def shipped(book: Book, lines: Sequence[str]) -> Wrong:
    for task in (task for task in book.told if task.is_merged):
        (line, *_), marks = [*(line for line in lines if f"(`{task.id}`): " in line), ""], ""
        if not line and is_cut(book, lines):
            continue
        if check := next(iter(task.checks[-1:]), None):
            marks += f", {many(len(check['new_tests']), 'new test')}" * bool(check["new_tests"])
            both = check.get("covered"), check.get("covered_before")
            marks += f", coverage {both[0] - both[1]:+.1f} points" if None not in both else ""
        told = f"{task.events[-1]['note'] or 'merged'}, cost {book.dollars(task.cost)}{marks}"
        yield from same(line.partition(f"(`{task.id}`): ")[2], told)
    yield from counts("Shipped", lines, sum(task.is_merged for task in book.told))


def effects(book: Book, lines: Sequence[str]) -> Wrong:
    """What the reviewer said of the change that was merged, letter by letter; or that nobody did, or there is none."""
    for task in (task for task in book.told if task.is_merged and not book.is_older):
        (line, *_) = [*(line for line in lines if f"(`{task.id}`): " in line), ""]
        said = line.partition(f"(`{task.id}`): ")[2]
        known = {"": "nobody has said what changes for them", "nothing": "nothing that they notice"}
        told = known.get(task.effect, task.effect) + f" (once `{task.branch}` lands)" * book.is_growing(task)
        if letters(said) != letters(told):
            yield f"{line!r}: by the books {told!r}"
    merged = 0 if book.is_older else sum(task.is_merged for task in book.told)
    yield from counts("What changed for your visitors", lines, merged)


def effects_in_short(book: Book, lines: Sequence[str]) -> Wrong:
    """Each that is noticed; the others are only counted."""
    merged = [task for task in book.told if task.is_merged]
    unseen, unsaid = (sum(task.effect == word for task in merged) for word in ("nothing", ""))
    seen = [task for task in merged if task.effect not in ("", "nothing")]
    told = [line for line in lines if not re.match(r"nothing that they notice: |not known for ", line)]
    expected = [f"nothing that they notice: {many(unseen, 'change')}"] * bool(unseen)
    expected += [f"not known for {many(unsaid, 'change')}"] * bool(unsaid)
    if not is_cut(book, lines):
        yield from pairs([line for line in lines if line not in told], expected)
        yield from counts("What changed for your visitors", told, len(seen))


def deployed(book: Book, lines: Sequence[str], before: Sequence[Row] = ()) -> Wrong:
    rows = [*before, *book.deploys]
    found = [line for line in lines if re.match(r"(staging|production) [0-9a-f]{8}\b", line)]
    for line, row in zip(found, rows, strict=False):
        then, ended = row["stage"], row["ended_at"] or ""
        at = ended[11:16] if ended[:10] == book.day else ended[:16].replace("T", " ")
        ends = {"healthy": f": healthy since {at}", "rolled back": f"; rolled back to {row['back_to'][:8]}"}
        told = [f"{row['place']} {row['commit_id'][:8]}", ends.get(then, "")]
        told += [f"taken back by #{row['reverts']}"] if row["reverts"] and then in ("rolled back", "stuck") else []
        told += [f"`{task.id}`" for task in book.tasks.values() if task.brought(row["commit_id"])]
        if not all(words in line for words in told):
            yield f"{line!r}: by the books {told}"
    if not is_cut(book, lines):
        yield from counts("Deployed", found, len(rows))


def learned(book: Book, lines: Sequence[str]) -> Wrong:
    uses = book.rows("select passed from lesson_uses where passed is not null")
    told = f"lessons helped {sum(use['passed'] for use in uses)} of {many(len(uses), 'time')} so far"
    for line in (line for line in lines if line.startswith("lessons helped ")):
        yield from same(line, told)


def money(book: Book, lines: Sequence[str]) -> Wrong:
    used, lost, held = book.spent(book.day), book.spent(book.day, "lost"), book.spent(book.day, "open")
    told = [f"this day {book.dollars(used)} of {book.dollars(book.cap('day'))}"]
    told[0] += f"; {book.dollars(lost)} of it for calls without an answer, at their worst case" * bool(lost)
    told[0] += f"; {book.dollars(held)} of it reserved" * bool(held)
    yield from capped(book, lines)
    yield from pairs([line for line in lines if not CAPPED.match(line)], [*told, *sums(book), *by_the_hour(book)])


def money_in_brief(book: Book, lines: Sequence[str]) -> Wrong:
    """What the first line of a message does not tell."""
    lost, held = book.spent(book.day, "lost"), book.spent(book.day, "open")
    told = [f"{book.dollars(lost)} for calls without an answer, at their worst case"] * bool(lost)
    told += [f"{book.dollars(held)} reserved"] * bool(held)
    yield from capped(book, lines)
    yield from pairs([line for line in lines if not CAPPED.match(line)], [*told, *sums(book)])


CAPPED = re.compile(r"(?:today's cap is|the cap of this day was) reached(?:; (\d+) tasks? waits? for |$|;)")


def capped(book: Book, lines: Sequence[str]) -> Wrong:
    """That a call was refused is the meter's word; what goes on without the owner then waits for money."""
    for found in filter(None, map(CAPPED.match, lines)):
        waiting = len(book.going_on)
        if int(found[1] or 0) != waiting:
            yield f"{found[0]!r}: by the books {many(waiting, 'task')}"


def sums(book: Book) -> Iterator[str]:
    """Of planning, a merged task, the week and the month. A message tells no mean of a single task."""
    day, month = book.day, book.day[:7]
    merged = [task for task in book.told if task.is_merged]
    overhead = book.spent(day) - sum(task.cost_of_day for task in book.told)
    yield from [f"reading the vision, looking things up and planning {book.dollars(overhead)}"] * bool(overhead)
    each = sum(task.cost for task in merged) // max(len(merged), 1)
    is_told = len(merged) > book.is_brief
    yield from [f"per merged task {book.dollars(each)}, over all its attempts"] * is_told
    week = sum(call["amount"] for call in book.calls if monday(call["day"]) == monday(day))
    yield from [] if book.is_older else [f"this week {book.dollars(week)}"]
    yield f"this month {book.dollars(book.spent(month))} of {book.dollars(book.cap('month'))}"
    by = {"prompt caching": saved_by_caching(book), "the cheaper model on easy tasks": saved_by_routing(book)}
    saved = [
        f"{what} {'saved' if nano > 0 else 'cost'} {book.dollars(abs(nano))}{' more than it saved' * (nano < 0)}"
        for what, nano in by.items()
        if nano
    ]
    yield from [f"in this month, {'; '.join(saved)}"] * bool(saved)


def by_the_hour(book: Book) -> Iterator[str]:
    cap, last, used = book.cap("day"), dict[int, int](), Counter[int]()
    for call in (call for call in book.calls if call["day"] == book.day and call["amount"]):
        at = moment(call["at"])
        minute = at.hour * 60 + at.minute if call["at"][:10] == book.day else 0 if call["at"][:10] < book.day else 1439
        last[minute // 60] = max(last.get(minute // 60, 0), minute % 60)
        used[minute // 60] += call["amount"]
    if not (last and cap):
        return
    spent = {hour: min(cap, sum(used[before] for before in range(hour + 1))) for hour in last}
    rows = [("before", 0), *((f"{hour:02d}:{last[hour]:02d}", spent[hour]) for hour in sorted(last))]
    rows = [(when, cap - amount) for when, amount in rows] if book.told_what_is_left else rows
    yield from (f"{'Left' if book.told_what_is_left else 'Spent'} of the day's cap:", "```")
    for when, amount in rows:
        full = amount * 40 // cap
        yield f"{when:<6} {book.dollars(amount):>9} {'#' * full}{'.' * (40 - full)}"
    yield "```"


def board(book: Book, lines: Sequence[str]) -> Wrong:
    is_older = book.told_what_is_left
    column = {id_: COLUMNS.get(one.state, "") if is_older else one.column for id_, one in book.tasks.items()}
    shown = Counter(column[task.id] for task in book.told if task.is_told)
    expected = [f"{heading} ({shown[heading]})" for heading in (*COLUMNS.values(), "Dropped") if shown[heading]]
    yield from pairs([line.partition(":")[0] for line in lines], expected)
    for line in lines:
        named, more = re.findall(r"\(`(.*?)`\)", line), re.search(r", and (\d+) more$", line)
        heading, theirs = line.partition(" (")[0], {task.id for task in book.told if task.is_told}
        wrong = [id_ for id_ in named if id_ not in theirs or column[id_] != heading]
        if wrong or (named and len({*named}) + int(more[1] if more else 0) != shown[heading]):
            yield f"Board: {line!r}: by the books {shown[heading]} tasks; wrong there: {wrong}"


def waits(book: Book, lines: Sequence[str]) -> Wrong:
    yield from counts("Waits for you", lines, book.waiting)


def failed(book: Book, lines: Sequence[str]) -> Wrong:
    yield from counts("Failed, and why", lines, book.failures)


def goes_on(book: Book, lines: Sequence[str]) -> Wrong:
    """Open tasks that need nobody's word; behind one that is stuck they do not."""
    found = [line for line in lines if line.startswith(("goes on: ", "does not go on: ")) or MORE.fullmatch(line)]
    if not is_cut(book, lines):
        yield from counts("Tomorrow", found, len(book.needing_nobody))


# --- the weeks ---------------------------------------------------------------------------------------------------


@dataclass
class Week:
    monday: date
    endings: list[tuple[Task, str, bool]] = field(default_factory=list)  # when, and whether it was merged

    @property
    def merged(self) -> list[tuple[Task, str]]:
        return [(task, at) for task, at, merged in self.endings if merged]

    @property
    def share(self) -> float:
        return len(self.merged) / len(self.endings)

    def rate(self, words: str = "") -> str:
        told = f"{len(self.merged)} of {len(self.endings)}"
        return f"{told} ({percent(self.share)})" if len(self.endings) >= 5 else told + words


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def monday(day: str) -> date:
    found = date.fromisoformat(day[:10])
    return found - timedelta(days=found.weekday())


def weeks(book: Book) -> list[Week]:
    """The newest first. An end counts for the week that leaves the task with it."""
    found: dict[date, Week] = {}
    for task in book.tasks.values():
        ends: dict[date, Row] = {}
        for event in task.events:
            if event["event"] in ENDS:
                ends[monday(event["at"])] = event
            elif event["event"] in REOPENS:
                ends.pop(monday(event["at"]), None)
        if task.attempts and not LANDING.fullmatch(task.id):
            for week, event in ends.items():
                found.setdefault(week, Week(week)).endings.append((task, event["at"], event["event"] == "merged"))
    first = monday(book.day) - timedelta(weeks=3)
    return [found[week] for week in sorted(found, reverse=True) if week >= first]


def each(week: Week, what: Callable[[Task, str], float]) -> float:
    return sum(what(task, at) for task, at in week.merged) / len(week.merged)


def sent_back(task: Task, until: str) -> float:
    ended = [one["ended_at"] for one in task.attempts if one["outcome"] == "sent back" and one["ended_at"]]
    return sum(moment(at) <= moment(until) for at in ended)


FIGURES: Sequence[tuple[str, Callable[[Task, str], float], Callable[[Book, float], str]]] = (
    ("sent back {} times", sent_back, lambda _, number: f"{number:.1f}"),
    ("{}", lambda task, _: task.cost, Book.dollars),
    ("{} minutes", lambda task, _: task.minutes, lambda _, number: f"{number:.{0 if number >= 10 else 1}f}"),
    ("{} tokens", lambda task, _: task.tokens, lambda _, number: f"{number:,.0f}"),
)


def arranging(book: Book, week: Week) -> float | None:
    theirs = [call for call in book.calls if monday(call["day"]) == week.monday]
    everything = sum(map(tokens, theirs))
    return sum(tokens(call) for call in theirs if call["agent"] != "coder") / everything if everything else None


def moved(now: float, then: float, words: str, now_words: str = "") -> str:
    return "as before" if now == then or words == now_words else f"{'↑' if now > then else '↓'} from {words}"


def how_it_goes(book: Book, lines: Sequence[str]) -> Wrong:
    """Above the weeks stands what failed, by its cause, in words."""
    found = weeks(book)
    this = next((week for week in found if week.monday == monday(book.day)), None)
    before = [week for week in found if week is not this]
    figures = [line for line in lines if re.match(r"merged \d|per merged task|the weeks before", line)]
    yield from pairs(figures, list(_weeks(book, this, before)))


def ended_in_month(book: Book) -> tuple[int, int]:
    """How many tasks this month has left at an end, and how many of them merged."""
    found = []
    for task in book.tasks.values():
        month = [one["event"] for one in task.events if one["at"][:7] == book.day[:7]]
        last = [event for event in month if event in ENDS | REOPENS][-1:]
        if task.attempts and not LANDING.fullmatch(task.id) and set(last) <= ENDS:
            found += [event == "merged" for event in last]
    return len(found), sum(found)


def _weeks(book: Book, week: Week | None, before: Sequence[Week]) -> Iterator[str]:
    ended, merged = ended_in_month(book)
    if week is None:
        yield from [f"merged {merged} of {ended} this month"] * bool(ended and not book.is_older)
        return
    last = before[0] if before else None
    facts = [percent(week.share)] if len(week.endings) >= 5 else []
    if last:
        was = percent(last.share) if len(last.endings) >= 5 else f"{len(last.merged)} of {len(last.endings)}"
        facts.append(moved(week.share, last.share, was))
    few = f"{len(week.merged)} of {len(week.endings)}{' tasks' * (len(week.endings) < 5)}"
    moved_by = f" ({', '.join(facts)})" if facts else ""
    month = f", {merged} of {ended} this month" * bool(ended and not book.is_older)
    yield f"merged {few} this week{moved_by}{month}"
    if week.merged:
        then = last if last and last.merged else None
        told = [
            _figure(words.format, each(week, of), each(then, of) if then else None, partial(show, book))
            for words, of, show in FIGURES
        ]
        line, share = f"per merged task (of {len(week.merged)}) {', '.join(told)}", arranging(book, week)
        was_share = arranging(book, last) if last else None
        words = "{} of the week's tokens for orchestration".format
        yield line if share is None else f"{line}; {_figure(words, share, was_share, percent)}"
    if len(before) > 1:
        rates = (f"{one.rate()} in week {one.monday.isocalendar().week}" for one in before)
        yield f"the weeks before: {', '.join(rates)}"


def _figure(words: Callable[[str], str], now: float, then: float | None, show: Callable[[float], str]) -> str:
    return words(show(now)) + (f" ({moved(now, then, show(then), show(now))})" if then is not None else "")


# --- the page ----------------------------------------------------------------------------------------------------


def missed(book: Book, lines: Sequence[str]) -> Wrong:
    """The days before on which nobody was there."""
    yield from pairs(lines, [*without_work(book.missed)])


def without_work(days: Sequence[str]) -> Iterator[str]:
    told = days if len(days) <= 7 else [days[0], "…", days[-1]]
    yield from [f"{many(len(days), 'day')} without work before this one: {', '.join(told)}"] * bool(days)


def in_one_line(book: Book, lines: Sequence[str]) -> Wrong:
    """How it goes, for a message."""
    found = weeks(book)
    this = next((week for week in found if week.monday == monday(book.day)), None)
    yield from pairs(lines, [*_weeks(book, this, [week for week in found if week is not this])][:1])


def words_only(book: Book, lines: Sequence[str]) -> Wrong:
    """What people, programs and models said; nothing in it is a figure of ours."""
    yield from ()


HEAD = re.compile(r"head `([0-9a-f]{64})`")


def audit(book: Book, lines: Sequence[str]) -> Wrong:
    """The row that is named bears the head that is told; that the rows before it lead there is `audit verify`'s."""
    for line in lines:
        found = re.match(rf"{HEAD.pattern} of ([0-9,]+) rows?;", line)
        number = int(found[2].replace(",", "")) if found else 0
        rows = book.rows("select hash from audit where seq = ?", number)
        short = re.search(r"--head ([0-9a-f]+)", line)
        is_it = bool(found and rows and rows[0]["hash"] == found[1])
        if not (is_it and short and len(short[1]) >= 12 and rows[0]["hash"].startswith(short[1])):
            yield f"no such head: {line}"


SECTIONS: Mapping[str, Callable[[Book, Sequence[str]], Wrong]] = {
    "Missed": missed,
    "Asked": asked,
    "Shipped": shipped,
    "What changed for your visitors": effects,
    "Noted": words_only,
    "Deployed": deployed,
    "Looked up": words_only,
    "Learned": learned,
    "Failed, and why": failed,
    "Went wrong": words_only,
    "Waits for you": waits,
    "How it goes": how_it_goes,
    "Your notes": words_only,
    "Money": money,
    "Board": board,
    "Tomorrow": goes_on,
    "Not delivered": words_only,
    "Audit": audit,
}


BRIEF: Mapping[str, Callable[[Book, Sequence[str]], Wrong]] = {
    "Waits for you": waits,
    "Went wrong": words_only,
    "Deployed": deployed,
    "Shipped": shipped,
    "What changed for your visitors": effects_in_short,
    "Failed, and why": failed,
    "Looked up": words_only,
    "Asked": asked,
    "Money": money_in_brief,
    "How it goes": in_one_line,
    "Tomorrow": goes_on,
    "Not delivered": words_only,
}


# --- the morning -------------------------------------------------------------------------------------------------


def plan(book: Book, lines: Sequence[str]) -> Wrong:
    """Titles, and how many there are; what upkeep has found is words."""
    rows = book.rows("select plan_json from daily_plans where day = ? and plan_json is not null", book.day)
    found: Any = json.loads(rows[0]["plan_json"]) if rows else {"tasks": [], "forecast": 0, "deferred": []}
    tasks, of = many(len(found["tasks"]), "task"), book.dollars(book.cap("day"))
    told = [f"{tasks}, probably about {book.dollars(found['forecast'])} of {of}"] * bool(found["tasks"])
    yield from pairs(lines[: len(told)], told)
    if not any(CUT.fullmatch(line) for line in lines):
        later = [line for line in lines if line.startswith("left for another day: ")]
        titles = [line for line in lines[len(told) :] if not line.startswith(("left for another day: ", "upkeep: "))]
        for what, these, number in (("planned", titles, "tasks"), ("left for another day", later, "deferred")):
            if len(these) != len(found[number]):
                yield f"Plan for today: {len(these)} are told as {what}, the books have {len(found[number])}"


def yesterday(book: Book, lines: Sequence[str]) -> Wrong:
    """The last day with work, as the books are in the morning."""
    merged = [task for task in book.told if task.is_merged]
    checks = [task.checks[-1] for task in merged if task.checks]
    tests = sum(len(check["new_tests"]) for check in checks)
    both = [(check.get("covered"), check.get("covered_before")) for check in checks]
    changes = [now - then for now, then in both if now is not None and then is not None]
    facts = [f"{many(tests, 'test')} added"] * bool(tests)
    facts += [f"coverage {sum(changes):+.1f} points"] * bool(changes)
    found = [
        line
        for line in lines
        if not line.startswith(("merged **", "failed **", "blocked: ")) and not CUT.fullmatch(line)
    ]
    told = [capless(book, line) for line in found]
    yield from pairs(told, [headline(book), *[", ".join(facts)] * bool(facts)])
    if not any(CUT.fullmatch(line) for line in lines):
        yield from counts("merged", [line for line in lines if line.startswith("merged **")], min(len(merged), 4))
        yield from counts("failed", [line for line in lines if line.startswith("failed **")], book.failures)


def of_the_morning(book: Book, found: Mapping[str, Sequence[str]]) -> Wrong:
    """What the roadmap foresees rests on its file and on the configuration, which are no books."""
    last = Book(book.path, book.before, is_brief=book.is_brief, is_of_now=True) if book.before else None
    numbers = {row["number"] for row in book.deploys}
    older = [row for row in last.deploys if row["number"] not in numbers] if last else []
    days = book.missed[-7:]
    known: Mapping[str, Callable[[Sequence[str]], Wrong]] = {
        "Missed": lambda lines: pairs(lines, [", ".join(days)] * bool(days)),
        "Deployed": lambda lines: deployed(book, lines, older),
        "Waits for you": lambda lines: waits(book, lines),
        "Plan for today": lambda lines: plan(book, lines),
        **dict.fromkeys(
            ("Your notes", "Went wrong today", "Roadmap", "Looked up", "Not delivered"), lambda _: iter(())
        ),
        **({book.before: lambda lines: yesterday(last, lines)} if last else {}),
    }
    for heading in {*found, *known}:
        if heading not in known:
            yield f"nobody knows the section {heading!r}"
        else:
            yield from known[heading](found.get(heading, ()))


def of_nobody(book: Book, found: Mapping[str, Sequence[str]]) -> Wrong:
    """Seven days at most have such a page; the first of them names the older ones."""
    if book.rows("select name from phases where day = ?", book.day):
        yield f"{book.day}: somebody was at work"
    days = Book(book.path, str(book.rows(NEXT_DAY, book.day)[0]["day"])).missed
    older = days[:-7] if days[-7:][:1] == [book.day] else []
    yield from pairs(found.get("Missed", ()), [*without_work(older)])


NEXT_DAY = "select coalesce(min(day), '9999-12-31') as day from phases where day > ?"


# --- a page, a message -------------------------------------------------------------------------------------------


def letters(text: str) -> str:
    return re.sub(r"\W+|_", "", text)


def plain(line: str) -> str:
    """Without what only keeps a page from acting on words."""
    return re.sub(r"\\(?=[!-/:-@\[-`{-~])|\u200b", "", line).removeprefix("- ")


def differences(book: Book, page: str) -> Wrong:
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    first, found = plain(head.splitlines()[0]), by_heading(section.partition("\n")[::2] for section in sections)
    if first == f"# Good morning: {book.day}":
        yield from of_the_morning(book, found)
        return
    if first == f"# {book.day}: nobody was at work: the machine, or the team, was off":
        yield from of_nobody(book, found)
        return
    yield from same(first, f"# {book.day}: {headline(book)}")
    for words, file in re.findall(r"!\[(.*?)\]\((.*?)\)", head):
        what = f"{'left' if book.told_what_is_left else 'spent'} of {book.dollars(book.cap('day'))}"
        told = f"what was {what} hour by hour, and the task board of {book.day}"
        yield from pairs([words, file], [told, f"{book.day}.png"])
    yield from by_rule(book, SECTIONS, found)


def told(book: Book, message: Mapping[str, Any]) -> Wrong:
    """The day's message, in the morning or in the evening."""
    found = by_heading((section["heading"], section["text"]) for section in message["sections"])
    first, *more = map(plain, (*message["text"].splitlines(), *message.get("foot", "").splitlines()))
    if message["title"] == f"{book.day}: good morning":
        then = "planned" if planned(book) else "the plan follows"
        yield from same(capless(book, first), f"{headline(book)}, {then}")
        yield from of_the_morning(book, found)
        return
    yield from same(first, headline(book))
    yield from audit(book, [line.removeprefix("Audit: ") for line in more if line.startswith("Audit: ")])
    yield from by_rule(book, BRIEF, found)


def by_heading(sections: Iterable[Sequence[str]]) -> dict[str, list[str]]:
    return {heading: [plain(line) for line in text.splitlines() if line] for heading, text in sections}


def by_rule(
    book: Book, rules: Mapping[str, Callable[[Book, Sequence[str]], Wrong]], found: Mapping[str, Sequence[str]]
) -> Wrong:
    for heading in {*found, *rules}:
        if heading not in rules:
            yield f"nobody knows the section {heading!r}"
        else:
            yield from rules[heading](book, found.get(heading, ()))


def recounted(home: Path, day: str, page: str = "", message: Mapping[str, Any] | None = None) -> list[str]:
    """`page`, `message`: others than those of the home. While the team works a message tells more than the page."""
    page = page or (home / "reports" / "daily" / f"{day}.md").read_text("utf-8")
    is_morning = page.startswith("# Good morning")
    is_older = not is_morning and not re.search(r"^- this week \$", page, re.MULTILINE)
    told_what_is_left = bool(re.search("(?m)^Left of the day's cap:|^!\\[what was left of ", page))
    book = Book(str(home / ".state" / "agents.db"), day, is_older, told_what_is_left=told_what_is_left)
    sent = book.rows("select notice_json from notices where key = ?", f"{day}:day")
    messages = [message] if message else [json.loads(row["notice_json"]) for row in sent]
    if not message:  # that of an evening before is not of this page
        messages = [one for one in messages if all(head in page for head in HEAD.findall(one["text"]))]
    title = f"{day}: {'good morning' if is_morning else f'the day{chr(39)}s report'}"
    brief = Book(book.path, day, is_brief=True)
    heard = (told(brief, one) for one in messages if one["title"] == title and not is_older)
    return [*differences(book, page), *(f"the message: {wrong}" for found in heard for wrong in found)]


def main(home: str, day: str) -> int:
    wrong = recounted(Path(home), day)
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
