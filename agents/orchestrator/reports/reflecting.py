"""The books -> Reflection: what failed on a day and whose turn it is, how the weeks went. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sisimpur.agents.orchestrator.integration.feature_branches import lands
from sisimpur.agents.orchestrator.reports.books import TaskBooks
from sisimpur.agents.orchestrator.reports.reflection import (
    AWAY,
    STOPPED,
    Cause,
    ClassifiedFailure,
    DayFailure,
    Reflection,
    Standing,
    by_words,
    classify,
    reflected,
    undecided,
)
from sisimpur.agents.orchestrator.roadmap.weeks import Burnt, TaskEnding, ended_in, ends_by_week, first_monday, weeks
from sisimpur.shared.model.lifecycle import Event, is_over
from sisimpur.shared.money.ticket import Share, Used
from sisimpur.shared.money.token_budget import month_of
from sisimpur.shared.store.gate_book import AwaitingOwner
from sisimpur.shared.store.task_records import Attempt, Happened, TaskRecord

STANDINGS: Mapping[Event, Standing] = {Event.MERGED: "mended", Event.EXHAUSTED: "given up", Event.CANCELLED: "rejected"}


@dataclass(frozen=True)
class Lately:
    """What the books say of the weeks that are looked at: at least of each task that is open, or got on in them.

    All by task, but `shares`: who used how much on each day.
    """

    known: Mapping[str, TaskRecord]
    histories: Mapping[str, Sequence[Happened]]
    used: Mapping[str, Used]
    shares: Iterable[Share]


def reflect(
    tasks: TaskBooks, troubles: Iterable[str], day: str, lately: Lately, backed_off: Mapping[str, str]
) -> Reflection:
    """`troubles`: what kept the day's phases from their end. `backed_off`: tasks that nobody touches now, and why."""
    begun, parked = [one for one in lately.known.values() if one.last], tasks.gates.parked_since(day)
    lives = [_Life(tasks, day, one, lately.histories[one.id], parked.get(one.id)) for one in begun]
    brought = {one.id for one in begun if lands(one)}  # the work of others: no task by which the team is measured
    setbacks = [ClassifiedFailure(life.id, classify(one), life.standing) for life in lives for one in life.failures()]
    setbacks += _not_begun(tuple(troubles), lives, backed_off)
    measured = [life for life in lives if life.id not in brought]
    endings = [ending for life in measured for ending in life.endings(lately.used[life.id])]
    burnt = (Burnt(one.day, one.agent, one.tokens_in + one.tokens_out) for one in lately.shares)
    month = ended_in(month_of(day), (life.happened for life in measured))
    return reflected(setbacks, weeks(endings, burnt, day), month, day)


