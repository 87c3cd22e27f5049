"""The command line -> Arguments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.model.deployment import PLACES

DONE, PROBLEM, BUG, INTERRUPTED = 0, 1, 3, 130  # exit codes; 2, wrong usage, is argparse's

CHECKOUT = Path(__file__).resolve().parents[2]
AIDER = CHECKOUT / ".venv-aider" / "bin" / "python"
PHASES = ("morning", "research", "planning", "work", "wrap_up")


@dataclass(frozen=True)
class Arguments:
    """What was typed, with every default filled in."""

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


def parse(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> Arguments:
    """SystemExit(2) with the usage if the words make no command."""
    found = vars(_parser().parse_args(_home_first(words)))
    home = found.pop("home") or environment.get("SISIMPUR_HOME") or CHECKOUT
    return Arguments(home=_place(home), **found)


def _place(home: str | Path) -> Path:
    """Absolute and without `..`, so that what is printed and stored means the same from every folder."""
    return Path(os.path.realpath(os.path.expanduser(home)))


def _home_first(words: Sequence[str]) -> list[str]:
    """`status --home H` is as good as `--home H status`."""
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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    init = commands.add_parser("init", help="make a home for one target repository")
    init.add_argument("--target", required=True, metavar="PATH_OR_URL")
    init.add_argument("--branch", default="", help="the branch to work from (default: the repository's own)")

    day = commands.add_parser("run-day", help="all of today's phases, now, in the foreground")
    day.add_argument("--until", choices=PHASES, default="", metavar="PHASE", help=f"stop after: {', '.join(PHASES)}")

    start = commands.add_parser("start", help="begin the daemon: from now on it wakes up and works by itself")
    start.add_argument(
        "--foreground", action="store_true", help="in this terminal, until Ctrl-C; for systemd and containers"
    )
    commands.add_parser("stop", help="end the daemon; what is cut off goes on with the next start")

    plan = commands.add_parser("plan", help="read VISION.md and say what would be planned")
    plan.add_argument("--dry-run", action="store_true", required=True, help="change nothing (asks no model either)")

    _showing(commands, "tasks", "every task and where it stands")
    one = _showing(commands, "show", "one task: its text, history, cost and pull request")
    one.add_argument("id", metavar="ID")
    for name, help_, why in (
        ("approve", "merge a change that waits for you", "a remark for the record"),
        ("reject", "close the pull request of a task", "the reason; the coder reads it if you retry the task"),
        ("retry", "try a task again, with fresh attempts", "what the coder should do differently"),
        ("cancel", "take a task out of the queue", "a remark for the record"),
    ):
        answer = commands.add_parser(name, help=help_)
        answer.add_argument("id", metavar="ID")
        answer.add_argument("--why", default="", required=name == "reject", metavar="TEXT", help=why)
    _showing(commands, "prs", "the pull requests of the team")
    _showing(commands, "research", "what was looked up on the web, and where its notes are")
    _showing(commands, "roadmap", "which goal is probably done in which week; change it in ROADMAP.md")
    memory = _showing(commands, "memory", "what was learned from earlier work, and whether it helps")
    memory.add_argument("--forget", type=int, default=None, metavar="NUMBER", help="delete one, for good")
    _showing(commands, "status", "what runs, what waits for you, what was spent")
    _showing(commands, "budget", "what was spent: per day, month, agent, task and model")
    cap = commands.add_parser("raise-cap", help="today may cost up to this much; tomorrow the policy counts again")
    cap.add_argument("amount", metavar="AMOUNT", help="dollars for the whole day, e.g. 12.50; the policy's: as usual")
    cap.add_argument("--why", default="", metavar="TEXT", help="a remark for the record")
    written = commands.add_parser("write-off", help="a call that was lost was not billed, or with less than is booked")
    written.add_argument("call", type=int, metavar="CALL", help="its number; see: budget")
    written.add_argument("--amount", default="0", metavar="AMOUNT", help="what it was billed at (default: 0)")
    written.add_argument("--why", required=True, metavar="TEXT", help="how you know; kept in the book")
    commands.add_parser("resume", help="after you looked at why nothing is spent any more: go on")
    _deploys(commands)
    logs = _showing(commands, "logs", "the newest log lines")
    logs.add_argument("--agent", default="", metavar="NAME", help="only this agent's")
    logs.add_argument("--task", default="", metavar="ID", help="only this task's")
    logs.add_argument("--lines", type=int, default=40, metavar="N", help="how many (default: 40)")
    logs.add_argument("--follow", "-f", action="store_true", help="go on with what comes, until Ctrl-C")
    _showing(commands, "doctor", "is this machine fit for work?")
    commands.add_parser("propose-ci", help="a pull request that gives the target a workflow; you merge it")

    model = commands.add_parser("model", help="serve scripted model answers on this machine")
    model.add_argument("--script", required=True, metavar="FILE")
    model.add_argument("--port", type=int, default=0)
    demo = commands.add_parser("demo", help="one whole working day, offline, on a sample project")
    demo.add_argument("--forge", choices=("local", "github"), default="local", help="where its pull requests are made")
    check = commands.add_parser("check", help="for developers: format, lint, types, tests")
    scope = check.add_mutually_exclusive_group()
    scope.add_argument("--fast", dest="scope", action="store_const", const="fast", help="of the tests, only the laws")
    scope.add_argument("--all", dest="scope", action="store_const", const="all", help="also what is left out usually")
    check.set_defaults(scope="usual")
    setup = commands.add_parser("setup", help="build both environments and check the machine")
    setup.add_argument("--dev", action="store_true", help="with the developers' tools")
    setup.add_argument("--lock", action="store_true", help="compile the pinned requirements anew")
    return parser


def _deploys(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _showing(commands, "deploys", "what was deployed, what runs, and what is in the way")
    deploy = commands.add_parser("deploy", help="bring a commit to a place, now")
    deploy.add_argument("--commit", required=True, metavar="SHA", help="its id, or the first digits of it")
    back = commands.add_parser("rollback", help="bring back what was healthy before, and pause deploys")
    for command in (deploy, back):
        command.add_argument(
            "--place", choices=PLACES, default="", help="default: production if it is configured, else staging"
        )
    pause = commands.add_parser("pause-deploys", help="nothing that merges is deployed until you resume")
    pause.add_argument("--why", default="", metavar="TEXT", help="a remark for the record")
    commands.add_parser("resume-deploys", help="deploy again; what was sick or failed may be tried once more")


def _showing(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help_: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_)
    command.add_argument("--json", action="store_true", help="for scripts")
    return command
