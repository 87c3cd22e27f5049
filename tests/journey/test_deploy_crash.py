"""kill -9 at every point of a deploy, of a rollback and of what follows it; then the same command again."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.shared.model.deployment import DeployStage as At
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.deployed import Site, book, site
from tests.journey.gated import FILES, ID, VISION, Coder, fix, suite
from tests.journey.one_deploy import WELL
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads
from tests.killing import EVERY_POINT, at_length, finishes, killed_at, points
from tests.mailbox import Mailbox

PLACES = ("staging", "production")
OURS = ("deploy.", "revert.")
SLICES = 4 if EVERY_POINT else 1  # so that workers share the kills
SAMPLE = 4  # kills in the suite: `make crash` has all of them


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Path]:
    """A fresh folder each time."""
    return (tmp_path / str(number) for number in itertools.count())


def fresh(place: Path, model: ScriptedModel) -> tuple[Stage, Path, list[str]]:
    place.mkdir()
    stage = Stage(place, model.url, Coder(WELL), suite).set_up(VISION, FILES)
    return stage, place, [sys.executable, "-m", "tests.journey.one_deploy", str(place), model.url]


def check(stage: Stage, live: Site) -> None:
    """What runs is what the book says, and what is on the branch; everything happened once."""
    head, deploys = stage.forge("rev-parse", "main"), book(stage)
    assert {place: live.runs(place) for place in PLACES} == dict.fromkeys(PLACES, head)
    assert [[d.stage for d in deploys if d.place == place][-1] for place in PLACES] == [At.HEALTHY] * 2
    assert all(deploy.is_over and deploy.settled for deploy in deploys)
    (bad,) = (deploy for deploy in deploys if deploy.broke)
    assert max(Counter((deploy.place, deploy.commit) for deploy in deploys).values()) == 1, "once per commit"
    again: Counter[tuple[str, str]] = Counter({(bad.place, bad.back_to): 1})
    assert max((Counter(live.starts) - again).values()) == 1, "nothing is started twice, but what was gone back to"
    assert stage.states() == {ID: "completed"}
    reverts = [pull for pull in stage.pulls() if pull.head.startswith("agent/revert-")]
    assert [pull.state for pull in reverts] == ["merged"]
    assert stage.forge("show", "main:app.py") == WELL["app.py"].strip()
    said = Counter(message["key"].partition(":")[2] for message in Mailbox(stage.root / "box").messages())
    assert said[f"deploy-{bad.number}"] == 1, said


def killed(number: int | str, place: Path, model: ScriptedModel) -> None:
    stage, root, argv = fresh(place, model)
    with site(root) as live:
        live.configure(stage)
        passed = killed_at(number, argv)
        finishes(argv)
        try:
            check(stage, live)
        except AssertionError as failure:
            raise AssertionError(f"killed at {passed[-1]} (point {number}): {failure}") from failure


@pytest.mark.slow
@pytest.mark.parametrize("slice_", range(SLICES))
def test_a_kill_at_any_point_of_a_deploy_and_a_rollback_leads_to_the_same_end(
    slice_: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    stage, root, argv = fresh(next(places), model)
    with site(root) as live:
        live.configure(stage)
        passed = points(argv, at_least=150)
        check(stage, live)
    ours = [number for number, name in enumerate(passed, 1) if name.startswith(OURS)]
    assert len(ours) > 60, "somebody has removed some"
    mine = ours[slice_::SLICES] if EVERY_POINT else ours[len(ours) // SAMPLE // 2 :: len(ours) // SAMPLE]
    for number in mine:
        model.requests.clear()
        killed(number, next(places), model)


@at_length
@pytest.mark.parametrize("number", range(6))
def test_a_second_kill_while_it_recovers_changes_nothing_of_it(
    number: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    stage, root, argv = fresh(next(places), model)
    with site(root) as live:
        live.configure(stage)
        passed = points(argv)
        first = [n for n, name in enumerate(passed, 1) if name == "deploy.booked"][-3 - 2 * number]
    stage, root, argv = fresh(next(places), model)
    with site(root) as live:
        live.configure(stage)
        killed_at(first, argv)
        killed_at(number + 4, argv)
        finishes(argv)
        check(stage, live)
