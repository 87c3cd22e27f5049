"""Words of the command line -> exit code, and what an error means for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from sisimpur.cli.terminal.arguments import BUG, DONE, INTERRUPTED, PROBLEM, Arguments, parse
from sisimpur.shared.model.errors import TeamError

INTERRUPTION = "interrupted; the next start goes on (a model call that was cut stays booked at its worst case)"


def main(words: Sequence[str]) -> int:
    arguments = parse(words)
    try:
        return called(arguments.run)(arguments)
    except TeamError as problem:
        from sisimpur.cli.terminal.printing import pasteable, plain

        print(f"{arguments.command}: {pasteable(plain(str(problem)), arguments.home)}", file=sys.stderr)
        return PROBLEM
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        return DONE
    except KeyboardInterrupt:
        print(INTERRUPTION, file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last resort: the owner never sees a stack trace)
        print(
            f"{arguments.command}: a bug: {type(error).__name__}; please report {keep_trace(arguments.home, error)}",
            file=sys.stderr,
        )
        return BUG


def called(run: str) -> Callable[[Arguments], int]:
    """Return the function that serves a command. Its module is loaded now: no command pays for another's."""
    module, _, name = run.partition(":")
    above = "sisimpur" if module.startswith("web.") else "sisimpur.cli"
    found: Callable[[Arguments], int] = getattr(import_module(f"{above}.{module}"), name)
    return found


def keep_trace(home: Path, error: Exception) -> Path:
    """Write the stack trace to a file, without local values, which could hold a key."""
    import traceback
    from datetime import UTC, datetime

    folder = home / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"bug-{datetime.now(UTC):%Y%m%dT%H%M%S}.txt"
        path.write_text("".join(traceback.format_exception(error)), "utf-8")
    except OSError:
        return Path("it with the command that you typed (its trace could not be written)")
    return path
