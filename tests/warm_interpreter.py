"""A Python that has loaded our modules already: programs are forked from it and need not load them again.

warm interpreter: python -m tests.warm_interpreter CHANNEL; imports, and never runs a line of a test's program
 └ program: one fork for each order; its session, environment, three channels and end are its own

An order is one message of the channel, with three descriptors: output, errors, and a pipe for what is told, in lines:
that the order is taken, the program's process id, its end. The warm interpreter ends with the channel, and every
program with it.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import gc
import importlib
import json
import os
import resource
import runpy
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sisimpur.shared.system.process import GRACE, LOOK, MOST_PRINTED, End

OURS = ("sisimpur", "tests")
# What our doors load when they are first used. `test_killing.py` says when something is missing.
LOADED_LATE = (
    *("anthropic.lib.streaming", "anthropic.resources", "anthropic.types", "anthropic.types.beta"),
    *("anyio._backends._asyncio", "apscheduler.jobstores.memory", "apscheduler.schedulers.background", "dotenv"),
    *("genai_prices.data", "github", "h11", "httpcore2._sync.connection_pool", "httpx2"),
    *(f"PIL.{name}ImagePlugin" for name in ("Bmp", "Gif", "Jpeg", "Png", "Ppm")),
    *("PIL.ImageDraw", "starlette.applications", "starlette.routing", "uvicorn.lifespan.on", "uvicorn.loops.asyncio"),
    *(
        "uvicorn.protocols.http.h11_impl",
        "sisimpur.agents.devops.drivers.backup",
        "sisimpur.agents.devops.drivers.health_checker",
    ),
    *("genai_prices.validation", "opentelemetry.propagate", "statistics"),
    *(f"sisimpur.agents.{role}.agent" for role in ("coder", "planner", "qa", "reviewer")),
    *("sisimpur.agents.qa.test_writer", "sisimpur.agents.qa.survey.other_suites"),
    *("sisimpur.shared.forge.github_forge", "sisimpur.shared.forge.local_forge", "sisimpur.shared.money.meter.server"),
)
LONGEST_ORDER = 200_000  # bytes; the kernel takes no longer message


@dataclass(frozen=True)
class Order:
    argv: list[str]  # without the interpreter
    env: dict[str, str]
    timeout: float  # seconds


@dataclass
class Run:
    """A program that runs. Its number stays its own until it is collected."""

    leader: int
    watched: int  # a descriptor that tells of its end
    descriptors: list[int]  # output, errors, what is told
    deadline: float
    end: End = "exited"

    def look(self) -> None:
        """End it if it has run for too long (politely at first) or printed too much."""
        if max(os.fstat(one).st_size for one in self.descriptors[:2]) > MOST_PRINTED:
            self.end = "output"
            end_group(self.leader)
        elif time.monotonic() >= self.deadline:
            end_group(self.leader, signal.SIGKILL if self.end == "timed out" else signal.SIGTERM)
            self.end, self.deadline = "timed out", time.monotonic() + GRACE

    def tell(self) -> None:
        """It has ended: so does all of its group."""
        end_group(self.leader)
        _, status = os.waitpid(self.leader, 0)
        told = {"status": status, "end": self.end, "spent": _spent()}
        with contextlib.suppress(BrokenPipeError):
            os.write(self.descriptors[2], f"{json.dumps(told)}\n".encode())
        for descriptor in (self.watched, *self.descriptors):
            os.close(descriptor)


def end_group(leader: int, number: signal.Signals = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)


def _spent() -> float:
    """Seconds of processor time: ours, and of all that has ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


# --- the warm interpreter ------------------------------------------------------------------------------------


def serve(channel: socket.socket) -> Order | None:
    """Returns in every program, with what it is to do; in the warm interpreter when the channel has ended."""
    tried: set[str] = set()
    runs: dict[int, Run] = {}
    while True:
        ready, _, _ = select.select([channel.fileno(), *runs], [], [], LOOK if runs else None)
        for watched in [one for one in ready if one in runs]:
            runs.pop(watched).tell()
        for run in runs.values():
            run.look()
        if channel.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(channel, LONGEST_ORDER, 3)
        if not message:
            for run in runs.values():
                end_group(run.leader)
            return None
        order = Order(**json.loads(message))
        if named := named_by(order.argv):
            load([*LOADED_LATE, *named], tried)
        check_that_a_fork_is_whole(5 + len(descriptors) + 4 * len(runs))
        os.write(descriptors[2], b"taken\n")
        if (leader := os.fork()) == 0:
            channel.detach()
            _become(order, descriptors)
            return order
        watched = os.pidfd_open(leader)
        runs[watched] = Run(leader, watched, descriptors, time.monotonic() + order.timeout)


def load(names: Iterable[str], tried: set[str]) -> None:
    """What cannot be imported is the program's to complain of."""
    if new := [name for name in names if name not in tried]:
        tried.update(new)
        for name in new:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        gc.freeze()  # a fork's collector leaves it alone


def named_by(argv: Sequence[str]) -> list[str]:
    """Our modules that a program imports."""
    if argv[0] == "-m":
        return [argv[1]]
    with contextlib.suppress(OSError, SyntaxError):
        code = argv[1] if argv[0] == "-c" else Path(argv[0]).read_text("utf-8")
        return [name for name in _imported(ast.parse(code)) if name.split(".")[0] in OURS]
    return []


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # it may be a module


def check_that_a_fork_is_whole(most: int) -> None:
    """A thread would be missing in it, and a file or a socket shared."""
    threads, there = os.listdir("/proc/self/task"), os.listdir("/proc/self/fd")
    assert len(threads) == 1, "an import has started a thread"
    assert len(there) <= most, f"an import has opened a file: {there}"


# --- a program -----------------------------------------------------------------------------------------------


def _become(order: Order, descriptors: Sequence[int]) -> None:
    """A session of its own, nothing open but its three channels, the environment of the order."""
    os.setsid()
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptors[2], f"{os.getpid()}\n".encode())
    null = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((null, *descriptors[:2])):
        os.dup2(descriptor, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the one that has listed them
                os.close(int(name))
    os.environ.clear()
    os.environ.update(order.env)
    time.tzset()


def go(argv: Sequence[str]) -> None:
    """As `python argv` does."""
    what, *rest = argv
    sys.orig_argv = [sys.executable, *argv]
    if what == "-m":
        sys.argv = rest
        _forget(rest[0])
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        sys.modules["__main__"] = module = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(module))
    else:
        sys.argv = list(argv)
        runpy.run_path(what, run_name="__main__")


def _forget(name: str) -> None:
    """It was imported for what it imports; as a program it is somebody else."""
    folder, _, own = name.rpartition(".")
    if sys.modules.pop(name, None):
        vars(sys.modules[folder]).pop(own, None)


def spare(warm: Mapping[str, ModuleType]) -> None:
    """What was loaded before the fork is not taken apart when the program ends: that takes a tenth of a second."""
    gc.collect()
    kept: dict[str, object] = {name: sys.modules.pop(name, None) for name in warm if name != "__main__"}
    kept[""] = kept  # so that nobody lets go of it
    gc.freeze()


if __name__ == "__main__":
    loaded: dict[str, ModuleType] = {}
    atexit.register(spare, loaded)  # the first one is called last
    if told := serve(socket.socket(fileno=int(sys.argv[1]))):
        loaded.update(sys.modules)
        go(told.argv)
