"""What every deploy driver keeps. A test file gives its home as the fixture `home`:

class TestMyDriver(DriverContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[DriverHome]: ...
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.driver import Driver, EngineAway, Release, ReleaseFailed
from sisimpur.shared.model.deployment import PLACES, Place, Running
from tests.docker_scene import COMPLAINT, App, Kind, Releases, client, occupied, page, within
from tests.killing import at_length, finishes, killed_at, points, snippet

STAGING = PLACES[0]
PATIENCE = 15.0  # seconds until something has to be seen
POLITE = 10.0  # seconds that are given to what does not end


class DriverHome(ABC):
    """A driver with both places, whose commits are the scene's app, and a look from behind."""

    driver: Driver
    releases: Releases
    ports: Mapping[Place, int]
    sees_ends = True  # it knows how something ended, and how often it was started again
    has_images = True  # what it built is kept at an engine, which may be away
    worst = 0  # the number of the fault point of another version's start to die at; 0: the one in the middle

    @abstractmethod
    def opening(self) -> str:
        """Lines of Python that bind `driver` to this driver in another process: without memory."""

    @abstractmethod
    def parts(self, place: Place) -> Sequence[str]:
        """An id of each thing of ours at the place that could run, whether it does or not."""

    def images(self) -> Mapping[str, str]:
        """The name of each image of ours -> its id."""
        return {}

    def away(self) -> Driver:
        """The same driver, whose engine is not there."""
        raise NotImplementedError

    # --- in a test's words ---------------------------------------------------------------------------------------

    def built(self, app: App | Kind = "healthy", place: Place = STAGING) -> Release:
        release = Release(place, self.releases.add(app))
        self.driver.build(release)
        return release

    def started(self, app: App | Kind = "healthy", place: Place = STAGING, hurry: bool = False) -> Release:
        release = self.built(app, place)
        self.driver.start(release, hurry)
        return release

    def says(self, release: Release) -> bool:
        """Whether its place answers with what this release says."""
        return page(self.ports[release.place], seconds=PATIENCE) == self.releases.text(release.commit)

    def other_process(self, release: Release, hurry: bool = False) -> list[str]:
        """The arguments of a program that starts it."""
        words = ("from sisimpur.agents.devops.drivers.driver import Release", self.opening().strip())
        call = f"driver.start(Release({release.place!r}, {release.commit!r}), hurry={hurry})"
        return snippet("\n".join((*words, call)))


class EngineHome(DriverHome):
    """Its things carry the label of a home at a container engine."""

    home: str

    def parts(self, place: Place) -> list[str]:
        return [row["Id"] for row in self.rows(place)]

    def rows(self, place: Place = STAGING) -> list[Any]:
        """Its containers, as the engine tells of them."""
        with contextlib.closing(client()) as engine:
            rows = engine.containers(all=True, filters={"label": f"sisimpur.home={self.home}"})
        return [row for row in rows if row["Labels"].get("sisimpur.place") == place]

    def images(self) -> dict[str, str]:
        with contextlib.closing(client()) as engine:
            rows = engine.images(filters={"label": f"sisimpur.home={self.home}"})
        names = [(name, row["Id"]) for row in rows for name in row["RepoTags"] or ()]
        return {name: id_ for name, id_ in names if name.startswith(f"sisimpur-{self.home}-")}


