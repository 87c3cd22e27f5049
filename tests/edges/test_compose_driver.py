"""A target of several containers, at a real engine, by the compose that is installed here."""

from __future__ import annotations

import contextlib
import os
import stat
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.compose.compose_command import ComposeCommand
from sisimpur.agents.devops.compose.compose_driver import ComposeDriver
from sisimpur.agents.devops.compose.compose_values import MOST_TOLD
from sisimpur.agents.devops.docker.docker_manager import DockerManager
from sisimpur.agents.devops.drivers.driver import Driver, EngineAway, Release, ReleaseFailed
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Running
from sisimpur.shared.model.errors import Misconfigured
from tests.docker_scene import (
    App,
    Kind,
    Releases,
    base_image,
    cleaned_up,
    client,
    engine_or_skip,
    free_port,
    new_home_id,
    occupied,
    page,
    within,
)
from tests.edges.deploy_contract import PATIENCE, STAGING, DriverContract, EngineHome
from tests.killing import at_length, killed_at

pytestmark = pytest.mark.docker

NOWHERE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
FILE = "services: {web: {build: .}}\n"

OPENING = """
import os
from pathlib import Path
from sisimpur.agents.devops.compose.compose_command import ComposeCommand
from sisimpur.agents.devops.compose.compose_driver import ComposeDriver
from sisimpur.agents.devops.docker.docker_manager import DockerManager
from sisimpur.shared.config.settings_deploy import DeploySettings
settings = DeploySettings.model_validate_json({settings!r})
manager, command = DockerManager({home!r}), ComposeCommand({{"PATH": os.environ["PATH"]}})
driver = ComposeDriver(manager, command, settings, Path({releases!r}).joinpath, Path({folder!r}))
"""


class FilesWithCompose(Releases):
    """Each commit has a compose file, too."""

    def add(self, app: App | Kind = "healthy", files: Mapping[str, str] | None = None) -> str:
        return super().add(app, {"docker-compose.yml": FILE, **(files or {})})


class ComposeHome(EngineHome):
    def __init__(self, folder: Path, **more: Any) -> None:
        self.home = new_home_id()
        self.releases = FilesWithCompose(folder / "releases")
        self.folder = folder / "compose"
        self.ports = {place: free_port() for place in PLACES}
        self.set(**more)

    def set(self, staging: Mapping[str, Any] | None = None, **more: Any) -> None:
        """The owner's words, beside driver and ports."""
        places = {place: {"port": port} for place, port in self.ports.items()}
        places[STAGING] = {**places[STAGING], **(staging or {})}
        self.settings = DeploySettings.model_validate({"driver": "compose", "memory": 128, **places, **more})
        self.driver = self._driver({})

    def _driver(self, environment: Mapping[str, str]) -> ComposeDriver:
        environment = {"PATH": os.environ["PATH"], **environment}
        manager, command = DockerManager(self.home, environment), ComposeCommand(environment)
        return ComposeDriver(manager, command, self.settings, self.releases.of, self.folder)

    def opening(self) -> str:
        return OPENING.format(
            settings=self.settings.model_dump_json(),
            home=self.home,
            releases=str(self.releases.folder),
            folder=str(self.folder),
        )

    def away(self) -> Driver:
        return self._driver(NOWHERE)

    # --- in a test's words ---------------------------------------------------------------------------------------

    def given(self, compose: str, files: Mapping[str, str] | None = None, app: App | Kind = "healthy") -> Release:
        text = textwrap.dedent(compose).replace("BASE", base_image())
        return Release(STAGING, self.releases.add(app, {"docker-compose.yml": text, **(files or {})}))

    def runs(self, release: Release) -> Release:
        self.driver.build(release)
        self.driver.start(release)
        return release

    def container(self, service: str) -> Any:
        [row] = [row for row in self.rows() if row["Labels"]["com.docker.compose.service"] == service]
        with contextlib.closing(client()) as engine:
            return engine.inspect_container(row["Id"])

    def environment(self, service: str = "web") -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.container(service)["Config"]["Env"])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[ComposeHome]:
    engine_or_skip().close()
    found = ComposeHome(tmp_path)
    try:
        found.driver.check()
    except Misconfigured as missing:
        pytest.skip(str(missing))
    with cleaned_up(found.home):
        yield found


@at_length  # the older compose needs half a second for each word, and an engine a second for each container
class TestComposeDriver(DriverContract):
    pass


# --- several services ----------------------------------------------------------------------------------------

