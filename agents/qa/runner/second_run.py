"""Times of a first run -> the old files of tests that a second one, in other surroundings, has time for. Pure.

Below: what there is time for where faults are planted in the changed lines.

A second run begins a runner anew, too: that is a part of what it may take. New tests run there in any case, and first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping

SHARE = 0.3  # of the time of the first run
FREE = 1.0  # seconds that old tests may take beside new ones where the share is less than that
MOST_SAID, MOST_TOLD = 60_000, 99_000  # characters of paths: of old files beside new ones, and of all


def second_run(
    took: Mapping[str, float], whole: float, brought: Collection[str], near: Callable[[], Collection[str]]
) -> frozenset[str]:
    """Old files that run once more: those that know what is changed first, then others, the shortest first.

    `took`: seconds by file; one that is not named takes nobody knows how long. `whole`: of the first run, from its
    start. `near`: asked only if there is not time for all.
    """
    tests = sum(took.values())
    spare = SHARE * max(whole, tests) - max(0.0, whole - tests) - sum(took.get(file, 0.0) for file in brought)
    is_short = bool(brought) and SHARE * whole < FREE
    room, old = max(spare, FREE) if is_short else spare, [file for file in took if file not in brought]
    names = MOST_SAID - _said(brought)
    if sum(took[file] for file in old) <= room and _said(old) <= names:
        return frozenset(old)
    first, chosen = near(), set()
    for file in sorted(old, key=lambda file: (file not in first, took[file], file)):
        if took[file] <= room and _said([file]) <= names:
            chosen.add(file)
            room, names = room - took[file], names - _said([file])
    return frozenset(chosen)


def by_file(times: Mapping[str, float], file_of: Callable[[str], str]) -> Mapping[str, float]:
    """Seconds of tests -> of their files, as far as these are known."""
    found: dict[str, float] = {}
    for test, seconds in times.items():
        if file := file_of(test):
            found[file] = found.get(file, 0.0) + seconds
    return found


def told(ran: Collection[str], took: Mapping[str, float]) -> str:
    """How much of the tests has run in other surroundings; empty: nobody knows how long they take."""
    if not took:
        return ""
    if set(took) <= set(ran):
        return f"all {len(took)} files of tests" if len(took) > 1 else "the only file of tests"
    part = sum(took.get(file, 0.0) for file in ran) / (sum(took.values()) or 1.0)
    return f"{len(took.keys() & ran)} of {len(took)} files of tests, {part:.0%} of the time that tests take"


# Faults are paid with seconds of processors, as far as they are known: a busy machine alters nothing.
FAULTS_SHARE = 0.4  # of what the first run took, for all planted faults together
FAULTS_LEAST = 10.0  # seconds, where that is less: as many starts of a runner as there are faults
BUSY = 5.0  # times as long on the wall: then it is enough, whatever the processors did meanwhile
SHORT = 1.0  # seconds of all tests, which then are all asked
HANGS = 5.0, 5.0  # a run that takes so many times as long as it should, and so many seconds more, has noticed


def room_for_faults(whole: float) -> float:
    """Seconds for the runs of all planted faults. `whole`: of the first run."""
    return max(FAULTS_SHARE * whole, FAULTS_LEAST)


def worked(cpu: float, whole: float) -> float:
    """What part of a run its processors worked; 1 where nobody counted (`cpu` 0).

    Not less than a fifth: what waits for something takes time, too.
    """
    return min(1.0, max(cpu / whole, 1 / BUSY)) if cpu and whole else 1.0


def asked_of_faults(
    took: Mapping[str, float], brought: Collection[str], near: Callable[[], Collection[str]]
) -> tuple[str, ...]:
    """Files of tests that a fault is shown to: new ones, and those that know what is changed. Empty: all of them.

    All, too, if they are quick, or nobody knows which of them know it.
    """
    if not took or sum(took.values()) <= SHORT or not (known := near()):
        return ()
    chosen = {*known, *brought}
    return () if chosen >= took.keys() else tuple(sorted(chosen))


def of_one_fault(took: Mapping[str, float], whole: float, files: Collection[str]) -> float:
    """Seconds that a run of these files (none named: of all) takes, with the start of its runner."""
    tests = sum(took.values())
    return max(0.0, whole - tests) + (sum(took.get(file, 0.0) for file in files) if files else tests)


def sayable(files: Iterable[str]) -> bool:
    """Whether a run can be told of these files; else all are run."""
    return _said(files) < MOST_TOLD


def _said(files: Iterable[str]) -> int:
    return sum(len(json.dumps(file)) + 2 for file in files)
