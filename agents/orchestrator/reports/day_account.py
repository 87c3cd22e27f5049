"""The books -> DayAccount: how a day went, in numbers that nobody made up. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sisimpur.agents.orchestrator.board.plan_approval import waits
from sisimpur.agents.orchestrator.board.stuck import stuck_tasks, told_once
from sisimpur.agents.orchestrator.deploys.deploying import DeployRules
from sisimpur.agents.orchestrator.goals.standing import beside
from sisimpur.agents.orchestrator.integration.feature_branches import open_branches, own_target
from sisimpur.agents.orchestrator.planning.daily_planner import question_line
from sisimpur.agents.orchestrator.planning.researching import note_path
from sisimpur.agents.orchestrator.publishing.gate_text import digest
from sisimpur.agents.orchestrator.reports.account import (
    DayAccount,
    GoalAccount,
    Kind,
    PlanAccount,
    QuestionAccount,
    ResearchAccount,
    TaskAccount,
)
from sisimpur.agents.orchestrator.reports.books import DeployDays, ReportBooks
from sisimpur.agents.orchestrator.reports.reflecting import Lately, reflect
from sisimpur.agents.orchestrator.reports.reflection import Reflection
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import open_questions
from sisimpur.agents.orchestrator.roadmap.roadmapping import RoadmapLook
from sisimpur.agents.orchestrator.roadmap.weeks import looked_from, monday_of
from sisimpur.agents.orchestrator.upkeep import upkeep
from sisimpur.agents.orchestrator.vision.goal_ids import is_note
from sisimpur.agents.orchestrator.vision.told_guards import changes
from sisimpur.shared.model.lifecycle import Card, Event, State, is_over, waits_for, worded
from sisimpur.shared.model.work import DailyPlan, Goal, Question, TaskSpec, Vision
from sisimpur.shared.money.ticket import Share, added, totals
from sisimpur.shared.money.token_budget import Totals, month_of, next_cap
from sisimpur.shared.notify.notice import key_of_day
from sisimpur.shared.notify.notice_book import Slip
from sisimpur.shared.store.ended_tasks import EndedWanted, TaskLife
from sisimpur.shared.store.plan_book import Trouble
from sisimpur.shared.store.task_records import TaskRecord

NOTHING: Mapping[str, str] = MappingProxyType({})


class DayBooks:
    """What the books say of one day. `backed_off`: tasks that nobody touches for a while, and why.

    `today`: the day that it is now. `deploys`: None: they are not asked for.
    """

    def __init__(
        self,
        books: ReportBooks,
        day: str,
        today: str,
        backed_off: Mapping[str, str] = NOTHING,
        deploys: DeployDays | None = None,
    ) -> None:
        accepted = books.plans.accepted()
        self._books = books
        self._tasks = books.tasks
        self._journal = books.tasks.journal
        self._clean = books.cleaned
        self._day = day
        self._today = today
        self._backed_off = backed_off
        self._deploys = deploys
        self._vision = accepted.vision if accepted else Vision()
        self._snapshot = books.tasks.snapshot()
        self._stuck = {one.task: one for one in told_once(stuck_tasks(self._snapshot))}
        lives = self._lives()
        self._known = {id_: life.record for id_, life in lives.items()}
        self._histories = {id_: life.history for id_, life in lives.items()}
        self._used = books.money.ledger.used_by(self._known)
        self._shares = books.money.ledger.breakdown(month_of(looked_from(day)), month_of(day))
        self._cost = _cost_per_task(self._shares, day)

    @cached_property
    def _roadmap(self) -> RoadmapLook:
        """Not read for what cannot wait: it tells of tasks alone."""
        return self._books.roadmap.look(self._day)

    def account(self, kind: Kind | None = None, missed: Sequence[str] = ()) -> DayAccount:
        """`kind`: where the caller knows better than the books; `missed`: the days just before."""
        rules = self._deploys.rules if self._deploys else DeployRules()
        found = self._account(kind, missed)
        found = replace(found, board=self._books.board, heard=self._books.heard)
        return replace(found, deploys_as=rules.as_whom, deploys_refused=rules.refused)

    def _account(self, kind: Kind | None, missed: Sequence[str]) -> DayAccount:
        day, plans, money = self._day, self._books.plans, self._books.money
        plan, lessons = plans.plan(day) or DailyPlan(day), self._books.learned.lessons.all()
        questions = self._questions()
        pulls = self._tasks.pull_addresses() if self._snapshot.board.cards else NOTHING  # of what is open
        tasks = {task.id: task for task in self.tasks(pulls)}
        goals = tuple(self._goal(goal, tasks, questions, plan) for goal in self._goals())
        theirs = {task.id for goal in goals for task in goal.tasks}
        ledger, cap, troubles = money.ledger, self._cap(), self._troubles()
        spent, is_capped = totals(self._shares, day, cap), ledger.is_reached(day, cap)
        return DayAccount(
            day=day,
            kind=kind or self._kind(spent, plan, tasks, troubles),
            goals=goals,
            others=tuple(task for id_, task in tasks.items() if id_ not in theirs and _is_told(task)),
            spent=spent,
            month=totals(self._shares, month_of(day), money.caps.month),
            week=added((one for one in self._shares if monday_of(one.day) == monday_of(day)), cap=0),
            saved=money.savings.total(month_of(day)),
            course=ledger.course(day),
            plan=self._plan(plan),
            roadmap=self._roadmap.account,
            deferred=self._clean(goal.title for goal in plan.deferred),
            questions=tuple(map(self._question, questions)),
            guards=self._clean(changes(plans.guards(), plans.guards_before(day), self._vision.wishes, day)),
            troubles=troubles,
            stopped=ledger.paused(),
            is_capped=is_capped,
            raise_to=next_cap(cap, money.caps) if is_capped and day == self._today else 0,
            blocked=self._clean(self._blocked()),
            unsent=self._unsent(),
            missed=tuple(missed),
            deploys=self._deploys.of(day) if self._deploys else (),
            deploys_paused=self._deploys.paused() if self._deploys else "",
            research=tuple(self._research()),
            learned=self._clean(f"{one.agent}: {one.text}" for one in lessons if one.learned == day),
            lessons_used=sum(one.used for one in lessons),
            lessons_passed=sum(one.passed for one in lessons),
            reflection=self._reflection(),
        )

    def _cap(self) -> int:
        """That of a day before may be another by now: it had the one that was kept with it."""
        day, money = self._day, self._books.money
        return (money.days.cap(day) if day < self._today else None) or money.cap_of(day)

    def asked(self) -> Mapping[str, QuestionAccount]:
        """The open questions, each by its goal and words: what is looked up about it later makes it no other one."""
        return {digest(f"{one.goal_id}\n{one.text}"): self._question(one) for one in self._questions()}

    def unapproved(self) -> Mapping[str, str]:
        """The tasks that begin with the owner's yes, each by a digest of its name."""
        return {digest(card.id): self._title(card, card.id) for card in waits(self._snapshot.board)}

    def _questions(self) -> Sequence[Question]:
        return open_questions(self._books.plans, self._books.roadmap.sources.book, self._vision)

    def _question(self, question: Question) -> QuestionAccount:
        (text,) = self._clean((f"{question_line(question, self._titles())}{self._looked_up(question)}",))
        return QuestionAccount(text, "" if is_note(question.goal_id) else question.goal_id)

    def _kind(
        self, spent: Totals, plan: DailyPlan, tasks: Mapping[str, TaskAccount], troubles: Sequence[Trouble]
    ) -> Kind:
        at_work = bool(spent.used or plan.tasks or any(task.is_of_the_day for task in tasks.values()))
        return "failed" if troubles else "worked" if at_work else "idle"

    def _reflection(self) -> Reflection:
        lately = Lately(self._known, self._histories, self._used, self._shares)
        words = (trouble.text for trouble in self._books.plans.troubles(self._day))
        return reflect(self._tasks, words, self._day, lately, self._backed_off)

    def _plan(self, plan: DailyPlan) -> PlanAccount:
        proposed = upkeep.lines(self._books.learned.upkeep.look(plan.day))
        titles = self._clean(task.title for task in plan.tasks)
        return PlanAccount(titles, plan.forecast, self._clean(proposed))

    def tasks(self, pulls: Mapping[str, str] = NOTHING) -> Iterable[TaskAccount]:
        """Every task that there may be something to tell of; `pulls`: addresses by task."""
        for known in self._known.values():
            if self._may_be_told(known):
                yield self._task(known, self._card(known.id), pulls.get(known.id, ""))
        for card in self._snapshot.board.cards:
            if card.id not in self._known:
                yield TaskAccount(card.id, self._title(card, card.id), card.state)

    def _lives(self) -> Mapping[str, TaskLife]:
        """Of what is open, of the vision's goals, given up by the team, or got on in the weeks that are told."""
        journal, cards = self._journal, self._snapshot.board.by_id
        failed = journal.places()[State.FAILED]
        given_up = journal.times_of(Event.EXHAUSTED).keys() & failed if failed else failed
        goals, since = [goal.id for goal in self._vision.goals], looked_from(self._day)
        return self._tasks.ended.lives(EndedWanted(goals, {*cards, *given_up}, since), journal, self._today)

    def _may_be_told(self, known: TaskRecord) -> bool:
        """The others are only counted."""
        told = any(one.at[:10] == self._day or one.event is Event.EXHAUSTED for one in self._histories[known.id])
        return told or known.id in self._snapshot.board.by_id or known.goal_id in self._titles()

    def _card(self, task: str) -> Card | None:
        """Of one that is over, too: with what its file says."""
        board = self._snapshot.board
        card = board.card(task)
        if card is None or task in board.by_id:
            return card
        spec = self._tasks.store.read(card.state, task).spec
        return replace(card, spec=spec if isinstance(spec, TaskSpec) else None)

    def attempt(self, task: str) -> int:
        """The number of its last attempt; 0: none was begun."""
        known = self._known.get(task)
        return known.last.number if known and known.last else 0

    # -- goals ------------------------------------------------------------------------------------------------

    def _goals(self) -> list[Goal]:
        return sorted(self._vision.goals, key=lambda goal: (goal.priority.rank, goal.line))

    def _titles(self) -> dict[str, str]:
        return {goal.id: goal.title for goal in self._vision.goals}

    def _goal(
        self, goal: Goal, tasks: Mapping[str, TaskAccount], questions: Sequence[Question], plan: DailyPlan
    ) -> GoalAccount:
        """The tasks of its present wording."""
        now = worded(goal)
        ids = [known.id for known in self._known.values() if (known.goal_id, known.wording) == now]
        return GoalAccount(
            title=self._books.clean(goal.title),
            priority=goal.priority,
            tasks=tuple(tasks[id_] for id_ in ids),
            is_asked_about=any(question.goal_id == goal.id for question in questions),
            is_deferred=now in map(worded, plan.deferred),
            placed=self._books.roadmap.placed(goal.id, self._day),
            grows_on=open_branches(self._journal).get(goal.id, ""),
            **self._end(goal),
        )

    def _end(self, goal: Goal) -> dict[str, Any]:
        stands = self._roadmap.standings.get(goal.id)
        if stands is None:
            return {}
        told = self._books.clean(stands.told)
        return {"told": told, "is_unsettled": stands.is_open, "is_again": stands.end == "plan again"}

    # -- tasks ------------------------------------------------------------------------------------------------

    def _task(self, known: TaskRecord, card: Card | None, pull: str) -> TaskAccount:
        history = [event for event in self._histories[known.id] if event.at[:10] <= self._day]
        last = history[-1] if history else None
        state = card.state if card and card.state is not State.GONE else known.seen_in
        ended = last.event if last and last.target is state and is_over(state) else None
        task = TaskAccount(
            id=known.id,
            title=self._title(card, known.title),
            state=state,
            ended=ended,
            is_of_the_day=bool(last and last.at[:10] == self._day),
            note=self._books.clean(last.note or str(last.event)) if last else "",
            pull=pull,
            cost=self._used[known.id].amount,
            cost_of_day=self._cost.get(known.id, 0),
            asks=self._asks(known, state),
            words=self._clean(beside(self._books.roadmap.sources.goals.words.of([known.goal_id]), known.id)),
            into=own_target(self._journal, known),
            refused=self._clean(known.refused),
        )
        task = self._with_obstacle(task, card)
        return self._with_evidence(task) if task.merged else task

    def _with_obstacle(self, task: TaskAccount, card: Card | None) -> TaskAccount:
        if one := self._stuck.get(task.id):
            return replace(task, stuck=self._books.clean(one.words), ways=one.ways)
        is_behind = any(task.id in one.behind for one in self._stuck.values())
        return replace(task, held_up=waits_for(card, self._snapshot.board)) if card and is_behind else task

    def _title(self, card: Card | None, title: str) -> str:
        return self._books.clean(card.spec.title if card and card.spec else title)

    def _asks(self, known: TaskRecord, state: State) -> tuple[str, ...]:
        """Nothing once he has answered."""
        parked = self._tasks.waiting(known) if state is State.IN_REVIEW else None
        if parked is None or self._tasks.gates.is_approved(parked):
            return ()
        return self._clean(parked.reasons)

    def _with_evidence(self, task: TaskAccount) -> TaskAccount:
        """What tests and review said of exactly the commit that was merged: the newest one that counts."""
        attempts = [one for one in self._known[task.id].attempts if one.outcome == "ok"]
        found, reviewed = self._tasks.said_of(task.id, attempts[-1]) if attempts else (None, None)
        task = replace(task, effect=self._books.clean(reviewed.effect)) if reviewed else task
        if found is None:
            return task
        known = found.covered is not None and found.covered_before is not None
        change = (found.covered or 0.0) - (found.covered_before or 0.0) if known else None
        return replace(task, new_tests=len(found.new_tests), coverage=change)

    # -- the rest ---------------------------------------------------------------------------------------------

    def _research(self) -> Iterator[ResearchAccount]:
        for looked in self._books.learned.research.all():
            if looked.answered_on == self._day and looked.findings:
                question, recommendation = self._clean((looked.inquiry.text, looked.findings.recommendation))
                yield ResearchAccount(question, recommendation, note_path(looked))

    def _looked_up(self, question: Question) -> str:
        """Where the owner reads what the web says about it."""
        known = (one for one in self._books.learned.research.all() if question.goal_id and one.slug)
        notes = [note_path(one) for one in known if one.inquiry.goal_id == question.goal_id]
        return f" (looked up: {', '.join(notes)})" if notes else ""

    def _troubles(self) -> tuple[Trouble, ...]:
        found = self._books.plans.troubles(self._day)
        return tuple(Trouble(trouble.phase, self._books.clean(trouble.text)) for trouble in found)

    def _blocked(self) -> Iterator[str]:
        yield from (f"not asked any more: {reason}" for reason in self._books.money.ledger.paused_models())
        yield from self._snapshot.unreadable
        yield from (f"{id_}: {why}" for id_, why in self._backed_off.items())

    def _unsent(self) -> tuple[str, ...]:
        """At services that the owner still has."""
        messages = self._books.messages
        names = {notifier.name for notifier in messages.notifiers}
        found = messages.book.unsent(key_of_day(self._day)) if names else ()
        return self._clean(_unsent(slip) for slip in found if slip.service in names)


def _cost_per_task(shares: Iterable[Share], day: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for share in shares:
        if share.day == day:
            found[share.task] = found.get(share.task, 0) + share.spent + share.reserved + share.lost
    return found


def _is_told(task: TaskAccount) -> bool:
    return task.is_open or task.is_of_the_day or task.failed


def _unsent(slip: Slip) -> str:
    perhaps = "perhaps not delivered" if slip.is_perhaps_there else "not delivered"
    return f"{slip.title} ({slip.service}): {perhaps}{f': {slip.why}' if slip.why else ''}"
