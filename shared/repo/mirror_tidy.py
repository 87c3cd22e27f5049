"""Our copy of the target, kept small: attempts of long ago are forgotten, many small packs become one.

Only references of attempts go, and objects that no reference has held for two weeks. git does each step so that it can
be cut anywhere; what a cut one leaves on the disk is removed a day later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from sisimpur.shared.repo.objects import Repository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.keeping import is_scattered

LONG = 600.0  # seconds for one step
GRACE = "2.weeks.ago"  # a commit may be in the making: it has its reference last
LEFT_OVER = timedelta(days=1)  # no git works that long on one pack


def forget(repository: Repository, is_over: Callable[[str], bool]) -> Iterator[str]:
    """Deletes the references of the attempts of tasks that are over, all in one transaction."""
    listed = repository.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/attempts/").decode()
    found = re.findall(r"^([0-9a-f]+) (refs/attempts/(\S+)\.a[0-9]+)$", listed, re.MULTILINE)
    over = {task for task in {task for _, _, task in found} if is_over(task)}
    gone = [f"delete {name} {sha}\n" for sha, name, task in found if task in over]
    if gone:
        repository.git("update-ref", "--stdin", data="".join(gone).encode())
        fault_point("tidy.references")
        yield f"the mirror: {len(gone)} attempts of {len(over)} tasks forgotten"


def pack(repository: Repository, now: datetime) -> Iterator[str]:
    """One pack instead of many. Whoever reads or writes meanwhile is not disturbed."""
    _sweep(repository.path / "objects" / "pack", (now - LEFT_OVER).timestamp())
    counted = dict(re.findall(r"^(\S+): ([0-9]+)$", repository.git("count-objects", "-v").decode(), re.MULTILINE))
    packs, loose = int(counted.get("packs", 0)), int(counted.get("count", 0))
    if not is_scattered(packs, loose):
        return
    repository.git("pack-refs", "--all", "--prune", timeout=LONG)
    fault_point("tidy.references-packed")
    repository.git("repack", "-d", "-A", "-l", "-q", f"--unpack-unreachable={GRACE}", timeout=LONG)
    fault_point("tidy.repacked")
    repository.git("prune", f"--expire={GRACE}", timeout=LONG)
    fault_point("tidy.pruned")
    yield f"the mirror: {packs} packs and {loose} loose objects made one pack"


def _sweep(packs: Path, before: float) -> None:
    """Remove what a git that was killed has left half written."""
    for path in (*packs.glob(".tmp-*"), *packs.glob("tmp_*")):
        if path.lstat().st_mtime < before:
            path.unlink(missing_ok=True)
