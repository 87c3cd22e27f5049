"""Days with good and bad luck, one after the other: a few of what `make soak` does for months."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.soak import Soak
from tests.soak_figures import MIB, Figures, growth

WARM = Figures(60, 120 * MIB, 40, 4, 200, 1_000_000, 100_000, 400_000, 90, 0.01)
LATER = replace(WARM, day=300, tasks=450)


@pytest.mark.slow
def test_days_of_outages_kills_and_edits_breaks_no_law(tmp_path: Path) -> None:
    soak = Soak(tmp_path, luck=2, say=print)
    soak.live(5, each=5)
    assert soak.broken == []
    assert soak.kills and soak.states["completed"] >= 2
    assert [one.day for one in soak.figures] == [5]


def test_what_stays_as_it_is_does_not_grow() -> None:
    assert list(growth([replace(WARM, day=30, rss=MIB), WARM, LATER])) == []
    assert list(growth([WARM])) == list(growth([])) == []


@pytest.mark.parametrize(
    ("later", "name"),
    [
        pytest.param({"rss": 150 * MIB}, "memory", id="memory"),
        pytest.param({"descriptors": 100}, "descriptors", id="a file that is never closed"),
        pytest.param({"threads": 7}, "threads", id="a thread that never ends"),
        pytest.param({"files": 9_000}, "files", id="files that nobody removes"),
        pytest.param({"database": 100_000_000}, "the database", id="rows"),
        pytest.param({"logs": 50_000_000}, "logs", id="logs"),
        pytest.param({"tick": 0.2}, "an idle tick", id="a look at everything that ever was"),
    ],
)
def test_what_grows_is_named(later: dict[str, Any], name: str) -> None:
    (words,) = growth([WARM, replace(LATER, **later)])
    assert words.startswith(f"{name}: ")
