"""Answers of the scripted API: messages and streams as the live Messages API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sisimpur.simulators.model.rules import Call
from sisimpur.simulators.model.steps import Block, Step, TextBlock, ThinkingBlock, ToolUseBlock
from sisimpur.simulators.model.usage import BYTES_PER_TOKEN, tokens

PIECE = 60  # characters of one delta
SIGNATURE = "c2NyaXB0ZWQ="

Event = tuple[str, Mapping[str, Any]]


def message(call: Call, step: Step, number: int, prompt: Mapping[str, Any]) -> dict[str, Any]:
    """The whole answer. `prompt` is the input side of its usage; an answer longer than max_tokens is cut."""
    kept, thought, spoken = _cut(step.content, call.request.max_tokens)
    reason = _stop_reason(step, kept)
    written = tokens(thought + spoken)
    usage = {**prompt, "output_tokens": min(max(written, 1), call.request.max_tokens)}
    usage |= {"output_tokens_details": {"thinking_tokens": min(tokens(thought), written)}, "service_tier": "standard"}
    refusal = {"type": "refusal", "category": None, "explanation": None}
    return {
        "id": f"msg_scripted_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": call.model.id,
        "content": [_block(block, number, n) for n, block in enumerate(kept)],
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": refusal if reason == "refusal" else None,
        "usage": {**usage, **step.usage},
    }


def _stop_reason(step: Step, kept: Sequence[Block]) -> str:
    if step.stop_reason:
        return step.stop_reason
    if tuple(kept) != step.content:
        return "max_tokens"
    return "tool_use" if any(isinstance(block, ToolUseBlock) for block in kept) else "end_turn"


def _cut(blocks: Sequence[Block], max_tokens: int) -> tuple[Sequence[Block], int, int]:
    """What fits into `max_tokens`, and how many bytes of it are thought and spoken."""
    left, thought, kept = max_tokens * BYTES_PER_TOKEN, 0, []
    for block in blocks:
        data = _said(block).encode("utf-8", "surrogatepass")
        fitting = _shortened(block, data[:left])
        if fitting is None:
            break
        kept.append(fitting)
        size = min(len(data), left)
        left -= size
        thought += size if isinstance(block, ThinkingBlock) else 0
    return kept, thought, max_tokens * BYTES_PER_TOKEN - left - thought


def _said(block: Block) -> str:
    if isinstance(block, ToolUseBlock):
        return json.dumps(block.input)
    return block.text if isinstance(block, TextBlock) else block.thinking


def _shortened(block: Block, data: bytes) -> Block | None:
    """The block as far as `data` reaches; None: nothing of it."""
    said = _said(block)
    if len(data) == len(said.encode("utf-8", "surrogatepass")):
        return block
    text = data.decode("utf-8", "ignore")
    if isinstance(block, ToolUseBlock) or not text:
        return None
    return TextBlock("text", text) if isinstance(block, TextBlock) else ThinkingBlock("thinking", text)


def _block(block: Block, number: int, place: int) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text, "citations": None}
    if isinstance(block, ThinkingBlock):
        return {"type": "thinking", "thinking": block.thinking, "signature": SIGNATURE}
    return {"type": "tool_use", "id": f"toolu_{number:06}_{place}", "name": block.name, "input": dict(block.input)}


# --- the stream ----------------------------------------------------------------------------------------------


def events(whole: Mapping[str, Any]) -> Iterator[Event]:
    """The stream that tells `whole`, in the live order."""
    usage = whole["usage"]
    opening: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_details": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield "message_start", {"message": {**whole, **opening}}
    yield "ping", {}
    for index, block in enumerate(whole["content"]):
        yield "content_block_start", {"index": index, "content_block": _empty(block)}
        for delta in _deltas(block):
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    ending = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    counted = {key: value for key, value in usage.items() if key not in ("cache_creation", "service_tier")}
    yield "message_delta", {"delta": ending, "usage": counted}
    yield "message_stop", {}


def _empty(block: Mapping[str, Any]) -> dict[str, Any]:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) if key != "type" else value for key, value in block.items()}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))
    elif block["type"] == "tool_use":
        written = json.dumps(block["input"])
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in ("", *_pieces(written)))
    else:
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"]))
        yield {"type": "signature_delta", "signature": block["signature"]}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def encoded(event: Event) -> bytes:
    """One event as it stands in the stream."""
    name, data = event
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
