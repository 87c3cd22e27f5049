"""Reply -> PlanAnswer: what keeps the rules becomes tasks, within the day's capacity; the rest is named. Pure.

Does the code really say what the planner model quotes of it? What it does not bear out is no task.
"""

from __future__ import annotations

import graphlib
import heapq
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sisimpur.agents.planner.facts.source import SourceTree, hits, lines_of
from sisimpur.agents.planner.plan_rules import (
    LONGEST_DESCRIPTION,
    MAX_CRITERIA,
    MAX_FILES,
    MAX_TASKS,
    Faults,
    Tree,
    chain_lengths,
    created_before,
    faults,
    links,
    own_faults,
    places,
    reached,
    turns,
    unanswered,
    verdicts,
)
from sisimpur.agents.planner.task_spec import (
    ClaimedEvidence,
    Draft,
    GoalReply,
    GoalVerdict,
    PlanReply,
    Proof,
    body,
    criteria,
    headline,
)
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Difficulty, Goal, PlanAnswer, PlanOrder, Question, TaskKind, TaskSpec
from sisimpur.shared.words.meaning import kept_notes

# --- the model's evidence -------------------------------------------------------------------------------------

NEAR = 3  # lines that a model may miscount
SHORTEST_QUOTE = 4  # letters and digits; less stands everywhere
MAX_EVIDENCE = 8  # pieces that are looked at
ENOUGH = 50  # lines, of which some may lie in files that are not read
LONGEST_TEXT = 1_200  # of a question, or of what is told of a goal: it is read to its end


def question(answer: GoalReply, goal: Goal, source: SourceTree) -> Question | None:
    """Question to the owner about a goal that gets no task; None: it gets tasks.

    "Not so" and "done already" are only passed on as facts if every piece of evidence stands.
    """
    text = one_line(answer.text, LONGEST_TEXT)
    reason = text or "it gives no reason."
    match answer.verdict:
        case GoalVerdict.TASKS:
            return None
        case GoalVerdict.QUESTION:
            return Question(goal.id, text or "The planner needs to know more about this; write it in more detail.")
        case GoalVerdict.PREMISE_FALSE:
            claim = f"The code does not bear this out: {reason} Remove or reword the goal."
        case GoalVerdict.ALREADY_DONE:
            claim = f"This seems to be done already: {reason} Check the goal off, or say what is missing."
    seen = "; ".join(shown(piece) for piece in answer.evidence[:MAX_EVIDENCE])
    if is_borne_out(answer, goal, source):
        return Question(goal.id, claim, seen)
    return Question(goal.id, claim, f"unverified: {seen or 'no evidence was given'}")


def is_borne_out(answer: GoalReply, goal: Goal, source: SourceTree) -> bool:
    """Say whether there is evidence, and every piece of it stands."""
    pieces = answer.evidence[:MAX_EVIDENCE]
    return bool(pieces) and all(stands(piece, goal, source) for piece in pieces)


def shown(piece: ClaimedEvidence) -> str:
    """Describe it in words, e.g. `app/views.py:12: return 1`."""
    path, quote = one_line(piece.path, 150), one_line(piece.quote, 150)
    match piece.kind:
        case Proof.LINE:
            return f"{path}:{piece.line}: {quote}"
        case Proof.NO_FILE:
            return f"there is no {path}"
        case Proof.NO_TEXT:
            return f'no file holds "{quote}"'


def stands(piece: ClaimedEvidence, goal: Goal, source: SourceTree) -> bool:
    """Looks for itself. What is said to be absent must be what the goal speaks of: everything else is absent too."""
    spoken = " ".join((goal.title, *goal.details))
    match piece.kind:
        case Proof.LINE:
            return _quoted_near(lines_of(source, piece.path) or (), piece)
        case Proof.NO_FILE:
            name = piece.path.strip("/")
            is_there = any(path == name or path.endswith(f"/{name}") for path in source.files())
            return bool(name) and name in spoken and not is_there
        case Proof.NO_TEXT:
            forms = (piece.quote, piece.quote.lower())
            found = any(hits(source, text, ENOUGH) for text in forms) or any(
                text in path for path in source.files() for text in forms
            )
            return _says_something(piece.quote) and piece.quote in spoken and not found


