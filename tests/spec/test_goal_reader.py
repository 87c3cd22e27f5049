"""The reader model of the bench of goals: it knows what is right, and says so only if the needed lines are there."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from difflib import ndiff
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from bench.goals import goals as known
from bench.goals.__main__ import for_scripts, held_table
from bench.goals.day import vision
from bench.goals.edits import blocks, original
from bench.goals.goals import Goal, each
from bench.goals.outcomes import Ran, Result, Told, outcome
from bench.goals.plans import in_turn
from bench.goals.reader import Asked, Reader
from bench.goals.sight import Sight, filled
from sisimpur.agents.orchestrator.vision.vision_parser import parse
from sisimpur.agents.planner.task_spec import GoalVerdict, PlanReply, Proof
from sisimpur.agents.reviewer.answer import Decision, ReviewReply
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.shared.llm.llm_client import schema
from sisimpur.shared.model.work import Question
from sisimpur.shared.system.markdown import outline
from sisimpur.simulators.model.request import Message, Request

GOALS = {goal.id: goal for goal in known.read()}
SHIPS, FALSE, IN_TWO = GOALS["library-02"], GOALS["cli_tool-03"], GOALS["monorepo-04"]
PLANNER, REVIEWER = "You are the Planner of a team.", "You are the Reviewer of a team."
PLANS, REVIEWS = TypeAdapter(PlanReply), TypeAdapter(ReviewReply)
ID = "g-abc123"


def shown(goal: Goal, leave_out: int = 0) -> str:
    """The needed lines as the planner's facts show them."""
    some = list(goal.lines.items())[leave_out:]
    return "\n".join(f"{need.path}, 9 lines:\n7| {line}" for need, line in some)


def plan(goal: Goal, facts: str) -> PlanReply:
    """What is answered at last: what was asked for has not changed the prompt."""
    asked = f"# The repository\n{facts}\n# Goals to answer\n{ID} (high): {goal.words}"
    reader, sight = Reader([goal]), Sight(PLANNER, asked, schema(PLANS))
    first = PLANS.validate_json(reader.answer(sight))
    return PLANS.validate_json(reader.answer(sight)) if first.asks else first


def code(goal: Goal, title: str, told: str, files: Sequence[str] = (), new: str = "none") -> tuple[str, str]:
    """What the coder does, and says."""
    heard: list[Asked] = []
    message = f"You are the Coder of a team.\nTask 1: {title}\n\n{told}\n\nFiles to create: {new}"
    listed = "".join(f"\n{path}\n```\n{(goal.tree / path).read_text('utf-8')}```\n" for path in files)
    messages = [Message(role="user", content=f"I have *added these files*\n{listed}")]
    messages += [Message(role="assistant", content="Ok."), Message(role="user", content=message)]
    request = Request(model="m", system="… SEARCH/REPLACE …", messages=messages)
    said = Reader([goal], heard.append).answer(Sight.of(request))
    return heard[0].done, said


# --- what stands in a prompt ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "  x = f(1)",
        "12| x = f(1)",
        "12+  x = f(1)",
        "-  x = f(1)",
        "a.py:12: x = f(1)",
        "  a.py:3:   x  =  f(1)",
        "see `x = f(1)`",
    ],
)
def test_a_line_is_seen_with_its_number_its_place_or_its_mark(line: str) -> None:
    assert Sight("", f"a.py, 2 lines:\n{line}", {}).sees("a.py", "    x = f(1)")


@pytest.mark.parametrize("line", ["x = f(1) + 1", "y = x = f(1)", "x = f(1"])
def test_a_line_that_only_holds_it_is_another(line: str) -> None:
    assert not Sight("", f"a.py, 2 lines:\n{line}", {}).sees("a.py", "    x = f(1)")


def test_a_line_of_a_file_that_is_not_named_is_not_seen() -> None:
    assert not Sight("", "b.py\nx = f(1)", {}).sees("a.py", "x = f(1)")


def test_every_form_of_the_team_is_filled_as_it_has_to_be() -> None:
    assert PLANS.validate_python(filled(schema(PLANS), {"goals": [{"goal_id": "g", "nonsense": 1}]})).goals[0].goal_id
    assert REVIEWS.validate_python(filled(schema(REVIEWS), {})).decision is Decision.APPROVE


# --- the planner ----------------------------------------------------------------------------------------------


def test_who_sees_all_plans_what_is_right_and_tells_the_coder_the_lines() -> None:
    (task,) = plan(SHIPS, shown(SHIPS)).tasks
    assert task.title == SHIPS.plan[0].title and task.files == [*SHIPS.plan[0].files]
    assert all(line.strip() in task.description for line in SHIPS.lines.values())


