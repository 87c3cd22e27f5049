"""The command line -> Arguments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sisimpur.cli.setup.folders import AIDER_VENV, BUILT, IS_INSTALLED, ROOT
from sisimpur.cli.terminal.parser import make_parser
from sisimpur.shared.model.text import around_unseen

DONE, PROBLEM, BUG, INTERRUPTED = 0, 1, 3, 130  # exit codes; 2, wrong usage, is argparse's

CHECKOUT = ROOT
AIDER = AIDER_VENV / "bin" / "python"
NAMED = ("--home", "SISIMPUR_HOME")  # how the owner names a home


@dataclass(frozen=True)
class Arguments:
    """What was typed, with every default filled in. `run`: the function that serves it, as `module:name` below cli.

    `chosen`: why it is this home.
    """

    command: str
    home: Path
    json: bool = False
    all: bool = False
    talk: bool = False
    target: str = ""
    branch: str = ""
    id: str = ""
    number: int | None = None
    prometheus: bool = False
    until: str = ""
    wait: int | None = None  # minutes; 0: until nothing waits for the owner
    dry_run: bool = False
    why: str = ""
    text: str = ""
    over: str = ""
    again: bool = False
    script: str = ""
    port: int = 0
    link: bool = False
    role: str = ""
    key: str = ""
    days: int = 0
    sessions: bool = False
    close: str = ""
    board: bool = False
    agent: str = ""
    task: str = ""
    lines: int = 40
    follow: bool = False
    amount: str = ""
    call: int = 0
    forge: str = "local"
    scope: str = "usual"
    dev: bool = False
    lock: bool = False
    quiet: bool = False
    foreground: bool = False
    commit: str = ""
    place: str = ""
    forget: int | None = None
    shell: str = ""
    since: str = ""
    kind: str = ""
    verify: str = ""
    head: str = ""
    day: str = ""
    pdf: bool = False
    note: str = ""
    about: str = ""
    run: str = field(default="", compare=False)
    chosen: str = field(default="--home", compare=False)


def parse(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> Arguments:
    """Read the words. SystemExit(2) with the usage if they make no command."""
    parser = make_parser()
    words = _reasons_whole(_home_first(words))
    parser.expect_command(words)
    if around := next(filter(None, map(around_unseen, words)), ""):
        parser.error(f"what you typed holds letters that nobody sees; type it without: {around}")
    found = vars(parser.parse_args(words))
    home, chosen = _choose(found.pop("home"), environment)
    place = Path(os.path.realpath(os.path.expanduser(home)))  # so it means the same from every folder
    return Arguments(home=place, chosen=chosen, **found)


def _choose(named: str | None, environment: Mapping[str, str]) -> tuple[str | Path, str]:
    """Return the home, and why it is this one."""
    if home := named:
        return home, NAMED[0]
    if home := environment.get("SISIMPUR_HOME"):
        return home, NAMED[1]
    if near := nearest_home(Path.cwd()):
        return near, "the nearest folder upwards with config/"
    return BUILT, "the default" if IS_INSTALLED else "this checkout"


def nearest_home(folder: Path) -> Path | None:
    """Return this folder, or the nearest above it, that has a team's config/ and is ours; None: there is none.

    A `config/` without `targets/` is any program's, and a home of somebody else could name commands to run.
    """
    for place in (folder, *folder.parents):
        if (place / "config" / "targets").is_dir() and place.stat().st_uid == os.getuid():
            return place
    return None


def _home_first(words: Sequence[str]) -> list[str]:
    """Accept `status --home H` like `--home H status`."""
    words = list(words)
    for at, word in enumerate(words):
        size = 2 if word == "--home" else 1 if word.startswith("--home=") else 0
        if size and at + size <= len(words):
            return [*words[at : at + size], *words[:at], *words[at + size :]]
    return words


def _reasons_whole(words: Sequence[str]) -> list[str]:
    """Accept `--why '--version prints'`: what follows is the reason, however it begins."""
    words = list(words)
    for at, word in enumerate(words[:-1]):
        if word == "--why":
            return [*words[:at], f"--why={words[at + 1]}", *words[at + 2 :]]
    return words


def show_help(arguments: Arguments) -> int:
    """Print the help of a command, or of all."""
    parser = make_parser()
    about: argparse.ArgumentParser = parser
    if arguments.about:
        parser.expect_command([arguments.about])
        about = parser.commands[arguments.about]
    about.print_help()
    return DONE
