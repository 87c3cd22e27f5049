"""`kill -9` while a large goal grows and lands: its branch begins once, nothing of it is lost, nothing lands twice."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.long_goal import LAMP, ROOMS, house, planned, subjects
from tests.journey.stage import APPROVES, CODES, Stage, reads
from tests.killing import EVERY_POINT, at_length, finishes, killed_at, points

ANY = r"[\s\S]*"
ABOUT = {
    (ROOMS, LAMP): ("room0", "room1", "room2", "lamp"),
    (ROOMS,): ("room2",),
    (LAMP,): ("lamp",),
}
SCRIPT = [  # however often it is asked
    reads(),
    *(
        planned(*names) | {"times": "any", "when": {"user": ANY.join(("Goals to answer", *goals))}}
        for goals, names in ABOUT.items()
    ),
    CODES,
    APPROVES,
]
NAMED = ("push.sent#1", "join.written", "gather.written", "delete-goal-branch.published")  # what is new in such days
SLICES = 6  # `make crash`: every point of three days


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(SCRIPT) as model:
        yield model


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Path]:
    return (tmp_path / str(number) for number in itertools.count())


def fresh(place: Path, model: ScriptedModel) -> tuple[Stage, list[str]]:
    model.requests.clear()
    place.mkdir()
    return house(place, model), [sys.executable, "-m", "tests.journey.three_days", str(place), model.url]


def check(stage: Stage, model: ScriptedModel) -> None:
    """Main has the lamp, the owner's commit and the whole goal, each once; the branch is gone; the books are closed."""
    told = subjects(stage, "main")
    wanted = ["Number all rooms of the house", "Set the number of lamp", "first", "the owner's own"]
    assert sorted(told) == wanted
    assert stage.forge("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"
    assert [stage.forge("show", f"main:room{n}.py") for n in range(3)] == ["NUMBER = 1"] * 3
    assert set(stage.states().values()) == {"completed"} and len(stage.states()) == 5
    assert Counter(pull.state for pull in stage.pulls()) == {"merged": 5}
    with stage.records() as records:
        assert records.db.rows("select key from intents where state = 'planned'") == []
        assert records.journal.unfinished_moves() == []
        used = records.db.rows("select sum(amount) as used from calls where state <> 'refused'")[0]["used"]
        assert used >= model.billed
        assert records.db.rows("select id from calls where state = 'open'") == []
    assert [*stage.home.work.iterdir(), *stage.home.temporary.iterdir()] == []


def survives(point: str | int, place: Path, model: ScriptedModel) -> None:
    stage, argv = fresh(place, model)
    passed = killed_at(point, argv)
    finishes(argv)
    try:
        check(stage, model)
    except AssertionError as failure:
        raise AssertionError(f"killed at {passed[-1]} (point {point}): {failure}") from failure


@pytest.mark.slow
@pytest.mark.parametrize("point", NAMED if EVERY_POINT else NAMED[-1:])
def test_a_kill_at_what_is_done_for_a_branch_is_made_good(
    point: str, places: Iterator[Path], model: ScriptedModel
) -> None:
    survives(point, next(places), model)


@pytest.mark.slow
def test_a_kill_when_the_landing_has_its_commit_is_made_good(places: Iterator[Path], model: ScriptedModel) -> None:
    _, argv = fresh(next(places), model)
    passed = points(argv)
    number = passed.index("gather.written") + 2
    assert passed[number - 1] == "ref.update"
    survives(number, next(places), model)


@at_length
@pytest.mark.slow
@pytest.mark.parametrize("slice_", range(SLICES))
def test_a_kill_at_any_point_of_its_days_loses_and_doubles_nothing(
    slice_: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    _, argv = fresh(next(places), model)
    count = len(points(argv, at_least=250))
    for number in range(slice_ + 1, count + 1, SLICES):
        survives(number, next(places), model)
