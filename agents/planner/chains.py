"""Chains of tasks that are longer than the limit -> fewer tasks: neighbours of one goal are joined. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sisimpur.agents.planner.plan_rules import (
    LONGEST_DESCRIPTION,
    MAX_CRITERIA,
    MAX_FILES,
    MAX_TASKS,
    Tree,
    chain_lengths,
    links,
    own_faults,
    reached,
    turns,
)
from sisimpur.agents.planner.task_spec import Draft, PlanReply
from sisimpur.shared.model.work import Difficulty, PlanOrder, TaskKind

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