class _Life:
    """What the books say of a task that was begun, up to the end of a day. `parked`: last, on that day or later."""

    def __init__(
        self, tasks: TaskBooks, day: str, known: TaskRecord, history: Iterable[Happened], parked: AwaitingOwner | None
    ) -> None:
        self.id = known.id
        self._parked = parked
        self._tasks = tasks
        self._day = day
        self._date = date.fromisoformat(day)
        self._minutes = known.tried.minutes
        self._history = [event for event in history if event.at[:10] <= day]
        self._attempts = [one for one in known.attempts if one.ended_at and one.ended_at.date() <= self._date]

    @property
    def standing(self) -> Standing:
        last = self._history[-1] if self._history else None
        return STANDINGS.get(last.event, "over") if last and is_over(last.target) else "open"

    @property
    def happened(self) -> Iterator[tuple[str, Event]]:
        """When, and what; the oldest first."""
        return ((event.at, event.event) for event in self._history)

    # -- failures ---------------------------------------------------------------------------------------------

    def failures(self) -> Iterator[DayFailure]:
        """Of that day. The end of a task stands for all of its tries."""
        last = self._history[-1] if self._history else None
        if last and last.at[:10] == self._day and last.event is Event.CANCELLED:
            yield DayFailure(self.id, "rejected", last.note)
        elif last and last.at[:10] == self._day and last.event is Event.EXHAUSTED:
            yield DayFailure(self.id, "given up", last.note, before=self._tries(self._attempts))
        else:
            yield from self._tries_of_the_day()
            yield from self._waits()

    def _tries_of_the_day(self) -> Iterator[DayFailure]:
        for number, one in enumerate(self._attempts, 1):
            if one.ended_at and one.ended_at.date() == self._date:
                yield from self._tries(self._attempts[:number])[-1:] if _is_failure(one) else ()

    def _tries(self, attempts: Sequence[Attempt]) -> tuple[DayFailure, ...]:
        """Those that failed, of the round of the last of them, the oldest first; each knows the earlier ones."""
        found: tuple[DayFailure, ...] = ()
        for one in attempts:
            if _is_failure(one) and one.round == attempts[-1].round:
                found = (*found, self._failure(one, found))
        return found

    def _failure(self, one: Attempt, before: tuple[DayFailure, ...]) -> DayFailure:
        match one.outcome:
            case "sent back":
                return DayFailure(self.id, "sent back", one.note, self._tasks.evidence(self.id, one), before)
            case "lost":
                return DayFailure(self.id, "lost", one.note, before=before)
            case _:
                return DayFailure(self.id, "failed", one.note, before=before)

    def _waits(self) -> Iterator[DayFailure]:
        """What only the owner can go on with, since its tests or its review do not decide."""
        parked = self._parked
        if parked and parked.at and parked.at.date() == self._date and self._attempts:
            failure = DayFailure(
                self.id, "waits", "\n".join(parked.reasons), self._tasks.evidence(self.id, self._attempts[-1])
            )
            if undecided(failure):
                yield failure

    # -- ends -------------------------------------------------------------------------------------------------

    def endings(self, used: Used) -> Iterator[TaskEnding]:
        """One for each week that is looked at, if the week left the task at an end."""
        ends = ends_by_week(self.happened)
        for monday, (at, event) in ends.items():
            if monday >= first_monday(self._day):
                merged, sent_back = event is Event.MERGED, self._sent_back(at)
                yield TaskEnding(self.id, at[:10], merged, sent_back, used.amount, self._minutes, used.tokens)

    def _sent_back(self, until: str) -> int:
        end = datetime.fromisoformat(until)
        return sum(
            one.outcome == "sent back" and one.ended_at is not None and one.ended_at <= end for one in self._attempts
        )


def _is_failure(attempt: Attempt) -> bool:
    return attempt.outcome in ("failed", "lost", "sent back") and attempt.note != STOPPED


def _not_begun(
    troubles: Sequence[str], lives: Iterable[_Life], backed_off: Mapping[str, str]
) -> Iterator[ClassifiedFailure]:
    """What was missing: a sandbox, the tests' environment. For a task if the books name one, else for everybody."""
    if not troubles and not backed_off:
        return
    found, begun = False, {life.id: life.standing for life in lives}
    for task in dict.fromkeys((*begun, *backed_off)):
        told = [rest for text in troubles if (rest := _told_of(task, text))]
        if cause := _away((backed_off.get(task, ""), *told)):
            found = True
            yield ClassifiedFailure(task, cause, begun.get(task, "open"))
    if not found and (cause := _away(troubles)):
        yield ClassifiedFailure("", cause)


def _away(words: Iterable[str]) -> Cause | None:
    """What was missing, if these are words about that."""
    return next((cause for cause in map(by_words, filter(None, words)) if cause in AWAY), None)


def _told_of(task: str, text: str) -> str:
    """What a phase's problems, one behind the other, say of that task; empty: nothing."""
    name = f"{task}: "
    _, found, rest = text.partition(f"; {name}")
    return text.removeprefix(name) if text.startswith(name) else rest if found else ""
