"""sisimpur-agents: VISION.md in, pull requests out, under a hard budget.

Exit codes: 0 done, 1 a named problem in one line, 2 wrong usage, 3 a bug (with the log file's name), 130 interrupted.
"""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PYTHON = ROOT / ".venv" / "bin" / "python"


def main() -> int:
    """Run what was typed: the entry point of the installed `sisimpur`. Return the exit code."""
    gc.set_threshold(20_000)  # hardly any of what is loaded is ever garbage
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # we use none; to look for them takes long
    from sisimpur.cli.app import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    if PYTHON.exists() and Path(sys.prefix) != PYTHON.parent.parent and "setup" not in sys.argv[1:]:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])  # noqa: S606  whatever `python` is: the team's packages are there
    if sys.version_info < (3, 11):  # noqa: UP036  what comes next is not even read by an older one
        sys.exit(f"needs Python 3.11 or later, this is {sys.version.split()[0]}; type: python3.11 main.py setup")
    sys.exit(main())
