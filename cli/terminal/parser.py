"""The commands that can be typed: how each is used, and its help."""

from __future__ import annotations

import argparse
import re

from sisimpur.cli.terminal.command_line import DAY, DEPLOYS, DEVELOPERS, LOOKING, MONEY, SET_UP, CommandLine
from sisimpur.shared.model.naming import PLACES

PHASES = ("morning", "research", "planning", "work", "wrap_up")
MOST = 1_000_000_000  # of a number that is typed
SHELLS = ("bash", "zsh", "fish")


def make_parser() -> CommandLine:
    commands = CommandLine()
    for add_group in (_days, _answers, _views, _board, _record, _logs, _money, _deploys, _set_up, _developers):
        add_group(commands)
    return commands


# --- the commands, a function for each group -----------------------------------------------------------------


def _days(commands: CommandLine) -> None:
    day = commands.add(
        DAY,
        "run-day",
        "commands.day:run_day",
        "run all of today's phases now, in the foreground",
        "--home ~/team run-day",
        "--home ~/team run-day --until planning",
        "--home ~/team run-day --wait 60",
    )
    day.add_argument("--until", choices=PHASES, metavar="PHASE", help=f"stop after: {', '.join(PHASES)}")
    day.add_argument(
        "--wait",
        nargs="?",
        const=0,
        type=_number,
        metavar="MINUTES",
        help="stay while something waits for you, and use your answers as they come; at most so long",
    )
    start = commands.add(
        DAY, "start", "commands.daemon:start", "start the daemon: from now on it wakes up and works by itself"
    )
    start.add_argument(
        "--foreground", action="store_true", help="in this terminal, until Ctrl-C; for systemd and containers"
    )
    commands.add(DAY, "stop", "commands.daemon:stop", "stop the daemon; interrupted tasks resume at the next start")
    plan = commands.add(
        DAY, "plan", "commands.day:plan", "read VISION.md and say what would be planned", "plan --dry-run"
    )
    plan.add_argument("--dry-run", action="store_true", required=True, help="change nothing (asks no model either)")


def _number(typed: str) -> int:
    """Read a number that books and clocks can hold."""
    if not re.fullmatch(r"[0-9]{1,10}", typed) or not 0 < int(typed) <= MOST:
        raise argparse.ArgumentTypeError(f"type a number from 1 to {MOST}")
    return int(typed)


def _answers(commands: CommandLine) -> None:
    reasons = {
        "approve": ("merge a change that waits for you, or let a plan begin", "a remark for the record", ""),
        "reject": (
            "say no to a change: close its pull request, with your reason",
            "the reason; the coder reads it if you retry the task",
            " --why 'keep the old address, too'",
        ),
        "retry": (
            "try a task again, with fresh attempts",
            "what the coder should do differently",
            " --why 'use a file'",
        ),
        "cancel": (
            "take a task out of the queue, a plan that waits, or a retry back that is not begun",
            "a remark for the record",
            "",
        ),
        "done": ("call a task done that you did yourself; its pull request is closed", "a remark for the record", ""),
        "unblock": ("let a task begin without those that it waits for", "a remark for the record", ""),
    }
    for name, (help_, why, more) in reasons.items():
        answer = commands.add(DAY, name, f"commands.owner_commands:{name}", help_, f"{name} 20261122-01{more}")
        the_plan = ", or `plan`" * (name in ("approve", "cancel"))
        answer.add_argument("id", metavar="ID", help=f"the task, or how its id begins or ends{the_plan}")
        answer.add_argument("--why", required=name == "reject", metavar="TEXT", help=why)
        if name == "retry":
            answer.add_argument("--again", action="store_true", help="also of what is done: do it once more")
        if name == "approve":
            over = "settle one finding of its review, by the number that `show ID` gives it; approve nothing else"
            answer.add_argument("--over", default="", metavar="FINDING", help=over)
    _other_answers(commands)


def _other_answers(commands: CommandLine) -> None:
    retest = commands.add(
        DAY,
        "retest",
        "commands.owner_commands:retest",
        "run the tests of a change again; no model is asked",
        "retest 20261122-01",
    )
    retest.add_argument("id", metavar="ID", help="the task, or how its id begins or ends")
    words = commands.add(
        DAY,
        "answer",
        "commands.owner_commands:answer",
        "answer the questions of a goal, or try a task again with your words",
        "answer g-1f3a 'the old address stays'",
    )
    words.add_argument("id", metavar="ID", help="the goal or the task, or how its id begins or ends; see: status")
    words.add_argument("text", metavar="TEXT", help="your answer; the planner, or the coder, reads it")


