"""A goal that one day is too short for grows on a branch of its own, and comes to main whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.days import MIDNIGHT, days
from tests.journey.long_goal import (
    ALL_OF_IT,
    BRANCH,
    LANDING,
    house,
    landing_in_review,
    next_day,
    numbers,
    script,
    subjects,
    ticked,
    typed,
)
from tests.journey.stage import Stage, git


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script()) as model:
        yield model


# --- grows, then lands ---------------------------------------------------------------------------------------


def test_main_gets_the_goal_whole_and_never_the_half_of_it(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model)
    assert stage.run_day() == []
    assert subjects(stage, "main") == ["first"]
    assert subjects(stage, BRANCH) == ["Set the number of room1", "Set the number of room0", "first"]
    assert f"on {BRANCH} until it is whole" in stage.home.roadmap.read_text()
    assert f"on: `{BRANCH}`, until all of its goal is there" in stage.home.daily_plan.read_text()
    report = (stage.home.reports / "2026-11-20.md").read_text()
    assert f"merged into {BRANCH} as" in report and "2 merged into a goal's own branch, $" in report
    assert "is more than one day: it grows on a branch of its own" in "\n".join(stage.said)

    assert next_day(stage) == []
    assert set(stage.states().values()) == {"completed"} and LANDING in stage.states()
    assert subjects(stage, "main") == [ALL_OF_IT, "Set the number of lamp", "first"]
    assert (numbers(stage), stage.forge("show", "main:lamp.py")) == ("111", "NUMBER = 1")
    assert stage.forge("branch", "--list", "agent/*") == "", "what has landed needs no branch any more"
    assert len(ticked(stage)) == 2


# --- kept fresh ----------------------------------------------------------------------------------------------


def test_a_conflict_waits_for_the_owner_and_the_others_go_on(tmp_path: Path, model: ScriptedModel) -> None:
    stage = house(tmp_path, model)
    stage.run_day()
    stage.owner_commits({"room0.py": "NUMBER = 7\n"})
    next_day(stage)
    states = stage.states()
    assert (states["20261121-01"], states["20261121-02"]) == ("backlog", "completed")
    told = f"main conflicts with {BRANCH} in room0.py: merge main into {BRANCH} yourself and push it"
    assert told in (stage.home.reports / "2026-11-21.md").read_text()

    with stage.records() as records:  # what `status` shows of that day
        assert told in " ".join(trouble.text for trouble in records.plans.troubles("2026-11-21"))
    assert f"{BRANCH}, until all of its goal is there" in typed(stage, "show", "20261121-01")

    merges(stage)
    next_day(stage)
    assert set(stage.states().values()) == {"completed"}
    assert numbers(stage) == "111"


def merges(stage: Stage) -> None:
    """What the owner does about it: his main into the goal's branch, as they both are at the forge."""
    clone = stage.root / "clone"
    git(stage.root, "clone", "-q", "-b", BRANCH, str(stage.home.forge("site")), str(clone))
    git(clone, "merge", "-q", "-X", "ours", "origin/main", "-m", "mine")
    git(clone, "push", "-q", "origin", BRANCH)


def test_what_he_pushes_there_is_seen_at_the_next_look(tmp_path: Path, model: ScriptedModel) -> None:
    """By a daemon, which would have left the task aside for ten minutes first."""
    stage = house(tmp_path, model)
    clock = ManualClock(MIDNIGHT)
    with days(stage, clock) as life:
        life.until(MIDNIGHT + timedelta(days=1))
        assert numbers(stage, BRANCH) == "110"
        stage.owner_commits({"room0.py": "NUMBER = 7\n"})
        life.until(MIDNIGHT + timedelta(days=1, hours=9))
        assert "merge main into" in "".join(stage.said) and numbers(stage, BRANCH) == "110"
        merges(stage)
        life.until(clock.now() + timedelta(minutes=11))
    assert numbers(stage) == "111"


def test_a_main_that_was_rewritten_brings_nothing_back(tmp_path: Path, model: ScriptedModel) -> None:
    """What the owner has cut out of main's history may be in the goal's branch: he is asked to rebase that."""
    stage, site = house(tmp_path, model), tmp_path / "site"
    first = git(site, "rev-parse", "HEAD")
    (site / "secret.txt").write_text("a password\n")
    git(site, "add", ".")
    git(site, "commit", "-q", "-m", "oops")
    stage.run_day()
    git(site, "reset", "-q", "--hard", first)
    stage.owner_commits({"room1.py": "NUMBER = 0\n# of the room\n"})
    next_day(stage)
    assert f"main was rewritten since it was merged into {BRANCH}: rebase that yourself" in "\n".join(stage.said)
    assert "secret.txt" not in stage.forge("ls-tree", "--name-only", "main")


# --- when it lands -------------------------------------------------------------------------------------------


def owner_pushes(stage: Stage, files: Mapping[str, str]) -> None:
    """To the goal's branch."""
    clone = stage.root / "clone"
    if not clone.exists():
        git(stage.root, "clone", "-q", "-b", BRANCH, str(stage.home.forge("site")), str(clone))
    git(clone, "pull", "-q")
    for name, text in files.items():
        (clone / name).write_text(text)
    git(clone, "commit", "-q", "-a", "-m", "the owner's own")
    git(clone, "push", "-q", "origin", BRANCH)


def test_what_the_owner_pushes_while_it_waits_lands_too(tmp_path: Path, model: ScriptedModel) -> None:
    stage = landing_in_review(tmp_path, model)
    owner_pushes(stage, {"room0.py": "NUMBER = 1\n# his words\n"})
    typed(stage, "approve", LANDING)
    stage.run_day()
    assert stage.states()[LANDING] == "failed" and "there is more on" in stage.note(LANDING)
    again = LANDING.replace("l1", "l2")
    typed(stage, "approve", again)
    stage.run_day()
    assert stage.forge("show", "main:room0.py") == "NUMBER = 1\n# his words"
    assert BRANCH not in stage.forge("branch", "--list")
