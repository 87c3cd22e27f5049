"""`check`, for developers: format, lint, strict types, tests."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sisimpur.cli.terminal.arguments import CHECKOUT, Arguments
from sisimpur.shared.system.process import attached

BEFORE = (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("mypy",))
COVERAGE = ("--cov=agents", "--cov=cli", "--cov=shared", "--cov-branch", "--cov-report=term:skip-covered")
TESTS = {
    "fast": (
        "-n",
        "auto",
        "--dist",
        "worksteal",
        "--leave-out",
        "tests/spec",
        "tests/flow",
        "tests/test_architecture.py",
    ),
    "usual": ("-n", "4", "--dist", "worksteal", "--leave-out"),
    "all": ("-n", "6", "--dist", "worksteal", "--hypothesis-profile=many", *COVERAGE),
}
MEMORY, MOUNTS = Path("/dev/shm"), Path("/proc/mounts")  # noqa: S108
ROOM = 4 * 2**30  # bytes that have to be free there; the whole suite leaves less than 2 GiB


def check(arguments: Arguments) -> int:
    """Ends at the first that fails."""
    with folder_for_tests() as options:
        for words in (*BEFORE, ("pytest", *TESTS[arguments.scope], *options)):
            print(f"== {' '.join(words)}", flush=True)
            program = Path(sys.executable).with_name(words[0])
            if attached((str(program), *words[1:]), cwd=CHECKOUT, env=os.environ):
                return 1
    return 0


@contextmanager
def folder_for_tests(memory: Path = MEMORY, room: int = ROOM) -> Iterator[Sequence[str]]:
    """Options of pytest: its folders are in memory if there is room, and gone afterwards; else as always."""
    if not _has_room(memory, room):
        yield ()
        return
    with TemporaryDirectory(prefix="tests-", dir=memory, ignore_cleanup_errors=True) as folder:
        yield (f"--basetemp={folder}/t",)


def _has_room(memory: Path, room: int) -> bool:
    """In memory, not only by its name; a container often has 64 MB of it."""
    mounted = re.search(rf"^\S+ {re.escape(str(memory))} tmpfs ", MOUNTS.read_text("utf-8"), re.MULTILINE)
    return bool(mounted) and os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free >= room
