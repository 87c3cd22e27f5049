"""Reflection -> the section "How it goes" of the evening's report: at most six lines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agents.orchestrator.reports.reflection import Cause, ClassifiedFailure, Reflection, Turn
from agents.orchestrator.roadmap.weeks import Figure, Week
from shared.money.token_budget import in_dollars

MOST_LINES = 6
MOST_TASKS = 5  # that are named of one cause
ENOUGH = 5  # tasks of which a percentage says something
TURNS: dict[Turn, str] = {
    "coder": "the coder's turn",
    "planner": "the planner's turn: smaller tasks",
    "planner or owner": "the planner's turn, or yours",
    "QA": "QA's turn",
    "owner": "your turn",
}


def how_it_goes(found: Reflection) -> Iterator[str]:
    """What failed on the day, by its cause; then the week, compared with the one before. No word of a model in it."""
    told, causes = list(_weeks(found)), list(_causes(found.setbacks))
    room = MOST_LINES - len(told)
    if len(causes) > room:
        causes = [*causes[: room - 1], "; ".join(causes[room - 1 :])]
    yield from causes
    yield from told


def in_one_line(found: Reflection) -> Iterator[str]:
    """For a message: how much was merged."""
    if found.week:
        yield _merged(found.week, found.before[0] if found.before else None)


# --- what failed -----------------------------------------------------------------------------------------------


def _causes(setbacks: Sequence[ClassifiedFailure]) -> Iterator[str]:
    for cause in Cause:
        theirs = [one for one in setbacks if one.cause is cause]
        if theirs:
            needs_somebody = any(one.standing in ("open", "given up") for one in theirs)
            turn = f" → {TURNS[cause.turn]}" if needs_somebody else ""
            yield f"{cause}{turn}: {_tasks(theirs)}"


def _tasks(setbacks: Sequence[ClassifiedFailure]) -> str:
    rest = f", and {len(setbacks) - MOST_TASKS} more" if len(setbacks) > MOST_TASKS else ""
    return ", ".join(map(_task, setbacks[:MOST_TASKS])) + rest


def _task(one: ClassifiedFailure) -> str:
    if not one.task:
        return "all tasks"
    return f"`{one.task}`" if one.standing == "open" else f"`{one.task}` ({one.standing})"


# --- the weeks -------------------------------------------------------------------------------------------------


def _weeks(found: Reflection) -> Iterator[str]:
    if found.week is None:
        return
    before = found.before[0] if found.before else None
    yield _merged(found.week, before)
    if found.week.merged:
        yield _per_merged(found.week, before)
    if len(found.before) > 1:
        yield f"the weeks before: {', '.join(f'{_rate(week)} in week {week.number}' for week in found.before)}"


def _merged(week: Week, before: Week | None) -> str:
    facts = [_percent(week.success)] if _is_enough(week) else []
    if before:
        then = _percent(before.success) if _is_enough(before) else _of(before)
        facts.append(_moved(week.success, before.success, then))
    many = "" if _is_enough(week) else " tasks"
    told = f" ({', '.join(facts)})" if facts else ""
    return f"merged {_of(week)}{many} this week{told}"


def _per_merged(week: Week, before: Week | None) -> str:
    shown: dict[Figure, tuple[str, Callable[[float], str]]] = {
        "sent_back": ("sent back {} times", "{:.1f}".format),
        "cost": ("{}", lambda nano: in_dollars(round(nano))),
        "minutes": ("{} minutes", _minutes),
        "tokens": ("{} tokens", "{:,.0f}".format),
    }
    facts = [
        _figure(words, week.each(what), before.each(what) if before else None, show)
        for what, (words, show) in shown.items()
    ]
    words = "{} of the week's tokens for orchestration"
    share = _figure(words, week.orchestration, before.orchestration if before else None, _percent)
    return f"per merged task (of {len(week.merged)}) {', '.join(facts)}{f'; {share}' if share else ''}"


def _figure(words: str, now: float | None, before: float | None, show: Callable[[float], str]) -> str:
    """Empty: nobody knows."""
    if now is None:
        return ""
    moved = f" ({_moved(now, before, show(before), show(now))})" if before is not None else ""
    return f"{words.format(show(now))}{moved}"


def _moved(now: float, before: float, then: str, shown: str = "") -> str:
    """`then`, `shown`: the figures as they are read; what reads the same is the same."""
    if now == before or then == shown:
        return "as before"
    return f"{'↑' if now > before else '↓'} from {then}"


def _is_enough(week: Week) -> bool:
    return week.ended >= ENOUGH


def _of(week: Week) -> str:
    return f"{len(week.merged)} of {week.ended}"


def _rate(week: Week) -> str:
    return f"{_of(week)} ({_percent(week.success)})" if _is_enough(week) else _of(week)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _minutes(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"
