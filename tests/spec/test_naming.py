"""Names that are ours."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.naming import (
    attempt_ref,
    branch_name,
    fits,
    goal_branch,
    is_agent_branch,
    is_landing,
    is_task_id,
    is_upkeep,
    landing_task,
    slug,
    upkeep_task,
)

IDS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,79}", fullmatch=True).filter(is_task_id)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        pytest.param("Add a login page", "add-a-login-page", id="words"),
        pytest.param("Ärger mit Café-Größen", "arger-mit-cafe-groen", id="accents fall off"),
        pytest.param("পরীক্ষা যোগ করুন", "pariksa-yoga-karuna", id="Bengali"),
        pytest.param("বাংলা ভাষা ২ বার", "banla-bhasa-2-bara", id="Bengali digits"),
        pytest.param("परीक्षा जोड़ें", "pariksa-joden", id="Devanagari"),
        pytest.param("౸ বার ౹", "four-bara-four", id="a digit that no number is made of"),
        pytest.param("Добавь вход ещё", "dobav-vhod-ieshchio", id="Cyrillic"),
        pytest.param("ログイン login 로그인", "roguin-login-rogeuin", id="kana and Hangul"),
        pytest.param("登录 🎉", "", id="a script whose letters have no sound in their names: the id alone is left"),
        pytest.param("", "", id="empty"),
        pytest.param("---rm -rf /", "rm-rf", id="no dash in front"),
        pytest.param("release.lock", "release-lock", id="no .lock"),
        pytest.param("a..b @{-1} refs/heads/main", "a-b-1-refs-heads-main", id="nothing of git's language"),
        pytest.param("x" * 300, "x" * 40, id="300 letters are cut"),
        pytest.param(
            "one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight", id="words"
        ),
    ],
)
def test_slug(title: str, expected: str) -> None:
    assert slug(title) == expected


@given(st.text(max_size=300))
def test_a_slug_is_always_plain_and_short(title: str) -> None:
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug(title)) and len(slug(title)) <= 40


def test_each_digit_of_unicode_stands_in_some_branch() -> None:
    """Some bear the word and are none."""
    numbers = [letter for letter in map(chr, range(0x20000)) if unicodedata.numeric(letter, None) is not None]
    assert len(numbers) > 1_500 and all(is_agent_branch(branch_name("t", f"ক {letter}")) for letter in numbers)


@given(IDS, st.text(max_size=300))
def test_every_branch_that_we_name_is_known_as_ours(task_id: str, title: str) -> None:
    assert is_agent_branch(branch_name(task_id, title))
    assert branch_name(task_id, title).startswith(f"agent/{task_id}")


@given(IDS, st.integers(1, 99))
def test_the_branches_of_a_goal_are_ours_and_each_its_own(goal: str, number: int) -> None:
    assert is_agent_branch(goal_branch(goal, number))
    assert goal_branch(goal, number) != goal_branch(goal, number + 1)
    assert goal_branch("g-12ab34", 1) == "agent/goal-g-12ab34" and goal_branch("g-12ab34", 2) == "agent/goal-g-12ab34-2"


@given(st.dates(), st.integers(1, 9_999))
def test_a_landing_is_known_by_its_id_alone(day: date, number: int) -> None:
    task = landing_task(day.isoformat(), number)
    assert is_task_id(task) and is_landing(task) and not is_upkeep(task)
    assert not is_landing(upkeep_task(day.isoformat(), number))


@pytest.mark.parametrize("text", ["20261120-01", "20261120-l0", "20261120-l", "20261120-l1x", "l1", "x20261120-l1"])
def test_other_tasks_are_no_landings(text: str) -> None:
    assert not is_landing(text)


@pytest.mark.parametrize(
    "name",
    [
        "main",
        "agent/",
        "agent/../main",
        "agent/a..b",
        "agent/a.lock",
        "agent/-x",
        "refs/heads/agent/x",
        "agent/A",
        "x/agent/y",
    ],
)
def test_other_peoples_branches_are_not_ours(name: str) -> None:
    assert not is_agent_branch(name)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2", ["20261120-02", "20261121-02"]),
        ("02", ["20261120-02", "20261121-02"]),
        ("20", ["20261120-20"]),
        ("202", []),
        ("2026", ["20261120-01", "20261120-02", "20261120-20", "20261121-02"]),
        ("20261121", ["20261121-02"]),
        ("u1", ["20261120-u1"]),
        ("my", ["my-page"]),
        ("", []),
    ],
)
def test_a_short_id_is_the_number_of_a_task_and_a_longer_one_its_begin(typed: str, meant: list[str]) -> None:
    every = ["20261120-01", "20261120-02", "20261120-20", "20261121-02", "my-page", "20261120-u1"]
    assert [one for one in every if fits(one, typed)] == meant + ["20261120-u1"] * (typed == "2026")


@pytest.mark.parametrize("text", ["a", "014", "login-page.2", "a_b", "x" * 80, "console", "com10"])
def test_ids_that_can_be_files_and_references(text: str) -> None:
    assert is_task_id(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "../../x", "a/b", "a b", "a\n", "-a", ".a", "_a", "A", "ä", "a..b", "a.", "a.lock", "x" * 81),
        *("con", "nul.txt", "com1", "lpt9", "aux.a.b", "a\0", "a:b", "a~1", "a^", "a*"),
    ],
)
def test_ids_that_are_refused(text: str) -> None:
    assert not is_task_id(text)
    with pytest.raises(Refused, match="not a task id"):
        branch_name(text, "title")
    with pytest.raises(Refused, match="not a task id"):
        attempt_ref(text, 1)


@given(IDS, IDS, st.integers(1, 99), st.integers(1, 99))
def test_two_attempts_never_share_a_reference(one: str, other: str, first: int, second: int) -> None:
    same = attempt_ref(one, first) == attempt_ref(other, second)
    assert same == ((one, first) == (other, second))
