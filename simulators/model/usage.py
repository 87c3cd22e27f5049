"""Token counts: how the scripted model counts, caches and bills a prompt.

A token is four bytes of UTF-8, so that a forecast can be checked by hand. The prompt cache follows the vendor's rules:
what lies before a mark is kept for 5 minutes or 1 hour from its last use, if it is long enough for the model; a later
call reads the longest kept prefix found within 20 blocks before one of its own marks.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING
from typing import Any

from sisimpur.simulators.model.request import Block, Tool
from sisimpur.simulators.model.rules import Call

BYTES_PER_TOKEN = 4
LOOK_BACK = 20  # blocks
LIVES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


def tokens(size: int) -> int:
    """Tokens of `size` bytes of UTF-8."""
    return -(-size // BYTES_PER_TOKEN)


def prompt_tokens(call: Call) -> int:
    return _prefixes(call)[-1].end


def price(model: str, usage: Mapping[str, Any]) -> int:
    """What the vendor bills, in nano-dollars."""
    import genai_prices

    found = genai_prices.extract_usage({"model": model, "usage": dict(usage)}, provider_id="anthropic")
    nano = found.calc_price().total_price.scaleb(9)
    return int(nano.to_integral_value(ROUND_CEILING))


@dataclass(frozen=True)
class _Prefix:
    """The prompt up to the end of one block. `life` is its cache mark, or empty."""

    key: str
    end: int  # tokens
    life: str


def _prefixes(call: Call) -> Sequence[_Prefix]:
    request = call.request
    chosen = request.model_dump_json(include={"model", "output_config", "output_format", "thinking", "tool_choice"})
    key, end, found = chosen, 0, []
    for text, life in _blocks(call):
        key = hashlib.sha256(f"{key}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        end += tokens(len(text.encode("utf-8", "surrogatepass")))
        found.append(_Prefix(key, end, life))
    return found


def _blocks(call: Call) -> Iterator[tuple[str, str]]:
    """Each block's text and the life that its mark asks for; a mark of the whole request stands on the last block."""
    parts = list(call.request.parts())
    for number, (role, part) in enumerate(parts, 1):
        mark = None if isinstance(part, str) else part.cache_control
        if number == len(parts):
            mark = mark or call.request.cache_control
        yield f"{role}: {_text(part)}", mark.ttl if mark else ""


def _text(part: Tool | Block | str) -> str:
    if isinstance(part, str):
        return part
    return part.text if isinstance(part, Block) and part.text else part.model_dump_json(exclude={"cache_control"})


class PromptCache:
    """What is kept of earlier prompts, until when, and for how long a use renews it."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[datetime, str]] = {}

    def usage(self, call: Call, now: datetime) -> dict[str, Any]:
        """The input side of the usage of `call`, which is kept from now on."""
        prefixes = _prefixes(call)
        end = read = self._longest_kept(prefixes, now)
        written = {"5m": 0, "1h": 0}
        for prefix in prefixes:
            if prefix.life and prefix.end >= call.model.cacheable:
                written[prefix.life] += max(0, prefix.end - end)
                end = max(end, prefix.end)
                self._keep(prefix.key, prefix.life, now)
        return {
            "input_tokens": prefixes[-1].end - end,
            "cache_creation_input_tokens": sum(written.values()),
            "cache_read_input_tokens": read,
            "cache_creation": {f"ephemeral_{life}_input_tokens": count for life, count in written.items()},
        }

    def _keep(self, key: str, life: str, now: datetime) -> None:
        self._kept[key] = (now + LIVES[life], life)

    def _longest_kept(self, prefixes: Sequence[_Prefix], now: datetime) -> int:
        """In tokens. A hit lives on from now."""
        marks = [number for number, prefix in enumerate(prefixes) if prefix.life]
        for number in itertools.chain(*(range(mark, max(-1, mark - LOOK_BACK), -1) for mark in reversed(marks))):
            until, life = self._kept.get(prefixes[number].key, (now, ""))
            if until > now:
                self._keep(prefixes[number].key, life, now)
                return prefixes[number].end
        return 0
