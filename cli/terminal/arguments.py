"""The command line -> Arguments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shared.model.deployment import PLACES

DONE, PROBLEM, BUG, INTERRUPTED = 0, 1, 3, 130  # exit codes; 2, wrong usage, is argparse's

CHECKOUT = Path(__file__).resolve().parents[2]
AIDER = CHECKOUT / ".venv-aider" / "bin" / "python"
PHASES = ("morning", "research", "planning", "work", "wrap_up")


@dataclass(frozen=True)
class Arguments:
    """What was typed, with every default filled in. `run`: the function that serves it, as `module:name` below cli."""

    command: str
    home: Path
    json: bool = False
    target: str = ""
    branch: str = ""
    id: str = ""
    until: str = ""
    dry_run: bool = False
    why: str = ""
    script: str = ""
    port: int = 0
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
    foreground: bool = False
    commit: str = ""
    place: str = ""
    forget: int | None = None
    run: str = field(default="", compare=False)


def parse(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> Arguments:
    """Read the words. SystemExit(2) with the usage if they make no command."""
    found = vars(_parser().parse_args(_home_first(words)))
    home = found.pop("home") or environment.get("SISIMPUR_HOME") or CHECKOUT
    return Arguments(home=_place(home), **found)


def _place(home: str | Path) -> Path:
    """Make it absolute and without `..`: what is printed and stored means the same from every folder."""
    return Path(os.path.realpath(os.path.expanduser(home)))


def _home_first(words: Sequence[str]) -> list[str]:
    """Accept `status --home H` like `--home H status`."""
    words = list(words)
    for at, word in enumerate(words):
        size = 2 if word == "--home" else 1 if word.startswith("--home=") else 0
        if size and at + size <= len(words):
            return [*words[at : at + size], *words[:at], *words[at + size :]]
    return words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="main.py", description="VISION.md in, pull requests out, under a hard budget."
    )
    parser.add_argument(
        "--home", metavar="DIR", help="where all data lies (default: $SISIMPUR_HOME, else this checkout)"
    )
    commands = _Commands(parser)
    for add_group in (_days, _tasks, _views, _money, _deploys, _health, _offline):
        add_group(commands)
    return parser


class _Commands:
    """Adds commands. `run` names the function that serves one: its module is loaded only when it runs."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(self, name: str, run: str, help_: str) -> argparse.ArgumentParser:
        """Take every default from Arguments."""
        command = self._parsers.add_parser(name, help=help_, argument_default=argparse.SUPPRESS)
        command.set_defaults(run=run)
        return command

    def view(self, name: str, run: str, help_: str) -> argparse.ArgumentParser:
        command = self.add(name, run, help_)
        command.add_argument("--json", action="store_true", help="for scripts")
        return command


# --- the commands, a function for each group -----------------------------------------------------------------


def _days(commands: _Commands) -> None:
    init = commands.add("init", "commands.owner_commands:init", "make a home for one target repository")
    init.add_argument("--target", required=True, metavar="PATH_OR_URL")
    init.add_argument("--branch", help="the branch to work from (default: the repository's own)")
    day = commands.add("run-day", "commands.day:run_day", "all of today's phases, now, in the foreground")
    day.add_argument("--until", choices=PHASES, metavar="PHASE", help=f"stop after: {', '.join(PHASES)}")
    start = commands.add(
        "start", "commands.daemon:start", "begin the daemon: from now on it wakes up and works by itself"
    )
    start.add_argument(
        "--foreground", action="store_true", help="in this terminal, until Ctrl-C; for systemd and containers"
    )
    commands.add("stop", "commands.daemon:stop", "end the daemon; what is cut off goes on with the next start")
    plan = commands.add("plan", "commands.day:plan", "read VISION.md and say what would be planned")
    plan.add_argument("--dry-run", action="store_true", required=True, help="change nothing (asks no model either)")


def _tasks(commands: _Commands) -> None:
    commands.view("tasks", "views.tasks:tasks", "every task and where it stands")
    show = commands.view("show", "views.tasks:show", "one task: its text, history, cost and pull request")
    show.add_argument("id", metavar="ID")
    for name, help_, why in (
        ("approve", "merge a change that waits for you", "a remark for the record"),
        ("reject", "close the pull request of a task", "the reason; the coder reads it if you retry the task"),
        ("retry", "try a task again, with fresh attempts", "what the coder should do differently"),
        ("cancel", "take a task out of the queue", "a remark for the record"),
    ):
        answer = commands.add(name, f"commands.owner_commands:{name}", help_)
        answer.add_argument("id", metavar="ID")
        answer.add_argument("--why", required=name == "reject", metavar="TEXT", help=why)


