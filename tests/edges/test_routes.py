"""How a run of the coder asks its model: by what the books say, and never by what anybody hopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.coder.agent import Routes
from sisimpur.cli.wiring.model import Caching
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.work import Correction, Difficulty, ModelChoice, Run, TaskSpec
from sisimpur.shared.money.savings import ENOUGH, Route
from sisimpur.shared.money.ticket import TicketOrder
from sisimpur.shared.system.clock import ManualClock
from tests.books import new_book
from tests.edges.test_ledger_savings import DAY, HAIKU, NOON, SONNET, USAGE, Books, order

USUAL = ModelChoice(SONNET, effort="low", max_tokens=16_000)
CHEAP = ModelChoice(HAIKU, effort="low", max_tokens=16_000)
EASY = TaskSpec("20261120-01", "T", "x", difficulty=Difficulty.EASY)
CORRECTION = Correction("c1", "it is red")


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    db = new_book(tmp_path / "agents.db")
    yield Books(db)
    db.close()


def routed(books: Books, easy: str = HAIKU, correction: Correction | None = None, task: TaskSpec = EASY) -> Route:
    routes = Routes(books.savings, books.pricing, ManualClock(NOON), USUAL, easy)
    return routes(Run(1, "coder", DAY, task.id, 9), task, correction)


# --- which model ---------------------------------------------------------------------------------------------


def test_the_first_try_at_an_easy_task_is_the_cheap_models_and_is_measured_by_the_dear_one(books: Books) -> None:
    assert routed(books) == Route(CHEAP, SONNET)


def test_without_a_cheap_model_it_is_measured_all_the_same(books: Books) -> None:
    """So that it is known what such a task costs, on the day on which there is one."""
    assert routed(books, easy="") == Route(USUAL, SONNET)


def test_a_correction_a_later_try_and_a_harder_task_are_the_dear_models_and_measure_nothing(books: Books) -> None:
    assert routed(books, correction=CORRECTION) == Route(USUAL)
    assert routed(books, task=TaskSpec("20261120-01", "T", "x")) == Route(USUAL)
    books.first_try(EASY.id)
    books.moves(EASY.id, State.IN_PROGRESS, Event.STUMBLED, "failed")
    assert routed(books) == Route(USUAL)


def test_a_model_that_only_fails_rests(books: Books) -> None:
    for number in range(ENOUGH):
        assert routed(books).model == CHEAP
        books.first_try(f"t{number}")
        books.moves(f"t{number}", State.IN_PROGRESS, Event.STUMBLED, "failed")
    assert routed(books) == Route(USUAL, SONNET)
    assert routed(books, easy="claude-haiku-4-5").model.model == "claude-haiku-4-5", "another one is not to blame"


# --- whether its prompt is kept ------------------------------------------------------------------------------


def runs(books: Books, *calls: int) -> None:
    """Each on a task of its own."""
    for number, count in enumerate(calls):
        books.calls(order("coder", f"t{number}", 1, SONNET), [USAGE] * count)


@pytest.mark.parametrize(
    ("calls", "marks"),
    [
        pytest.param((), False, id="nothing is known"),
        pytest.param((1,) * 20, False, id="each run asks once: written and never read"),
        pytest.param((7,), False, id="seven calls are too few to tell"),
        pytest.param((8,), True, id="eight are enough"),
        pytest.param((1,) * 18 + (6,), False, id="five of 24: even"),
        pytest.param((1,) * 17 + (6,), True, id="five of 23"),
    ],
)
def test_a_prompt_is_marked_where_runs_ask_again_often_enough(
    books: Books, calls: tuple[int, ...], marks: bool
) -> None:
    runs(books, *calls)
    assert routed(books, easy="").marks is routed(books, correction=CORRECTION).marks is marks
    assert not routed(books).marks, "of another model nothing is known"


def test_a_turn_that_only_writes_tests_is_not_marked(books: Books) -> None:
    """Its files are others than the coder's: nobody begins as it does."""
    runs(books, 8)
    writes = replace(CORRECTION, tests=replace(EASY, new_files=("tests/test_a.py",)))
    assert routed(books, correction=CORRECTION).marks and not routed(books, correction=writes).marks


# --- the questions of the other agents -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "size", "keeps"),
    [
        pytest.param(SONNET, 4_096, True, id="long enough"),
        pytest.param(SONNET, 4_095, False, id="too short to be kept"),
        pytest.param(HAIKU, 4_096, False, id="this one keeps only longer ones"),
        pytest.param("nobody-1", 10**6, False, id="nobody knows its price"),
    ],
)
def test_a_beginning_is_kept_if_it_is_long_enough_and_reading_is_cheaper(
    books: Books, model: str, size: int, keeps: bool
) -> None:
    assert Caching(books.savings, books.pricing, ManualClock(NOON)).keeps(model, size) is keeps


def test_a_turn_that_is_usually_the_last_one_is_not_kept(books: Books) -> None:
    caching = Caching(books.savings, books.pricing, ManualClock(NOON))
    for number in range(ENOUGH):
        assert caching.goes_on("researcher", SONNET, 2), "until enough is known"
        books.calls(_question(number), [USAGE] * 2)
    assert caching.goes_on("researcher", SONNET, 1)
    assert not caching.goes_on("researcher", SONNET, 2)
    for number in range(3):
        books.calls(_question(ENOUGH + number), [USAGE] * 3)
    assert caching.goes_on("researcher", SONNET, 2), "three of eleven went on: more than the quarter that it costs"


def _question(number: int) -> TicketOrder:
    return replace(order("researcher", "r", 1, SONNET), run=Run(number, "researcher", DAY, "r", 1))
