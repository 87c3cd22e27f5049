"""The reader model: knows the right change of each goal, and gives it only if the needed lines stand in the prompt.

A rule for each role, told in README.md. Nothing is remembered from one prompt to the next but what was asked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.goals import edits
from bench.goals.goals import Files, Goal, Need
from bench.goals.sight import Sight, filled, named_small, normal

ASKED_GOAL = re.compile(r"^([gp]-[0-9a-f]{6})\s*\((?:critical|high|medium|low)\):\s*(.+)$", re.MULTILINE)
TASK = re.compile(r"^(?:Task \S+: |# The task\n+`{3,}task\n)(.+)$", re.MULTILINE)
CREATED = re.compile(r"^Files to create: (.+)$", re.MULTILINE)
ROLE = re.compile(r"\s*You are (?:the )?([A-Za-z][\w' -]*?)(?: of\b|[.,:\n]|$)")
CODES = "SEARCH/REPLACE"
TESTS_FOR = "Tests for: "
OPEN_TASKS = re.compile(r"^# Open tasks$(.*?)^# ", re.MULTILINE | re.DOTALL)
ADDED = re.compile(r"^(\d+)\+(.*)$")
CHANGED = re.compile(r"^=== (\S+) \((\w+)\)", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A prompt, who answered it as what, and which lines each of its goals lacked. `whole`: of small named files."""

    role: str
    goals: tuple[str, ...]
    missing: Mapping[str, tuple[Need, ...]]
    done: str  # what the answer does: plans, asks, right edits, wrong edits, cannot …
    system: str
    user: str
    answer: str
    whole: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # goal -> whole, named


@dataclass(frozen=True)
class Work:
    """Some tasks of a goal, and whether their plan is that of a reader who saw all."""

    goal: Goal
    parts: tuple[int, ...]


