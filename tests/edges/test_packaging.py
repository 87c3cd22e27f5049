"""What lies in packaging/ starts the program that is there, ends it as it wants to be ended, and takes no keys."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.arguments import Arguments, parse
from cli.daemon import Patience
from shared.edge import strict_yaml
from shared.edge.box.box import CONTAINER, INSTALL
from shared.edge.process import run

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


def test_the_service_starts_the_daemon_of_this_checkout_on_the_owners_home(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    python, main, *words = shlex.split(unit("ExecStart").replace("%h", str(home)))
    assert Path(main).samefile(ROOT / "main.py") and python == str(home / "sisimpur-agents/.venv/bin/python")
    assert parse(words) == Arguments("start", home / "team", foreground=True)
    assert Path(unit("Documentation").removeprefix("file:").replace("%h", str(home))).is_file()


def test_the_service_begins_again_after_a_crash_but_not_where_the_owner_has_to_mend_something() -> None:
    assert (unit("Restart"), unit("RestartPreventExitStatus")) == ("on-failure", "1 2")
    assert (unit("KillMode"), unit("OOMPolicy")) == ("mixed", "continue")
    assert int(unit("TimeoutStopSec")) >= Patience().first + Patience().second


def test_nothing_in_the_service_could_keep_the_sandbox_from_working() -> None:
    settings = re.findall(r"^(\w+)=", UNIT, re.MULTILINE)
    assert not [name for name in settings if re.match("NoNew|Private|Protect|Restrict[A-OQ-Z]|SystemCall|Capab", name)]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_has_nothing_to_say_against_the_service(tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    env = {"PATH": os.environ["PATH"], "HOME": str(home_of(tmp_path)), "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}
    verify = ("systemd-analyze", "verify", "--user", "--man=no", str(PACKAGING / "sisimpur-agents.service"))
    done = run(verify, env=env, timeout=60)
    assert (done.code, done.complaint) == (0, "")


def test_the_container_starts_the_daemon_on_its_one_volume() -> None:
    python, main, *words = (*in_image("ENTRYPOINT"), *in_image("CMD"))
    assert (python, main) == ("python", "/app/main.py")
    assert "WORKDIR /app\n" in DOCKERFILE and "COPY --chown=team:team . .\n" in DOCKERFILE
    assert parse(words) == Arguments("start", DATA_IN_A_CONTAINER, foreground=True)
    assert team()["volumes"] == [f"home:{DATA_IN_A_CONTAINER}"] and "home" in compose()["volumes"]
    assert "command" not in team() and "entrypoint" not in team()


def test_the_image_has_what_the_sandbox_and_the_mirror_need_and_works_as_nobody_special() -> None:
    needed = {"git", *re.findall(r"apt install ([a-z -]+) \(", INSTALL)[0].split()}
    (installed,) = re.findall(r"apt-get install -y --no-install-recommends ([a-z -]+) \\", DOCKERFILE)
    assert needed <= set(installed.split())
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["team"]
    assert team()["cap_drop"] == ["ALL"]


def test_the_container_may_make_a_sandbox_and_is_given_time_to_end() -> None:
    advised = set(re.findall(r"--security-opt ([\w=]+)", CONTAINER))
    assert advised and advised <= set(team()["security_opt"])
    assert int(team()["stop_grace_period"].removesuffix("s")) >= Patience().first + Patience().second
    assert (team()["init"], team()["restart"]) == (True, "unless-stopped")
    assert (PACKAGING / team()["build"]["context"]).resolve() == ROOT
    assert (ROOT / team()["build"]["dockerfile"]).samefile(PACKAGING / "Dockerfile")


def test_what_git_does_not_keep_is_not_copied_into_the_image_either() -> None:
    """Keys and data of the default home among it. Docker reads the file that is named after the Dockerfile."""
    kept_out = {line.strip("/") for line in (PACKAGING / "Dockerfile.dockerignore").read_text().splitlines()}
    ours = [line for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")]
    covered = {"config/targets/*.yaml": "config/targets"}
    assert ours and not [line for line in ours if covered.get(line.strip("/"), line.strip("/")) not in kept_out]


def test_every_command_in_the_page_about_running_is_one() -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    typed = re.findall(r"(?:main\.py|--rm team) ([^`\n#]+)", page)
    assert len(typed) >= 6
    for words in typed:
        assert parse(shlex.split(words.removesuffix("…"))).command
    for path in re.findall(r"packaging/[\w.-]+", page):
        assert (ROOT / path).is_file()
