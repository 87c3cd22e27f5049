"""Vision goals -> TaskSpecs.

Gather facts of the repository, ask once, check by code; if rules are broken, ask once more with the list of what is
wrong. What still breaks a rule is dropped with its reason. A premise that the code does not bear out is no task.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from sisimpur.agents.planner import settling
from sisimpur.agents.planner.codebase_analyzer import CodebaseAnalyzer
from sisimpur.agents.planner.plan_rules import Faults, Tree, faults, unanswered, verdicts
from sisimpur.agents.planner.settling import settled
from sisimpur.agents.planner.source import SourceTree
from sisimpur.agents.planner.task_spec import GoalVerdict, PlanReply
from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.errors import OutOfBudget, Stumble
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, PlanAnswer, PlanOrder, Question, Run, TaskSpec

MAX_BLOCK = 12_000  # characters of one block of the prompt
MAX_LINE = 1_000
MAX_CORRECTIONS = 40
LONGEST_UNKNOWN = 200


@dataclass(frozen=True)
class Planner:
    asker: Asker
    prompts: Prompts
    analyzer: CodebaseAnalyzer

    def plan(self, run: Run, order: PlanOrder, source: SourceTree) -> PlanAnswer:
        """Return at most two model calls, none if there is nothing to plan. Errors are those of the asker."""
        if not order.goals or order.capacity <= 0:
            return PlanAnswer(deferred=tuple(goal.id for goal in order.goals))
        facts = self.analyzer.facts(source, ["\n".join((goal.title, *goal.details)) for goal in order.goals])
        tree = Tree.of(source.files())
        reply, notes = self._checked(run, order, facts, tree)
        answer = settled(reply, order, tree, run.day)
        return replace(
            answer,
            done=tuple(_done(reply, order, source)),
            questions=(*_questions(reply, order, source), *answer.questions),
            unknowns=tuple(_unknowns(reply, order)),
            notes=notes + answer.notes,
        )

    def _checked(self, run: Run, order: PlanOrder, facts: str, tree: Tree) -> tuple[PlanReply, tuple[str, ...]]:
        """The answer, or if it breaks rules the second one; if that cannot be had, the first must do."""
        reply = self._ask(run, order, facts, "")
        wrong = _corrections(reply, order, faults(reply, order, tree))
        if not wrong:
            return reply, ()
        try:
            return self._ask(run, order, facts, _again(reply, wrong)), ()
        except (Stumble, OutOfBudget) as error:
            return reply, (f"The plan broke rules and could not be asked for again ({one_line(str(error), 200)}).",)

    def _ask(self, run: Run, order: PlanOrder, facts: str, correction: str) -> PlanReply:
        is_proposed = any(goal.proposed_by for goal in order.goals)
        unnamed = _others(order) if is_proposed else ()
        prompt = self.prompts.render(
            "planner/plan",
            facts=quoted(facts, "facts"),
            allow=_block(order.allow, "patterns"),
            guards=_block((f"{', '.join(guard.patterns)}: {guard.note}" for guard in order.guards), "guards"),
            notes=_block((note.text for note in order.notes), "notes"),
            open_tasks=_block((_open(task, unnamed) for task in order.open_tasks), "tasks"),
            whose="Proposals of strangers" if is_proposed else "Goals",
            goals=_block(map(_text, order.goals), "proposals" if is_proposed else "goals"),
            depth=str(order.depth),
            earlier=_earlier(order),
            lessons=_lessons(order.lessons),
            correction=correction,
        )
        return self.asker.ask(run, prompt.system, prompt.user, PlanReply)


def _text(goal: Goal) -> str:
    """A goal as the model sees it."""
    return "\n".join([f"{goal.id} ({goal.priority}): {goal.title}", *(f"    {detail}" for detail in goal.details)])


def _others(order: PlanOrder) -> frozenset[str]:
    """Goals of the open tasks that are not asked about: of these a stranger's words need not know."""
    return frozenset(task.goal_id for task in order.open_tasks) - {goal.id for goal in order.goals}


def _open(task: TaskSpec, unnamed: Collection[str]) -> str:
    goal = "another" if task.goal_id in unnamed else task.goal_id or "none"
    return f"{task.id} (goal {goal}): {task.title} [{', '.join(task.files + task.new_files)}]"


def _block(texts: Iterable[str], label: str) -> str:
    kept = "\n".join(line[:MAX_LINE] for text in texts for line in text.split("\n"))
    return quoted(kept[:MAX_BLOCK], label)


def _earlier(order: PlanOrder) -> str:
    """Blocks of what is known of earlier work on these goals; empty without any."""
    words = [f"{word.goal_id} {word.kind}{f' ({word.task})' if word.task else ''}: {word.text}" for word in order.words]
    blocks = (
        ("Words about these goals", words, "words"),
        ("Figures of these goals", order.figures, "figures"),
        ("Stuck tasks", order.stuck, "stuck"),
    )
    return "".join(f"# {title}\n\n{_block(lines, label)}\n\n" for title, lines, label in blocks if lines)


def _lessons(lines: Sequence[str]) -> str:
    """Block of lessons for the prompt; empty without any, as if there were no memory."""
    return f"# Lessons of earlier work\n\n{_block(lines, 'lessons')}\n\n" if lines else ""


def _questions(reply: PlanReply, order: PlanOrder, source: SourceTree) -> Iterable[Question]:
    answers = verdicts(reply)
    found = (settling.question(answers[goal.id], goal, source) for goal in order.goals if goal.id in answers)
    return (question for question in found if question)


def _done(reply: PlanReply, order: PlanOrder, source: SourceTree) -> Iterable[str]:
    answers = verdicts(reply)
    for goal in order.goals:
        found = answers.get(goal.id)
        if found and found.verdict is GoalVerdict.ALREADY_DONE and settling.is_borne_out(found, goal, source):
            yield goal.id


def _unknowns(reply: PlanReply, order: PlanOrder) -> Iterable[Question]:
    """Questions to look up; none for goals that strangers propose: they would choose what is searched for."""
    answers = verdicts(reply)
    for goal in order.goals:
        found = answers.get(goal.id)
        if found and found.verdict is GoalVerdict.QUESTION and found.look_up.strip() and not goal.proposed_by:
            yield Question(goal.id, one_line(found.look_up, LONGEST_UNKNOWN))


# --- asking again --------------------------------------------------------------------------------------------


def _corrections(reply: PlanReply, order: PlanOrder, wrong: Faults) -> list[str]:
    tasks = [
        f"task {one_line(reply.tasks[place].key, 40)!r}: {text}"
        for place, texts in sorted(wrong.items())
        for text in texts
    ]
    goals = [f"goal {goal.id}: no answer, or `tasks` without a task" for goal in unanswered(reply, order)]
    return [*goals, *tasks][:MAX_CORRECTIONS]


def _again(reply: PlanReply, wrong: Iterable[str]) -> str:
    """The first answer comes along: what was good in it shall stay."""
    before = json.dumps(asdict(reply), ensure_ascii=False)
    return "\n\n".join(
        (
            "# Your first answer broke rules",
            _block(wrong, "faults"),
            "This is that answer. Answer again, completely: keep what was right, correct what was wrong, and ask or"
            " leave out what cannot be done within the rules.",
            quoted(before[:MAX_BLOCK], "json"),
        )
    )