def _quoted_near(lines: Sequence[str], piece: ClaimedEvidence) -> bool:
    """Each line of the quote stands, from one blank to the next, at or near the named line."""
    first = max(0, piece.line - 1 - NEAR)
    quoted = [_normal(line) for line in piece.quote.splitlines() if line.strip()]
    near = [_normal(line) for line in lines[first : piece.line + NEAR + len(quoted)]] if piece.line > 0 else []
    return _says_something(piece.quote) and all(any(quote in line for line in near) for quote in quoted)


def _normal(line: str) -> str:
    """Blanks collapsed, without the number that our own listing puts in front."""
    return " ".join(re.sub(r"^\s*\d+\|\s?", "", line).split())


def _says_something(quote: str) -> bool:
    return sum(c.isalnum() for c in quote) >= SHORTEST_QUOTE


# --- tasks ----------------------------------------------------------------------------------------------------

MAX_CONTEXT = 12
MAX_TESTS, LONGEST_TEST = 20, 300  # that may be expected to change
LONGEST_REASON = 300
LONGEST_WHY = 500


def settled(reply: PlanReply, order: PlanOrder, tree: Tree, day: str) -> PlanAnswer:
    """The answer without questions about premises. A task that waits for a dropped one is dropped with it."""
    tasks = reply.tasks[:MAX_TASKS]
    dropped = _with_waiting(tasks, faults(reply, order, tree))
    work = _in_order(tasks, order, dropped)
    chosen, left = work[: order.capacity], work[order.capacity :]
    silent = unanswered(reply, order)
    unserved = {tasks[place].goal_id for place in left} | {goal.id for goal in silent}
    return PlanAnswer(
        tasks=_specs(tasks, chosen, order, tree, day),
        reasons=tuple(_reason(tasks[place], order) for place in chosen),
        deferred=tuple(goal.id for goal in order.goals if goal.id in unserved),
        questions=tuple(_without_task(reply, work, dropped, order.goals)),
        notes=tuple(_notes(reply, dropped, silent)),
    )


# --- what is dropped -----------------------------------------------------------------------------------------


def _with_waiting(tasks: Sequence[Draft], bad: Faults) -> dict[int, str]:
    """Place -> why it is dropped."""
    needs, dropped = links(tasks), {place: "; ".join(texts) for place, texts in bad.items()}
    found = True
    while found:
        waiting = {
            place: other for place in needs if place not in dropped for other in needs[place] if other in dropped
        }
        found = bool(waiting)
        dropped |= {place: f"it waits for {_name(tasks[other])}, which was dropped" for place, other in waiting.items()}
    return dropped


def _name(draft: Draft) -> str:
    return f'"{headline(draft.title) or one_line(draft.key, 40)}"'


def _notes(reply: PlanReply, dropped: Mapping[int, str], silent: Iterable[Goal]) -> Iterator[str]:
    if len(reply.tasks) > MAX_TASKS:
        yield f"The planner answered {len(reply.tasks)} tasks; only the first {MAX_TASKS} were looked at."
    for place, why in sorted(dropped.items()):
        yield f"Not planned: {_name(reply.tasks[place])}: {one_line(why, LONGEST_WHY)}."
    for goal in silent:
        yield f'The planner said nothing about "{one_line(goal.title, 100)}"; it is asked again another day.'


def _without_task(
    reply: PlanReply, kept: Iterable[int], dropped: Mapping[int, str], goals: Iterable[Goal]
) -> Iterator[Question]:
    """A goal that lost all its tasks: asking the model again every day would only cost money."""
    served = {reply.tasks[place].goal_id for place in kept}
    served |= {id_ for id_, answer in verdicts(reply).items() if answer.verdict is not GoalVerdict.TASKS}
    reasons = {reply.tasks[place].goal_id: why for place, why in sorted(dropped.items(), reverse=True)}
    for goal in goals:
        if goal.id in reasons and goal.id not in served:
            why = one_line(reasons[goal.id], LONGEST_WHY)
            yield Question(goal.id, f"I found no task for this that keeps the rules: {why}.")


