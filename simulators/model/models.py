"""Models that the scripted API serves, and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Model:
    """`generation` is the version number as a pair; sizes are in tokens."""

    id: str
    generation: tuple[int, int]
    cacheable: int  # the smallest prefix that is cached
    released: str = "1970-01-01"  # the epoch: unknown, as in the live list
    retires: date | None = None
    max_output: int = 128_000
    context: int = 1_000_000

    def is_served(self, today: date) -> bool:
        return self.retires is None or today < self.retires

    def info(self, today: date) -> dict[str, Any]:
        """Its entry in the list of models."""
        line, *numbers = self.id.removeprefix("claude-").split("-")
        ending = "deprecated" if self.is_served(today) else "retired"
        return {
            "type": "model",
            "id": self.id,
            "display_name": f"Claude {line.title()} {'.'.join(numbers[:2])}",
            "created_at": f"{self.released}T00:00:00Z",
            "lifecycle": ending if self.retires else "active",
            "retires_at": f"{self.retires}T00:00:00Z" if self.retires else None,
            "max_input_tokens": self.context,
            "max_tokens": self.max_output,
        }


def _old(name: str, cacheable: int, retires: date | None = None) -> Model:
    return Model(name, (4, 5), cacheable, retires=retires, max_output=64_000, context=200_000)


MODELS = {
    model.id: model
    for model in (
        Model("claude-haiku-5-5", (5, 5), 4_096, released="2026-10-07"),
        Model("claude-sonnet-5-5", (5, 5), 1_024, released="2026-09-28"),
        Model("claude-opus-5-5", (5, 5), 1_024),
        Model("claude-fable-5-2", (5, 2), 512),
        Model("claude-fable-5-1", (5, 1), 512, released="2026-09-01"),
        Model("claude-fable-5", (5, 0), 512),
        Model("claude-sonnet-5", (5, 0), 1_024),
        Model("claude-opus-5", (5, 0), 512),
        Model("claude-opus-4-8", (4, 8), 1_024),
        Model("claude-opus-4-7", (4, 7), 1_024),
        Model("claude-opus-4-6", (4, 6), 4_096),
        Model("claude-sonnet-4-6", (4, 6), 1_024),
        _old("claude-haiku-4-5", 4_096),
        _old("claude-haiku-4-5-20251001", 4_096),
        _old("claude-opus-4-5", 4_096),
        _old("claude-opus-4-5-20251101", 4_096),
        _old("claude-sonnet-4-5", 1_024, date(2026, 11, 30)),
        _old("claude-sonnet-4-5-20250929", 1_024, date(2026, 11, 30)),
    )
}