TWO = """
services:
  web:
    build: .
    depends_on: {db: {condition: service_healthy}, migrate: {condition: service_completed_successfully}}
    volumes: ["./conf:/conf", "kept:/kept"]
    ports: ["80:8000"]
    container_name: the-web
  migrate: {build: ., command: [python3, -c, "print('migrated')"]}
  db:
    image: BASE
    command: [python3, -c, "import socket; s = socket.create_server(('', 9000)); [s.accept() for _ in iter(int, 1)]"]
    stop_signal: SIGKILL
    healthcheck:
      test: [CMD, python3, -c, "import socket; socket.create_connection(('127.0.0.1', 9000))"]
      interval: 0.2s
      retries: 99
volumes: {kept: }
"""


def test_services_that_need_each_other_and_a_database_that_stays(home: ComposeHome) -> None:
    first = home.runs(home.given(TWO, {"conf/a": "1"}))
    assert home.says(first)
    assert home.driver.running(STAGING) == Running(first.commit)
    assert page(home.ports[STAGING], "/kept") == "1"
    database, web = home.container("db")["Id"], home.container("web")
    assert web["HostConfig"]["PortBindings"] == {
        "8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(home.ports[STAGING])}]
    }
    assert web["HostConfig"]["Privileged"] is False
    assert web["HostConfig"]["Memory"] == 128 * 1024 * 1024
    assert {mount["Destination"]: mount["RW"] for mount in web["Mounts"]} == {"/conf": False, "/kept": True}
    assert "migrated" in home.driver.logs(STAGING)

    second = home.runs(home.given(TWO, {"conf/a": "2"}))
    assert home.says(second)
    assert page(home.ports[STAGING], "/kept") == "2"
    assert home.container("db")["Id"] == database
    home.driver.clean([first])
    assert home.driver.running(STAGING) == Running(second.commit)


@at_length
def test_what_is_not_in_the_file_any_more_goes_and_a_part_that_is_gone_is_missed(home: ComposeHome) -> None:
    worker = "\n  worker: {build: ., command: [python3, -c, 'import time; time.sleep(999)'], stop_signal: KILL}"
    home.runs(home.given(f"services:\n  web: {{build: .}}{worker}"))
    assert len(home.rows()) == 2
    with contextlib.closing(client()) as engine:
        engine.remove_container(home.container("worker")["Id"], force=True)
    found = home.driver.running(STAGING)
    assert found
    assert "worker is not there" in found.ended
    second = home.runs(home.given("services: {web: {build: .}}"))
    assert len(home.rows()) == 1
    assert home.driver.running(STAGING) == Running(second.commit)


@at_length
def test_a_part_that_ends_badly_is_told(home: ComposeHome) -> None:
    home.runs(home.given("services: {web: {build: .}, worker: {build: ., command: [python3, -c, 'exit(5)']}}"))
    assert within(PATIENCE, lambda: "exit code 5" in getattr(home.driver.running(STAGING), "ended", ""))


# --- whose words count ---------------------------------------------------------------------------------------


def test_a_hostile_env_file_decides_nothing(home: ComposeHome) -> None:
    hostile = "COMPOSE_PROJECT_NAME=theirs\nCOMPOSE_FILE=evil.yml\nDOCKER_HOST=tcp://192.0.2.1:1\nTAG=evil\nCOMPOSE_PROFILES=evil\n"
    evil = "services: {web: {image: evil, privileged: true}}"
    text = "services: {web: {build: ., environment: {SAYS: '${TAG:-good} $${TAG}'}}, x: {image: y, profiles: [evil]}}"
    release = home.runs(home.given(text, {".env": hostile, "evil.yml": evil, "docker-compose.override.yml": evil}))
    assert home.says(release)
    assert home.environment()["SAYS"] == "good ${TAG}"
    assert len(home.rows()) == 1


NAMED = "services: {web: {build: ., env_file: .env}}"


@at_length
def test_an_env_file_that_is_missing_is_asked_for_and_the_owners_is_used(home: ComposeHome, tmp_path: Path) -> None:
    with pytest.raises(ReleaseFailed, match=r"services\.web\.env_file.*deploy\.staging\.env_file"):
        home.driver.build(home.given(NAMED))
    (tmp_path / "empty").touch()
    home.set({"env_file": str(tmp_path / "empty")})
    assert home.says(home.runs(home.given(NAMED)))
    (tmp_path / "own").write_text("SECRET=a$b ${c} 'd' \"e\"\nPORT=8000\n")
    home.set({"env_file": str(tmp_path / "own")})
    assert home.says(home.runs(home.given(NAMED)))
    assert home.environment()["SECRET"] == "a$b ${c} 'd' \"e\""
    written = home.folder / STAGING / "compose.json"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    (tmp_path / "own").unlink()
    with pytest.raises(Misconfigured, match="own"):
        home.driver.build(home.given(NAMED))


