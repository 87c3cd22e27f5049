"""The demo's target really has the three planted bugs, and its script repairs them. Read as text, without Django."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import TypeAdapter

from sisimpur.agents.orchestrator.vision import vision_parser
from sisimpur.agents.orchestrator.vision.reading import Interpreter
from sisimpur.agents.planner.agent import Planner
from sisimpur.agents.planner.facts.codebase_analyzer import CodebaseAnalyzer
from sisimpur.shared.llm.prompts import Prompts
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.work import Guard, PlanAnswer, PlanOrder, Question, Run, TaskSpec
from sisimpur.shared.system import markdown
from sisimpur.simulators.model.script import Asked, read_script
from sisimpur.simulators.model.steps import PlacedStep

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
SITE, DAY = ROOT / "examples" / "exam_site", ROOT / "examples" / "exam_site_day"
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


class ScriptedModel:
    """Answers as the script does, once per agent: an answer that breaks rules would be asked for again."""

    def __init__(self) -> None:
        self._script = read_script(DAY / "script.yaml")
        self.calls: list[str] = []

    def ask(self, run: Run, system: str, user: str, answer: type[T], kept: Sequence[int] = (), least: int = 0) -> T:
        self.calls.append(run.agent)
        step = self.step(system, user, TypeAdapter(answer).json_schema())
        return TypeAdapter(answer).validate_python(step.json)

    def edit(self, task: TaskSpec, found: str = "") -> str:
        """The reply to the coding engine."""
        asked = f"Task {task.id}: {task.title}\n\n{task.description}\n\n{found}"
        step = self.step("... *SEARCH/REPLACE* blocks ...", asked, {})
        return step.text or ""

    def step(self, system: str, user: str, form: Mapping[str, Any]) -> PlacedStep:
        step = self._script.answer(Asked("claude-sonnet-5-5", system, user, user, form))
        assert isinstance(step, PlacedStep), step
        return step


@dataclass(frozen=True)
class Morning:
    """What the real agents make of the script's answers."""

    guards: tuple[Guard, ...]
    asked: Sequence[Question]  # by the one who reads the vision
    plan: PlanAnswer
    calls: Sequence[str]
    edits: Mapping[str, str]  # task id -> reply to the coding engine
    corrections: Mapping[str, str]  # of those that are sent back


VISION = vision_parser.parse(markdown.outline((DAY / "VISION.md").read_text(encoding="utf-8")))
TITLES = {goal.id: goal.title for goal in VISION.goals}


@pytest.fixture(scope="module")
def morning() -> Morning:
    model, prompts, change = ScriptedModel(), Prompts(ROOT / "agents"), vision_parser.difference(None, VISION)
    reading = Interpreter(model, prompts).read(
        Run(1, "orchestrator", "2026-02-17"), VISION, change, (), tuple(SOURCES), "facts"
    )
    waiting = {question.goal_id for question in reading.questions}
    goals = tuple(goal for goal in VISION.goals if goal.id not in waiting)
    order = PlanOrder(goals, capacity=5, guards=reading.guards, notes=VISION.notes)
    plan = Planner(model, prompts, CodebaseAnalyzer()).plan(Run(2, "planner", "2026-02-17"), order, Site())
    edits = {task.id: model.edit(task) for task in plan.tasks}
    _, settings, views = plan.tasks
    corrections = {
        settings.id: model.edit(settings, "What was found:"),
        views.id: model.edit(views, "What was found:\n\nit was merged, deployed and rolled back: ..."),
    }
    return Morning(reading.guards, reading.questions, plan, model.calls, edits, corrections)


def edited(files: Files, reply: str) -> dict[str, str]:
    """As the coding engine does it: each block is looked for in its file and replaced."""
    result = dict(files)
    for path, search, replace in EDIT.findall(reply):
        assert (path in result) == bool(search), f"an empty SEARCH creates a file: {path}"
        assert not search or result[path].count(search) == 1, f"SEARCH stands {result[path].count(search)} times"
        result[path] = result[path].replace(search, replace, 1) if search else replace
    return result


