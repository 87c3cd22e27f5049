"""Discord adapter: what Discord's answers mean for a notice.

A webhook can edit a message whose id it knows, so a notice that is sent again changes the one that is there. What it
cannot do is ask: it lists no messages, and takes no key by which a repeated POST would be known (`nonce` is for bots).
So a POST without an answer is never repeated here: DeliveryUnknown leaves that to the caller, who must choose
between perhaps twice and perhaps never. Everything else may be repeated as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, NoReturn

from shared.model.errors import Misconfigured, Refused, Unavailable
from shared.model.text import one_line
from shared.notify.discord_line import HOW, DiscordAnswer, DiscordCall, DiscordLine
from shared.notify.discord_text import attachment, changed_message, new_message
from shared.notify.notice import Notice
from shared.notify.notifier import DeliveryUnknown, TryLater
from shared.system.clock import Clock
from shared.system.http import NoAnswer

PATIENCE = 10.0  # seconds
SHORTEST_WAIT, LONGEST_WAIT, UNTOLD_WAIT = 0.5, 86_400.0, 5.0  # seconds, between one 429 and the next call
NOT_OURS = frozenset({10008, 50005})  # no such message; a message of another webhook
WRONG_CHANNEL = frozenset({220001, 220003, 220004})  # forums want a thread for every message
LONGEST_WORDS = 200
ID = re.compile(r"[0-9]{1,25}")


class DiscordNotifier:
    """`budget`: seconds that one notice may wait for its turn; an answer may take up to PATIENCE more, or `budget`.

    `hosts`: https links to these stay links. Misconfigured if the address is none of a Discord webhook.
    """

    def __init__(
        self, webhook_url: str, clock: Clock, *, budget: float = 20.0, hosts: Collection[str] = ("github.com",)
    ) -> None:
        self._line = DiscordLine(webhook_url)
        self._clock = clock
        self._budget = budget
        self._hosts = tuple(hosts)
        self._free_at: datetime | None = None  # Discord takes nothing from us before
        self._gone = ""

    @property
    def name(self) -> str:
        return "Discord"

    def send(self, notice: Notice, sent: str = "") -> str:
        """See Notifier. A message that is no longer there, or is another webhook's, is posted anew."""
        until = self._clock.now() + timedelta(seconds=self._budget)
        if ID.fullmatch(sent):
            call = DiscordCall("PATCH", f"/messages/{sent}", changed_message(notice, self._hosts), attachment(notice))
            answer = self._ask(call, until)
            if answer.code not in NOT_OURS:
                self._check(answer)
                return _confirmed(answer, sent)
        answer = self._ask(DiscordCall("POST", "", new_message(notice, self._hosts), attachment(notice)), until)
        if answer.status >= 500:
            raise DeliveryUnknown(f"Discord answers with {answer.status}; perhaps it has the message")
        self._check(answer)
        return _made(answer)

    # --- one call

    def _ask(self, call: DiscordCall, until: datetime) -> DiscordAnswer:
        """The first answer that is not "too many requests", which means that nothing was done."""
        while True:
            self._wait_for_turn(until)
            answer = self._line.ask(call, min(PATIENCE, self._budget))
            if isinstance(answer, NoAnswer):
                _lost(call, answer)
            self._free_at = self._next_turn(answer)
            if answer.status != 429:
                return answer

    def _wait_for_turn(self, until: datetime) -> None:
        """Too many calls that are refused, and Discord bans the whole address for a while."""
        if self._gone:
            raise Misconfigured(self._gone)
        now = self._clock.now()
        if self._free_at is None or self._free_at <= now:
            return
        wait = (self._free_at - now).total_seconds()
        if self._free_at > until:
            raise TryLater(f"Discord takes nothing from us for {math.ceil(wait)} s", wait)
        self._clock.sleep(wait)

    def _next_turn(self, answer: DiscordAnswer) -> datetime | None:
        if answer.status == 429:
            told = (answer.body or {}).get("retry_after"), answer.headers.get("retry-after"), UNTOLD_WAIT
        elif answer.headers.get("x-ratelimit-remaining") == "0":
            told = answer.headers.get("x-ratelimit-reset-after"), None, SHORTEST_WAIT
        else:
            return None
        wait = next(seconds for seconds in map(_seconds, told) if seconds is not None)
        return self._clock.now() + timedelta(seconds=min(max(wait, SHORTEST_WAIT), LONGEST_WAIT))

    # --- what it means

    def _check(self, answer: DiscordAnswer) -> None:
        """Nothing if it was done; else the error that says what is to be done."""
        status = answer.status
        if 200 <= status < 300:
            return
        if answer.code in WRONG_CHANNEL:
            raise Misconfigured(f"Discord's webhook belongs to a forum; make one for a text channel, and {HOW}")
        if 300 <= status < 400 or (status in (401, 403, 404) and answer.code is not None):
            self._gone = f"Discord does not know this webhook any more ({status}); make a new one, {HOW}"
            raise Misconfigured(self._gone)
        if status >= 500 or status in (401, 403, 404, 408):
            raise Unavailable(f"Discord answers with {status}")
        raise Refused(f"Discord refuses the message ({status}): {self._words(answer)}")

    def _words(self, answer: DiscordAnswer) -> str:
        """Discord's own, in one line."""
        if answer.body is None:
            return "it does not say why"
        said = [str(answer.body.get("message", "")), *_complaints(answer.body.get("errors"), "")]
        words = self._line.hide("; ".join(part for part in said if part))
        return one_line(words, LONGEST_WORDS)


def _lost(call: DiscordCall, lost: NoAnswer) -> NoReturn:
    if not lost.sent:
        raise Unavailable(f"Discord cannot be reached ({lost.error})")
    if call.method == "POST":
        raise DeliveryUnknown(f"Discord did not answer ({lost.error}); perhaps it has the message")
    raise Unavailable(f"Discord did not answer ({lost.error})")


def _confirmed(answer: DiscordAnswer, sent: str) -> str:
    """Unavailable if the answer does not show the message: it may be somebody else's."""
    if _shown(answer) != sent:
        raise Unavailable(f"Discord's answer ({answer.status}) does not show the message")
    return sent


def _made(answer: DiscordAnswer) -> str:
    """The id of the message that was made."""
    made = _shown(answer)
    if not made:
        raise DeliveryUnknown(f"Discord's answer ({answer.status}) does not show the message; perhaps it is there")
    return made


def _shown(answer: DiscordAnswer) -> str:
    found = (answer.body or {}).get("id")
    return found if isinstance(found, str) and ID.fullmatch(found) else ""


def _seconds(told: Any) -> float | None:
    """A number, or one in a header; None if it is neither."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return None
    try:
        seconds = float(told)
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None


def _complaints(errors: Any, path: str, depth: int = 0) -> list[str]:
    """`{"embeds": {"0": {"title": {"_errors": [{"message": …}]}}}}` -> `embeds.0.title: …`."""
    if not isinstance(errors, Mapping) or depth > 8:
        return []
    found = []
    for name, inner in errors.items():
        if name == "_errors" and isinstance(inner, list):
            found += [f"{path}: {one.get('message', '')}" for one in inner if isinstance(one, Mapping)]
        else:
            found += _complaints(inner, f"{path}.{name}".lstrip("."), depth + 1)
    return found
