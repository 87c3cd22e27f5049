"""The rules that every planned task must keep, as code. Pure. Their texts are for the model and for the owner."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sisimpur.agents.planner.task_spec import (
    LONGEST_CRITERION,
    Draft,
    GoalReply,
    GoalVerdict,
    PlanReply,
    alike,
    body,
    criteria,
    headline,
)
from sisimpur.shared.model.change import why_owner
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.scope import is_plain_path, matches, permits
from sisimpur.shared.model.text import few, one_line
from sisimpur.shared.model.work import Goal, PlanOrder, TaskSpec

MAX_TASKS = 50  # that are looked at
MAX_FILES = 8  # that one task changes
MAX_CRITERIA = 10
LONGEST_DESCRIPTION = 4_000
LONGEST_PATH = 300
MAX_FAULTS = 10  # that are named of one task

Faults = Mapping[int, list[str]]  # by the task's place in the answer


@dataclass(frozen=True)
class Tree:
    """The paths of the target at the planned commit."""

    files: frozenset[str]
    folded: frozenset[str]  # files and folders in small letters: for some file systems they are all one

    @classmethod
    def of(cls, files: Iterable[str]) -> Tree:
        paths = frozenset(files)
        folders = (folder for path in paths for folder in _above(path))
        return cls(paths, frozenset(path.casefold() for path in (*paths, *folders)))


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: depth + 1]) for depth in range(len(parts)))


def faults(reply: PlanReply, order: PlanOrder, tree: Tree) -> Faults:
    """List the rules that each task breaks; tasks that keep all of them are not listed."""
    found = {place: [*texts] for place, texts in own_faults(reply, order, tree).items()}
    for place, length in chain_lengths(reply.tasks[:MAX_TASKS]).items():
        if length > order.depth:
            found.setdefault(place, []).append(f"it is number {length} in a chain of tasks (limit {order.depth})")
    return {place: texts[:MAX_FAULTS] for place, texts in found.items()}


def own_faults(reply: PlanReply, order: PlanOrder, tree: Tree) -> Faults:
    """List them without those of chains that are too long: these are nobody's own."""
    tasks = reply.tasks[:MAX_TASKS]
    found: dict[int, list[str]] = {place: list(_faults_of(place, reply, order, tree)) for place in range(len(tasks))}
    for place, text in _bad_links(tasks, order):
        found[place].append(text)
    return {place: texts for place, texts in found.items() if texts}


def unanswered(reply: PlanReply, order: PlanOrder) -> tuple[Goal, ...]:
    """The goals without a task, old or new, and without another verdict."""
    answers = verdicts(reply)
    has_task = {draft.goal_id for draft in reply.tasks} | {task.goal_id for task in order.open_tasks}
    is_settled = has_task | {id_ for id_, answer in answers.items() if answer.verdict is not GoalVerdict.TASKS}
    return tuple(goal for goal in order.goals if goal.id not in is_settled)


def verdicts(reply: PlanReply) -> dict[str, GoalReply]:
    """The first answer about each goal."""
    return {answer.goal_id: answer for answer in reversed(reply.goals)}


# --- one task ------------------------------------------------------------------------------------------------


def _faults_of(place: int, reply: PlanReply, order: PlanOrder, tree: Tree) -> Iterator[str]:
    draft = reply.tasks[place]
    answer = verdicts(reply).get(draft.goal_id)
    if draft.goal_id not in {goal.id for goal in order.goals}:
        yield f"its goal {one_line(draft.goal_id, 40)!r} was not asked for"
    elif answer and answer.verdict is not GoalVerdict.TASKS:
        yield f"its goal is answered with `{answer.verdict}`, so it can have no task"
    yield from _bad_texts(draft)
    yield from _bad_paths(place, reply.tasks, order, tree)
    yield from _twins(place, reply.tasks, order)


