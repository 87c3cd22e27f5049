"""A target that runs in a box with one port: the contract of drivers, and what it reaches and what reaches it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.box_driver import BoxDriver
from sisimpur.agents.devops.drivers.driver import Release, ReleaseFailed
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.sandbox.box import find_box, hand_over
from sisimpur.shared.system.process import Finished, run
from tests.docker_scene import free_port, occupied, page, within
from tests.edges.deploy_contract import PATIENCE, DriverContract, DriverHome
from tests.edges.test_command_driver import Commits


class Boxed(Commits):
    """What builds and runs in a box is the box's."""

    def of(self, commit: str) -> Path:
        folder = super().of(commit)
        if folder.is_dir():
            hand_over(folder)
        return folder


def driver(root: Path, ports: Mapping[Place, int], **more: Any) -> BoxDriver:
    place = {"env": {"HOST": "127.0.0.1"}, "start": ["python3", "{folder}/app.py"], **more}
    settings = DeploySettings.model_validate(
        {"driver": "command", **{name: {**place, "port": ports[name]} for name in PLACES}}
    )
    return BoxDriver(settings, Boxed(root / "commits"), root / "state", root, lambda: find_box(root / "scratch"))


def keepers(root: Path) -> Iterator[tuple[str, str]]:
    """Process and folder of each of our keepers: they name it among their words."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            mine = [word for word in words if word.startswith(os.fsencode(root / "state")) and word.endswith(b".box")]
            if mine and b"-c" in words:
                yield folder.name, mine[0].decode()


class BoxHome(DriverHome):
    sees_ends = has_images = False

    def __init__(self, root: Path) -> None:
        self.root, self.ports = root, {place: free_port() for place in PLACES}
        self.releases = Boxed(root / "commits")
        self.driver = driver(root, self.ports)

    def opening(self) -> str:
        return (
            "from pathlib import Path\nfrom tests.edges.test_box_driver import driver as made\n"
            f"driver = made(Path({str(self.root)!r}), {self.ports!r})"
        )

    def parts(self, place: Place) -> Sequence[str]:
        return [pid for pid, folder in keepers(self.root) if folder.endswith(f"/{place}.box")]

    def end(self) -> None:
        for pid, _ in keepers(self.root):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


class TestBoxDriver(DriverContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[BoxHome]:
        home = BoxHome(tmp_path)
        yield home
        home.end()

    def test_what_ends_by_itself_is_seen(self, home: DriverHome) -> None:
        home.started("exits")
        assert within(PATIENCE, lambda: home.driver.running("staging") is None)


# --- what it reaches, and what reaches it --------------------------------------------------------------------


class Site:
    """A place whose program is a shell's line, or Python's."""

    def __init__(self, root: Path) -> None:
        self.root, self.ports = root, {place: free_port() for place in PLACES}
        self.commits = Boxed(root / "commits")
        self.release = Release("staging", self.commits.add(files={"app.py": ANSWERS}))

    def driver(self, **more: Any) -> BoxDriver:
        return driver(self.root, self.ports, **more)

    def asks(self, question: str) -> str:
        """What an expression is in the box."""
        with socket.create_connection(("127.0.0.1", self.ports["staging"]), 10) as line:
            line.sendall(question.encode() + b"\n")
            line.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: line.recv(1000), b"")).decode()

    def started(self, **more: Any) -> BoxDriver:
        found = self.driver(**more)
        found.build(self.release)
        found.start(self.release)
        assert within(PATIENCE, lambda: self.answers())
        return found

    def answers(self) -> bool:
        with contextlib.suppress(OSError):
            return self.asks("1 + 1") == "2"
        return False


ANSWERS = """
import os, socket
door = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
print("begins", flush=True)
while True:
    line, _ = door.accept()
    with line:
        try:
            said = str(eval(line.makefile().readline()))
        except BaseException as error:
            said = type(error).__name__
        line.sendall(said.encode())
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    yield found
    BoxHome.end(found)  # type: ignore[arg-type]  # it has a root, too


