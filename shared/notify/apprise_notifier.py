"""Apprise adapter: Slack, e-mail, Telegram and a hundred other services.

Not installed with the daemon. Not for Discord: Apprise has no way to switch mentions off there, and gives up at the
first "too many requests". It answers yes or no and keeps no ids: no is DeliveryUnknown, and a notice that is sent
again is a new message. What one service has taken is not sent to it again because another has not. The services are
reached as Apprise does it, proxies of the environment included.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Collection
from types import ModuleType
from typing import Any

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import defuse
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice, Tone
from sisimpur.shared.notify.notice_text import plain

BUDGET = 20.0  # seconds for each service
KINDS = {Tone.GOOD: "success", Tone.PLAIN: "info", Tone.ATTENTION: "warning", Tone.BAD: "failure"}
INSTALL = "type: .venv/bin/pip install 'apprise>=2.2,<3'"


class AppriseNotifier:
    """`urls`: one for each service, in Apprise's own form; they are secrets. `hosts`: https links to these stay links.

    Misconfigured if Apprise is not installed, or does not take one of them.
    """

    takes_pdf: bool = False

    def __init__(self, urls: Collection[str], *, budget: float = BUDGET, hosts: Collection[str] = ()) -> None:
        if not urls:
            raise Misconfigured("there is no URL for Apprise; see https://github.com/caronc/apprise/wiki")
        library = _library()
        self._budget = budget
        self._hosts = tuple(hosts)
        self._services = [_service(library, url, place) for place, url in enumerate(urls, 1)]
        self._taken: tuple[tuple[str, str], set[int]] = (("", ""), set())  # of the last notice: by which services
        self._library = library

    @property
    def name(self) -> str:
        return ", ".join(dict.fromkeys(str(service.service_name) for service in self._services))

    def wants(self, notice: Notice, is_whole: bool) -> bool:  # noqa: ARG002
        return True

    def send(self, notice: Notice, sent: str = "") -> str:  # noqa: ARG002
        """Send to each service that has not taken it yet: see Notifier. No id is kept."""
        words = plain(notice, self._hosts)
        taken = self._taken[1] if self._taken[0] == (notice.key, words) else set()
        self._taken = (notice.key, words), taken
        for place, service in enumerate(self._services):
            if place not in taken and self._notify(service, notice, words):
                taken.add(place)
        missing = [str(s.service_name) for place, s in enumerate(self._services) if place not in taken]
        if missing:
            raise DeliveryUnknown(f"{', '.join(missing)} did not confirm the message; perhaps it is there")
        self._taken = ("", ""), set()
        return ""

    def _notify(self, service: Any, notice: Notice, words: str) -> bool:
        one = self._library.Apprise(asset=service.asset)
        one.add(service)
        title = defuse(" ".join(notice.title.split()), self._hosts)
        kind = KINDS[notice.tone]
        try:
            done = one.notify(body=words, title=title, notify_type=kind, body_format="text", timeout=self._budget)
        except Exception:  # noqa: BLE001 -- a hundred plugins; and what they say may hold the URL
            return False
        return bool(done)


def _library() -> ModuleType:
    """Load it, and silence its log and that of what it stands on: they hold URLs."""
    try:
        library = importlib.import_module("apprise")
    except ImportError:
        raise Misconfigured(f"there is no apprise here; {INSTALL}") from None
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)
    return library


def _service(library: ModuleType, url: str, place: int) -> Any:
    asset = library.AppriseAsset(storage_mode="memory")
    asset.http_redirects = False
    service = library.Apprise.instantiate(url.strip(), asset=asset, suppress_exceptions=True)
    if service is None:
        raise Misconfigured(
            f"Apprise does not know the form of URL {place}; see https://github.com/caronc/apprise/wiki"
        )
    if service.service_name == "Discord":
        raise Misconfigured(f"URL {place} is Discord's; write it into config/.env as DISCORD_WEBHOOK_URL instead")
    if service.overflow_mode == "upstream":  # a service that finds a text too long would lose it
        service.overflow_mode = "split"
    return service
