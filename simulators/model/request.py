"""Requests to the Messages API: their shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Open(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Mark(Closed):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class Block(Open):
    type: str
    text: str = ""
    cache_control: Mark | None = None


class Message(Closed):
    role: Literal["user", "assistant"]
    content: str | list[Block]


class Tool(Open):
    name: str = Field(min_length=1)
    cache_control: Mark | None = None


class ToolChoice(Open):
    type: Literal["auto", "none", "any", "tool"]


class Thinking(Open):
    type: Literal["adaptive", "enabled", "disabled"]
    budget_tokens: int = 0


class Form(Closed):
    type: Literal["json_schema"]
    json_schema: dict[str, Any] = Field(alias="schema")


class OutputConfig(Closed):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: Form | None = None


class Request(Closed):
    """The fields of POST /v1/messages. What the script has no use for is taken as it is."""

    model: str
    messages: list[Message] = Field(min_length=1)
    max_tokens: int = Field(default=0, ge=0)
    system: str | list[Block] = ""
    stream: bool = False
    tools: list[Tool] = []
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    output_format: Form | None = None
    cache_control: Mark | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    container: Any = None
    context_management: Any = None
    diagnostics: Any = None
    inference_geo: Any = None
    metadata: Any = None
    service_tier: Any = None
    speed: Any = None

    @property
    def form(self) -> Mapping[str, Any]:
        """The JSON schema of the answer; empty: free text."""
        chosen = (self.output_config and self.output_config.format) or self.output_format
        return chosen.json_schema if chosen else {}

    def parts(self) -> Iterator[tuple[str, Tool | Block | str]]:
        """What the prompt consists of, each with its role, in the order of the cache: tools, system, messages."""
        for tool in self.tools:
            yield "tool", tool
        for part in [self.system] if isinstance(self.system, str) else self.system:
            if part:
                yield "system", part
        for message in self.messages:
            for part in [message.content] if isinstance(message.content, str) else message.content:
                yield message.role, part

    @property
    def system_text(self) -> str:
        return text_of(self.system)

    @property
    def user_texts(self) -> list[str]:
        """The user's messages, the last one last."""
        return [text_of(message.content) for message in self.messages if message.role == "user"]


def text_of(content: str | list[Block]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if block.type == "text")
