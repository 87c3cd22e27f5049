"""From a pull request to the branch: tested, read, then merged, sent back, or the owner's turn."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.pulls import prs, pull_line
from sisimpur.cli.views.show import show
from sisimpur.cli.views.target import proposed
from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.repo.git import Remote
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import (
    FILES,
    GOOD,
    ID,
    RIGHT,
    SUM,
    VISION,
    Coder,
    fix,
    suite,
)
from tests.journey.stage import APPROVES, CODES, Stage, git, goals_of, plans, reads, repository, task


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    def make(*answers: Mapping[str, str]) -> Stage:
        coder = Coder(*(answers or (GOOD,)))
        return Stage(tmp_path, model.url, coder, suite).set_up(VISION, FILES)

    return make


def typed(stage: Stage, command: Callable[[Arguments], int], **more: Any) -> str:
    with redirect_stdout(StringIO()) as out:
        assert command(Arguments(command.__name__, stage.home.root, **more)) == 0
    return out.getvalue()


def prompts(stage: Stage) -> list[str]:
    return [job.message for job in stage.jobs]


# --- merged --------------------------------------------------------------------------------------------------


def test_what_is_tested_and_approved_is_merged(stage: Callable[..., Stage]) -> None:
    day = stage()
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    (pull,) = day.pulls()
    assert pull.state == "merged"
    assert day.forge("show", "main:app.py") == RIGHT.strip()
    assert day.forge("rev-parse", f"{pull.merge_sha}^{{tree}}") == day.forge("rev-parse", f"{pull.head_sha}^{{tree}}")
    assert "agent/" not in day.forge("branch", "--list")


def test_what_was_merged_comes_into_the_clone_by_the_line_that_is_shown(
    stage: Callable[..., Stage], tmp_path: Path
) -> None:
    day = stage()
    with day.records() as records:
        assert not records.journal.merged_on(records.day())
    day.run_day()
    with day.records() as records:
        line = pull_line(records)
        assert records.journal.merged_on(records.day()) and not records.journal.merged_on("2026-11-21")
    assert f"in your clone, what was merged comes with: {line}" in typed(day, prs)
    git(tmp_path / "site", *shlex.split(line)[1:])
    assert (tmp_path / "site" / "app.py").read_text() == RIGHT


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


def test_what_no_box_gets_keeps_nothing_else_from_being_merged(stage: Callable[..., Stage], tmp_path: Path) -> None:
    """A submodule, a file of Git LFS, a link that leads out: the owner's repository is no dead end for them."""
    day = stage()
    repository(tmp_path / "library")
    site = tmp_path / "site"
    git(site, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "library"), "lib")
    (site / ".gitattributes").write_text("*.psd filter=lfs diff=lfs merge=lfs -text\n")
    (site / "logo.psd").write_text(POINTER)
    (site / "out").symlink_to("/etc/hostname")
    git(site, "-c", "filter.lfs.clean=cat", "-c", "filter.lfs.required=false", "add", "-A")
    git(site, "commit", "-q", "-m", "odd")
    odd = git(site, "ls-tree", "HEAD", "lib", "logo.psd", "out", ".gitmodules")
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}
    assert day.forge("show", "main:app.py") == RIGHT.strip()
    assert day.forge("ls-tree", "main", "lib", "logo.psd", "out", ".gitmodules") == odd
    told, _ = proposed(day.home, Remote(str(site)), "main")
    for words in (
        "lib (a submodule): its files are there when tests run",
        "Git LFS (.gitattributes): files",
        "out (a symbolic link that",
    ):
        assert words in told


# --- the owner's queue ---------------------------------------------------------------------------------------


@pytest.fixture
def parked(stage: Callable[..., Stage], model: ScriptedModel) -> Stage:
    files = ("app.py", "tests/test_app.py", "settings.py")
    model.play([reads(), plans(task(SUM, files=files)), CODES, APPROVES])
    day = stage({**GOOD, "settings.py": "X = 2\n"})
    assert day.run_day() == []
    return day


def test_an_approved_change_is_tested_again_where_the_branch_has_moved(parked: Stage) -> None:
    typed(parked, owner_commands.approve, id=ID)
    parked.owner_commits({"other.py": "Y = 2\n"})
    assert parked.run_day() == []
    assert parked.states() == {ID: "completed"}
    assert parked.forge("show", "main:other.py") == "Y = 2"
    (pull,) = parked.pulls()
    assert parked.forge("rev-parse", f"{pull.merge_sha}^{{tree}}") == parked.forge(
        "rev-parse", f"{pull.head_sha}^{{tree}}"
    )


