"""Months in minutes: 300 days with good and bad luck, and what they leave behind. `make soak` (ten minutes).

The same `--luck` brings the same days once more.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.soak import Soak
from tests.soak_figures import HEAD


def main() -> int:
    """Prints a table; 1 if a law is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=300)
    parser.add_argument("--luck", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"luck: {arguments.luck}\n{HEAD}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), arguments.luck, lambda line: print(line, flush=True))
        soak.live(arguments.days)
    print(f"{arguments.days} days in {soak.seconds:.0f} s; {soak.kills} kills, {soak.reloads} other configurations")
    print(", ".join(f"{count} {state}" for state, count in soak.states.items()))
    return int(bool(soak.broken))


if __name__ == "__main__":
    raise SystemExit(main())
