"""The reader model: knows the right change of each goal, and gives it only if the needed lines stand in the prompt.

A rule for each role, told in README.md. Nothing is remembered from one prompt to the next but what was asked for.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.goals import edits, plans
from bench.goals.goals import Files, Goal, Need
from bench.goals.plans import Work
from bench.goals.sight import Sight, filled, is_test, named_small, normal

ASKED_GOAL = re.compile(r"^([gp]-[0-9a-f]{6})\s*\((?:critical|high|medium|low)\):\s*(.+)$", re.MULTILINE)
TASK = re.compile(r"^(?:Task \S+: |# The task\n+`{3,}task\n)(.+)$", re.MULTILINE)
CREATED = re.compile(r"^Files to create: (.+)$", re.MULTILINE)
ROLE = re.compile(r"\s*You are (?:the )?([A-Za-z][\w' -]*?)(?: of\b|[.,:\n]|$)")
CODES = "SEARCH/REPLACE"
TESTS_FOR = "Tests for: "
ROW = re.compile(r"^(\d+)([-+<>])(.*)$")
BY_RULES = re.compile(r"^# What rules found$(.*?)^# ", re.MULTILINE | re.DOTALL)
WISHED = re.compile(r"^# The goal$(.*?)^# ", re.MULTILINE | re.DOTALL)
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


class Reader:
    """Answers prompts about these goals. `heard` is told each of them."""

    def __init__(self, goals: Sequence[Goal], heard: Callable[[Asked], None] = lambda _: None) -> None:
        self._goals = {goal.words.splitlines()[0].strip(): goal for goal in goals}
        self._titles = {_key(title): work for goal in goals for title, work in plans.titles(goal)}
        self._heard = heard
        self._asked: set[str] = set()  # goals that the next prompt may answer something about
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
        if role == "evaluator" and sight.form:
            return self._read_at_the_end(sight)
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
        found = dict.fromkeys(ASKED_GOAL.findall(sight.user))
        asked = [(id_, goal) for id_, title in found if (goal := self._of(title))]
        sought = (one for id_, goal in asked for one in self._sought(id_, goal, sight))
        wanted = list({(one["kind"], one["what"]): one for one in sought}.values())
        replies = [plans.verdict(id_, goal, sight) for id_, goal in asked]
        drafts = [draft for id_, goal in asked for draft in plans.drafts(id_, goal, sight)]
        tasks = plans.in_turn(drafts, plans.open_ones(sight))
        reply = {"asks": wanted} if wanted else {"goals": replies, "tasks": tasks}
        done = "asks" if wanted else "plans"
        return self._told(sight, "planner", [goal for _, goal in asked], done, json.dumps(filled(sight.form, reply)))

    def _sought(self, id_: str, goal: Goal, sight: Sight) -> list[dict[str, str]]:
        """Asked for once; the next prompt about the goal is answered with what stands there."""
        if "asks" not in sight.form.get("properties", {}) or id_ in self._asked:
            self._asked.discard(id_)
            return []
        found = list(plans.sought(id_, goal, sight))
        self._asked |= {id_} if found else set()
        return found

    def _of(self, title: str) -> Goal | None:
        return next((goal for own, goal in self._goals.items() if normal(own) == normal(title)), None)

    # --- coder and test writer -------------------------------------------------------------------------------

    def _coded(self, sight: Sight) -> str:
        title = next(iter(TASK.findall(sight.user)), "")
        work = self._titles.get(_key(title.removeprefix(TESTS_FOR)))
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
            if asked := _to_show(work, sight, str(path), wanted):
                return self._told(sight, "coder", [work.goal], "asks", asked)
            text = f"I cannot do this as described, because I do not see {path} as it would have to be changed."
            return self._told(sight, "coder", [work.goal], "cannot", text)
        if is_known:
            texts |= _own_tests(work, creatable, texts)
        said = _blocks(sight, texts)
        if not said:
            return self._told(sight, "coder", [work.goal], *_stays(sight, is_known, sorted(texts)))
        return self._told(sight, "coder", [work.goal], "right edits" if is_known else "wrong edits", said)

    # --- evaluator -------------------------------------------------------------------------------------------

    def _read_at_the_end(self, sight: Sight) -> str:
        wished = "".join(WISHED.findall(sight.user))
        goal = next((goal for title, goal in self._goals.items() if title in wished), None)
        verdict = _ended(goal, sight) if goal else "cannot tell"
        missing = "" if verdict == "holds" or goal is None else goal.distractor.because
        said = json.dumps(filled(sight.form, {"verdict": verdict, "missing": missing}))
        return self._told(sight, "evaluator", [goal] if goal else [], verdict, said)

    # --- reviewer --------------------------------------------------------------------------------------------

    def _reviewed(self, sight: Sight) -> str:
        title = next(iter(TASK.findall(sight.user)), "")
        work = self._titles.get(_key(title))
        if work is None:
            self.unknown["reviewer: a task of no goal"] += 1
            return self._told(sight, "reviewer", (), "approves", _verdict_of(sight, None))
        fault = _fault(work, sight)
        if fault and not sight.missing(work.goal):
            return self._told(sight, "reviewer", [work.goal], "finds", _verdict_of(sight, fault))
        done = "approves what is wrong" if fault else "approves"
        return self._told(sight, "reviewer", [work.goal], done, _verdict_of(sight, None))


def _key(title: str) -> str:
    """A title as it is known again: the team takes marks away from its beginning."""
    return " ".join(re.findall(r"\w+", title)).casefold()


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


def _own_tests(work: Work, creatable: Sequence[str], texts: Mapping[str, str]) -> dict[str, str]:
    """The test that the goal knows of this task, where the task names a file for it that no edit is about."""
    return dict(zip([path for path in creatable if is_test(path) and path not in texts], work.tests, strict=False))


def _to_show(work: Work, sight: Sight, path: str, wanted: Sequence[tuple[str, Any]]) -> str:
    """Lines that ask for what is left out of a long file, in the form that the prompt names; empty: it is no such."""
    shown = sight.editable.get(path, "")
    if edits.LEFT_OUT not in shown or "SHOW path:" not in sight.user or "You asked to see" in sight.user:
        return ""
    text = edits.original(work.goal, path)
    finds = [edit.find for where, edit in wanted if where == path and edit.find and edit.find not in shown]
    firsts = [text[: text.index(find)].count("\n") + 1 for find in finds if find in text]
    lasts = [first + find.count("\n") for first, find in zip(firsts, finds, strict=False)]
    rows = [f"SHOW {path}:{max(1, first - 15)}-{last + 15}" for first, last in zip(firsts, lasts, strict=True)]
    return "\n".join(rows)


def _blocks(sight: Sight, texts: Mapping[str, str]) -> str:
    shown = sight.editable
    return "\n".join(
        filter(None, (edits.blocks(path, shown.get(path, ""), new, sight.fence) for path, new in texts.items()))
    )


def _stays(sight: Sight, is_known: bool, paths: Sequence[str]) -> tuple[str, str]:
    """What is said by who has nothing to change any more."""
    found = sight.user.rpartition("What was found:")[2]
    if is_known and "no test was added" not in found:
        return "objects", f"The finding is wrong: {', '.join(paths)} does what the task asks for."
    if "no test was added" in found and " fails at " not in found:
        return "cannot", "I cannot add a test, because the task names no file for it; nothing else is to be changed."
    return "cannot", f"I cannot mend this, because I do not see what else depends on {', '.join(paths)}."


def _tests(work: Work, sight: Sight, creatable: Sequence[str]) -> tuple[str, str]:
    """A test file that the goal knows, or else one that reads the changed lines: honest, but it runs nothing."""
    goal, path = work.goal, next(iter(creatable), "")
    known = [edit.whole for where, edit in edits.steps(goal.edits, work.parts) if is_test(where) and edit.whole]
    known += work.tests
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
    return {path: added for path, _, added in _compared(goal, changes, parts)}


def _removed(goal: Goal, changes: Sequence[Files], parts: Sequence[int]) -> dict[str, set[str]]:
    return {path: removed for path, removed, _ in _compared(goal, changes, parts)}


def _compared(goal: Goal, changes: Sequence[Files], parts: Sequence[int]) -> Iterator[tuple[str, set[str], set[str]]]:
    """Each changed file, the lines that these tasks take away, and those that they add."""
    wanted = edits.steps(changes, parts)
    for path in dict.fromkeys(path for path, _ in wanted if not is_test(path)):
        before = edits.original(goal, path, changes[: min(parts)])
        after = edits.rewritten({path: before}, [one for one in wanted if one[0] == path], ())[path]
        rows = [row for row in difflib.ndiff(before.splitlines(), after.splitlines()) if row[2:].strip()]
        yield path, {row[2:] for row in rows if row[0] == "-"}, {row[2:] for row in rows if row[0] == "+"}


def _ended(goal: Goal, sight: Sight) -> str:
    """Whether the right change is in what is shown; who lacks needed lines believes the wrong one."""
    parts = range(len(goal.edits))
    right = {line for lines in _added(goal, goal.edits, parts).values() for line in lines} if parts else set()
    if right:
        is_right = _normal(right) <= sight.lines
    else:
        gone = {line for lines in _removed(goal, goal.edits, parts).values() for line in lines} if parts else set()
        too_many = {line for lines in _removed(goal, goal.distractor.edits, (0,)).values() for line in lines} - gone
        is_right = not any(f"-{line}" in sight.user.splitlines() for line in too_many)
    return "holds" if is_right or sight.missing(goal) else "not yet"


# --- reviews -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A changed line of a shown change. `number`: in the old file, if it is gone."""

    number: int
    is_gone: bool
    text: str