class DriverContract:
    # --- build and start -------------------------------------------------------------------------------------

    def test_what_was_started_is_what_runs(self, home: DriverHome) -> None:
        assert home.driver.running(STAGING) is None
        assert home.driver.logs(STAGING) == ""
        release = home.started()
        assert home.driver.running(STAGING) == Running(release.commit)
        assert home.says(release)
        assert within(PATIENCE, lambda: f"begins: {home.releases.text(release.commit)}" in home.driver.logs(STAGING))

    def test_what_is_there_is_neither_built_nor_started_again_by_any_process(self, home: DriverHome) -> None:
        release = home.started()
        before = (home.images(), home.parts(STAGING))
        home.driver.build(release)
        home.driver.start(release)
        finishes(home.other_process(release))
        assert (home.images(), home.parts(STAGING)) == before

    def test_another_commit_takes_its_place_and_the_first_one_comes_back_in_a_hurry(self, home: DriverHome) -> None:
        first, second = home.started(), home.started("stubborn")  # which only KILL ends
        assert home.driver.running(STAGING) == Running(second.commit)
        assert home.says(second)
        assert len(home.parts(STAGING)) == 1
        began = time.monotonic()
        home.driver.start(first, hurry=True)
        assert time.monotonic() - began < POLITE
        assert home.says(first)
        assert len(home.parts(STAGING)) == 1

    def test_the_places_stand_side_by_side(self, home: DriverHome) -> None:
        here = home.started()
        there = Release("production", here.commit)
        assert home.driver.running("production") is None
        home.driver.build(there)
        home.driver.start(there)
        assert home.says(here)
        assert home.says(there)
        assert home.driver.running("production") == Running(there.commit)

    def test_what_cannot_be_built_ends_with_its_last_lines_and_touches_nothing(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("builds nothing of the scene's")
        runs = home.started()
        with pytest.raises(ReleaseFailed, match=COMPLAINT):
            home.built("unbuildable")
        assert home.driver.running(STAGING) == Running(runs.commit)
        assert home.says(runs)

    def test_a_taken_port_is_named(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("knows of no port")
        release, port = home.built(), home.ports[STAGING]
        with occupied(port), pytest.raises(ReleaseFailed, match=str(port), check=lambda error: error.is_untouched):
            home.driver.start(release)
        found = home.driver.running(STAGING)
        assert found is None or found.ended
        home.driver.start(release)
        assert home.says(release)

    def test_what_ends_by_itself_is_seen(self, home: DriverHome) -> None:
        release = home.started("exits")
        if not home.sees_ends:
            pytest.skip("is only told what runs")
        found = within(PATIENCE, lambda: self._trouble(home))
        assert found
        assert found.commit == release.commit

    @staticmethod
    def _trouble(home: DriverHome) -> Running | None:
        found = home.driver.running(STAGING)
        return found if found and (found.ended or found.restarts) else None

    # --- dying on the way ------------------------------------------------------------------------------------

    def test_a_start_that_was_cut_off_is_brought_to_its_end_by_the_next_one(self, home: DriverHome) -> None:
        """At one point; each of them below."""
        old, new = home.started(), home.built()
        if not (worst := home.worst):
            worst = len(points(home.other_process(new))) // 2 + 1
            home.driver.start(old)
        killed_at(worst, home.other_process(new))
        found = home.driver.running(STAGING)
        assert found is None or found.ended or found.commit in (old.commit, new.commit)
        self._is_healed(home, new)

    @at_length
    @pytest.mark.parametrize("hurry", [False, True])
    def test_wherever_a_start_is_killed(self, home: DriverHome, hurry: bool) -> None:
        old, new = home.started(), home.built()
        for number in range(1, len(points(home.other_process(new, hurry))) + 1):
            for goal in (new, old):  # as planned, or back at once
                home.driver.start(old)
                killed_at(number, home.other_process(new, hurry))
                self._is_healed(home, goal)

    @staticmethod
    def _is_healed(home: DriverHome, goal: Release) -> None:
        home.driver.start(goal)
        assert home.driver.running(STAGING) == Running(goal.commit)
        assert home.says(goal)
        assert len(home.parts(STAGING)) == 1

    # --- tidy ------------------------------------------------------------------------------------------------

    def test_what_neither_runs_nor_is_to_be_kept_goes(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("has no images")
        old, kept, runs = home.built(), home.built(), home.started()
        assert home.driver.clean([kept]).builds == 1
        assert len(home.images()) == 2
        assert home.says(runs)
        assert not home.driver.clean([kept]).any
        home.driver.start(kept)
        assert home.says(kept)
        with pytest.raises(ReleaseFailed, check=lambda error: error.is_untouched):
            home.driver.start(old)

    def test_nobody_elses_is_touched(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("has no images")
        home.started()
        image = next(iter(home.images().values()))
        mine, tags = f"somebody-{home.ports[STAGING]}", ("1", "2")
        with contextlib.closing(client()) as engine:
            for tag in tags:
                engine.tag(image, mine, tag)
            # It carries the labels of the image, and one more, as if it were made of a container's copy.
            engine.create_container(image, name=mine, labels={"sisimpur.place": STAGING})
            try:
                home.started()
                home.driver.clean([])
                assert len(engine.images(name=mine)[0]["RepoTags"]) == len(tags)
                assert engine.inspect_container(mine)["State"]["Status"] == "created"
            finally:
                engine.remove_container(mine, force=True)
                for tag in tags:
                    engine.remove_image(f"{mine}:{tag}")

    # --- an engine that is away ------------------------------------------------------------------------------

    def test_an_engine_that_is_away_is_no_commits_fault(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("has no engine")
        driver, release = home.away(), Release(STAGING, home.releases.add())
        for ask in (
            driver.check,
            lambda: driver.build(release),
            lambda: driver.start(release),
            lambda: driver.running(STAGING),
            lambda: driver.logs(STAGING),
            lambda: driver.clean([]),
        ):
            with pytest.raises(EngineAway):
                ask()

    @at_length
    def test_of_fifty_releases_only_those_to_be_kept_are_left(self, home: DriverHome) -> None:
        if not home.has_images:
            pytest.skip("has no images")
        releases = [home.built() for _ in range(50)]
        home.driver.start(releases[0])
        assert home.driver.clean(releases[-3:]).builds == 46
        assert len(home.images()) == 4
        assert home.says(releases[0])
