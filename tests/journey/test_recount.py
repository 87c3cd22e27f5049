"""Every figure of a day's report, and of `metrics`, is recomputed by programs that share no code with the product."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sisimpur.shared.record.metrics import figures
from sisimpur.shared.record.metrics_reader import MetricDays
from sisimpur.shared.store.database import Database
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests import recount, remeasure
from tests.homes.frozen import thaw
from tests.journey.deployed import sick, site
from tests.journey.gated import FILES, GOOD, RIGHT, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

DAY = "2026-11-20"
HOMES = Path(__file__).parents[1] / "homes"
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
# What else stands in digits: ids, commits, times of other days, places in files, and the words of people and models.
NO_FIGURE = re.compile(r"`[^`]*`|\([^)]*\.(?:png|md)\)|\d{4}-\d\d-\d\d|\bw?[0-9a-f]{8,}\b|\(#\W*\d+|sick: [^;]*;")
VERSIONS = [path.parent.name for path in HOMES.glob("*/home")]
FIGURES_IN = ("Asked", "Shipped", "Deployed", "How it goes", "Money", "Board")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home after a day that merged a change, rolled it back, and merged a better one; no test changes it."""
    tmp_path = tmp_path_factory.mktemp("lived")
    better = {**GOOD, "app.py": RIGHT + "# and well\n"}
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model, site(tmp_path) as live:
        day = Stage(tmp_path, model.url, Coder(sick(GOOD), better), suite).set_up(VISION, FILES)
        live.configure(day, places="production")
        assert day.run_day() == []
        yield day.home.root


@pytest.mark.parametrize(("program", "others"), [(recount, {"genai_prices"}), (remeasure, set())])
def test_it_shares_no_code_with_the_product(program: ModuleType, others: set[str]) -> None:
    tree = ast.parse(Path(program.__file__ or "").read_text("utf-8"))
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in plain | named} - set(sys.stdlib_module_names) == others


def test_each_figure_of_a_day_with_a_rollback_is_recomputed_and_each_that_is_changed_is_noticed(lived: Path) -> None:
    page = (lived / "reports" / "daily" / f"{DAY}.md").read_text()
    assert "1 merged, 3 deploys, 1 rolled back" in page and recount.recounted(lived, DAY) == []
    changed = {line: recount.recounted(lived, DAY, wrong) for line, wrong in with_one_figure_changed(page)}
    assert len(changed) > 15 and [line for line, noticed in changed.items() if not noticed] == []


def with_one_figure_changed(page: str, headings: Collection[str] = FIGURES_IN) -> Iterator[tuple[str, str]]:
    """(the line with the place of the figure, the page with another one there)."""
    start = 0
    heading = ""
    for line in page.splitlines(keepends=True):
        heading = line[3:].strip() if line.startswith("## ") else heading
        words = NO_FIGURE.sub(lambda found: "x" * len(found[0]), line)
        for found in FIGURE.finditer(words) if heading in ("", *headings) else ():
            at = start + found.end() - 1
            yield f"{found.start()}: {line}", f"{page[:at]}{(int(page[at]) + 1) % 10}{page[at + 1 :]}"
        start += len(line)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_evening_of_a_kept_home_is_recomputed_as_it_was(version: str, tmp_path: Path) -> None:
    """What the owner has written off and raised since does not count yet."""
    home = thaw(HOMES / version, tmp_path / "owner")
    Database(home / ".state" / "agents.db").close()
    assert recount.recounted(home, DAY) == []


# --- metrics ---------------------------------------------------------------------------------------------------


def measured(home: Path) -> list[dict[str, Any]]:
    """As `metrics --json` prints them on that day."""
    with closing(Database(home / ".state" / "agents.db")) as db:
        found = figures(MetricDays(db).days(), DAY)
    return [
        {"name": one.metric.name, "labels": {one.metric.label: one.label} if one.label else {}, "days": one.values}
        for one in found
    ]


def test_metrics_of_a_day_with_a_rollback_are_recomputed_and_each_that_is_changed_is_noticed(lived: Path) -> None:
    found = measured(lived)
    told = {one["name"]: one["days"]["all"] for one in found if not one["labels"]}
    assert (told["task_pass_rate"], told["rounds_per_merged_task"], told["test_flakiness_rate"]) == (0.5, 1, 0)
    assert [*remeasure.differences(lived, found, DAY)] == []
    for one in found:
        wrong = {**one, "days": {**one["days"], "all": (one["days"]["all"] or 0) + 0.01}}
        assert [*remeasure.differences(lived, [wrong], DAY)], one


@pytest.mark.parametrize("version", VERSIONS)
def test_metrics_of_a_kept_home_are_recomputed_before_any_evening_of_this_version(version: str, tmp_path: Path) -> None:
    home = thaw(HOMES / version, tmp_path / "owner")
    assert [*remeasure.differences(home, measured(home), DAY)] == []
