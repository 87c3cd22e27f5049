"""A goal that is moved to another week stands there, and everything else stands where it stood."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.roadmap.roadmap import LATER, GoalPin
from sisimpur.agents.orchestrator.roadmap.roadmap_file import Bullet, edits
from sisimpur.agents.orchestrator.roadmap.roadmap_moves import moved
from sisimpur.shared.system.markdown import outline
from tests.spec.test_roadmap import TODAY
from tests.spec.test_roadmap_file import TEXT, A, B, C, sheet

MONDAY = date.fromisoformat(TODAY) - timedelta(date.fromisoformat(TODAY).weekday())
WEEKS = [(MONDAY + timedelta(7 * number)).isoformat() for number in range(9)]
GOALS = (A, B, C)
OWN = (
    "\n- call the bank\n",
    "\n### Week of 28 December 2026\n\n- my own\n  - with a note\n\n",
    "\n## Ideas\n\nSome words.\n",
    *(f"\nSome words{end}that go on.\n\n" for end in "\u2028\x85\x0b\x0c\x1c"),  # to Markdown no ends of lines
    "\n## January 2027\n\n### Week of 11 January\n\n",
    "\n<!-- hidden\n- [ ] no goal `g-aaaaaa`\n-->\n",
)


def put(text: str, goal: str, place: str) -> str:
    found = moved(text, outline(text), goal, place, TODAY)
    assert found is not None
    return found


def others(text: str, goal: str) -> list[Bullet]:
    return [one for one in sheet(text).bullets if one.goal != goal]


@given(
    st.sampled_from(GOALS),
    st.sampled_from([*WEEKS, LATER]),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(OWN)), max_size=3),
)
def test_it_stands_there_and_all_else_where_it_stood(goal: str, place: str, own: list[tuple[int, str]]) -> None:
    lines = TEXT.splitlines(keepends=True)
    for at, words in own:
        bullets = [number for number, line in enumerate(lines) if not line.startswith((" ", "<", "-->"))]
        lines.insert(bullets[at % len(bullets)], words)
    text = "".join(lines)
    if [one.goal for one in sheet(text).bullets].count(goal) != 1:
        return
    after = put(text, goal, place)
    was, now = sheet(text).goals[goal], sheet(after).goals[goal]
    assert now == replace(was, place=place)
    assert others(after, goal) == others(text, goal)
    assert put(after, goal, place).split() == after.split(), "once more it changes no word"
    if was.place != place:
        last = [one for one in sheet(after).bullets if one.place == place][-1]
        assert last.goal == goal or not last.goal


@pytest.mark.parametrize("place", [*WEEKS[1:], LATER])
@pytest.mark.parametrize("goal", GOALS)
def test_it_means_what_the_same_move_by_hand_means(goal: str, place: str) -> None:
    pins = {pin.goal: pin for pin in edits(sheet(TEXT), sheet(put(TEXT, goal, place)))}
    if sheet(TEXT).goals[goal].place == place:
        assert goal not in pins or pins[goal].place == place
    else:
        assert pins[goal] == GoalPin(goal, place, pins[goal].rank) and set(pins) == {goal}


def test_its_notes_go_with_it_and_a_goal_that_is_not_there_is_not_moved() -> None:
    line = next(line for line in TEXT.splitlines() if B in line)
    text = TEXT.replace(line, f"{line}\n  - first Bengali\n\n    then the rest\n- mine")
    after = put(text, B, LATER)
    assert f"{line}\n  - first Bengali\n\n    then the rest\n" in after.partition("## Later")[2]
    assert "- mine" in after.partition("## Later")[0]
    assert moved(TEXT, outline(TEXT), "g-000000", LATER, TODAY) is None


def test_what_is_moved_there_and_back_is_the_same_words() -> None:
    home = sheet(TEXT).goals[C].place
    assert sorted(put(put(TEXT, C, LATER), C, home).split()) == sorted(TEXT.split())


@given(st.sampled_from(GOALS), st.sampled_from([*WEEKS, LATER]))
def test_lines_of_windows_stay_such(goal: str, place: str) -> None:
    assert put(TEXT.replace("\n", "\r\n"), goal, place) == put(TEXT, goal, place).replace("\n", "\r\n")
