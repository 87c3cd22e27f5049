"""What every part of the configuration is: a frozen value that knows all its keys, each with a sentence about it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SettingsPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)
