"""What the coder sees of a task's files, what it asks to see besides, and what it deletes or moves in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.show import show
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.flow.test_declined import Act, one_by_one, says
from tests.journey.gated import FILES, GOOD, ID, SUM, VISION, Coder, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads, task

OLD = "\n\n".join(
    f"def old_{number}():\n    return {number}  # nobody calls this, and it is long\n" for number in range(600)
)
MORE = {"long.py": f"RATE = 3\n\n\n{OLD}", "tests/conftest.py": "NAME = 'sum'\n", "notes.md": "# Notes\n"}
ALL = ("app.py", "long.py", "notes.md", "tests/test_app.py")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    wanted = task(SUM, files=ALL, description="Fix the sum in app.py; old_7 of long.py goes.")
    with PlayedModel([reads(), plans(wanted), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    def make(*acts: Act) -> Stage:
        return FlowStage(tmp_path, model.url, one_by_one(*acts), suite).set_up(VISION, {**FILES, **MORE})

    return make


def edits_and(words: str) -> Callable[[Path, EngineJob], EngineRun]:
    def act(folder: Path, job: EngineJob) -> EngineRun:
        Coder(GOOD)(folder, job)
        return EngineRun("edited", "", ("app.py", "tests/test_app.py"), "", 1.0, words)

    return act


def test_long_files_come_by_their_parts_and_fixtures_come_along(stage: Callable[..., Stage]) -> None:
    day = stage(Coder(GOOD))
    day.run_day()
    (job,) = day.jobs
    assert list(job.views) == ["long.py"] and "def old_7()" in job.views["long.py"]
    assert "return 500 " not in job.views["long.py"] and len(job.views["long.py"]) < len(OLD)
    assert job.edit == ALL and job.read == ("tests/conftest.py",)
    assert "begins with ⋮" in job.message and "Files to read only: tests/conftest.py" in job.message
    assert job.marks, "a second call is likely: it is cheaper if the first one was kept"


def test_it_may_ask_to_see_more_twice(stage: Callable[..., Stage]) -> None:
    day = stage(says("SHOW long.py::old_500"), says("SHOW app.py:1-2\nSHOW ../keys.py:1-2"), Coder(GOOD))
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    first, second, third = (job.message for job in day.jobs)
    assert second.startswith(first) and third.startswith(second), "what was sent before is in the cache"
    assert "return 500 " in second and "return a - b" in third and "../keys.py: is not shown to a model" in third
    assert len({job.ticket for job in day.jobs}) == 1, "one attempt"


def test_who_only_asks_has_not_answered(stage: Callable[..., Stage]) -> None:
    day = stage(says("SHOW long.py::old_500"))
    day.run_day()
    assert day.states() == {ID: "failed"}
    assert "asked to see" in day.note(ID)


@pytest.mark.parametrize("words", ["It goes.\n\nDELETE long.py::old_7\nDELETE FILE notes.md"])
def test_a_large_deletion_is_a_line(stage: Callable[..., Stage], words: str) -> None:
    day = stage(edits_and(words))
    assert day.run_day() == []
    kept = day.forge("show", "main:long.py")
    assert "old_6()" in kept and "old_7()" not in kept and "old_8()" in kept
    assert "notes.md" not in day.forge("ls-tree", "-r", "--name-only", "main").split()


def test_a_deletion_alone_is_a_change(stage: Callable[..., Stage]) -> None:
    day = stage(says("DELETE long.py::old_7"), Coder(GOOD))
    day.run_day()
    assert [pull.state for pull in day.pulls()] != []
    assert "cannot be done" not in "\n".join(day.said)


def test_what_the_task_does_not_name_is_not_deleted(stage: Callable[..., Stage]) -> None:
    day = stage(edits_and("DELETE FILE tests/conftest.py"), edits_and(""))
    day.run_day()
    assert "nothing can be taken out of tests/conftest.py" in day.jobs[1].message
    assert day.forge("show", "main:tests/conftest.py") == MORE["tests/conftest.py"].strip()


def test_moved_code_is_a_line(stage: Callable[..., Stage]) -> None:
    day = stage(edits_and("MOVE long.py::old_7 TO app.py\nDELETE FILE notes.md"))
    assert day.run_day() == []
    assert "old_7()" not in day.forge("show", "main:long.py")
    assert day.forge("show", "main:app.py").endswith("def old_7():\n    return 7  # nobody calls this, and it is long")


ASIDE = ("/etc/cron.d/app", "../keys.py", ".git/hooks/post-checkout", "other.py")


def test_what_it_may_not_write_is_told_to_the_owner_and_to_the_reviewer(
    stage: Callable[..., Stage], model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the attempt, whether or not it led to a commit; the reviewer reads all that was tried for this change."""

    def strays(folder: Path, job: EngineJob) -> EngineRun:
        Coder(GOOD)(folder, job)
        return EngineRun("edited", "", ("app.py",), "", 1.0, refused=ASIDE[2:])

    day = stage(lambda *_: EngineRun("no edits", "refused", (), "", 1.0, refused=ASIDE[:2]), strays)
    day.run_day()
    asked = [str(one.body["messages"]) for one in model.requests if "You are the Reviewer" in str(one.body["system"])]
    assert len(asked) == 1 and all(path in asked[0] for path in ASIDE)
    report = (day.home.reports / f"{day.clock.now().date()}.md").read_text("utf-8")
    assert f"its engine was refused to write {', '.join(ASIDE)}" in report
    capsys.readouterr()
    assert show(Arguments("show", day.home.root, id=ID)) == 0
    first, second = (line for line in capsys.readouterr().out.splitlines() if "refused to write" in line)
    assert first.endswith("/etc/cron.d/app, ../keys.py") and second.endswith(".git/hooks/post-checkout, other.py")
