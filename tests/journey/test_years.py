"""After years an idle day, and what is shown, ask no more of books, git and files than in a young home."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bench.old_home import days_of, grow_old, until_today, worked_once
from bench.trace import counting
from sisimpur.cli.app import main
from sisimpur.cli.views.pulls import MOST_ENDED
from tests.journey.rooms import outcomes, sets
from tests.journey.stage import Stage

FEW, MANY = 40, 400  # old tasks, twenty a day
MORE = 5  # statements: yesterday's report looks back to a longer time
SHOWN = ("status", "tasks", "budget", "prs", "roadmap")
EVERY = "tasks --json"  # reads every file there is, but asks the books no more
CHEAP_FIRST = "{model: claude-sonnet-5-5, easy: claude-haiku-5-5, effort: medium, max_tokens: 16000}"


@dataclass(frozen=True)
class LookCosts:
    statements: int
    gits: int
    task_files: int


def costs(look: Callable[[], object]) -> LookCosts:
    with counting() as trace:
        look()
    return LookCosts(trace.statements, trace.git, sum("/tasks/" in path for path in trace.opened))


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Stage, Stage]:
    """Two that have done the same until yesterday, but for how long."""
    first = Stage(tmp_path / "old", "", sets, outcomes(frozenset(), []))
    first.root.mkdir()
    worked_once(first, days_of(MANY) + 1, coder=CHEAP_FIRST)
    until_today(first)
    shutil.copytree(first.root, tmp_path / "young")
    stages = replace(first, root=tmp_path / "young", engines=[]), first
    for stage, tasks in zip(stages, (FEW, MANY), strict=True):
        grow_old(stage.home, tasks, calls=tasks)
        stage.engines.clear()
        assert len(stage.states()) == tasks
    return stages


def all_costs(stage: Stage) -> dict[str, LookCosts]:
    """An idle day's, and then those of each command."""

    def day() -> None:
        assert stage.run_day() == [] and not stage.jobs

    def shown(command: str) -> Callable[[], object]:
        return lambda: main(["--home", str(stage.home.root), *command.split()])

    assert shown("status")() == 0  # what is loaded once is loaded
    return {"run-day": costs(day)} | {command: costs(shown(command)) for command in (*SHOWN, EVERY)}


def test_of_years_of_pull_requests_the_last_are_shown_and_where_the_others_are(
    homes: tuple[Stage, Stage], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for words in (["prs"], ["prs", "--all"]):
        assert main(["--home", str(homes[1].home.root), *words]) == 0
        shown.append(capsys.readouterr().out)
    assert [text.count("  merged  ") for text in shown] == [MOST_ENDED, MANY]
    assert "all: " in shown[0].splitlines()[-1] and shown[0].endswith(" prs --all\n")
    assert shown[1].startswith(shown[0][: shown[0].index("…")])


def test_an_idle_day_and_what_is_shown_cost_the_same_after_years(homes: tuple[Stage, Stage]) -> None:
    young, old = map(all_costs, homes)
    for name, few in young.items():
        many = old[name]
        assert few.statements > 0 and many.statements <= few.statements + MORE, name
        assert many.gits == few.gits and (many.task_files == few.task_files or name == EVERY), name
