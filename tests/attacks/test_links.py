"""Promises 5 and 6: a guard and a protected path hold for the file, by whatever path of the repository it is reached.

Before a change knew by which links its files are reached (at 1678a4d3), each change below merged itself: the file that
was written to had another name than the one that the owner guards, or that is never merged without him.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.shared.model.scope import MOST_NAMES, other_names
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_git import DISK
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, plans, reads


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), {**CODES, "times": "any"}, APPROVES]) as model:
        yield model
    DISK.clear()


def day_of(tmp_path: Path, model: ScriptedModel, links: dict[str, str], note: str = "") -> FlowStage:
    day = FlowStage(tmp_path, model.url, Coder(GOOD), suite)
    day.set_up(f"{VISION}\n## Notes\n- {note}\n" if note else VISION, FILES)
    day.owner_links(links)
    day.run_day()
    return day


LEAD = [
    pytest.param({"config/pay.py": "../app.py"}, "config/pay.py", id="a file"),
    pytest.param({"pay": "."}, "pay/app.py", id="a folder"),
    pytest.param({"one.py": "two", "two": "./app.py"}, "one.py", id="a link to a link"),
]


@pytest.mark.parametrize(("links", "named"), LEAD)
def test_a_guard_on_a_link_guards_what_it_leads_to(
    tmp_path: Path, model: ScriptedModel, links: dict[str, str], named: str
) -> None:
    day = day_of(tmp_path, model, links, f"Don't touch {named}")
    assert day.states()[ID] != "completed"
    assert any("the owner guards" in line for line in day.said)


def test_a_guard_that_comes_later_holds_for_a_change_that_waits(tmp_path: Path, model: ScriptedModel) -> None:
    day = day_of(tmp_path, model, {"Makefile": "app.py"})
    assert day.states() == {ID: "in_review"}
    assert any("app.py, which is never merged without you" in line for line in day.said)
    day.given_vision(f"{VISION}\n## Notes\n- Don't touch Makefile\n")
    day.run_day()
    assert day.states() == {ID: "failed"}
    with day.records() as records:
        assert "which you have said not to touch" in records.journal.history(ID)[-1].note


@pytest.mark.parametrize(
    ("path", "links", "others"),
    [
        ("a/x.py", {}, ()),
        ("a/x.py", {"b": "a", "c/d": "b/x.py"}, ("b/x.py", "c/d")),
        ("a/x.py", {"top": ""}, ("top/a/x.py",)),
        ("a/x.py", {"a/self": "a"}, ("a/self/x.py",)),
        ("ab/x.py", {"b": "a"}, ()),
        ("x.py", {"a": "b", "b": "a"}, ()),
    ],
)
def test_the_other_names_of_a_file(path: str, links: dict[str, str], others: tuple[str, ...]) -> None:
    assert other_names(path, links) == others


def test_links_around_themselves_come_to_an_end() -> None:
    circles = {f"a/{n}": "a" for n in range(30)}
    assert len(other_names("a/x.py", circles)) < 40 * MOST_NAMES
