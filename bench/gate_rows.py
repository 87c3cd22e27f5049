"""What the gates cost beside the target's own tests: a fix with its test, the run of its base being known."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.gate_case import Edit, cases
from bench.gate_place import Place, wheels
from bench.gates import judged
from bench.pipeline import used
from sisimpur.shared.model.work import Run
from sisimpur.shared.sandbox.box import find_box

CASE = "ledger-month-end"
FILES, SECONDS = 40, 0.25  # of a long suite: test files, and what each takes
SLOW = "import time\n\n\ndef test_slow():\n    time.sleep({})\n    assert True\n"


def costs() -> Mapping[str, float]:
    """CPU of our own and of what we start but the tests; runs; and of a suite of 10 s what its second run takes of the
    time of the first one: both on the wall, one after the other.
    """
    (case,) = (one for one in cases([CASE]) if one.id == CASE)
    long = [Edit(f"tests/test_slow_{n}.py", create=SLOW.format(SECONDS)) for n in range(FILES)]
    with tempfile.TemporaryDirectory() as folder:
        box = find_box(Path(folder) / "box")
        short, slow = (
            Place("ledger_lib", Path(folder) / name, box, wheels(), edits)
            for name, edits in (("short", ()), ("long", long))
        )
        for place in (short, slow):
            place.qa.base(Run(1, "qa", "2026-01-01", case.id, 1), place.base)
        before = used()
        assert judged(case, short).end == "merged"
        own, runs = used() - before - short.watch.cpu, short.watch.runs
        assert judged(case, slow).end == "merged"
        return {
            "gates": own,
            "gates-runs": runs,
            "gates-second": slow.watch.elsewhere / slow.watch.first,
        }
