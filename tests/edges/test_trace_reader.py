"""Any name of what was done leads to its goal, by indexes alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.record.trace import TraceAnchor, tree
from sisimpur.shared.record.trace_reader import TraceReader
from sisimpur.shared.store.database import Database
from tests.homes.frozen import load

KEPT = Path(__file__).parents[1] / "homes" / "0.1.0" / "home" / ".state" / "agents.db.sql"
SUM, ROOMS = "g-fcc5da", "g-6d7d1a"
PUSHED, MERGED = "554b6c17a03bd222f14d3b19d981d19e4194c538", "1550e1dc6a367b0a2deb2d8aee4af6ee93afef38"


class Overheard(Database):
    """The database, and what it was asked."""

    def __init__(self, path: Path) -> None:
        self.asked: dict[str, Sequence[Any]] = {}
        super().__init__(path)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        self.asked[sql] = values
        return super().rows(sql, values)


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Overheard:
    """Two days of a home of an earlier version."""
    path = tmp_path_factory.mktemp("old") / "agents.db"
    load(path, KEPT.read_text("utf-8"))
    return Overheard(path)


@pytest.mark.parametrize(
    ("typed", "number", "found"),
    [
        (SUM, None, TraceAnchor(SUM, "", "goal", SUM)),
        ("g-fc", None, TraceAnchor(SUM, "", "goal", SUM)),
        ("fcc5da", None, TraceAnchor(SUM, "", "goal", SUM)),
        ("20261120-04", None, TraceAnchor(ROOMS, "20261120-04", "task", "20261120-04")),
        ("u1", None, TraceAnchor("m-b6ce53", "20261121-u1", "task", "20261121-u1")),
        ("greeting", None, TraceAnchor("", "greeting", "task", "greeting")),
        ("#1", None, TraceAnchor(SUM, "20261120-01", "pull request", "#1")),
        ("pr", 1, TraceAnchor(SUM, "20261120-01", "pull request", "#1")),
        (PUSHED[:9], None, TraceAnchor(SUM, "20261120-01", "commit", PUSHED)),
        (MERGED[:7], None, TraceAnchor(SUM, "20261120-01", "merge", MERGED)),
        (MERGED, None, TraceAnchor(SUM, "20261120-01", "merge", MERGED)),
        ("deploy", 2, TraceAnchor(SUM, "20261120-01", "deploy", "2")),
    ],
)
def test_a_name_leads_to_its_goal_and_the_node_is_in_the_tree(
    books: Overheard, typed: str, number: int | None, found: TraceAnchor
) -> None:
    reader = TraceReader(books)
    assert reader.find(typed, number) == found
    waiting, asked = [tree(*reader.read(found), found)], 0
    while waiting:
        node = waiting.pop()
        asked += node.is_asked
        waiting += node.parts
    assert asked == 1


@pytest.mark.parametrize(
    ("typed", "number", "words"),
    [
        ("3", None, "'3' fits pull request #3, task 20261120-03"),
        ("02", None, "fits task 20261120-02, task 20261121-02"),
        ("nothing", None, "nothing that was done for a goal is called 'nothing'"),
        ("#99", None, "is called '#99'"),
        ("deploy", 99, "is called 'deploy 99'"),
        ("task", 1, "is called 'task 1'"),
        ("deploy", 1, "deploy 1 brought bad1ba2f, which is no change of a goal's"),
        ("'; drop table tasks --", None, "nothing that was done"),
        ("9" * 5_000, None, "nothing that was done"),
        ("#" + "9" * 20, None, "nothing that was done"),
    ],
)
def test_a_name_that_fits_none_or_several_says_so(books: Overheard, typed: str, number: int | None, words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        TraceReader(books).find(typed, number)


def test_every_question_is_answered_by_an_index(books: Overheard) -> None:
    """A table of values that were given, and the newest vision, are no search."""
    reader = TraceReader(books)
    for typed, number in (("20261120-01", None), (MERGED[:8], None), ("deploy", 2), ("pr", 1), ("g-6d", None)):
        reader.read(reader.find(typed, number))
    assert len(books.asked) > 15
    plans = [
        (row["detail"], sql)
        for sql, values in [*books.asked.items()]
        for row in Database.rows(books, f"explain query plan {sql}", values)
        if row["detail"].startswith("SCAN") and "VIRTUAL TABLE" not in row["detail"]
    ]
    assert {detail for detail, _ in plans} <= {"SCAN visions"}, plans