@at_length
def test_one_of_the_repository_is_read_as_it_is(home: ComposeHome) -> None:
    home.runs(home.given(NAMED, {".env": "A=$HOME\n"}))
    assert home.environment()["A"] == "$HOME"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("services: {web: {build: ., volumes: ['./out:/x']}}", "services.web.volumes[0]"),
        ("services: {web: {build: ., volumes: ['./out/passwd:/x']}}", "services.web.volumes[0]"),
        ("services: {web: {build: ., volumes: ['./absent:/x']}}", "named volume"),
        ("services: {web: {build: out}}", "services.web.build.context"),
        ("services: {web: {build: {context: ., dockerfile: out/passwd}}}", "services.web.build.dockerfile"),
        ("services: {web: {build: {context: ., dockerfile: Absent}}}", "services.web.build.dockerfile"),
        ("services: {web: {build: ignoring}}", "services.web.build.context"),
        ("services: {web: {build: ., env_file: out/environment}}", "env_file"),
        ("services: {web: {build: ., privileged: true, pid: host}}", "services.web.pid"),
        ("services: &a {web: {build: .}}", "anchors"),
        ("services: [", "docker-compose.yml"),
    ],
)
def test_what_leads_out_of_the_repository_by_a_link_is_refused(home: ComposeHome, text: str, key: str) -> None:
    release = home.given(text, {"ignoring/Dockerfile": "FROM scratch"})
    folder = home.releases.of(release.commit)
    (folder / "out").symlink_to("/etc")
    (folder / "ignoring" / ".dockerignore").symlink_to("/etc/passwd")
    for act in (home.driver.build, home.driver.start):
        with pytest.raises(ReleaseFailed) as caught:
            act(release)
        assert key in str(caught.value)
        assert "root:" not in str(caught.value)
    assert home.rows() == []


def test_a_compose_file_that_is_not_there_or_is_a_link(home: ComposeHome) -> None:
    release = home.given("x")
    path = home.releases.of(release.commit) / "docker-compose.yml"
    path.unlink()
    with pytest.raises(ReleaseFailed, match=r"there is no docker-compose\.yml"):
        home.driver.build(release)
    path.symlink_to("/etc/passwd")
    with pytest.raises(ReleaseFailed, match="link"):
        home.driver.build(release)


def test_each_thing_that_is_wrong_is_told_whole_up_to_a_number(home: ComposeHome) -> None:
    mounts = ", ".join(f"'./absent-{number}:/x{number}'" for number in range(50))
    with pytest.raises(ReleaseFailed) as caught:
        home.driver.build(home.given(f"services: {{web: {{build: ., volumes: [{mounts}]}}}}"))
    _, *problems, last = str(caught.value).splitlines()
    assert len(problems) == MOST_TOLD
    assert all(f"there is no absent-{at} in the repository" in one for at, one in enumerate(problems))
    assert last == f"and {50 - MOST_TOLD} more"


