"""What a commit costs by the size of the target, and the search for secrets. `python -m bench.committer`."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sisimpur.shared.model.scope import Scope
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer import Author, Committed, Committer
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.outgoing import Outgoing
from tests.repositories import repository

SIZES = (100, 2_000, 10_000)
RUNS = 5
GOAL_SECONDS = 0.5  # for the commit of a folder of 2,000 files
EDITED = 20
LINE = "value = compute(argument, other_argument)  # a line of ordinary length\n"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> int:
    """Prints a table; 1 if the goal is missed."""
    print(f"{'files':>8}{'fetch':>10}{'check-out':>11}{'commit':>9}   seconds, median of {RUNS}")
    missed = False
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            fetch, check_out, commit = measured(Path(folder), size)
        print(f"{size:>8}{fetch:>10.3f}{check_out:>11.3f}{commit:>9.3f}")
        missed |= size == 2_000 and commit > GOAL_SECONDS
    megabyte = (LINE * 20_000)[:1_000_000]
    searched = took(
        lambda: Outgoing({f"KEY_{n}": f"sk-{n}-" + "abcdef0123456789" * 6 for n in range(6)}).clean(megabyte)
    )
    print(f"\nsecrets in 1 MB of text, 6 known values: {searched:.3f} s")
    print(f"goal: commit of 2,000 files in at most {GOAL_SECONDS} s: {'missed' if missed else 'met'}")
    return int(missed)


def measured(root: Path, size: int) -> tuple[float, float, float]:
    """Seconds for a first fetch, a check-out, and a commit of 20 edited files."""
    repository(root / "source", {name(number): f"n = {number}\n" + LINE * 60 for number in range(size)})
    mirror = Mirror(root / "t.git", Remote(str(root / "source")))
    mirror.create()
    fetch = took(lambda: mirror.fetch("main"), runs=1)
    base = mirror.fetch("main")
    folders = iter(range(RUNS + 1))
    check_out = took(lambda: mirror.check_out(base, root / f"box-{next(folders)}"))
    box = root / "box-0"
    for number in range(EDITED):
        (box / name(number)).write_text(f"n = {number}\n" + LINE * 61)
    committer = Committer(mirror, Outgoing({}), Author("Team", "team@localhost"))
    attempts = iter(range(1, RUNS + 2))

    def commit() -> None:
        ref = f"refs/attempts/bench.a{next(attempts)}"
        made = committer.commit(box, base=base, ref=ref, text=CommitText("Work"), scope=Scope(), now=NOW)
        assert isinstance(made, Committed) and len(made.changed) == EDITED

    return fetch, check_out, took(commit)


def name(number: int) -> str:
    return f"package_{number % 50}/module_{number}.py"


def took(action: Callable[[], object], runs: int = RUNS) -> float:
    """Median of the seconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    raise SystemExit(main())
