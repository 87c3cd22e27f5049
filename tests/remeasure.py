"""Compute every figure of `metrics` again, from the books alone. It shares no code with the product.

`python -I remeasure.py HOME TODAY < figures`: what `metrics --json` has printed for that home. Prints each figure that
the books do not bear out; 1 if there is one. What the row of a day has kept is believed: what it was made of may be
forgotten.
"""

import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Key = tuple[str, str, str]  # day, what is counted, its label
SICK = "rolled back after its deployment"
ENDS = ("merged", "attempts used up", "cancelled by the owner")
BY_HAND = {
    *("retried by the owner", "taken back by the owner", "cancelled by the owner", "done by the owner"),
    "file deleted by the owner",
}
SAID = {
    "findings_over": "settle a finding", "waivers": "unblock", "answers": "answer", "deploy_orders": "deploy",
    "cap_raises": "raise a cap", "write_offs": "write off",
}  # fmt: skip
NANO = 10**9
NEAR = 1e-4  # runs are kept to the millisecond


class Books:
    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            names = [row["name"] for row in db.execute("select name from sqlite_master where type = 'table'")]
            plain = (name for name in names if not name.startswith(("lesson_words", "sqlite_")))
            self.tables = {name: [dict(row) for row in db.execute(f"select * from {name}")] for name in plain}

    def __getitem__(self, table: str) -> list[dict[str, Any]]:
        return self.tables.get(table, [])


def counted(books: Books) -> Iterator[tuple[Key, float]]:
    """Each thing that happened, by its day."""
    yield from _tasks(books)
    yield from _attempts(books)
    yield from _looks(books)
    yield from _acts(books)
    for run in books["agent_runs"]:
        if run["ended_at"] and run["result"] and not run["result"].startswith("cut off"):
            span = datetime.fromisoformat(run["ended_at"]) - datetime.fromisoformat(run["started_at"])
            yield (run["day"], "minutes", run["agent_name"]), round(span.total_seconds(), 3) / 60
    plans = {plan["day"]: json.loads(plan["plan_json"]) for plan in books["daily_plans"] if plan["plan_json"]}
    for day, plan in plans.items():
        yield (day, "forecast", ""), plan["forecast"] / NANO
    for call in (call for call in books["calls"] if call["state"] != "refused"):
        yield (call["day"], "dollars", call["agent"]), call["amount"] / NANO
        if re.fullmatch(r"\d{8}-\d.*", call["task"]):
            planned = f"{call['task'][:4]}-{call['task'][4:6]}-{call['task'][6:8]}"
            if plans.get(planned, {"forecast": 0})["forecast"]:
                yield (planned, "planned", ""), call["amount"] / NANO


def _tasks(books: Books) -> Iterator[tuple[Key, float]]:
    specs = [
        spec for plan in books["daily_plans"] if plan["plan_json"] for spec in json.loads(plan["plan_json"])["tasks"]
    ]
    specs += [json.loads(row["task_json"]) for row in books["upkeep_proposals"]]
    kinds = {spec["id"]: spec.get("kind") or "unknown" for spec in specs}
    for event in books["task_events"]:
        day, kind = event["at"][:10], kinds.get(event["task"], "unknown")
        if not re.fullmatch(r".{8}-l[1-9].*", event["task"]):
            stayed = {"merged": 1, SICK: -1}.get(event["event"], 0)
            yield (day, "stayed", kind), stayed
            yield (day, "ended", kind), event["event"] in ENDS


def _attempts(books: Books) -> Iterator[tuple[Key, float]]:
    helped = {(use["task"], use["attempt"]) for use in books["lesson_uses"]}
    for one in books["attempts"]:
        day = one["started_at"][:10]
        yield (day, "safety", "refused write"), len(json.loads(one["refused"]))
        if not one["refreshes"]:
            yield (day, "attempts", ""), 1
            yield (day, "with lessons", ""), (one["task"], one["number"]) in helped
        if one["outcome"] == "sent back":
            yield (one["ended_at"][:10], "rounds", ""), 1


def _looks(books: Books) -> Iterator[tuple[Key, float]]:
    for look in (look for look in books["gate_runs"] if look["answer_json"]):
        day, answer = look["at"][:10], json.loads(look["answer_json"])
        if look["kind"] == "check":
            remedies = {problem["remedy"] for problem in answer["problems"]}
            outcome = "red" if "correct" in remedies else "needs the owner" if remedies else "green"
            yield (day, "checks", outcome), 1
            yield (day, "flaky", ""), bool(answer["flaky"])
        else:
            yield (day, "reviews", answer["verdict"]["kind"]), 1
            findings = answer["verdict"]["findings"]
            yield (day, "safety", "review"), sum(one["severity"] == "high" for one in findings)


