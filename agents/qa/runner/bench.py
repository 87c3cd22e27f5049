"""Test bench: runs the target's tests in boxes.

Each run has a box of its own: the commit's files in a private folder that is gone with the box, the environment
read-only, no network, no socket. What comes out is written by the code that was tested: it is read as hostile files.

    scratch/trees-*/<n>   the files, or nearly   -> what lies under /job (trees.py)
    scratch/suite-*/src   what differs from that -> /src, laid over /job before the command starts
    scratch/suite-*/out   report, coverage       -> /out, the only thing that is writable and stays (report_pipe.py)
    inside/               reporters, with the target's Python -> /run/gate
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from sisimpur.agents.qa.runner.report_pipe import PIPE, ReportPipe
from sisimpur.agents.qa.runner.suite import GATE, GENERATED, JOB, MAX_REPORT, Environment, RawTestRun, SuiteOrder
from sisimpur.agents.qa.runner.trees import Near, Trees
from sisimpur.shared.machine.charging import charge_run, charged
from sisimpur.shared.model import change
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.scope import reads_as_dot_git
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_tree import TreeEntry
from sisimpur.shared.sandbox.box import Box, Job, JobLimits, Mount, hand_over, python_mounts
from sisimpur.shared.sandbox.box_job import MB
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.paths import read_bytes, remove_folder

# --- files laid over a commit's -------------------------------------------------------------------------------

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def lay(files: Mapping[str, bytes | None], folder: Path) -> None:
    """Replace, add, and (None) remove files below `folder`; one that was executable stays so.

    Refused: a path that leaves the folder, or that leads through a link or a file of the commit.
    """
    for path, data in sorted(files.items()):
        try:
            _lay(path, data, folder)
        except (OSError, UnicodeEncodeError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a name for a file"
            raise Refused(f"{path[:200]!r} cannot be laid over the commit: {reason}") from None


def _lay(path: str, data: bytes | None, folder: Path) -> None:
    *parents, name = path.split("/")
    for part in (*parents, name):
        if part in ("", ".", "..") or reads_as_dot_git(part):
            raise ValueError(part)
    absent = () if data is not None else (FileNotFoundError,)
    with suppress(*absent):
        parent = _opened(parents, folder, make=data is not None)
        try:
            _replace(name, data, parent)
        finally:
            os.close(parent)


def _opened(parents: list[str], folder: Path, make: bool) -> int:
    """The folder that the path leads to, one step at a time."""
    here = os.open(folder, FOLDER)
    for part in parents:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=here)
            inner = os.open(part, FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def _replace(name: str, data: bytes | None, parent: int) -> None:
    mode = 0o644
    with suppress(FileNotFoundError):
        mode = _mode(os.stat(name, dir_fd=parent, follow_symlinks=False))
        os.unlink(name, dir_fd=parent)
    if data is not None:
        with os.fdopen(os.open(name, NEW, mode, dir_fd=parent), "wb") as file:
            file.write(data)


def _mode(seen: os.stat_result) -> int:
    executable = stat.S_ISREG(seen.st_mode) and seen.st_mode & 0o100
    return 0o755 if executable else 0o644


# --- the bench ------------------------------------------------------------------------------------------------

JOB_MB = 512  # the files, and what the tests write beside them
MOST_FILES = 384 * MB  # bytes of the commit: the tests need room too
MOST_ONLY = 100_000  # bytes; the kernel takes a variable of 128 kB
INSIDE = Path(__file__).with_name("inside")
PROGRAMS = Path(sys.executable).parent.resolve()  # ours: linters that are installed beside this interpreter
OUT = "/out"
ELSEWHERE = {"TZ": "<+14>-14"}  # often another day; the owner's own time zone stays

SCRIPT = f"""exec 2>&1
cd {JOB} || exit 1
if [ "$3" ]; then
xargs -0r rm -f -- </src/gone || exit 1
for step in 'cp -a --remove-destination /src/new/. .' :; do
xargs -0r rmdir -p --ignore-fail-on-non-empty -- </src/left 2>/dev/null
$step || exit 1
done
fi
if [ -d {GENERATED} ]; then cp -Rn {GENERATED}/. . 2>/dev/null; fi
sh -c "$1"
code=$?
if [ "$2" ]; then unset COVERAGE_PROCESS_START; python -I {GATE}/gate_coverage.py >/dev/null 2>&1; fi
exit "$code"
"""


class ProvidesEnvironments(Protocol):
    """Source of environments: what a commit's tests need beside its files."""

    def ready(self, commit: str) -> Environment:
        """BrokenSetup: it cannot be built."""