def test_the_plan_keeps_every_rule_at_the_first_try(morning: Morning) -> None:
    assert morning.calls == ["orchestrator", "planner"]
    assert morning.plan.notes == ()
    assert morning.plan.deferred == ()


def test_the_vague_goal_comes_back_as_a_question(morning: Morning) -> None:
    assert [TITLES[q.goal_id] for q in morning.asked if q.goal_id in TITLES] == ["Make it faster"]


def test_the_webhook_is_guarded_with_its_tests_and_nothing_else(morning: Morning) -> None:
    [guard] = morning.guards
    assert guard.note.startswith("Don't touch the n8n webhook")
    guarded = [path for path in SOURCES if matches(path, guard.patterns)]
    assert guarded == ["apps/webhooks/__init__.py", "apps/webhooks/n8n.py", "tests/test_n8n.py"]


def test_a_goal_that_is_done_and_one_whose_premise_is_false_are_answered_with_evidence(morning: Morning) -> None:
    answers = {TITLES[question.goal_id].split()[0]: question for question in morning.plan.questions}
    assert list(answers) == ["Set", "Replace"]
    assert answers["Set"].text.startswith("This seems to be done already")
    assert answers["Set"].evidence.startswith("core/settings.py:20: DEBUG = ")
    assert answers["Replace"].text.startswith("The code does not bear this out")
    assert answers["Replace"].evidence == 'no file holds "threading.Thread"; no file holds "Celery"'


def test_each_critical_goal_has_one_task(morning: Morning) -> None:
    assert [TITLES[task.goal_id] for task in morning.plan.tasks] == [goal.title for goal in VISION.goals[:3]]
    assert {task.priority for task in morning.plan.tasks} == {"critical"}


def test_each_edit_fits_the_files_and_changes_those_that_its_task_names(morning: Morning) -> None:
    for task in morning.plan.tasks:
        after = edited(SOURCES, morning.edits[task.id])
        assert {path for path in after if after[path] != SOURCES.get(path)} == {*task.files, *task.new_files}


def test_the_edits_together_repair_all_three_bugs(morning: Morning) -> None:
    files: Files = SOURCES
    for reply in (*morning.edits.values(), *morning.corrections.values()):
        files = edited(files, reply)
    assert defined_twice(files) == {}
    assert schemes(files) == [1, 1, 1]
    assert broken_imports(files) == set()


def test_the_first_test_of_the_settings_forgets_the_token_of_the_form_and_its_correction_does_not(
    morning: Morning,
) -> None:
    first, corrected = before_and_after(morning, "core/settings.py", "tests/test_accounts.py")
    assert "csrfmiddlewaretoken" not in first
    assert "csrfmiddlewaretoken" in corrected


def test_the_first_views_look_for_their_titles_where_the_program_was_started_and_the_next_ones_do_not(
    morning: Morning,
) -> None:
    first, corrected = before_and_after(morning, "apps/authentication/views.py", "apps/authentication/views.py")
    assert 'open("apps/authentication/titles.json"' in first
    assert 'Path(__file__).with_name("titles.json")' in corrected and "open(" not in corrected


def before_and_after(morning: Morning, of: str, path: str) -> tuple[str, str]:
    """A file as the first answer leaves it, and as the second one does; `of`: a file that the task changes."""
    (task,) = (task.id for task in morning.plan.tasks if of in task.files)
    first = edited(SOURCES, morning.edits[task])
    return first[path], edited(first, morning.corrections[task])[path]


def test_one_reply_has_words_around_its_edit_and_no_block_is_lost_by_a_slip_in_its_form(morning: Morning) -> None:
    replies = list(morning.edits.values())
    assert [text.count("<<<<<<< SEARCH") for text in replies] == [len(EDIT.findall(text)) for text in replies]
    assert [bool(EDIT.sub("", text).strip()) for text in replies] == [False, False, True]