def _views(commands: CommandLine) -> None:
    views = commands.view
    views(LOOKING, "status", "views.status:status", "show what runs, what waits for you, what was spent")
    tasks = views(
        LOOKING, "tasks", "views.tasks:tasks", "list what is open or ended of late, and where it stands", "tasks --all"
    )
    tasks.add_argument("--all", action="store_true", help="every task there ever was; --json lists them, too")
    show = views(
        LOOKING, "show", "views.show:show", "show a task: its text, history, cost and pull request", "show 20261122-01"
    )
    show.add_argument("id", metavar="ID", help="the task, or how its id begins or ends")
    show.add_argument("--talk", action="store_true", help="what was said to models and by them, call by call")
    prs = views(LOOKING, "prs", "views.pulls:prs", "list the pull requests of the team that are open or ended of late")
    prs.add_argument("--all", action="store_true", help="every one there ever was; --json lists them, too")
    report = views(LOOKING, "report", "record.report:report", "show the newest report, or a day's", "report yesterday")
    report.add_argument("day", nargs="?", metavar="DAY", help="2026-11-22, yesterday or today (default: the newest)")
    report.add_argument("--pdf", action="store_true", help="write it as a PDF beside its file (needs chromium)")
    research = views(
        LOOKING,
        "research",
        "views.memory:research",
        "list what was looked up on the web, and where its notes are",
        "research --pdf 1f3a",
    )
    research.add_argument("--pdf", dest="note", metavar="ID", help="write a note as a PDF; ID: how its name ends")
    views(
        LOOKING,
        "roadmap",
        "views.roadmap:roadmap",
        "show which goal is probably done in which week; you change it in ROADMAP.md",
    )
    memory = views(
        LOOKING,
        "memory",
        "views.memory:memory",
        "show what was learned from earlier work, and whether it helps",
        "memory --forget 3",
    )
    memory.add_argument("--forget", type=int, metavar="NUMBER", help="delete one, for good")


def _board(commands: CommandLine) -> None:
    board = commands.add(
        LOOKING,
        "board",
        "web.api.server:board",
        "see what waits for you in a browser on this machine, and answer it",
        "board",
        "board --link",
        "board --link --role viewer",
        "board --key ci --scope read",
        "board --sessions",
    )
    one = board.add_mutually_exclusive_group()
    one.add_argument("--link", action="store_true", help="print another link that signs in once, and end")
    one.add_argument("--key", metavar="NAME", help="print a key for a script, once, and end")
    one.add_argument("--sessions", action="store_true", help="list who is signed in, keys and passkeys, and end")
    one.add_argument("--close", metavar="ID", help="end one of that list; with a passkey all that came by it")
    board.add_argument(
        "--role",
        choices=("owner", "reviewer", "viewer"),
        help="of the link: an owner may all (default), a reviewer answers, approves and sends back, a viewer looks",
    )
    board.add_argument(
        "--scope",
        choices=("read", "answer"),
        help="what the key may: look (the default), or also answer questions and send changes back",
    )
    board.add_argument("--days", type=int, metavar="N", help="how long the key lasts (default: 90)")
    board.add_argument("--port", type=int, metavar="N", help="where it listens (default: `port` in config/board.yaml)")


def _record(commands: CommandLine) -> None:
    trace = commands.view(
        LOOKING,
        "trace",
        "record.trace:trace",
        "draw what was done for a goal: from VISION.md to its deploys, with time, money and outcome",
        "trace 20261122-01",
        "trace deploy 3",
    )
    named = "a goal or a task, or how its id begins or ends; a commit; with a NUMBER: `pr` or `deploy`"
    trace.add_argument("id", metavar="NAME", help=named)
    trace.add_argument(
        "number", nargs="?", default=None, type=_number, metavar="NUMBER", help="of the pull request or deploy"
    )
    metrics = commands.view(
        LOOKING,
        "metrics",
        "record.metrics:metrics",
        "show how well it goes: what passes, rounds, minutes and dollars for a merged task, and what each figure says",
        "metrics --prometheus > /var/lib/node_exporter/sisimpur.prom",
    )
    metrics.add_argument("--prometheus", action="store_true", help="as text that Prometheus reads")
    audit = commands.view(
        LOOKING,
        "audit",
        "record.audit:audit",
        "show who did what, from where; verify: whether a row of it was changed",
        "audit --since yesterday",
        "audit verify --head 5f0c2d7e91ab",
    )
    audit.add_argument("verify", nargs="?", metavar="verify", help="check that each row follows from the one before")
    audit.add_argument("--head", metavar="HASH", help="of verify: check that the row with this head is still there")
    audit.add_argument("--since", metavar="WHEN", help="a day (2026-11-22), yesterday, today, or 2h, 3d (default: all)")
    audit.add_argument("--kind", metavar="KIND", help="only this: task, attempt, check, review, ruling, deploy, ...")
    audit.add_argument("--follow", "-f", action="store_true", help="go on with what comes, until Ctrl-C")


def _logs(commands: CommandLine) -> None:
    logs = commands.view(
        LOOKING,
        "logs",
        "views.logs:logs",
        "show the newest log lines",
        "logs --follow",
        "logs --agent coder --lines 200",
    )
    logs.add_argument("--agent", metavar="NAME", help="only this agent's")
    logs.add_argument("--task", metavar="ID", help="only this task's")
    logs.add_argument("--lines", type=int, metavar="N", help="how many (default: 40)")
    logs.add_argument("--follow", "-f", action="store_true", help="go on with what comes, until Ctrl-C")


