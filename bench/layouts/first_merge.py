"""First change of a layout: one small goal, from VISION.md to the merge. Nothing is scripted but the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.layouts.samples import Sample
from sisimpur.agents.orchestrator.vision.vision_parser import parse
from sisimpur.cli.wiring.records import open_records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import Home
from sisimpur.simulators.model.scripted_model import ScriptedModel

VISION = "# Vision\n\n## Priority: HIGH\n- Say twice what is given\n"
ADD = "def add(a, b):\n    return a + b\n"
TWICE = "\n\ndef twice(a):\n    return add(a, a)\n"
MODEL, METHOD = "    name = models.CharField(max_length=20)\n", "\n    def twice(self):\n        return self.name * 2\n"
MODEL_TEST = (
    "from django.test import SimpleTestCase\nfrom toolbar.models import Tool\n\n\n"
    "class TwiceCase(SimpleTestCase):\n    def test_twice(self):\n"
    '        self.assertEqual(Tool(name="saw").twice(), "sawsaw")\n'
)


@dataclass(frozen=True)
class FirstChange:
    """What the coder answers: lines behind others, and a new file of tests; empty: the runner finds no other file."""

    path: str
    before: str
    after: str
    tests: str = ""
    text: str = ""

    @property
    def blocks(self) -> str:
        said = _block(self.path, self.before, self.after)
        return said + (_block(self.tests, "", self.text) if self.tests else "")

    def steps(self) -> list[Mapping[str, Any]]:
        """What the model says all day."""
        goal = parse(outline(VISION)).goals[0].id
        task = {
            **dict.fromkeys(("key", "title", "description"), "Say twice what is given"),
            "goal_id": goal,
            "reason": "The goal asks for it.",
            "difficulty": "easy",
            "kind": "feature" if self.tests else "refactoring",
            "files": [self.path],
            "new_files": [self.tests] if self.tests else [],
            "context": [],
            "depends_on": [],
            "acceptance": ["what is given is said twice"],
        }
        plan = {"goals": [{"goal_id": goal, "verdict": "tasks", "text": "There is none.", "evidence": []}]}
        return [
            _says("orchestrator", {"guards": [], "questions": [], "goals": []}),
            _says("planner", {**plan, "tasks": [task]}),
            _says("reviewer", {"decision": "approve", "reason": "", "findings": []}),
            _says("evaluator", {"verdict": "holds", "missing": ""}),
            {"agent": "engine", "times": "any", "text": self.blocks},
        ]


def first_change(sample: Sample) -> FirstChange:
    """A function and its test, beside the tests that are there."""
    path = next(path for path, text in sample.files.items() if "def add(a, b)" in text or MODEL in text)
    if MODEL in sample.files[path]:
        return FirstChange(path, MODEL, MODEL + METHOD, "tests/test_twice.py", MODEL_TEST)
    tests = next((other for other in sample.files if other.endswith("_core.py") and "test" in other), "")
    if not tests:
        return FirstChange(path, ADD, ADD.replace("a + b", "sum((a, b))"))
    package = path.removesuffix(".py").rpartition("src/")[2].replace("/", ".")
    imported = ".".join(package.split(".")[-2:])
    text = f"from {imported} import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n"
    return FirstChange(path, ADD, ADD + TWICE, tests.replace("_core.py", "_twice.py"), text)


def merged(home: Home, sample: Sample) -> str:
    """Run a day. Empty: its change is merged; else what became of it."""
    home.vision.write_text(VISION)
    with ScriptedModel(first_change(sample).steps()) as model:
        keys = home.config / ".env"
        keys.touch(mode=0o600)
        keys.write_text(f"ANTHROPIC_API_KEY=a-key-that-nobody-takes\nANTHROPIC_BASE_URL={model.url}\n")
        said: list[str] = []
        with open_records(home.root, {}) as records, open_team(records, said.append) as team:
            team.run_day()
            tasks = list(records.journal.every_task().values())
    if any(task.seen_in is State.COMPLETED for task in tasks):
        return ""
    return " | ".join(said[-4:]) or "nothing was said"


def _block(path: str, before: str, after: str) -> str:
    return f"{path}\n```python\n<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n```\n\n"


def _says(agent: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"agent": agent, "times": "any", "json": answer}
