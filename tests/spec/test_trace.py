"""The rows of a goal make one tree: each fact stands below its attempt, and every dollar once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product

import pytest

from sisimpur.shared.record.trace import Row, Tables, TraceAnchor, TraceCost, TraceNode, tree

GOAL = TraceNode("goal", "g-1", "Fix the sum")
NOBODY = TraceAnchor("g-1", "", "goal", "")
TASK = "20261120-01"
KINDS = ("push", "pull request", "merge", "merge by the owner", "close")


def at(minute: int) -> str:
    return f"2026-11-20T10:{minute:02}:00+00:00"


def task(id_: str = TASK) -> Row:
    return {"task": id_, "title": "Fix it", "created_at": at(0)}


def attempt(number: int, task: str = TASK) -> Row:
    started = at(10 * number)
    return {"task": task, "number": number, "started_at": started, "outcome": "ok", "note": ""}


def call(attempt: int, minute: int, agent: str = "coder", task: str = TASK, state: str = "settled") -> Row:
    tokens = {"tokens_in": 10, "tokens_out": 1, "amount": 100}
    return {"task": task, "attempt": attempt, "agent": agent, "model": "m", "at": at(minute), "state": state, **tokens}


def intent(kind: str, attempt: int, external: str, state: str = "done", minute: int = 15) -> Row:
    key = f"{TASK}.a{attempt}:{kind}" if attempt else f"{TASK}:end-7"
    row = {"key": key, "kind": kind, "task": TASK, "payload": "7", "state": state, "at": at(minute)}
    return {**row, "external_id": external}


def gate(kind: str, commit: str, answer: str | None, minute: int = 15) -> Row:
    return {"task": TASK, "commit_id": commit, "kind": kind, "at": at(minute), "answer_json": answer}


def deploy(number: int, of: str, commit: str, stage: str = "healthy", reverts: int = 0, revert: str = "") -> Row:
    row = {"task": TASK, "number": number, "of": of, "commit_id": commit, "stage": stage, "place": "staging", "why": ""}
    return {**row, "begun_at": at(30), "ended_at": at(40), "reverts": reverts, "revert": revert, "notices": []}


def drawn(anchor: TraceAnchor = NOBODY, **tables: list[Row]) -> TraceNode:
    every: Tables = {"tasks": [task()], **tables}
    return tree(GOAL, (), every, anchor)


def every(node: TraceNode) -> Iterator[TraceNode]:
    yield node
    for part in node.parts:
        yield from every(part)


def kinds(node: TraceNode) -> list[tuple[str, str]]:
    return [(part.kind, part.name) for part in node.parts]


@pytest.mark.parametrize(("named", "minute"), [*product((0, 1, 2, 3), (5, 10, 15, 20, 25))])
def test_a_call_stands_below_the_attempt_that_it_names_or_that_was_in_force(named: int, minute: int) -> None:
    root = drawn(attempts=[attempt(1), attempt(2)], calls=[call(named, minute)])
    (holder,) = (node for node in every(root) if any(part.kind == "calls" for part in node.parts))
    in_force = 2 if minute >= 20 else 1 if minute >= 10 else 0
    expected = named if named in (1, 2) else in_force
    assert holder.name == (f"{TASK}.a{expected}" if expected else TASK)


def test_what_nothing_is_known_of_is_a_goal_without_parts() -> None:
    assert drawn(tasks=[]) == GOAL


@pytest.mark.parametrize("count", range(4))
def test_every_call_is_counted_once_at_each_height_and_the_days_planning_at_none(count: int) -> None:
    calls = [call(number % 3, 10 + number, ("coder", "reviewer")[number % 2]) for number in range(count)]
    calls += [call(1, 12, task="20261120-02") for _ in range(count)]
    planning = {"day": "2026-11-20", "calls": 3, "tokens_in": 5, "tokens_out": 5, "amount": 999}
    tables = {"tasks": [task(), task("20261120-02")], "attempts": [attempt(1)], "calls": calls}
    root = tree(GOAL, [planning], tables, NOBODY)
    assert root.cost == TraceCost(2 * count, 20 * count, 2 * count, 200 * count)
    assert root.parts[0].kind == "planning" and root.parts[0].cost.amount == 999
    for node in every(root):
        told = [part.cost for part in node.parts if part.kind != "planning"]
        assert not told or node.kind == "calls" or sum(told, TraceCost()) == node.cost


def test_a_lost_call_says_so() -> None:
    (calls,) = drawn(attempts=[attempt(1)], calls=[call(1, 11), call(1, 12, state="lost")]).parts[0].parts[0].parts
    assert calls.outcome == "some are lost" and calls.cost.calls == 2


@pytest.mark.parametrize(("kind", "state", "number"), [*product(KINDS, ("done", "planned", "void"), (1, 2))])
def test_an_effect_stands_below_its_attempt_and_says_if_nobody_knows_that_it_is_done(
    kind: str, state: str, number: int
) -> None:
    done = "abc" if state == "done" else ""
    root = drawn(attempts=[attempt(1), attempt(2)], intents=[intent(kind, number, done, state)])
    (node,) = root.parts[0].parts[number - 1].parts
    assert node.name.lstrip("#") in ("abc", "7", "")
    assert kind == "close" or (node.outcome == "") == (state == "done")


def test_a_pull_request_stands_where_it_was_opened_and_its_closing_besides() -> None:
    effects = [intent("pull request", 1, "7"), intent("pull request", 2, "7"), intent("close", 0, "", minute=25)]
    first, second = drawn(attempts=[attempt(1), attempt(2)], intents=effects).parts[0].parts
    assert kinds(first) == [("pull request", "#7")] and kinds(second) == [("closing", "#7")]
    assert second.parts[0].text == "by the owner"


def test_tests_and_review_stand_with_the_commit_that_they_are_of_however_late_they_came() -> None:
    gates = [gate("check", "c1", None, 25), gate("review", "other", None, 25)]
    first, second = (
        drawn(attempts=[attempt(1), attempt(2)], intents=[intent("push", 1, "c1")], gates=gates).parts[0].parts
    )
    assert kinds(first) == [("commit", "c1"), ("tests", "c1")] and kinds(second) == [("review", "other")]


COUNTS = {"passed": 3, "failed": 1, "skipped": 0}
RED = [{"text": "a test is gone", "remedy": "correct"}]


@pytest.mark.parametrize(
    ("kind", "answer", "outcome", "text"),
    [
        ("check", COUNTS, "green", "3 passed, 1 failed, 0 skipped"),
        ("check", {**COUNTS, "problems": RED}, "red", "3 passed, 1 failed, 0 skipped; a test is gone"),
        (
            "check",
            {**COUNTS, "problems": [{**RED[0], "remedy": "ask"}]},
            "needs the owner",
            "3 passed, 1 failed, 0 skipped",
        ),
        ("review", {"verdict": {"kind": "escalated", "reason": "too large"}}, "escalated", "too large"),
        ("review", {"verdict": {"kind": "approved", "findings": []}}, "approved", ""),
        ("check", None, "came to no end", ""),
        ("check", {"of": "a later version"}, "its record cannot be read", ""),
        ("review", [1], "its record cannot be read", ""),
    ],
)
def test_what_a_gate_said_is_one_line(kind: str, answer: object, outcome: str, text: str) -> None:
    (node,) = drawn(gates=[gate(kind, "c1", json.dumps(answer))]).parts[0].parts
    assert (node.outcome, node.text) == (outcome, text)


def test_a_deploy_stands_below_what_it_brought_and_what_took_it_back_below_the_deploy() -> None:
    tables = [deploy(3, "m1", "m1", "rolled back", 8, "r1"), deploy(4, "r1", "r1"), deploy(5, "m2", "later")]
    effects = [intent("merge", 1, "m1"), intent("merge", 2, "m2", minute=25)]
    root = drawn(
        TraceAnchor("g-1", TASK, "deploy", "4"), attempts=[attempt(1), attempt(2)], intents=effects, deploys=tables
    )
    (first,), (second,) = (merge.parts[0].parts for merge in root.parts[0].parts)
    assert kinds(first) == [("revert", "#8")] and kinds(first.parts[0]) == [("deploy", "4")]
    assert second.name == "5" and "with what came after it, later" in second.text
    assert [node.name for node in every(root) if node.is_asked] == ["4"]
