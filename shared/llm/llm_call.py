"""Messages API adapter: one call of a model, through the meter.

One request, one outcome: never a repetition (the meter repeats, because only it can book each try), never a forced
tool, a prefilled answer or a sampling parameter (current models refuse them). Always a stream, and complete only with
its last event; the reason why the model stopped is looked at before what it said.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Stumble, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.money.ticket import MODEL_PAUSED

if TYPE_CHECKING:
    import anthropic


import hashlib
import json
from datetime import UTC, datetime

from sisimpur.shared.model.work import Run
from sisimpur.shared.store.database import OfDatabase
from sisimpur.shared.system.fault import fault_point

PATIENCE = 900.0  # seconds without a byte: the meter may wait for a busy upstream first
CONNECTING = 5.0  # seconds

RESTING = frozenset({"meter_paused", "meter_halted", "meter_clock"})
NEXT_MODEL = frozenset({"meter_upstream", "meter_model_gone"})


@dataclass(frozen=True)
class ModelQuestion:
    """Question as it is sent. The system prompt comes first and stays the same in all calls; the user's text is last.

    `kept`: where beginnings of `user` end, in characters, with which other questions begin too; each is a block of its
    own, as what is kept of a prompt ends with a block. `marked`: the last of them is to be kept for those.
    """

    model: str
    system: str
    user: str
    schema: Mapping[str, Any]
    effort: str
    max_tokens: int
    kept: tuple[int, ...] = ()
    marked: bool = False

    @property
    def request(self) -> dict[str, Any]:
        config: dict[str, Any] = {"format": {"type": "json_schema", "schema": self.schema}}
        return {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "system": _sendable(self.system),
            "messages": [{"role": "user", "content": self._blocks() if self.marked else _sendable(self.user)}],
            "output_config": config | ({"effort": self.effort} if self.effort else {}),
        }

    @property
    def beginning(self) -> str:
        """All that other questions begin with too; empty: nothing."""
        return self.system + self.user[: self.kept[-1]] if self.kept else ""

    def _blocks(self) -> list[dict[str, Any]]:
        ends = (*self.kept, len(self.user))
        texts = [self.user[start:end] for start, end in zip((0, *ends), ends, strict=False)]
        blocks: list[dict[str, Any]] = [{"type": "text", "text": _sendable(text)} for text in texts]
        blocks[-2]["cache_control"] = {"type": "ephemeral"}
        return blocks


@dataclass(frozen=True)
class Said:
    """The model ended by itself."""

    text: str


@dataclass(frozen=True)
class Cut:
    """The answer is longer than `max_tokens`; half a JSON document is worth nothing."""


@dataclass(frozen=True)
class Declined:
    """The model refused."""


@dataclass(frozen=True)
class Absent:
    """Answer of a model that is gone, overloaded or paused; another one may answer."""

    reason: str
    cure: str = "type: python main.py doctor"  # empty: the reason says what to do


@dataclass(frozen=True)
class Unwanted:
    """The vendor does not take the request as it is; its words stand in the money book."""

    reason: str


Outcome = Said | Cut | Declined | Absent | Unwanted


@contextmanager
def line(meter: Path | str, ticket: str) -> Iterator[anthropic.Anthropic]:
    """A client that knows the meter (its socket, or an address) and a ticket. Its import takes two seconds."""
    import anthropic
    import httpx2

    path = str(meter) if isinstance(meter, Path) else None
    if path:
        _knock(path)
    timeout = httpx2.Timeout(PATIENCE, connect=CONNECTING)
    with (
        httpx2.Client(
            transport=httpx2.HTTPTransport(uds=path, verify=False, trust_env=False), timeout=timeout, trust_env=False
        ) as http,
        anthropic.Anthropic(
            api_key=ticket,
            base_url="http://meter" if path else str(meter),
            timeout=timeout,
            max_retries=0,
            http_client=http,
        ) as client,
    ):
        yield client


def _knock(path: str) -> None:
    """Nobody there is told apart from a call that failed: nothing was sent."""
    with socket.socket(socket.AF_UNIX) as visitor:
        try:
            visitor.connect(path)
        except OSError as error:
            raise Unavailable(f"nobody answers at {path} ({error.strerror}); the meter does not run") from None


def send(client: anthropic.Anthropic, question: ModelQuestion) -> Outcome:
    """Outcome of a call. OutOfBudget, Unavailable, Misconfigured or Stumble if nothing of it can be used."""
    import anthropic
    import httpx2

    try:
        message = _message(client, question)
    except anthropic.APIStatusError as error:
        return _refused(error, question)
    except (anthropic.AnthropicError, httpx2.TransportError) as error:
        raise Unavailable(f"{question.model}: the meter broke off ({type(error).__name__})") from None
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise Unavailable(f"{question.model}: the answer is no message ({type(error).__name__})") from None
    if message is None or message.stop_reason is None:
        raise Unavailable(f"{question.model}: the answer broke off")
    return _outcome(message, question)


def _message(client: anthropic.Anthropic, question: ModelQuestion) -> anthropic.types.Message | None:
    """The message as its last event tells it; None: the stream ended before."""
    with client.messages.stream(**question.request) as stream:
        return next((event.message for event in stream if event.type == "message_stop"), None)


def _outcome(message: anthropic.types.Message, question: ModelQuestion) -> Outcome:
    match message.stop_reason:
        case "end_turn":
            return Said("".join(block.text for block in message.content if block.type == "text"))
        case "max_tokens":
            return Cut()
        case "refusal":
            return Declined()
        case "model_context_window_exceeded":
            raise Stumble(f"{question.model}: the question is too long for the model; give it less context")
        case other:
            raise Unavailable(f"{question.model}: the model stopped with {str(other)[:40]}, which was not asked for")


def _refused(error: anthropic.APIStatusError, question: ModelQuestion) -> Outcome:
    """The table of what the meter says instead of an answer."""
    code, text = error.error_code or "", one_line(error.api_message or f"status {error.status_code}", 400)
    if code in ("meter_task_cap", "meter_ticket_cap"):
        raise OutOfBudget(text, "task")
    if code == "meter_upkeep_cap":
        raise OutOfBudget(text, "upkeep")
    if code.endswith("_cap") or code in RESTING:
        raise OutOfBudget(text)
    if code == "meter_unrepeated":
        raise ModelAway(f"{question.model}: {text}")
    if code == MODEL_PAUSED:
        return Absent(text, cure="")
    if code in NEXT_MODEL or error.status_code in (404, 529):
        return Absent(text)
    if code == "meter_upstream_refused":
        return Unwanted(text)
    if code == "meter_unknown_model":
        raise Misconfigured(text)
    if error.status_code == 413 or code == "meter_too_long":
        raise Stumble(f"{question.model}: {text}")
    raise Unavailable(f"{question.model}: {text}")


def _sendable(text: str) -> str:
    """File names can hold bytes that are no character."""
    return text.encode("utf-8", "replace").decode()


# --- remembered replies --------------------------------------------------------------------------------------
# What a model answered, so that a crash replays for free. Only answers that were understood are kept, each under its
# whole question and attempt: another attempt asks anew.


def key_of(run: Run, question: Mapping[str, Any]) -> str:
    """The key of a reply. `question` is all it depends on; runs that are one attempt at one thing share the key."""
    whole = {"agent": run.agent, "day": run.day, "task": run.task, "attempt": run.attempt, "question": question}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


class Replies(OfDatabase):
    """`db` is the database of the home."""

    def find(self, key: str) -> str | None:
        row = self._db.row("select text from replies where key = ?", (key,))
        return row["text"] if row else None

    def keep(self, key: str, text: str, now: datetime) -> None:
        fault_point("reply.understood")
        self._db.write("insert or replace into replies (key, text, at) values (?, ?, ?)", (key, text, _utc(now)))
        fault_point("reply.kept")

    def prune(self, before: datetime) -> int:
        """Forget what was kept earlier than `before` -> how many."""
        with self._db.transaction() as db:
            return db.execute("delete from replies where at < ?", (_utc(before),)).rowcount


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
