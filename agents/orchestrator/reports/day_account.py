"""The books -> DayAccount: how a day went, in numbers that nobody made up. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from agents.orchestrator.board.snapshot import load_snapshot
from agents.orchestrator.integration.feature_branches import open_branches, own_target
from agents.orchestrator.planning.daily_planner import question_line
from agents.orchestrator.reports.account import DayAccount, GoalAccount, Kind, PlanAccount, ResearchAccount, TaskAccount
from agents.orchestrator.reports.deploy_days import DeployDays
from agents.orchestrator.reports.reflecting import Lately, reflect
from agents.orchestrator.reports.report_notice import key_of_day
from agents.orchestrator.research.research_note import note_path
from agents.orchestrator.roadmap.roadmapping import account as roadmap
from agents.orchestrator.roadmap.roadmapping import placed
from agents.orchestrator.roadmap.weeks import first_monday
from agents.orchestrator.team import Desk
from agents.orchestrator.upkeep import upkeep
from agents.orchestrator.vision.goal_ids import wordings
from shared.forge.forge import task_of
from shared.model.errors import TeamError
from shared.model.lifecycle import Card, Event, State, is_over, wording
from shared.model.naming import attempt_ref
from shared.model.work import DailyPlan, Goal, Question, TaskSpec, Vision
from shared.money.ticket import Share, totals
from shared.money.token_budget import Caps, month_of, next_cap
from shared.notify.notice_book import Slip
from shared.store.gate_book import AwaitingOwner
from shared.store.plan_book import Trouble
from shared.store.task_records import Happened, TaskRecord

NOTHING: Mapping[str, str] = MappingProxyType({})


class DayBooks:
    """What the books say of one day. `aside`: tasks that nobody touches for a while, and why.

    `deploys`: None: they are not asked for.
    """

    def __init__(
        self, desk: Desk, day: str, aside: Mapping[str, str] = NOTHING, deploys: DeployDays | None = None
    ) -> None:
        accepted = desk.plans.accepted()
        self._desk = desk
        self._day = day
        self._aside = aside
        self._deploys = deploys
        self._vision = accepted.vision if accepted else Vision()
        self._sight = load_snapshot(desk.store, desk.journal, desk.wanted(), desk.rules.limits)
        self._known = self._looked_up_tasks()
        self._histories = desk.journal.histories(self._known)
        self._used = desk.ledger.used_by(self._known)
        self._shares = desk.ledger.breakdown(month_of(first_monday(day).isoformat()), month_of(day))
        self._cost = _cost_per_task(self._shares, day)

    def account(self, kind: Kind | None = None, missed: Sequence[str] = ()) -> DayAccount:
        """`kind`: where the caller knows better than the books; `missed`: the days just before."""
        desk, day = self._desk, self._day
        plan, lessons = desk.plans.plan(day) or DailyPlan(day), desk.memory.all()
        questions = desk.plans.asked(wordings(self._vision))
        tasks = {task.id: task for task in self.tasks(pull_addresses(desk))}
        goals = tuple(self._goal(goal, tasks, questions, plan) for goal in self._goals())
        theirs = {task.id for goal in goals for task in goal.tasks}
        caps = Caps(desk.rules.task_cap, desk.rules.day_cap, desk.rules.month_cap)
        cap, troubles = desk.ledger.cap_of(day, caps.day), self._troubles()
        spent, is_capped = totals(self._shares, day, cap), desk.ledger.is_reached(day, cap)
        at_work = bool(spent.used or plan.tasks or any(task.is_of_the_day for task in tasks.values()))
        return DayAccount(
            day=day,
            kind=kind or ("failed" if troubles else "worked" if at_work else "idle"),
            goals=goals,
            others=tuple(task for id_, task in tasks.items() if id_ not in theirs and _is_told(task)),
            spent=spent,
            month=totals(self._shares, month_of(day), caps.month),
            saved=desk.savings.total(month_of(day)),
            course=desk.ledger.course(day),
            plan=self._plan(plan),
            roadmap=roadmap(desk, day),
            deferred=self._clean(goal.title for goal in plan.deferred),
            questions=self._clean(f"{question_line(one, self._titles())}{self._looked_up(one)}" for one in questions),
            troubles=troubles,
            stopped=desk.ledger.paused(),
            is_capped=is_capped,
            raise_to=next_cap(cap, caps) if is_capped and day == desk.day() else 0,
            blocked=self._clean((*self._sight.unreadable, *(f"{id_}: {why}" for id_, why in self._aside.items()))),
            unsent=self._unsent(),
            missed=tuple(missed),
            deploys=self._deploys.of(day) if self._deploys else (),
            deploys_paused=self._deploys.paused() if self._deploys else "",
            research=tuple(self._research()),
            learned=self._clean(f"{one.agent}: {one.text}" for one in lessons if one.learned == day),
            lessons_used=sum(one.used for one in lessons),
            lessons_passed=sum(one.passed for one in lessons),
            reflection=reflect(desk, day, Lately(self._known, self._histories, self._used, self._shares), self._aside),
        )

    def _plan(self, plan: DailyPlan) -> PlanAccount:
        proposed = upkeep.lines(self._desk.upkeep.look(plan.day))
        titles = self._clean(task.title for task in plan.tasks)
        return PlanAccount(titles, plan.forecast, self._clean(plan.notes), self._clean(proposed))

    def tasks(self, pulls: Mapping[str, str] = NOTHING) -> Iterable[TaskAccount]:
        """Every task that there may be something to tell of; `pulls`: addresses by task."""
        for known in self._known.values():
            if self._may_be_told(known):
                yield self._task(known, self._card(known.id), pulls.get(known.id, ""))
        for card in self._sight.board.cards:
            if card.id not in self._known:
                yield TaskAccount(card.id, self._title(card, card.id), card.state)

    def _looked_up_tasks(self) -> Mapping[str, TaskRecord]:
        """What is open, is of the vision's goals, was given up by the team, or got on in the weeks that are told."""
        journal, cards = self._desk.journal, self._sight.board.by_id
        given_up = journal.times_of(Event.EXHAUSTED).keys() & journal.places()[State.FAILED]
        of_late = journal.touched(first_monday(self._day).isoformat())
        return journal.tasks_of((goal.id for goal in self._vision.goals), {*cards, *given_up, *of_late})

    def _may_be_told(self, known: TaskRecord) -> bool:
        """The others are only counted."""
        told = any(one.at[:10] == self._day or one.event is Event.EXHAUSTED for one in self._histories[known.id])
        return told or known.id in self._sight.board.by_id or known.goal_id in self._titles()

    def _card(self, task: str) -> Card | None:
        """Of one that is over, too: with what its file says."""
        board = self._sight.board
        card = board.card(task)
        if card is None or task in board.by_id:
            return card
        spec = self._desk.store.read(card.state, task).spec
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
        now = (goal.id, wording(goal))
        ids = [known.id for known in self._known.values() if (known.goal_id, known.wording) == now]
        return GoalAccount(
            title=self._desk.delivery.clean(goal.title),
            priority=goal.priority,
            tasks=tuple(tasks[id_] for id_ in ids),
            is_asked_about=any(question.goal_id == goal.id for question in questions),
            is_deferred=any((left.id, wording(left)) == now for left in plan.deferred),
            placed=placed(self._desk, goal.id, self._day),
            grows_on=open_branches(self._desk.journal).get(goal.id, ""),
        )

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
            note=self._note(last),
            pull=pull,
            cost=self._used[known.id].amount,
            cost_of_day=self._cost.get(known.id, 0),
            asks=self._asks(known, state),
            into=own_target(self._desk.journal, known),
        )
        return self._with_evidence(task) if task.merged else task

    def _title(self, card: Card | None, title: str) -> str:
        return self._desk.delivery.clean(card.spec.title if card and card.spec else title)

    def _note(self, last: Happened | None) -> str:
        return self._desk.delivery.clean(last.note or str(last.event)) if last else ""

    def _asks(self, known: TaskRecord, state: State) -> tuple[str, ...]:
        """Nothing once he has answered."""
        parked = waiting(self._desk, known) if state is State.IN_REVIEW else None
        if parked is None or self._desk.gates.is_approved(known.id, parked.subject):
            return ()
        return self._clean(parked.reasons)

    def _with_evidence(self, task: TaskAccount) -> TaskAccount:
        """What the tests said of exactly the commit that was merged: the newest one that counts."""
        attempts = [one for one in self._known[task.id].attempts if one.outcome == "ok"]
        commit = self._desk.mirror.attempt(attempt_ref(task.id, attempts[-1].number)) if attempts else None
        found = self._desk.gates.evidence(task.id, commit) if commit else None
        if found is None:
            return task
        known = found.covered is not None and found.covered_before is not None
        change = (found.covered or 0.0) - (found.covered_before or 0.0) if known else None
        return replace(task, new_tests=len(found.new_tests), coverage=change)

    # -- the rest ---------------------------------------------------------------------------------------------

    def _research(self) -> Iterator[ResearchAccount]:
        for looked in self._desk.research.all():
            if looked.answered_on == self._day and looked.findings:
                question, recommendation = self._clean((looked.inquiry.text, looked.findings.recommendation))
                yield ResearchAccount(question, recommendation, note_path(looked))

    def _looked_up(self, question: Question) -> str:
        """Where the owner reads what the web says about it."""
        known = (one for one in self._desk.research.all() if question.goal_id and one.slug)
        notes = [note_path(one) for one in known if one.inquiry.goal_id == question.goal_id]
        return f" (looked up: {', '.join(notes)})" if notes else ""

    def _troubles(self) -> tuple[Trouble, ...]:
        found = self._desk.plans.troubles(self._day)
        return tuple(Trouble(trouble.phase, self._desk.delivery.clean(trouble.text)) for trouble in found)

    def _unsent(self) -> tuple[str, ...]:
        """At services that the owner still has."""
        messages = self._desk.messages
        names = {notifier.name for notifier in messages.notifiers}
        found = messages.book.unsent(key_of_day(self._day)) if names else ()
        return self._clean(_unsent(slip) for slip in found if slip.service in names)

    def _clean(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._desk.delivery.clean, texts))


def waiting(desk: Desk, known: TaskRecord) -> AwaitingOwner | None:
    """What the owner was asked about its last attempt; what was asked of an earlier one does not wait any more."""
    parked, last = desk.gates.parked(known.id), known.last
    is_older = parked and parked.at and last and last.ended_at and parked.at < last.ended_at
    return None if is_older else parked


def pull_addresses(desk: Desk) -> dict[str, str]:
    """Of open pull requests, by task. A forge that is away costs the report its addresses, nothing else."""
    forge = desk.delivery.forge
    try:
        return {task_of(pull, forge.whoami()): pull.url for pull in forge.list_pulls()}
    except TeamError:
        return {}


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
