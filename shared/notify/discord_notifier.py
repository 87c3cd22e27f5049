"""Discord adapter: what Discord's answers mean for a notice.

A webhook can edit a message whose id it knows, so a notice that is sent again changes the one that is there. What it
cannot do is ask: it lists no messages, and takes no key by which a repeated POST would be known (`nonce` is for bots).
So a POST without an answer is never repeated here: DeliveryUnknown leaves that to the caller, who must choose
between perhaps twice and perhaps never. Everything else may be repeated as it is.

A webhook's address is a secret: it stands in no error, no log, no text of an object.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from sisimpur.shared.model.errors import Misconfigured, Refused, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.notify.discord_text import attachment, changed_message, new_message
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice, Picture
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.http import Http, HttpCall, NoAnswer, is_configured

# --- the line to Discord --------------------------------------------------------------------------------------

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


# --- notices --------------------------------------------------------------------------------------------------

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

    takes_pdf: bool = False

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

    def wants(self, notice: Notice, is_whole: bool) -> bool:  # noqa: ARG002
        return True

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
            raise Unavailable(f"Discord takes nothing from us for {math.ceil(wait)} s", wait=wait)
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
        """Return nothing if it was done; else raise the error that says what is to be done."""
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