class Reader:
    """Answers prompts about these goals. `heard` is told each of them."""

    def __init__(self, goals: Sequence[Goal], heard: Callable[[Asked], None] = lambda _: None) -> None:
        self._goals = {goal.words.splitlines()[0].strip(): goal for goal in goals}
        self._titles = {normal(title).casefold(): work for goal in goals for title, work in _titles(goal)}
        self._heard = heard
        self._sought: set[tuple[str, str]] = set()
        self.unknown: Counter[str] = Counter()

    def answer(self, sight: Sight) -> str:
        found = ROLE.match(sight.system)
        role = "coder" if CODES in sight.system else found[1].lower() if found else "unknown"
        if "coder" in role and not sight.form:
            return self._coded(sight)
        if role == "planner" and sight.form:
            return self._planned(sight)
        if role == "reviewer" and sight.form:
            return self._reviewed(sight)
        if role != "orchestrator":
            self.unknown[f"{role}: {sight.form.get('title', 'no form')}"] += 1
        said: str = json.dumps(filled(sight.form, {})) if sight.form else "I cannot answer this."
        return self._told(sight, role, (), "says nothing", said)

    def _told(self, sight: Sight, role: str, goals: Iterable[Goal], done: str, said: str) -> str:
        missing = {goal.id: sight.missing(goal) for goal in goals}
        small = {goal.id: named_small(goal).values() for goal in goals} if role == "planner" else {}
        whole = {id_: (sum(map(sight.is_whole, texts)), len(texts)) for id_, texts in small.items()}
        self._heard(Asked(role, tuple(missing), missing, done, sight.system, sight.user, said, whole))
        return said

    # --- planner ---------------------------------------------------------------------------------------------

    def _planned(self, sight: Sight) -> str:
        asked = [(id_, goal) for id_, title in _unique(ASKED_GOAL.findall(sight.user)) if (goal := self._of(title))]
        wanted = [one for id_, goal in asked for one in self._sought_for(id_, goal, sight)] if _asks(sight.form) else []
        waiting = {one["goal_id"] for one in wanted}
        ready = [(id_, goal) for id_, goal in asked if id_ not in waiting]
        tasks = [task for id_, goal in ready for task in self._tasks(id_, goal, sight)]
        replies = [_verdict(id_, goal, sight) for id_, goal in ready]
        reply = {"goals": replies, "tasks": tasks, "asks": wanted}
        done = "asks" if wanted else "plans"
        return self._told(sight, "planner", [goal for _, goal in asked], done, json.dumps(filled(sight.form, reply)))

    def _of(self, title: str) -> Goal | None:
        return next((goal for own, goal in self._goals.items() if normal(own) == normal(title)), None)

    def _sought_for(self, id_: str, goal: Goal, sight: Sight) -> Iterator[dict[str, str]]:
        """What to look at before an answer: a missing line's file if its path is known, else a word of the goal."""
        for need in sight.missing(goal):
            kind, what = ("file", need.path) if need.path in sight.user else ("search", _word(goal, need))
            if (id_, what) not in self._sought:
                self._sought.add((id_, what))
                yield {"goal_id": id_, "kind": kind, "what": what}

    def _tasks(self, id_: str, goal: Goal, sight: Sight) -> Iterator[dict[str, Any]]:
        """The right plan if all needed lines are seen, else that of the wrong change; without tasks that are open."""
        if goal.kind == "false" and not sight.missing(goal):
            return
        plan = _right_plan(goal) if not sight.missing(goal) else _wrong_plan(goal)
        open_tasks = "".join(OPEN_TASKS.findall(sight.user))
        for number, (title, paths) in enumerate(plan):
            if title not in open_tasks:
                yield _draft(id_, goal, sight, number, (title, _sorted_out(goal, paths, plan[:number], sight)))

    # --- coder and test writer -------------------------------------------------------------------------------

    def _coded(self, sight: Sight) -> str:
        title = next(iter(TASK.findall(sight.user)), "")
        work = self._titles.get(normal(title.removeprefix(TESTS_FOR)).casefold())
        if work is None:
            self.unknown["coder: a task of no goal"] += 1
            return self._told(sight, "coder", (), "cannot", "I cannot do this, because I do not know what it is about.")
        creatable = [path.strip() for line in CREATED.findall(sight.user) for path in line.split(",")]
        if title.startswith(TESTS_FOR):
            return self._told(sight, "test writer", [work.goal], *_tests(work, sight, creatable))
        is_known = not sight.missing(work.goal)
        changes = work.goal.edits if is_known else work.goal.distractor.edits
        wanted = edits.steps(changes, work.parts)
        if not wanted and is_known:
            text = "I cannot do this as described: the code does what the task asks for already."
            return self._told(sight, "coder", [work.goal], "cannot", text)
        try:
            texts = _new_texts(work, sight, wanted, creatable, is_known)
        except edits.Unseen as path:
            text = f"I cannot do this as described, because I do not see {path} as it would have to be changed."
            return self._told(sight, "coder", [work.goal], "cannot", text)
        said = _blocks(sight, texts)
        if not said:
            return self._told(sight, "coder", [work.goal], *_stays(sight, is_known, sorted(texts)))
        return self._told(sight, "coder", [work.goal], "right edits" if is_known else "wrong edits", said)

    # --- reviewer --------------------------------------------------------------------------------------------

    def _reviewed(self, sight: Sight) -> str:
        title = next(iter(TASK.findall(sight.user)), "")
        work = self._titles.get(normal(title).casefold())
        if work is None:
            self.unknown["reviewer: a task of no goal"] += 1
            return self._told(sight, "reviewer", (), "approves", _verdict_of(sight, None))
        fault = _fault(work, sight)
        if fault and not sight.missing(work.goal):
            return self._told(sight, "reviewer", [work.goal], "finds", _verdict_of(sight, fault))
        done = "approves what is wrong" if fault else "approves"
        return self._told(sight, "reviewer", [work.goal], done, _verdict_of(sight, None))


# --- plans ---------------------------------------------------------------------------------------------------


def _titles(goal: Goal) -> Iterator[tuple[str, Work]]:
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


