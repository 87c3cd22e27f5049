"""Sums of the money book are kept beside its rows: they say the same, and what is shown does not read the rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.ticket import CallEnding
from sisimpur.shared.money.token_budget import TokenUsage
from sisimpur.shared.store.database import SCHEMA, Database, statements
from tests.edges.ledger_sums import kept, reckoned
from tests.edges.test_ledger import NOON, opened, owner, refusal, taken

STEP = SCHEMA / "0024_old_homes.sql"
TRIGGERS = ("trigger call_added", "trigger call_changes", "trigger call_changed", "trigger call_kept")
WITHOUT = (*TRIGGERS, "view call_amounts", "table call_sums", "table day_sums", "index task_events_by_state")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A book with a call of every state, on two days, of two tasks."""
    path = tmp_path / "agents.db"
    ledger = Ledger(Database(path))
    usage = TokenUsage(3, 5, 7, 11, 13)
    for task, now in (("t1", NOON), ("t2", NOON), ("t1", NOON + timedelta(days=1))):
        ticket = opened(ledger, task)
        for end in (ledger.settle, ledger.settle):
            end(taken(ledger, ticket, 100, now=now), 40, CallEnding(usage=usage), now)
        ledger.void(taken(ledger, ticket, 100, now=now), CallEnding(usage=usage), now)
        lost = taken(ledger, ticket, 100, now=now)
        ledger.lost(lost, 100, None, CallEnding(usage=usage), now)
        owner(ledger).write_off(lost.id, 30, "less", now)
        taken(ledger, ticket, 10, now=now)
        refusal(ledger, ticket, 10**9, now=now)
    ledger.close()
    return path


def test_the_sums_are_those_of_the_rows(path: Path) -> None:
    db = Database(path)
    assert kept(db) == reckoned(db)
    assert len(kept(db)[0]) == 3
    db.close()


def test_a_book_of_an_earlier_version_gets_its_sums(path: Path) -> None:
    with closing(sqlite3.connect(path)) as old:
        for what in WITHOUT:
            old.execute(f"drop {what}")
        for statement in statements(STEP.read_text("utf-8")):
            old.execute(statement)
        old.commit()
    db = Database(path)
    assert kept(db) == reckoned(db) and len(kept(db)[1]) == 2
    db.close()


def test_a_row_that_is_rolled_back_is_in_no_sum(path: Path) -> None:
    db = Database(path)
    before = kept(db)
    with pytest.raises(ZeroDivisionError), db.transaction() as connection:
        connection.execute("update calls set amount = 9, state = 'settled' where state = 'open'")
        raise ZeroDivisionError
    assert kept(db) == before == reckoned(db)
    db.close()


def test_no_call_leaves_the_book(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="stays in the book"):
        db.execute("delete from calls where id = 1")
