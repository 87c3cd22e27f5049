"""What boxes take, charged to the run that started them: a box runs in the thread of its run, to its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sisimpur.shared.model.work import ResourceUse


@dataclass
class Charge:
    """What a box, or all boxes of one run, have taken so far. What a box does after the last count is not known."""

    use: ResourceUse = field(default_factory=ResourceUse)


_CHARGED: ContextVar[Charge | None] = ContextVar("charged", default=None)
_OPEN: set[object] = set()  # a token for each box of this process that runs now


@contextmanager
def charged() -> Iterator[Charge]:
    """Collect what boxes take meanwhile, if this thread starts them."""
    charge = Charge()
    token = _CHARGED.set(charge)
    try:
        yield charge
    finally:
        _CHARGED.reset(token)


def charge_run(use: ResourceUse) -> None:
    """Charge the run of this thread; without one, as for what is shared by many, nobody."""
    if charge := _CHARGED.get():
        charge.use = charge.use.then(use)


@contextmanager
def opened() -> Iterator[None]:
    """A box is open as long as the block lasts."""
    token = object()
    _OPEN.add(token)
    try:
        yield
    finally:
        _OPEN.discard(token)


def open_boxes() -> int:
    return len(_OPEN)
