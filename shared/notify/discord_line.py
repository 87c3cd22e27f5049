"""Calls of Discord's API. The only module that holds a webhook's address.

The address is a secret: it stands in no error, no log, no text of an object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from shared.model.errors import Misconfigured
from shared.notify.notice import Picture
from shared.system.http import Http, HttpCall, NoAnswer, is_configured

HOSTS = frozenset({"discord.com", "ptb.discord.com", "canary.discord.com"})
HOSTS |= {host.replace("discord.com", "discordapp.com") for host in HOSTS}  # its old name
OURSELVES = frozenset({"127.0.0.1", "localhost", "::1"})
PATH = re.compile(r"/api(?:/v\d{1,2})?(/webhooks/\d{1,25}/[\w-]{1,200})", re.ASCII)
API = "/api/v10"  # an address without a version is an old one's: its errors and waits are told in other ways
AGENT = "DiscordBot (sisimpur-agents, 0.1)"
MAX_ANSWER = 256 * 1024  # bytes

HOW = "copy it in Discord (channel settings, Integrations, Webhooks) into config/.env as DISCORD_WEBHOOK_URL=https://…"


@dataclass(frozen=True)
class DiscordCall:
    """`path` is below the webhook's own; with a picture the payload is sent as one part of a form."""

    method: str
    path: str
    payload: Mapping[str, Any]
    picture: Picture | None = None


@dataclass(frozen=True)
class DiscordAnswer:
    """`body` is None if it is no whole JSON object."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None

    @property
    def code(self) -> int | None:
        """Discord's own number of an error (0: the general one); None if it is not Discord's API that answers."""
        code = (self.body or {}).get("code")
        return code if isinstance(code, int) else None


class DiscordLine:
    """Misconfigured if the address is none of a Discord webhook."""

    def __init__(self, url: str) -> None:
        self._address, self._query = _checked(url)
        self._http = Http(is_configured)

    def ask(self, call: DiscordCall, seconds: float) -> DiscordAnswer | NoAnswer:
        """`seconds`: the longest silence, and the longest that an answer may take to come in once it has begun."""
        query = self._query | ({"wait": "true"} if call.method == "POST" else {})
        url = f"{self._address}{call.path}?{urlencode(query)}"
        answer = self._http.ask(url, _call(call, seconds))
        if isinstance(answer, NoAnswer):
            return answer
        return DiscordAnswer(answer.status, answer.headers, _object(answer.body))

    def hide(self, text: str) -> str:
        """The text without our address, should the other side repeat it."""
        return text.replace(self._address.rpartition("/")[2], "***")


def _call(call: DiscordCall, seconds: float) -> HttpCall:
    payload = json.dumps(call.payload).encode()
    headers = {"user-agent": AGENT, "accept-encoding": "identity"}
    body: dict[str, Any] = {"content": payload}
    if call.picture:
        picture = (call.picture.name, call.picture.png, "image/png")
        body = {"files": {"payload_json": (None, payload, "application/json"), "files[0]": picture}}
    else:
        headers["content-type"] = "application/json"
    return HttpCall(headers, MAX_ANSWER, seconds, call.method, body, patient=True)


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# --- which addresses are taken -------------------------------------------------------------------------------


def _checked(url: str) -> tuple[str, dict[str, str]]:
    """The address at the API's version of ours, and what of its query is part of it: the thread."""
    parts = _split(url.strip())
    if parts is None:
        raise Misconfigured(f"DISCORD_WEBHOOK_URL does not lie at https://discord.com; {HOW}")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    thread, path = query.pop("thread_id", ""), PATH.fullmatch(parts.path.rstrip("/"))
    if query or parts.fragment or not re.fullmatch(r"[0-9]{0,25}", thread) or not path:
        raise Misconfigured(f"DISCORD_WEBHOOK_URL is no webhook's address; {HOW}")
    return f"{parts.scheme}://{parts.netloc}{API}{path[1]}", {"thread_id": thread} if thread else {}


def _split(url: str) -> SplitResult | None:
    """None: it does not lead to Discord, nor to this machine."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        return None
    discord = parts.scheme == "https" and host in HOSTS and port in (None, 443)
    here = parts.scheme == "http" and host in OURSELVES
    return parts if (discord or here) and "@" not in parts.netloc else None
