"""Steps of a script, and what they may hold: docs/scripting-a-day.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class ErrorBody:
    """What stands in `error` of an error answer. An empty type or message: what the API says for that status."""

    type: str = ""
    message: str = ""
    details: Mapping[str, Any] | None = None
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class MidStreamError:
    """An error event after `after` events of a stream that had begun well."""

    type: str = "overloaded_error"
    message: str = "Overloaded"
    after: int = 3
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class When:
    """Conditions on a request. Regular expressions are searched for; `schema` is the form's title or a property."""

    system: re.Pattern[str] | None = None
    user: re.Pattern[str] | None = None  # the last user message
    model: re.Pattern[str] | None = None
    schema: str = ""
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class TextBlock:
    type: Literal["text"]
    text: str
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class ThinkingBlock:
    type: Literal["thinking"]
    thinking: str
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True)
class ToolUseBlock:
    type: Literal["tool_use"]
    name: str
    input: Mapping[str, Any]
    __pydantic_config__: ClassVar[ConfigDict] = STRICT


Block = TextBlock | ThinkingBlock | ToolUseBlock


@dataclass(frozen=True)
class Step:
    """One answer: whom it answers, what it says, and what goes wrong on the way."""

    # whom
    agent: str = ""
    task: re.Pattern[str] | None = None
    when: When = When()
    call: int = 0  # 1: the first call of its rule; 0: the next free one
    times: int | Literal["any"] = 1
    # what
    text: str | None = None
    text_file: str = ""
    json: dict[str, Any] | list[Any] | None = None
    blocks: tuple[Block, ...] = ()
    stop_reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    # faults
    status: int = 200
    error: ErrorBody | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds before the answer begins
    gap: float = 0.0  # seconds between two events of a stream
    drop: str = ""  # "before", or "after N" events
    error_event: MidStreamError | None = None
    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise ValueError(problem)

    @property
    def content(self) -> tuple[Block, ...]:
        if self.json is not None:
            return (TextBlock("text", json.dumps(self.json, ensure_ascii=False)),)
        return self.blocks if self.text is None else (TextBlock("text", self.text),)

    @property
    def cut_after(self) -> int | None:
        """Events that are sent before the connection breaks; None: all of them."""
        return int(self.drop.removeprefix("after ")) if self.drop.startswith("after ") else None

    @property
    def conditions(self) -> tuple[Any, ...]:
        when = self.when
        return (self.agent.lower(), self.task, when.system, when.user, when.model, when.schema)


def _problems(step: Step) -> Iterator[str]:
    kinds = [step.text is not None, bool(step.text_file), step.json is not None, bool(step.blocks)]
    silent = step.status != 200 or step.stop_reason or step.drop == "before"
    if sum(kinds) > 1:
        yield "give one of text, text_file, json and blocks"
    if not any(kinds) and not silent:
        yield "give an answer: text, text_file, json or blocks (or a status that is an error)"
    if step.status != 200 and not 400 <= step.status <= 599:
        yield "status must lie between 400 and 599"
    if step.error and step.status == 200:
        yield "an error needs a status"
    if step.drop and not re.fullmatch(r"before|after \d{1,4}", step.drop):
        yield "drop must be 'before' or 'after N'"
    if step.call < 0 or (step.times != "any" and not 1 <= step.times <= 1_000):
        yield "call and times count from 1 (times at most 1000, or 'any')"
    if step.call and step.times != 1:
        yield "a step with call answers once; leave times out"
    if not (0 <= step.delay <= 3600 and 0 <= step.gap <= 60):
        yield "delay must lie between 0 and 3600 seconds, gap between 0 and 60"


@dataclass(frozen=True)
class PlacedStep(Step):
    """A step that knows where it stands: `day.yaml:12`."""

    where: str = ""