def _bad_texts(draft: Draft) -> Iterator[str]:
    if not headline(draft.title):
        yield "it has no title"
    if not body(draft.description):
        yield "it has no description"
    if len(draft.description) > LONGEST_DESCRIPTION:
        yield f"its description has {len(draft.description)} characters (limit {LONGEST_DESCRIPTION})"
    if not criteria(draft.acceptance):
        yield "it has no acceptance criterion"
    if len(draft.acceptance) > MAX_CRITERIA:
        yield f"it has {len(draft.acceptance)} acceptance criteria (limit {MAX_CRITERIA})"
    if any(len(criterion) > LONGEST_CRITERION for criterion in draft.acceptance):
        yield f"an acceptance criterion is longer than {LONGEST_CRITERION} characters"


def _bad_paths(place: int, tasks: Sequence[Draft], order: PlanOrder, tree: Tree) -> Iterator[str]:
    draft = tasks[place]
    paths, made, others = draft.paths, created_before(place, tasks, order), _created_beside(place, tasks, order)
    if not paths:
        yield "it names no file to change"
    if len(paths) > MAX_FILES:
        yield f"it changes {len(paths)} files (limit {MAX_FILES}): split it"
    if len(set(paths)) < len(paths):
        yield "it names a file twice"
    for path in paths[: MAX_FILES + 1]:
        if reason := _forbidden(path, order, draft.goal_id):
            yield reason
        elif path in made:
            continue
        elif path in others:
            maker = one_line(others[path], 40)
            yield f"{path} is created by {maker!r}, too: depend on that, and name the file in `files`"
        elif path in draft.files and path not in tree.files:
            yield f"{path} does not exist; what is to be created belongs in `new_files`"
        elif path in draft.new_files and (reason := _not_new(path, tree)):
            yield reason


def _forbidden(path: str, order: PlanOrder, goal_id: str) -> str | None:
    if not is_plain_path(path) or len(path) > LONGEST_PATH:
        return f"{one_line(path, 60)!r} is no path inside the repository"
    for guard in order.guards:
        if guard.goal_id in ("", goal_id) and (pattern := matches(path, guard.patterns)):
            whose = "goal" if guard.goal_id else "note"
            return f'{path} must not be touched ({pattern}): the owner\'s {whose} says "{one_line(guard.note, 200)}"'
    if not permits(path, order.allow):
        return f"{path} lies outside of what tasks may touch ({', '.join(order.allow)})"
    return None


def _not_new(path: str, tree: Tree) -> str | None:
    if path in tree.files:
        return f"{path} exists already; it belongs in `files`"
    if path.casefold() in tree.folded:
        return f"{path} is the name of a folder, or differs from another file only in capitals"
    if above := next((folder for folder in _above(path) if folder in tree.files), None):
        return f"{path} cannot be created: {above} is a file"
    return None


def created_before(place: int, tasks: Sequence[Draft], order: PlanOrder) -> frozenset[str]:
    """The new files of all tasks that it depends on, over however many steps: when it begins they are there."""
    known, open_tasks = places(tasks), {task.id: task for task in order.open_tasks}
    found: set[str] = set()
    seen: set[str] = set()
    todo = [*tasks[place].depends_on]
    while todo:
        if (key := todo.pop()) in seen:
            continue
        seen.add(key)
        if other := tasks[known[key]] if key in known else open_tasks.get(key):
            found.update(other.new_files)
            todo += other.depends_on
    return frozenset(found)


def _created_beside(place: int, tasks: Sequence[Draft], order: PlanOrder) -> dict[str, str]:
    """The new files of open tasks and of earlier ones of the answer -> who creates each."""
    made = {path: task.id for task in order.open_tasks for path in task.new_files}
    return made | {path: draft.key for draft in reversed(tasks[:place]) for path in draft.new_files}


def _twins(place: int, tasks: Sequence[Draft], order: PlanOrder) -> Iterator[str]:
    """Tasks of the same goal and the same files: an open one titled alike, a new one titled the same."""
    draft = tasks[place]
    for task in order.open_tasks:
        paths = {*task.files, *task.new_files}
        if task.goal_id == draft.goal_id and paths == set(draft.paths) and alike(task.title, draft.title):
            yield f"the open task {task.id} does the same"
    for other in tasks[:place]:
        if _content(other) == _content(draft):
            yield f"the task {one_line(other.key, 40)!r} does the same"


