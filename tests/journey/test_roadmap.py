"""A vision that nobody touches is worked through in its order, day after day; and what the owner writes counts."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.cli.wiring.records import Records
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import APPROVES, CODES, ScriptedWorkshop, Stage, goals_of, plans, reads, task
from tests.killing import EVERY_POINT, finishes, killed_at, points, snippet

NAMES = "abcdefg"
VISION = """\
# Vision

## Priority: LOW
- Raise a in a.py
- Raise b in b.py

## Priority: HIGH
- Raise c in c.py
- Raise d in d.py

## Priority: MEDIUM
- Raise e in e.py
- Raise f in f.py

## Priority: CRITICAL
- Raise g in g.py
"""
IDS = dict(zip(NAMES, goals_of(VISION), strict=True))
FILES = {f"{name}.py": f"{name.upper()} = 1\n" for name in NAMES}
DAY = 86_400.0  # seconds


def suite(files: Mapping[str, str]) -> dict[str, str]:
    """Each test says whether its number was raised."""
    tests = {name: f"tests/test_{name}.py" for name in NAMES}
    raised = {name: "= 2" in files[f"{name}.py"] for name in NAMES}
    return {f"{path}::test": "passed" if raised[n] else "failed" for n, path in tests.items() if path in files}


def raises(folder: Path, job: EngineJob) -> None:
    name = Path(job.edit[0]).stem
    (folder / "tests").mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(f"{name.upper()} = 2\n")
    (folder / f"tests/test_{name}.py").write_text(f"def test():\n    assert {name.upper()} == 2\n")


def order(name: str, **more: Any) -> dict[str, Any]:
    return task(IDS[name], f"Raise {name}", [f"{name}.py"], new_files=[f"tests/test_{name}.py"], **more)


def plays(model: ScriptedModel, names: str, *more: Mapping[str, Any]) -> None:
    model.play([reads(), plans(*map(order, names), *more), CODES, APPROVES])


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads()]) as model:
        plays(model, "gcd")
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return staged(tmp_path, model)


def staged(folder: Path, model: ScriptedModel, vision: str = VISION) -> Stage:
    stage = Stage(folder, model.url, raises, suite).set_up(vision, FILES)
    stage.given_config("policy", capacity="{parallel: 1, tasks_per_day: 3, open_pulls: 9}")
    return stage


# --- looking -------------------------------------------------------------------------------------------------


def asked(model: ScriptedModel) -> list[str]:
    """What the planner was asked, in order: the names of the goals of each call."""
    calls = [json.dumps(request.body["messages"]) for request in model.requests if is_planning(request.body)]
    found = [re.findall(r"Raise ([a-g]) in", call.partition("# Goals to answer")[2]) for call in calls]
    return ["".join(dict.fromkeys(names)) for names in found]


def is_planning(body: Mapping[str, Any]) -> bool:
    return "You are the Planner" in json.dumps(body.get("system"))


def text(stage: Stage) -> str:
    return stage.home.roadmap.read_text()


def line_of(stage: Stage, name: str) -> str:
    return next(line for line in text(stage).splitlines() if f"`{IDS[name]}`" in line)


def stands(stage: Stage) -> dict[str, str]:
    """Heading -> names of its goals, in capitals what is ticked."""
    found: dict[str, str] = {}
    heading = ""
    for line in text(stage).splitlines():
        heading = line.lstrip("# ").partition(":")[0] if line.startswith("#") else heading
        for name, id_ in IDS.items():
            if f"`{id_}`" in line:
                found[heading] = found.get(heading, "") + (name.upper() if line.startswith("- [x]") else name)
    return found


def edited(stage: Stage, change: Callable[[str], str]) -> None:
    stage.home.roadmap.write_text(change(text(stage)))


def put(stage: Stage, name: str, heading: str) -> None:
    """The owner moves a bullet below a heading of his own, at the end of the file."""
    line = line_of(stage, name)
    edited(stage, lambda old: old.replace(f"{line}\n", "") + f"\n{heading}\n\n{line}\n")


def tomorrow(stage: Stage, model: ScriptedModel, names: str = "", until: str = "planning", days: int = 1) -> list[str]:
    plays(model, names)
    stage.clock.sleep(days * DAY)
    return stage.run_day(until)


THIS, NEXT = "Week of 16 November", "Week of 23 November"


# --- nobody touches it ---------------------------------------------------------------------------------------


def test_seven_goals_are_worked_through_in_their_order_over_three_days(stage: Stage, model: ScriptedModel) -> None:
    assert stage.run_day() == []
    assert stands(stage) == {THIS: "GCDefab"}
    assert "### Week of 16 November: 3 of 7 goals done" in text(stage)
    assert tomorrow(stage, model, "efa", until="") == []
    assert "Left for another day\n\n- Raise b in b.py (low)" in stage.home.daily_plan.read_text()
    assert tomorrow(stage, model, "b", until="") == []
    assert asked(model) == ["gcd", "efa", "b"], "in their turn, and no more than the day has room for"
    assert set(stage.states().values()) == {"completed"} and len(stage.states()) == 7
    assert stands(stage) == {THIS: "GCDEFAB"}
    assert "### Week of 16 November: 7 of 7 goals done" in text(stage) and "probably" not in text(stage)
    assert "(HIGH): 1 task merged, $0." in line_of(stage, "c")
    calls, before = len(model.requests), text(stage)
    assert tomorrow(stage, model, until="") == []
    assert len(model.requests) == calls, "nothing is left to plan"
    assert stands(stage) == {THIS: "GCDEFAB"} and text(stage).splitlines()[9:] == before.splitlines()[9:]


# --- kills ---------------------------------------------------------------------------------------------------


def place(root: Path, number: int, model: ScriptedModel) -> tuple[Stage, list[str]]:
    """The owner has moved one, put one off, ticked one and written one of his own; nobody has read it yet."""
    folder = root / str(number)
    folder.mkdir()
    stage = staged(folder, model)
    stage.run_day("morning")
    put(stage, "g", "### Week of 7 December")
    put(stage, "c", "## Later")
    edited(stage, lambda old: old.replace("- [ ] Raise d", "- [x] Raise d") + "- milk\n")
    return stage, snippet(PLAN, str(folder), model.url)


PLAN = """
    import sys
    from pathlib import Path
    from tests.journey.stage import Stage
    from tests.journey.test_roadmap import raises, suite
    sys.exit(len(Stage(Path(sys.argv[1]), sys.argv[2], raises, suite).run_day("planning")))
