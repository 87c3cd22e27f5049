"""Rows of the books -> the tree of a goal: from its line in VISION.md to the places where its changes run. Pure.

A goal's trace is its id. Nothing is kept of a tree: it is joined anew whenever somebody asks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

Kind = Literal[
    "goal", "planning", "task", "attempt", "calls", "commit", "pull request", "tests", "review", "ruling",
    "merge", "deploy", "revert", "closing", "notice",
]  # fmt: skip
Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]  # by what they hold; each row names its `task`


@dataclass(frozen=True)
class TraceCost:
    """Calls that were booked, their tokens, and nano-dollars as `budget` counts them."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    amount: int = 0

    def __add__(self, other: TraceCost) -> TraceCost:
        return TraceCost(*(mine + more for mine, more in zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class TraceNode:
    """Something that happened for a goal. `name`: what can be typed for it; `text`: in words, data of whoever said it.

    `cost`: of everything below it. `at` in ISO form; empty: nobody knows.
    """

    kind: Kind
    name: str
    text: str = ""
    at: str = ""
    outcome: str = ""
    cost: TraceCost = TraceCost()
    parts: tuple[TraceNode, ...] = ()
    is_asked: bool = False


@dataclass(frozen=True)
class TraceAnchor:
    """What a typed name stands for. `goal` empty: a task that the owner dropped into the backlog."""

    goal: str
    task: str
    kind: Kind
    name: str

    @property
    def words(self) -> str:
        return f"{self.kind} {self.name}"


def tree(goal: TraceNode, plannings: Sequence[Row], tables: Tables, anchor: TraceAnchor) -> TraceNode:
    """Draw what happened for a goal. The day's planning was for all of its goals: it is no part of this one's cost."""
    of_task: defaultdict[str, defaultdict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for table, rows in tables.items():
        for row in rows:
            of_task[row["task"]][table].append(row)
    tasks = [_task(row, of_task[row["task"]]) for row in tables.get("tasks", ())]
    whole = replace(goal, cost=_sum(tasks), parts=(*_by_time(map(_planning, plannings)), *_by_time(tasks)))
    return _marked(whole, anchor)


def _marked(node: TraceNode, anchor: TraceAnchor) -> TraceNode:
    parts = tuple(_marked(part, anchor) for part in node.parts)
    return replace(node, parts=parts, is_asked=(node.kind, node.name) == (anchor.kind, anchor.name))


def _planning(row: Row) -> TraceNode:
    cost = TraceCost(row["calls"], row["tokens_in"], row["tokens_out"], row["amount"])
    return TraceNode("planning", row["day"], "for all goals of that day", row["day"], cost=cost)


# --- a task and its attempts ---------------------------------------------------------------------------------


def _task(task: Row, rows: Mapping[str, Sequence[Row]]) -> TraceNode:
    events = rows["events"]
    state, note = (events[-1]["to_state"], events[-1]["note"]) if events else ("", "")
    numbers = [row["number"] for row in rows["attempts"]]
    below: defaultdict[int, list[TraceNode]] = defaultdict(list)  # of each attempt; 0: of the task itself
    for number, node in _happened(rows):
        below[number if number in numbers else _in_force(rows["attempts"], node.at)].append(node)
    attempts = [_attempt(row, below[row["number"]]) for row in rows["attempts"]]
    parts = _by_time((*attempts, *below[0], *map(_notice, rows["notices"])))
    said = f"{task['title']}: {note}" if note else task["title"]
    return TraceNode("task", task["task"], said, task["created_at"], state, _sum(parts), parts)


def _attempt(row: Row, nodes: Sequence[TraceNode]) -> TraceNode:
    outcome = row["outcome"] or "open"
    name = f"{row['task']}.a{row['number']}"
    return TraceNode("attempt", name, row["note"], row["started_at"], outcome, _sum(nodes), _by_time(nodes))


def _in_force(attempts: Sequence[Row], at: str) -> int:
    """The attempt that was the newest at that time; 0: none was begun."""
    begun = [row["number"] for row in attempts if at and _time(row["started_at"]) <= _time(at)]
    return max(begun, default=0)


def _happened(rows: Mapping[str, Sequence[Row]]) -> Iterable[tuple[int, TraceNode]]:
    """What happened for a task, each with the number of its attempt; 0: the time tells it."""
    pushed = {row["external_id"]: _number(row["key"]) for row in rows["intents"] if row["kind"] == "push"}
    yield from _calls(rows["calls"], rows["attempts"])
    for row in rows["gates"]:
        yield pushed.get(row["commit_id"], 0), _gate(row)
    for row in rows["rulings"]:
        yield 0, TraceNode("ruling", row["subject"], row["why"], row["at"], row["kind"])
    seen: set[tuple[str, str]] = set()
    for row in rows["intents"]:
        node = _effect(row, rows["deploys"])
        if (node.kind, node.name) not in seen:  # the first attempt opens a pull request
            yield _number(row["key"]), node
        seen.add((node.kind, node.name))


def _number(key: str) -> int:
    """`20261120-01.a2:push` -> 2; 0: it is no attempt's."""
    number = key.rpartition(":")[0].rpartition(".a")[2]
    return int(number) if number.isdecimal() else 0


def _calls(calls: Sequence[Row], attempts: Sequence[Row]) -> Iterable[tuple[int, TraceNode]]:
    """Sum them by attempt, role and model. A reviewer's call names no attempt."""
    sums: dict[tuple[int, str, str], TraceNode] = {}
    for row in calls:
        key = (row["attempt"] or _in_force(attempts, row["at"]), row["agent"], row["model"])
        cost = TraceCost(1, row["tokens_in"], row["tokens_out"], row["amount"])
        before = sums.get(key) or TraceNode("calls", row["agent"], row["model"], row["at"])
        lost = "some are lost" if row["state"] == "lost" else before.outcome
        sums[key] = replace(before, cost=before.cost + cost, outcome=lost)
    return ((number, node) for (number, _, _), node in sums.items())


# --- gates, effects, deploys -----------------------------------------------------------------------------------


def _gate(row: Row) -> TraceNode:
    """Tests or a review of a commit. What another version wrote, and cannot be read, has no words."""
    kind: Kind = "tests" if row["kind"] == "check" else "review"
    node = TraceNode(kind, row["commit_id"], at=row["at"], outcome="came to no end")
    try:
        said = json.loads(row["answer_json"] or "null")
        if not said:
            return node
        outcome, text = _tests(said) if kind == "tests" else _review(said["verdict"])
        return replace(node, outcome=outcome, text=text)
    except (ValueError, KeyError, TypeError):
        return replace(node, outcome="its record cannot be read")


def _tests(said: Row) -> tuple[str, str]:
    text = ", ".join(f"{said[word]} {word}" for word in ("passed", "failed", "skipped"))
    red = next((one["text"] for one in said.get("problems", ()) if one["remedy"] == "correct"), "")
    outcome = "red" if red else "needs the owner" if said.get("problems") else "green"
    return outcome, f"{text}; {red}" if red else text


def _review(verdict: Row) -> tuple[str, str]:
    findings = verdict.get("findings", ())
    first = f"{findings[0]['path']}:{findings[0]['line']} {findings[0]['text']}" if findings else ""
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return verdict["kind"], verdict.get("reason") or first + more


def _effect(row: Row, deploys: Sequence[Row]) -> TraceNode:
    """An outward effect. One that was planned, and is not known to be done, says so."""
    done = row["external_id"]
    outcome = "" if row["state"] == "done" else f"{row['state']}, not known to be done"
    match row["kind"]:
        case "pull request":
            return TraceNode("pull request", f"#{done}", "", row["at"], outcome)
        case "close":
            who = "by the owner" if ":end-" in row["key"] else "by the team"
            return TraceNode("closing", f"#{row['payload']}", who, row["at"])
        case "push":
            return TraceNode("commit", done or row["payload"], "", row["at"], outcome)
        case _:
            who = "by the owner" if row["kind"] == "merge by the owner" else ""
            parts = _by_time(_deploy(one, deploys) for one in deploys if done and one["of"] == done)
            return TraceNode("merge", done or row["payload"], who, row["at"], outcome, parts=parts)


def _deploy(row: Row, deploys: Sequence[Row]) -> TraceNode:
    """`of`: the merge that it brought; another commit stands there if more came with it."""
    with_more = f" with what came after it, {row['commit_id'][:8]}" if row["commit_id"] != row["of"] else ""
    why = f": {row['why']}" if row["why"] else ""
    parts = [_notice(notice) for notice in row["notices"]]
    if row["reverts"]:
        after = (_deploy(one, deploys) for one in deploys if row["revert"] and one["of"] == row["revert"])
        outcome = f"merged as {row['revert'][:8]}" if row["revert"] else ""
        number = f"#{row['reverts']}"
        parts.append(TraceNode("revert", number, "", row["ended_at"] or "", outcome, parts=_by_time(after)))
    text = f"at {row['place']}{with_more}{why}"
    return TraceNode("deploy", str(row["number"]), text, row["begun_at"], row["stage"], parts=_by_time(parts))


def _notice(row: Row) -> TraceNode:
    return TraceNode("notice", row["key"], row["title"], row["at"], row["state"])


def _sum(nodes: Iterable[TraceNode]) -> TraceCost:
    return sum((node.cost for node in nodes), TraceCost())


def _time(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp() if iso else 0.0


def _by_time(nodes: Iterable[TraceNode]) -> tuple[TraceNode, ...]:
    """The oldest first. Calls begin before what came of them; what was booked at one time stays in the books' order."""
    return tuple(sorted(nodes, key=lambda node: _time(node.at)))
