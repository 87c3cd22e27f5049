"""The demo's target really has the three planted bugs, and its script repairs them. Read as text, without Django."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from agents.orchestrator import interpreter, vision_parser
from agents.planner.evidence import stands
from agents.planner.plan_rules import Tree, faults, unanswered
from agents.planner.task_spec import Draft, Order, Reply, Verdict
from shared.domain.scope import matches
from shared.domain.work import Goal
from shared.edge import markdown, strict_yaml
from shared.edge.scripted_steps import Step

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SITE, DAY = EXAMPLES / "exam_site", EXAMPLES / "exam_site_day"
EDIT = re.compile(r"^(\S+)\n```\w*\n<{7} SEARCH\n(.*?)^={7}\n(.*?)^>{7} REPLACE\n```$", re.DOTALL | re.MULTILINE)

Files = Mapping[str, str]
SOURCES: Files = {
    path.relative_to(SITE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(SITE.rglob("*"))
    if path.is_file() and path.suffix != ".pyc"
}


# --- what is wrong with the site, seen in its text -----------------------------------------------------------


def functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def defined_twice(files: Files) -> dict[str, list[str]]:
    """File -> names of functions that a later one of the same name silently replaces."""
    found = {}
    for path, text in files.items():
        count = Counter(node.name for node in functions(text)) if path.endswith(".py") else Counter[str]()
        if twice := [name for name, times in count.items() if times > 1]:
            found[path] = twice
    return found


def setting(files: Files, name: str) -> str:
    """The expression that core/settings.py assigns to `name`."""
    body = ast.parse(files["core/settings.py"]).body
    assigned = {ast.unparse(node.targets[0]): node.value for node in body if isinstance(node, ast.Assign)}
    return ast.unparse(assigned[name])


def schemes(files: Files) -> list[int]:
    """How many addresses each trusted origin holds; one is right."""
    return [origin.count("://") for origin in ast.literal_eval(setting(files, "CSRF_TRUSTED_ORIGINS"))]


def broken_imports(files: Files) -> set[tuple[str, str]]:
    """(file, module of the site that it imports and that is not there)."""
    return {
        (path, module)
        for path, text in files.items()
        if path.endswith(".py")
        for module in own_imports(text)
        if not {f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"} & set(files)
    }


def own_imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ("apps", "core"):
            yield node.module


def test_every_view_of_the_accounts_stands_twice_with_the_same_code() -> None:
    found = [ast.dump(node) for node in functions(SOURCES["apps/authentication/views.py"])]
    assert len(found) == 8
    assert found[:4] == found[4:]


def test_nothing_else_is_defined_twice() -> None:
    assert list(defined_twice(SOURCES)) == ["apps/authentication/views.py"]


def test_a_missing_comma_makes_one_trusted_origin_of_two() -> None:
    assert schemes(SOURCES) == [1, 2]


def test_the_command_line_imports_a_module_that_was_removed() -> None:
    assert broken_imports(SOURCES) == {("brain_cli.py", "apps.brain.brain_engine")}


def test_what_the_removed_module_did_is_done_by_a_function_of_the_services() -> None:
    assert "generate_questions" in [node.name for node in functions(SOURCES["apps/brain/services.py"])]


def test_debug_is_off_and_hosts_are_named_already() -> None:
    assert setting(SOURCES, "DEBUG") == "os.environ.get('DJANGO_DEBUG') == '1'"
    assert "sisimpur.example" in setting(SOURCES, "ALLOWED_HOSTS")
    assert "*" not in setting(SOURCES, "ALLOWED_HOSTS")


def test_no_file_starts_a_thread_or_knows_celery() -> None:
    assert not [path for path, text in SOURCES.items() if "thread" in text.lower() or "celery" in text.lower()]


def test_the_site_does_not_say_where_its_bugs_are() -> None:
    said = re.compile(r"planted|on purpose|deliberate|\bbugs?\b|twice|duplicat", re.IGNORECASE)
    assert not [path for path, text in SOURCES.items() if said.search(text)]


# --- what the scripted model says about it -------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    path: str
    line: int
    text: str


class Site:
    """The example as the planner sees a repository."""

    def files(self) -> tuple[str, ...]:
        return tuple(SOURCES)

    def read(self, path: str, limit: int) -> str | None:
        return SOURCES.get(path)

    def grep(self, needle: str, limit: int) -> tuple[Line, ...]:
        numbered = ((path, n, line) for path, text in SOURCES.items() for n, line in enumerate(text.splitlines(), 1))
        return tuple(Line(path, n, line) for path, n, line in numbered if needle in line)[:limit]


VISION = vision_parser.parse(markdown.outline((DAY / "VISION.md").read_text(encoding="utf-8")))
GOALS = {goal.id: goal for goal in VISION.goals}
STEPS = strict_yaml.parse((DAY / "script.yaml").read_text(encoding="utf-8"), "script.yaml").as_type(list[Step])
READING = TypeAdapter(interpreter.Reading).validate_python(next(s.json for s in STEPS if s.agent == "orchestrator"))
REPLY = TypeAdapter(Reply).validate_python(next(s.json for s in STEPS if s.agent == "planner"))
INTERPRETED = interpreter.settled(READING, VISION, vision_parser.difference(None, VISION), (), tuple(SOURCES))
EDITS = [step for step in STEPS if step.agent == "engine"]


def planned_goals() -> tuple[Goal, ...]:
    """Those that the planner is asked about: a goal with an open question waits."""
    asked = {question.goal_id for question in INTERPRETED.questions}
    return tuple(goal for goal in VISION.goals if goal.id not in asked)


def step_for(draft: Draft) -> Step:
    [step] = [step for step in EDITS if step.task and step.task.search(draft.title)]
    return step


def edited(files: Files, reply: str) -> dict[str, str]:
    """As the coding engine does it: each block is looked for in its file and replaced."""
    result = dict(files)
    for path, search, replace in EDIT.findall(reply):
        assert (path in result) == bool(search), f"an empty SEARCH creates a file: {path}"
        assert not search or result[path].count(search) == 1, f"SEARCH stands {result[path].count(search)} times"
        result[path] = result[path].replace(search, replace, 1) if search else replace
    return result


def all_edits() -> dict[str, str]:
    files = dict(SOURCES)
    for step in EDITS:
        files = edited(files, step.text or "")
    return files


def test_the_vague_goal_comes_back_as_a_question() -> None:
    asked = [GOALS[q.goal_id].title for q in INTERPRETED.questions if q.goal_id in GOALS]
    assert asked == ["Make it faster"]


def test_the_webhook_is_guarded_and_nothing_that_a_task_wants_to_change() -> None:
    [guard] = INTERPRETED.guards
    assert guard.note.startswith("Don't touch the n8n webhook")
    assert sorted(path for path in SOURCES if matches(path, guard.patterns)) == [
        *("apps/webhooks/__init__.py", "apps/webhooks/n8n.py", "tests/test_n8n.py")
    ]


def test_the_plan_answers_every_goal_and_keeps_every_rule() -> None:
    order = Order(planned_goals(), capacity=5, guards=INTERPRETED.guards)
    assert faults(REPLY, order, Tree.of(SOURCES)) == {}
    assert unanswered(REPLY, order) == ()


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        pytest.param(Verdict.ALREADY_DONE, "DEBUG=False", id="done already: the lines are in the settings"),
        pytest.param(Verdict.PREMISE_FALSE, "threading.Thread", id="false premise: no file holds the words"),
    ],
)
def test_a_goal_that_needs_no_work_is_answered_with_evidence_that_stands(verdict: Verdict, words: str) -> None:
    [answer] = [answer for answer in REPLY.goals if answer.verdict is verdict]
    goal = GOALS[answer.goal_id]
    assert words in goal.title
    assert answer.evidence
    assert [piece for piece in answer.evidence if not stands(piece, goal, Site())] == []


def test_each_critical_goal_has_one_task_and_each_task_one_edit() -> None:
    assert [(GOALS[draft.goal_id].priority, bool(step_for(draft))) for draft in REPLY.tasks] == [("critical", True)] * 3
    assert len(EDITS) == 3


@pytest.mark.parametrize("draft", REPLY.tasks, ids=lambda draft: draft.title)
def test_an_edit_fits_the_files_and_changes_those_that_its_task_names(draft: Draft) -> None:
    after = edited(SOURCES, step_for(draft).text or "")
    assert {path for path in after if after[path] != SOURCES.get(path)} == set(draft.paths)


def test_the_edits_repair_all_three_bugs() -> None:
    files = all_edits()
    assert defined_twice(files) == {}
    assert schemes(files) == [1, 1, 1]
    assert broken_imports(files) == set()


def test_no_edit_is_half_read_because_of_a_slip_in_its_form() -> None:
    replies = [step.text or "" for step in EDITS]
    assert [text.count("<<<<<<< SEARCH") for text in replies] == [len(EDIT.findall(text)) for text in replies]
    assert any(not EDIT.sub("", text).isspace() for text in replies), "one reply has words around its edit"
