"""Suite: what is needed to run the target's tests, and what comes back.

The report is JSON, one object per line, written while the tests run:

    {"collected": 12}                                                once, when the runner knows
    {"test": ID, "outcome": "passed" | "failed" | "skipped",        once for each test that ended
     "seconds": 0.1,                                            (how long it took, if that was asked)
     "where": "path:line", "text": "the end of the trace"}           (the last two only for failures)
    {"canary": "held" | "forged"}        whether a test of ours that must fail did, where one that must pass has passed
    {"end": 0, "ran": 12}                                            last: the runner's own idea of its exit code

Whoever is tested can write to it too. It is data, of limited size, and it proves something only together with the exit
code, the base's report, and a look at what the change does to the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.sandbox.box import Mount
from sisimpur.shared.sandbox.bubblewrap import never

MAX_REPORT = 50_000_000  # bytes; a report or a coverage file beyond that is none
JOB = "/job"  # where the target's files lie in the box, at setup and at test time
PACKAGES = "/packages"  # where the owner's folder of wheels lies in the box, if there is one
GENERATED = "/env/generated"  # what the set-up wrote among the sources: a run has it there, too
GATE = "/run/gate"  # where our reporters lie in the box of the tests


@dataclass(frozen=True)
class Environment:
    """Mounts and variables of a box that the tests need besides their files. `key` names what it was made from."""

    key: str
    mounts: tuple[Mount, ...]
    env: Mapping[str, str]


@dataclass(frozen=True)
class SuiteOrder:
    """Order to run tests: on which files, and how.

    The files are those of `commit`, with `overlay` laid over them (None: the file is not there). `only`: test files to
    run, all if empty. `cover`: whether the executed lines are counted. `programs`: whether the command finds our own
    programs, such as linters, behind those of the environment. `time`: whether each test says how long its body took,
    or all of it. `elsewhere`: in other surroundings, with another hash seed and time zone, and the files in the order
    of `only`; pytest's in the opposite order, if all are run. `limit`: seconds, where a fault is planted that may make
    it hang; 0: as long as any run may take.
    """

    commit: str
    command: str
    overlay: Mapping[str, bytes | None] = field(default_factory=dict)
    only: Sequence[str] = ()
    cover: bool = True
    programs: bool = False
    time: Literal["", "body", "all"] = ""
    elsewhere: bool = False
    limit: float = 0.0


@dataclass(frozen=True)
class RawTestRun:
    """Result of a run, as it came out of the box.

    `end`: "exited", the limit that ended it, or "killed": somebody ended the box, twice. `coverage`: as `coverage json`
    writes. `calls`: what was kept of calls, or made of them (`inside/gate_calls.py`). `cpu`: seconds that its
    processors worked, to within a tenth; 0: nobody knows.
    """

    end: str
    code: int
    seconds: float
    output: str  # head and tail
    report: bytes | None = None
    coverage: bytes | None = None
    calls: bytes | None = None
    cpu: float = 0.0


NOT_THEIRS = ("stopped", "machine", "killed")  # the run was ended for a reason that is not its own


class Bench(Protocol):
    """Place where tests are run, each time in a fresh box."""

    @property
    def quality(self) -> str:
        """ "full", or "reduced": then nothing is merged without a person."""

    def label(self, commit: str) -> str:
        """The sandbox and the environment's key, for the record; same label and commit, same result."""

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        """BrokenSetup, Misconfigured, or Refused if the files cannot be laid out. Stopping: see Stoppable."""


def is_green(run: SuiteRun, known: Collection[str] = ()) -> bool:
    """Whether nothing fails besides what is known to."""
    return run.is_whole and run.of("failed") <= frozenset(known)