def _unique(found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(found))


def _asks(form: Mapping[str, Any]) -> bool:
    return "asks" in form.get("properties", {})


def _word(goal: Goal, need: Need) -> str:
    """A word of the owner's that leads to the line's file, or else the longest one."""
    words: list[str] = sorted(set(re.findall(r"[^\W\d_]\w{3,}", goal.words)), key=lambda word: (-len(word), word))
    text = (goal.tree / need.path).read_text("utf-8") + need.path
    return next((word for word in words if word in text), words[0])


def _seen(goal: Goal, sight: Sight) -> list[tuple[Need, int]]:
    missing = sight.missing(goal)
    return [(need, sight.number(goal, need)) for need in goal.needs if need not in missing]


def _verdict(id_: str, goal: Goal, sight: Sight) -> dict[str, Any]:
    seen = _seen(goal, sight)
    first = f"{seen[0][0].path}, line {seen[0][1]}" if seen else "the goal's words"
    answer = {"goal_id": id_, "verdict": "tasks", "text": f"Work is needed: see {first}.", "evidence": []}
    if len(seen) < len(goal.needs) or goal.outcome not in ("false premise", "question"):
        return answer
    if goal.outcome == "question":
        return answer | {"verdict": "question", "text": f"{goal.premise} What shall be done?"}
    lines = [_line(goal, need, number) for need, number in seen]
    return answer | {"verdict": "premise_false", "text": goal.premise, "evidence": lines}


def _line(goal: Goal, need: Need, number: int) -> dict[str, Any]:
    return {"kind": "line", "path": need.path, "line": number, "quote": goal.lines[need]}


def _right_plan(goal: Goal) -> list[tuple[str, tuple[str, ...]]]:
    return [(task.title, task.files + task.new_files) for task in goal.plan]


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
        "measure": vars(goal.measure) if goal.measure else None,
    }


# --- changes -------------------------------------------------------------------------------------------------


def _new_texts(
    work: Work, sight: Sight, wanted: Sequence[tuple[str, Any]], creatable: Sequence[str], is_known: bool
) -> dict[str, str]:
    """Path -> text. Who knows what is right takes the wrong change back first, in files that need no change, too."""
    if not is_known:
        return edits.rewritten(sight.editable, wanted, creatable)
    clean = edits.without_the_wrong(work.goal, sight.editable, work.parts)
    back = {path: text for path, text in clean.items() if sight.editable[path] != text}
    return {**back, **edits.rewritten(clean, wanted, creatable)}


def _blocks(sight: Sight, texts: Mapping[str, str]) -> str:
    shown = sight.editable
    return "\n".join(
        filter(None, (edits.blocks(path, shown.get(path, ""), new, sight.fence) for path, new in texts.items()))
    )


def _stays(sight: Sight, is_known: bool, paths: Sequence[str]) -> tuple[str, str]:
    """What is said by who has nothing to change any more."""
    if "no test was added" in sight.user:
        return "cannot", "I cannot add a test, because the task names no file for it; nothing else is to be changed."
    if is_known:
        return "objects", f"The finding is wrong: {', '.join(paths)} does what the task asks for."
    return "cannot", f"I cannot mend this, because I do not see what else depends on {', '.join(paths)}."


def _tests(work: Work, sight: Sight, creatable: Sequence[str]) -> tuple[str, str]:
    """A test file that the goal knows, or else one that reads the changed lines: honest, but it runs nothing."""
    goal, path = work.goal, next(iter(creatable), "")
    known = [edit.whole for where, edit in edits.each(goal.edits) if "test" in where and edit.whole]
    if not path:
        return "cannot", "I cannot do this as described, because no file for the tests is named."
    is_known = not sight.missing(goal)
    changes = goal.edits if is_known else goal.distractor.edits
    text = known[0] if known and is_known else _read_test(goal, changes, work.parts)
    return ("right tests" if known else "tests that read"), edits.blocks(path, "", text, sight.fence)


