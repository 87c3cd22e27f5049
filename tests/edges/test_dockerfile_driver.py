"""A target with a Dockerfile, at a real engine."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.docker.docker_manager import DockerManager
from sisimpur.agents.devops.docker.dockerfile_driver import DockerfileDriver
from sisimpur.agents.devops.drivers.driver import Cleaned, Driver, HasPorts, Release, ReleaseFailed
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.errors import Misconfigured
from tests.docker_scene import (
    App,
    Releases,
    base_image,
    cleaned_up,
    client,
    engine_or_skip,
    free_port,
    new_home_id,
    page,
    within,
)
from tests.edges.deploy_contract import PATIENCE, STAGING, DriverContract, DriverHome, EngineHome

pytestmark = pytest.mark.docker

NOWHERE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}

OPENING = """
import json, sys
from pathlib import Path
from sisimpur.agents.devops.docker.docker_manager import DockerManager
from sisimpur.agents.devops.docker.dockerfile_driver import DockerfileDriver
from sisimpur.shared.config.settings_deploy import DeploySettings
settings = DeploySettings.model_validate_json({settings!r})
driver = DockerfileDriver(DockerManager({home!r}), settings, Path({folder!r}).joinpath)
"""


class DockerfileHome(EngineHome):
    worst = 4  # created, and never started

    def __init__(self, folder: Path, **more: Any) -> None:
        self.home = new_home_id()
        self.releases = Releases(folder)
        self.ports = {place: free_port() for place in PLACES}
        self.set(**more)

    def set(self, staging: Mapping[str, Any] | None = None, **more: Any) -> None:
        """The owner's words, beside driver and ports."""
        places = {place: {"port": port} for place, port in self.ports.items()}
        places[STAGING] = {**places[STAGING], **(staging or {})}
        self.settings = DeploySettings.model_validate({"driver": "dockerfile", **places, **more})
        self.driver = self._driver({})

    def _driver(self, environment: Mapping[str, str]) -> DockerfileDriver:
        return DockerfileDriver(DockerManager(self.home, environment), self.settings, self.releases.of)

    def opening(self) -> str:
        settings = self.settings.model_dump_json()
        return OPENING.format(settings=settings, home=self.home, folder=str(self.releases.folder))

    def away(self) -> Driver:
        return self._driver(NOWHERE)

    def everything(self) -> list[str]:
        """All containers that carry our label, also those of a build."""
        with contextlib.closing(client()) as engine:
            return [row["Id"] for row in engine.containers(all=True, filters={"label": f"sisimpur.home={self.home}"})]

    def ends(self) -> list[str]:
        """Images without a name that nothing is built on."""
        label = {"label": f"sisimpur.home={self.home}", "dangling": True}
        with contextlib.closing(client()) as engine:
            return [row["Id"] for row in engine.images(filters=label)]

    def seen_ended(self) -> Running | None:
        found = self.driver.running(STAGING)
        return found if found and found.ended else None

    def inspected(self, place: Place = STAGING) -> Any:
        [one] = self.parts(place)
        with contextlib.closing(client()) as engine:
            return engine.inspect_container(one)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[DockerfileHome]:
    engine_or_skip().close()
    found = DockerfileHome(tmp_path / "releases")
    with cleaned_up(found.home):
        yield found


class TestDockerfileDriver(DriverContract):
    def test_what_ends_by_itself_is_seen(self, home: DriverHome) -> None:
        """Each time that it begins again is counted."""
        release = home.started("exits")

        def restarts() -> int:
            found = home.driver.running(STAGING)
            assert found
            assert (found.commit, found.ended) == (release.commit, "")
            return found.restarts if found.restarts > 1 else 0

        assert within(PATIENCE, restarts)
        assert "gives up" in home.driver.logs(STAGING)


# --- images --------------------------------------------------------------------------------------------------


def test_production_gets_the_very_image_that_was_healthy_at_staging(home: DockerfileHome) -> None:
    here = home.built()
    (home.releases.of(here.commit) / "new").write_text("it would not be the same if it were built again")
    home.driver.build(Release("production", here.commit))
    assert len(home.images()) == 2
    assert len(set(home.images().values())) == 1