def test_what_waits_is_told_with_its_risk_where_the_owner_looks(parked: Stage) -> None:
    """`prs`, `show` and the pull request name why it waits, the tests that show it, and the lines that none runs."""
    whole, listed = typed(parked, show, id=ID), typed(parked, prs)
    for text in (whole, listed):
        assert "waits for you: it changes settings.py" in " ".join(text.split())
        assert "not seen: " in text
    assert "fails without the change, passes with it: tests/test_app.py" in whole
    assert whole.index("b/tests/test_app.py") < whole.index("b/app.py"), "the test's difference comes first"
    with open_records(parked.home.root) as records:
        forge = records.forge()
        comments = [one.body for one in forge.comments(1)] if forge else []
    (comment,) = [one for one in comments if "### Tests" in one]
    assert "not seen: " in comment and "fails without the change, passes with it: tests/test_app.py" in comment


def test_somebody_elses_push_is_never_merged(parked: Stage) -> None:
    typed(parked, owner_commands.approve, id=ID)
    (pull,) = parked.pulls()
    tree = parked.forge("rev-parse", f"{pull.head_sha}^{{tree}}")
    other = parked.forge("commit-tree", tree, "-p", pull.head_sha, "-m", "sneaked in")
    parked.forge("update-ref", f"refs/heads/{pull.head}", other)
    parked.run_day()
    assert parked.states() == {ID: "in_review"}
    assert parked.forge("show", "main:settings.py") == "X = 1"


# --- two at once ---------------------------------------------------------------------------------------------

TWO = "# Vision\n\n## Priority: HIGH\n- Fix the sum in app.py\n- Set Y in other.py\n"


def test_the_second_is_brought_up_to_date_with_the_first(stage: Callable[..., Stage], model: ScriptedModel) -> None:
    first, second = goals_of(TWO)
    both = (task(first, files=("app.py", "tests/test_app.py")), task(second, "Simplify Y", files=("other.py",)))
    model.play([reads(), plans(*both), CODES, APPROVES])
    day = stage()
    day.given_vision(TWO)
    day.change = lambda folder, job: Coder(GOOD if "app.py" in job.edit else {"other.py": "# the one\nY = 1\n"})(
        folder, job
    )
    assert day.run_day() == []
    assert set(day.states().values()) == {"completed"}
    assert (
        day.forge("show", "main:other.py") == "# the one\nY = 1" and day.forge("show", "main:app.py") == RIGHT.strip()
    )
    for pull in day.pulls():
        assert day.forge("rev-parse", f"{pull.merge_sha}^{{tree}}") == day.forge(
            "rev-parse", f"{pull.head_sha}^{{tree}}"
        )


def test_a_conflict_goes_back_to_the_coder_who_begins_afresh(parked: Stage) -> None:
    typed(parked, owner_commands.approve, id=ID)
    parked.owner_commits({"settings.py": "X = 7\n"})
    parked.change.answers = [{**GOOD, "settings.py": "X = 8\n"}]  # type: ignore[attr-defined]
    parked.run_day()
    assert "conflicts with what is on main now: settings.py" in prompts(parked)[-1]
    assert parked.change.seen[-1]["settings.py"] == "X = 7\n"  # type: ignore[attr-defined]
    assert parked.states() == {ID: "in_review"}


def test_the_owners_commits_and_merged_pull_requests_live_together(
    stage: Callable[..., Stage], model: ScriptedModel
) -> None:
    day = stage()
    day.run_day()
    day.owner_commits({"settings.py": "X = 9\n"})
    day.given_vision(TWO)
    model.play([reads(), plans(task(goals_of(TWO)[1], "Simplify Y", files=("other.py",))), CODES, APPROVES])
    day.change = Coder({"other.py": "# the one\nY = 1\n"})
    assert day.run_day() == []
    assert set(day.states().values()) == {"completed"}
    main = {path: day.forge("show", f"main:{path}") for path in ("settings.py", "app.py", "other.py")}
    assert main == {"settings.py": "X = 9", "app.py": RIGHT.strip(), "other.py": "# the one\nY = 1"}
    git(day.root / "site", "pull", "-q", "--ff-only", str(day.home.forge("site")), "main")
    assert (day.root / "site" / "app.py").read_text() == RIGHT
