"""A target that the owner's own commands run: the contract of drivers, and what commands may and may not do."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.command_driver import COMES_UP, CommandDriver, CommandUser
from sisimpur.agents.devops.drivers.driver import Cleaned, EngineAway, Release, ReleaseFailed
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.errors import Misconfigured, Stopping
from sisimpur.shared.system.clock import ManualClock
from tests.docker_scene import SERVER, App, Kind, Releases, free_port, within
from tests.edges.deploy_contract import PATIENCE, DriverContract, DriverHome

UNSANDBOXED = {"driver": "command", "unsandboxed": "yes"}
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)

# What an owner without a service manager may write: whoever is started has a session before this ends.
START = """
import os, signal, subprocess, sys, time
from pathlib import Path

folder, commit, place = sys.argv[1:]
pid_file, log = Path(f"{place}.pid"), Path(f"{place}.log")


def ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


os.chdir(Path(__file__).parent)
if pid_file.exists():
    pid = int(pid_file.read_text().split()[0])
    for number in (signal.SIGTERM, signal.SIGKILL):
        for _ in range(20):
            if not ended(pid):
                os.kill(pid, number)
                time.sleep(0.05)
with log.open("ab") as file:
    app = [sys.executable, f"{folder}/app.py"]
    site = subprocess.Popen(app, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
pid_file.with_suffix(".new").write_text(f"{site.pid} {commit}")
pid_file.with_suffix(".new").rename(pid_file)
"""
RUNNING = 'read pid commit < "$0.pid"; grep -q app.py "/proc/$pid/cmdline" && echo "$commit" | cut -c 1-12'


class Commits(Releases):
    """Of the scene, without an image: folders as ReleaseFiles keeps them."""

    bad = False  # they cannot be laid out

    def of(self, commit: str) -> Path:
        if self.bad:
            raise ReleaseFailed(f"the files of {commit[:12]} cannot be laid out")
        return super().of(commit)

    def _mark(self, commit: str, place: Place) -> Path:
        return self.folder.with_name("marks") / f"{commit}.{place}"

    def built(self, commit: str, place: Place) -> str:
        mark = self._mark(commit, place)
        return mark.read_text() if mark.exists() else ""

    def set_built(self, commit: str, place: Place, how: str) -> None:
        self._mark(commit, place).parent.mkdir(exist_ok=True)
        self._mark(commit, place).write_text(how)

    def add(self, app: App | Kind = "healthy", files: Mapping[str, str] | None = None) -> str:
        app = App(app) if isinstance(app, str) else app
        number = len(self.known) + 1
        commit = f"{number:02}" * 20
        behaviour = {**asdict(app), "text": app.text or f"release {number}"}
        self.of(commit).mkdir()
        for name, text in {"app.py": SERVER, "behaviour.json": json.dumps(behaviour), **(files or {})}.items():
            (self.of(commit) / name).write_text(text, "utf-8")
        return commit

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(sorted(path.name for path in self.folder.iterdir()))

    def clean(self, keep: Collection[str]) -> int:
        shutil.rmtree(self.folder.with_name("marks"), ignore_errors=True)
        return len(set(self.known) - set(keep))


class Patient(ManualClock):
    """Its seconds are short ones."""

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        time.sleep(seconds / 50)


def scene_driver(root: Path, ports: Mapping[Place, int]) -> CommandDriver:
    """With a start script of the owner's in `root`."""

    def place(name: Place) -> dict[str, Any]:
        return {
            "env": {"HOST": "127.0.0.1", "PORT": str(ports[name])},
            "start": [sys.executable, f"{root}/start.py", "{folder}", "{commit}", "{place}"],
            "running": ["sh", "-c", RUNNING, f"{root}/{{place}}"],
            "logs": ["tail", "-n", "50", f"{root}/{{place}}.log"],
        }

    settings = DeploySettings.model_validate({**UNSANDBOXED, **{name: place(name) for name in PLACES}})
    return CommandDriver(
        settings, Commits(root / "commits"), root / "state", Patient(NOON), CommandUser(settings, root)
    )


class CommandHome(DriverHome):
    sees_ends = has_images = False

    def __init__(self, root: Path) -> None:
        (root / "start.py").write_text(START)
        self.root, self.ports = root, {place: free_port() for place in PLACES}
        self.releases = Commits(root / "commits")
        self.driver = scene_driver(root, self.ports)

    def opening(self) -> str:
        return (
            "from pathlib import Path\nfrom tests.edges.test_command_driver import scene_driver\n"
            f"driver = scene_driver(Path({str(self.root)!r}), {self.ports!r})"
        )

    def parts(self, place: Place) -> Sequence[str]:
        """Whatever serves one of our commits at its port."""
        return [pid for pid, port in self._apps() if port == self.ports[place]]

    def end(self) -> None:
        for pid, _ in self._apps():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def _apps(self) -> Iterator[tuple[str, int]]:
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words, env = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
                if len(words) > 1 and words[1].startswith(os.fsencode(self.releases.folder)):
                    (port,) = [word[5:] for word in env if word.startswith(b"PORT=")]
                    yield folder.name, int(port)


class TestCommandDriver(DriverContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> Iterator[CommandHome]:
        home = CommandHome(tmp_path)
        yield home
        home.end()

    def test_what_ends_by_itself_is_seen(self, home: DriverHome) -> None:
        """At once, or a moment later; all that is seen is that it does not run."""
        with contextlib.suppress(ReleaseFailed):
            home.started("exits")
        assert within(PATIENCE, lambda: home.driver.running("staging") is None)


# --- commands ------------------------------------------------------------------------------------------------


class Owner:
    """A place whose commands are lines of a shell; `$0` is a folder of the owner's."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock = root, Patient(NOON)
        self.commits = Commits(root / "commits")
        self.commit = self.commits.add()
        self.release = Release("staging", self.commit)

    def driver(
        self, environment: Mapping[str, str] | None = None, stop: bool = False, minutes: float = 1, **commands: Any
    ) -> CommandDriver:
        given = {"start": "echo {commit} > $0/now", "running": "cat $0/now", **commands}
        place = {
            name: ("sh", "-c", line, str(self.root)) if isinstance(line, str) and name not in PLAIN else line
            for name, line in given.items()
        }
        settings = DeploySettings.model_validate({**UNSANDBOXED, "minutes": minutes, "staging": place})
        env = environment if environment is not None else {"PATH": os.environ["PATH"]}
        user = CommandUser(settings, self.root, environment=env)
        return CommandDriver(settings, self.commits, self.root / "state", self.clock, user, lambda: stop)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()


PLAIN = ("env_file",)


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def test_a_command_is_filled_in_and_runs_in_the_folder_of_the_commit(owner: Owner) -> None:
    owner.driver(build="echo {place} {commit} {folder} $(pwd) > $0/said").build(owner.release)
    folder = owner.commits.of(owner.commit)
    assert owner.read("said") == f"staging {owner.commit} {folder} {folder}\n"


def test_what_only_looks_like_a_name_stays(owner: Owner) -> None:
    owner.driver(build="x=1; echo ${x} {} '{a b}' {A} > $0/said").build(owner.release)
    assert owner.read("said") == "1 {} {a b} {A}\n"


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        ("build", "make {comit}", r"staging.build: \{comit\} is not known there; it may use \{commit\}, \{folder\}"),
        ("running", "echo {commit}", r"staging.running: \{commit\} is not known there; it may use \{place\}"),
        ("logs", "tail {folder}/log", r"staging.logs: \{folder\} is not known there; .* config/targets"),
    ],
)
def test_a_name_that_is_none_is_told_before_anything_runs(owner: Owner, name: str, line: str, why: str) -> None:
    commands: dict[str, Any] = {name: line}
    with pytest.raises(Misconfigured, match=why):
        owner.driver(**commands)


def test_a_command_finds_no_key_of_ours(owner: Owner) -> None:
    (owner.root / "site.env").write_text("DATABASE=secret-secret\n")
    ours = {"PATH": ".:/usr/bin::/bin", "HOME": "/home/us", "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "sk-ant"}
    driver = owner.driver(ours, build="env > $0/said", env={"DEBUG": "0"}, env_file=str(owner.root / "site.env"))
    driver.build(owner.release)
    found = dict(line.split("=", 1) for line in owner.read("said").splitlines())
    expected = {"HOME": "/home/us", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "DEBUG": "0"}
    assert expected | {"DATABASE": "secret-secret"} == {
        k: v for k, v in found.items() if k not in ("PWD", "_", "SHLVL")
    }


def test_a_program_is_never_found_in_the_files_of_a_commit(owner: Owner) -> None:
    ours = {"PATH": f":.:{os.environ['PATH']}"}
    (owner.commits.of(owner.commit) / "deploy-it").write_text("#!/bin/sh\ntouch here\n")
    (owner.commits.of(owner.commit) / "deploy-it").chmod(0o755)
    with pytest.raises(Misconfigured, match=r"staging\.build: it cannot be started: .*'deploy-it'"):
        owner.driver(ours, build=["deploy-it"]).build(owner.release)
    owner.driver(ours, build=["{folder}/deploy-it"]).build(owner.release)
    assert (owner.commits.of(owner.commit) / "here").exists()


def test_what_can_work_here_says_what_it_needs(owner: Owner) -> None:
    assert owner.driver(build=["./of-the-commit"], logs=["/bin/cat", "log"]).check() == (
        "commands of yours: ./of-the-commit, sh, /bin/cat; in no box, as the daemon's user (unsandboxed)"
    )
    with pytest.raises(Misconfigured, match=r"staging\.logs: there is no program 'jornalctl' here"):
        owner.driver(logs=["jornalctl", "-n", "50"]).check()


def test_a_build_that_fails_ends_with_its_last_lines_without_keys(owner: Owner) -> None:
    (owner.root / "site.env").write_text("DATABASE=secret-secret\n")
    driver = owner.driver(build="seq 100; echo $DATABASE >&2; exit 3", env_file=str(owner.root / "site.env"))
    with pytest.raises(ReleaseFailed) as failed:
        driver.build(owner.release)
    first, *lines = str(failed.value).splitlines()
    assert first == "`staging.build` ended with 3; it said:"
    assert lines == [*map(str, range(72, 101)), "[removed: DATABASE]"]


def test_a_build_that_takes_too_long_is_ended(owner: Owner) -> None:
    with pytest.raises(ReleaseFailed, match=r"`staging.build` was not done after 0.005\d* minutes"):
        owner.driver(build="sleep 60", minutes=0.005).build(owner.release)


def test_without_a_build_the_files_are_all_that_is_needed(owner: Owner) -> None:
    owner.driver().build(owner.release)
    assert not (owner.root / "now").exists()


def test_what_was_built_is_not_built_again_unless_its_folder_its_words_or_its_start_say_so(owner: Owner) -> None:
    def builds(driver: CommandDriver) -> int:
        driver.build(owner.release)
        return len(owner.read("builds").splitlines())

    line = "echo x >> $0/builds"
    driver = owner.driver(build=line)
    assert [builds(driver), builds(driver), builds(owner.driver(build=line))] == [1, 1, 1]
    assert builds(owner.driver(build=line, env={"DEBUG": "0"})) == 2
    assert builds(driver) == 3
    owner.commits.clean(())
    owner.commits.of(owner.commit)
    assert builds(driver) == 4
    with pytest.raises(ReleaseFailed):
        owner.driver(build=line, start="false").start(owner.release)
    assert builds(driver) == 5


def test_a_build_that_failed_is_tried_again(owner: Owner) -> None:
    driver = owner.driver(build="echo x >> $0/builds; exit 1")
    for _ in range(2):
        with pytest.raises(ReleaseFailed):
            driver.build(owner.release)
    assert owner.read("builds") == "x\nx\n"


def test_files_that_cannot_be_laid_out_keep_what_runs_running(owner: Owner) -> None:
    driver = owner.driver(start="touch $0/begun")
    owner.commits.bad = True
    with pytest.raises(ReleaseFailed, match="cannot be laid out", check=lambda error: error.is_untouched):
        driver.start(owner.release)
    assert not (owner.root / "begun").exists()


def test_a_stop_begins_no_build_but_looks_and_starts_on(owner: Owner) -> None:
    """What runs has to be known, and half a start helps nobody."""
    driver = owner.driver(build="touch $0/built", stop=True)
    with pytest.raises(Stopping):
        driver.build(owner.release)
    assert not (owner.root / "built").exists()
    driver.start(owner.release)
    assert driver.running("staging") == Running(owner.commit)


# --- start ---------------------------------------------------------------------------------------------------


def test_a_start_that_fails_says_why(owner: Owner) -> None:
    with pytest.raises(ReleaseFailed, match=r"(?s)`staging.start` ended with 1; it said:\nUnit site.service not found"):
        owner.driver(start="echo Unit site.service not found >&2; exit 1").start(owner.release)


def test_a_start_that_nothing_comes_of_is_none(owner: Owner) -> None:
    with pytest.raises(
        ReleaseFailed, match=r"`staging.start` ended well, but `staging.running` prints nothing, not 0101"
    ):
        owner.driver(start="true").start(owner.release)
    assert (owner.clock.now() - NOON).total_seconds() == COMES_UP


def test_running_may_take_some_seconds_to_know(owner: Owner) -> None:
    late = "echo x >> $0/asked; test $(wc -l < $0/asked) -gt 4 && cat $0/now"
    owner.driver(running=late).start(owner.release)


def test_what_runs_already_is_not_started_again(owner: Owner) -> None:
    driver = owner.driver(start="echo {commit} > $0/now; echo x >> $0/starts")
    driver.start(owner.release)
    driver.start(owner.release)
    assert owner.read("starts") == "x\n"


@pytest.mark.parametrize(
    ("line", "outlives"),
    [
        pytest.param("sleep 60 > /dev/null 2>&1 & echo $! > $0/pid", False, id="in the background"),
        pytest.param("nohup sleep 60 > /dev/null 2>&1 & echo $! > $0/pid", False, id="nohup"),
        pytest.param(f"{sys.executable} $0/session.py", True, id="a session of its own"),
    ],
)
def test_only_what_has_a_session_of_its_own_outlives_the_command(owner: Owner, line: str, outlives: bool) -> None:
    (owner.root / "session.py").write_text(
        "import subprocess, sys; from pathlib import Path\n"
        "site = subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL, start_new_session=True)\n"
        "Path(__file__).with_name('pid').write_text(str(site.pid))\n"
    )
    owner.driver(start=f"echo {{commit}} > $0/now; {line}").start(owner.release)
    process = Path("/proc") / owner.read("pid").strip() / "cmdline"
    time.sleep(0.1)
    is_there = process.exists() and process.read_bytes().startswith(b"sleep")
    if is_there:
        os.kill(int(owner.read("pid")), signal.SIGKILL)
    assert is_there is outlives


# --- what runs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "found"),
    [
        pytest.param("01" * 20, Running("01" * 20), id="a commit"),
        pytest.param("\n  0101010\n", Running("01" * 20), id="seven digits of it"),
        pytest.param("ABCDEF0123", Running("abcdef0123"), id="a commit that we do not know"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_running_prints_a_commit_or_nothing(owner: Owner, said: str, found: Running | None) -> None:
    assert owner.driver(running=f"printf '{said}'; echo noise >&2").running("staging") == found


def test_digits_that_two_commits_begin_with_are_none_of_them(owner: Owner) -> None:
    (owner.root / "commits" / ("0101010" + "f" * 33)).mkdir()
    assert owner.driver(running="echo 0101010").running("staging") == Running("0101010")


def test_a_command_that_finds_nothing_and_fails_means_that_nothing_runs(owner: Owner) -> None:
    assert owner.driver(running="curl-that-finds-nobody; exit 7").running("staging") is None


@pytest.mark.parametrize("said", ["active", "commit 0101010", "010101", "0101010 (HEAD)", "/srv/0101010"])
def test_anything_else_is_the_owners_to_mend(owner: Owner, said: str) -> None:
    with pytest.raises(Misconfigured, match=rf"`staging.running` prints '{said[:4]}.*; let it print the commit that"):
        owner.driver(running=f"echo '{said}'").running("staging")


def test_a_command_that_does_not_end_is_no_commits_fault(owner: Owner) -> None:
    with pytest.raises(EngineAway, match=r"`staging.running` was not done after"):
        owner.driver(running="sleep 60", minutes=0.005).running("staging")


def test_digits_are_those_of_the_commit_that_is_wanted_also_when_its_files_are_gone(owner: Owner) -> None:
    """Else it would be started once more."""
    driver = owner.driver(start="echo x >> $0/starts", running="echo 0101010")
    shutil.rmtree(owner.commits.of(owner.commit))
    found = driver.running("staging")
    assert found == Running("0101010")
    assert found.is_of(owner.commit)
    assert not found.is_of("02" * 20)
    driver.start(owner.release)
    assert not (owner.root / "starts").exists()


# --- its log -------------------------------------------------------------------------------------------------


def test_only_what_was_printed_since_the_start_is_its_log(owner: Owner) -> None:
    """The version before it may have been sick, and said so."""
    (owner.root / "log").write_text("ERROR of the last one\nit ends\n")
    driver = owner.driver(logs="tail -n 3 $0/log")
    driver.start(owner.release)
    assert driver.logs("staging") == ""
    with (owner.root / "log").open("a") as log:
        log.write("it begins\nit serves\n")
    assert driver.logs("staging") == "it begins\nit serves"
    assert driver.logs("staging", 1) == "it serves"
    assert owner.driver(logs="tail -n 3 $0/log").logs("staging") == "it begins\nit serves"  # another process


def test_a_note_that_cannot_be_written_keeps_nothing_from_being_started(owner: Owner) -> None:
    (owner.root / "log").write_text("ERROR of the last one\n")
    driver = owner.driver(logs="cat $0/log")
    (owner.root / "state").write_text("as if the disk were full")
    driver.start(owner.release)
    assert driver.running("staging") == Running(owner.commit)
    assert driver.logs("staging") == ""


def test_an_old_note_that_cannot_be_written_anew_is_none(owner: Owner) -> None:
    (owner.root / "log").write_text("a line\n")
    note = owner.root / "state" / "staging.log-before"
    note.mkdir(parents=True)
    owner.driver(logs="cat $0/log").start(owner.release)
    note.rmdir()
    assert owner.driver(logs="cat $0/log").logs("staging") == "a line"


def test_in_a_hurry_nobody_waits_for_a_log(owner: Owner) -> None:
    began = time.monotonic()
    owner.driver(logs="sleep 60").start(owner.release, hurry=True)
    owner.driver(logs=["no-such-program"], start="echo {commit} > $0/now").start(owner.release, hurry=True)
    assert time.monotonic() - began < 5


def test_what_is_remembered_of_a_log_is_none_of_its_words(owner: Owner) -> None:
    (owner.root / "log").write_text("password is geheim\n")
    owner.driver(logs="cat $0/log").start(owner.release)
    assert "geheim" not in owner.read("state/staging.log-before")


def test_without_a_command_there_is_no_log(owner: Owner) -> None:
    driver = owner.driver()
    driver.start(owner.release)
    assert driver.logs("staging") == ""


# --- tidy ----------------------------------------------------------------------------------------------------


def test_folders_that_neither_run_nor_are_kept_go(owner: Owner) -> None:
    kept, _gone = owner.commits.add(), owner.commits.add()
    driver = owner.driver()
    driver.start(owner.release)
    assert driver.clean([Release("staging", kept)]) == Cleaned(builds=1)
