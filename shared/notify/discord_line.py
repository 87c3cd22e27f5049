"""Door to Discord's API. The only module that holds a webhook's address, and that speaks to it.

The address is a secret: it stands in no error, no log, no text of an object. So there is no client but a bare
transport, which writes no log lines, follows no redirects and asks the environment for no proxy; and what goes wrong
is a value, not an exception that remembers the request. No connection is kept: one that the other side has closed
since would look like an answer that was lost.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from shared.model.errors import Misconfigured
from shared.notify.notice import Picture
from shared.system.clock import Clock

if TYPE_CHECKING:
    import httpx2

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


@dataclass(frozen=True)
class Lost:
    """There is no answer. `sent`: the call may have arrived."""

    reason: str
    sent: bool


class DiscordWebhook:
    """Misconfigured if the address is none of a Discord webhook."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._address, self._query = _checked(url)
        self._clock = clock
        self._way: httpx2.HTTPTransport | None = None

    def ask(self, call: DiscordCall, seconds: float) -> DiscordAnswer | Lost:
        """`seconds`: the longest silence, and the longest that an answer may take to come in once it has begun."""
        import httpx2

        request = self._request(call, seconds)
        try:
            response = self._transport().handle_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return Lost(type(error).__name__, sent=False)
        except httpx2.TransportError as error:
            return Lost(type(error).__name__, sent=True)
        body = _read(response, self._clock, seconds)
        return DiscordAnswer(response.status_code, response.headers, _object(body))

    def hide(self, text: str) -> str:
        """The text without our address, should the other side repeat it."""
        return text.replace(self._address.rpartition("/")[2], "***")

    def _request(self, call: DiscordCall, seconds: float) -> httpx2.Request:
        import httpx2

        body: dict[str, Any] = {"content": json.dumps(call.payload).encode()}
        headers = {"user-agent": AGENT, "accept-encoding": "identity"}
        if call.picture:
            body = {"files": {"payload_json": (None, body["content"], "application/json"), **_file(call.picture)}}
        else:
            headers["content-type"] = "application/json"
        url, query = self._address + call.path, self._query | ({"wait": "true"} if call.method == "POST" else {})
        extensions = {"timeout": httpx2.Timeout(seconds).as_dict()}
        return httpx2.Request(call.method, url, params=query, headers=headers, extensions=extensions, **body)

    def _transport(self) -> httpx2.HTTPTransport:
        import httpx2

        if self._way is None:
            once = httpx2.Limits(max_keepalive_connections=0)
            here = self._address.startswith("http:")  # no authorities are needed, and to load them takes long
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if here else True
            self._way = httpx2.HTTPTransport(verify=verify, trust_env=False, limits=once)
        return self._way


def _read(response: httpx2.Response, clock: Clock, seconds: float) -> bytes:
    """As much as comes in time and is worth reading; the status counts also if the rest is lost."""
    import httpx2

    body, until = b"", clock.now() + timedelta(seconds=seconds)
    try:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > MAX_ANSWER or clock.now() > until:
                break
    except httpx2.TransportError:
        return body
    finally:
        response.close()
    return body


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _file(picture: Picture) -> dict[str, Any]:
    return {"files[0]": (picture.name, picture.png, "image/png")}


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
