"""`start` and `stop`: the daemon, from the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sisimpur.cli.terminal.arguments import CHECKOUT, DONE, Arguments
from sisimpur.cli.terminal.printing import command, plain
from sisimpur.cli.views.daemon_state import comes_next
from sisimpur.cli.wiring.config_watch import usable
from sisimpur.cli.wiring.records import Records, open_records, require_home
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.store.activity import Activity, Epochs
from sisimpur.shared.store.database import Database
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.keeping import cut
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import Other, detached, other

BEGINS_WITHIN = 30  # seconds
LAST_LINE_MOST = 20_000  # bytes that are read for it


# --- start ---------------------------------------------------------------------------------------------------


def start(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """Begin the daemon beside us and wait until it works. What the owner has to fix is said in this terminal."""
    if arguments.foreground:
        from sisimpur.cli.commands.serving import serve

        return serve(arguments, environment)
    from sisimpur.shared.sandbox.box_usage import require_room

    home = Home(arguments.home)
    require_home(home)
    if holder := lock.holder(home.lock):
        raise Misconfigured(f"the team is already at work on this home (pid {holder}); see: python main.py status")
    usable(home, environment)
    require_room(home.root)
    with open_records(home.root, environment) as records:
        pid, is_ready = _begin(records, environment)
        following = comes_next(records)
    more = following if is_ready else "it is not ready yet"
    print(f"started (pid {pid}); {more}\nsee: {command(home.root, 'status')}")
    return DONE


def _begin(records: Records, environment: Mapping[str, str]) -> tuple[int, bool]:
    """Return its process id, and whether it is ready already. TeamError with its last words if it has ended."""
    output = records.home.logs / "daemon.out"
    before = _shortened(output)
    main = (sys.executable, str(CHECKOUT / "main.py"), "--home", str(records.home.root))
    epochs = Epochs(records.db)
    last = epochs.last()
    pid = detached((*main, "start", "--foreground"), env=environment, output=output)
    with other(pid) as process:
        for _ in range(BEGINS_WITHIN * 10):
            epoch = epochs.last()
            is_new = epoch is not None and (last is None or epoch.number > last.number)
            if epoch and is_new and epoch.pid == pid and epoch.ready and not epoch.ended:
                return pid, True
            if process is None or process.has_ended(0.1):
                raise TeamError(f"it has ended at once: {_last_words(output, before)}")
    return pid, False


def _shortened(output: Path) -> int:
    """Cut the file to its end if it is too long. Return its size in bytes."""
    for _ in cut(output):
        pass
    return output.stat().st_size if output.exists() else 0


def _last_words(output: Path, before: int) -> str:
    """Return the last line that was printed since."""
    with output.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(before, size - LAST_LINE_MOST))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return plain(lines[-1]).removeprefix("start: ") if lines else f"without a word; see {output}"


# --- stop ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StopTimeouts:
    """Seconds: after the first request to end, after the second, and after `kill -9`."""

    first: float = 60
    second: float = 15
    last: float = 15


def stop(arguments: Arguments) -> int:
    return stopped(Home(arguments.home))


def stopped(home: Home, timeouts: StopTimeouts = StopTimeouts()) -> int:
    """Ask the process that works on the home to end, ask again, at last kill it: that is safe at any moment."""
    require_home(home)
    with _worker(home) as found:
        if found is None:
            print("it is not running")
            return DONE
        pid, process = found
        before = _lost(home)
        _end(home, process, timeouts)
    print(f"stopped (pid {pid})")
    if (more := _lost(home) - before) > 0:
        print(
            f"model calls were cut: ${cents(more)} stay booked at their worst case; see: {command(home.root, 'budget')}"
        )
    if (after := lock.holder(home.lock)) not in ("", pid):
        print(f"somebody has begun another one since (pid {after}): systemd, or a container's restart policy?")
    return DONE


@contextmanager
def _worker(home: Home) -> Iterator[tuple[str, Other] | None]:
    """Find the process that holds the home's lock. Its id counts only while the kernel says that it holds the lock."""
    for _ in range(10):
        if not (pid := lock.holder(home.lock)):
            yield None
            return
        with other(int(pid) if pid.isdecimal() else 0) as process:
            if process and lock.is_held_by(home.lock, int(pid)):
                yield pid, process
                return
        SystemClock().sleep(0.1)  # a process that has just begun has not written its id yet
    raise Misconfigured(
        f"the team is at work on this home (pid {pid}), but out of reach from here; "
        "stop it where it was started (a container: docker compose stop)"
    )


def _end(home: Home, process: Other, timeouts: StopTimeouts) -> None:
    steps = (
        (process.ask_to_end, timeouts.first, "asked it to end"),
        (process.ask_to_end, timeouts.second, "it takes long: asked again, to end at once"),
        (process.kill, timeouts.last, "ended it (kill -9; no work is lost, the next start goes on)"),
    )
    for act, seconds, words in steps:
        act()
        print(words, flush=True)
        if _ends_within(seconds, process, home):
            return
    raise TeamError("it does not end, not even by kill -9: does its disk answer? Look at it with ps and dmesg")


def _ends_within(seconds: float, process: Other, home: Home) -> bool:
    told = ""
    for _ in range(max(1, round(seconds))):
        if process.has_ended(min(1.0, seconds)):
            return True
        if (at_work := _at_work(home)) not in ("", told):
            told = at_work
            print(f"waiting for {at_work}", flush=True)
    return False


def _lost(home: Home) -> int:
    """Sum up the nano-dollars of all calls whose outcome nobody knows."""
    try:
        db = Database(home.database)
        try:
            return sum(call.amount for call in LedgerReader(db).lost_calls())
        finally:
            db.close()
    except TeamError:
        return 0


def _at_work(home: Home) -> str:
    """Name the agents that have not come to an end yet."""
    try:
        db = Database(home.database)
        try:
            runs = Activity(db).open_runs()
        finally:
            db.close()
    except TeamError:  # a database that is busy, or a newer one, keeps nobody from stopping
        return ""
    return ", ".join(plain(f"{run.agent} on {run.task}" if run.task else run.agent) for run in runs)
