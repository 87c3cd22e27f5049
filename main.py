"""sisimpur-agents: VISION.md in, pull requests out, under a hard budget.

Exit codes: 0 done, 1 a named problem in one line, 2 wrong usage, 3 a bug (with the log file's name), 130 interrupted.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from cli.entry import main

    sys.exit(main(sys.argv[1:]))