# --- what is done, and in which order ------------------------------------------------------------------------


def _in_order(tasks: Sequence[Draft], order: PlanOrder, dropped: Collection[int]) -> list[int]:
    """Sort by the goals' order, but never a task before one that it waits for.

    So any beginning of the list is whole.
    """
    needs = {place: wanted - {*dropped} for place, wanted in turns(tasks).items() if place not in dropped}
    rank = _ranks(tasks, order, needs)
    sorter = graphlib.TopologicalSorter(needs)
    sorter.prepare()
    ready: list[tuple[int, int]] = []
    result = []
    while sorter.is_active():
        for place in sorter.get_ready():
            heapq.heappush(ready, (rank[place], place))
        _, place = heapq.heappop(ready)
        result.append(place)
        sorter.done(place)
    return result


def _ranks(tasks: Sequence[Draft], order: PlanOrder, needs: Mapping[int, set[int]]) -> dict[int, int]:
    """The turn of its goal; a task is at least as urgent as those that wait for it."""
    goals = {goal.id: number for number, goal in enumerate(order.goals)}
    rank = {place: goals[tasks[place].goal_id] for place in needs}
    for place in reversed(list(graphlib.TopologicalSorter(needs).static_order())):
        for other in needs[place]:
            rank[other] = min(rank[other], rank[place])
    return rank


# --- task specs ----------------------------------------------------------------------------------------------


def _specs(
    tasks: Sequence[Draft], chosen: Sequence[int], order: PlanOrder, tree: Tree, day: str
) -> tuple[TaskSpec, ...]:
    """Ids are ours: the day and a number. A model's keys only say which task waits for which."""
    ids = {place: f"{day.replace('-', '')}-{number:02d}" for number, place in enumerate(chosen, order.first_number)}
    return tuple(_spec(tasks, place, ids, order, tree) for place in chosen)


def _spec(tasks: Sequence[Draft], place: int, ids: Mapping[int, str], order: PlanOrder, tree: Tree) -> TaskSpec:
    draft, known = tasks[place], places(tasks)
    made = created_before(place, tasks, order)
    files = [*draft.files, *(path for path in draft.new_files if path in made)]
    context = (path for path in dict.fromkeys(draft.context) if path in tree.files | made and path not in files)
    needs = dict.fromkeys(ids[known[key]] if key in known else key for key in draft.depends_on)
    open_ids = {task.id for task in order.open_tasks}
    before = [ids[other] for other in sorted(turns(tasks)[place]) if other in ids]
    before += [key for key in draft.after if key in open_ids]
    wanted = (task for task in order.open_tasks if not is_upkeep(task.id))  # what we propose holds up no goal
    before += [task.id for task in wanted if not {*task.files, *task.new_files}.isdisjoint(draft.paths)]
    return TaskSpec(
        id=ids[place],
        title=headline(draft.title),
        description=body(draft.description) + _kept_notes(order),
        priority=next(goal.priority for goal in order.goals if goal.id == draft.goal_id),
        goal_id=draft.goal_id,
        files=tuple(files),
        new_files=tuple(path for path in draft.new_files if path not in made),
        context=tuple(context)[:MAX_CONTEXT],
        acceptance=criteria(draft.acceptance),
        difficulty=draft.difficulty,
        depends_on=tuple(needs),
        guards=order.guarded(draft.goal_id),
        after=tuple(id_ for id_ in dict.fromkeys(before) if id_ not in needs),
        kind=draft.kind,
        changes_tests=tuple(filter(None, (one_line(test, LONGEST_TEST) for test in draft.changes_tests)))[:MAX_TESTS],
    )


def _kept_notes(order: PlanOrder) -> str:
    """Nothing of the owner stands beside the words of strangers."""
    if any(goal.proposed_by for goal in order.goals):
        return ""
    return kept_notes((note.text for note in order.notes), {guard.note for guard in order.guards})


def _reason(draft: Draft, order: PlanOrder) -> str:
    title = next(goal.title for goal in order.goals if goal.id == draft.goal_id)
    return one_line(draft.reason, LONGEST_REASON) or one_line(title, LONGEST_REASON)


# --- chains that are longer than the limit -------------------------------------------------------------------

