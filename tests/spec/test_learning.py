"""What is learned from which history, and what fits what is about to be done."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.memory.lesson import Lesson, Situation, bounded, signature
from sisimpur.agents.orchestrator.memory.lesson_text import (
    LONGEST_LINE,
    ReviewComplaint,
    SeenOfTry,
    TaskSetback,
    begins,
    chosen,
    comes_back,
    fits,
    gave_up,
    line,
    mended,
    named_files,
    rejected,
    rolled_back,
    seen_of,
    setback,
    sick,
    teaches,
    title_words,
)
from sisimpur.shared.model.evidence import (
    Approved,
    ChangesRequested,
    Evidence,
    Failure,
    Finding,
    Problem,
    Reviewed,
    Severity,
)

KIND = "NameError: name 'total' is not defined"
FAILS = Problem("a test fails", "tests/test_a.py::test_sum fails at a.py:3", "correct")
MISSING = Problem("nothing shows the new behaviour", "nothing shows what the change does", "write tests")
TRACE = Failure("tests/test_a.py::test_sum", "a.py:3", f"def test_sum():\n>   total()\nE   {KIND}\n\na.py:3: NameError")
GREEN = Evidence("c", "t", "b", "pytest", "bwrap")
RED = replace(GREEN, problems=(FAILS,), failures=(TRACE,))
NAMES = Finding("a.py", 3, Severity.MEDIUM, "model", "naming", "Call it what it holds.")
TYPO = replace(NAMES, severity=Severity.LOW, rule="spelling")
ASKED = Reviewed("c", ChangesRequested((TYPO, NAMES)))
GOOD = Reviewed("c", Approved())

# --- what went wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "evidence", "reviewed", "found"),
    [
        pytest.param("x", RED, None, TaskSetback(KIND, (KIND,), ("a test fails",)), id="red: what the trace ends with"),
        pytest.param(
            "x",
            replace(RED, failures=(Failure("t", "", "AssertionError"),)),
            None,
            TaskSetback(FAILS.text, (), ("a test fails",)),
            id="red, and the trace tells nothing: the problem's own words",
        ),
        pytest.param(
            "x",
            replace(RED, failures=(), output="noise\nMemoryError: out\n"),
            None,
            TaskSetback("MemoryError: out", ("MemoryError: out",), ("a test fails",)),
            id="the run broke: what it printed last",
        ),
        pytest.param(
            "x",
            GREEN,
            ASKED,
            TaskSetback("naming: Call it what it holds.", ("naming (model)",), ("naming",)),
            id="the reviewer asked: what is no mere comment",
        ),
        pytest.param(
            "x",
            GREEN,
            replace(ASKED, keywords=("lost update",)),
            TaskSetback("naming: Call it what it holds.", ("naming (model)",), ("naming",), ("lost update",)),
            id="and in the reviewer's words",
        ),
        pytest.param("nothing shows", replace(GREEN, problems=(MISSING,)), None, None, id="only tests were missing"),
        pytest.param(
            "cut: HTTP error 500\nmore",
            GREEN,
            replace(GOOD, keywords=("gateway",)),
            TaskSetback("cut: HTTP error 500", (signature("cut: HTTP error 500\nmore"),), (), ("gateway",)),
            id="it was good, and sick where it was deployed",
        ),
        pytest.param(
            "the engine changed nothing",
            None,
            None,
            TaskSetback("the engine changed nothing"),
            id="it led to no commit",
        ),
        pytest.param("", None, None, None, id="nobody knows why"),
    ],
)
def test_what_is_seen_of_a_try_that_did_not_pass(
    note: str, evidence: Evidence | None, reviewed: Reviewed | None, found: TaskSetback | None
) -> None:
    assert setback(note, evidence, reviewed) == found


def test_each_kind_of_failure_is_known_once_and_five_at_most() -> None:
    traces = [Failure(f"t{n}", "", f"KeyError: 'k{'xyzabcdefg'[n // 2]}'") for n in range(20)]
    found = setback("", replace(RED, failures=tuple(traces)), None)
    assert found and len(found.kinds) == 5 == len({*found.kinds}) and found.what == found.kinds[0]


# --- what is learned -----------------------------------------------------------------------------------------


def test_a_merge_after_a_failure_says_what_it_was_and_where_it_was_mended() -> None:
    seen = TaskSetback(KIND, (KIND, "other"), ("a test fails",))
    lesson = mended("Fix the carts in shop/a.py", seen, ("shop/a.py",), ("shop/a.py", "tests/test_a.py"), "t.a2")
    assert lesson == Lesson(
        0,
        "coder",
        f"“Fix the carts in shop/a.py” first came to: {KIND}. A change of shop/a.py mended it.",
        KIND,
        ("a test fails", "carts"),
        ("shop/a.py", "tests/test_a.py"),
        "t.a2",
    )
    assert mended("Fix it", TaskSetback("x"), (), (), "t.a2").text == "“Fix it” first came to: x."


@pytest.mark.parametrize(
    ("days", "learned"),
    [
        pytest.param({"t1": "2026-11-20"}, False, id="one task, however often"),
        pytest.param({"t1": "2026-11-19", "t2": "2026-11-20"}, True, id="two tasks, one of them today"),
        pytest.param({"t1": "2026-11-19", "t2": "2026-11-19"}, False, id="none today: it was told then"),
        pytest.param({"t1": "2026-10-22", "t2": "2026-11-20"}, True, id="within thirty days"),
        pytest.param({"t1": "2026-10-21", "t2": "2026-11-20"}, False, id="longer ago"),
        pytest.param({"t1": "2026-11-21", "t2": "2026-11-20"}, False, id="what comes tomorrow does not count"),
    ],
)
def test_a_rule_that_comes_back_in_another_task_within_a_month_is_learned(days: dict[str, str], learned: bool) -> None:
    complaints = [ReviewComplaint(task, day, NAMES) for task, day in days.items() for _ in range(2)]
    found = list(comes_back(complaints, "2026-11-20"))
    assert len(found) == learned
    if learned:
        assert found[0].text == "The reviewer sends changes back for “naming”: Call it what it holds."
        assert (found[0].signature, found[0].files, found[0].origin) == ("naming (model)", ("a.py",), "t2")


def test_of_a_rule_the_oldest_sentence_is_told_and_a_mere_comment_is_no_rule() -> None:
    other = replace(NAMES, text="Another name, please.", path="b.py")
    complaints = [ReviewComplaint("t2", "2026-11-20", other), ReviewComplaint("t1", "2026-11-18", NAMES)]
    comments = [ReviewComplaint(task, "2026-11-20", TYPO) for task in ("t1", "t2")]
    (lesson,) = comes_back([*complaints, *comments], "2026-11-20")
    assert lesson.text == f"{begins('naming')} {NAMES.text}" and lesson.files == ("a.py", "b.py")


def test_what_is_told_already_is_not_learned_again_whatever_its_words_are() -> None:
    complaints = [ReviewComplaint(task, "2026-11-20", NAMES, ("a word",)) for task in ("t1", "t2")]
    (lesson,) = comes_back(complaints, "2026-11-20", ["naming", begins("naming things")])
    assert list(comes_back(complaints, "2026-11-20", [lesson.text])) == []


def test_the_reviewer_s_words_come_first_in_every_lesson() -> None:
    words = ("lost update", "race")
    seen = TaskSetback(KIND, (KIND,), ("a test fails",), words)
    complaints = [
        ReviewComplaint("t1", "2026-11-19", NAMES, words),
        ReviewComplaint("t2", "2026-11-20", NAMES, ("race", *(f"w{n}" for n in range(9)))),
    ]
    assert mended("Fix the carts", seen, (), (), "t.a2").keywords == (*words, "a test fails", "carts")
    assert gave_up("Fix the carts", (), "why", "t.a3", words).keywords == (*words, "carts")
    assert rolled_back("Fix the carts", "x", (), "t.a1", words).keywords == (*words, "carts")
    assert rejected("coder", "Fix the carts", "no accounts", "t.a1", words).keywords == (*words, "carts", "accounts")
    (again,) = comes_back(complaints, "2026-11-20")
    assert again.keywords == (*words, "w0", "w1", "w2", "w3", "naming", "holds")


def test_the_same_words_of_two_sources_are_two_rules() -> None:
    linted = replace(NAMES, source="ruff")
    complaints = [ReviewComplaint("t1", "2026-11-20", NAMES), ReviewComplaint("t2", "2026-11-20", linted)]
    assert list(comes_back(complaints, "2026-11-20")) == []


def test_a_rejection_a_surrender_and_a_rollback_say_which_task_and_why() -> None:
    no = rejected("planner", "Add a login page", "no accounts,\n  ever", "t.a1")
    assert no.text == "The owner did not want “Add a login page”: no accounts, ever"
    assert (no.agent, no.keywords) == ("planner", ("login", "accounts", "ever"))
    tired = gave_up("Fix the carts", ("a.py", "b.py"), "the engine changed nothing", "t.a3")
    assert tired.text == "“Fix the carts” (a.py, b.py) used up its attempts: the engine changed nothing"
    assert (tired.agent, tired.files) == ("planner", ("a.py", "b.py"))
    note = sick("production", "KeyError: 'rate'")
    taken_back = rolled_back("Fix the carts", note, ("a.py",), "t.a1")
    assert taken_back.text.startswith("“Fix the carts”: it was merged, deployed and rolled back: production: Key")
    seen = setback(note, GREEN, GOOD)
    assert seen and seen.kinds == (taken_back.signature,) == ("KeyError: 'rate'",), "the next that ends so is known"


# --- whether a lesson helped ----------------------------------------------------------------------------------

NAMED = "NameError: name 'a' is not defined"
STYLE = "naming (model)"


@pytest.mark.parametrize(
    ("before", "now", "avoided"),
    [
        pytest.param((), SeenOfTry(tests=frozenset()), (), id="nothing was expected"),
        pytest.param(
            (SeenOfTry(tests=frozenset({NAMED})),), SeenOfTry(tests=frozenset()), (NAMED,), id="it did not come"
        ),
        pytest.param(
            (SeenOfTry(tests=frozenset({NAMED})),), SeenOfTry(tests=frozenset({NAMED})), (), id="it came again"
        ),
        pytest.param((SeenOfTry(tests=frozenset({NAMED})),), SeenOfTry(own=frozenset()), (), id="nobody has looked"),
        pytest.param(
            (SeenOfTry(review=frozenset({STYLE})), SeenOfTry(tests=frozenset({NAMED}))),
            SeenOfTry(tests=frozenset()),
            (NAMED,),
            id="the tests looked, the reviewer did not",
        ),
        pytest.param(
            (SeenOfTry(own=frozenset({"edits failed"})),),
            SeenOfTry(own=frozenset(), tests=frozenset({NAMED})),
            ("edits failed",),
            id="another failure came instead",
        ),
    ],
)
def test_a_failure_is_avoided_if_it_was_expected_and_looked_for_in_vain(
    before: tuple[SeenOfTry, ...], now: SeenOfTry, avoided: tuple[str, ...]
) -> None:
    assert now.avoided(before) == set(avoided)


def test_a_run_without_an_end_may_hide_a_failure() -> None:
    unfinished = replace(GREEN, output="killed")
    assert seen_of("", unfinished, None).tests is None and seen_of("", GREEN, None).tests == frozenset()


# --- the lower bound -----------------------------------------------------------------------------------------

LESSON = Lesson(3, "coder", "x", KIND, ("a test fails", "carts", "prices", "rounding"), ("shop/a.py",), "t9.a2")


@pytest.mark.parametrize(
    ("situation", "fit"),
    [
        pytest.param(Situation("coder", "", KIND), True, id="the same failure"),
        pytest.param(Situation("coder", "", "KeyError: 'x'"), False, id="another failure"),
        pytest.param(Situation("coder", "Rounding of prices"), True, id="two words that tell"),
        pytest.param(Situation("coder", "Rounding of numbers"), False, id="one word that tells"),
        pytest.param(Situation("coder", "Fix a test that fails, and prices"), False, id="words that stand everywhere"),
        pytest.param(Situation("coder", "", files=("shop/a.py", "b.py")), False, id="a file alone"),
        pytest.param(Situation("coder", "Rounding", files=("shop/a.py",)), True, id="one word about the same file"),
        pytest.param(Situation("coder", "", files=("other/a.py",)), False, id="a file of the same name elsewhere"),
        pytest.param(Situation("coder", ""), False, id="nothing"),
    ],
)
def test_only_what_has_enough_in_common_is_told(situation: Situation, fit: bool) -> None:
    assert fits(LESSON, situation) is fit


def test_no_failure_is_not_the_same_as_no_failure() -> None:
    assert not fits(replace(LESSON, signature=""), Situation("coder", ""))


def test_of_what_fits_the_best_come_first_without_doubles_and_without_the_task_s_own() -> None:
    at = Situation("coder", "", KIND)
    other, own = replace(LESSON, number=4, text="y", origin="t8.a1"), replace(LESSON, number=5, text="z")
    twin, weak = replace(other, number=6), replace(other, number=7, signature="", keywords=(), files=(), text="w")
    found = [(one, at) for one in (own, other, twin, weak, replace(other, number=8, text="v"))]
    assert [one.number for one in chosen(found, "t9", 3)] == [4, 8]
    assert [one.number for one in chosen(found, "t9", 1)] == [4]
    assert [one.number for one in chosen(found, "", 9)] == [5, 4, 8]


def test_words_of_a_title_are_those_that_tell_and_files_stand_apart() -> None:
    assert title_words("Fix the rounding in shop/a.py and update its tests") == ("rounding",)
    assert named_files("Fix shop/a.py, see `b.html`. Version 1.2 is old; e.g. this") == ("shop/a.py", "b.html", "e.g")


# --- in a prompt ---------------------------------------------------------------------------------------------


def test_a_line_says_what_since_when_and_from_which_task() -> None:
    lesson = replace(LESSON, learned="2026-11-20")
    assert line(lesson) == "x (learned on 2026-11-20 from t9)"
    assert line(replace(lesson, origin="t9")) == line(lesson)
    assert line(replace(lesson, origin="")).endswith("from nobody knows where)")


@given(st.text(max_size=900), st.text(max_size=300))
def test_a_line_is_one_line_and_short_whatever_it_says(text: str, origin: str) -> None:
    lesson = bounded(replace(LESSON, text=f"a{text}", origin=origin))
    told = line(replace(lesson, learned="2026-11-20"))
    assert len(told) <= LONGEST_LINE and len(told.splitlines()) == 1 and "learned on 2026-11-20" in told


@pytest.mark.parametrize(
    ("setback", "times", "is_mended", "taught"),
    [
        pytest.param(TaskSetback(KIND, (KIND,), ("a test fails",)), 1, True, True, id="another change mended it"),
        pytest.param(TaskSetback(KIND, (KIND,), ("a test fails",)), 1, False, False, id="it passed as it was"),
        pytest.param(TaskSetback("killed", (), ("no evidence",)), 1, True, False, id="no end, once: perhaps a kill"),
        pytest.param(TaskSetback("killed", (), ("no evidence",)), 2, True, True, id="no end, again: a loop"),
        pytest.param(TaskSetback("OSError: [Errno N] No space left on device"), 3, True, False, id="a full disk"),
        pytest.param(TaskSetback("x", ("OSError: Too many open files",)), 1, True, False, id="seen behind it"),
    ],
)
def test_only_what_another_change_mended_is_a_lesson(
    setback: TaskSetback, times: int, is_mended: bool, taught: bool
) -> None:
    assert teaches(setback, times, is_mended) is taught
