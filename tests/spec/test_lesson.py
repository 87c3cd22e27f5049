"""When a lesson is kept, what fits into it, and which ones an agent is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.memory.lesson import (
    MOST_IN_A_PROMPT,
    Lesson,
    bounded,
    expiry,
    fading,
    for_prompt,
    helps,
    is_kept,
)
from sisimpur.shared.words.synonyms import GROUPS, kindred

DAY = "2026-11-20"
LESSON = Lesson(1, "coder", "Read the file again.", expires=expiry(DAY))


@pytest.mark.parametrize(
    ("used", "passed", "helped"),
    [
        pytest.param(0, 0, True, id="never used: nobody can tell"),
        pytest.param(3, 0, True, id="too few to tell"),
        pytest.param(4, 1, False, id="most went wrong"),
        pytest.param(4, 2, True, id="half of them went well"),
        pytest.param(9, 4, False, id="more than half went wrong"),
    ],
)
def test_a_lesson_has_to_help_once_it_was_used_often_enough(used: int, passed: int, helped: bool) -> None:
    lesson = replace(LESSON, used=used, passed=passed)
    assert helps(lesson) is is_kept(lesson, DAY) is helped


def test_a_lesson_lives_for_ninety_days() -> None:
    assert expiry(DAY) == "2027-02-18"
    assert is_kept(LESSON, "2027-02-18") and not is_kept(LESSON, "2027-02-19")


def test_a_prompt_holds_the_first_three_and_none_that_say_the_same() -> None:
    texts = ["One.", "one. ", "Two.", "Three.", "Four."]
    shown = for_prompt([replace(LESSON, number=number, text=text) for number, text in enumerate(texts)])
    assert [lesson.text for lesson in shown] == ["One.", "Two.", "Three."]
    assert len(shown) == MOST_IN_A_PROMPT


@given(st.text(max_size=3_000), st.lists(st.text(max_size=300), max_size=30))
def test_whatever_is_learned_fits_on_a_line_and_can_be_stored(text: str, words: list[str]) -> None:
    lesson = bounded(Lesson(1, "qa", text, text, tuple(words), tuple(words), text))
    told = (lesson.text, lesson.signature, lesson.origin, *lesson.keywords, *lesson.files)
    assert all(one.isprintable() and one.encode() is not None and one == " ".join(one.split()) for one in told)
    assert max(map(len, told)) <= 500 and len(lesson.keywords) <= 12 and len(lesson.files) <= 10
    assert bounded(lesson) == lesson


def test_words_that_fit_are_left_alone_and_said_once() -> None:
    lesson = bounded(replace(LESSON, keywords=("on_commit", " ", "on_commit", "foreign  key"), files=("a b.py",)))
    assert (lesson.text, lesson.keywords, lesson.files) == (LESSON.text, ("on_commit", "foreign key"), ("a b.py",))


def test_the_expired_the_useless_and_the_least_useful_go() -> None:
    lessons = [
        replace(LESSON, number=1, expires="2026-11-19"),
        replace(LESSON, number=2, used=5, passed=1),
        replace(LESSON, number=3),
        replace(LESSON, number=4, used=3),
        replace(LESSON, number=5, used=3, passed=2),
        replace(LESSON, number=6),
    ]
    assert [lesson.number for lesson in fading(lessons, DAY)] == [1, 2]
    assert [lesson.number for lesson in fading(lessons, DAY, most=3)] == [1, 2, 4]  # three times, and never any good
    assert [lesson.number for lesson in fading(lessons, DAY, most=2)] == [1, 2, 3, 4]  # the older of two unproven ones
    assert [lesson.number for lesson in fading(lessons, DAY, most=0)] == [1, 2, 3, 4, 5, 6]


# --- words that stand for one another ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "meant"), [("pictures", "image"), ("e-mails", ""), ("emailed", "smtp"), ("xyzzy", "")]
)
def test_a_word_leads_to_those_that_are_said_instead(said: str, meant: str) -> None:
    assert meant in kindred([said]) if meant else kindred([said]) == ()


@given(st.lists(st.sampled_from(GROUPS.split()) | st.text(max_size=12), max_size=20))
def test_what_was_said_is_not_said_again(words: list[str]) -> None:
    found = kindred(words)
    assert not {*found} & {*words} and len(found) == len({*found})
