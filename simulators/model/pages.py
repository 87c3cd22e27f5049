"""Calls of a model as pages that a person reads: what was asked, in which form, and what was answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sisimpur.simulators.model.request import Request, text_of
from sisimpur.simulators.model.scripted_model import Recorded


def prompt_page(request: Request) -> str:
    """The whole request as one page, in the order in which the model reads it."""
    parts = [f"# {request.model}, at most {request.max_tokens} tokens", "## system", request.system_text]
    for message in request.messages:
        parts += [f"## {message.role}", text_of(message.content)]
    if request.form:
        parts += ["## form of the answer (JSON schema)", json.dumps(request.form, indent=1, ensure_ascii=False)]
    return "\n\n".join(parts) + "\n"


def write_story(calls: Sequence[Recorded], folder: Path) -> None:
    """A day's calls as files `NN-role.md`, in their order. A system prompt is told once; later pages name that one."""
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, str] = {}
    listed = ["# What each role was asked, and what it answered", "", "The calls of one day, in their order.", ""]
    for number, call in enumerate((call for call in calls if call.answer), 1):
        request = Request.model_validate(call.body)
        name = f"{number:02}-{re.sub(r'[^a-z]+', '-', call.agent).strip('-')}.md"
        text = "\n".join(_page(request, call, told.get(request.system_text, "")))
        told.setdefault(request.system_text, name)
        (folder / name).write_text(text, "utf-8")
        listed.append(f"- [{name}]({name}): {call.summary}. {_price(call.usage)}, ${call.billed / 1e9:.4f}.")
    (folder / "README.md").write_text("\n".join(listed) + "\n", "utf-8")


def _page(request: Request, call: Recorded, told_in: str) -> Iterator[str]:
    yield f"# {call.summary}\n"
    yield f"{request.model}. {_price(call.usage)}, ${call.billed / 1e9:.4f}.\n"
    yield "## System prompt\n"
    yield f"The same as in [{told_in}]({told_in}).\n" if told_in else f"{_block(request.system_text)}\n"
    for message in request.messages:
        yield f"## {'Asked' if message.role == 'user' else 'Earlier answer'}\n"
        yield f"{_block(text_of(message.content))}\n"
    yield "## Answered\n"
    yield f"{_block(_pretty(call.answer))}\n"


def _price(usage: Mapping[str, Any]) -> str:
    kept = usage.get("cache_read_input_tokens", 0), usage.get("cache_creation_input_tokens", 0)
    from_cache = f" ({kept[0]:,} more read from the cache, {kept[1]:,} written to it)" if any(kept) else ""
    return f"{usage['input_tokens']:,} tokens in{from_cache}, {usage['output_tokens']:,} out"


def _pretty(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), indent=2, ensure_ascii=False)
    except ValueError:
        return answer


def _block(text: str) -> str:
    """A fence longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text.strip()}\n{fence}"