@dataclass
class BoxBench:
    """`scratch`: a folder of ours; a run's files lie there until it ends, the trees that runs share until `close`.

    `limits`: of each run. No `stall` by itself: a long test is silent by right, and the time limit ends it.
    """

    box: Box
    mirror: Mirror
    environments: ProvidesEnvironments
    scratch: Path
    limits: JobLimits = field(default_factory=JobLimits)

    def __post_init__(self) -> None:
        self._trees = Trees(self.mirror, self.scratch, self._most)

    @property
    def quality(self) -> Literal["full", "reduced"]:
        return self.box.quality

    def label(self, commit: str) -> str:
        return f"{self.box.name} {self.box.version}, {self.environments.ready(commit).key}"

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        """One that somebody killed is run once more: the second time a signal inside is what the tests do."""
        environment = self.environments.ready(order.commit)
        raw, is_killed = self._run(order, environment, stop)
        return self._run(order, environment, stop)[0] if is_killed else raw

    def close(self) -> None:
        """Remove what was kept for the next run."""
        self._trees.close()

    @property
    def _most(self) -> change.ChangeLimits:
        return change.ChangeLimits(tree_bytes=MOST_FILES, file_bytes=self.limits.file_mb * MB)

    def _run(self, order: SuiteOrder, environment: Environment, stop: Callable[[], bool]) -> tuple[RawTestRun, bool]:
        with self._trees.near(order.commit) as near, self._laid_out(order, near) as (place, pipe):
            with charged() as took:
                done = self.box.run(self._job(order, environment, place, near), stop)
            charge_run(took.use)
            coverage, calls = (_left(place / "out" / name) for name in ("coverage.json", "calls.jsonl"))
        end = "killed" if done.is_killed and done.code < 0 else done.end
        raw = RawTestRun(end, done.code, done.seconds, done.text, pipe.report(), coverage, calls, took.use.cpu)
        return raw, done.is_killed

    @contextmanager
    def _laid_out(self, order: SuiteOrder, near: Near) -> Iterator[tuple[Path, ReportPipe]]:
        """A folder with `src` and `out`, for the box's user, and who listens there."""
        place = Path(tempfile.mkdtemp(prefix="suite-", dir=self.scratch))
        try:
            (place / "out/lines").mkdir(parents=True)
            (place / "src").mkdir()
            if _differs(order, near):
                self._lay_over(order, near, place / "src")
            with closing(ReportPipe(place / "out")) as pipe:
                hand_over(place)
                yield place, pipe
        finally:
            remove_folder(place)

    def _lay_over(self, order: SuiteOrder, near: Near, src: Path) -> None:
        """`new`: the files to write; before, `gone`: the paths to remove, `left`: the folders that may be empty then.

        What the order's own files lie on or lead through is written there first, so that it can be refused.
        """
        there = {entry.path: entry for entry in near.written}
        if order.overlay:
            there |= {entry.path: entry for entry in _touched(self.mirror.tree(order.commit), order.overlay)}
        self.mirror.write_out(sorted(there.values(), key=lambda entry: entry.path), src / "new", self._most)
        lay(order.overlay, src / "new")
        gone = (*near.gone, *(path for path, data in order.overlay.items() if data is None))
        left = {os.path.dirname(path) for path in gone} - {""}
        for name, paths in (("gone", gone), ("left", sorted(left))):
            (src / name).write_bytes(b"".join(path.encode() + b"\0" for path in paths))

    def _job(self, order: SuiteOrder, environment: Environment, place: Path, near: Near) -> Job:
        own = (Mount(place / "src", "/src"), Mount(place / "out", OUT, writable=True), Mount(INSIDE, GATE))
        ours = python_mounts(PROGRAMS / Path(sys.executable).name) if order.programs else ()
        how = ("count" if order.cover else "", "differs" if _differs(order, near) else "")
        return Job(
            ("sh", "-c", SCRIPT, "sh", order.command, *how),
            (*ours, *environment.mounts, *own),
            env=_with_ours(_variables(order, environment.env))
            if order.programs
            else _variables(order, environment.env),
            limits=replace(self.limits, seconds=min(order.limit, self.limits.seconds)) if order.limit else self.limits,
            private={JOB: JOB_MB},
            under={JOB: near.folder},
        )


def _differs(order: SuiteOrder, near: Near) -> bool:
    return bool(order.overlay or near.written or near.gone)


def _touched(entries: Iterable[TreeEntry], paths: Iterable[str]) -> Iterator[TreeEntry]:
    """The files that have one of these paths, lie on the way to one, or in one."""
    folders = tuple(f"{path}/" for path in paths)
    ways = {folder[:end] for folder in folders for end in range(len(folder)) if folder[end] == "/"}
    return (entry for entry in entries if entry.path in ways or entry.path.startswith(folders))


def _variables(order: SuiteOrder, env: Mapping[str, str]) -> dict[str, str]:
    """The environment's own, and those that the files in `inside` read. Refused: more files chosen than can be said."""
    only = json.dumps(list(order.only) if order.elsewhere else sorted(order.only))
    if len(only) > MOST_ONLY:
        raise Refused(f"{len(order.only)} test files to choose: more than one run can be told")
    path = ":".join(filter(None, (GATE, env.get("PYTHONPATH"))))
    ours = {
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "SISIMPUR_REPORT": f"{OUT}/{PIPE}",
        "SISIMPUR_ONLY": only,
    }
    if order.cover:
        ours |= {"COVERAGE_PROCESS_START": f"{GATE}/coverage.ini", "SISIMPUR_UNCOUNTED": f"{OUT}/uncounted"}
    if order.time:
        ours["SISIMPUR_TIME"] = order.time
    if order.elsewhere:
        ours |= {"PYTHONHASHSEED": "4711", "SISIMPUR_REVERSED": "1", **({} if "TZ" in env else ELSEWHERE)}
    return {**env, **ours}


def _with_ours(env: Mapping[str, str]) -> dict[str, str]:
    return {**env, "PATH": f"{env.get('PATH', '/usr/bin:/bin')}:{PROGRAMS}"}


def _left(path: Path) -> bytes | None:
    """Read what the box left there, if it is a plain file of a sane size."""
    try:
        return read_bytes(path, MAX_REPORT)
    except (FileNotFoundError, Refused):
        return None
