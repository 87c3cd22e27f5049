"""What a day was counted as stays, whatever is forgotten; what came since is counted anew; all of it by indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sisimpur.shared.record.metrics import Counts, total
from sisimpur.shared.record.metrics_reader import COUNTED, LAST, MetricDays
from sisimpur.shared.store.database import Database
from tests.books import new_book
from tests.homes.frozen import load

KEPT = Path(__file__).parents[1] / "homes" / "0.1.0" / "home" / ".state" / "agents.db.sql"
FIRST, SECOND = "2026-11-20", "2026-11-21"
CAPS = (5 * 10**9, 100 * 10**9)


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Database]:
    """Two days of a home of an earlier version."""
    load(tmp_path / "agents.db", KEPT.read_text("utf-8"))
    with closing(new_book(tmp_path / "agents.db")) as db:
        yield db


def do(db: Database, sql: str) -> None:
    with db.transaction() as rows:
        rows.execute(sql)


def counts(db: Database, day: str = FIRST) -> Counts:
    return MetricDays(db).days()[day]


def test_a_day_is_counted_from_the_books_until_it_is_kept(books: Database) -> None:
    found = counts(books)
    assert (found["tasks_merged/unknown"], found["tasks_ended/unknown"]) == (3, 4)
    assert found["checks/green"] > 0 and found["run_seconds/coder"] > 0 and found["owner_acts/write off"] == 1


def test_what_is_forgotten_later_is_in_the_row(books: Database) -> None:
    before = MetricDays(books).days()
    for day in (FIRST, SECOND, "2026-11-22"):
        MetricDays(books).keep(day, *CAPS)
    do(books, "delete from agent_runs")
    do(books, "delete from lesson_uses")
    assert counts(books) == before[FIRST] and counts(books, SECOND) == before[SECOND]
    (row,) = books.rows("select day_cap, month_cap from metric_days where day = ?", (FIRST,))
    assert tuple(row) == CAPS


def test_what_happens_after_an_evening_is_in_the_next_ones_row(books: Database) -> None:
    """A deploy at night, an answer: the evening of that day did not know."""
    days = MetricDays(books)
    days.keep(FIRST, *CAPS)
    do(books, f"insert into answers values ('g', 'w', 'q', 'yes', '{FIRST}T23:50:00+00:00')")
    assert counts(books)["owner_acts/answer"] == 1
    days.keep("2026-11-25", *CAPS)
    do(books, "delete from answers")
    assert counts(books)["owner_acts/answer"] == 1
    assert [row["day"] for row in books.rows("select day from metric_days")] == [FIRST, SECOND, "2026-11-25"]
    (row,) = books.rows("select day_cap from metric_days where day = ?", (FIRST,))
    assert row["day_cap"] == CAPS[0], "the report of that evening was written with it"


def test_the_same_evening_again_changes_nothing(books: Database) -> None:
    rows = []
    for _ in range(2):
        MetricDays(books).keep(SECOND, *CAPS)
        rows.append([tuple(row) for row in books.rows("select * from metric_days")])
    assert rows[0] == rows[1]


def test_what_the_owner_writes_off_later_counts_as_he_says(books: Database) -> None:
    MetricDays(books).keep(FIRST, *CAPS)
    MetricDays(books).keep(SECOND, *CAPS)
    before = total(MetricDays(books).days())["spent_dollars/coder"]
    do(books, f"update calls set amount = amount + 1000000000 where state = 'settled' and day = '{FIRST}' and id = 8")
    after = total(MetricDays(books).days())
    assert sum(number for key, number in after.items() if key.startswith("spent_dollars")) > before + 0.99


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"rounds": "many"}', "null"])
def test_a_row_that_cannot_be_read_is_counted_anew(books: Database, text: str) -> None:
    found = counts(books)
    for day in (FIRST, SECOND):
        MetricDays(books).keep(day, *CAPS)
    with books.transaction() as rows:
        rows.execute("update metric_days set counts_json = ? where day = ?", (text, FIRST))
    assert counts(books) == found


def test_a_new_home_has_no_figures(tmp_path: Path) -> None:
    with closing(new_book(tmp_path / "agents.db")) as db:
        assert MetricDays(db).days() == {}


def test_a_day_is_counted_by_indexes(books: Database) -> None:
    """Small tables of the owner's own acts are read whole, as is what is in memory."""
    plan = [row["detail"] for row in books.rows(f"explain query plan {COUNTED}", (FIRST, LAST))]
    scanned = {detail.split()[1] for detail in plan if detail.startswith("SCAN") and "VIRTUAL TABLE" not in detail}
    own = {"rulings", "findings_over", "waivers", "answers", "deploy_orders", "cap_raises", "write_offs"}
    assert scanned <= own | {"ended", "of_kind", "looks", "acts", "kinds"}, plan
