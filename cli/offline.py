"""What needs no network and no key: `demo`, `model` and, for developers, `check`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from datetime import datetime
from pathlib import Path

from cli.arguments import CHECKOUT, Arguments
from cli.text import plain
from shared.domain.errors import Misconfigured
from shared.edge.paths import Home
from shared.edge.process import attached, run

DAY = CHECKOUT / "examples" / "exam_site_day"
PROJECT = CHECKOUT / "examples" / "exam_site"
PACKAGES = CHECKOUT / ".demo" / "packages"
GIT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "The owner" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "owner@localhost" for who in ("AUTHOR", "COMMITTER")},
}


# --- demo ----------------------------------------------------------------------------------------------------


def demo(arguments: Arguments) -> int:
    """A new home, a sample project as its target, a scripted model as its endpoint; then a day like any other."""
    from cli import day, hands, views
    from shared.edge.scripted.scripted_model import ScriptedModel
    from shared.edge.scripted.scripted_script import read_script

    place = _new_place() if arguments.home == CHECKOUT else arguments.home
    home = place / "home"
    if place.exists() and any(place.iterdir()):
        raise Misconfigured(f"{place} is not empty; name a new folder with --home, or none")
    print(f"home: {home}")
    print("everything is real but the model: its answers come from examples/exam_site_day/script.yaml", flush=True)
    with ScriptedModel(read_script(DAY / "script.yaml"), heard=_heard) as model:
        _repository(place / "exam_site")
        print(hands.make_home(Home(home), str(place / "exam_site")) + "\n", flush=True)
        _install_from(home / "config" / "targets" / "exam_site.yaml")
        shutil.copyfile(DAY / "VISION.md", home / "VISION.md")
        _write_keys(home / "config" / ".env", model.url)
        code = day.run_day(Arguments("run-day", home), environment={})
    print()
    for view in (views.status, views.prs, views.budget):
        view(Arguments(view.__name__, home))
        print()
    forge = home / ".state" / "forge" / "exam_site.git"
    print(f"look around:  python main.py --home {shlex.quote(str(home))} show ID   (and: tasks, logs, status)")
    print(f"the branches: git -C {shlex.quote(str(forge))} log --oneline --all")
    return code


def _new_place() -> Path:
    return CHECKOUT / ".demo" / f"{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}"


def _heard(line: str) -> None:
    print(f"          scripted model: {plain(line)}", flush=True)


def _repository(target: Path) -> None:
    """The sample project as a repository of its own."""
    shutil.copytree(PROJECT, target, ignore=shutil.ignore_patterns("__pycache__", "*.sqlite3"))
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "The exam site")):
        done = run(("git", *words), cwd=target, env=GIT, timeout=60)
        assert done.ok, done.complaint


def _install_from(target: Path) -> None:
    """The tests' environment is built from packages that `make setup` has fetched: no network from here on."""
    if not (PACKAGES / "fetched").exists():
        raise Misconfigured("the packages of the demo are missing; type: make setup")
    with target.open("a", encoding="utf-8") as file:
        file.write(f"packages: {json.dumps(str(PACKAGES))}\n")


def _write_keys(path: Path, url: str) -> None:
    path.touch(mode=0o600)
    path.write_text(f"ANTHROPIC_API_KEY=a-key-that-only-the-scripted-model-takes\nANTHROPIC_BASE_URL={url}\n")


# --- model ---------------------------------------------------------------------------------------------------


def model(arguments: Arguments) -> int:
    """Serves until interrupted."""
    from shared.edge.scripted.scripted_model import serve

    serve(Path(arguments.script), arguments.port, lambda url: print(f"serving: {url}", flush=True), _heard)
    return 0


# --- check ---------------------------------------------------------------------------------------------------


def check(arguments: Arguments) -> int:
    """Format, lint, strict types, tests; ends at the first that fails."""
    del arguments
    programs = Path(sys.executable).parent
    for words in (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("mypy",), ("pytest", "-n", "2")):
        print(f"== {' '.join(words)}", flush=True)
        if attached((str(programs / words[0]), *words[1:]), cwd=CHECKOUT, env=os.environ):
            return 1
    return 0
