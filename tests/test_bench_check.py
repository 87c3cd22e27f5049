"""What `make bench-check` calls worse, what it keeps, and what it draws."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import partial
from xml.etree import ElementTree

from bench.chart import Chart, svg
from bench.check import PAGE, accepted, complaints, measured, read_book, table
from bench.rows import ROWS, STANDARD, Measured, spent, together

ONE = dict.fromkeys(ROWS, 10.0)
BOOK = accepted(ROWS, ONE, "2026-11-23", "two processors")
STEPS = (0.1, 1, 1.19, 1.2, 1.21, 7)


def test_a_row_that_is_more_than_a_fifth_over_is_told_and_no_other() -> None:
    for name, step in itertools.product(ROWS, STEPS):
        told = complaints(BOOK, ONE | {name: 10 * step})
        assert [one.partition(":")[0] for one in told] == [name] * (step > 1.2), (name, step)


def test_the_sentence_says_what_takes_how_much_more_than_when() -> None:
    assert complaints(BOOK, {"idle": 15.0}) == [
        "idle: an idle `run-day`, 10,000 old tasks: 15 s CPU, more than a fifth over the 10 accepted on 2026-11-23"
    ]


def test_a_row_that_nobody_has_accepted_fails() -> None:
    assert complaints({}, {"idle": 1.0}) == [
        "idle: nobody has accepted 1 yet; type: make bench-check ARGS=--accept",
    ]


def in_turn(*found: float) -> Callable[[], Measured]:
    left = list(found)
    return lambda: {"idle": left.pop(0)}


def test_what_is_over_once_is_measured_again_and_the_better_figure_counts() -> None:
    assert measured(in_turn(12.0), BOOK) == {"idle": 12.0}
    assert measured(in_turn(13.0, 11.0), BOOK) == {"idle": 11.0}
    assert measured(in_turn(13.0, 14.0), BOOK) == {"idle": 13.0}


def test_work_that_takes_three_times_as_long_is_measured_so_wherever_it_runs() -> None:
    """Also what another process does. The unit is a piece of work that is measured beside it."""
    once, thrice = together(*(partial(burnt, times) for times in (1, 3)), times=5)
    assert 2 < thrice / once < 4.5
    assert spent([sys.executable, "-S", "-c", "sum(range(10**6))"]) > 0 < STANDARD


def burnt(times: int) -> float:
    return spent([sys.executable, "-S", "-I", "-c", f"for n in range({times}): sum(range(4 * 10**6))"])


def test_every_row_is_accepted_and_the_page_shows_what_is() -> None:
    book = read_book()
    assert list(book) == list(ROWS)
    assert table(book) in PAGE.read_text("utf-8")
    assert all(
        (row.what, row.unit, row.target) == (book[n].what, book[n].unit, book[n].target) for n, row in ROWS.items()
    )


def test_a_missed_target_is_called_missed() -> None:
    rows = table(accepted(ROWS, {"idle": 1.3, "status": 0.4, "load": 3.0}, "", "")).splitlines()[2:]
    assert [row.split("|")[-2].strip() for row in rows] == ["", "**missed**", "met"]


def test_what_is_more_is_drawn_higher_and_each_line_is_told() -> None:
    chart = Chart("Cost & age", (1, 10, 100), "tasks", {"day": (1.0, 2.0, 18.0), "<status>": (3.0, 3.0, 3.0)}, goal=4)
    drawn = ElementTree.fromstring(svg(chart))
    dots = [(float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in drawn.iter() if dot.tag.endswith("circle")]
    day, status = dots[:3], dots[3:]
    assert [x for x, _ in day] == [x for x, _ in status] == sorted(x for x, _ in day)
    assert day[0][1] > status[0][1] == status[1][1] > day[2][1] > chart.y(chart.top)
    assert {"Cost & age", "day: 1, 2, 18", "<status>: 3, 3, 3", "target 4", "20"} <= {one.text for one in drawn}
