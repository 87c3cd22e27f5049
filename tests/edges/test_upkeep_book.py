"""What the team proposed by itself is remembered as it was, once a day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.upkeep.upkeep import KINDS, UpkeepFinding, UpkeepLook, proposal
from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
from sisimpur.shared.store.database import Database
from tests.books import new_book
from tests.killing import finishes, killed_at, snippet

DAY, NEXT = "2026-11-20", "2026-11-21"
FOUND = UpkeepFinding(
    "lint", "app.py", "Tidy app.py", "Tidy.", ("it is tidy",), "it said so", 3, ("app.py",), (), ("b.py",)
)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[UpkeepRepository]:
    db = new_book(tmp_path / "agents.db")
    yield UpkeepRepository(db)
    db.close()


def test_a_look_is_remembered_with_all_that_it_proposed(book: UpkeepRepository) -> None:
    look = UpkeepLook(DAY, ("lint: not looked for today", "nothing else"), (proposal(FOUND, DAY, 1, ("secret/**",)),))
    book.keep(look)
    assert book.look(DAY) == look and book.look(NEXT) is None
    assert book.proposals() == look.proposals and book.goals() == (look.proposals[0].goal,)


def test_the_first_look_of_a_day_counts(book: UpkeepRepository) -> None:
    first = UpkeepLook(DAY, (), (proposal(FOUND, DAY, 1),))
    book.keep(first)
    book.keep(UpkeepLook(DAY, ("nothing worth doing",), (proposal(replace(FOUND, subject="b.py"), DAY, 2),)))
    assert book.look(DAY) == first


def test_proposals_of_all_days_stand_in_their_order(book: UpkeepRepository) -> None:
    for number, day in enumerate((NEXT, DAY), 1):
        book.keep(UpkeepLook(day, (), (proposal(replace(FOUND, subject=day), day, number),)))
    assert [one.subject for one in book.proposals()] == [NEXT, DAY]
    assert book.look(DAY) == UpkeepLook(DAY, (), (book.proposals()[1],))


def test_a_day_is_read_without_the_proposals_of_others(tmp_path: Path) -> None:
    db = new_book(tmp_path / "agents.db")
    for number, day in enumerate((DAY, NEXT), 1):
        UpkeepRepository(db).keep(UpkeepLook(day, (), (proposal(replace(FOUND, subject=day), day, number),)))
    with db.transaction() as rows:
        rows.execute("update upkeep_proposals set task_json = 'not read' where day = ?", (DAY,))
    found = UpkeepRepository(db).look(NEXT)
    db.close()
    assert found and [one.subject for one in found.proposals] == [NEXT]


def test_only_a_task_that_is_to_mend_a_test_has_one(book: UpkeepRepository) -> None:
    mends = replace(FOUND, kind="failing test", subject="tests/test_a.py::test_b[\u00e9 -1]")
    book.keep(UpkeepLook(DAY, (), (proposal(mends, DAY, 1), proposal(FOUND, DAY, 2))))
    found = [book.failing_test(f"20261120-{name}") for name in ("u1", "u2", "u3", "01")]
    assert found == [mends.subject, "", "", ""]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    subject=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    seen=st.text(max_size=200),
    notes=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3),
)
def test_any_words_survive(tmp_path: Path, kind: str, subject: str, seen: str, notes: list[str]) -> None:
    path = tmp_path / "any.db"
    path.unlink(missing_ok=True)
    db = Database(path)
    made = proposal(replace(FOUND, kind=kind, subject=subject, seen=seen), DAY, 1)  # type: ignore[arg-type]
    UpkeepRepository(db).keep(UpkeepLook(DAY, tuple(notes), (made,)))
    found = UpkeepRepository(db).look(DAY)
    db.close()
    assert found and found.proposals == (made,)
    assert found.notes == tuple(one for note in notes if (one := " ".join(note.split())))


KEEPS = """
    import sys
    from pathlib import Path
    from sisimpur.shared.store.database import Database
    from sisimpur.agents.orchestrator.upkeep.upkeep_book import UpkeepRepository
    from tests.edges.test_upkeep_book import DAY, FOUND, UpkeepLook, proposal
    UpkeepRepository(Database(Path(sys.argv[1]))).keep(UpkeepLook(DAY, (), (proposal(FOUND, DAY, 1),)))
"""


def test_a_kill_after_it_is_kept_leaves_all_of_it_and_a_repetition_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "agents.db"
    killed_at("upkeep.looked", snippet(KEEPS, str(path)))
    finishes(snippet(KEEPS, str(path)))
    db = Database(path)
    assert UpkeepRepository(db).look(DAY) == UpkeepLook(DAY, (), (proposal(FOUND, DAY, 1),))
    db.close()