def _views(commands: _Commands) -> None:
    commands.view("prs", "views.pulls:prs", "the pull requests of the team")
    commands.view("research", "views.research:research", "what was looked up on the web, and where its notes are")
    commands.view(
        "roadmap", "views.roadmap:roadmap", "which goal is probably done in which week; change it in ROADMAP.md"
    )
    memory = commands.view("memory", "views.memory:memory", "what was learned from earlier work, and whether it helps")
    memory.add_argument("--forget", type=int, metavar="NUMBER", help="delete one, for good")
    commands.view("status", "views.status:status", "what runs, what waits for you, what was spent")


def _money(commands: _Commands) -> None:
    commands.view("budget", "views.budget:budget", "what was spent: per day, month, agent, task and model")
    cap = commands.add(
        "raise-cap",
        "commands.owner_commands:raise_cap",
        "today may cost up to this much; tomorrow the policy counts again",
    )
    cap.add_argument("amount", metavar="AMOUNT", help="dollars for the whole day, e.g. 12.50; the policy's: as usual")
    cap.add_argument("--why", metavar="TEXT", help="a remark for the record")
    lost = commands.add(
        "write-off",
        "commands.owner_commands:write_off",
        "a call that was lost was not billed, or with less than is booked",
    )
    lost.add_argument("call", type=int, metavar="CALL", help="its number; see: budget")
    lost.add_argument("--amount", default="0", metavar="AMOUNT", help="what it was billed at (default: 0)")
    lost.add_argument("--why", required=True, metavar="TEXT", help="how you know; kept in the book")
    commands.add("resume", "commands.owner_commands:resume", "after you looked at why nothing is spent any more: go on")


def _deploys(commands: _Commands) -> None:
    commands.view("deploys", "views.deploys:deploys", "what was deployed, what runs, and what is in the way")
    deploy = commands.add("deploy", "commands.deploys:deploy", "bring a commit to a place, now")
    deploy.add_argument("--commit", required=True, metavar="SHA", help="its id, or the first digits of it")
    back = commands.add(
        "rollback", "commands.deploys:rollback", "bring back what was healthy before, and pause deploys"
    )
    for command in (deploy, back):
        command.add_argument("--place", choices=PLACES, help="default: production if it is configured, else staging")
    pause = commands.add(
        "pause-deploys", "commands.deploys:pause_deploys", "nothing that merges is deployed until you resume"
    )
    pause.add_argument("--why", metavar="TEXT", help="a remark for the record")
    commands.add(
        "resume-deploys",
        "commands.deploys:resume_deploys",
        "deploy again; what was sick or failed may be tried once more",
    )


def _health(commands: _Commands) -> None:
    logs = commands.view("logs", "views.logs:logs", "the newest log lines")
    logs.add_argument("--agent", metavar="NAME", help="only this agent's")
    logs.add_argument("--task", metavar="ID", help="only this task's")
    logs.add_argument("--lines", type=int, metavar="N", help="how many (default: 40)")
    logs.add_argument("--follow", "-f", action="store_true", help="go on with what comes, until Ctrl-C")
    commands.view("doctor", "commands.doctor:doctor", "is this machine fit for work?")
    commands.add(
        "propose-ci", "commands.ci:propose_ci", "a pull request that gives the target a workflow; you merge it"
    )


def _offline(commands: _Commands) -> None:
    model = commands.add("model", "commands.offline:model", "serve scripted model answers on this machine")
    model.add_argument("--script", required=True, metavar="FILE")
    model.add_argument("--port", type=int)
    demo = commands.add("demo", "commands.offline:demo", "one whole working day, offline, on a sample project")
    demo.add_argument("--forge", choices=("local", "github"), help="where its pull requests are made")
    check = commands.add("check", "commands.check:check", "for developers: format, lint, types, tests")
    scope = check.add_mutually_exclusive_group()
    scope.add_argument("--fast", dest="scope", action="store_const", const="fast", help="of the tests, only the laws")
    scope.add_argument("--all", dest="scope", action="store_const", const="all", help="also what is left out usually")
    setup = commands.add("setup", "setup:run", "build both environments and check the machine")
    setup.add_argument("--dev", action="store_true", help="with the developers' tools")
    setup.add_argument("--lock", action="store_true", help="compile the pinned requirements anew")
