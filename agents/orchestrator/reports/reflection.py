"""What failed on a day, whose turn it is, and how the weeks went: decided, and as text. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from sisimpur.agents.orchestrator.memory.lesson import signature
from sisimpur.agents.orchestrator.memory.setbacks import facts_of_target
from sisimpur.agents.orchestrator.roadmap.weeks import Figure, Tally, Week, monday_of
from sisimpur.shared.model.evidence import Evidence, Failure
from sisimpur.shared.money.token_budget import in_dollars

Turn = Literal["coder", "planner", "planner or owner", "QA", "owner", "nobody"]
Standing = Literal["open", "mended", "given up", "rejected", "over"]  # of its task, when the day was over

# An attempt's end; the task's; "waits": its tests or review cannot decide; "not begun": what it needs is not there.
How = Literal["failed", "lost", "sent back", "given up", "rejected", "waits", "not begun"]


class Cause(StrEnum):
    IMPLEMENTATION = "implementation"  # red tests, findings, a refused change
    SPECIFICATION = "specification"  # it cannot be done as it is written, or is not wanted
    ENVIRONMENT = "environment"  # what is needed to work or to test is not there
    FLAKY = "flaky test"  # failed and passed on the same commit
    TIME_LIMIT = "time limit"  # minutes, silence, calls, tokens or memory of one task
    BUDGET = "budget"  # the owner's money for a task was used up
    OUTAGE = "outage"  # a model, an index or the machine was away: no role could have done better
    OWNERS_WORD = "your word"  # not wanted, and nobody knows why

    @property
    def turn(self) -> Turn:
        return TURNS[self]


TURNS: dict[Cause, Turn] = {
    Cause.IMPLEMENTATION: "coder",
    Cause.SPECIFICATION: "planner or owner",
    Cause.ENVIRONMENT: "owner",
    Cause.FLAKY: "QA",
    Cause.TIME_LIMIT: "planner",
    Cause.BUDGET: "owner",
    Cause.OUTAGE: "nobody",
    Cause.OWNERS_WORD: "nobody",
}
AWAY = (Cause.ENVIRONMENT, Cause.OUTAGE)  # nothing that a role has done is to blame
WITHOUT_A_REASON = ("", "closed by the owner")  # notes of a rejection
STOPPED = "the team was being stopped"  # the note of an attempt that nothing has failed in


@dataclass(frozen=True)
class DayFailure:
    """As the books hold it. `task`: empty: it stopped everybody. `before`: the earlier ones of the same round."""

    task: str
    how: How
    note: str = ""
    evidence: Evidence | None = None  # of the attempt's commit
    before: tuple[DayFailure, ...] = ()


@dataclass(frozen=True)
class ClassifiedFailure:
    """A failure of a day, classified."""

    task: str
    cause: Cause
    standing: Standing = "open"


@dataclass(frozen=True)
class Reflection:
    """A day's setbacks, its month, and the weeks with work, that of the day first; without work it has none."""

    setbacks: tuple[ClassifiedFailure, ...] = ()
    week: Week | None = None
    before: tuple[Week, ...] = ()
    month: Tally = field(default_factory=Tally)


def reflected(setbacks: Sequence[ClassifiedFailure], found: Sequence[Week], month: Tally, day: str) -> Reflection:
    """Each setback once; `found`: the newest week first."""
    week = next((one for one in found if one.monday == monday_of(day)), None)
    return Reflection(tuple(dict.fromkeys(setbacks)), week, tuple(one for one in found if one is not week), month)


# --- what kind of failure is it? -------------------------------------------------------------------------------

