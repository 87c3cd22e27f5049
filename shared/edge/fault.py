"""Door to bad luck: the only module that can kill us on purpose.

A fault point is a named place between two effects. It does nothing, unless SISIMPUR_CRASH_AT names it (or gives its
number, counted from 1): then the process ends itself there as `kill -9` would, and a test looks at what is left.
SISIMPUR_CRASH_LOG names a file that collects the points passed, in order.
"""

from __future__ import annotations

import itertools
import os
import signal

_passed = itertools.count(1)


def fault_point(name: str) -> None:
    """`name` is `<thing>.<moment>`, e.g. `push.sent`."""
    wanted, log = os.environ.get("SISIMPUR_CRASH_AT"), os.environ.get("SISIMPUR_CRASH_LOG")
    if not (wanted or log):
        return
    number = next(_passed)
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    if wanted in (name, str(number)):
        os.kill(os.getpid(), signal.SIGKILL)
