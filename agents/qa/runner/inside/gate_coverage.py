"""Puts together what the processes of a run have counted -> /out/coverage.json. Runs after the tests, with -I.

It is a `coverage json` of what is read of it: that also tells of each function and class, and takes twice as long.
"""

from __future__ import annotations

import contextlib
import json
import os

RULES, RESULT = "/run/gate/coverage.ini", "/out/coverage.json"
JOB = "/job/"


def main() -> None:
    if os.path.exists(os.environ["SISIMPUR_UNCOUNTED"]):
        _write({"counted_by": "the target"})  # by itself, and ours saw only a part
        return
    from coverage import Coverage

    counted = Coverage(config_file=RULES)
    counted.combine()
    counted.save()
    files, ran, every = {}, 0, 0
    for path in sorted(counted.get_data().measured_files()):
        with contextlib.suppress(Exception):  # gone by now, or no Python
            _, lines, _, missing, _ = counted.analysis2(path)
            executed = sorted(set(lines) - set(missing))
            files[path[len(JOB) :] if path.startswith(JOB) else path] = {
                "executed_lines": executed,
                "missing_lines": list(missing),
            }
            ran, every = ran + len(executed), every + len(lines)
    if files:
        _write({"files": files, "totals": {"percent_covered": 100 * ran / every if every else 100.0}})


def _write(found: object) -> None:
    with contextlib.suppress(OSError):
        os.unlink(RESULT)  # a pipe that the tests put there would be waited for
    with open(RESULT, "x", encoding="ascii") as file:
        file.write(json.dumps(found))


main()
