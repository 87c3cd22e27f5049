"""`check`, for developers: format, lint, strict types, tests."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sisimpur.cli.terminal.arguments import CHECKOUT, Arguments
from sisimpur.shared.system.process import attached, run

BEFORE = (("ruff", "format", "--check", "."), ("ruff", "check", "."))
TYPES = ("mypy",)
PARTS = ("agents", "cli", "shared", "web")
PRODUCT = ("main.py", "sisimpur/simulators", *(f"sisimpur/{part}" for part in PARTS))
LEAST = 90  # per cent of the code, which the README promises
COVERAGE = (
    *(f"--cov={part}" for part in PARTS),
    "--cov-branch",
    "--cov-report=term:skip-covered",
    f"--cov-fail-under={LEAST}",
)
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
    "usual": ("-n", "3", "--dist", "worksteal", "--leave-out"),
    "all": ("-n", "6", "--dist", "worksteal", "--hypothesis-profile=many", *COVERAGE),
}
MEMORY, MOUNTS = Path("/dev/shm"), Path("/proc/mounts")  # noqa: S108
LONGEST_TYPES = 900.0  # seconds
ROOM = 4 * 2**30  # bytes that have to be free there; the whole suite leaves less than 2 GiB


def check(arguments: Arguments) -> int:
    """Ends at the first that fails; but types and tests are checked beside each other, for each takes a core."""
    if any(_run(words) for words in BEFORE):
        return 1
    with ThreadPoolExecutor() as pool, folder_for_tests() as options:
        beside = TYPES if arguments.scope == "all" else (*TYPES, *PRODUCT)  # half of the time goes to those of tests
        types = pool.submit(run, _program(beside), cwd=CHECKOUT, env=os.environ, timeout=LONGEST_TYPES)
        failed = _run(("pytest", *TESTS[arguments.scope], *options))
        found = types.result()
    print(f"== {' '.join(beside)}\n{found.text}{found.errors.decode()}", flush=True)
    return int(failed or not found.ok)


def _run(words: Sequence[str]) -> bool:
    """Whether it fails; it writes to the terminal itself."""
    print(f"== {' '.join(words)}", flush=True)
    return attached(_program(words), cwd=CHECKOUT, env=os.environ) != 0


def _program(words: Sequence[str]) -> Sequence[str]:
    return (str(Path(sys.executable).with_name(words[0])), *words[1:])


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
