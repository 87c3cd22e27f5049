"""What needs no network and no key: `demo` and `model`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from cli.terminal.arguments import CHECKOUT, Arguments
from cli.terminal.text import plain
from shared.model.errors import Misconfigured
from shared.system.paths import Home
from shared.system.process import run

DAY = CHECKOUT / "examples" / "exam_site_day"
PROJECT = CHECKOUT / "examples" / "exam_site"
SAMPLE = "you/exam_site"
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
    from cli import views
    from cli.commands import day, offline_site, owner_commands
    from simulators.discord.local_webhook import LocalWebhook
    from simulators.model.script import read_script
    from simulators.model.scripted_model import ScriptedModel

    place = _new_place() if arguments.home == CHECKOUT else arguments.home
    home = place / "home"
    if place.exists() and any(place.iterdir()):
        raise Misconfigured(f"{place} is not empty; name a new folder with --home, or none")
    print(f"home: {home}")
    print("everything is real but the model: its answers come from examples/exam_site_day/script.yaml", flush=True)
    _repository(place / "exam_site")
    with (
        ScriptedModel(read_script(DAY / "script.yaml"), heard=_heard) as model,
        LocalWebhook(place / "discord") as discord,
        _forge(arguments.forge, place) as (target, keys),
        offline_site.site(place / "site") as site,
    ):
        _write_keys(home / "config" / ".env", ANTHROPIC_BASE_URL=model.url, DISCORD_WEBHOOK_URL=discord.url, **keys)
        print(owner_commands.make_home(Home(home), target))
        print(f"what merges is served at {site.url}/ while the day lasts: code that a model wrote, in no sandbox")
        print(f"to end it by hand: {site.typed('stop')}\n", flush=True)
        _configure(home / "config" / "targets" / "exam_site.yaml", site.deploys_of(PACKAGES))
        _record(home / "config" / "policy.yaml")
        shutil.copyfile(DAY / "VISION.md", home / "VISION.md")
        code = day.run_day(Arguments("run-day", home), environment={})
        print()
        for view in (views.status, views.prs, views.budget, views.deploys):
            view(Arguments(view.__name__, home))
            print()
        print(f"the site:     {site.says()}")
    print(f"              (it has ended; to see it again: {site.typed('show')})")
    print(f"look around:  python main.py --home {shlex.quote(str(home))} show ID   (and: tasks, roadmap, logs, status)")
    print(f"the report:   {home / 'reports' / 'daily'} and, as Discord got it, {place / 'discord'}")
    forge = place / "github" / f"{SAMPLE}.git" if keys else home / ".state" / "forge" / "exam_site.git"
    print(f"the branches: git -C {shlex.quote(str(forge))} log --oneline --all")
    return code


@contextmanager
def _forge(name: str, place: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """What the home's target is, and the keys that it takes."""
    if name != "github":
        yield str(place / "exam_site"), {}
        return
    from simulators.github.local_github import LocalGitHub

    with LocalGitHub(place / "github") as hub:
        hub.repository(SAMPLE, place / "exam_site")
        hub.require(SAMPLE, "main", "agents/review")
        print(f"GitHub: one on this machine, {hub.url}", flush=True)
        yield f"{hub.url}/{SAMPLE}.git", {"GITHUB_TOKEN": hub.user("team"), "GITHUB_API_URL": hub.url}


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


def _configure(target: Path, deploys: str) -> None:
    """All that is installed comes from packages that `make setup` has fetched: no network from here on."""
    if not (PACKAGES / "fetched").exists():
        raise Misconfigured("the packages of the demo are missing; type: make setup")
    with target.open("a", encoding="utf-8") as file:
        file.write(f"packages: {json.dumps(str(PACKAGES))}\n\n{deploys}")


def _record(policy: Path) -> None:
    """What is looked up is found in a folder. The story is about what its owner wants: nothing else is proposed."""
    text = re.sub(r"^upkeep:.*$", "upkeep: {tasks: 0}", policy.read_text("utf-8"), flags=re.MULTILINE)
    policy.write_text(f"{text}\nresearch: {{recorded: {json.dumps(str(DAY / 'web'))}}}\n", "utf-8")


def _write_keys(path: Path, **keys: str) -> None:
    path.parent.mkdir(parents=True)
    path.touch(mode=0o600)
    keys |= {"ANTHROPIC_API_KEY": "a-key-that-only-the-scripted-model-takes"}
    path.write_text("".join(f"{name}={value}\n" for name, value in keys.items()))


# --- model ---------------------------------------------------------------------------------------------------


def model(arguments: Arguments) -> int:
    """Serves until interrupted."""
    from simulators.model.scripted_model import serve

    serve(Path(arguments.script), arguments.port, lambda url: print(f"serving: {url}", flush=True), _heard)
    return 0
