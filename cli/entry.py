"""Words of the command line -> exit code: which function serves which command, and what an error means."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cli.arguments import BUG, DONE, INTERRUPTED, PROBLEM, Arguments, parse
from cli.text import pasteable, plain
from shared.domain.errors import TeamError

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
        from cli import day

        return {"run-day": day.run_day, "plan": day.plan}[command]
    if command in ("start", "stop"):
        from cli import daemon

        return {"start": daemon.start, "stop": daemon.stop}[command]
    if command in ("raise-cap", "write-off"):
        from cli import money_hands

        return {"raise-cap": money_hands.raise_cap, "write-off": money_hands.write_off}[command]
    if command in ("init", "approve", "reject", "retry", "cancel", "resume"):
        from cli import hands

        return {
            "init": hands.init,
            "approve": hands.approve,
            "reject": hands.reject,
            "retry": hands.retry,
            "cancel": hands.cancel,
            "resume": hands.resume,
        }[command]
    if command in ("deploy", "rollback", "pause-deploys", "resume-deploys"):
        from cli import deploys

        hands_on: dict[str, Callable[[Arguments], int]] = {
            "deploy": deploys.deploy,
            "rollback": deploys.rollback,
            "pause-deploys": deploys.pause_deploys,
            "resume-deploys": deploys.resume_deploys,
        }
        return hands_on[command]
    if command in ("demo", "model"):
        from cli import offline

        return {"demo": offline.demo, "model": offline.model}[command]
    if command == "check":
        from cli.check import check

        return check
    if command == "propose-ci":
        from cli.ci import propose_ci

        return propose_ci
    if command == "roadmap":
        from cli.views_roadmap import roadmap

        return roadmap
    if command == "doctor":
        from cli.doctor import doctor

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
