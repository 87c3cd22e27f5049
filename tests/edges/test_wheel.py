"""The wheel: it is built, installed, and used far from a checkout."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from sisimpur.cli.setup.folders import UV
from sisimpur.shared.system.process import Finished, run

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "HTTPS_PROXY") if name in os.environ}
AWAY = re.compile("(?i)dns error|error sending request|failed to fetch|connect|timed out|network")


def uv(*words: str, cwd: Path) -> None:
    """Skip if the package index cannot be reached."""
    home = {"HOME": str(Path("~" + os.environ.get("USER", "root")).expanduser()), "UV_SYSTEM_CERTS": "1"}
    done = run((str(UV), *words), cwd=cwd, env={**ENVIRONMENT, **home}, timeout=600)
    if not done.ok and AWAY.search(done.complaint):
        pytest.skip("the package index is not reached")
    assert done.ok, done.complaint


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: a build leaves folders behind."""
    place = tmp_path_factory.mktemp("wheel")
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    listed = run(("git", "ls-files", "-z", "-co", "--exclude-standard"), cwd=ROOT, env=env, timeout=60)
    names = [name for name in listed.text.split("\0") if name and os.path.lexists(ROOT / name)]
    if not listed.ok:
        pytest.skip("this is no checkout")
    for name in names:
        copy = place / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            copy.symlink_to(os.readlink(ROOT / name))
        else:
            shutil.copy(ROOT / name, copy)
    (place / "source" / "config" / "targets" / "mine.yaml").write_text("repo: /secret\n")
    (place / "source" / "config" / ".env").write_text("ANTHROPIC_API_KEY=secret\n")
    uv("build", "--quiet", "--wheel", "-o", str(place / "out"), str(place / "source"), cwd=place)
    return next((place / "out").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of a fresh environment."""
    place = tmp_path_factory.mktemp("installed")
    uv("venv", "--quiet", "venv", cwd=place)
    uv("pip", "install", "--quiet", "--python", "venv/bin/python", str(wheel), cwd=place)
    return place / "venv" / "bin"


def sisimpur(programs: Path, cwd: Path, *words: str) -> Finished:
    env = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(cwd)}
    return run(("sisimpur", *words), cwd=cwd, env=env, timeout=120)


def test_it_holds_programs_and_data_below_one_name_and_nothing_of_the_owners(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"sisimpur"}
    tracked = [path for top in ("agents", "cli", "web", "shared", "simulators") for path in _tracked(top)]
    assert [path for path in tracked if f"sisimpur/{path}" not in names] == []
    assert {f"sisimpur/config/{name}" for name in ("policy.yaml", ".env.example", "targets/example.yaml")} <= names
    assert {
        f"sisimpur/examples/exam_site_day/{name}" for name in ("script.yaml", "serve.py", "web/pages.yaml")
    } <= names
    assert not {"sisimpur/config/.env", "sisimpur/config/targets/mine.yaml"} & names


def _tracked(top: str) -> list[str]:
    found = (
        path
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(ROOT / "web" / "pages")
    )
    return [path.relative_to(ROOT).as_posix() for path in found]


def test_it_answers_outside_of_a_checkout(installed: Path, tmp_path: Path) -> None:
    assert re.fullmatch(r"sisimpur \d+\.\d+\.\d+\n", sisimpur(installed, tmp_path, "--version").text)
    assert "usage: sisimpur " in sisimpur(installed, tmp_path, "help").text
    said = sisimpur(installed, tmp_path, "doctor").text
    default = tmp_path / ".local" / "share" / "sisimpur"
    assert f"{default} is no home yet; type: sisimpur init --target PATH_OR_URL (chosen: the default)" in said


def test_a_home_is_made_and_looked_at_with_it(installed: Path, tmp_path: Path) -> None:
    git = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    who = ("-c", "user.name=o", "-c", "user.email=o@localhost")
    for words in (("init", "-q", "-b", "main", "site"), ("-C", "site", *who, "commit", "-qm", "1", "--allow-empty")):
        assert run(("git", *words), cwd=tmp_path, env=git, timeout=60).ok
    made = sisimpur(installed, tmp_path, "--home", "team", "init", "--target", "site")
    assert made.ok and f"sisimpur --home {tmp_path}/team doctor" in made.text, made.complaint
    folders = ("VISION.md", "PROGRESS.md", "tasks", "reports", "logs", "config/policy.yaml")
    assert [name for name in folders if not (tmp_path / "team" / name).exists()] == []
    found = sisimpur(installed, tmp_path / "team" / "tasks", "status")
    assert found.text.startswith(f"{tmp_path}/team: not running"), found.complaint


def test_no_name_of_ours_is_imported_but_one(installed: Path) -> None:
    site = next(installed.parent.glob("lib/python*/site-packages"))
    assert not {"agents", "cli", "web", "shared", "simulators", "main.py", "config"} & set(os.listdir(site))