def test_an_image_of_our_name_that_is_none_of_ours_is_not_run(home: DockerfileHome) -> None:
    release = Release(STAGING, home.releases.add())
    name = DockerManager(home.home).names.image(release)
    with contextlib.closing(client()) as engine:
        engine.tag(base_image(), *name.split(":"))
        try:
            with pytest.raises(ReleaseFailed, match="built first", check=lambda error: error.is_untouched):
                home.driver.start(release)
            home.driver.build(release)
            assert engine.inspect_image(name)["Config"]["Labels"]["sisimpur.commit"] == release.commit
        finally:
            engine.remove_image(name)


def test_commits_that_begin_alike_are_not_one(home: DockerfileHome) -> None:
    commit = home.built().commit
    with pytest.raises(ReleaseFailed, match="built first"):
        home.driver.start(Release(STAGING, commit[:12] + "f" * 28))


def test_a_build_that_takes_too_long_is_ended(home: DockerfileHome) -> None:
    home.set(minutes=0.05)
    talks = "import time\nwhile True: print('and so on', flush=True); time.sleep(0.2)"
    dockerfile = f"FROM {base_image()}\nRUN [{json.dumps('python3')}, {json.dumps('-c')}, {json.dumps(talks)}]\n"
    release = Release(STAGING, home.releases.add(files={"Dockerfile": dockerfile}))
    with pytest.raises(ReleaseFailed, match=r"not built after 0.05 minutes(.|\n)*and so on"):
        home.driver.build(release)
    assert within(PATIENCE, lambda: not home.everything())
    assert not home.images()


def test_what_failed_builds_leave_is_ours_and_only_the_newest_are_kept(home: DockerfileHome) -> None:
    for number in range(3):
        with pytest.raises(ReleaseFailed):
            home.built(App("unbuildable", text=f"try {number}"))
    assert len(home.ends()) == 3
    keeping_two = DockerManager(home.home, cached=2)
    assert keeping_two.clean([]) == Cleaned(builds=1)
    assert len(home.ends()) == 2
    assert not keeping_two.clean([]).any


def test_an_image_that_lost_its_name_goes_but_not_what_somebody_made_of_one(home: DockerfileHome) -> None:
    name = DockerManager(home.home).names.image(home.built())
    with contextlib.closing(client()) as engine:
        container = engine.create_container(name, "true")["Id"]
        somebodys = engine.commit(container)["Id"]
        engine.remove_container(container)
        engine.tag(base_image(), *name.split(":"))
        for _ in range(2):  # the second time there is nothing to do
            DockerManager(home.home, cached=0).clean([])
        assert home.ends() == [somebodys]
        engine.remove_image(name)


def test_the_last_lines_of_a_build_are_what_was_printed(home: DockerfileHome) -> None:
    """Not what the builder says of its steps."""
    steps = "".join(f"ENV A{number}=1\n" for number in range(8))
    dockerfile = f"FROM {base_image()}\nRUN echo said long before\n{steps}RUN echo said at last; exit 1\n"
    with pytest.raises(ReleaseFailed) as failed:
        home.driver.build(Release(STAGING, home.releases.add(files={"Dockerfile": dockerfile})))
    first, *lines = str(failed.value).splitlines()
    assert "returned a non-zero code: 1" in first
    assert lines == ["said long before", "said at last"]


@pytest.mark.parametrize(
    ("files", "settings", "why"),
    [
        pytest.param({}, {"dockerfile": "no/such"}, "there is no no/such in this commit", id="no Dockerfile"),
        pytest.param({"Dockerfile": "FROM scratch\nRUM x\n"}, {}, "unknown instruction: RUM", id="not one"),
        pytest.param({"Dockerfile": "FROM scratch\nCOPY x y\n"}, {}, "could not be built", id="no such file"),
    ],
)
def test_why_it_could_not_be_built_is_told(
    home: DockerfileHome, files: Mapping[str, str], settings: Mapping[str, Any], why: str
) -> None:
    home.set(**settings)
    with pytest.raises(ReleaseFailed, match=why):
        home.driver.build(Release(STAGING, home.releases.add(files=files)))


# --- containers ----------------------------------------------------------------------------------------------