def test_it_sees_neither_our_files_nor_our_network_nor_our_keys(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    (site.root / "state").mkdir()
    (site.root / "state" / "key").write_text("sk-ant-canary")
    (site.root / "env").write_text("TOKEN=given\n")
    site.started(env_file=str(site.root / "env"))
    assert site.asks(f"open({str(site.root / 'state' / 'key')!r}).read()") == "FileNotFoundError"
    assert site.asks("os.environ.get('ANTHROPIC_API_KEY')") == "None"
    assert site.asks("os.environ['TOKEN']") == "given"
    with socket.create_server(("127.0.0.1", 0)) as ours:
        assert site.asks(f"socket.create_connection({ours.getsockname()!r}, 2)") == "ConnectionRefusedError"


def test_no_socket_of_the_machines_network_is_in_the_box(site: Site) -> None:
    """One that were could be led to whatever listens here."""
    site.started()
    (keeper,) = [pid for pid, _ in keepers(site.root)]
    of_the_machine = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
    with socket.create_connection(("127.0.0.1", site.ports["staging"]), 10):
        assert within(PATIENCE, lambda: sockets(keeper) & of_the_machine)
        inside = list(below(keeper))
        assert len(inside) > 2
        assert [pid for pid in inside if sockets(pid) & of_the_machine] == []


def below(pid: str) -> Iterator[str]:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield child
        yield from below(child)


def sockets(pid: str) -> set[str]:
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # it was closed in between
            found.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return {link[8:-1] for link in found if link.startswith("socket:")}


def test_its_files_are_shown_and_its_data_is_kept_from_version_to_version(site: Site) -> None:
    site.started(build=["sh", "-c", "echo made > made"])
    assert site.asks("open('/site/made').read()") == "made\n"
    assert site.asks("open('/site/new', 'w')") == "OSError"
    assert site.asks("open('/data/kept', 'w').write('x')") == "1"
    second = Release("staging", site.commits.add(files={"app.py": ANSWERS}))
    found = site.driver()
    found.start(second)
    assert within(PATIENCE, site.answers)
    assert site.asks("open('/data/kept').read()") == "x"
    assert found.running("staging") == Running(second.commit)


def test_a_build_reaches_nothing(site: Site) -> None:
    line = "import socket; socket.create_connection(('127.0.0.1', {}), 2)"
    with socket.create_server(("127.0.0.1", 0)) as ours, pytest.raises(ReleaseFailed, match="ConnectionRefusedError"):
        site.driver(build=["python3", "-c", line.format(ours.getsockname()[1])]).build(site.release)


def test_a_keeper_that_is_killed_takes_its_box_along(site: Site) -> None:
    found = site.started()
    (pid,) = [pid for pid, _ in keepers(site.root)]
    inside = list(below(pid))
    os.kill(int(pid), signal.SIGKILL)
    assert within(PATIENCE, lambda: not any(Path(f"/proc/{one}/exe").exists() for one in inside))
    assert found.running("staging") is None
    assert not site.answers()
    found.start(site.release)
    assert within(PATIENCE, site.answers)


def test_it_outlives_whoever_started_it_and_is_found_by_the_next(site: Site) -> None:
    words = (
        "from pathlib import Path; import os, signal; from tests.edges.test_box_driver import driver, Release;"
        f"driver(Path({str(site.root)!r}), {site.ports!r}).start(Release('staging', {site.release.commit!r}));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done: Finished = run((sys.executable, "-c", words), cwd=Path.cwd(), env=dict(os.environ), timeout=60)
    assert done.code == -signal.SIGKILL
    assert within(PATIENCE, site.answers)
    assert site.driver().running("staging") == Running(site.release.commit)


def test_it_is_asked_to_end_before_it_is_ended(site: Site) -> None:
    polite = "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: (open('/data/bye', 'w'), sys.exit()))\n"
    first = Release("staging", site.commits.add(files={"app.py": polite + ANSWERS}))
    found = site.driver()
    found.start(first)
    assert within(PATIENCE, site.answers)
    began = time.monotonic()
    found.start(site.release)
    assert time.monotonic() - began < 5
    assert (site.root / "data-staging" / "bye").exists()


def test_somebody_elses_port_is_named_and_nothing_is_touched(site: Site) -> None:
    with (
        occupied(site.ports["staging"]),
        pytest.raises(ReleaseFailed, match=str(site.ports["staging"]), check=lambda error: error.is_untouched),
    ):
        site.driver().start(site.release)


def test_a_build_that_fails_ends_with_its_last_lines(site: Site) -> None:
    with pytest.raises(ReleaseFailed, match=r"(?s)`staging.build` ended with 3; it said:\nno wheel"):
        site.driver(build=["sh", "-c", "echo no wheel; exit 3"]).build(site.release)


def test_its_log_is_what_it_printed(site: Site) -> None:
    assert site.started().logs("staging") == "begins"


def test_a_name_that_is_none_is_told_before_anything_runs(site: Site) -> None:
    with pytest.raises(Misconfigured, match=r"staging.start: \{port\} is not known there"):
        site.driver(start=["x", "{port}"])


def test_pages_pass_also_when_many_ask_at_once(site: Site) -> None:
    home = BoxHome(site.root)
    release = home.started()
    assert within(PATIENCE, lambda: home.says(release))
    assert all(page(home.ports["staging"]) == home.releases.text(release.commit) for _ in range(300))


def test_without_a_box_nothing_is_said_to_work(site: Site) -> None:
    def none() -> Any:
        raise Misconfigured("no working sandbox")

    settings = DeploySettings.model_validate({"driver": "command", "staging": {"port": 1, "start": ["x"]}})
    with pytest.raises(TeamError, match="no working sandbox"):
        BoxDriver(settings, site.commits, site.root / "state", site.root, none).check()
