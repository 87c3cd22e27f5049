"""Vision goals -> TaskSpecs.

Gather facts of the repository, in groups of goals if they do not fit together; ask once, or once more with what the
model asked to see; check by code; if rules are broken, ask once more with the list of what is wrong. What still breaks
a rule is dropped with its reason. A premise that the code does not bear out is no task.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace

from sisimpur.agents.planner import settling
from sisimpur.agents.planner.facts import asking
from sisimpur.agents.planner.facts.asking import AskSources, Lints, Suite
from sisimpur.agents.planner.facts.codebase_analyzer import CodebaseAnalyzer
from sisimpur.agents.planner.facts.meanings import Meanings
from sisimpur.agents.planner.facts.source import SourceTree
from sisimpur.agents.planner.plan_rules import Faults, Tree, faults, mixed, parking, unanswered, verdicts
from sisimpur.agents.planner.settling import settled, shortened
from sisimpur.agents.planner.task_spec import ClaimedMeasure, GoalReply, GoalVerdict, PlanReply
from sisimpur.shared.llm.prompts import Asker, Prompt, Prompts, quoted
from sisimpur.shared.model.errors import ModelAway, OutOfBudget, Stumble, Unavailable
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import few, one_line
from sisimpur.shared.model.work import (
    Goal,
    GoalWord,
    Guard,
    Measure,
    MeasureKind,
    PlanAnswer,
    PlanOrder,
    Question,
    Run,
    TaskSpec,
)

MAX_BLOCK = 12_000  # characters of one block of the prompt
MAX_LINE = 2_500
MAX_CORRECTIONS = 40
MOST_GROUPS = 5  # of goals, that are asked about one after the other
LONGEST_UNKNOWN = 200
ROOM_OF_A_PLAN = 2_000  # tokens of an answer, for each goal and once more: an answer that is cut is paid twice


@dataclass(frozen=True)
class Known:
    """Facts as they stand in the prompt: `general` ones first, the same for all groups of goals.

    `is_shared`: other groups are asked about, too; `asked`: what the model asked to see. `parking`: a line for each
    kind of file that makes a task wait for the owner.
    """

    general: str
    special: str
    meanings: Meanings
    is_shared: bool = False
    asked: str = ""
    parking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planner:
    """`goes_on`: whether a run likely asks a second time, so that it pays to keep the beginning of the first prompt."""

    asker: Asker
    prompts: Prompts
    analyzer: CodebaseAnalyzer
    goes_on: Callable[[], bool] = lambda: False
    linters: Mapping[str, Lints] = field(default_factory=dict)

    def plan(self, run: Run, order: PlanOrder, source: SourceTree, suite: Suite | None = None) -> PlanAnswer:
        """Make at most three model calls for a group of goals, none if there is nothing to plan.

        Errors are those of the asker, unless a group is planned already: then the others are left for another day.
        """
        if not order.goals or order.capacity <= 0:
            return PlanAnswer(deferred=tuple(goal.id for goal in order.goals))
        texts = [_work(goal, order) for goal in order.goals]
        facts = self.analyzer.grouped(source, texts, order.environment, order.guarded())
        groups = [tuple(order.goals[place] for place in group.places) for group in facts.groups]
        answer, parked = PlanAnswer(), parking(order, source.files())
        for number, goals in enumerate(groups[:MOST_GROUPS]):
            rest = tuple(goal for group in groups[number:] for goal in group)
            narrowed = _narrowed(order, goals, answer, len(rest) - len(goals))
            special, is_shared = facts.groups[number].text, len(groups) > 1
            known = Known(facts.general, special, facts.meanings, is_shared, parking=parked)
            try:
                answer = _joined(answer, self._planned(run, narrowed, known, source, suite))
            except (Stumble, Unavailable, ModelAway, OutOfBudget) as error:
                if not number:
                    raise
                return _with_rest(answer, rest, one_line(str(error), 200))
        rest = tuple(goal for group in groups[MOST_GROUPS:] for goal in group)
        return _with_rest(answer, rest, "their facts do not fit beside those of the others")

    def _planned(self, run: Run, order: PlanOrder, known: Known, source: SourceTree, suite: Suite | None) -> PlanAnswer:
        """The answer about goals whose facts fit together."""
        tree = Tree.of(source.files())
        reply = self._ask(run, order, known)
        if reply.asks:
            above = f"{known.general}\n{known.special}"
            sources = AskSources(source, known.meanings, self.linters, suite, above)
            known = replace(known, asked=_told(sources, reply))
            reply = self._ask(run, order, known)
        reply, notes = self._checked(run, order, known, tree, reply)
        answer = settled(reply, order, tree, run.day)
        parked = tuple(_waits(task, order) for task in answer.tasks)
        taken, unmeasured = measures(reply, order)
        return replace(
            answer,
            done=tuple(_done(reply, order, source)),
            questions=(*_questions(reply, order, source), *answer.questions),
            unknowns=tuple(_unknowns(reply, order)),
            notes=(*notes, *answer.notes, *unmeasured, *filter(None, parked)),
            words=words(reply, order),
            measures=taken,
        )

    def _checked(
        self, run: Run, order: PlanOrder, known: Known, tree: Tree, reply: PlanReply
    ) -> tuple[PlanReply, tuple[str, ...]]:
        """The answer, or if it breaks rules the next one; if that cannot be had, the one before must do."""
        reply = shortened(reply, order, tree)
        wrong = _corrections(reply, order, faults(reply, order, tree))
        if not wrong:
            return reply, ()
        try:
            return shortened(self._ask(run, order, known, _again(reply, wrong)), order, tree), ()
        except (Stumble, Unavailable, ModelAway, OutOfBudget) as error:
            return reply, (f"The plan broke rules and could not be asked for again ({one_line(str(error), 200)}).",)

    def _ask(self, run: Run, order: PlanOrder, known: Known, correction: str = "") -> PlanReply:
        """What was asked for and what was wrong come last: the beginning is that of the first prompt, byte for byte."""
        first = self._prompt(order, known, "").user.rstrip()
        prompt = self._prompt(order, known, "\n\n".join(text for text in (known.asked, correction) if text))
        general = quoted(known.general, "repository")
        kept = first.index(general) + len(general) if known.is_shared else len(first) if self.goes_on() else 0
        least = ROOM_OF_A_PLAN * (1 + len(order.goals))
        return self.asker.ask(run, prompt.system, prompt.user, PlanReply, (kept,) if kept else (), least)

    def _prompt(self, order: PlanOrder, known: Known, correction: str) -> Prompt:
        is_proposed = any(goal.proposed_by for goal in order.goals)
        # Goals of the open tasks that are not asked about: of these a stranger's words need not know.
        unnamed = {task.goal_id for task in order.open_tasks if is_proposed} - {goal.id for goal in order.goals}
        return self.prompts.render(
            "planner/plan",
            general=quoted(known.general, "repository"),
            allow=_block(order.allow, "patterns"),
            guards=_block(map(_guard, order.guards), "guards"),
            parking=_titled("Files that wait for the owner", known.parking, "parking"),
            notes=_block((note.text for note in order.notes), "notes"),
            open_tasks=_block((_open(task, unnamed) for task in order.open_tasks), "tasks"),
            facts=quoted(known.special, "facts"),
            whose="Proposals of strangers" if is_proposed else "Goals",
            goals=_block(map(_text, order.goals), "proposals" if is_proposed else "goals"),
            depth=str(order.depth),
            earlier=_earlier(order),
            lessons=_titled("Lessons of earlier work", order.lessons, "lessons"),
            correction=correction,
        )


# --- groups of goals -----------------------------------------------------------------------------------------


def _narrowed(order: PlanOrder, goals: tuple[Goal, ...], before: PlanAnswer, later: int) -> PlanOrder:
    """The order for these goals: the tasks of those before are open ones; each of `later` ones has room for a task."""
    used = len(before.tasks)
    return replace(
        order,
        goals=goals,
        capacity=max(1, order.capacity - used - later),
        first_number=order.first_number + used,
        open_tasks=order.open_tasks + before.tasks,
        words=tuple(word for word in order.words if word.goal_id in {goal.id for goal in goals}),
    )


def _joined(one: PlanAnswer, other: PlanAnswer) -> PlanAnswer:
    return PlanAnswer(**{part.name: getattr(one, part.name) + getattr(other, part.name) for part in fields(PlanAnswer)})


def _with_rest(answer: PlanAnswer, rest: Sequence[Goal], why: str) -> PlanAnswer:
    """Goals that nobody asked about are left for another day."""
    if not rest:
        return answer
    note = f"Left for another day: {', '.join(one_line(goal.title, 60) for goal in rest)} ({why})."
    return replace(answer, deferred=answer.deferred + tuple(goal.id for goal in rest), notes=(*answer.notes, note))


def _told(sources: AskSources, reply: PlanReply) -> str:
    """What the model asked to see; it is told that it cannot ask again."""
    told = quoted(asking.told(sources, reply.asks), "asked")
    return f"# What you asked to see\n\n{told}\n\nNow answer completely, with `asks` empty: you cannot ask again."


def _work(goal: Goal, order: PlanOrder) -> str:
    """Its words without those that set something apart: what no task of it may touch takes no room."""
    text = "\n".join((goal.title, *goal.details))
    for guard in (one for one in order.guards if one.goal_id == goal.id):
        text = text.replace(guard.note, "")
    return text


def _guard(guard: Guard) -> str:
    whose = f" (tasks of {guard.goal_id} only)" if guard.goal_id else ""
    return f"{', '.join(guard.patterns)}{whose}: {guard.note}"


def _text(goal: Goal) -> str:
    """A goal as the model sees it."""
    title, *details = goal.said
    return "\n".join([f"{goal.id} ({goal.priority}): {title}", *(f"    {detail}" for detail in details)])


def _open(task: TaskSpec, unnamed: Collection[str]) -> str:
    goal = "another" if task.goal_id in unnamed else task.goal_id or "none"
    new = f"; creates {', '.join(task.new_files)}" if task.new_files else ""
    return f"{task.id} (goal {goal}): {task.title} [{', '.join(task.files)}{new}]"


def _block(texts: Iterable[str], label: str) -> str:
    kept = "\n".join(line[:MAX_LINE] for text in texts for line in text.split("\n"))
    return quoted(kept[:MAX_BLOCK], label)


def _earlier(order: PlanOrder) -> str:
    """Blocks of what is known of earlier work on these goals; empty without any."""
    words = [f"{word.goal_id} {word.kind}{f' ({word.task})' if word.task else ''}: {word.text}" for word in order.words]
    blocks = (
        ("Words about these goals", words, "words"),
        ("Figures of these goals, and what a reader misses", order.figures, "figures"),
        ("Stuck tasks", order.stuck, "stuck"),
    )
    return "".join(_titled(title, lines, label) for title, lines, label in blocks)


def _titled(title: str, lines: Sequence[str], label: str) -> str:
    """A block with its heading; empty without any line."""
    return f"# {title}\n\n{_block(lines, label)}\n\n" if lines else ""


def _waits(task: TaskSpec, order: PlanOrder) -> str:
    """Says that a task keeps free files waiting with those that need the owner's word; empty: it does not."""
    waiting, free = mixed(task, order)
    both = f"{few(waiting, 3)} waits for your word, and {few(free, 3)} with it"
    return f'"{one_line(task.title, 80)}": {both}.' if waiting else ""


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


# --- goals beside their tasks --------------------------------------------------------------------------------

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