PHRASES: dict[Cause, tuple[str, ...]] = {  # how a note begins; the first that fits
    Cause.TIME_LIMIT: (
        r"(given up after \d+ attempts: )?it has used [\d,]+ tokens \(",
        r"(given up after \d+ attempts: )?it has been worked on for \d+ minutes \(",
        r"timed out(: |$)",
        r"token limit(: |$)",
        r"nothing happened for ",
        r"crashed: it was ended: it (took|wrote|printed) ",
        r"the answer was longer than max_tokens",
        r"it used all its model calls",
    ),
    Cause.BUDGET: (r"the answer was cut because the budget", r"(cap of this task|budget of this run) reached: "),
    Cause.OUTAGE: (
        r"api error(: |$)",
        r"files were changed, but the meter saw no complete answer",
        r"\S+ cannot be reached \(",
        r"cut off before ",
    ),
    Cause.ENVIRONMENT: (
        r"crashed(: |$)",
        r"the meter refused: ",
        r"the tests of (\S+ have no environment: |the base come to no end)",  # the latter in older books
        r"the tests do not run on the base: ",
        r"the target cannot be laid out: ",
        r"the set-up of \S+ was ended \(",
        r"the tests were interrupted: ",
        r"no working sandbox",
        r"the sandbox (did not start|does not hold)",
        r"the program \S+ is not in ",
        r"the coding engine is not installed",
        r"[^:;]+ cannot be written \(",
        r"its (tests were|review was) begun \d+ times",
        r"\S+ is at [\w ]+: somebody else moved it",
        r"the forge does not take ",
    ),
    Cause.SPECIFICATION: (
        r"the change was refused: .+: the task edits it, but it does not exist",
        r"the model declined the task",
        r"the coder (?:changed nothing|says that it cannot be done): ",
        r"it changes .+, which you have said not to touch",
        r"you closed pull request #\d+",
    ),
}
KNOWN = tuple((cause, re.compile(phrase, re.DOTALL)) for cause, phrases in PHRASES.items() for phrase in phrases)
OUT_OF_SCOPE = re.compile(
    r"no edits: refused |the change was refused: .+: ((it is deleted, but )?the task does not name it"
    r"|it lies outside of what tasks may touch|the owner guards )",
    re.DOTALL,
)
UNDECIDED = {"no evidence": Cause.ENVIRONMENT, "an old test is flaky now": Cause.FLAKY}  # rules, asked of the owner


def classify(failure: DayFailure) -> Cause:
    """Never raises, whatever the texts hold. What nobody can tell is the coder's."""
    match failure.how:
        case "rejected":
            return Cause.OWNERS_WORD if failure.note in WITHOUT_A_REASON else Cause.SPECIFICATION
        case "lost":
            return Cause.OUTAGE if by_words(failure.note) is Cause.OUTAGE else Cause.ENVIRONMENT
        case "given up":
            return _of_the_end(failure)
        case "waits":
            return undecided(failure) or Cause.IMPLEMENTATION
        case _:
            return _of_the_tests(failure.evidence) or _of_a_try(failure)


def by_words(note: str) -> Cause | None:
    """None: these are no words of ours that tell."""
    return next((cause for cause, phrase in KNOWN if phrase.match(note)), None)


def undecided(failure: DayFailure) -> Cause | None:
    """Of a change that waits: why nobody but the owner can go on. None: it is only his to judge."""
    asked = failure.evidence.needing("ask owner") if failure.evidence else ()
    return by_words(failure.note) or next((UNDECIDED[one.rule] for one in asked if one.rule in UNDECIDED), None)


def _of_the_tests(evidence: Evidence | None) -> Cause | None:
    """Of red tests. The base came to its end: if the change does not, it is the change."""
    if evidence is None or not evidence.is_red:
        return None
    shaky = frozenset(evidence.flaky)
    is_flaky = all(problem.tests and shaky.issuperset(problem.tests) for problem in evidence.needing("correct"))
    if is_flaky:
        return Cause.FLAKY
    return Cause.ENVIRONMENT if evidence.failures and all(map(_is_lacking, evidence.failures)) else Cause.IMPLEMENTATION


def _is_lacking(failure: Failure) -> bool:
    """The test failed for what its environment has not. Of modules and tables nobody knows here whose they are."""
    return bool(facts_of_target([failure.text], lambda _: True, touches_tables=True))


