"""Days that begin with bad input: named in one line, kept as it is, nothing executed, nothing spent, nothing sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, KEY, VISION, Stage, goals_of, plans, reads, task

SUM = goals_of(VISION)[0]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url).set_up()


# --- an engine that obeys the attacker -----------------------------------------------------------------------


def writes(name: str, text: str) -> Callable[[Path, EngineJob], None]:
    def change(folder: Path, job: EngineJob) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return change


def links(name: str, to: str) -> Callable[[Path, EngineJob], None]:
    def change(folder: Path, job: EngineJob) -> None:
        (folder / name).unlink(missing_ok=True)
        os.symlink(to, folder / name)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(writes(".github/workflows/ci.yml", "on: push"), "does not name it", id="changes the CI"),
        pytest.param(writes("conftest.py", "import os; os._exit(0)"), "does not name it", id="adds a conftest"),
        pytest.param(writes("webhook.py", "URL = 2"), "does not name it", id="leaves its task"),
        pytest.param(links("app.py", "/etc/passwd"), "symbolic link", id="a link out of the tree"),
        pytest.param(
            writes("sub/.git/config", "[core]\nfsmonitor = touch OWNED"), "repository", id="a nested repository"
        ),
        pytest.param(writes("app.py", f"key = '{KEY}'\n"), "holds a secret", id="36 the owner's key in the diff"),
        pytest.param(writes("app.py", "x = 1\n" * 100_000), "100000 lines added (limit 4000)", id="33 a huge diff"),
        pytest.param(writes("app.py", ""), "emptied", id="empties the file"),
        pytest.param(writes("app.py", "<<<<<<< SEARCH\n"), "conflict marker", id="a conflict marker"),
    ],
)
def test_what_an_obedient_engine_does_is_not_committed(
    stage: Stage, change: Callable[[Path, EngineJob], None], reason: str
) -> None:
    stage.given_config("policy", attempts="{failed: 1}")
    stage.change = change
    stage.run_day()
    (id_,) = stage.states()
    assert stage.states() == {id_: "failed"}
    assert reason in stage.note(id_)
    assert stage.pulls() == []
    assert stage.forge("for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"
    assert KEY.encode() not in stage.everything_written()
    assert not list(stage.root.rglob("OWNED"))


def test_the_throw_away_git_of_the_engine_reaches_nobody(stage: Stage) -> None:
    def change(folder: Path, job: EngineJob) -> None:
        writes(".git/hooks/post-checkout", "#!/bin/sh\ntouch OWNED\n")(folder, job)
        writes("app.py", "right = True\n")(folder, job)

    stage.change = change
    stage.run_day()
    assert list(stage.states().values()) == ["in_review"]
    assert not list(stage.root.rglob("OWNED"))
    assert stage.forge("ls-tree", "-r", "--name-only", stage.pulls()[0].head_sha).split() == [
        "README.md",
        "app.py",
        "webhook.py",
    ]
