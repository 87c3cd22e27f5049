"""Words of the command line -> exit code, and what an error means for it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from pkgutil import resolve_name

from sisimpur.cli.terminal.arguments import BUG, DONE, INTERRUPTED, PROBLEM, Arguments, parse
from sisimpur.cli.terminal.printing import pasteable, plain
from sisimpur.shared.model.errors import TeamError

INTERRUPTION = "interrupted; the next start goes on (a model call that was cut stays booked at its worst case)"


def main(words: Sequence[str]) -> int:
    arguments = parse(words)
    try:
        run: Callable[[Arguments], int] = resolve_name(f"sisimpur.cli.{arguments.run}")
        return run(arguments)
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


def _keep(arguments: Arguments) -> Path:
    """Write the stack trace to a file, without local values, which could hold a key."""
    folder = arguments.home / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"bug-{datetime.now(UTC):%Y%m%dT%H%M%S}.txt"
        path.write_text(traceback.format_exc(), "utf-8")
    except OSError:
        return Path("it with the command that you typed (its trace could not be written)")
    return path
