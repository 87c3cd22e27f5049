"""Door to bad luck: the only module that can kill us on purpose.

A fault point is a named place between two effects. It does nothing, unless SISIMPUR_CRASH_AT names it (`push.sent`: its
first passing, `push.sent#2`: its second; or gives its number, counted from 1): then the process ends itself there as
`kill -9` would, and a test looks at what is left. SISIMPUR_CRASH_LOG names a file that collects the points passed, in
order.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter

_passed = Counter[str]()
_counting = threading.Lock()


def fault_point(name: str) -> None:
    """`name` is `<thing>.<moment>`, e.g. `push.sent`."""
    wanted, log = os.environ.get("SISIMPUR_CRASH_AT"), os.environ.get("SISIMPUR_CRASH_LOG")
    if not (wanted or log):
        return
    with _counting:  # of two threads one is first, also in the log
        _passed[name] += 1
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        if wanted in (name, f"{name}#{_passed[name]}", str(_passed.total())):
            os.kill(os.getpid(), signal.SIGKILL)
