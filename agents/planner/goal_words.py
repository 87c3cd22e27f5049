"""What the planner model says of goals beside their tasks -> words to keep, and measures that can be taken. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sisimpur.agents.planner.plan_rules import verdicts
from sisimpur.agents.planner.task_spec import ClaimedMeasure, GoalReply, GoalVerdict, PlanReply
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind, PlanOrder

MOST_REMARKS, LONGEST_WORD = 6, 500  # of one goal
MOST_MEASURES, LONGEST_OF = 3, 300  # of one goal
TOOL = re.compile(r"[a-z][a-z0-9-]{0,39}")


def words(reply: PlanReply, order: PlanOrder) -> tuple[GoalWord, ...]:
    """What was seen of goals that are planned, remarks to the owner, what is left for later; each one line."""
    return tuple(word for goal, answer in _planned(reply, order) for word in _words(goal, answer))


def _planned(reply: PlanReply, order: PlanOrder) -> Iterator[tuple[Goal, GoalReply]]:
    """Of the others, the answer's text reaches the owner as a question."""
    answers = verdicts(reply)
    for goal in order.goals:
        if (answer := answers.get(goal.id)) and answer.verdict is GoalVerdict.TASKS:
            yield goal, answer


def _words(goal: Goal, answer: GoalReply) -> Iterator[GoalWord]:
    """What it saw that makes work necessary comes first: a half-true goal is told so from the beginning."""
    remarks = filter(None, (one_line(text, LONGEST_WORD) for text in (answer.text, *answer.remarks)))
    yield from (GoalWord(goal.id, "remark", text) for text in list(dict.fromkeys(remarks))[:MOST_REMARKS])
    if left := one_line(answer.left, LONGEST_WORD):
        yield GoalWord(goal.id, "left", left)


def measures(reply: PlanReply, order: PlanOrder) -> tuple[tuple[tuple[str, Measure], ...], tuple[str, ...]]:
    """(goal, measure) of those that are well formed, and a note on each other one."""
    found: dict[tuple[str, Measure], None] = {}
    notes = []
    for goal, answer in _planned(reply, order):
        for claimed in answer.measures[:MOST_MEASURES]:
            if measure := _measure(claimed):
                found[goal.id, measure] = None
            else:
                what = one_line(f"{claimed.kind} of {claimed.of}", 120)
                notes.append(
                    f'"{one_line(goal.title, 100)}" is not measured by {what!r}: that names nothing to measure.'
                )
    return tuple(found), tuple(notes)


def _measure(claimed: ClaimedMeasure) -> Measure | None:
    """None: nobody could take it, whatever the repository holds."""
    of = claimed.of.strip()
    if not (math.isfinite(claimed.figure) and of.isprintable() and len(of) <= LONGEST_OF and _names(claimed.kind, of)):
        return None
    if claimed.bound == "at_least":
        return Measure(claimed.kind, of, at_least=claimed.figure)
    return Measure(claimed.kind, of, at_most=claimed.figure)


def _names(kind: MeasureKind, of: str) -> bool:
    first, _, rest = of.partition(" ")
    match kind:
        case MeasureKind.COVERAGE:
            return _is_place(of)
        case MeasureKind.FINDINGS:
            place = " ".join(word for word in rest.split() if not word.startswith("--"))
            return bool(TOOL.fullmatch(first)) and _is_place(place)
        case MeasureKind.TEST | MeasureKind.TIMING:
            return is_plain_path(of.partition("::")[0])
        case MeasureKind.PROPERTY:
            path, _, text = rest.partition(" ")
            is_whole = bool(text.strip()) if first == "matches" else not text and first in ("lines", "bytes")
            return is_whole and is_plain_path(path)


def _is_place(text: str) -> bool:
    """A file or a folder; a dot: all of the repository."""
    return text == "." or is_plain_path(text.rstrip("/"))
