"""Healthy, sick, or too early to say: laws of the judgement, and which lines of a log are new."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.deployment import HealthLook, Healthy, Rule, Sick, Unsure, judge
from sisimpur.shared.model.text import seen_before

RULE = Rule(grace=30, watch=100, flaps=2, restarts=1)
WRONG, DEAD, LOGGED = "GET / answered 500, not 200", "it exited with 3", "Traceback"

# One look of each kind, without its time.
WELL, AGAIN = HealthLook(0), HealthLook(0, tries=2)
BAD, GONE, LOUD = HealthLook(0, wrong=WRONG, tries=3), HealthLook(0, dead=DEAD), HealthLook(0, logged=LOGGED)
RESTARTED = HealthLook(0, restarts=2)
KINDS = (WELL, AGAIN, BAD, GONE, LOUD, RESTARTED)
TIMES = (1.0, 29.0, 30.0, 99.0, 100.0)


def course(*kinds: HealthLook, every: float = 10.0, first: float = 1.0) -> list[HealthLook]:
    return [replace(kind, at=first + every * number) for number, kind in enumerate(kinds)]


def courses() -> list[list[HealthLook]]:
    """All of up to three looks, at all times in their order."""
    return [
        [replace(kind, at=at) for kind, at in zip(kinds, times, strict=True)]
        for length in (1, 2, 3)
        for kinds in product(KINDS, repeat=length)
        for times in product(TIMES, repeat=length)
        if list(times) == sorted(set(times))
    ]


COURSES = courses()
looks = st.builds(
    HealthLook,
    at=st.floats(0, 200),
    wrong=st.sampled_from(["", WRONG]),
    tries=st.integers(1, 3),
    dead=st.sampled_from(["", "", "", DEAD]),
    restarts=st.integers(0, 3),
    logged=st.sampled_from(["", "", "", LOGGED]),
)
courses_of_any = st.lists(looks, max_size=8).map(lambda found: sorted(found, key=lambda look: look.at))
rules = st.builds(
    Rule, grace=st.floats(0, 100), watch=st.floats(0, 200), flaps=st.integers(0, 3), restarts=st.integers(0, 2)
)


# --- one course after the other ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        pytest.param([], Unsure(is_up=False), id="nobody has looked"),
        pytest.param(course(WELL), Unsure(is_up=True), id="up, and watched on"),
        pytest.param(course(BAD, BAD), Unsure(is_up=False), id="it comes up: pages need not answer yet"),
        pytest.param(
            course(BAD, BAD, every=29), Sick(f"not up after 30 s: {WRONG}"), id="it should have come up by now"
        ),
        pytest.param(course(BAD, WELL, every=60), Unsure(is_up=True), id="late is better than never"),
        pytest.param(course(WELL, BAD), Sick(WRONG), id="what was up has no grace any more"),
        pytest.param(course(GONE), Sick(DEAD), id="nor has what has ended"),
        pytest.param(course(LOUD), Sick(f"its log says: {LOGGED}"), id="nor what complains"),
        pytest.param(course(replace(WELL, restarts=1)), Unsure(is_up=True), id="a restart that is forgiven"),
        pytest.param(course(RESTARTED), Sick("it was started again 2 times by itself"), id="one more is not"),
        pytest.param(course(WELL, AGAIN), Unsure(is_up=True), id="a second try, once"),
        pytest.param(
            course(WELL, AGAIN, AGAIN),
            Sick("it answers only now and then: 2 of 3 looks needed another try"),
            id="now and then",
        ),
        pytest.param(course(AGAIN, AGAIN), Unsure(is_up=True), id="a second try while it comes up is none of them"),
        pytest.param(course(BAD, AGAIN, AGAIN), Unsure(is_up=True), id="however long that takes"),
        pytest.param(course(WELL, WELL, every=99), Healthy(), id="well for its whole time"),
        pytest.param(course(WELL, WELL, every=98.9), Unsure(is_up=True), id="not quite"),
        pytest.param(course(WELL, BAD, every=99), Sick(WRONG), id="sick in the last moment"),
    ],
)
def test_a_course_has_its_verdict(seen: list[HealthLook], verdict: object) -> None:
    assert judge(seen, RULE) == verdict


def test_flapping_may_be_fine() -> None:
    assert judge(course(*[AGAIN] * 9), replace(RULE, flaps=0)) == Unsure(is_up=True)


def test_nothing_is_healthy_that_never_came_up_however_short_it_is_watched() -> None:
    assert judge(course(BAD), replace(RULE, watch=0)) == Unsure(is_up=False)


# --- laws ----------------------------------------------------------------------------------------------------


def test_who_is_healthy_was_well_at_the_last_look_and_watched_to_the_end() -> None:
    for seen in COURSES:
        if judge(seen, RULE) == Healthy():
            last = seen[-1]
            assert last.at >= RULE.watch
            assert not (last.wrong or last.dead or last.logged or last.restarts > RULE.restarts)


def test_who_was_well_to_the_end_of_the_time_is_healthy_unless_it_flapped() -> None:
    for seen in COURSES:
        if seen[-1].at >= RULE.watch and all(look == replace(WELL, at=look.at) for look in seen):
            assert judge(seen, RULE) == Healthy()


def test_nothing_is_unsure_for_ever() -> None:
    """After grace and watching every course has its verdict."""
    for kind in KINDS:
        for before in COURSES:
            late = replace(kind, at=RULE.grace + RULE.watch)
            assert not isinstance(judge([*before, late], RULE), Unsure)


@given(courses_of_any, rules)
def test_each_sickness_has_its_words(seen: list[HealthLook], rule: Rule) -> None:
    verdict = judge(seen, rule)
    assert not isinstance(verdict, Sick) or verdict.why.strip()


@given(courses_of_any, rules)
def test_what_is_dead_is_sick_at_any_time(seen: list[HealthLook], rule: Rule) -> None:
    at = seen[-1].at if seen else 0.0
    assert judge([*seen, HealthLook(at, dead=DEAD)], rule) == Sick(DEAD)


@given(courses_of_any, rules, st.integers(0, 3), st.floats(0, 100))
def test_a_milder_rule_makes_nobody_sick(seen: list[HealthLook], rule: Rule, more: int, longer: float) -> None:
    milder = replace(
        rule,
        grace=rule.grace + longer,
        restarts=rule.restarts + more,
        flaps=rule.flaps + more if rule.flaps else 0,
    )
    if not isinstance(judge(seen, rule), Sick):
        assert not isinstance(judge(seen, milder), Sick)


@given(courses_of_any, rules)
def test_the_time_of_watching_makes_nobody_sick_or_well(seen: list[HealthLook], rule: Rule) -> None:
    sick = isinstance(judge(seen, rule), Sick)
    assert isinstance(judge(seen, replace(rule, watch=rule.watch + 50)), Sick) is sick


@given(courses_of_any, rules)
def test_up_means_that_the_last_look_was_well(seen: list[HealthLook], rule: Rule) -> None:
    verdict = judge(seen, rule)
    if isinstance(verdict, Unsure):
        assert verdict.is_up is bool(seen and seen[-1].is_well)


# --- new lines of a log --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        pytest.param("", "abc", "abc", id="the first look"),
        pytest.param("abc", "abc", "", id="nothing new"),
        pytest.param("abc", "abcde", "de", id="all of it is seen each time"),
        pytest.param("abc", "bcd", "d", id="only its end is"),
        pytest.param("abc", "xyz", "xyz", id="much was printed meanwhile"),
        pytest.param("abc", "ab", "ab", id="begun anew"),
        pytest.param("aab", "abaab", "aab", id="it looks alike"),
        pytest.param("aba", "abac", "c", id="as much as possible was there"),
        pytest.param("abc", "", "", id="turned over"),
    ],
)
def test_only_lines_that_were_not_there_are_new(before: str, now: str, new: str) -> None:
    """A letter for a line."""
    assert now[seen_before(before, now) :] == new


@given(st.lists(st.integers(), unique=True), st.integers(0, 30), st.integers(1, 10))
def test_a_window_that_moves_on_shows_each_line_once(lines: list[int], first: int, width: int) -> None:
    now, later = lines[:first][-width:], lines[-width:]
    fresh = later[seen_before(now, later) :]
    assert fresh == [line for line in later if line not in now]
