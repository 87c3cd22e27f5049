"""What the owner says of upkeep: `upkeep` of config/policy.yaml. What nobody asked for, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from shared.config.settings_part import SettingsPart

FINE = 10_000  # a share is counted in so many parts: a float never touches an amount


class UpkeepSettings(SettingsPart):
    tasks: int = Field(strict=True, default=1, ge=0, le=10)
    """How many tasks the team may propose per day when you want nothing else; 0: none."""
    share: float = Field(default=0.2, ge=0, le=1)
    """The most of budget.day that all such tasks together may take, 0: none; `raise-cap` does not raise it."""
    open: int = Field(strict=True, default=2, ge=1, le=50)
    """How many such tasks may be under way or wait for you."""

    def cap(self, day: int) -> int:
        """Of a day's cap, both in nano-dollars."""
        return day * round(self.share * FINE) // FINE

    def rules(self, day: int) -> UpkeepRules:
        return UpkeepRules(self.tasks, self.open, self.cap(day))


@dataclass(frozen=True)
class UpkeepRules:
    """The owner's (config/policy.yaml, `upkeep`)."""

    tasks: int = 1  # proposed per day; 0: none
    open: int = 2  # that may be under way or wait for him
    share: int = 0  # nano-dollars of a day, for all of them together; 0: nothing is proposed

    @property
    def is_on(self) -> bool:
        return self.tasks > 0 and self.share > 0