def _read_test(goal: Goal, changes: Sequence[Files], parts: Sequence[int]) -> str:
    added = _added(goal, changes, parts)
    first = next(iter(added), "README.md")
    rows = [
        f"    assert {line!r} in (ROOT / {path!r}).read_text('utf-8').splitlines()"
        for path, lines in added.items()
        for line in sorted(lines)
    ]
    return (
        "from pathlib import Path\n\n"
        f"ROOT = next(one for one in Path(__file__).resolve().parents if (one / {first!r}).exists())\n\n\n"
        f"def test_{goal.id.replace('-', '_')}():\n" + ("\n".join(rows) or "    assert ROOT.exists()") + "\n"
    )


def _added(goal: Goal, changes: Sequence[Files], parts: Sequence[int]) -> dict[str, set[str]]:
    """Path -> lines that some tasks add to it, without tests."""
    return {path: after - before for path, (before, after) in _compared(goal, changes, parts)}


def _removed(goal: Goal, changes: Sequence[Files], parts: Sequence[int]) -> dict[str, set[str]]:
    return {path: before - after for path, (before, after) in _compared(goal, changes, parts)}


def _compared(
    goal: Goal, changes: Sequence[Files], parts: Sequence[int]
) -> Iterator[tuple[str, tuple[set[str], set[str]]]]:
    """Each changed file's lines before these tasks and after them."""
    wanted = edits.steps(changes, parts)
    for path in dict.fromkeys(path for path, _ in wanted if "test" not in path):
        before = edits.original(goal, path, changes[: min(parts)])
        after = edits.rewritten({path: before}, [one for one in wanted if one[0] == path], ())[path]
        yield path, (set(before.splitlines()) - {""}, set(after.splitlines()) - {""})


# --- reviews -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    path: str
    line: int
    text: str


def _fault(work: Work, sight: Sight) -> Fault | None:
    """What is wrong with the shown change, for who knows what is right: lines missing, or lines too many gone."""
    goal, parts = work.goal, work.parts
    shown = _shown(sight)
    right, gone = _added(goal, goal.edits, parts), _removed(goal, goal.edits, parts)
    wrong = _added(goal, goal.distractor.edits, parts)
    for path, rows in shown.items():
        if path not in wrong and path not in right:
            continue
        added = {normal(text) for _, text in rows if text is not None}
        lacks = {normal(line) for line in right.get(path, ())} - added
        strange = {normal(line) for line in wrong.get(path, ())} & added - {
            normal(line) for line in right.get(path, ())
        }
        lost = {normal(text) for at, text in rows if at < 0} - {normal(line) for line in gone.get(path, ())}
        if lacks or strange or lost - {""}:
            at = next((at for at, text in rows if at > 0 and normal(text) in strange), max(0, rows[0][0]))
            need = goal.needs[0]
            return Fault(path, at, f"{goal.distractor.because} See {need.path}: `{goal.lines[need].strip()}`")
    return None


def _shown(sight: Sight) -> dict[str, list[tuple[int, str]]]:
    """Path -> (number of an added line, or -1 of a removed one; its text)."""
    found: dict[str, list[tuple[int, str]]] = {}
    path = ""
    for line in sight.user.splitlines():
        if head := CHANGED.match(line):
            path = head[1]
            found[path] = found.get(path, [])
        elif path and (added := ADDED.match(line)):
            found[path].append((int(added[1]), added[2]))
        elif path and line.startswith("-"):
            found[path].append((-1, line[1:]))
    return {path: rows for path, rows in found.items() if rows}


def _verdict_of(sight: Sight, fault: Fault | None) -> str:
    if fault is None:
        return json.dumps(filled(sight.form, {"decision": "approve"}))
    finding = {"path": fault.path, "line": fault.line, "severity": "medium", "rule": "wrong change", "text": fault.text}
    reply = {"decision": "request_changes", "reason": fault.text, "findings": [finding]}
    return json.dumps(filled(sight.form, reply))