def _money(commands: CommandLine) -> None:
    commands.view(
        MONEY, "budget", "views.budget:budget", "show what was spent: per day, month, agent, task and model", "budget"
    )
    cap = commands.add(
        MONEY,
        "raise-cap",
        "commands.owner_commands:raise_cap",
        "let today cost up to this much; tomorrow the policy counts again",
        "raise-cap 12.50",
    )
    cap.add_argument("amount", metavar="AMOUNT", help="dollars for the whole day, e.g. 12.50; the policy's: as usual")
    cap.add_argument("--why", metavar="TEXT", help="a remark for the record")
    lost = commands.add(
        MONEY,
        "write-off",
        "commands.owner_commands:write_off",
        "correct the cost of a lost call",
        "write-off 417 --why 'the invoice does not name it'",
    )
    lost.add_argument("call", type=_number, metavar="CALL", help="its number; see: budget")
    lost.add_argument("--amount", default="0", metavar="AMOUNT", help="what it was billed at (default: 0)")
    lost.add_argument("--why", required=True, metavar="TEXT", help="how you know; kept in the book")
    commands.add(
        MONEY, "resume", "commands.owner_commands:resume", "lift a spending halt after you have checked its cause"
    )


def _deploys(commands: CommandLine) -> None:
    commands.view(
        DEPLOYS, "deploys", "views.deploys:deploys", "show what was deployed, what runs, and what is in the way"
    )
    deploy = commands.add(
        DEPLOYS, "deploy", "commands.deploys:deploy", "bring a commit to a place, now", "deploy --commit 4a62c7da"
    )
    deploy.add_argument("--commit", required=True, metavar="SHA", help="its id, or the first digits of it")
    back = commands.add(
        DEPLOYS, "rollback", "commands.deploys:rollback", "bring back what was healthy before, and pause deploys"
    )
    for command in (deploy, back):
        command.add_argument("--place", choices=PLACES, help="default: production if it is configured, else staging")
    pause = commands.add(
        DEPLOYS, "pause-deploys", "commands.deploys:pause_deploys", "deploy nothing that merges until you resume"
    )
    pause.add_argument("--why", metavar="TEXT", help="a remark for the record")
    commands.add(
        DEPLOYS,
        "resume-deploys",
        "commands.deploys:resume_deploys",
        "deploy again; what was sick or failed may be tried once more",
    )


def _set_up(commands: CommandLine) -> None:
    init = commands.add(
        SET_UP,
        "init",
        "commands.owner_commands:init",
        "make a home for one target repository",
        "--home ~/team init --target ~/code/my-project",
        "--home ~/team init --target https://github.com/you/your-project --branch main",
    )
    init.add_argument("--target", required=True, metavar="PATH_OR_URL", help="the repository to work on")
    init.add_argument("--branch", help="the branch to work from (default: the repository's own)")
    setup = commands.add(SET_UP, "setup", "setup.environments:run", "build the environments and check the machine")
    setup.add_argument("--target", metavar="PATH_OR_URL", help="then make a home for this repository, as init does")
    setup.add_argument("--quiet", action="store_true", help="do not print the next command")
    setup.add_argument("--dev", action="store_true", help="with the developers' tools")
    setup.add_argument("--lock", action="store_true", help="compile the pinned requirements anew")
    commands.view(SET_UP, "doctor", "commands.doctor:doctor", "check whether this machine is fit for work")
    demo = commands.add(SET_UP, "demo", "web.api.server:demo", "run a whole working day, offline, on a sample project")
    demo.add_argument("--forge", choices=("local", "github"), help="where its pull requests are made")
    demo.add_argument("--board", action="store_true", help="watch it in a browser, and answer; until Ctrl-C")
    commands.add(
        SET_UP, "propose-ci", "commands.ci:propose_ci", "propose a CI workflow for the target as a pull request"
    )
    completion = commands.add(
        SET_UP,
        "completion",
        "terminal.completion:completion",
        "print a script that completes commands in your shell",
        "completion bash >> ~/.bash_completion",
        "completion zsh > ~/.zfunc/_sisimpur",
        "completion fish > ~/.config/fish/completions/sisimpur.fish",
    )
    completion.add_argument("shell", choices=SHELLS, help="your shell")
    help_ = commands.add(SET_UP, "help", "terminal.arguments:show_help", "show this list, or the help of a command")
    help_.add_argument("about", nargs="?", metavar="COMMAND", help="the command")


def _developers(commands: CommandLine) -> None:
    check = commands.add(DEVELOPERS, "check", "commands.check:check", "check format, lint and types, and run the tests")
    scope = check.add_mutually_exclusive_group()
    scope.add_argument("--fast", dest="scope", action="store_const", const="fast", help="of the tests, only the laws")
    scope.add_argument("--all", dest="scope", action="store_const", const="all", help="also what is left out usually")
    model = commands.add(DEVELOPERS, "model", "commands.offline:model", "serve scripted model answers on this machine")
    model.add_argument("--script", required=True, metavar="FILE", help="the answers, as YAML")
    model.add_argument("--port", type=int, help="where it listens (default: a free one)")
