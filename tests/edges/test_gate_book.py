"""What the gates found is kept by commit, and nothing that was found about one is believed of another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.evidence import (
    Approved,
    BeforeAndNow,
    ChangesRequested,
    Escalated,
    Evidence,
    Failure,
    FewTests,
    Finding,
    Problem,
    Reviewed,
    Severity,
    SuiteRun,
    Verdict,
)
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.database import SCHEMA, statements
from sisimpur.shared.store.gate_book import (
    MOST_KEPT,
    AwaitingOwner,
    GateRepository,
    OwnerIds,
    RuledOver,
    Ruling,
    reviewed_form,
    reworded,
)
from sisimpur.shared.store.journal import Journal
from tests.books import new_book

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
EVIDENCE = Evidence(
    "c1",
    "t1",
    "b1",
    "pytest",
    "full bubblewrap",
    passed=3,
    new_tests=("a::b",),
    failures=(Failure("a::b", "a.py:3", "AssertionError"),),
    problems=(Problem("a test fails", "a::b fails", "correct", ("a::b",)),),
    covered=81.5,
    uncovered={"a.py": (3, 4)},
    compared=BeforeAndNow(still=FewTests(("a::c",), 1)),
)
FINDING = Finding("a.py", 3, Severity.HIGH, "model", "security", "a hole", "x = 1")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[GateRepository]:
    db = new_book(tmp_path / "agents.db")
    for task in ("t", "u"):
        Journal(db).born(TaskSpec(task, "Fix it", "do it"), State.BACKLOG, "planned", NOW)
    yield GateRepository(db)
    db.close()


def test_the_newest_run_is_told_whichever_base_it_is_of(book: GateRepository) -> None:
    assert book.newest_base() is None
    for commit, hour in (("c1", 1), ("c2", 2)):
        book.keep_base_run(f"base of {commit}", SuiteRun("finished", hour), NOW + timedelta(hours=hour))
    assert book.newest_base() == SuiteRun("finished", 2)
    book.keep_base_run("of a change that nobody merged, or of a tool", SuiteRun("exited", 3), None)
    assert book.newest_base() == SuiteRun("finished", 2)


def test_runs_that_were_not_needed_for_long_leave(book: GateRepository) -> None:
    for number in range(MOST_KEPT + 2):
        book.keep_base_run(f"k{number}", SuiteRun("finished", number), NOW)
        book.keep_base_run("k0", SuiteRun("finished", 0), NOW)  # still in use
    assert book.base_run("k0") and book.base_run(f"k{MOST_KEPT + 1}")
    assert book.base_run("k1") is None


def test_evidence_comes_back_as_it_was_and_belongs_to_one_commit(book: GateRepository) -> None:
    book.begin("check", "t", "c1", NOW)
    book.keep_evidence("t", EVIDENCE)
    assert book.evidence("t", "c1") == EVIDENCE
    assert book.evidence("t", "c2") is None
    assert book.evidence("u", "c1") is None


def test_evidence_of_an_earlier_version_names_no_test_that_failed_before(tmp_path: Path, book: GateRepository) -> None:
    book.begin("check", "t", "c1", NOW)
    book.keep_evidence("t", EVIDENCE)
    with sqlite3.connect(tmp_path / "agents.db") as db:
        db.execute("update gate_runs set answer_json = json_remove(answer_json, '$.compared')")
    assert book.evidence("t", "c1") == replace(EVIDENCE, compared=BeforeAndNow())


@pytest.mark.parametrize(
    "verdict", [Approved((FINDING,)), ChangesRequested((FINDING,)), Escalated("a question", (FINDING,))], ids=type
)
def test_every_verdict_comes_back_as_what_it_is(book: GateRepository, verdict: Verdict) -> None:
    book.begin("review", "t", "c1", NOW)
    reviewed = Reviewed("c1", verdict, frozenset({("a.py", "x = 1")}))
    book.keep_review("t", reviewed)
    assert book.reviewed("t", "c1") == reviewed
    assert book.reviews("t") == (reviewed,)


def test_a_review_is_read_with_its_words_to_look_for_and_an_old_one_without(
    tmp_path: Path, book: GateRepository
) -> None:
    book.begin("review", "t", "c1", NOW)
    reviewed = Reviewed("c1", Approved(), keywords=("lost update", "race"))
    book.keep_review("t", reviewed)
    assert book.reviewed("t", "c1") == reviewed
    with sqlite3.connect(tmp_path / "agents.db") as db:
        db.execute("update gate_runs set answer_json = json_remove(answer_json, '$.keywords')")
    assert book.reviewed("t", "c1") == Reviewed("c1", Approved())


def test_reviews_are_counted_before_they_begin(book: GateRepository) -> None:
    """They cost money, also those that a kill cuts off."""
    book.begin("review", "t", "c1", NOW)
    book.begin("review", "t", "c1", NOW)
    assert [book.begun("review", "t", commit) for commit in ("c1", "c2")] == [2, 0]
    book.not_begun("review", "t", "c1")
    assert book.begun("review", "t", "c1") == 1


def test_runs_of_tests_are_counted_when_they_come_to_no_end(book: GateRepository) -> None:
    """A kill is nobody's attempt: only what ended is one."""
    book.begin("check", "t", "c1", NOW)
    book.begin("check", "t", "c1", NOW)
    assert book.begun("check", "t", "c1") == 0
    book.no_end("t", "c1")
    assert [book.begun("check", "t", commit) for commit in ("c1", "c2")] == [1, 0]


