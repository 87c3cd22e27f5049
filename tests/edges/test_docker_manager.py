"""An engine that is not there, is old, full, or stops in the middle: each is one line. Scripted; needs no Docker."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.docker.docker_engine import connected
from sisimpur.agents.devops.docker.docker_manager import DockerManager
from sisimpur.agents.devops.docker.docker_words import Container, Names, plain, summed_up, why_away
from sisimpur.agents.devops.drivers.driver import EngineAway, Release, ReleaseFailed
from sisimpur.shared.model.deployment import Running
from sisimpur.shared.model.errors import Misconfigured, TeamError
from tests.killing import finishes, snippet

HOME = "0123456789ab"
RELEASE = Release("staging", "c" * 40)


def response(status: int, body: Any, length: int | None = None) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    length = length or len(data)
    head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}"
    return head.encode() + b"\r\n\r\n" + data


def chunked(*events: Any, end: bool = True) -> bytes:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    lines = [json.dumps(event).encode() + b"\r\n" for event in events]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in lines) + (b"0\r\n\r\n" if end else b"")


VERSION = response(200, {"ApiVersion": "1.41", "Version": "20.10.24+x"})


class Engine:
    """Says the same to everything but the question for its version; None: nothing, and for long."""

    def __init__(self, folder: Path, answer: bytes | None, version: bytes = VERSION) -> None:
        self.path = folder / "docker.sock"
        self.asked: list[str] = []
        self._answer, self._version, self._open = answer, version, list[socket.socket]()
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self.path))
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": f"unix://{self.path}"}

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._hear, args=(self._door.accept()[0],), daemon=True).start()

    def _hear(self, caller: socket.socket) -> None:
        self._open.append(caller)
        with contextlib.suppress(OSError), caller.makefile("rb") as words:
            first = words.readline().decode()
            for line in iter(words.readline, b"\r\n"):
                if not line:
                    return
            self.asked.append(first)
            answer = self._version if "/version" in first else self._answer
            if answer is None:
                return
            caller.sendall(answer)
            caller.shutdown(socket.SHUT_RDWR)
            caller.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # it is closed already
            self._door.shutdown(socket.SHUT_RDWR)  # wakes who waits at it
        self._door.close()
        for one in self._open:
            one.close()


Make = Callable[..., Engine]


@pytest.fixture
def engine() -> Iterator[Make]:
    with tempfile.TemporaryDirectory(prefix="engine-") as name, contextlib.ExitStack() as ends:

        def make(answer: bytes | None, version: bytes = VERSION) -> Engine:
            made = Engine(Path(name), answer, version)
            ends.callback(made.close)
            return made

        yield make


# --- one line for each ---------------------------------------------------------------------------------------

FULL = response(500, {"message": "write /var/lib/docker/x: no space left on device"})


@pytest.mark.parametrize(
    ("answer", "version", "error", "says"),
    [
        pytest.param(b"", VERSION, EngineAway, "does not answer any more", id="it hangs up"),
        pytest.param(b"", b"", EngineAway, "does not answer any more", id="at once"),
        pytest.param(b"what?\r\n", VERSION, EngineAway, "does not answer any more", id="it is something else"),
        pytest.param(response(200, b"[{", 50), VERSION, EngineAway, "does not answer", id="half an answer"),
        pytest.param(FULL, VERSION, EngineAway, "docker system df", id="it is full"),
        pytest.param(response(503, {"message": "later"}), VERSION, EngineAway, "later", id="it has no time"),
        pytest.param(response(500, {"message": "odd"}), VERSION, EngineAway, "Docker says: odd", id="it says no"),
        pytest.param(
            b"", response(200, {"ApiVersion": "1.40", "Version": "19"}), Misconfigured, "install Docker 20.10", id="old"
        ),
    ],
)
def test_whatever_it_says_is_one_line(
    engine: Make, answer: bytes, version: bytes, error: type[TeamError], says: str
) -> None:
    manager = DockerManager(HOME, engine(answer, version).environment)
    for ask in (
        lambda: manager.containers_of("staging"),
        manager.images,
        lambda: manager.publisher(80),
        lambda: manager.tag(manager.images()[0], RELEASE),
        lambda: manager.volume("data", "staging"),
        lambda: manager.start("x"),
        lambda: manager.stop("x"),
        lambda: manager.remove("x"),
        lambda: manager.clean([]),
    ):
        with pytest.raises(error, match=says) as told:
            ask()
        assert "\n" not in str(told.value)
        assert type(told.value) is error


def test_one_that_says_nothing_is_not_waited_for(engine: Make) -> None:
    with pytest.raises(EngineAway, match="does not answer"), connected(engine(None).environment, seconds=1) as one:
        one.containers()


def test_an_engine_that_goes_away_in_the_middle_leaves_no_socket_open(engine: Make) -> None:
    """Python closes such a socket some time later, in the middle of another test, with a warning."""
    one = engine(b"")
    gc.collect()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(EngineAway, match="refused"), connected(one.environment) as asked:
            one.close()
            asked.containers()
        gc.collect()
    assert [str(warning.message) for warning in told] == []


def test_the_version_is_told(engine: Make) -> None:
    assert DockerManager(HOME, engine(VERSION).environment).check() == "Docker 20.10.24"


def test_without_one_the_owner_is_told_what_to_type(tmp_path: Path) -> None:
    gone = DockerManager(HOME, {"DOCKER_HOST": f"unix://{tmp_path}/docker.sock"})
    with pytest.raises(
        EngineAway, match=r"there is no .*docker.sock; install it, or type: sudo systemctl start docker"
    ):
        gone.check()


def test_a_socket_that_nobody_listens_at_is_an_engine_that_is_away(engine: Make) -> None:
    left = engine(b"")
    left.close()
    with pytest.raises(EngineAway, match="type `sudo systemctl start docker`"):
        DockerManager(HOME, left.environment).check()


def test_the_engine_of_another_machine_is_not_asked() -> None:
    with pytest.raises(Misconfigured, match="not of this machine: type `unset DOCKER_HOST`"):
        DockerManager(HOME, {"DOCKER_HOST": "tcp://10.0.0.1:2375"}).check()


@pytest.mark.parametrize("host", ["tcp://127.0.0.1:1", "tcp://localhost:99999"])
def test_a_port_at_which_nobody_answers_is_said_plainly(host: str) -> None:
    with pytest.raises(
        EngineAway, match=rf"nobody answers at {host}, which DOCKER_HOST names .*unset DOCKER_HOST"
    ) as away:
        DockerManager(HOME, {"DOCKER_HOST": host}).check()
    assert "HTTPConnectionPool" not in str(away.value)


def test_who_may_not_use_it_is_told_how_to(engine: Make) -> None:
    one = engine(VERSION)
    one.path.parent.chmod(0o755)
    one.path.chmod(0o600)
    if os.getuid():
        one.path.chmod(0)
    code = """
        import os, docker, sys
        from sisimpur.shared.model.errors import Misconfigured
        from sisimpur.agents.devops.docker.docker_manager import DockerManager
        manager = DockerManager(sys.argv[1], {"DOCKER_HOST": "unix://" + sys.argv[2]})
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            manager.check()
        except Misconfigured as error:
            print(error)
    """
    said = finishes(snippet(code, HOME, str(one.path))).text
    assert "usermod -aG docker" in said
    assert "log in again" in said


def test_passwords_that_cannot_be_had_are_the_owners_to_mend(engine: Make, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"credsStore": "gone"}')
    code = """
        import io, sys
        from sisimpur.shared.model.errors import Misconfigured
        from sisimpur.agents.devops.docker.docker_manager import DockerManager
        from sisimpur.agents.devops.drivers.driver import Release
        manager = DockerManager(sys.argv[1], {"DOCKER_HOST": "unix://" + sys.argv[2]})
        try:
            manager.build(io.BytesIO(), Release("staging", "c" * 40), "Dockerfile", 20)
        except Misconfigured as error:
            print(error)
    """
    done = finishes(snippet(code, HOME, str(engine(VERSION).path)), {"DOCKER_CONFIG": str(tmp_path)})
    assert "docker-credential-gone" in done.text


# --- a build that breaks off ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        pytest.param(chunked({"stream": "Step 1\n"}), EngineAway, "in the middle of a build", id="no last word"),
        pytest.param(chunked({"stream": "Step 1\n"}, end=False), EngineAway, "not answer", id="cut off"),
        pytest.param(
            chunked({"stream": "Step 1\n"}, {"error": "\x1b[31mx:  no space left on device"}),
            EngineAway,
            "docker system df",
            id="no room",
        ),
        pytest.param(
            chunked({"error": 'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry: no such host'}),
            EngineAway,
            "registry of the base image does not answer",
            id="no registry",
        ),
        pytest.param(
            chunked({"stream": "Step 1\n\x1b[1mgreen\x1b[0m\n10%\r99%\n"}, {"error": "exit 3"}),
            ReleaseFailed,
            "could not be built: exit 3\nStep 1\ngreen\n99%$",
            id="its own fault",
        ),
        pytest.param(
            response(400, {"message": "dockerfile parse error"}), ReleaseFailed, "parse error", id="no Dockerfile"
        ),
        pytest.param(
            response(404, {"message": "pull access denied for x, repository does not exist"}),
            ReleaseFailed,
            "pull access denied",
            id="no such base",
        ),
    ],
)
def test_what_a_builder_says_is_the_commits_fault_or_not(
    engine: Make, answer: bytes, error: type[TeamError], says: str
) -> None:
    manager = DockerManager(HOME, engine(answer).environment)
    with tempfile.TemporaryFile() as context, pytest.raises(error, match=says):
        manager.build(context, RELEASE, "Dockerfile", 20)


def test_only_the_last_lines_of_a_build_are_told(engine: Make) -> None:
    events = [{"stream": f"line {number} {'x' * 5_000}\n"} for number in range(100)]
    manager = DockerManager(HOME, engine(chunked(*events, {"error": "z" * 5_000})).environment)
    with tempfile.TemporaryFile() as context, pytest.raises(ReleaseFailed) as told:
        manager.build(context, RELEASE, "Dockerfile", 20)
    why, *lines = str(told.value).splitlines()
    assert [line.split()[1] for line in lines] == [str(number) for number in range(70, 100)]
    assert max(map(len, (why, *lines))) <= 500


# --- words ---------------------------------------------------------------------------------------------------


def container(commit: str = "a" * 40, state: str = "running", **more: Any) -> Container:
    return Container("id", more.pop("name", "web"), "staging", commit, state, **more)


@pytest.mark.parametrize(
    ("containers", "said"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([container()], Running("a" * 40), id="runs"),
        pytest.param([container(restarts=2, state="restarting")], Running("a" * 40, "", 2), id="again and again"),
        pytest.param([container(state="created")], Running("a" * 40, "it was never started"), id="half started"),
        pytest.param([container(state="exited", exit_code=3)], Running("a" * 40, "it ended with exit code 3"), id="3"),
        pytest.param([container(state="exited", exit_code=137)], Running("a" * 40, "it was ended by signal 9"), id="9"),
        pytest.param(
            [container(state="exited", exit_code=137, out_of_memory=True)],
            Running("a" * 40, "it took more memory than `deploy.memory` allows"),
            id="memory",
        ),
        pytest.param(
            [container(name="web"), container("", name="db", restarts=1)], Running("a" * 40, "", 1), id="two parts"
        ),
        pytest.param(
            [container(name="web"), container(name="jobs", state="exited")],
            Running("a" * 40, "jobs ended with exit code 0"),
            id="one of two ended",
        ),
        pytest.param(
            [container(created="2"), container("b" * 40, created="1")],
            Running("a" * 40, "containers of several commits at once: bbbbbbbbbbbb, aaaaaaaaaaaa"),
            id="two commits",
        ),
    ],
)
def test_a_place_is_as_well_as_all_its_parts(containers: list[Container], said: Running | None) -> None:
    assert summed_up(containers) == said


def test_names_of_ours_are_told_from_those_that_look_alike() -> None:
    names = Names(HOME)
    assert names.released(names.image(RELEASE)) == ("staging", "c" * 12)
    assert names.released(f"sisimpur-{HOME}-staging-web:{'c' * 12}") == ("staging", "c" * 12)
    for other in (
        f"sisimpur-{HOME}-stagings:{'c' * 12}",
        f"sisimpur-{HOME}-staging:latest",
        f"sisimpur-{'f' * 12}-staging:{'c' * 12}",
        f"registry/sisimpur-{HOME}-staging:{'c' * 12}",
    ):
        assert names.released(other) is None
    assert names.is_at("staging", f"sisimpur-{HOME}-staging_web_1")
    assert not names.is_at("staging", f"my-sisimpur-{HOME}-staging")
    assert not names.is_at("staging", f"sisimpur-{HOME}-stagings")
    with pytest.raises(ValueError, match="12 hexadecimal"):
        Names("../etc")


def test_text_from_a_container_is_text() -> None:
    assert plain("a\x1b[31mb\x1b[0m\x00\u202ec\r\n10%\r20%\nüß — ✓") == "abc\n20%\nüß — ✓"
    assert why_away("exit code 3") == ""
