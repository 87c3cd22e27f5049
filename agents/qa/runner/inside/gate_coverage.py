"""Puts together what the processes of a run have counted -> /out/coverage.json. Runs after the tests, with -I."""

from __future__ import annotations

import contextlib
import os

RULES, RESULT = "/run/gate/coverage.ini", "/out/coverage.json"


def main() -> None:
    if os.path.exists(os.environ["SISIMPUR_UNCOUNTED"]):
        return  # the target counts by itself, and ours saw only a part
    from coverage import Coverage

    counted = Coverage(config_file=RULES)
    counted.combine()
    counted.save()
    with contextlib.suppress(OSError):
        os.unlink(RESULT)  # a pipe that the tests put there would be waited for
    counted.json_report(outfile=RESULT, ignore_errors=True)


main()