def test_a_change_that_is_tested_again_has_no_evidence_and_waits_for_nobody(book: GateRepository) -> None:
    for task, commit in (("t", "c1"), ("t", "c2"), ("u", "c2")):
        book.begin("check", task, commit, NOW)
        book.no_end(task, commit)
        book.keep_evidence(task, replace(EVIDENCE, commit=commit))
    book.park(AwaitingOwner("t", "s", ("why",)), NOW)
    book.test_again("t")
    assert [book.begun("check", task, commit) for task, commit in (("t", "c2"), ("t", "c1"), ("u", "c2"))] == [0, 1, 1]
    assert book.evidence("t", "c2") is None
    assert book.evidence("t", "c1")
    assert book.evidence("u", "c2")
    assert book.parked("t") is None


def test_the_run_of_a_base_is_kept_by_its_key(book: GateRepository) -> None:
    run = SuiteRun("finished", 1, {"a::b": "failed"}, seconds=1.5)
    book.keep_base_run("k", run, NOW)
    assert book.base_run("k") == run
    assert book.base_run("other") is None


def test_what_waits_says_why_until_it_is_tested_anew(book: GateRepository) -> None:
    book.park(AwaitingOwner("t", "s1", ("a protected path",)), NOW)
    book.park(AwaitingOwner("t", "s2", ("one", "two")), NOW + timedelta(seconds=1))
    assert book.parked("t") == AwaitingOwner("t", "s2", ("one", "two"), NOW + timedelta(seconds=1))
    book.begin("check", "t", "c2", NOW)
    assert book.parked("t") is None


@pytest.mark.parametrize(
    ("said", "approved"),
    [
        pytest.param([("approve", "s1")], True, id="approved"),
        pytest.param([("approve", "s2")], False, id="another change"),
        pytest.param([("approve", "s1"), ("reject", "s1")], False, id="the last word counts"),
        pytest.param([], False, id="nothing said"),
    ],
)
def test_an_approval_is_about_exactly_one_change(
    book: GateRepository, said: list[tuple[str, str]], approved: bool
) -> None:
    for kind, subject in said:
        book.rule("t", Ruling(kind, subject, "", NOW))  # type: ignore[arg-type]
    assert book.is_approved(AwaitingOwner("t", "s1", ())) is approved
    assert not book.is_approved(AwaitingOwner("u", "s1", ()))


def test_an_approval_is_for_the_words_that_the_owner_read_beside_the_change(book: GateRepository) -> None:
    terms = (("its goal", "A"), ("its text", "T"))
    book.park(AwaitingOwner("t", "s1", ("why",), terms=terms), NOW)
    asked = book.parked("t")
    assert asked and asked.terms == terms
    book.rule("t", Ruling("approve", "s1", "", NOW, asked.terms))
    assert book.is_approved(asked)
    assert book.is_approved(replace(asked, terms=(("its goal", "A"),))), "what nobody can read now is not another"
    assert not book.is_approved(replace(asked, terms=(("its goal", "B"), ("its text", "T"))))
    assert reworded(terms, (("its goal", ""), ("its text", "T"))) == (
        'when you approved it, its goal said "A"; now nothing: approve it again, or reject it',
    )


def test_what_the_coder_says_is_about_one_commit_or_about_the_task(book: GateRepository) -> None:
    book.keep_coder_words("t", "", "it is there already", NOW)
    book.keep_coder_words("t", "c1", "the name is quoted", NOW)
    book.keep_coder_words("t", "c1", "the name is quoted twice", NOW)
    said = [book.coder_said("t"), book.coder_said("t", "c1"), book.coder_said("t", "c2"), book.coder_said("u", "c1")]
    assert said == ["it is there already", "the name is quoted twice", "", ""]


def test_a_database_of_before_the_gates_keeps_its_attempts(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / "agents.db")
    for step in sorted(SCHEMA.glob("*.sql"))[:3]:
        for statement in statements(step.read_text("utf-8")):
            old.execute(statement)
    old.execute("insert into tasks values ('t', 'Fix it', '', '', 'high', '2026')")
    old.execute("insert into attempts values ('t', 1, 0, '2026-01-01', '2026-01-02', 'failed', 'why')")
    old.execute("pragma user_version = 3")
    old.commit()
    old.close()
    (attempt,) = Journal(new_book(tmp_path / "agents.db")).attempts("t")
    assert (attempt.number, attempt.outcome, attempt.note, attempt.refreshes) == (1, "failed", "why", "")


def test_a_word_over_a_finding_is_kept_for_its_task(book: GateRepository) -> None:
    ruled = RuledOver(FINDING.signature, "security at a.py:3", "it is ours", NOW)
    book.rule_over("t", replace(ruled, why="", at=NOW - timedelta(hours=1)))
    book.rule_over("t", ruled)
    assert (book.ruled_over("t"), book.ruled_over("u")) == ([ruled], [])


def test_a_review_of_an_earlier_version_has_no_word_for_the_owner(book: GateRepository) -> None:
    old = reviewed_form().validate_json('{"commit": "c1", "verdict": {"findings": [], "kind": "approved"}}')
    assert (old.word, old.heard, old.holds) == ("", "", False)


def test_an_owners_login_is_the_account_that_it_was_first(tmp_path: Path) -> None:
    """The next process knows it, too; that somebody else has the login by now is told once."""
    db, told = new_book(tmp_path / "agents.db"), list[str]()
    assert OwnerIds(db, lambda: NOW, told.append).first("alice", 0) == 0
    assert OwnerIds(db, lambda: NOW, told.append).first("alice", 5) == 5
    again = OwnerIds(db, lambda: NOW, told.append)
    assert [again.first("alice", number) for number in (5, 9, 9, 0)] == [5] * 4
    (line,) = told
    assert "alice at the forge is another account than before" in line and "`alice#9`" in line
    db.close()
