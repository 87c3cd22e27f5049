"""The rules of a plan: what a model proposes is only done if code finds nothing against it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.planner.plan_rules import Tree, faults
from sisimpur.agents.planner.settling import settled
from sisimpur.agents.planner.task_spec import Draft, GoalReply, GoalVerdict, PlanReply, body, headline
from sisimpur.shared.model.naming import is_task_id
from sisimpur.shared.model.work import Difficulty, Goal, Guard, PlanAnswer, PlanOrder, Priority, TaskSpec

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
        assert not task.title.startswith(("-", "/", "@"))
        assert not task.description.startswith(("-", "/"))
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
        pytest.param("@everyone thank @org/team", "everyone thank org/team", id="nobody is called"),
        pytest.param("--force the fix", "force the fix", id="an option"),
        pytest.param("/run rm -rf /", "run rm -rf /", id="a command"),
        pytest.param("# Heading", "Heading", id="a heading"),
        pytest.param("x" * 200, "x" * 99 + "…", id="too long"),
        pytest.param("a\ud800b", "a b", id="half a character"),
    ],
)
def test_titles_are_harmless(text: str, expected: str) -> None:
    assert headline(text) == expected


def test_descriptions_keep_their_lines_and_begin_like_text() -> None:
    assert body("/run rm\r\n\tit\x00\n\n/second stays\n") == "run rm\n\tit\n\n/second stays"
