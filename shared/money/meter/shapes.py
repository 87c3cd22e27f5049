"""The shapes of what a caller of the meter may ask: the whole of what is let through.

Everything that is billed lies in the body, so that its bytes bound its tokens: no files, no addresses, no tools or
models that the vendor adds by itself.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

LONGEST_ANSWER = 1_000_000  # tokens


class FirstError(FailFast):
    """A list stops at its first error: a body of a million wrong items shall not make a million complaints."""

    __hash__ = object.__hash__  # to stand in a union


FIRST = FirstError()


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CacheMark(Shape):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class ContentPart(Shape):
    cache_control: CacheMark | None = None


class TextShape(ContentPart):
    type: Literal["text"]
    text: str
    citations: None = None


class DirectCaller(Shape):
    type: Literal["direct"]


class ToolUse(ContentPart):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    caller: DirectCaller | None = None
    toolset_name: None = None


class ToolResult(ContentPart):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | Annotated[list[TextShape], FIRST] | None = None
    is_error: bool | None = None


class Thinking(Shape):
    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinking(Shape):
    type: Literal["redacted_thinking"]
    data: str


Block = Annotated[TextShape | ToolUse | ToolResult | Thinking | RedactedThinking, Field(discriminator="type")]


class Message(Shape):
    role: Literal["user", "assistant"]
    content: str | Annotated[list[Block], FIRST]


class Tool(ContentPart):
    type: Literal["custom"] | None = None
    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None
    eager_input_streaming: bool | None = None


class ToolChoice(Shape):
    type: Literal["auto", "none"]
    disable_parallel_tool_use: bool | None = None


class AdaptiveThinking(Shape):
    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] | None = None


class Format(Shape):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Shape):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: Format | None = None


class PromptShape(Shape):
    """What `count_tokens` takes."""

    model: str = Field(min_length=1, max_length=100)
    messages: Annotated[list[Message], FIRST, Field(min_length=1)]
    system: str | Annotated[list[TextShape], FIRST] | None = None
    tools: Annotated[list[Tool], FIRST] | None = None
    tool_choice: ToolChoice | None = None
    thinking: AdaptiveThinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheMark | None = None


class MessagesCall(PromptShape):
    max_tokens: int = Field(ge=1, le=LONGEST_ANSWER)
    stream: bool = False
    stop_sequences: Annotated[list[str], FIRST] | None = None