BESIDE = (TaskKind.TESTS, TaskKind.DOCS)  # kinds that come along with any other


def shortened(reply: PlanReply, order: PlanOrder, tree: Tree) -> PlanReply:
    """The answer with as few joined tasks as bring its chains below the limit; what cannot be joined stays as it is.

    The longest chain first, and of it the pair that changes the fewest files.
    """
    while pair := min(_pairs(reply, order, tree), default=None):
        first, second = pair[-2:]
        tasks = [*reply.tasks]
        gone, one = tasks[second].key, joined(tasks[first], tasks[second])
        tasks[first] = one
        del tasks[second]
        reply = replace(reply, tasks=[_renamed(task, gone, one.key) for task in tasks])
    return reply


def _pairs(reply: PlanReply, order: PlanOrder, tree: Tree) -> Iterator[tuple[int, int, int, int]]:
    """(-length of the longest chain through both, files, first, second) of those that may be joined."""
    tasks = reply.tasks[:MAX_TASKS]
    bad, up, needs = own_faults(reply, order, tree), chain_lengths(tasks), links(tasks)
    down = _lengths_after(tasks)
    for second, wanted in needs.items():
        for first in wanted:
            length = up[first] + down[second]
            if length > order.depth and not {first, second} & bad.keys() and _may_be_one(first, second, tasks):
                yield -length, len({*tasks[first].paths, *tasks[second].paths}), first, second


def _lengths_after(tasks: Sequence[Draft]) -> dict[int, int]:
    """Place -> how many tasks stand in the longest chain that begins with it."""
    up, needs = chain_lengths(tasks), links(tasks)
    down = dict.fromkeys(needs, 1)
    for place in sorted(needs, key=lambda place: -up[place]):
        for other in needs[place]:
            down[other] = max(down[other], 1 + down[place])
    return down


def _may_be_one(first: int, second: int, tasks: Sequence[Draft]) -> bool:
    """One goal, within the limits of one task, and nothing has its turn between them."""
    one, other, before = tasks[first], tasks[second], turns(tasks)
    between = any(first in reached(place, before) for place in before[second] - {first})
    fits = len({*one.paths, *other.paths}) <= MAX_FILES and len(one.acceptance) + len(other.acceptance) <= MAX_CRITERIA
    is_short = len(one.description) + len(other.description) + 2 <= LONGEST_DESCRIPTION
    return one.goal_id == other.goal_id and fits and is_short and not between


def joined(one: Draft, other: Draft) -> Draft:
    """Both as one task, under the first one's key: the second one's words follow."""
    new = list(dict.fromkeys((*one.new_files, *(path for path in other.new_files if path not in one.files))))
    files = [path for path in dict.fromkeys((*one.files, *other.files)) if path not in new]
    kinds = {one.kind, other.kind}
    main = [kind for kind in kinds if kind not in BESIDE] or [one.kind]
    return replace(
        one,
        title=f"{one.title.rstrip('. ')}, then {other.title[:1].lower()}{other.title[1:]}",
        description=f"{one.description}\n\n{other.description}",
        files=files,
        new_files=new,
        context=[path for path in dict.fromkeys((*one.context, *other.context)) if path not in (*files, *new)],
        acceptance=[*one.acceptance, *other.acceptance],
        difficulty=max(one.difficulty, other.difficulty, key=list(Difficulty).index),
        depends_on=list(dict.fromkeys((*one.depends_on, *(key for key in other.depends_on if key != one.key)))),
        after=list(dict.fromkeys((*one.after, *(key for key in other.after if key != one.key)))),
        kind=main[0] if len(main) == 1 else TaskKind.UNKNOWN,
        changes_tests=list(dict.fromkeys((*one.changes_tests, *other.changes_tests))),
    )


def _renamed(task: Draft, gone: str, key: str) -> Draft:
    """Who waited for the one that is gone waits for what it has become."""
    waits = ([key if one == gone else one for one in keys] for keys in (task.depends_on, task.after))
    depends_on, after = (list(dict.fromkeys(keys)) for keys in waits)
    return replace(task, depends_on=depends_on, after=[one for one in after if one != task.key])
