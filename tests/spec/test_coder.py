"""What becomes of an engine's run, and what a commit says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sisimpur.agents.coder.engine.engine import End, EngineRun
from sisimpur.agents.coder.judge import (
    Away,
    Broke,
    Disturbed,
    InWords,
    NoMoney,
    NoShare,
    TurnedDown,
    Worked,
    judge,
    pulse,
)
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.money.ticket import CallRecord
from sisimpur.shared.money.ticket import State as CallState
from sisimpur.shared.money.token_budget import TokenUsage

TASK = TaskSpec("20261120-01", "Fix the sum", "It subtracts.", files=("a.py",))


def run(end: End = "edited", detail: str = "", reply: str = "") -> EngineRun:
    return EngineRun(end, detail, (), "", 1.0, reply)


def call(
    state: CallState = "settled",
    stop: str = "end_turn",
    code: str = "",
    clamped: bool = False,
    answered: int | None = 200,
) -> CallRecord:
    return CallRecord("claude-sonnet-5-5", state, 1, 0, clamped, 200, answered, stop, code, TokenUsage())


def not_taken(status: int, note: str) -> CallRecord:
    return replace(call("void", "", "meter_upstream_refused"), status=status, note=note)


def refused(code: str) -> CallRecord:
    return replace(call("refused", "", code), note=f"the words of {code}")


@pytest.mark.parametrize(
    ("engine", "calls", "verdict"),
    [
        pytest.param(run(), [call()], Worked(), id="edited, and the answer came whole"),
        pytest.param(run(), [call("lost", "")], Broke, id="edited, but the answer was cut: the exit code is no proof"),
        pytest.param(run(), [call("lost", "end_turn", "meter_untrue")], Worked, id="whole, only its count is doubted"),
        pytest.param(run(), [], Broke, id="edited without a single call: not the model's work"),
        pytest.param(run("no edits", "said no"), [call()], Broke("no edits: said no"), id="nothing edited"),
        pytest.param(
            run("no edits", "…", "It is there\nalready."), [call()], InWords("It is there already."), id="words alone"
        ),
        pytest.param(run("no edits", "…", "It is"), [call("lost", "")], Broke("no edits: …"), id="words that were cut"),
        pytest.param(run("no edits", "…", "..."), [call()], Broke("no edits: …"), id="it says nothing"),
        pytest.param(
            run("no edits", "…", "So:\n<<<<<<< SEARCH\n"), [call()], Broke("no edits: …"), id="it may not edit that"
        ),
        pytest.param(run("timed out"), [call()], Broke("timed out"), id="the time was up"),
        pytest.param(run("stalled", "nothing happened"), [call()], Disturbed("nothing happened"), id="it was stuck"),
        pytest.param(run("stalled", "nothing happened"), [], Disturbed("nothing happened"), id="stuck before it asked"),
        pytest.param(run("stalled"), [refused("meter_day_cap")], NoMoney, id="stuck since it had no money"),
        pytest.param(run("api error", "reset"), [], Disturbed, id="it never reached the meter: not the task's fault"),
        pytest.param(run("api error"), [call("lost", "", "meter_upstream")], Away, id="the model is away"),
        pytest.param(run("api error"), [not_taken(400, "not fit")], TurnedDown, id="this request is refused"),
        pytest.param(
            run("api error"),
            [not_taken(400, "blocked by content filtering policy")],
            Broke("the model declined the task"),
            id="its answer is kept back",
        ),
        pytest.param(run("api error"), [not_taken(429, "")], Away, id="too many requests, whoever asks"),
        pytest.param(run("api error"), [not_taken(302, "")], Away, id="no API at this address"),
        pytest.param(
            run("api error"),
            [refused("meter_day_cap")],
            NoMoney("the meter refused: the words of meter_day_cap"),
            id="day",
        ),
        pytest.param(run("api error"), [refused("meter_upkeep_cap")], NoShare, id="the share of upkeep"),
        pytest.param(run("edited"), [call(), refused("meter_upkeep_cap")], NoShare, id="in the middle"),
        pytest.param(run("api error"), [refused("meter_model_paused")], Away, id="its model is paused"),
        pytest.param(run("api error"), [refused("meter_paused")], NoMoney, id="all spending is paused"),
        pytest.param(run("edited"), [call(), refused("meter_month_cap")], NoMoney, id="refused in the middle"),
        pytest.param(run("api error"), [call(), refused("meter_stopping")], Disturbed, id="the team is being stopped"),
        pytest.param(run("edited"), [call("lost", "", "meter_stopping")], Disturbed, id="cut because it is stopped"),
        pytest.param(run("edits failed"), [call(stop="max_tokens")], Broke, id="the answer was too long"),
        pytest.param(run(), [call(stop="refusal")], Broke("the model declined the task"), id="the model declined"),
    ],
)
def test_what_becomes_of_a_run(engine: EngineRun, calls: list[CallRecord], verdict: object) -> None:
    found = judge(engine, calls)
    assert isinstance(found, verdict) if isinstance(verdict, type) else found == verdict


@pytest.mark.parametrize(
    ("last", "retry"),
    [
        pytest.param(refused("meter_task_cap"), False, id="the task's cap: no further run is paid for"),
        pytest.param(call(stop="max_tokens", clamped=True), False, id="cut because the budget allowed no more"),
        pytest.param(refused("meter_call_cap"), True, id="too many calls in one run"),
        pytest.param(call(stop="max_tokens"), True, id="a long answer may be shorter next time"),
    ],
)
def test_whether_trying_again_can_help(last: CallRecord, retry: bool) -> None:
    found = judge(run("api error"), [last])
    assert isinstance(found, Broke) and found.retry is retry


REPEATED = call("lost", "", "meter_upstream", answered=None)


@pytest.mark.parametrize(
    ("calls", "alive"),
    [
        pytest.param([], False, id="no call yet"),
        pytest.param([call(), call()], False, id="all calls are answered"),
        pytest.param([refused("meter_day_cap")], False, id="refused"),
        pytest.param([call(), call("open", answered=None)], True, id="the model answers: how long is for the meter"),
        pytest.param([call("open", answered=None), call()], True, id="one of two at once is answered"),
        pytest.param([call(), REPEATED], True, id="the meter waits to ask a busy model again"),
        pytest.param([REPEATED, call()], False, id="it was asked again"),
        pytest.param([call("lost", "", "meter_cut", answered=None)], False, id="the engine hung up"),
    ],
)
def test_while_the_meter_waits_there_is_a_pulse(calls: list[CallRecord], alive: bool) -> None:
    assert (pulse(calls) != pulse(calls)) is alive


def test_each_call_is_a_pulse() -> None:
    assert len({pulse(calls) for calls in ([], [call()], [call(), refused("meter_day_cap")])}) == 3
