"""History: events, attempts and intents; what was booked is there after any end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import Event, State, Tried
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.journal import Journal, MoveReason
from sisimpur.shared.store.task_records import NewAttempt, Outcome
from tests.books import new_book

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
SPEC = TaskSpec("t", "Fix it", "do it", goal_id="g-1", files=("a.py",))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    db = new_book(tmp_path / "agents.db")
    journal = Journal(db)
    journal.born(SPEC, State.BACKLOG, "planned", NOW, "wording")
    yield journal
    db.close()


def go(journal: Journal, source: State, event: Event, outcome: Outcome | None = None, note: str = "") -> None:
    journal.moved(journal.plan_move("t", source, MoveReason(event, note, outcome), NOW))


def tried(journal: Journal) -> Tried:
    return journal.every_task()["t"].tried


def test_a_task_is_born_once(journal: Journal) -> None:
    journal.born(SPEC, State.FAILED, "again", NOW)
    assert journal.every_task()["t"].seen_in is State.BACKLOG


def test_many_that_come_at_once_are_born_together_or_not_at_all(journal: Journal) -> None:
    specs = [replace(SPEC, id=name) for name in ("u", "v")]

    def cut() -> Iterator[tuple[TaskSpec, State]]:
        yield specs[0], State.BACKLOG
        raise RuntimeError("of a story")

    with pytest.raises(RuntimeError):
        journal.all_born(cut(), "dropped", NOW)
    assert set(journal.every_task()) == {"t"}
    journal.all_born(((spec, State.BACKLOG) for spec in (*specs, SPEC)), "dropped", NOW)
    assert set(journal.every_task()) == {"t", "u", "v"}
    assert journal.every_task()["t"].wording == "wording"


def test_a_task_keeps_the_branch_that_it_got_when_it_was_first_seen(tmp_path: Path) -> None:
    db = new_book(tmp_path / "agents.db")
    journal, bengali = Journal(db), replace(SPEC, id="u", title="পরীক্ষা add যোগ করুন")
    journal.all_born([(bengali, State.BACKLOG), (replace(bengali, id="old"), State.BACKLOG)], "planned", NOW)
    with db.transaction() as rows:
        rows.execute("update tasks set head = '' where id = 'old'")  # by a version that spelled Latin only
    journal.born(replace(bengali, title="In other words"), State.BACKLOG, "again", NOW)
    heads = {id_: known.head for id_, known in journal.every_task().items()}
    assert heads == {"u": "agent/u-pariksa-add-yoga-karuna", "old": "agent/old-add"}
    db.close()


def test_an_attempt_is_counted_before_the_run(journal: Journal) -> None:
    journal.plan_move("t", State.BACKLOG, MoveReason(Event.STARTED), NOW)
    assert tried(journal) == Tried(lost=1)


def test_attempts_are_counted_by_how_they_ended(journal: Journal) -> None:
    outcomes: tuple[Outcome, ...] = ("failed", "lost", "void", "ok")
    for outcome in outcomes:
        go(journal, State.BACKLOG, Event.STARTED)
        go(journal, State.IN_PROGRESS, Event.STUMBLED, outcome)
    assert tried(journal) == Tried(failed=1, lost=1)
    assert [(a.number, a.outcome) for a in journal.attempts("t")] == [
        (1, "failed"),
        (2, "lost"),
        (3, "void"),
        (4, "ok"),
    ]


def test_only_the_open_attempt_is_closed(journal: Journal) -> None:
    go(journal, State.BACKLOG, Event.STARTED)
    go(journal, State.IN_PROGRESS, Event.STUMBLED, "failed", "first")
    go(journal, State.BACKLOG, Event.EXHAUSTED, "lost", "second")
    assert [(a.outcome, a.note) for a in journal.attempts("t")] == [("failed", "first")]


def test_the_owner_gives_attempts_back_and_numbers_go_on(journal: Journal) -> None:
    go(journal, State.BACKLOG, Event.STARTED)
    go(journal, State.IN_PROGRESS, Event.EXHAUSTED, "failed")
    go(journal, State.FAILED, Event.RETRIED)
    assert tried(journal) == Tried()
    go(journal, State.BACKLOG, Event.STARTED)
    numbers = [attempt.number for attempt in journal.attempts("t")]
    assert numbers == sorted(set(numbers))


def test_a_planned_move_is_remembered_until_it_is_done(journal: Journal) -> None:
    planned = journal.plan_move("t", State.BACKLOG, MoveReason(Event.STARTED), NOW)
    assert journal.unfinished_moves() == [planned]
    assert (planned.source, planned.target) == (State.BACKLOG, State.IN_PROGRESS)
    journal.moved(planned)
    assert journal.unfinished_moves() == []


def test_a_move_that_the_owner_overtook_costs_nothing(journal: Journal) -> None:
    planned = journal.plan_move("t", State.BACKLOG, MoveReason(Event.STARTED), NOW)
    journal.overtaken(planned, NOW)
    assert journal.unfinished_moves() == []
    assert journal.every_task()["t"].seen_in is State.BACKLOG
    assert tried(journal) == Tried()


def test_an_impossible_event_is_not_booked(journal: Journal) -> None:
    with pytest.raises(ValueError):
        journal.plan_move("t", State.BACKLOG, MoveReason(Event.MERGED), NOW)
    assert journal.history("t") == []


def test_an_intent_is_done_once(journal: Journal) -> None:
    assert journal.intend("t.a1:push", "push", "t", "payload", NOW) is False
    assert journal.intend("t.a1:push", "push", "t", "payload", NOW) is False  # planned is not done: ask, then repeat
    journal.achieved("t.a1:push", "c0ffee")
    assert journal.intend("t.a1:push", "push", "t", "payload", NOW) is True


def test_the_same_intent_with_another_payload_is_a_bug(journal: Journal) -> None:
    journal.intend("t.a1:push", "push", "t", "payload", NOW)
    with pytest.raises(AssertionError, match="another payload"):
        journal.intend("t.a1:push", "push", "t", "other", NOW)


def test_history_survives_a_second_opening(journal: Journal, tmp_path: Path) -> None:
    go(journal, State.BACKLOG, Event.STARTED)
    again = new_book(tmp_path / "agents.db")
    assert Journal(again).every_task() == journal.every_task()
    again.close()


@pytest.mark.parametrize("data", [b"this is no database, but a text that is long enough to be read as a header" * 9])
def test_a_garbage_database_is_named_and_kept(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "garbage.db"
    path.write_bytes(data)
    with pytest.raises(Misconfigured, match=r"garbage.db cannot be used .*; put a copy back, or move it away"):
        Database(path)
    assert path.read_bytes() == data


# --- the gates -----------------------------------------------------------------------------------------------


def submitted(journal: Journal) -> None:
    go(journal, State.BACKLOG, Event.STARTED)
    go(journal, State.IN_PROGRESS, Event.SUBMITTED, "ok")


def test_what_a_kill_kept_from_being_done_for_an_attempt_that_is_overtaken_is_void(journal: Journal) -> None:
    go(journal, State.BACKLOG, Event.STARTED)
    for key in ("t.a1:push", "t.a1:merge", "revert-1:push", "u.a1:merge"):
        journal.intend(key, "effect", key.partition(".")[0], "c0ffee", NOW)
    journal.achieved("t.a1:push", "c0ffee")
    go(journal, State.IN_PROGRESS, Event.SUBMITTED, "ok")
    assert states(journal)["t.a1:merge"] == "planned"
    journal.moved(
        journal.plan_move("t", State.IN_REVIEW, MoveReason(Event.REFRESHED, "", "stale", NewAttempt("c0ffee")), NOW)
    )
    assert states(journal) == {
        "t.a1:push": "done",
        "t.a1:merge": "void",
        "revert-1:push": "planned",
        "u.a1:merge": "planned",
    }


def states(journal: Journal) -> dict[str, str]:
    """Of all intents, by key."""
    rows = journal._db.rows("select key, state from intents")
    return {row["key"]: row["state"] for row in rows}


def test_an_attempt_that_led_to_a_pull_request_is_judged_anew_by_the_gates(journal: Journal) -> None:
    submitted(journal)
    assert tried(journal) == Tried()
    go(journal, State.IN_REVIEW, Event.RED, "sent back", "test_a fails")
    assert tried(journal) == Tried(sent_back=1)
    assert [(a.outcome, a.note) for a in journal.attempts("t")] == [("sent back", "test_a fails")]


def test_an_older_attempt_keeps_its_judgement(journal: Journal) -> None:
    submitted(journal)
    go(journal, State.IN_REVIEW, Event.RED, "sent back", "red")
    submitted(journal)
    go(journal, State.IN_REVIEW, Event.CHANGES, "sent back", "changes")
    assert [a.note for a in journal.attempts("t")] == ["red", "changes"]


def test_a_change_is_brought_up_to_date_by_an_attempt_that_says_from_what(journal: Journal) -> None:
    submitted(journal)
    journal.moved(
        journal.plan_move("t", State.IN_REVIEW, MoveReason(Event.REFRESHED, "", "stale", NewAttempt("c0ffee")), NOW)
    )
    old, new = journal.attempts("t")
    assert (old.outcome, new.outcome, new.refreshes) == ("stale", None, "c0ffee")
    assert tried(journal) == Tried(lost=1, stale=1)


def test_an_intent_knows_what_came_of_it(journal: Journal) -> None:
    journal.intend("t.a1:merge", "merge", "t", "c0ffee", NOW)
    assert (journal.intended("t.a1:merge"), journal.outcome_of("t.a1:merge")) == (True, "")
    journal.achieved("t.a1:merge", "feed")
    assert journal.outcome_of("t.a1:merge") == "feed"


def test_closing_a_pull_request_is_remembered_as_ours_from_the_first_moment(journal: Journal) -> None:
    assert not journal.has_closed("t", 3)
    journal.intend("t.a1:close", "close", "t", "3", NOW)
    assert journal.has_closed("t", 3) and not journal.has_closed("t", 4)