def _acts(books: Books) -> Iterator[tuple[Key, float]]:
    found = [(row["at"], act) for table, act in SAID.items() for row in books[table]]
    found += [(row["at"], "approve") for row in books["rulings"] if row["kind"] == "approve"]
    found += [(row["at"], row["event"]) for row in books["task_events"] if row["event"] in BY_HAND]
    yield from (((at[:10], "acts", act), 1) for at, act in found)


# --- what was kept of days of which something is forgotten -------------------------------------------------------

KEPT = {
    "tasks_merged": ("stayed", 1), "tasks_rolled_back": ("stayed", -1), "tasks_ended": ("ended", 1),
    "rounds": ("rounds", 1), "attempts": ("attempts", 1), "attempts_with_lessons": ("with lessons", 1),
    "run_seconds": ("minutes", 1 / 60_000), "checks": ("checks", 1), "flaky_checks": ("flaky", 1),
    "reviews": ("reviews", 1), "owner_acts": ("acts", 1), "safety_findings": ("safety", 1),
    "forecast_dollars": ("forecast", 1 / NANO),
}  # fmt: skip
MONEY = ("dollars", "planned")


def sums(books: Books, today: str, days: int) -> Counter[tuple[str, str]]:
    """Of the last days; 0: of all. Floats, though a Counter says whole numbers."""
    first = (date.fromisoformat(today) - timedelta(days=days - 1)).isoformat() if days else ""
    rows = {row["day"]: json.loads(row["counts_json"]) for row in books["metric_days"]}
    closed = {day for day in rows if day < max(rows)}
    found: Counter[tuple[str, str]] = Counter()
    for (day, what, label), number in counted(books):
        if day >= first and (what in MONEY or day not in closed):
            found[what, label] += number  # type: ignore[assignment]
    for day in (day for day in closed if day >= first):
        for key, number in rows[day].items():
            name, _, label = key.partition("/")
            what, size = KEPT[name]
            found[what, label] += number * size
    return found


# --- figures -----------------------------------------------------------------------------------------------------

FIGURES = {  # the figure -> what over what, and whether both are of the same label
    "task_pass_rate": ("stayed", "ended", True),
    "rounds_per_merged_task": ("rounds", "stayed", False),
    "minutes_per_merged_task": ("minutes", "stayed", False),
    "dollars_per_merged_task": ("dollars", "stayed", False),
    "test_flakiness_rate": ("flaky", "checks", False),
    "memory_hit_rate": ("with lessons", "attempts", False),
    "owner_interventions_per_task": ("acts", "ended", False),
    "safety_findings_per_task": ("safety", "ended", False),
    "check_outcomes": ("checks", "checks", False),
    "review_outcomes": ("reviews", "reviews", False),
    "cost_over_forecast": ("planned", "forecast", False),
}
WINDOWS = {"7": 7, "30": 30, "all": 0}


def value(found: Counter[tuple[str, str]], name: str, label: str) -> float | None:
    top, bottom, is_same = FIGURES[name]
    below = _sum(found, bottom, label if is_same else "")
    return _sum(found, top, label) / below if below else None


def _sum(found: Counter[tuple[str, str]], what: str, label: str) -> float:
    """What was taken back of a kind is never more than what was merged."""
    theirs = {key[1]: number for key, number in found.items() if key[0] == what and label in ("", key[1])}
    return sum(max(0, number) for number in theirs.values())


def differences(home: Path, figures: Sequence[Row], today: str) -> Iterator[str]:
    books = Books(home / ".state" / "agents.db")
    for window, days in WINDOWS.items():
        found = sums(books, today, days)
        for figure in figures:
            label = "".join(figure["labels"].values())
            ours, told = value(found, figure["name"], label), figure["days"][window]
            if (ours is None) is not (told is None) or abs((ours or 0) - (told or 0)) > NEAR:
                yield f"{figure['name']} {label or 'all'}, days {window}: {told}, by the books {ours}"
    if {figure["name"] for figure in figures} - {*FIGURES}:
        yield "there are figures that nobody here knows"


def main(home: str, today: str) -> int:
    wrong = [*differences(Path(home), json.load(sys.stdin), today)]
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
