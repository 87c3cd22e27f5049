"""Door to the machine's own clock. The only module that asks how long it has been up, to check the wall clock by."""

from __future__ import annotations

import time
from pathlib import Path

from shared.money.token_budget import Uptime

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def uptime() -> Uptime:
    """Time asleep counts; nobody can set this clock."""
    return Uptime(BOOT_ID.read_text("ascii").strip(), int(time.clock_gettime(time.CLOCK_BOOTTIME)))