def _of_a_try(failure: DayFailure) -> Cause:
    strays_again = _strays(failure) and any(map(_strays, failure.before))
    return Cause.SPECIFICATION if strays_again else by_words(failure.note) or Cause.IMPLEMENTATION


def _strays(failure: DayFailure) -> bool:
    """It wanted to change what the task does not name: twice, and the task names too little."""
    return failure.how == "failed" and bool(OUT_OF_SCOPE.match(failure.note))


def _of_the_end(failure: DayFailure) -> Cause:
    """Of a task that was given up: at once, since no further try could help, or when its attempts were used up."""
    if found := by_words(failure.note):
        return found
    if not failure.before:
        return Cause.SPECIFICATION
    last = failure.before[-1]
    if failure.note != last.note:
        return _of_all(failure.before)
    found = classify(last)
    cannot_be_done = last.how == "failed" and found is Cause.IMPLEMENTATION
    return Cause.SPECIFICATION if cannot_be_done else found


def _of_all(tries: Sequence[DayFailure]) -> Cause:
    """The same again and again, or another each time: then the task is not clear."""
    judged = [(classify(one), one) for one in tries]
    found = [(cause, one) for cause, one in judged if cause not in AWAY]
    if 2 * len(found) < len(tries):
        return next(cause for cause, _ in reversed(judged) if cause in AWAY)
    causes, kinds = {cause for cause, _ in found}, {_kind(one) for _, one in found}
    is_one = len(causes) == 1 and (len(kinds) == 1 or Cause.IMPLEMENTATION not in causes)
    return causes.pop() if is_one else Cause.SPECIFICATION


def _kind(failure: DayFailure) -> object:
    if failure.evidence and failure.evidence.is_red:
        return frozenset((one.rule, one.tests) for one in failure.evidence.needing("correct"))
    return signature(failure.note) or failure.note


MOST_LINES = 6
MOST_TASKS = 5  # that are named of one cause
ENOUGH = 5  # tasks of which a percentage says something
TURN_WORDS: dict[Turn, str] = {
    "coder": "the coder's turn",
    "planner": "the planner's turn: smaller tasks",
    "planner or owner": "the planner's turn, or yours",
    "QA": "QA's turn",
    "owner": "your turn",
    "nobody": "",
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
    yield from itertools.islice(_weeks(found), 1)


# --- what failed -----------------------------------------------------------------------------------------------


def _causes(setbacks: Sequence[ClassifiedFailure]) -> Iterator[str]:
    for cause in Cause:
        theirs = [one for one in setbacks if one.cause is cause]
        if theirs:
            needs_somebody = any(one.standing in ("open", "given up") for one in theirs)
            turn = f" → {TURN_WORDS[cause.turn]}" if needs_somebody and TURN_WORDS[cause.turn] else ""
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
    month = f"{_of(found.month)} this month" if found.month.tasks else ""
    if found.week is None:
        yield from [f"merged {month}"] if month else []
        return
    before = found.before[0] if found.before else None
    merged = _merged(found.week.tally, before.tally if before else None)
    yield f"{merged}, {month}" if month else merged
    if found.week.merged:
        yield _per_merged(found.week, before)
    if len(found.before) > 1:
        yield f"the weeks before: {', '.join(f'{_rate(week.tally)} in week {week.number}' for week in found.before)}"


def _merged(week: Tally, before: Tally | None) -> str:
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
        "minutes": ("{} minutes", lambda number: f"{number:.0f}" if number >= 10 else f"{number:.1f}"),
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


def _is_enough(found: Tally) -> bool:
    return found.tasks >= ENOUGH


def _of(found: Tally) -> str:
    return f"{found.merged} of {found.tasks}"


def _rate(found: Tally) -> str:
    return f"{_of(found)} ({_percent(found.success)})" if _is_enough(found) else _of(found)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
