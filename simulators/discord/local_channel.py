"""The local Discord's channel: what people write there, for a bot that reads it and replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sisimpur.shared.notify.discord_channel import EPOCH, MOST, at_time

CHANNEL, BOT, BOT_TOKEN = "1300000000000000002", "1300000000000000003", "local-bot-" + "0" * 54


@dataclass
class LocalChannel:
    """`messages`: as Discord would list them, the oldest first. A bot that is gone is known no more."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    is_gone: bool = False

    def says(self, author: str, text: str, at: datetime, **more: Any) -> str:
        """As if that account had written -> the message's id. `more`: further fields of it."""
        return self._add({"id": author, "username": f"user {author}"}, text, at, more)

    @property
    def replies(self) -> list[str]:
        """What the bot has said, the oldest first."""
        return [message["content"] for message in self.messages if message["author"].get("bot")]

    def answer(self, method: str, authorization: str, query: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Status and body of the answer."""
        if self.is_gone or authorization != f"Bot {BOT_TOKEN}":
            return 401, {"message": "401: Unauthorized", "code": 0}
        if method == "GET":
            after = int(query.get("after", "0"))
            later = [message for message in self.messages if int(message["id"]) > after]
            return 200, later[: int(query.get("limit", "50"))][:MOST][::-1]
        payload = json.loads(body)
        if known := [one for one in self.messages if payload.get("nonce") and one.get("nonce") == payload["nonce"]]:
            return 200, known[0]
        if not payload.get("content") or len(payload["content"]) > 2000:
            return 400, {"message": "Invalid Form Body", "code": 50035}
        newest = datetime.fromisoformat(self.messages[-1]["timestamp"]) if self.messages else EPOCH
        fields = {name: payload[name] for name in ("nonce", "message_reference", "allowed_mentions") if name in payload}
        self._add({"id": BOT, "bot": True}, payload["content"], newest, fields)
        return 200, self.messages[-1]

    def _add(self, author: Mapping[str, Any], text: str, at: datetime, more: Mapping[str, Any]) -> str:
        id_ = str(int(at_time(at)) + len(self.messages) + 1)
        row = {"id": id_, "type": 0, "author": author, "content": text, "timestamp": at.isoformat()}
        self.messages.append({**row, "edited_timestamp": None, **more})
        return id_
