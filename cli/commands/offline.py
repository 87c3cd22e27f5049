"""Commands without network and key: `demo` and `model`."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from sisimpur.agents.devops.drivers.health_checker import PageLine
from sisimpur.cli.setup.folders import BUILT, PACKAGES, VENV
from sisimpur.cli.terminal.arguments import CHECKOUT, NAMED, Arguments
from sisimpur.cli.terminal.printing import command, plain
from sisimpur.cli.wiring.workshop import BASE_PYTHON
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import run

if TYPE_CHECKING:
    from sisimpur.simulators.model.scripted_model import ScriptedModel

DAY = CHECKOUT / "examples" / "exam_site_day"
PROJECT = CHECKOUT / "examples" / "exam_site"
SAMPLE = "you/exam_site"
GIT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "The owner" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "owner@localhost" for who in ("AUTHOR", "COMMITTER")},
}
SERVE = DAY / "serve.py"
PAGE = "/accounts/sign-in/"  # the one that the day is about
PLAIN = {"PATH": "/usr/bin:/bin"}


# --- demo ----------------------------------------------------------------------------------------------------


def demo(arguments: Arguments, beside: Callable[[Path], AbstractContextManager[object]] = nullcontext) -> int:
    """Make a home with a sample project and a scripted model; then run a day like any other.

    `beside`: what goes on in the home meanwhile, and as long as it likes.
    """
    from sisimpur.cli.commands import day
    from sisimpur.simulators.model.pages import write_story

    place = arguments.home if arguments.chosen in NAMED else _new_place()
    home = place / "home"
    if place.exists() and any(place.iterdir()):
        raise Misconfigured(f"{place} is not empty; name a new folder with --home, or none")
    print(f"home: {home}")
    print("everything is real but the model: its answers come from examples/exam_site_day/script.yaml", flush=True)
    with demo_home(place, arguments.forge, say=print, heard=_heard) as (model, site), beside(home):
        code = day.run_day(Arguments("run-day", home), environment={})
        write_story(model.requests, place / "prompts")
        print()
        _print_views(home)
        print(f"the site:     {site.says()}")
    print(f"              (it has ended; to see it again: {site.typed('show')})")
    print(_what_goes_on(home, arguments.forge))
    print(f"look around:  {command(home, 'show ID')}   (and: tasks, roadmap, logs, status)")
    print(f"the report:   {home / 'reports' / 'daily'} and, as Discord got it, {place / 'discord'}")
    print(f"the prompts:  {place / 'prompts'}: what each role was asked, and what it answered")
    forge = place / "github" / f"{SAMPLE}.git" if arguments.forge == "github" else home / ".state/forge/exam_site.git"
    print(f"the branches: git -C {shlex.quote(str(forge))} log --oneline --all")
    return code


def _what_goes_on(home: Path, forge: str) -> str:
    if forge == "github":
        return "the model:    it has ended with the demo, and so has its GitHub: nothing goes on in this home"
    goes_on = f"what you approve is merged and deployed by: {command(home, 'run-day')}"
    return f"the model:    it has ended with the demo, so whatever asks one waits; {goes_on}"


@contextmanager
def demo_home(
    place: Path, forge: str = "", *, say: Callable[[str], None], heard: Callable[[str], None] | None = None
) -> Iterator[tuple[ScriptedModel, DemoSite]]:
    """Make `place`/home, ready for its day, and serve what it needs while the block lasts."""
    from sisimpur.cli.commands.owner_commands import make_home
    from sisimpur.simulators.discord.local_webhook import LocalWebhook
    from sisimpur.simulators.model.script import read_script
    from sisimpur.simulators.model.scripted_model import ScriptedModel

    home = place / "home"
    _repository(place / "exam_site")
    with (
        ScriptedModel(read_script(DAY / "script.yaml"), heard=heard) as model,
        LocalWebhook(place / "discord") as discord,
        _forge(forge, place) as (target, keys),
        site_at(place / "site") as site,
    ):
        _write_keys(home / "config" / ".env", ANTHROPIC_BASE_URL=model.url, DISCORD_WEBHOOK_URL=discord.url, **keys)
        say(make_home(Home(home), target))
        say(f"what merges is served at {site.url}/ while the day lasts: code that a model wrote, in no sandbox")
        say(f"to end it by hand: {site.typed('stop')}\n")
        _configure(home / "config" / "targets" / "exam_site.yaml", site.deploys_of(PACKAGES))
        _record(home / "config" / "policy.yaml")
        shutil.copyfile(DAY / "VISION.md", home / "VISION.md")
        try:
            yield model, site
        finally:
            _write_keys(home / "config" / ".env", ENDED, ANTHROPIC_BASE_URL=NO_MODEL, **keys)


def _print_views(home: Path) -> None:
    from sisimpur.cli.views.budget import budget
    from sisimpur.cli.views.deploys import deploys
    from sisimpur.cli.views.pulls import prs
    from sisimpur.cli.views.status import status

    for view in (status, prs, budget, deploys):
        view(Arguments(view.__name__, home))
        print()


@contextmanager
def _forge(name: str, place: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the home's target, and the keys for it."""
    if name != "github":
        yield str(place / "exam_site"), {}
        return
    from sisimpur.simulators.github.local_github import LocalGitHub

    with LocalGitHub(place / "github") as hub:
        hub.repository(SAMPLE, place / "exam_site")
        hub.require(SAMPLE, "main", "agents/review")
        print(f"GitHub: one on this machine, {hub.url}", flush=True)
        yield f"{hub.url}/{SAMPLE}.git", {"GITHUB_TOKEN": hub.user("team"), "GITHUB_API_URL": hub.url}


