"""The reader's plans: tasks with the lines that it saw, proof of what is untrue, what to ask for. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.goals import edits
from bench.goals.goals import Goal, Need, each
from bench.goals.sight import SMALL, Sight, is_test

OPEN_TASK = re.compile(r"^(\S+) \(goal [^)]*\): .* \[(.*)\]$", re.MULTILINE)
OPEN_TASKS = re.compile(r"^# Open tasks$(.*?)^# ", re.MULTILINE | re.DOTALL)


TESTS_TOO = "its tests too"  # the planner's rule: a task names the files of its tests


@dataclass(frozen=True)
class Work:
    """Some tasks of a goal, and whether their plan is that of a reader who saw all."""

    goal: Goal
    parts: tuple[int, ...]

    @property
    def tests(self) -> list[str]:
        """Texts of tests that the goal knows of these tasks and that are not among its edits."""
        files = [self.goal.home / "tests" / f"{self.goal.id}-{part + 1}.txt" for part in self.parts]
        return [file.read_text("utf-8") for file in files if file.exists()]


def titles(goal: Goal) -> Iterator[tuple[str, Work]]:
    for number, task in enumerate(goal.plan):
        yield task.title, Work(goal, (number,))
    wrong = list(_wrong_titles(goal))
    for number, title in enumerate(wrong):  # the last one does all that is left
        parts = range(number, len(goal.plan)) if number + 1 == len(wrong) else (number,)
        yield title, Work(goal, tuple(parts) or (number,))


def _wrong_titles(goal: Goal) -> Iterator[str]:
    title = goal.words.splitlines()[0].strip()
    many = len(goal.distractor.edits)
    for number in range(many):
        yield title if many == 1 else f"{title}, part {number + 1}"


def _word(goal: Goal, need: Need) -> str:
    """A word of the owner's that leads to the line's file, or else the longest one."""
    words: list[str] = sorted(set(re.findall(r"[^\W\d_]\w{3,}", goal.words)), key=lambda word: (-len(word), word))
    places = (goal.lines[need], need.path, (goal.tree / need.path).read_text("utf-8"))
    return next((word for text in places for word in words if word in text), words[0])


def _seen(goal: Goal, sight: Sight) -> list[tuple[Need, int]]:
    missing = sight.missing(goal)
    return [(need, sight.number(goal, need)) for need in goal.needs if need not in missing]


def verdict(id_: str, goal: Goal, sight: Sight) -> dict[str, Any]:
    seen = _seen(goal, sight)
    first = f"{seen[0][0].path}, line {seen[0][1]}" if seen else "the goal's words"
    answer = {"goal_id": id_, "verdict": "tasks", "text": f"Work is needed: see {first}.", "measures": _measures(goal)}
    if found := _answered(id_, goal, sight):
        return answer | {"measures": [], "verdict": "question", "text": f"The coder could not do this: {found}"}
    if len(seen) < len(goal.needs) or goal.outcome not in ("false premise", "question"):
        return answer
    if goal.outcome == "question":
        return answer | {"measures": [], "verdict": "question", "text": f"{goal.premise} What shall be done?"}
    lines = [_line(goal, need, number) for need, number in seen]
    return answer | {"measures": [], "verdict": "premise_false", "text": goal.premise, "evidence": lines}


def _answered(id_: str, goal: Goal, sight: Sight) -> str:
    """Why the coder changed nothing, for who still lacks lines: the same tasks again would be no answer."""
    found = re.search(rf"^{id_} answer\b(.*)$", sight.user, re.MULTILINE) if sight.missing(goal) else None
    return found[1].strip() if found else ""


def _line(goal: Goal, need: Need, number: int) -> dict[str, Any]:
    return {"kind": "line", "path": need.path, "line": number, "quote": goal.lines[need]}


def _right_plan(goal: Goal) -> list[tuple[str, tuple[str, ...]]]:
    return [(task.title, task.files + task.new_files) for task in goal.plan]


def _with_tests(goal: Goal, number: int, paths: Sequence[str], sight: Sight) -> tuple[str, ...]:
    """The files of a task and of its test, if one is known and the prompt asks for it: where others keep theirs."""
    if TESTS_TOO not in sight.system or not Work(goal, (number,)).tests or any(map(is_test, paths)):
        return tuple(paths)
    kept = Counter(file.parent.relative_to(goal.tree).as_posix() for file in goal.tree.rglob("test_*.py"))
    stem = paths[0].rpartition("/")[2].removesuffix(".py")
    return (*paths, f"{max(kept, key=lambda one: (kept[one], one))}/test_{stem}_{number + 1}.py")


def _wrong_plan(goal: Goal) -> list[tuple[str, tuple[str, ...]]]:
    return [(title, tuple(files)) for title, files in zip(_wrong_titles(goal), goal.distractor.edits, strict=True)]


def _sorted_out(
    goal: Goal, paths: Sequence[str], before: Iterable[tuple[str, Sequence[str]]], sight: Sight
) -> tuple[list[str], list[str]]:
    """Files and new files. What an earlier task creates is a file, unless we were told that it is to be a new one."""
    made = {path for _, some in before for path in some if f"{path} does not exist" not in sight.user}
    there = [path for path in paths if (goal.tree / path).exists() or path in made]
    return there, [path for path in paths if path not in there]


def _draft(
    id_: str, goal: Goal, sight: Sight, number: int, task: tuple[str, tuple[list[str], list[str]]]
) -> dict[str, Any]:
    """A task as a capable planner writes it: with the lines that it saw, so that the coder has them too."""
    title, (files, new_files) = task
    seen = _seen(goal, sight)
    context = [need.path for need, _ in seen if need.path not in files]
    told = "\n".join(f"{need.path}:{at}: {goal.lines[need].strip()}" for need, at in seen)
    return {
        "key": f"{goal.id}-{number + 1}",
        "goal_id": id_,
        "title": title,
        "description": f"{goal.words.strip()}\n\nWhat is now:\n{told or '(nothing of it was shown)'}",
        "reason": goal.words.splitlines()[0],
        "files": files,
        "new_files": new_files,
        "context": list(dict.fromkeys(context))[:8],
        "acceptance": [line.strip() for line in goal.words.splitlines()[:5] if line.strip()],
        "difficulty": "medium",
        "depends_on": [f"{goal.id}-{number}"] if number else [],
        "kind": _kind(goal, files, new_files),
        "changes_tests": [path for path in files if is_test(path) and _loses(goal, path)],
    }


def in_turn(drafts: Sequence[dict[str, Any]], open_tasks: str) -> list[dict[str, Any]]:
    """Tasks that change the same file have their turn one after the other; one that needs the other waits for it."""
    found: list[dict[str, Any]] = []
    for draft in drafts:
        paths = {*draft["files"], *draft["new_files"]}
        before = [one["key"] for one in found if paths & {*one["files"], *one["new_files"]}]
        before += [id_ for id_, named in OPEN_TASK.findall(open_tasks) if paths & set(named.split(", "))]
        found.append({**draft, "after": [key for key in before if key not in draft["depends_on"]]})
    return found


def _loses(goal: Goal, path: str) -> bool:
    """Whether the right change takes lines away from a test."""
    before = edits.original(goal, path)
    return bool(set(before.splitlines()) - set(edits.original(goal, path, goal.edits).splitlines()))


def _kind(goal: Goal, files: Sequence[str], new_files: Sequence[str]) -> str:
    """The kind of a task, as it can be told from what it changes."""
    puts = [edit.put or edit.whole for path, edit in each(goal.edits) if not is_test(path)]
    if goal.edits and not puts:
        return "tests"
    if puts and not any(puts):
        return "removal"
    if goal.measure and goal.measure.kind == "findings":
        return "refactoring"
    if any(is_test(path) and _loses(goal, path) for path in files):
        return "behaviour"
    return "feature" if any(not is_test(path) for path in new_files) else "fix"


def _measures(goal: Goal) -> list[dict[str, Any]]:
    """How the goal says it is measured; only in the kinds that a team can take by itself."""
    measure = goal.measure
    if measure is None or measure.kind == "timing" or (measure.kind == "findings" and "ruff" not in measure.of):
        return []
    of = measure.of if measure.kind != "property" else _property(goal, measure.of)
    bound = "at_most" if measure.at_least is None else "at_least"
    figure = measure.at_most if measure.at_least is None else measure.at_least
    return [{"kind": measure.kind, "of": of, "bound": bound, "figure": figure}]


def _property(goal: Goal, path: str) -> str:
    """Of a file: the last line that the right change puts there."""
    puts = [edit.put for where, edit in each(goal.edits) if where == path and edit.put]
    before = edits.original(goal, path).splitlines()
    lines = [line for put in puts for line in put.splitlines() if line.strip() and line not in before]
    return f"matches {path} {lines[-1].strip()}" if lines else path


def open_ones(sight: Sight) -> str:
    return "".join(OPEN_TASKS.findall(sight.user))


def drafts(id_: str, goal: Goal, sight: Sight) -> Iterator[dict[str, Any]]:
    """The right plan if all needed lines are seen, else that of the wrong change; without tasks that are open."""
    if (goal.kind == "false" and not sight.missing(goal)) or _answered(id_, goal, sight):
        return
    plan = [(title, _with_tests(goal, n, paths, sight)) for n, (title, paths) in enumerate(_right_plan(goal))]
    plan = plan if not sight.missing(goal) else _wrong_plan(goal)
    open_tasks = open_ones(sight)
    for number, (title, paths) in enumerate(plan):
        if title not in open_tasks:
            yield _draft(id_, goal, sight, number, (title, _sorted_out(goal, paths, plan[:number], sight)))


def sought(id_: str, goal: Goal, sight: Sight) -> Iterator[dict[str, str]]:
    """What to look at before an answer: a missing line's file or definition if it is named, else the owner's words."""
    for need in sight.missing(goal):
        name = _definition(goal, need)
        if not sight.names(need.path):
            kind, what = "search", _word(goal, need)
        elif (goal.tree / need.path).stat().st_size < SMALL:
            kind, what = "file", need.path
        elif name and name.rpartition(".")[2] in sight.user:
            kind, what = "definition", f"{need.path}::{name}"
        else:
            kind, what = "search", _word(goal, need)
        yield {"goal_id": id_, "kind": kind, "what": what}


def _definition(goal: Goal, need: Need) -> str:
    """The innermost function or class of a long file that holds the line; empty: none."""
    text = (goal.tree / need.path).read_text("utf-8")
    number = text.splitlines().index(goal.lines[need]) + 1
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:
        return ""
    named = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    around = [node for node in named if node.lineno <= number <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno).name if around else ""
