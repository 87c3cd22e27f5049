"""Discord adapter: what people write in one channel, and a reply below it.

It asks with a bot's token, by plain requests from this machine: no port is open, and nobody has to reach us. What is
read is data of strangers: who counts is decided elsewhere, by the number of the account.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.notify.discord_notifier import AGENT, API, HOSTS, OURSELVES
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, http_address, is_configured

DISCORD = "https://discord.com"
EPOCH = datetime(2015, 1, 1, tzinfo=UTC)  # ids count milliseconds from here on, above their last 22 bits
PATIENCE = 10.0  # seconds
MAX_ANSWER = 1 << 20  # bytes: a hundred messages
MOST = 100  # messages of one answer
LONGEST_REPLY = 1_900  # letters; Discord takes 2,000
NO_PREVIEWS = 4  # a flag: links are not unfolded
ID = re.compile(r"[0-9]{1,20}")
HOW = "docs/reports.md says how a bot is made"


@dataclass(frozen=True)
class ChannelMessage:
    """`author`: the account's number; empty: a bot, or a webhook. `edited`: it was changed after it was written."""

    id: str
    author: str
    text: str
    at: datetime
    edited: bool = False


class DiscordChannel:
    """Misconfigured if the address is none of Discord's, nor of this machine."""

    def __init__(self, token: str, channel: str, api: str = "") -> None:
        self._url = f"{_checked(api or DISCORD)}{API}/channels/{channel}/messages"
        self._headers = {"authorization": f"Bot {token}", "user-agent": AGENT, "accept-encoding": "identity"}
        self._http = Http(is_configured)

    def newer(self, than: str) -> list[ChannelMessage]:
        """At most MOST, the oldest first. `than`: the id of a message, or of a time."""
        found = _rows(self._asked(HttpCall(self._headers, MAX_ANSWER, PATIENCE), f"?after={than}&limit={MOST}"))
        messages = [message for row in found if (message := _message(row))]
        return sorted(messages, key=lambda message: int(message.id))

    def reply(self, to: str, text: str) -> None:
        """Below that message, once: told again within some minutes, Discord knows it by its nonce. It calls nobody."""
        payload = {
            "content": text[:LONGEST_REPLY],
            "message_reference": {"message_id": to, "fail_if_not_exists": False},
            "allowed_mentions": {"parse": []},
            "flags": NO_PREVIEWS,
            "nonce": to,
            "enforce_nonce": True,
        }
        headers = {**self._headers, "content-type": "application/json"}
        body = {"content": json.dumps(payload).encode()}
        self._asked(HttpCall(headers, MAX_ANSWER, PATIENCE, "POST", body))

    def _asked(self, call: HttpCall, query: str = "") -> HttpAnswer:
        answer = self._http.ask(f"{self._url}{query}", call)
        fault_point("channel.asked")
        if isinstance(answer, NoAnswer):
            raise Unavailable(f"Discord's channel cannot be read ({answer.error})")
        if answer.status == 401:
            raise Misconfigured(f"Discord does not know DISCORD_BOT_TOKEN; {HOW}")
        if answer.status in (403, 404):
            raise Misconfigured(f"Discord lets the bot not into discord.channel ({answer.status}); {HOW}")
        if not 200 <= answer.status < 300:
            raise Unavailable(f"Discord's channel answers with {answer.status}")
        return answer


def at_time(when: datetime) -> str:
    """The id that a message of this time would begin at."""
    return str(max(0, int((when - EPOCH) / timedelta(milliseconds=1))) << 22)


def _checked(api: str) -> str:
    try:
        found = http_address(api)
    except ValueError as error:
        raise Misconfigured(f"DISCORD_API_URL: {error}") from None
    if found.host in OURSELVES or (found.scheme == "https" and found.host in HOSTS):
        return found.origin
    raise Misconfigured("DISCORD_API_URL lies neither at https://discord.com nor on this machine; leave it out")


def _rows(answer: HttpAnswer) -> list[Any]:
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        found = None
    if not answer.whole or not isinstance(found, list):
        raise Unavailable("Discord's channel gives no list of messages")
    return found


def _message(row: Any) -> ChannelMessage | None:
    """None: it is none, or not one that somebody wrote."""
    if not isinstance(row, Mapping) or not isinstance(author := row.get("author"), Mapping):
        return None
    id_, text, at, who = row.get("id"), row.get("content"), row.get("timestamp"), author.get("id")
    if not (isinstance(id_, str) and ID.fullmatch(id_) and isinstance(text, str) and isinstance(who, str)):
        return None
    try:
        when = datetime.fromisoformat(str(at))
    except ValueError:
        return None
    is_machine = bool(author.get("bot")) or "webhook_id" in row or row.get("type", 0) not in (0, 19)
    written = when if when.tzinfo else when.replace(tzinfo=UTC)
    return ChannelMessage(id_, "" if is_machine else who, text, written, row.get("edited_timestamp") is not None)
