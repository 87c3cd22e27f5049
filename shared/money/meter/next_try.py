"""What follows a try that brought no message."""

from __future__ import annotations

from dataclasses import dataclass, field

from sisimpur.shared.money.meter.answer import Billed, Rejected, Then
from sisimpur.shared.money.ticket import CallEnding


@dataclass(frozen=True)
class FailedTry:
    """A try that brought no message."""

    rejected: Rejected
    billed: Billed = "all"
    then: Then = "answer"
    retry_after: float | None = None
    ending: CallEnding = field(default_factory=CallEnding)