def test_who_lacks_a_line_plans_what_looks_right() -> None:
    (task,) = plan(SHIPS, shown(SHIPS, leave_out=1)).tasks
    assert task.title == SHIPS.words.splitlines()[0]
    assert task.files == [*SHIPS.distractor.edits[0]]


def test_what_is_untrue_is_proven_with_the_lines_as_they_are_numbered() -> None:
    reply = plan(FALSE, shown(FALSE))
    assert (reply.goals[0].verdict, reply.tasks) == (GoalVerdict.PREMISE_FALSE, [])
    assert [(one.kind, one.path, one.line) for one in reply.goals[0].evidence] == [(Proof.LINE, "hishab/cli.py", 7)] * 3
    assert plan(FALSE, shown(FALSE, leave_out=1)).goals[0].verdict is GoalVerdict.TASKS


def test_who_lacks_a_line_and_hears_that_it_could_not_be_done_asks_the_owner() -> None:
    words = f"{ID} answer (20261122-01): I do not see why it fails."
    reply = plan(SHIPS, f"{shown(SHIPS, leave_out=1)}\n# Words about these goals\n{words}\n")
    assert (reply.goals[0].verdict, reply.tasks) == (GoalVerdict.QUESTION, [])
    assert "I do not see why it fails" in reply.goals[0].text


@pytest.mark.parametrize(
    ("goal", "measures"),
    [
        ("django_site-03", [("coverage", "support", "at_least", 90.0)]),
        ("cli_tool-02", [("findings", "ruff hishab/importers", "at_most", 0.0)]),
        ("async_service-04", [("property", "matches Dockerfile USER dakghor", "at_least", 1.0)]),
        ("async_service-02", []),  # a time is none that the team takes
        ("library-02", []),
    ],
)
def test_a_measure_is_said_as_the_team_takes_it(goal: str, measures: Sequence[tuple[str, str, str, float]]) -> None:
    (reply,) = plan(GOALS[goal], shown(GOALS[goal])).goals
    assert [(str(one.kind), one.of, one.bound, one.figure) for one in reply.measures] == measures


def test_tasks_of_a_goal_wait_for_each_other() -> None:
    first, second = plan(IN_TWO, shown(IN_TWO)).tasks
    assert first.new_files == ["api/haat/paging.py"] and "api/haat/paging.py" in second.files
    assert second.depends_on == [first.key]


def test_a_form_that_lets_it_ask_is_asked_for_each_missing_file_once() -> None:
    sight = Sight(PLANNER, f"taka/format.py\n{ID} (high): {SHIPS.words}", schema(PLANS))
    reader = Reader([SHIPS])
    asks = json.loads(reader.answer(sight))["asks"]
    assert {"goal_id": ID, "kind": "file", "what": "taka/format.py"} in asks
    assert {one["kind"] for one in asks} == {"file", "search"}
    assert all(one["what"] in (SHIPS.words if one["kind"] == "search" else sight.user) for one in asks)
    again = json.loads(reader.answer(sight))
    assert not again["asks"] and len(again["tasks"]) == 1


def test_tasks_of_one_file_have_their_turn_one_after_the_other() -> None:
    def draft(key: str, *files: str, needs: Sequence[str] = ()) -> dict[str, Any]:
        return {"key": key, "files": [*files], "new_files": [], "depends_on": [*needs]}

    open_tasks = "\n20261122-01 (goal g-1): Mend it [d.py, e.py]\n"
    drafts = [draft("one", "a.py"), draft("two", "a.py", "b.py", needs=["one"]), draft("three", "b.py", "e.py")]
    assert [one["after"] for one in in_turn(drafts, open_tasks)] == [[], [], ["two", "20261122-01"]]


@pytest.mark.parametrize(
    ("goal", "kind"),
    [("django_site-03", "tests"), ("monorepo-01", "removal"), ("cli_tool-02", "refactoring"), ("library-02", "fix")],
)
def test_the_kind_of_a_task_follows_from_what_it_changes(goal: str, kind: str) -> None:
    (task,) = plan(GOALS[goal], shown(GOALS[goal])).tasks
    assert task.kind == kind


def test_of_a_long_file_it_asks_for_the_definition() -> None:
    user = f"hishab/cli.py: _report_arguments, main\n{ID} (high): {FALSE.words}"
    asks = PLANS.validate_json(Reader([FALSE]).answer(Sight(PLANNER, user, schema(PLANS)))).asks
    assert ("definition", "hishab/cli.py::_report_arguments") in [(one.kind, one.what) for one in asks]


# --- the coder ------------------------------------------------------------------------------------------------


