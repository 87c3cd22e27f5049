"""(EngineRun, the meter's record) -> what became of a run. Pure; what the engine says of itself is only half of it.

While it runs, the record tells whether anything happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sisimpur.agents.coder.engine.engine import EngineRun
from sisimpur.shared.model.text import one_line
from sisimpur.shared.money.ticket import MODEL_PAUSED, UNTRUE, CallRecord, is_filtered

EDIT = "<<<<<<< SEARCH"  # how an edit begins
LONGEST_WORDS = 300  # characters: a few sentences, and a report shows them whole
OF_THE_REQUEST = (400, 422)  # what a vendor answers about one request
NO_MONEY = ("meter_day_cap", "meter_month_cap", "meter_total_cap", "meter_paused", "meter_halted", "meter_clock")


@dataclass(frozen=True)
class Worked:
    """The engine edited files, and its last answer came whole. Whether the edits are good is for others to say."""


@dataclass(frozen=True)
class InWords:
    """The model answered, whole and in words alone: it cannot be done, or what was found is wrong. One line."""

    words: str


@dataclass(frozen=True)
class Broke:
    """Run without a result worth keeping. `retry` is False when the same run would end the same way."""

    reason: str
    retry: bool = True


@dataclass(frozen=True)
class NoMoney:
    """A cap that is not the task's own stopped it: nothing is wrong with the task."""

    reason: str


@dataclass(frozen=True)
class NoShare:
    """Upkeep has spent its share of today, and nobody asked for this task: nothing is wrong with it."""

    reason: str


@dataclass(frozen=True)
class Disturbed:
    """Something around the engine failed: nothing is wrong with the task."""

    reason: str


@dataclass(frozen=True)
class Away:
    """The model did not answer anybody: nothing is wrong with the task, nor with the engine."""

    reason: str


@dataclass(frozen=True)
class TurnedDown:
    """The vendor did not take this request: nothing is wrong with the model, and others may ask it."""

    reason: str


Verdict = Worked | InWords | Broke | NoMoney | NoShare | Disturbed | Away | TurnedDown


def judge(run: EngineRun, calls: Sequence[CallRecord]) -> Verdict:
    """The meter's last word on the run comes first: no exit code contradicts a refused or cut answer."""
    last = calls[-1] if calls else None
    if last is None and run.end in ("api error", "crashed", "stopped"):
        return Disturbed(f"the engine asked no model ({run.end}: {run.detail})")
    if last and last.code == "meter_stopping":
        return Disturbed("the team was being stopped")
    if last and last.code in ("meter_upstream", "meter_retry_later"):
        return Away(
            "the model did not answer; check the network, or ANTHROPIC_BASE_URL in config/.env,"
            " or type: python main.py doctor"
        )
    if last and last.code == "meter_upstream_refused":
        return _not_taken(last)
    if last and last.code == MODEL_PAUSED:
        return Away(last.note)
    if last and last.state == "refused":
        return _refused(last)
    if last and last.clamped and last.stop_reason == "max_tokens":
        return Broke("the answer was cut because the budget allowed no longer one", retry=False)
    if last and last.stop_reason == "max_tokens":
        return Broke("the answer was longer than max_tokens; raise it in config/agents.yaml or make the task smaller")
    if last and last.stop_reason == "refusal":
        return Broke("the model declined the task")
    if run.end == "stalled":
        return Disturbed(run.detail)
    if run.end == "killed":
        return Disturbed(f"{run.detail}, twice")
    is_whole = last is not None and last.stop_reason == "end_turn" and (last.state == "settled" or last.code == UNTRUE)
    if run.end == "no edits" and is_whole and (words := spoken(run.reply)):
        return InWords(words)
    if run.end != "edited":
        return Broke(f"{run.end}: {run.detail}" if run.detail else run.end)
    if not is_whole:
        return Broke("files were changed, but the meter saw no complete answer")
    return Worked()


def _not_taken(call: CallRecord) -> Away | Broke | TurnedDown:
    """What the vendor says of one request is no word about those of others; of too many, or of an address, it is."""
    if is_filtered(call.note):
        return Broke("the model declined the task")
    where = "check coder in config/agents.yaml, or type: python main.py logs --agent meter"
    if call.status not in OF_THE_REQUEST:
        return Away(f"the model's API refuses whatever the engine asks ({call.status}); {where}")
    return TurnedDown(f"{call.model}: the engine's request was refused: {one_line(call.note, 200)}; {where}")


def spoken(reply: str) -> str:
    """What it says, as one line; empty: it wanted to edit, or says nothing."""
    words = "" if EDIT in reply else one_line(reply, LONGEST_WORDS)
    return words if any(map(str.isalpha, words)) else ""


def _refused(call: CallRecord) -> Broke | NoMoney | NoShare:
    if call.code in NO_MONEY:
        return NoMoney(f"the meter refused: {call.note}")
    if call.code == "meter_upkeep_cap":
        return NoShare(f"the meter refused: {call.note}")
    if call.code in ("meter_task_cap", "meter_ticket_cap"):
        return Broke(call.note, retry=False)
    if call.code == "meter_call_cap":
        return Broke("it used all its model calls (config/agents.yaml, engine.calls) without an end")
    return Broke(f"the meter refused: {call.code}")


def pulse(calls: Sequence[CallRecord]) -> object:
    """Another answer than before means that something happens. While the meter waits, each answer is another one.

    How long it waits for a model is the meter's to say, not ours: for an answer, or to repeat a call.
    """
    waits = any(call.state == "open" for call in calls) or (calls and _is_repeated(calls[-1]))
    return object() if waits else len(calls)


def _is_repeated(call: CallRecord) -> bool:
    """The caller has seen nothing of it. That holds for a call that was cut, too, but nobody repeats that."""
    return call.answered is None and call.code not in ("meter_cut", "meter_restart", "meter_stopping")
