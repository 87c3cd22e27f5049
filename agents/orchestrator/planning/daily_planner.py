"""(Vision, history) -> what is to be planned today, and DAILY_PLAN.md. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sisimpur.agents.orchestrator.board.stuck import StuckTask
from sisimpur.agents.orchestrator.vision.goal_ids import doubles, same_again
from sisimpur.agents.orchestrator.vision.told_guards import holding, lost
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.lifecycle import Board, State, worded
from sisimpur.shared.model.research import inquiry
from sisimpur.shared.model.text import few, one_line
from sisimpur.shared.model.work import DailyPlan, Goal, Guard, Question, Remark, Vision
from sisimpur.shared.money.token_budget import cents


def goals_to_plan(
    vision: Vision, planned: Collection[tuple[str, str]], questions: Iterable[Question], deferred: Iterable[Goal]
) -> tuple[Goal, ...]:
    """The goals that have neither a task nor an open question in their present wording, the most urgent first.

    `planned` holds (goal id, wording) of every task that was ever made; `deferred` goals wait for another day.
    """
    asked = {question.goal_id for question in questions}
    taken = {*planned, *map(worded, deferred)}
    again = doubles(vision.goals)
    open_goals = (g for g in vision.goals if worded(g) not in taken and g.id not in asked and g.id not in again)
    return tuple(sorted(open_goals, key=lambda goal: (goal.priority.rank, goal.line)))


def merged(before: DailyPlan | None, plan: DailyPlan) -> DailyPlan:
    """A second planning on the same day (the owner edited VISION.md) adds to the first."""
    if before is None:
        return plan
    return replace(
        plan,
        tasks=before.tasks + plan.tasks,
        reasons=before.reasons + plan.reasons,
        deferred=before.deferred + plan.deferred,
        held=tuple(dict.fromkeys((*before.held, *plan.held))),
        finished=before.finished + plan.finished,
        branches=tuple(dict.fromkeys((*before.branches, *plan.branches))),
        questions=before.questions + plan.questions,
        forecast=before.forecast + plan.forecast,
        notes=before.notes + plan.notes,
    )


# --- DAILY_PLAN.md -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beside:
    """What a plan's page says besides. `cap`: of the day, in nano-dollars; `upkeep`: what came of our own look.

    `notes`: where what was looked up is told, by the id of its inquiry. `goals`: what was seen and said of each, by id.
    `guards_before`: those that held when the day began.
    """

    questions: Sequence[Question]
    cap: int
    notes: Mapping[str, str] = field(default_factory=dict)
    upkeep: Sequence[str] = ()
    stuck: Sequence[StuckTask] = ()
    goals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guards_before: Sequence[Guard] = ()


def render(plan: DailyPlan, vision: Vision, board: Board, beside: Beside) -> str:
    """The day's plan as the owner reads it. Generated: edits are overwritten."""
    titles = {goal.id: goal.title for goal in vision.goals}
    guards = (*holding(plan.guards, beside.guards_before, plan.day), *lost(plan.guards, beside.guards_before))
    parts = [
        f"# Plan for {plan.day}",
        _summary(plan, beside.cap),
        _section("Tasks", _tasks(plan, titles, board, beside.goals)),
        _section("Not to be touched", (f"- {line}" for line in guards)),
        _section("Wishes that protect nothing", (f"- {remark.text}" for remark in vision.wishes)),
        _section("Questions for you", (f"- {question_line(question, titles)}" for question in beside.questions)),
        _section("Stuck until you say how it goes on", map(_stuck, beside.stuck)),
        _section("Left for another day", (f"- {goal.title} ({goal.priority})" for goal in plan.deferred)),
        _section("Upkeep", (f"- {line}" for line in beside.upkeep)),
        _section("Ideas", (_idea(idea, beside.notes) for idea in vision.ideas)),
        _section("Remarks", (f"- {note}" for note in (*plan.notes, *_warnings(vision)))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(plan: DailyPlan, cap: int) -> str:
    if not plan.tasks:
        return "Nothing new to plan."
    few = f"{len(plan.tasks)} task{'s' if len(plan.tasks) > 1 else ''}"
    return f"{few}, probably about ${cents(plan.forecast)}; today's cap is ${cents(cap)}."


def _tasks(
    plan: DailyPlan, titles: Mapping[str, str], board: Board, said: Mapping[str, Sequence[str]]
) -> Iterable[str]:
    for number, (task, reason) in enumerate(zip(plan.tasks, plan.reasons, strict=True), 1):
        card = board.card(task.id)
        state = (card.state if card else State.GONE).replace("_", " ")
        yield f"{number}. **{task.title}** (`{task.id}`, {task.priority}, {task.difficulty}; {state})"
        yield f"   - goal: {titles.get(task.goal_id, 'no longer in VISION.md')}"
        yield f"   - why: {reason}"
        yield from (f"   - {line}" for line in said.get(task.goal_id, ()))
        yield f"   - files: {_code(task.files + task.new_files)}"
        if branch := dict(plan.branches).get(task.goal_id):
            yield f"   - on: `{branch}`, until all of its goal is there"
        if task.depends_on:
            yield f"   - needs: {_code(task.depends_on)}"
        if task.after:
            yield f"   - after: {_code(task.after)}"


def _stuck(one: StuckTask) -> str:
    ways = ", ".join(f"`python main.py {way}`" for way in one.ways)
    return f"- **{one.title}** (`{one.task}`) {one.words}; to go on, type one of: {ways}"


def _idea(idea: Remark, notes: Mapping[str, str]) -> str:
    path = notes.get(inquiry(idea.text).id)
    return f"- {idea.text} → " + (f"`{path}`" if path else "not looked up yet")


def question_line(question: Question, titles: Mapping[str, str]) -> str:
    """`titles`: of the goals, by id."""
    about = f"{titles[question.goal_id]}: " if question.goal_id in titles else ""
    if not question.evidence:
        return f"{about}{question.text}"
    is_seen = "" if question.evidence.startswith("unverified") else "seen: "
    return f"{about}{question.text} ({is_seen}{question.evidence})"


def _warnings(vision: Vision) -> Iterable[str]:
    told = (*vision.warnings, *same_again(vision.goals))
    return (f"VISION.md, line {warning.line}: {warning.text}" for warning in told)


def _section(title: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f"## {title}\n\n{text}" if text else ""


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


# --- set-up and tests, for the planner -----------------------------------------------------------------------

SIGNED_IN = re.compile(r"//[^/@\s]+@")  # who somebody is at an index, with a key perhaps
MOST_NAMED = 5  # tests, folders
MOST_FOLDERS = 8
LONGEST = 500


def environment_lines(setup: str, test: str, base: SuiteRun | None) -> tuple[str, ...]:
    """`setup`, `test`: the commands, empty: nothing to install, or to run; `base`: the newest run."""
    lines = [
        f"set-up: {setup or 'nothing is installed'}",
        f"tests run with: {test}; from the repository's root, in a box without network"
        if test
        else "tests: none that can be run",
        *(_counts(base) if base else ()),
    ]
    return tuple(one_line(SIGNED_IN.sub("//", line), LONGEST) for line in lines)


def _counts(base: SuiteRun) -> Iterator[str]:
    """What the tests of the target's branch said last."""
    if not base.is_whole:
        yield f"their last run before any change did not finish: {base.end}"
        return
    counts = Counter(base.outcomes.values())
    covered = "" if base.covered is None else f"; they run {base.covered:.0f} % of all code"
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none was collected"
    yield f"their last run before any change: {told}, in {base.seconds:.0f} s{covered}"
    if base.folders:
        missed = sorted(base.folders.items(), key=lambda one: (one[1][0] - one[1][1], one[0]))
        shares = [f"{folder} {100 * run // lines} % of {lines} lines" for folder, (run, lines) in missed]
        yield f"code that tests run, by folder, what lacks most first: {few(shares, MOST_FOLDERS)}"
    if failed := sorted(base.of("failed")):
        yield f"failing before any change: {few(failed, MOST_NAMED)}"
    reached = Counter(test.partition("::")[0].rpartition("/")[0] or "." for test in base.outcomes)
    if reached:
        folders = [f"{folder} ({count})" for folder, count in sorted(reached.items())]
        yield f"collected from: {few(folders, MOST_NAMED)}"
