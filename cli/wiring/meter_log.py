"""The meter's log, overheard: what the owner is told at once, because he would wait for it in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from shared.money.meter import MeterTimeouts

Note = Callable[[str, dict[str, Any]], None]


def telling(log: Note, upstream: str, tell: Callable[[str], None], patience: MeterTimeouts | None = None) -> Note:
    """Logs as before, and tells once when the model does not answer, and once when it does again.

    Runs in the meter's threads. `upstream` is its address; of what it answers nothing is repeated.
    """
    from shared.money.meter import MeterTimeouts

    away, where = False, host_of(upstream)
    seconds = _longest_wait(patience or MeterTimeouts())

    def note(event: str, fields: dict[str, Any]) -> None:
        nonlocal away
        log(event, fields)
        if event == "meter.failed" and fields.get("again") and not away:
            away = True
            status = fields.get("status")
            how = f"answers with an error of its own ({status})" if status else "does not answer"
            setting = "" if status else " (ANTHROPIC_BASE_URL in config/.env)"
            tell(f"the model {how} at {where}{setting}; trying again for up to {seconds} s")
        elif event == "meter.settled" and away:
            away = False
            tell(f"the model answers again at {where}")

    return note


def _longest_wait(patience: MeterTimeouts) -> int:
    return round(sum(min(patience.longest, patience.first * (1 << again)) for again in range(patience.tries - 1)))


def host_of(address: str) -> str:
    """Without what an address may hold besides: a user, a path."""
    found = urlsplit(address)
    port = f":{found.port}" if found.port else ""
    return f"{found.scheme}://{found.hostname}{port}"
