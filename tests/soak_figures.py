"""What months leave behind, measured: a home's files and this process, and what of it may grow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
WARM_UP = 60  # days
MORE_MEMORY = 24 * MIB  # after the warm-up: the allocator's holes, and some kB for each task that history knows
MORE_DESCRIPTORS, MORE_THREADS = 6, 1  # a hand may be on its way out, with its connection to the database
DATABASE_A_DAY, LOGS_A_DAY = 40_000, 10_000  # bytes: plan, tickets, calls, runs and messages of two or three tasks
FILES_A_DAY = 8  # below .state: branches, attempts and intents, of which housekeeping takes the old ones away
SLOWER, NOISE = 3, 0.01  # times, seconds: of an idle tick


@dataclass(frozen=True)
class Figures:
    """Of one moment. Sizes in bytes, `tick` in seconds."""

    day: int
    rss: int
    descriptors: int
    threads: int
    files: int  # below .state, without the objects of repositories
    database: int
    logs: int
    talk: int  # what was said to models and by them
    tasks: int
    tick: float


def growth(figures: Sequence[Figures]) -> Iterator[str]:
    """What grows that should not, after the warm-up."""
    warm = [one for one in figures if one.day >= WARM_UP]
    if len(warm) < 2:
        return
    first, last = warm[0], warm[-1]
    days = last.day - first.day
    bounds = {
        "memory": (last.rss, first.rss + MORE_MEMORY),
        "descriptors": (last.descriptors, first.descriptors + MORE_DESCRIPTORS),
        "threads": (last.threads, first.threads + MORE_THREADS),
        "files": (last.files, first.files + FILES_A_DAY * days),
        "the database": (last.database, first.database + DATABASE_A_DAY * days),
        "logs": (last.logs, first.logs + LOGS_A_DAY * days),
        "an idle tick": (last.tick, first.tick * SLOWER + NOISE),
    }
    for name, (found, most) in bounds.items():
        if found > most:
            yield f"{name}: {found:g} on day {last.day}, at most {most:g} by what it was on day {first.day}"


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


HEAD = (
    f"{'day':>5}{'RSS':>10}{'fds':>5}{'threads':>9}{'files':>7}"
    f"{'database':>11}{'logs':>10}{'talk':>10}{'tasks':>7}{'tick':>11}"
)


def row(one: Figures) -> str:
    return (
        f"{one.day:>5}{one.rss / MIB:>6.1f} MiB{one.descriptors:>5}{one.threads:>9}{one.files:>7}"
        f"{one.database / 1000:>8.0f} kB{one.logs / 1000:>7.0f} kB{one.talk / 1000:>7.0f} kB"
        f"{one.tasks:>7}{one.tick * 1000:>8.1f} ms"
    )