def test_the_coder_gives_the_right_change_only_if_it_sees_the_lines() -> None:
    task = SHIPS.plan[0]
    assert code(SHIPS, task.title, shown(SHIPS), task.files)[0] == "right edits"
    assert code(SHIPS, SHIPS.words.splitlines()[0], "", [*SHIPS.distractor.edits[0]])[0] == "wrong edits"


def test_a_file_that_is_not_shown_cannot_be_changed() -> None:
    done, said = code(SHIPS, SHIPS.plan[0].title, shown(SHIPS))
    assert done == "cannot" and "I do not see taka/currencies.py" in said


def test_a_title_is_known_again_without_the_marks_that_it_began_with() -> None:
    goal = GOALS["async_service-03"]
    assert code(goal, goal.words.splitlines()[0].lstrip("/"), "", ["dakghor/http.py"])[0] == "wrong edits"


def test_of_a_long_file_it_asks_for_the_part_and_edits_what_it_gets() -> None:
    path = SHIPS.plan[0].files[0]
    text = (SHIPS.tree / path).read_text("utf-8")
    find = next(edit.find for where, edit in each(SHIPS.edits) if where == path and edit.find)
    head = f"… SEARCH/REPLACE …\n{path}\n```\nA = 1\n⋮ all else is left out\n```\n"
    told = f"{head}SHOW path:10-80\nTask 1: {SHIPS.plan[0].title}\n{shown(SHIPS)}\n"
    rest = "".join(f"\n{one}\n```\n{(SHIPS.tree / one).read_text('utf-8')}```\n" for one in SHIPS.plan[0].files[1:])

    def answer(text: str) -> str:
        messages = [Message(role="user", content=text)]
        return Reader([SHIPS]).answer(Sight.of(Request(model="m", system="SEARCH/REPLACE", messages=messages)))

    assert answer(told + rest).startswith(f"SHOW {path}:")
    said = answer(f"{told}{rest}You asked to see:\n\n{path}\n```part\n{text}```\n")
    assert f"{path}\n```\n<<<<<<< SEARCH" in said and "⋮" not in said and find not in said.split("=======")[1]


def test_tests_are_those_of_the_task_and_else_read_what_it_adds() -> None:
    title, facts = f"Tests for: {IN_TWO.plan[0].title}", shown(IN_TWO)
    done, said = code(IN_TWO, title, facts, new="api/tests/test_paging_1.py")
    assert done == "right tests" and "from haat.paging import cut, pages" in said
    done, said = code(SHIPS, f"Tests for: {SHIPS.plan[0].title}", shown(SHIPS), new="tests/test_lakh.py")
    assert done == "tests that read" and ".read_text(" in said


def test_a_task_brings_its_own_test_where_the_planners_prompt_asks_for_its_file() -> None:
    asked = f"# The repository\n{shown(IN_TWO)}\n# Goals to answer\n{ID} (high): {IN_TWO.words}"
    rule = (CHECKOUT / "agents/planner/prompts/plan.system.md").read_text("utf-8")
    first, second = json.loads(Reader([IN_TWO]).answer(Sight(rule, asked, schema(PLANS))))["tasks"]
    path = "api/tests/test_paging_1.py"
    assert first["new_files"] == ["api/haat/paging.py", path]
    assert second["new_files"] == ["api/tests/test_paging.py"], "one that is among the edits"
    done, said = code(IN_TWO, first["title"], shown(IN_TWO), new=", ".join(first["new_files"]))
    assert done == "right edits" and path in said and "def test_" in said


def test_a_new_file_is_made_where_the_task_names_it() -> None:
    done, said = code(IN_TWO, IN_TWO.plan[0].title, shown(IN_TWO), new="api/haat/paging.py")
    assert done == "right edits" and "api/haat/paging.py\n```\n<<<<<<< SEARCH\n=======\n" in said


# --- the reviewer ---------------------------------------------------------------------------------------------


def reviewed(goal: Goal, changes: Any, facts: str) -> ReviewReply:
    """What is said of a change that is shown as the reviewer shows it."""
    rows = []
    for path in changes[0]:
        before, after = original(goal, path), original(goal, path, changes)
        rows.append(f"=== {path} (modified)")
        numbers = {"-": 0, "+": 0}
        for row in ndiff(before.splitlines(), after.splitlines()):
            for sign in numbers:
                numbers[sign] += row[0] in (sign, " ")
            rows += [f"{numbers[row[0]]}{row[0]}{row[2:]}"] if row[0] in numbers else []
    task = f"# The task\n\n```task\n{goal.plan[0].title}\n{facts}\n```"
    said = Reader([goal]).answer(Sight(REVIEWER, "\n".join([task, *rows]), schema(REVIEWS)))
    return REVIEWS.validate_json(said)