"""


def books(stage: Stage) -> tuple[object, ...]:
    with stage.records() as records:
        pins = records.db.rows("select goal, place, rank from roadmap_pins order by goal")
        tasks = sorted(known.goal_id for known in records.journal.every_task().values())
        return [tuple(row) for row in pins], tasks, len(records.roadmap.texts())


def written(stage: Stage) -> str:
    """All but amounts and days: the owner's clock goes on."""
    return "\n".join(line for line in text(stage).splitlines() if line.startswith(("- ", "## Later")))


@pytest.mark.slow
def test_a_kill_at_any_point_is_no_edit_of_the_owners(tmp_path: Path, model: ScriptedModel) -> None:
    plays(model, "efa")
    numbers = itertools.count()
    stage, argv = place(tmp_path, next(numbers), model)
    passed = points(argv)
    finishes(argv)
    clean, page = books(stage), written(stage)
    assert clean[1] == sorted(IDS[name] for name in "efa") and "- milk" in page
    near = [at for at, point in enumerate(passed, 1) if point.startswith("roadmap.")]
    near += [at + 1 for at in near if passed[at - 1] == "roadmap.intended"]  # file.written: the rename is to come
    assert len({passed[at - 1] for at in near}) == 6, "each of ours, and the file's own"
    for number in sorted({*near}) if EVERY_POINT else sorted({*near})[::2]:
        stage, argv = place(tmp_path, next(numbers), model)
        died = killed_at(number, argv)[-1]
        finishes(argv)
        finishes(argv)
        assert (books(stage), written(stage)) == (clean, page), died


@pytest.mark.slow
@pytest.mark.parametrize("point", ["roadmap.intended", "file.written", "roadmap.replaced", "roadmap.written"])
def test_what_the_owner_writes_after_a_kill_counts_with_what_he_wrote_before(
    point: str, tmp_path: Path, model: ScriptedModel
) -> None:
    """Whichever of the two texts it is that he finds there."""
    plays(model, "fab")
    stage, argv = place(tmp_path, 0, model)
    passed = points(argv)
    number = passed.index("roadmap.intended") + 2 if point == "file.written" else passed.index(point) + 1
    stage, argv = place(tmp_path, 1, model)
    assert killed_at(number, argv)[-1] == point
    put(stage, "e", "## Later")
    finishes(argv)
    assert asked(model)[-1] == "fab"
    found = stands(stage)
    assert found | {"Later": set(found["Later"])} == {
        THIS: "Dfab",
        "Week of 7 December": "g",
        "Later": {"c", "e"},
    }
    with stage.records() as records:
        pins = {row["goal"]: row["place"] for row in records.db.rows("select * from roadmap_pins")}
    assert pins == {IDS["g"]: "2026-12-07", IDS["c"]: "later", IDS["d"]: "done", IDS["e"]: "later"}


# --- at the same time ----------------------------------------------------------------------------------------


def test_what_the_owner_saves_while_we_write_is_not_lost(stage: Stage, model: ScriptedModel) -> None:
    """He is told of what we have read, and saves once more before we have written."""
    stage.run_day("morning")
    put(stage, "g", "## Later")
    saved = list[str]()

    def tell(line: str) -> None:
        if line.startswith("ROADMAP.md") and not saved:
            saved.append(line)
            put(stage, "c", "## Later")

    def make(records: Records, *_: object) -> ScriptedWorkshop:
        return ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)

    with stage.records() as records, stage.open_team(records, tell, make, lambda _: []) as team:
        assert team.phases.planning.goals.roadmap.write(records.day()) == ""
        assert saved and stands(stage) == {THIS: "defab", "Later": "gc"}
        assert len(records.roadmap.texts()) == 1