@dataclass(frozen=True)
class Fault:
    path: str
    row: Row
    text: str


def _fault(work: Work, sight: Sight) -> Fault | None:
    """What is wrong with the shown change, for who knows what is right: lines missing, or lines too many gone."""
    goal, parts = work.goal, work.parts
    right, gone = _added(goal, goal.edits, parts), _removed(goal, goal.edits, parts)
    wrong = _added(goal, goal.distractor.edits, parts)
    need = goal.needs[0]
    text = f"{goal.distractor.because} See {need.path}: `{goal.lines[need].strip()}`"
    for path, rows in _shown(sight).items():
        if path not in wrong and path not in right:
            continue
        wanted, added = _normal(right.get(path, ())), {row.text for row in rows if not row.is_gone}
        strange = (_normal(wrong.get(path, ())) & added) - wanted
        lost = {row.text for row in rows if row.is_gone} - _normal(gone.get(path, ())) - added - {""}
        if strange or lost or wanted - added:
            named = (row for row in rows if row.text in (lost if row.is_gone else strange))
            return Fault(path, next(named, rows[0]), text)
    return None


def _normal(lines: Iterable[str]) -> set[str]:
    return {normal(line) for line in lines}


def _shown(sight: Sight) -> dict[str, list[Row]]:
    """Path -> its changed lines."""
    found: dict[str, list[Row]] = {}
    path = ""
    for line in sight.user.splitlines():
        if head := CHANGED.match(line):
            path = head[1]
        elif path and (row := ROW.match(line)):
            found.setdefault(path, []).append(Row(int(row[1]), row[2] in "-<", normal(row[3])))
    return found


def _verdict_of(sight: Sight, fault: Fault | None) -> str:
    """Without a fault, what rules have found and somebody has answered is set aside."""
    for_owner = "It changes what the task says; nobody has looked at it on a live system."
    if fault is None:
        numbers = re.findall(r"^(\d+)\. ", "".join(BY_RULES.findall(sight.user)), re.MULTILINE)
        aside = [
            {"finding": int(number), "reason": "The changed lines do what the task asks for."} for number in numbers
        ]
        return json.dumps(filled(sight.form, {"decision": "approve", "for_owner": for_owner, "set_aside": aside}))
    row = fault.row
    place = {"path": fault.path, "line": row.number, "removed": row.is_gone}
    finding = {**place, "severity": "medium", "rule": "wrong change", "text": fault.text}
    reply = {"decision": "request_changes", "reason": fault.text, "findings": [finding], "for_owner": for_owner}
    return json.dumps(filled(sight.form, reply))
