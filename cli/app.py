"""Words of the command line -> exit code: which function serves which command, and what an error means."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cli.terminal.arguments import BUG, DONE, INTERRUPTED, PROBLEM, Arguments, parse
from cli.terminal.text import pasteable, plain
from shared.model.errors import TeamError

INTERRUPTION = "interrupted; the next start goes on (a model call that was cut stays booked at its worst case)"


def main(words: Sequence[str]) -> int:
    arguments = parse(words)
    try:
        return _function(arguments.command)(arguments)
    except TeamError as problem:
        print(f"{arguments.command}: {pasteable(plain(str(problem)), arguments.home)}", file=sys.stderr)
        return PROBLEM
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        return DONE
    except KeyboardInterrupt:
        print(INTERRUPTION, file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last resort: the owner never sees a stack trace)
        print(f"{arguments.command}: a bug: {type(error).__name__}; please report {_keep(arguments)}", file=sys.stderr)
        return BUG


def _function(command: str) -> Callable[[Arguments], int]:
    """Each command loads only what it needs: `status` answers at once."""
    if command == "setup":
        from cli.setup import lock, setup

        return lambda arguments: lock() if arguments.lock else setup(arguments.dev)
    if command in ("run-day", "plan"):
        from cli.commands import day

        return {"run-day": day.run_day, "plan": day.plan}[command]
    if command in ("start", "stop"):
        from cli.commands import daemon

        return {"start": daemon.start, "stop": daemon.stop}[command]
    if command in ("raise-cap", "write-off"):
        from cli.commands import budget_commands

        return {"raise-cap": budget_commands.raise_cap, "write-off": budget_commands.write_off}[command]
    if command in ("init", "approve", "reject", "retry", "cancel", "resume"):
        from cli.commands import owner_commands

        return {
            "init": owner_commands.init,
            "approve": owner_commands.approve,
            "reject": owner_commands.reject,
            "retry": owner_commands.retry,
            "cancel": owner_commands.cancel,
            "resume": owner_commands.resume,
        }[command]
    if command in ("deploy", "rollback", "pause-deploys", "resume-deploys"):
        from cli.commands import deploys

        hands_on: dict[str, Callable[[Arguments], int]] = {
            "deploy": deploys.deploy,
            "rollback": deploys.rollback,
            "pause-deploys": deploys.pause_deploys,
            "resume-deploys": deploys.resume_deploys,
        }
        return hands_on[command]
    if command in ("demo", "model"):
        from cli.commands import offline

        return {"demo": offline.demo, "model": offline.model}[command]
    if command == "check":
        from cli.commands.check import check

        return check
    if command == "propose-ci":
        from cli.commands.ci import propose_ci

        return propose_ci
    if command == "roadmap":
        from cli.views.roadmap import roadmap

        return roadmap
    if command == "doctor":
        from cli.commands.doctor import doctor

        return doctor
    from cli import views

    looks: dict[str, Callable[[Arguments], int]] = {
        "status": views.status,
        "tasks": views.tasks,
        "show": views.show,
        "prs": views.prs,
        "budget": views.budget,
        "deploys": views.deploys,
        "research": views.research,
        "memory": views.memory,
        "logs": views.logs,
    }
    return looks[command]


def _keep(arguments: Arguments) -> Path:
    """The stack trace goes to a file; without local values, which could hold a key."""
    folder = arguments.home / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"bug-{datetime.now(UTC):%Y%m%dT%H%M%S}.txt"
        path.write_text(traceback.format_exc(), "utf-8")
    except OSError:
        return Path("it with the command that you typed (its trace could not be written)")
    return path