def _content(draft: Draft) -> tuple[str, frozenset[str], str]:
    return draft.goal_id, frozenset(draft.paths), headline(draft.title).casefold()


# --- files that wait for the owner ---------------------------------------------------------------------------

MOST_PARKING = 6  # of a kind, that are named


def parking(order: PlanOrder, paths: Iterable[str]) -> tuple[str, ...]:
    """A line for each kind of file that makes a task wait for the owner, with those that are there."""
    found: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if permits(path, order.allow) and not matches(path, order.guarded()):
            found.setdefault(why_owner(path, order.protected), []).append(path)
    found.pop("", None)
    return tuple(f"{kind}: {few(same, MOST_PARKING)}" for kind, same in sorted(found.items()))


def mixed(task: TaskSpec, order: PlanOrder) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(files of a task that make it wait for the owner, those that wait with them); two empty ones: not both."""
    paths = (*task.files, *task.new_files)
    waiting = tuple(path for path in paths if why_owner(path, order.protected))
    free = tuple(path for path in paths if path not in waiting and not is_test_file(path))
    return (waiting, free) if waiting and free else ((), ())


# --- dependencies --------------------------------------------------------------------------------------------


def places(tasks: Sequence[Draft]) -> dict[str, int]:
    """Key -> the place of the first task of that name."""
    return {draft.key: place for place, draft in reversed(list(enumerate(tasks)))}


def links(tasks: Sequence[Draft]) -> dict[int, set[int]]:
    """Place -> the places of the tasks whose change it needs. Unknown keys are left out."""
    known = places(tasks)
    return {place: {known[key] for key in draft.depends_on if key in known} for place, draft in enumerate(tasks)}


def turns(tasks: Sequence[Draft]) -> dict[int, set[int]]:
    """Place -> the places of the tasks that have their turn before it, whose change it needs among them.

    A turn that would close a circle is left out: it is only a wish.
    """
    known, found = places(tasks), links(tasks)
    for place, draft in enumerate(tasks):
        for other in (known[key] for key in draft.after if key in known):
            if place != other and place not in reached(other, found):
                found[place].add(other)
    return found


def reached(start: int, links: Mapping[int, set[int]]) -> set[int]:
    found: set[int] = set()
    todo = [start]
    while todo:
        if (place := todo.pop()) not in found:
            found.add(place)
            todo += links[place]
    return found


def _bad_links(tasks: Sequence[Draft], order: PlanOrder) -> Iterator[tuple[int, str]]:
    known, open_ids = places(tasks), {task.id for task in order.open_tasks}
    for place, draft in enumerate(tasks):
        if known[draft.key] != place:
            yield place, f"its key {one_line(draft.key, 40)!r} is that of another task"
        for key in dict.fromkeys(draft.depends_on):
            if key not in known and key not in open_ids:
                yield place, f"it depends on {one_line(key, 40)!r}, which is no task"
    for circle in _circles(links(tasks)):
        names = " -> ".join(one_line(tasks[place].key, 40) for place in circle)
        for place in dict.fromkeys(circle):
            yield place, f"it depends on itself: {names}"


def _circles(links: Mapping[int, set[int]]) -> Iterator[list[int]]:
    """Each circle, its first task also at the end; found ones are cut open until there is none left."""
    rest = dict(links)
    while True:
        try:
            graphlib.TopologicalSorter(rest).prepare()
            return
        except graphlib.CycleError as error:
            circle: list[int] = list(reversed(error.args[1]))
            rest |= {place: set() for place in circle}
            yield circle


def chain_lengths(tasks: Sequence[Draft]) -> dict[int, int]:
    """Place -> how many tasks stand in the longest chain that ends with it, each in need of the one before."""
    needs = links(tasks)
    needs |= {place: set() for circle in _circles(needs) for place in circle}
    length: dict[int, int] = {}
    for place in graphlib.TopologicalSorter(needs).static_order():
        length[place] = 1 + max((length[other] for other in needs[place]), default=0)
    return length