class _NothingThere(BaseHTTPRequestHandler):
    """A registry without any image."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/v2/" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_an_image_that_is_nowhere_cannot_be_built_on_and_a_registry_that_is_away_is_no_commits_fault(
    home: ComposeHome,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _NothingThere) as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        release = home.given(f"services: {{web: {{build: .}}, db: {{image: '127.0.0.1:{registry.server_port}/x:1'}}}}")
        with pytest.raises(ReleaseFailed, match="pull of"):
            home.driver.build(release)
        registry.shutdown()
    with pytest.raises(EngineAway, match="registry"):
        home.driver.build(release)


def test_the_owners_values_are_not_told(home: ComposeHome) -> None:
    home.set({"env": {"SECRET": "hunter2hunter2"}})
    release = home.given(
        "services: {web: {build: {context: ., args: {A: '${SECRET}'}}}}",
        {"Dockerfile": f"FROM {base_image()}\nARG A\nRUN echo it says $A; exit 1\n"},
    )
    with pytest.raises(ReleaseFailed) as caught:
        home.driver.build(release)
    assert "it says ***" in str(caught.value)
    assert " ---> " not in str(caught.value)
    with contextlib.closing(client()) as engine:  # what was left of it is known to be ours
        assert engine.images(filters={"label": f"sisimpur.home={home.home}", "dangling": True})
    assert "hunter2" not in str(caught.value)


def test_a_port_of_somebody_elses_is_found_before_anything_ends(home: ComposeHome) -> None:
    first = home.started()
    taken = free_port()
    home.set(staging={"port": taken})
    with (
        occupied(taken),
        pytest.raises(
            ReleaseFailed,
            match=f"port {taken} is taken by python.*deploy.staging.port",
            check=lambda error: error.is_untouched,
        ),
    ):
        home.driver.start(home.built())
    assert home.driver.running(STAGING) == Running(first.commit)
    assert home.says(first)


# --- compose itself ------------------------------------------------------------------------------------------


@at_length
@pytest.mark.parametrize("seconds", [0.6, 1.2, 2.0])
def test_a_compose_that_is_killed_itself_is_healed(home: ComposeHome, seconds: float) -> None:
    old, new = home.runs(home.given(TWO, {"conf/a": "1"})), home.given(TWO.replace("9000", "9001"), {"conf/a": "2"})
    home.driver.build(new)
    command = ComposeCommand({"PATH": os.environ["PATH"]}, minutes=seconds / 60)
    manager = DockerManager(home.home)
    cut = ComposeDriver(manager, command, home.settings, home.releases.of, home.folder)
    with contextlib.suppress(ReleaseFailed):  # the last ones may come to their end
        cut.start(new)
    for goal in (new, old):
        home.driver.start(goal)
        assert home.driver.running(STAGING) == Running(goal.commit)
        assert home.says(goal)
        assert len(home.rows()) == 3


@at_length
def test_a_compose_that_outlives_us_is_waited_for(home: ComposeHome) -> None:
    """Killed while it starts, we begin anew: two at once would get into each other's way."""
    new = home.built()
    killed_at("deploy.compose-written", home.other_process(new))
    lock = home.folder / STAGING / "lock"
    lock.touch()
    began = time.monotonic()
    code = "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(2)"
    pid = os.posix_spawnp("python3", ["python3", "-c", code, str(lock)], os.environ)
    try:
        time.sleep(0.5)
        home.driver.start(new)
        assert time.monotonic() - began > 2
        assert home.says(new)
    finally:
        os.waitpid(pid, 0)


@pytest.mark.parametrize(
    ("says", "finds"),
    [
        ({"docker": "2.27.0", "docker-compose": "1.29.2"}, "docker-compose 2.27.0"),
        ({"docker": "v2.3.3+ds1-2", "docker-compose": None}, "docker-compose 2.3.3+ds1-2"),
        ({"docker": None, "docker-compose": "1.29.2"}, "docker-compose 1.29.2"),
        ({"docker": None, "docker-compose": "2.20.0"}, "docker-compose 2.20.0"),
        ({"docker": None, "docker-compose": "1.25.0"}, "too old"),
        ({"docker": "something", "docker-compose": None}, "apt install"),
        ({}, "apt install"),
    ],
)
def test_the_newest_generation_that_is_here_is_found(
    tmp_path: Path, says: Mapping[str, str | None], finds: str
) -> None:
    for name, version in says.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {version}\n" if version else "#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    command = ComposeCommand({"PATH": str(tmp_path)})
    try:
        assert command.find().name == finds
    except Misconfigured as wrong:
        assert finds in str(wrong)


def test_it_gets_an_environment_of_our_own(tmp_path: Path) -> None:
    program = tmp_path / "docker-compose"
    program.write_text('#!/bin/sh\n[ "$1" = version ] && echo 1.29.2 && exit\nenv; echo "$@"; pwd\n')
    program.chmod(0o755)
    theirs = {"COMPOSE_FILE": "x", "DOCKER_CONTEXT": "y", "LD_PRELOAD": "", "SECRET": "z", "DOCKER_CERT_PATH": "/certs"}
    command = ComposeCommand({**theirs, "PATH": f".:{tmp_path}:/usr/bin:/bin", "HOME": "/home"}, minutes=1)
    (tmp_path / "work").mkdir()
    said = command.run("name", tmp_path / "work" / "f.json", ("up",)).text
    names = {line.partition("=")[0] for line in said.splitlines() if "=" in line}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {
        *("PATH", "HOME", "DOCKER_HOST", "DOCKER_CERT_PATH", "COMPOSE_HTTP_TIMEOUT", "COMPOSE_DOCKER_CLI_BUILD")
    }
    assert f"PATH={tmp_path}:/usr/bin:/bin" in said
    assert f"--project-name name --project-directory {tmp_path}/work --env-file {tmp_path}/work/no-variables" in said