def _new_place() -> Path:
    return BUILT / ".demo" / f"{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}"


def _heard(line: str) -> None:
    print(f"          scripted model: {plain(line)}", flush=True)


def _repository(target: Path) -> None:
    """Make a repository of the sample project."""
    shutil.copytree(PROJECT, target, ignore=shutil.ignore_patterns("__pycache__", "*.sqlite3"))
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "The exam site")):
        done = run(("git", *words), cwd=target, env=GIT, timeout=60)
        assert done.ok, done.complaint


def _configure(target: Path, deploys: str) -> None:
    """Install only packages that `make setup` has fetched: no network from here on."""
    if not (PACKAGES / "fetched").exists():
        raise Misconfigured("the packages of the demo are missing; type: make setup")
    with target.open("a", encoding="utf-8") as file:
        file.write(f"packages: {json.dumps(str(PACKAGES))}\n\n{deploys}")


def _record(policy: Path) -> None:
    """Look things up in a recorded folder, and propose nothing: the story is about what its owner wants."""
    text = re.sub(r"^upkeep:.*$", "upkeep: {tasks: 0}", policy.read_text("utf-8"), flags=re.MULTILINE)
    policy.write_text(f"{text}\nresearch: {{recorded: {json.dumps(str(DAY / 'web'))}}}\n", "utf-8")


NO_MODEL = "http://the-demos-model-ended-with-the-demo.invalid"  # whoever goes on there reads it as the address
ENDED = """\
# The demo's scripted model and its Discord ended with it. To go on with a real model, remove the line of
# ANTHROPIC_BASE_URL and write your own key.
"""


def _write_keys(path: Path, first: str = "", **keys: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    keys |= {"ANTHROPIC_API_KEY": "a-key-that-only-the-scripted-model-takes"}
    path.write_text(first + "".join(f"{name}={value}\n" for name, value in keys.items()))


# --- model ---------------------------------------------------------------------------------------------------


def model(arguments: Arguments) -> int:
    """Serve until interrupted."""
    from sisimpur.simulators.model.scripted_model import serve

    serve(Path(arguments.script), arguments.port, lambda url: print(f"serving: {url}", flush=True), _heard)
    return 0


# --- the demo's site -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DemoSite:
    """The demo's web site. `folder`: where serve.py keeps packages, database, log, and what runs."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def deploys_of(self, packages: Path) -> str:
        """Return `deploy` and `health` for the target's file."""
        filled = {
            "port": str(self.port),
            "place": str(self.folder),
            "python": str(BASE_PYTHON),
            "serve": str(SERVE),
            "programs": str(VENV / "bin"),
            "packages": str(packages),
            "keys": str(self.folder / "keys.env"),
        }
        text = Template((DAY / "deploy.yaml").read_text("utf-8"))
        return text.substitute({name: json.dumps(value)[1:-1] for name, value in filled.items()})

    def typed(self, command: str) -> str:
        """Return what the owner types, from here, for one of serve.py's commands."""
        serve = SERVE.relative_to(CHECKOUT) if Path.cwd() == CHECKOUT else SERVE
        return shlex.join(("python3", str(serve), str(self.folder), command))

    def says(self) -> str:
        """Say in one line what a visitor of its page sees."""
        answer = PageLine(self.url).ask(PAGE, 5)
        if isinstance(answer, str):
            return f"GET {PAGE} {answer}"
        title = re.search(r"<title>(.*?)</title>", answer.text)
        return plain(f"GET {PAGE} answers {answer.status}" + (f": {title[1]}" if title else ""))

    def stop(self) -> None:
        done = run((str(BASE_PYTHON), str(SERVE), str(self.folder), "stop"), env=PLAIN, timeout=60)
        assert done.ok, done.complaint


@contextmanager
def site_at(folder: Path) -> Iterator[DemoSite]:
    """Make the site for as long as the block lasts. Nothing is served before the first deploy."""
    folder.mkdir()
    (folder / "keys.env").touch(mode=0o600)
    (folder / "keys.env").write_text(f"DJANGO_SECRET_KEY={secrets.token_urlsafe(40)}\n")
    made = DemoSite(folder, free_port())
    try:
        yield made
    finally:
        made.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
