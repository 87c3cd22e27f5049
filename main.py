"""sisimpur-agents: VISION.md in, pull requests out, under a hard budget.

Exit codes: 0 done, 1 a named problem in one line, 2 wrong usage, 3 a bug (with the log file's name), 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parent / ".venv" / "bin" / "python"

if __name__ == "__main__":
    if PYTHON.exists() and Path(sys.prefix) != PYTHON.parent.parent and "setup" not in sys.argv[1:]:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])  # noqa: S606  whatever `python` is: the team's packages are there

    from cli.app import main

    sys.exit(main(sys.argv[1:]))
