"""Door to a process of its own for what strangers wrote. The only module that has their pages and rules read there.

Parsers are large programs, some of them in C, and there are texts that keep them busy for hours or break them. There
they find an empty environment and limits of time and memory; what comes back is one JSON value of limited size.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from shared.model.errors import Misconfigured, Refused
from shared.system.process import run

PROGRAM = Path(__file__).with_name("apart_program.py")
CPU_SECONDS = 6  # of processor time: a page of 2 MB in honest paragraphs takes less than one
WAITING = 5.0  # times as long, on a machine that has much else to do
MOST_SAID = 4_000_000  # bytes
NO_LIBRARY = 3


def read_apart(task: str, data: bytes, *words: str, cpu_seconds: int = CPU_SECONDS) -> Any:
    """`task`: a function of the program that runs there; it is given the data and the words.

    Refused: it came to no end, or to a bad one. Misconfigured: a library is missing.
    """
    argv = (sys.executable, "-I", "-B", str(PROGRAM), str(cpu_seconds), task, *words)
    done = run(argv, env={}, timeout=cpu_seconds * WAITING, data=data, limit=MOST_SAID)
    if done.code == NO_LIBRARY:
        raise Misconfigured("the libraries that read web pages are not installed: type `make setup`")
    if done.end == "timed out" or done.code in (-signal.SIGKILL, -signal.SIGXCPU):
        raise Refused(f"it cannot be read within {cpu_seconds} s")
    try:
        if done.ok and not done.cut:
            return json.loads(done.output)
    except (ValueError, RecursionError):
        pass
    raise Refused("it cannot be read")
