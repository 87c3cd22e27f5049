"""A goal is moved at the board as its line would be moved by hand: through ROADMAP.md, never over a newer one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.journey.stage import Stage
from tests.journey.test_board import Browser, run, signed_in

NEXT = "2026-11-30"  # a Monday after the story's day


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Whoever moves something here moves it back."""
    return run(tmp_path_factory.mktemp("home"))


def put(page: Browser, goal: str, place: str, tag: str | None = None) -> Any:
    seen = page.get("/api/v1/roadmap/file").headers["etag"] if tag is None else tag
    headers = {"authorization": f"Bearer {page.token}", **({"if-match": seen} if seen else {})}
    return page.http.put("/api/v1/roadmap/goals", json={"goal": goal, "place": place}, headers=headers)


def test_a_goal_that_is_moved_stands_there_in_the_file_at_the_board_and_for_the_team(home: Stage) -> None:
    page = signed_in(home)
    before, text = page.read("roadmap"), home.home.roadmap.read_text()
    (goal,) = (one for week in before["weeks"] for one in week["goals"])
    for place in (NEXT, "2026-12-02"):  # any day names its week
        assert put(page, goal["id"], place).status_code == 200
    (week,) = (week for week in page.read("roadmap")["weeks"] if week["goals"])
    assert week["monday"] == NEXT and week["goals"][0]["yours"]
    line = next(line for line in text.splitlines() if goal["id"] in line)
    assert line in home.home.roadmap.read_text().partition("### Week of 30 November 2026")[2]
    assert put(page, goal["id"], "later").status_code == 200
    assert [one["id"] for one in page.read("roadmap")["later"]] == [goal["id"]]
    rows = [one for one in page.read("audit?limit=200")["rows"] if one["subject"] == "ROADMAP.md"]
    assert rows and all(one["via"] == "board" for one in rows)
    home.home.roadmap.write_text(text)


def test_what_was_saved_meanwhile_is_not_overwritten(home: Stage) -> None:
    page, file = signed_in(home), home.home.roadmap
    text, tag = file.read_text(), page.get("/api/v1/roadmap/file").headers["etag"]
    goal = next(iter(page.read("goals")))["id"]
    file.write_text(mine := text.replace("## Later", "## Later\n\n- my own"))
    said = put(page, goal, NEXT, tag)
    assert said.status_code == 412 and said.json()["now"]["text"] == mine and file.read_text() == mine
    assert put(page, goal, NEXT, "").status_code == 428 and file.read_text() == mine
    file.write_text(text)


@pytest.mark.parametrize(
    ("goal", "place"),
    [("g-000000", NEXT), ("", "2026-11-09"), ("", "2026-13-45"), ("", "done"), ("", "../x"), ("`x`\n- y", NEXT)],
)
def test_what_means_nothing_there_is_refused_and_nothing_is_written(home: Stage, goal: str, place: str) -> None:
    page, text = signed_in(home), home.home.roadmap.read_text()
    said = put(page, goal or next(iter(page.read("goals")))["id"], place)
    assert said.status_code == 422 and home.home.roadmap.read_text() == text


def test_without_the_file_there_is_nothing_to_move(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up()
    page = signed_in(stage)
    assert page.get("/api/v1/roadmap/file").status_code == 404
    assert put(page, "g-000000", "later", '"seen"').status_code == 404