@pytest.mark.parametrize("goal", [one for one in GOALS.values() if len(one.edits) == 1], ids=lambda goal: goal.id)
def test_the_right_change_passes(goal: Goal) -> None:
    assert reviewed(goal, goal.edits, shown(goal)).decision is Decision.APPROVE


@pytest.mark.parametrize(
    ("changes", "facts", "decision"),
    [
        (SHIPS.edits, shown(SHIPS), Decision.APPROVE),
        (SHIPS.distractor.edits, shown(SHIPS), Decision.REQUEST_CHANGES),
        (SHIPS.distractor.edits, "", Decision.APPROVE),  # it cannot know
    ],
)
def test_the_reviewer_finds_what_is_wrong_if_it_sees_the_lines(changes: Any, facts: str, decision: Decision) -> None:
    assert reviewed(SHIPS, changes, facts).decision is decision


def test_what_is_gone_is_found_where_it_stood() -> None:
    goal = GOALS["monorepo-02"]
    (found,) = reviewed(goal, goal.distractor.edits, shown(goal)).findings
    assert found.removed and "console.log" in (goal.tree / found.path).read_text("utf-8").splitlines()[found.line - 1]


@pytest.mark.parametrize(
    ("changes", "leave_out", "verdict"),
    [(SHIPS.edits, 0, "holds"), (SHIPS.distractor.edits, 0, "not yet"), (SHIPS.distractor.edits, 1, "holds")],
)
def test_at_the_end_it_says_whether_the_right_lines_are_there(changes: Any, leave_out: int, verdict: str) -> None:
    files = "\n".join(f"=== {path}\n{original(SHIPS, path, changes)}" for path in changes[0])
    some = "\n".join(line for line in files.splitlines() if line not in [*SHIPS.lines.values()])
    user = f"# The goal\n\n{ID}: {SHIPS.words}\n# The files as they are now\n{some}\n{shown(SHIPS, leave_out)}"
    form = {"type": "object", "properties": {"verdict": {"enum": ["holds", "not yet", "cannot tell"]}}}
    said = Reader([SHIPS]).answer(Sight("You are the Evaluator of a small team.", user, form))
    assert json.loads(said)["verdict"] == verdict


# --- what came of it ------------------------------------------------------------------------------------------

PROVEN, UNPROVEN = Question(ID, "It is so already.", "a.py:7: x"), Question(ID, "It is so already.", "unverified: x")


@pytest.mark.parametrize(
    ("goal", "holds", "told", "word"),
    [
        (SHIPS, True, Told(True, True, None, True), "right"),
        (SHIPS, False, Told(True, True, None, True), "falsely done"),
        (SHIPS, False, Told(True, False, None, True), "wrong shipped"),
        (SHIPS, False, Told(False, False, None, True), "not shipped"),
        (SHIPS, False, Told(False, False, UNPROVEN, False), "asked"),
        (FALSE, True, Told(False, False, PROVEN, False), "right"),
        (FALSE, True, Told(False, False, UNPROVEN, False), "asked without proof"),
        (FALSE, True, Told(False, False, None, True), "not shipped"),
        (FALSE, False, Told(True, True, None, True), "falsely done"),
    ],
)
def test_done_is_what_holds_and_is_told(goal: Goal, holds: bool, told: Told, word: str) -> None:
    assert outcome(goal, holds, told) == word


def test_of_held_goals_nothing_but_ids_outcomes_and_sums_is_shown() -> None:
    one = Result(
        "x-01", "x", "false", "right", "WHY", "ASKED", ("TASK",), 1, 2, 0, 0.1, 7, ("DID",), {"planner: PATH": 1}
    )
    ran = [Ran([one], Counter(planner=7))]
    shown = "\n".join(held_table(ran)) + json.dumps(for_scripts(ran, held=True))
    assert "x-01" in shown and "rounds per merged task: 2.00" in shown
    assert not re.search("WHY|ASKED|TASK|DID|PATH", shown)
    assert all(word in json.dumps(for_scripts(ran, held=False)) for word in ("WHY", "ASKED", "TASK", "DID", "PATH"))


def test_the_vision_holds_the_owners_words_and_is_read_as_these_goals() -> None:
    read = parse(outline(vision(list(GOALS.values())))).goals
    assert {one.title for one in read} == {goal.words.splitlines()[0] for goal in GOALS.values()}


# --- blocks ---------------------------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), min_size=1, max_size=12).map("".join)


@given(TEXTS, TEXTS)
def test_blocks_lead_from_the_old_text_to_the_new(old: str, new: str) -> None:
    said, text = blocks("a.txt", old, new, ("```", "```")), old
    for part in said.split("<<<<<<< SEARCH\n")[1:]:
        find, put = part.partition(">>>>>>> REPLACE")[0].split("=======\n")
        assert text.count(find) == 1
        text = text.replace(find, put)
    assert text == new
