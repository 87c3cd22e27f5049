"""How far each outlet of events has come, for `doctor`."""

from __future__ import annotations

from collections.abc import Iterator

from sisimpur.cli.wiring.records import open_records
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.text import counted
from sisimpur.shared.system.paths import Home


def outlet_findings(home: Home) -> Iterator[SetupFinding]:
    if not home.state.exists():
        return
    try:
        with open_records(home.root, looking=True) as records:
            for one in records.outlet_standings():
                told = f"{counted(one.taken, 'event')} taken, {one.behind} behind"
                yield SetupFinding(f"events {one.name}", not one.why, one.words or told)
    except TeamError as problem:
        yield SetupFinding("events", False, str(problem))
