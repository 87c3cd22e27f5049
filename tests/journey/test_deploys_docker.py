"""Versions of a site in real containers: healthy, sick in every way, and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.shared.model.deployment import DeployStage as At
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.docker_scene import base_image, engine_or_skip, occupied, page
from tests.journey.deployed_docker import Containers, containers
from tests.killing import at_length, finishes, killed_at, points
from tests.own_engine import OwnEngine, own_engine

pytestmark = pytest.mark.docker


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Containers]:
    engine_or_skip()
    with ScriptedModel([]) as model, containers(tmp_path, model.url) as home:
        yield home


def stages(home: Containers) -> list[str]:
    return [deploy.stage.value for deploy in home.deploys()]


def test_a_version_that_is_well_goes_live_and_the_next_one_replaces_it(home: Containers) -> None:
    home.pushes("well", "first")
    assert home.stage.run_day() == []
    assert page(home.port) == "first"
    second = home.pushes("well", "second")
    assert home.stage.run_day() == []
    assert page(home.port) == "second" and home.running() == [(second, "running")]
    assert stages(home) == ["healthy", "healthy"]


@pytest.mark.parametrize(
    ("way", "end", "said"),
    [
        pytest.param("page", At.RETURNED, "GET / answered 500", id="a real page, while /healthz/ is well"),
        pytest.param("exit", At.RETURNED, "its log ends: no data, no pages", id="it exits", marks=at_length),
        pytest.param("later", At.RETURNED, "GET / answered 500", id="after a while of watching", marks=at_length),
        pytest.param("build", At.FAILED, "7", id="it cannot be built"),
    ],
)
def test_what_is_sick_or_cannot_be_built_leaves_the_last_good_one_serving(
    home: Containers, way: str, end: At, said: str
) -> None:
    first = home.pushes("well", "first")
    home.stage.run_day()
    home.pushes(way, "second")
    home.stage.run_day()
    last = home.deploys()[-1]
    assert (last.stage, last.back_to) == (end, first) and said in last.why
    assert page(home.port) == "first" and home.running() == [(first, "running")]


@at_length
def test_a_rollback_that_is_sick_itself_stops_and_calls_the_owner(home: Containers) -> None:
    """What the sick one did to the data cannot be taken back by starting the old one."""
    first = home.pushes("well", "first")
    home.stage.run_day()
    home.pushes("poison", "second")
    home.stage.run_day()
    last = home.deploys()[-1]
    assert last.stage is At.STUCK and f"{first[:8]} is not healthy again" in last.why
    home.pushes("well", "third")
    home.stage.run_day()
    assert len(home.deploys()) == 2, "nobody guesses"


@at_length
def test_a_port_that_somebody_has_is_named_and_nothing_else_is_touched(home: Containers) -> None:
    first = home.pushes("well", "first")
    with occupied(home.port):
        home.stage.run_day()
    (failed,) = home.deploys()
    assert failed.stage is At.FAILED and str(home.port) in failed.why
    with home.stage.records() as records:
        records.deploys.resume(records.clock.now())
    assert home.stage.run_day() == []
    assert page(home.port) == "first" and home.running() == [(first, "running")]


@at_length
@pytest.mark.parametrize("slice_", range(4))
def test_a_kill_at_any_point_of_a_rollback_in_containers_leads_to_the_same_end(slice_: int, home: Containers) -> None:
    first = home.pushes("well", "first")
    home.stage.run_day()
    home.pushes("page", "sick")
    passed = points(home.argv)
    ours = [number for number, name in enumerate(passed, 1) if name.startswith("deploy.")]
    for number in ours[slice_::4]:
        home.pushes("page", f"sick {number}")
        with home.stage.records() as records:
            records.deploys.resume(records.clock.now())
        killed_at(number, home.argv)
        finishes(home.argv)
        assert home.running() == [(first, "running")], passed[number - 1]
        assert page(home.port) == "first"
        assert home.deploys()[-1].stage is At.RETURNED and home.deploys()[-1].settled


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[OwnEngine]:
    """Another one than everybody's; the parameter: megabytes of its disk."""
    engine_or_skip()
    with own_engine(getattr(request, "param", 0)) as engine:
        engine.has(base_image())
        yield engine


@at_length
def test_docker_that_is_stopped_in_the_middle_is_waited_for(home: Containers, engine: OwnEngine) -> None:
    here = {"DOCKER_HOST": engine.host}
    first = home.pushes("well", "first")

    def stop() -> None:
        page(home.port, seconds=60)
        engine.stop()

    stopping = threading.Thread(target=stop)
    stopping.start()
    done = home.day(here)
    stopping.join()
    assert done.code == 1 and "Docker" in done.complaint
    (begun,) = home.deploys()
    assert begun.stage is At.STARTED, "nobody takes that for a sick version"
    engine.start()
    assert home.day(here).ok
    assert [(d.commit, d.stage) for d in home.deploys()] == [(first, At.HEALTHY)]
    assert page(home.port) == "first"


@at_length
@pytest.mark.parametrize("engine", [90], indirect=True, ids=["a disk of 90 MB"])
def test_a_full_disk_leaves_what_runs_alone_and_is_named(home: Containers, engine: OwnEngine) -> None:
    here = {"DOCKER_HOST": engine.host}
    home.pushes("well", "first")
    assert home.day(here).ok
    home.pushes("large", "second")
    home.day(here)
    assert home.deploys()[-1].stage is At.FAILED and "No space left on device" in home.deploys()[-1].why
    assert page(home.port) == "first"
    engine.grow(600)
    with home.stage.records() as records:
        records.deploys.resume(records.clock.now())
    assert home.day(here).ok
    assert page(home.port) == "second"


@at_length
def test_nothing_is_left_behind_of_fifty_versions_but_what_is_kept(home: Containers) -> None:
    for number in range(50):
        home.pushes("well", str(number))
        assert home.stage.run_day() == []
    assert len(home.running()) == 1
    assert len(list(home.stage.home.releases.iterdir())) <= 4
