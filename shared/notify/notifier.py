"""What we need of a chat or a mail service.

Every notice may be sent again: with the answer of the first time the same message is edited, not posted twice.
"""

from __future__ import annotations

from typing import Protocol

from shared.model.errors import Unavailable
from shared.notify.notice import Notice


class TryLater(Unavailable):
    """Surely not delivered: the service takes nothing now. It said when it will: in `wait` seconds."""

    def __init__(self, text: str, wait: float) -> None:
        super().__init__(text)
        self.wait = wait


class DeliveryUnknown(Unavailable):
    """The service may have the message or not, and cannot be asked. To send it again may show it twice."""


class Notifier(Protocol):
    @property
    def name(self) -> str:
        """Of the service, as the owner calls it."""

    def send(self, notice: Notice, sent: str = "") -> str:
        """The message's id at the service; empty if it keeps none. `sent`: that id, if the notice was sent before.

        Unavailable: not delivered; try again later (TryLater says when). DeliveryUnknown: it may have been delivered.
        Misconfigured: the address is gone or wrong; do not try again until the owner has changed it.
        Refused: the service will never take this notice.
        """