def test_a_container_has_what_the_owner_says_its_limits_and_no_more(home: DockerfileHome, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# mine\nexport KEY='a b'\nWHO=file\n")
    words = {"env": {"WHO": "config"}, "env_file": str(tmp_path / "keys"), "volumes": {"data": "/kept"}}
    home.set(staging=words, memory=64, cpus=0.5, capabilities=["CHOWN"])
    release = home.started()
    env = json.loads(page(home.ports[STAGING], "/env"))
    assert (env["KEY"], env["WHO"]) == ("a b", "config")

    found = home.inspected()
    assert found["Name"] == f"/sisimpur-{home.home}-staging"
    labels = {"home": home.home, "place": "staging", "commit": release.commit}
    assert {name: found["Config"]["Labels"][f"sisimpur.{name}"] for name in labels} == labels
    limits = found["HostConfig"]
    assert (limits["Memory"], limits["MemorySwap"], limits["NanoCpus"]) == (64 << 20, 64 << 20, 500_000_000)
    assert limits["PidsLimit"] == 512
    assert limits["SecurityOpt"] == ["no-new-privileges"]
    assert limits["CapDrop"] == ["ALL"] and [one.removeprefix("CAP_") for one in limits["CapAdd"]] == ["CHOWN"]
    assert limits["LogConfig"] == {"Type": "json-file", "Config": {"max-file": "3", "max-size": "10m"}}
    assert limits["Init"] is True
    assert not limits["Privileged"]
    assert limits["RestartPolicy"]["Name"] == "unless-stopped"
    bound = {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(home.ports[STAGING])}]}
    assert found["NetworkSettings"]["Ports"] == bound

    assert page(home.ports[STAGING], "/kept") == "1"
    home.started()
    assert page(home.ports[STAGING], "/kept") == "2"  # one version to the next


def test_what_was_stopped_by_hand_has_ended(home: DockerfileHome) -> None:
    release = home.started("stubborn")
    assert home.says(release)
    with contextlib.closing(client()) as engine:
        engine.kill(home.parts(STAGING)[0])
    found = within(PATIENCE, home.seen_ended)
    assert found == Running(release.commit, "it was ended by signal 9")
    home.driver.start(release)
    assert home.says(release)


def test_a_container_of_our_name_that_is_none_of_ours_stays(home: DockerfileHome) -> None:
    release, name = home.built(), f"sisimpur-{home.home}-staging"
    with contextlib.closing(client()) as engine:
        somebodys = engine.create_container(base_image(), name=name)["Id"]
        try:
            with pytest.raises(Misconfigured, match=f"docker rm -f {name}"):
                home.driver.start(release)
            assert home.driver.running(STAGING) is None
            assert engine.inspect_container(somebodys)["Name"] == f"/{name}"
        finally:
            engine.remove_container(somebodys, force=True)


@pytest.mark.parametrize(
    ("settings", "error", "why"),
    [
        pytest.param({"cpus": 200}, Misconfigured, "`deploy.cpus`", id="more processors than there are"),
        pytest.param({"staging": {"env_file": "/no/such"}}, Misconfigured, "there is no /no/such", id="no env_file"),
        pytest.param(
            {"staging": {"volumes": {"data": "/app/app.py"}}}, ReleaseFailed, "does not start", id="no folder"
        ),
    ],
)
def test_why_it_does_not_start_is_told(
    home: DockerfileHome, settings: Mapping[str, Any], error: type[Exception], why: str
) -> None:
    home.set(**settings)
    release = home.built()
    with pytest.raises(error, match=why):
        home.driver.start(release)
    assert home.parts(STAGING) == []


def test_what_does_not_start_leaves_nothing(home: DockerfileHome) -> None:
    release = Release(STAGING, home.releases.add(files={"Dockerfile": f"FROM {base_image()}\nUSER nosuch\n"}))
    home.driver.build(release)
    with pytest.raises(ReleaseFailed, match="nosuch") as failed:
        home.driver.start(release)
    assert not failed.value.is_untouched
    assert home.parts(STAGING) == []


def test_the_container_that_has_the_port_is_named_and_what_runs_stays(home: DockerfileHome) -> None:
    here = home.started()
    there = Release("production", here.commit)
    home.driver.build(there)
    home.driver.start(there)
    assert isinstance(home.driver, HasPorts)
    assert home.driver.has_port(STAGING)
    home.set(staging={"port": home.ports["production"]}, production={"port": home.ports[STAGING]})
    assert isinstance(home.driver, HasPorts)
    assert not home.driver.has_port(STAGING)
    next_one = home.built()
    with pytest.raises(
        ReleaseFailed,
        match=f"container sisimpur-{home.home}-production: .*deploy.staging.port",
        check=lambda error: error.is_untouched,
    ):
        home.driver.start(next_one)
    assert home.driver.running(STAGING) == Running(here.commit)
    assert home.says(here)
