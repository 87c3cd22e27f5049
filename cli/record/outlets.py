"""How far each outlet of events has come, and whether phones take what they are told, for `doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sisimpur.cli.wiring.records import open_records
from sisimpur.cli.wiring.services import browsers_told
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.text import counted
from sisimpur.shared.notify.phone.push_book import Push
from sisimpur.shared.system.paths import Home


def outlet_findings(home: Home) -> Iterator[SetupFinding]:
    if not home.state.exists():
        return
    try:
        with open_records(home.root, looking=True) as records:
            for one in records.outlet_standings():
                told = f"{counted(one.taken, 'event')} taken, {one.behind} behind"
                yield SetupFinding(f"events {one.name}", not one.why, one.words or told)
            yield from phone_findings(browsers_told(records))
    except TeamError as problem:
        yield SetupFinding("events", False, str(problem))


def phone_findings(pushes: Sequence[Push]) -> Iterator[SetupFinding]:
    """One line for all that work, and one for each that took nothing last. Nothing is sent."""
    works = [one for one in pushes if not one.why]
    if works:
        yield SetupFinding("phones", True, f"{counted(len(works), 'browser')} told of what waits; a test: Settings")
    for one in pushes:
        if one.why:
            yield SetupFinding(f"phone {one.id}", False, one.why)
