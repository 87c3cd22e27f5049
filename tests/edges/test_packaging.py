"""What lies in packaging/ starts the program that is there, ends it as it wants to be ended, and takes no keys."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
import tarfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from sisimpur.cli.commands.daemon import StopTimeouts
from sisimpur.cli.terminal.arguments import Arguments, parse
from sisimpur.shared.sandbox.box import CONTAINER, INSTALL
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.process import Finished, RunOptions, run

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
UNIT = (PACKAGING / "sisimpur-agents.service").read_text()
DOCKERFILE = (PACKAGING / "Dockerfile").read_text()
DATA_IN_A_CONTAINER = Path("/data")


def unit(name: str) -> str:
    (value,) = re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)
    return str(value)


def compose() -> Mapping[str, Any]:
    text = (PACKAGING / "compose.yaml").read_text()
    found: Mapping[str, Any] = strict_yaml.parse(text, "compose.yaml").as_type(dict[str, Any])
    return found


def team() -> Mapping[str, Any]:
    found: Mapping[str, Any] = compose()["services"]["team"]
    return found


def in_image(word: str) -> list[str]:
    (value,) = re.findall(rf"^{word} (\[.*\])$", DOCKERFILE, re.MULTILINE)
    return list(json.loads(value))


def home_of(tmp_path: Path) -> Path:
    """A user whose checkout is this one."""
    (tmp_path / "sisimpur-agents").symlink_to(ROOT)
    return tmp_path


def command(*words: str) -> Finished:
    env = {name: os.environ[name] for name in ("PATH", "HOME", "DOCKER_HOST") if name in os.environ}
    return run(words, env=env, timeout=60, how=RunOptions(limit=5_000_000))


def test_the_service_starts_the_daemon_of_this_checkout_on_the_owners_home(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    python, main, *words = shlex.split(unit("ExecStart").replace("%h", str(home)))
    assert Path(main).samefile(ROOT / "main.py") and python == str(home / "sisimpur-agents/.venv/bin/python")
    assert parse(words) == Arguments("start", home / "team", foreground=True)
    assert Path(unit("Documentation").removeprefix("file:").replace("%h", str(home))).is_file()


def test_the_service_begins_again_after_a_crash_but_not_where_the_owner_has_to_mend_something() -> None:
    assert (unit("Restart"), unit("RestartPreventExitStatus")) == ("on-failure", "1 2")
    assert (unit("KillMode"), unit("OOMPolicy")) == ("mixed", "continue")
    assert int(unit("TimeoutStopSec")) >= StopTimeouts().first + StopTimeouts().second


def test_nothing_in_the_service_could_keep_the_sandbox_from_working() -> None:
    settings = re.findall(r"^(\w+)=", UNIT, re.MULTILINE)
    assert not [name for name in settings if re.match("NoNew|Private|Protect|Restrict[A-OQ-Z]|SystemCall|Capab", name)]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_has_nothing_to_say_against_the_service(tmp_path: Path) -> None:
    verify = ("systemd-analyze", "verify", "--user", "--man=no", str(PACKAGING / "sisimpur-agents.service"))
    with TemporaryDirectory(prefix="run-", dir="/tmp") as runtime:  # the path of a socket in it has to be short
        env = {"PATH": os.environ["PATH"], "HOME": str(home_of(tmp_path)), "XDG_RUNTIME_DIR": runtime}
        done = run(verify, env=env, timeout=60)
    assert (done.code, done.complaint) == (0, "")


def test_the_container_starts_the_daemon_on_its_one_volume() -> None:
    python, main, *words = (*in_image("ENTRYPOINT"), *in_image("CMD"))
    assert (python, main) == ("python", "/app/main.py")
    assert "WORKDIR /app\n" in DOCKERFILE and "COPY --chown=team:team . .\n" in DOCKERFILE
    assert parse(words) == Arguments("start", DATA_IN_A_CONTAINER, foreground=True)
    assert team()["volumes"] == [f"home:{DATA_IN_A_CONTAINER}"] and "home" in compose()["volumes"]
    assert "command" not in team() and "entrypoint" not in team()


def test_compose_reads_the_file() -> None:
    """The old one as well: only the engine refuses what it makes of `systempaths`."""
    answering = [words for words in (("docker", "compose"), ("docker-compose",)) if command(*words, "version").ok]
    if not answering:
        pytest.skip("there is no Docker Compose here")
    for words in answering:
        done = command(*words, "-f", str(PACKAGING / "compose.yaml"), "config", "-q")
        assert done.ok, done.complaint


def test_the_image_has_what_the_sandbox_and_the_mirror_need_and_works_as_nobody_special() -> None:
    needed = {"git", *re.findall(r"apt install ([a-z -]+) \(", INSTALL)[0].split()}
    (installed,) = re.findall(r"apt-get install -y --no-install-recommends ([a-z -]+) \\", DOCKERFILE)
    assert needed <= set(installed.split())
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["team"]
    assert team()["cap_drop"] == ["ALL"]


def test_the_container_may_make_a_sandbox_and_is_given_time_to_end() -> None:
    advised = set(re.findall(r"--security-opt ([\w=]+)", CONTAINER))
    assert advised and advised <= set(team()["security_opt"])
    assert int(team()["stop_grace_period"].removesuffix("s")) >= StopTimeouts().first + StopTimeouts().second
    assert (team()["init"], team()["restart"]) == (True, "unless-stopped")
    assert (PACKAGING / team()["build"]["context"]).resolve() == ROOT
    assert (ROOT / team()["build"]["dockerfile"]).samefile(PACKAGING / "Dockerfile")


@pytest.mark.parametrize(
    ("base", "is_built"),
    [
        (f"python@sha256:{'0f' * 32}", True),
        (f"mirror.example:5000/python:3.12-slim@sha256:{'0f' * 32}", True),
        ("python:3.12-slim", False),
        ("python@sha256:0f", False),
        (f"python@sha256:{'0f' * 32} ", False),
        ("", False),
    ],
)
def test_an_image_without_the_digest_of_its_base_is_not_built(base: str, is_built: bool) -> None:
    """The first step asks, before anything is fetched; nobody here can say which digest is right."""
    assert re.findall(r"^FROM (.*)$", DOCKERFILE, re.MULTILINE) == ["${BASE}"]
    (first, *_) = re.findall(r"^RUN (.*)$", DOCKERFILE, re.MULTILINE)
    assert command("env", f"BASE={base}", "sh", "-c", first).ok is is_built
    assert team()["build"]["args"] == {"BASE": "${BASE:-}"}


def test_the_environments_are_built_from_what_is_copied_before_them(tmp_path: Path) -> None:
    """So an update of the program alone does not build them anew; and no package is kept twice."""
    before, words, _ = re.split(r"^RUN python -c (.*)$", DOCKERFILE, flags=re.MULTILINE)
    code, *swept = shlex.split(words)
    copied = re.findall(r"^COPY --chown=team:team (.+) \S+/$", before, re.MULTILINE)
    for path in (path for names in copied for name in names.split() for path in ROOT.glob(name)):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, tmp_path / path.relative_to(ROOT))
    harmless = code.replace("sys.exit(setup())", "print(callable(setup))")
    assert run((sys.executable, "-S", "-c", harmless), cwd=tmp_path, env={}, timeout=60).text == "True\n"
    assert {f"requirements{name}.txt" for name in ("", "-aider", "-demo")} <= set(os.listdir(tmp_path))
    assert swept == ["&&", "rm", "-rf", "~/.cache"]


# --- what is copied into the image -----------------------------------------------------------------------------

KEPT_OUT = (  # wherever the owner lets it lie
    *("config/.env", "config/.env.bak", "my.env", "shared/.env", "config/targets/site.yaml", "VISION.md"),
    *(".git/config", ".state/agents.db", "tasks/backlog/1.md", "logs/daemon.out", ".venv/bin/python", "bench/x.py"),
    *("cli/__pycache__/a.pyc", "shared/edge/__pycache__/a.pyc", "secrets.yaml", "tests/x.py"),
)
COPIED = (
    "main.py",
    "requirements.txt",
    "cli/setup/environments.py",
    "config/.env.example",
    "config/targets/example.yaml",
)


def test_the_list_of_what_is_copied_lies_where_every_builder_looks_for_it() -> None:
    """One that is named after the Dockerfile is read by BuildKit alone, and in place of this one."""
    assert not list(PACKAGING.glob("*.dockerignore"))
    kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert kept[0] == "*"
    for line in kept[1:]:
        assert line.startswith("**/") or list(ROOT.glob(line.removeprefix("!"))), line


def docker(*words: str) -> Finished:
    done = command("docker", *words)
    assert done.ok, done.complaint
    return done


@pytest.mark.docker
def test_keys_and_data_are_not_copied_by_the_builder_of_this_machine(tmp_path: Path) -> None:
    if not command("docker", "version").ok:
        pytest.skip("no Docker engine answers here")
    for name in (*KEPT_OUT, *COPIED, "packaging/Dockerfile"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("FROM scratch\nCOPY . /copied/\nCMD none\n")
    shutil.copyfile(ROOT / ".dockerignore", tmp_path / ".dockerignore")
    tag = f"sisimpur-agents-copied:{uuid.uuid4().hex}"
    docker("build", "-q", "-t", tag, "-f", str(tmp_path / "packaging" / "Dockerfile"), str(tmp_path))
    container = docker("create", tag).text.strip()
    try:
        packed = docker("export", container).output
    finally:
        docker("rm", container)
        docker("rmi", tag)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        files = {file.name.removeprefix("copied/") for file in tar if file.isfile() and file.name.startswith("copied/")}
    assert files == set(COPIED)


def test_every_command_in_the_page_about_running_is_one() -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    typed = re.findall(r"(?:main\.py|--rm team) ([^`\n#]+)", page)
    assert len(typed) >= 6
    for words in typed:
        assert parse(shlex.split(words.removesuffix("…"))).command
    for path in re.findall(r"packaging/[\w.-]+", page):
        assert (ROOT / path).is_file()


# --- the targets of make --------------------------------------------------------------------------------------

RULES = re.findall(r"^([a-z-]+):(.*?)##.*\n\t@(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_target_of_make_builds_what_it_needs_or_needs_what_setup_builds() -> None:
    assert len(RULES) > 20
    for name, before, recipe in RULES:
        builds = "main.py setup" in recipe.partition("$(PY)")[0]
        assert "$(PY)" not in recipe or builds or "$(PY)" in before, name
        assert "-m pytest" not in recipe or recipe.startswith("python3 main.py setup --dev &&"), name


@pytest.mark.parametrize("name", [name for name, before, _ in RULES if "$(PY)" in before])
def test_before_the_set_up_every_other_target_says_what_to_type(tmp_path: Path, name: str) -> None:
    if not shutil.which("make"):
        pytest.skip("there is no make here")
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    done = run(("make", name), cwd=tmp_path, env={"PATH": os.environ["PATH"]}, timeout=30)
    assert done.code == 2 and done.errors.decode().startswith("this checkout is not set up; type: make setup\n")
