"""The rules of a plan: what a model proposes is only done if code finds nothing against it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.planner import plan_rules, settling
from sisimpur.agents.planner.plan_rules import Tree, faults
from sisimpur.agents.planner.settling import settled, shortened
from sisimpur.agents.planner.task_spec import (
    LONGEST_CRITERION,
    Draft,
    GoalReply,
    GoalVerdict,
    PlanReply,
    body,
    criteria,
    headline,
)
from sisimpur.shared.model.naming import is_task_id
from sisimpur.shared.model.work import Difficulty, Goal, Guard, PlanAnswer, PlanOrder, Priority, TaskKind, TaskSpec

AGENTS = Path(__file__).parents[2] / "agents"
DAY = "2026-11-20"
FILES = ("README.md", "app/__init__.py", "app/views.py", "app/urls.py", "hooks/n8n.py", "tests/test_app.py")
TREE = Tree.of(FILES)
GOALS = (
    Goal("g-1", "Fix the views", (), Priority.HIGH),
    Goal("g-2", "Add a page", (), Priority.LOW),
    Goal("g-3", "Mend the urls", (), Priority.CRITICAL),
)
GUARD = Guard("Don't touch the n8n webhook", ("hooks/**",))
ORDER = PlanOrder(GOALS, capacity=5, guards=(GUARD,), allow=("app", "tests/**", "hooks"))
ONE_GOAL = replace(ORDER, goals=GOALS[:1])
OPEN = TaskSpec("20261119-04", "Fix the broken views", "…", goal_id="g-1", files=("app/views.py",))


def draft(key: str = "a", goal_id: str = "g-1", *depends_on: str, **fields: Any) -> Draft:
    good = Draft(
        key=key,
        goal_id=goal_id,
        title=f"Do {key} for {goal_id}",
        description="Line 3 is wrong; make it right.",
        files=["app/views.py"],
        new_files=[],
        context=[],
        acceptance=["it works"],
        difficulty=Difficulty.EASY,
        depends_on=list(depends_on),
        reason="it is broken",
    )
    return replace(good, **fields)


def plan(*drafts: Draft, order: PlanOrder = ORDER, answers: list[GoalReply] | None = None) -> PlanAnswer:
    goals = [GoalReply(goal.id, GoalVerdict.TASKS, "", []) for goal in order.goals] if answers is None else answers
    return settled(PlanReply(goals, list(drafts)), order, TREE, DAY)


def titles(answer: PlanAnswer) -> list[str]:
    return [task.title for task in answer.tasks]


# --- one task ------------------------------------------------------------------------------------------------


def test_a_good_draft_becomes_a_task_with_our_id_and_the_owners_guards() -> None:
    order = replace(ORDER, first_number=7)
    answer = plan(draft(key="../../x", context=["README.md", "no/such.py", "app/views.py"]), order=order)
    assert answer.tasks == (
        TaskSpec(
            id="20261120-07",
            title="Do ../../x for g-1",
            description="Line 3 is wrong; make it right.",
            priority=Priority.HIGH,
            goal_id="g-1",
            files=("app/views.py",),
            context=("README.md",),
            acceptance=("it works",),
            difficulty=Difficulty.EASY,
            guards=("hooks/**",),
        ),
    )
    assert answer.reasons == ("it is broken",)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"files": ["/etc/passwd"]}, "no path inside the repository", id="an absolute path"),
        pytest.param({"files": ["~/.bashrc"]}, "no path inside the repository", id="a home folder"),
        pytest.param({"files": ["app/../../x"]}, "no path inside the repository", id="upwards"),
        pytest.param({"new_files": ["app/.git/config"]}, "no path inside the repository", id="git's own folder"),
        pytest.param({"files": ["app/views.py\n"]}, "no path inside the repository", id="a line break"),
        pytest.param({"new_files": ["app/" + "x" * 390]}, "no path inside the repository", id="a very long path"),
        pytest.param({"files": ["app/no_such.py"]}, "does not exist", id="an invented file"),
        pytest.param({"new_files": ["app/urls.py"]}, "exists already", id="an existing file as new"),
        pytest.param({"new_files": ["app/Urls.py"]}, "only in capitals", id="new only in capitals"),
        pytest.param({"new_files": ["app"]}, "name of a folder", id="a folder as a file"),
        pytest.param({"new_files": ["app/urls.py/x.py"]}, "app/urls.py is a file", id="a file as a folder"),
        pytest.param({"files": ["README.md"]}, "outside of what tasks may touch", id="not allowed by the target"),
        pytest.param({"files": ["hooks/n8n.py"]}, "Don't touch the n8n webhook", id="guarded: the note is named"),
        pytest.param({"new_files": ["hooks/new.py"]}, "Don't touch the n8n webhook", id="new in a guarded folder"),
        pytest.param({"files": ["Hooks/N8N.py"]}, "Don't touch the n8n webhook", id="guarded in other capitals"),
        pytest.param({"files": []}, "names no file", id="no file"),
        pytest.param({"new_files": [f"app/{n}.py" for n in range(8)]}, "9 files (limit 8)", id="too many files"),
        pytest.param({"files": ["app/views.py"] * 2}, "twice", id="a file twice"),
        pytest.param({"title": " \n\x00 "}, "no title", id="no title"),
        pytest.param({"title": "--/ "}, "no title", id="a title of dashes"),
        pytest.param({"description": "\n"}, "no description", id="no description"),
        pytest.param({"description": "x" * 4_001}, "4001 characters (limit 4000)", id="a very long description"),
        pytest.param({"acceptance": ["- ", ""]}, "no acceptance criterion", id="no criterion"),
        pytest.param({"acceptance": ["a"] * 11}, "11 acceptance criteria (limit 10)", id="too many criteria"),
        pytest.param({"acceptance": ["a" * 301]}, "longer than 300", id="a very long criterion"),
        pytest.param({"goal_id": "g-9"}, "was not asked for", id="an invented goal"),
        pytest.param({"depends_on": ["b"]}, "'b', which is no task", id="an unknown dependency"),
        pytest.param({"depends_on": ["a"]}, "depends on itself: a -> a", id="depends on itself"),
    ],
)
def test_a_task_that_breaks_a_rule_is_dropped_with_the_reason(fields: dict[str, Any], reason: str) -> None:
    answer = plan(draft(**fields), draft("other", "g-2"))
    assert titles(answer) == ["Do other for g-2"]
    assert reason in answer.notes[0]


# --- the prompt ----------------------------------------------------------------------------------------------

RULES = {  # a piece of what a fault says -> where the prompt says it before
    "was not asked for": "A task belongs to a goal that was asked about here",
    "so it can have no task": "and is answered with `tasks`",
    "has no title": "`title`: what it does",
    "has no description": "`description`: for an engineer",
    "its description has": f"at most {plan_rules.LONGEST_DESCRIPTION} characters",
    "has no acceptance criterion": "`acceptance`: one to five facts",
    "acceptance criteria (limit": f"never more than {plan_rules.MAX_CRITERIA}",
    "an acceptance criterion is longer": f"each at most {LONGEST_CRITERION} characters",
    "names no file to change": "a task without a file is none",
    "split it": f"never more than {plan_rules.MAX_FILES}",
    "names a file twice": "and each once",
    "is created by": "A file is created by one task only",
    "does not exist; what": "`files`: existing files that it edits",
    "is no path inside the repository": f"inside the repository, at most {plan_rules.LONGEST_PATH} characters",
    "must not be touched": "never a guarded path",
    "lies outside of what tasks may touch": "Only what tasks may touch",
    "exists already": "and that do not exist yet",
    "is the name of a folder": "A new file is not the name of a folder",
    "only in capitals": "differs from what exists by more than capitals",
    "is a file": "lies below no file",
    "the open task": "nothing that an open task or another one of this answer already does",
    "does the same": "or another one of this answer already does",
    "is that of another task": "no two tasks have the same",
    "which is no task": "keys of tasks in this answer, or ids of open tasks",
    "depends on itself": "No circles, over both",
    "in a chain of tasks": "A chain of tasks that depend on each other is no longer than the limit below",
}
ELSEWHERE = {  # rules that are kept beside plan_rules
    "the tasks that are looked at": f"Only the first {plan_rules.MAX_TASKS} tasks",
    "the goals": "answer every goal exactly once",
    "evidence": f"at most {settling.MAX_EVIDENCE} are looked at",
    "a quote": f"at least {settling.SHORTEST_QUOTE} letters or digits",
    "a line": f"`line` (at most {settling.NEAR} off)",
    "context": "at most 8 files that it only reads",
}
PROMPT = (AGENTS / "planner" / "prompts" / "plan.system.md").read_text()


def test_a_criterion_stays_letter_by_letter_but_for_its_bullet() -> None:
    said = ["- `  | two` follows", "--toc ends with 2", "* -1 is returned", "**bold** is kept", "a\nb", "- ", "র‍্যাব"]
    assert criteria(said) == (
        "`  | two` follows",
        "--toc ends with 2",
        "-1 is returned",
        "**bold** is kept",
        "a b",
        "র‍্যাব",
    )


@pytest.mark.parametrize("phrase", [*RULES.values(), *ELSEWHERE.values()])
def test_every_rule_that_refuses_a_plan_stands_in_the_prompt(phrase: str) -> None:
    assert phrase in PROMPT


def test_no_rule_is_added_without_a_word_in_the_prompt() -> None:
    """Every text that the rules can answer with is known here."""
    told = [*_texts(ast.parse(inspect.getsource(plan_rules)))]
    assert len(told) > 20
    assert [text for text in told if not any(piece in text for piece in RULES)] == []
    assert [piece for piece in RULES if not any(piece in text for text in told)] == []


def _texts(module: ast.Module) -> Iterator[str]:
    """What is yielded or returned as text, its holes left out."""
    for node in ast.walk(module):
        said = node.value if isinstance(node, ast.Yield | ast.Return) else None
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
            said = node.args[0]
        for part in said.elts if isinstance(said, ast.Tuple) else (said,):
            if isinstance(part, ast.JoinedStr):
                yield "".join(str(one.value) for one in part.values if isinstance(one, ast.Constant))
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


# --- goals and their tasks -----------------------------------------------------------------------------------


def test_a_goal_that_loses_all_its_tasks_becomes_a_question_and_is_not_tried_for_ever() -> None:
    answer = plan(draft(files=["hooks/n8n.py"]), draft("b", "g-2"), order=replace(ORDER, goals=GOALS[:2]))
    assert [question.goal_id for question in answer.questions] == ["g-1"]
    assert "Don't touch the n8n webhook" in answer.questions[0].text
    assert answer.deferred == ()


def test_a_task_of_a_goal_with_another_verdict_is_dropped() -> None:
    answers = [GoalReply("g-1", GoalVerdict.PREMISE_FALSE, "", []), GoalReply("g-1", GoalVerdict.TASKS, "", [])]
    answer = plan(draft(), order=replace(ORDER, goals=GOALS[:1]), answers=answers)
    assert answer.tasks == ()
    assert "`premise_false`" in answer.notes[0]
    assert answer.questions == ()  # the verdict itself becomes one


def test_a_goal_without_an_answer_waits_for_another_day_and_is_named() -> None:
    order = replace(ORDER, goals=GOALS[:2])
    answer = plan(draft(), order=order, answers=[GoalReply("g-2", GoalVerdict.TASKS, "but none is given", [])])
    assert answer.deferred == ("g-2",)
    assert '"Add a page"' in answer.notes[0]


# --- twins ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "is_twin"),
    [
        pytest.param({"title": "Fix broken views"}, True, id="same goal, same files, similar title"),
        pytest.param({"title": "Rename the handler"}, False, id="another title"),
        pytest.param({"title": "Fix broken views", "files": ["app/urls.py"]}, False, id="another file"),
        pytest.param({"title": "Fix broken views", "goal_id": "g-2"}, False, id="another goal"),
    ],
)
def test_what_an_open_task_does_already_is_not_planned_again(fields: dict[str, Any], is_twin: bool) -> None:
    answer = plan(draft(**fields), order=replace(ORDER, open_tasks=(OPEN,)))
    assert (answer.tasks == ()) is is_twin
    assert any(OPEN.id in note for note in answer.notes) is is_twin


def test_of_two_equal_tasks_in_one_answer_the_first_stays() -> None:
    answer = plan(draft("a", title="Fix the views"), draft("b", title="Fix THE views"))
    assert titles(answer) == ["Fix the views"]


def test_a_goal_that_open_tasks_serve_needs_no_new_one() -> None:
    order = replace(ORDER, goals=GOALS[:1], open_tasks=(OPEN,))
    assert plan(order=order) == PlanAnswer()


# --- dependencies --------------------------------------------------------------------------------------------


def test_a_circle_is_dropped_as_a_whole_and_named_and_every_other_task_stays() -> None:
    answer = plan(
        draft("a", "g-1", "b"),
        draft("b", "g-1", "c"),
        draft("c", "g-1", "a"),
        draft("waits", "g-1", "a"),
        draft("x", "g-2", "y"),
        draft("y", "g-2", "x"),
        draft("good", "g-3"),
    )
    assert titles(answer) == ["Do good for g-3"]
    notes = "\n".join(answer.notes)
    assert re.search("depends on itself: (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c)", notes)
    assert re.search("depends on itself: (x -> y -> x|y -> x -> y)", notes)
    assert 'waits for "Do a for g-1", which was dropped' in notes


def test_dependencies_point_to_our_ids_and_to_open_tasks() -> None:
    order = replace(ORDER, open_tasks=(replace(OPEN, goal_id="g-9"),))
    answer = plan(draft("b", "g-1", "a", OPEN.id, "a"), draft("a", "g-1", title="Prepare"), order=order)
    assert [(task.title, task.depends_on) for task in answer.tasks] == [
        ("Prepare", ()),
        ("Do b for g-1", ("20261120-01", OPEN.id)),
    ]


def test_a_chain_may_be_three_long_and_no_longer() -> None:
    chain = [draft(key, "g-1", *before) for key, before in zip("abcde", ("", *"abcd"), strict=True)]
    answer = plan(*chain)
    assert titles(answer) == ["Do a for g-1", "Do b for g-1", "Do c for g-1"]
    assert "number 4 in a chain of tasks (limit 3)" in answer.notes[0]
    assert "number 5 in a chain" in answer.notes[1]


def test_a_turn_is_kept_as_one_and_costs_nobody_his_place() -> None:
    """Of a dropped task nobody waits for the turn; of an open one, and of one of this answer, by our ids."""
    order = replace(ORDER, open_tasks=(replace(OPEN, goal_id="g-9"),))
    answer = plan(
        draft("b", "g-1", after=["a", "gone", OPEN.id, "unknown", "b"]),
        draft("a", "g-1", title="Prepare"),
        draft("gone", "g-1", title="Not allowed", files=["README.md"]),
        order=order,
    )
    assert [(task.title, task.depends_on, task.after) for task in answer.tasks] == [
        ("Prepare", (), (OPEN.id,)),
        ("Do b for g-1", (), ("20261120-01", OPEN.id)),
    ]


def test_a_turn_that_would_close_a_circle_is_no_turn_and_no_fault() -> None:
    """Over both kinds: what is needed counts first."""
    answer = plan(draft("a", after=["b"], title="One"), draft("b", "g-1", "a", title="Two", after=["a"]))
    assert [(task.title, task.depends_on, task.after) for task in answer.tasks] == [
        ("One", (), ()),
        ("Two", ("20261120-01",), ()),
    ]
    round_ = plan(*(draft(one, title=one, after=[other]) for one, other in ("ab", "bc", "ca")), order=ONE_GOAL)
    assert (len(round_.tasks), sum(len(task.after) for task in round_.tasks), round_.notes) == (3, 2, ())


def test_turns_make_no_chain_too_long() -> None:
    assert len(plan(*(draft(one, title=one, after=[other]) for one, other in ("bx", "cb", "dc", "ed"))).tasks) == 4


def test_whatever_waits_for_whatever_every_beginning_of_the_plan_is_whole() -> None:
    """All ways in which three tasks may wait for each other."""
    for kinds in product(("", "depends_on", "after"), repeat=6):
        waits: dict[str, dict[str, Any]] = {key: {"depends_on": [], "after": []} for key in "abc"}
        for (one, other), kind in zip(permutations("abc", 2), kinds, strict=True):
            waits[one].get(kind, []).append(other)
        answer = plan(*(draft(key, title=key, **waits[key]) for key in "abc"), order=ONE_GOAL)
        before: set[str] = set()
        for task in answer.tasks:
            assert {*task.depends_on, *task.after} <= before, kinds
            before.add(task.id)
        assert len(answer.tasks) == 3 or "depends on itself" in "".join(answer.notes), kinds


def test_kind_and_tests_that_change_come_along() -> None:
    (task,) = plan(draft(kind=TaskKind.BEHAVIOUR, changes_tests=["tests/t.py::test_a\n", " ", "x" * 400])).tasks
    assert (task.kind, [len(test) for test in task.changes_tests]) == (TaskKind.BEHAVIOUR, [18, 300])


# --- what an earlier task creates ------------------------------------------------------------------------------

MAKES = replace(OPEN, id="20261119-05", title="Another", files=(), new_files=("app/new.py",))


@pytest.mark.parametrize(
    ("tasks", "files", "new"),
    [
        pytest.param((draft("b", "g-1", "a", files=["app/new.py"]),), ("app/new.py",), (), id="it edits it"),
        pytest.param((draft("b", "g-1", "a", files=[], new_files=["app/new.py"]),), ("app/new.py",), (), id="as new"),
        pytest.param(
            (draft("x", "g-1", "a", title="Between"), draft("b", "g-1", "x", files=["app/new.py"])),
            ("app/new.py",),
            (),
            id="over a step",
        ),
        pytest.param((draft("b", "g-1", MAKES.id, files=["app/new.py"]),), ("app/new.py",), (), id="an open task"),
    ],
)
def test_a_task_may_edit_what_an_earlier_one_creates(
    tasks: tuple[Draft, ...], files: tuple[str, ...], new: tuple[str, ...]
) -> None:
    is_open = MAKES.id in tasks[-1].depends_on
    maker = () if is_open else (draft("a", title="Make it", files=[], new_files=["app/new.py"]),)
    answer = plan(*maker, *tasks, order=replace(ONE_GOAL, open_tasks=(MAKES,) if is_open else ()))
    assert (answer.notes, answer.tasks[-1].files, answer.tasks[-1].new_files) == ((), files, new)


@pytest.mark.parametrize("fields", [{"files": ["app/new.py"]}, {"new_files": ["app/new.py"]}])
@pytest.mark.parametrize("waits", [{}, {"after": ["a"]}])
def test_without_needing_it_nobody_touches_what_another_one_creates(
    fields: dict[str, Any], waits: dict[str, Any]
) -> None:
    answer = plan(draft("a", files=[], new_files=["app/new.py"], title="Make it"), draft("b", **fields, **waits))
    assert titles(answer) == ["Make it"]
    assert "app/new.py is created by 'a', too: depend on that, and name the file in `files`" in answer.notes[0]


def test_what_an_earlier_one_creates_may_be_read() -> None:
    answer = plan(
        draft("a", files=[], new_files=["app/new.py"], title="Make it"), draft("b", "g-1", "a", context=["app/new.py"])
    )
    assert answer.tasks[1].context == ("app/new.py",)


# --- chains that are too long ----------------------------------------------------------------------------------


def chain(*fields: dict[str, Any]) -> list[Draft]:
    keys = "abcdefgh"[: len(fields)]
    return [
        draft(
            key, one.get("goal_id", "g-1"), *before, **{name: value for name, value in one.items() if name != "goal_id"}
        )
        for key, before, one in zip(keys, ("", *keys), fields, strict=False)
    ]  # a string of one key, or of none, is the list of them


def joined(tasks: list[Draft]) -> PlanReply:
    goals = [GoalReply(goal.id, GoalVerdict.TASKS, "", []) for goal in GOALS]
    return shortened(PlanReply(goals, tasks), ORDER, TREE)


def test_a_chain_that_is_too_long_is_joined_where_the_fewest_files_come_together() -> None:
    tasks = chain(
        {"files": ["app/views.py"], "title": "One"},
        {"files": ["app/views.py", "app/urls.py"], "title": "Two"},
        {"files": ["app/urls.py"], "title": "Three", "kind": TaskKind.FIX, "difficulty": Difficulty.HARD},
        {"files": [], "new_files": ["app/n.py"], "title": "Four", "kind": TaskKind.TESTS, "acceptance": ["is tested"]},
        {"files": ["tests/test_app.py"], "title": "Five"},
    )
    reply = joined(tasks)
    assert [task.title for task in reply.tasks] == ["One, then two, then three", "Four", "Five"]
    assert [task.depends_on for task in reply.tasks] == [[], ["a"], ["d"]]
    assert faults(reply, ORDER, TREE) == {}


def test_what_is_joined_holds_all_that_both_said() -> None:
    one, other = (
        draft(
            "a", files=["app/views.py"], new_files=["app/n.py"], context=["app/urls.py"], after=["x"], kind=TaskKind.FIX
        ),
        draft("b", "g-1", "a", "y", files=["app/n.py", "app/urls.py"], kind=TaskKind.TESTS, changes_tests=["t"]),
    )
    both = settling.joined(one, other)
    assert (both.key, both.files, both.new_files, both.context) == (
        "a",
        ["app/views.py", "app/urls.py"],
        ["app/n.py"],
        [],
    )
    assert both.description == f"{one.description}\n\n{other.description}"
    assert both.acceptance == [*one.acceptance, *other.acceptance]
    assert (both.depends_on, both.after, both.kind, both.changes_tests) == (["y"], ["x"], TaskKind.FIX, ["t"])


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"description": "x" * 2_500}, id="descriptions"),
        pytest.param({"acceptance": ["a"] * 6}, id="criteria"),
    ],
)
def test_what_cannot_be_one_task_is_refused_as_before(fields: dict[str, Any]) -> None:
    tasks = chain(*({**fields, "title": title} for title in "abcd"))
    assert joined(tasks).tasks == tasks
    assert "in a chain of tasks (limit 3)" in faults(joined(tasks), ORDER, TREE)[3][0]


def test_tasks_of_different_goals_stay_apart() -> None:
    tasks = chain(*({"goal_id": goal} for goal in ("g-1", "g-2", "g-1", "g-2")))
    assert joined(tasks).tasks == tasks


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=7, max_size=7), st.integers(1, 4))
def test_small_tasks_of_one_goal_are_never_refused_for_their_chain(links: list[tuple[int, bool]], depth: int) -> None:
    """Each of eight needs, or comes after, one of those before it."""
    tasks = [draft("t0", title="0")]
    for number, (other, needs) in enumerate(links, 1):
        waits: dict[str, Any] = {"depends_on" if needs else "after": [f"t{min(other, number - 1)}"]}
        tasks.append(draft(f"t{number}", title=str(number), files=["app/views.py"], acceptance=["a"], **waits))
    order = replace(ORDER, depth=depth, goals=GOALS[:1])
    reply = shortened(PlanReply([], tasks), order, TREE)
    assert faults(reply, order, TREE) == {}
    assert sum(len(task.acceptance) for task in reply.tasks) == 8


def test_two_tasks_of_one_name_are_not_confused() -> None:
    answer = plan(draft("a", title="First"), draft("a", title="Second one"), draft("b", "g-2", "a"))
    assert titles(answer) == ["First", "Do b for g-2"]
    assert answer.tasks[1].depends_on == (answer.tasks[0].id,)


# --- capacity ------------------------------------------------------------------------------------------------


IN_TURN = replace(ORDER, goals=(GOALS[2], *GOALS[:2]), capacity=2)  # whose turn it is, the roadmap says


def test_the_tasks_of_the_first_goals_fill_the_day_and_the_rest_is_deferred() -> None:
    tasks = [draft("low", "g-2"), draft("high", "g-1"), draft("critical", "g-3")]
    answer = plan(*tasks, order=IN_TURN)
    assert titles(answer) == ["Do critical for g-3", "Do high for g-1"]
    assert answer.deferred == ("g-2",)


def test_what_an_urgent_task_waits_for_is_as_urgent() -> None:
    tasks = [draft("high", "g-1"), draft("critical", "g-3", "low"), draft("low", "g-2")]
    answer = plan(*tasks, order=IN_TURN)
    assert titles(answer) == ["Do low for g-2", "Do critical for g-3"]
    assert answer.deferred == ("g-1",)


def test_a_goal_that_the_owner_wants_first_comes_before_a_more_urgent_one() -> None:
    tasks = [draft("critical", "g-3"), draft("low", "g-2")]
    answer = plan(*tasks, order=replace(ORDER, goals=(GOALS[1], GOALS[2]), capacity=1))
    assert (titles(answer), answer.deferred) == (["Do low for g-2"], ("g-3",))


def test_of_five_hundred_tasks_fifty_are_looked_at_and_the_capacity_is_kept() -> None:
    order = replace(ORDER, goals=GOALS[:1])
    answer = plan(*(draft(f"t{n}") for n in range(500)), order=order)
    assert len(answer.tasks) == ORDER.capacity
    assert "500 tasks; only the first 50" in answer.notes[0]
    assert plan(*(draft(f"t{n}", files=["/etc/passwd"]) for n in range(500)), order=order).tasks == ()
    assert answer.deferred == ("g-1",)


KEYS = st.sampled_from(["a", "b", "c", "d", "e", "../../x", "-f", "", "20261119-04"])
PATHS = st.sampled_from([*FILES, "app/new.py", "/etc/passwd", "app/../x", "-rf", "hooks/x.py", "app", ""])
DRAFTS = st.builds(
    Draft,
    key=KEYS,
    goal_id=st.sampled_from(["g-1", "g-2", "g-3", "g-9"]),
    title=st.sampled_from(["Mend it", "Add the page to the list", "\n@everyone", "-f", "/run x"])
    | st.text(max_size=30),
    description=st.sampled_from(["Do it.", "/run rm -rf /", ""]) | st.text(max_size=50),
    files=st.lists(PATHS, max_size=2),
    new_files=st.lists(PATHS, max_size=1),
    context=st.lists(PATHS, max_size=2),
    acceptance=st.lists(st.sampled_from(["works", "- ", ""]), max_size=2),
    difficulty=st.sampled_from(Difficulty),
    depends_on=st.lists(KEYS, max_size=2),
    reason=st.text(max_size=20),
)


@settings(deadline=None)
@given(st.lists(DRAFTS, max_size=12), st.integers(1, 4))
def test_whatever_is_proposed_what_is_planned_keeps_every_rule(drafts: list[Draft], capacity: int) -> None:
    answer = plan(*drafts, order=replace(ORDER, capacity=capacity, open_tasks=(OPEN,)))
    assert len(answer.tasks) == len(answer.reasons) <= capacity
    done = {OPEN.id}
    for task in answer.tasks:
        assert is_task_id(task.id)
        assert task.id.startswith("20261120-")
        assert {*task.files, *task.context} <= set(FILES)
        assert set(task.new_files) <= {"app/new.py"}
        assert not any(path.startswith("hooks") for path in task.files + task.new_files)
        assert task.title.isprintable()
        assert (task.title, task.description) == (headline(task.title), body(task.description))
        assert task.acceptance == ("works",) * len(task.acceptance) != ()
        assert task.guards == ("hooks/**",)
        assert set(task.depends_on) <= done  # so there is no circle, and nothing waits for what is not planned
        done.add(task.id)


def test_tasks_that_keep_the_rules_have_no_faults() -> None:
    assert faults(PlanReply([], [draft(), draft("b", "g-2", "a")]), ORDER, TREE) == {}


# --- texts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Fix  it\nnow\x00\x1b[2J", "Fix it now [2J", id="line breaks and control characters"),
        pytest.param("-1 is returned", "-1 is returned", id="a number"),
        pytest.param("--version prints", "--version prints", id="an option"),
        pytest.param("/healthz answers", "/healthz answers", id="an address"),
        pytest.param("`@cached` and @lru_cache", "`@cached` and @lru_cache", id="decorators in code"),
        pytest.param("# Heading", "Heading", id="a heading"),
        pytest.param("- * Bullet", "Bullet", id="bullets"),
        pytest.param("- ", "", id="nothing but a bullet"),
        pytest.param("x" * 200, "x" * 99 + "…", id="too long"),
        pytest.param("a\ud800b", "a b", id="half a character"),
    ],
)
def test_titles_are_one_line_and_else_letter_by_letter(text: str, expected: str) -> None:
    assert headline(text) == expected


def test_descriptions_keep_their_lines() -> None:
    assert body("\n-1 rm\r\n\tit\x00\n\n/second stays\n") == "-1 rm\n\tit\n\n/second stays"
