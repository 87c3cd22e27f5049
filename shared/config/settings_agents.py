"""Settings of agents: config/agents.yaml. Which model each asks, and how the engine runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import pydantic
from pydantic import Field

from sisimpur.shared.config.settings_part import BY_HAND, Dollars, ModelId, SettingsPart

if TYPE_CHECKING:  # who asks no model loads no words of the flow
    from sisimpur.shared.model.work import ModelChoice


class EngineModel(SettingsPart):
    model: ModelId
    """The model's id at the vendor."""
    effort: Literal["", "low", "medium", "high"] = "medium"
    """How much the model thinks; empty: its default."""
    max_tokens: int = Field(strict=True, default=8_000, ge=256, le=64_000)
    """The longest answer, in tokens. It is reserved at full price before each call: keep it honest."""

    @property
    def choice(self) -> ModelChoice:
        return self._with(())

    def _with(self, fallback: tuple[str, ...]) -> ModelChoice:
        from sisimpur.shared.model.work import ModelChoice

        return ModelChoice(self.model, fallback, self.effort, self.max_tokens)


class AgentModel(EngineModel):
    fallback: tuple[ModelId, ...] = Field(default=(), max_length=4)
    """Tried in order when the model is gone, overloaded or refuses."""

    @property
    def choice(self) -> ModelChoice:
        return self._with(self.fallback)


class PlannerModel(AgentModel):
    ahead: bool | None = Field(strict=True, default=None, json_schema_extra=BY_HAND)
    """Has no effect any more: it asked for the next day's planning in the evening. Leave it out."""


class CoderModel(EngineModel):
    easy: ModelId | None = None
    """A cheaper model for the first try at each easy task, while that pays; without it: none."""

    @pydantic.model_validator(mode="after")
    def _is_another(self) -> CoderModel:
        if self.easy == self.model:
            raise ValueError("easy names the same model; name a cheaper one, or leave it out")
        return self


class EngineSettings(SettingsPart):
    launcher: Literal["warm", "shim", "plain"] = Field(default="warm", json_schema_extra=BY_HAND)
    """How Aider is started: with our policy, once for many tasks (warm) or for each (shim); or by its plain command."""
    minutes: float = Field(default=10, gt=0, le=60)
    """The longest run on one task."""
    calls: int = Field(strict=True, default=12, ge=1, le=100)
    """The most model calls in one run."""
    stall_minutes: float = Field(default=1, gt=0, le=60)
    """Minutes without output, file change, model call or work of a processor after which a run is ended."""
    patience: float = Field(default=120, ge=0, le=240)
    """Seconds that one model call may wait while the model is busy or away."""
    python: str = ""
    """The interpreter of Aider's environment; empty: the one that `make setup` built."""


class Price(SettingsPart):
    input: Dollars
    """Dollars per million input tokens."""
    output: Dollars
    """Dollars per million output tokens."""


class AgentsFile(SettingsPart):
    orchestrator: AgentModel
    """Reads the vision where the grammar cannot."""
    planner: PlannerModel
    """Turns goals into tasks."""
    reviewer: AgentModel
    """Reads what the coder wrote before it is merged."""
    researcher: AgentModel | None = None
    """Looks up on the web what stands below Ideas; without it: the planner's model."""
    coder: CoderModel
    """Writes code, through the engine."""
    engine: EngineSettings = EngineSettings()
    """The coding engine."""
    prices: Mapping[ModelId, Price] = Field(default_factory=dict)
    """Prices of models that have no public one, e.g. local models: {input: 0, output: 0}."""

    @property
    def asking(self) -> dict[str, ModelChoice]:
        """Models of each agent that asks one itself; the coder's engine asks for it."""
        agents = {"orchestrator": self.orchestrator, "planner": self.planner, "reviewer": self.reviewer}
        agents["researcher"] = self.researcher or self.planner
        return {name: agent.choice for name, agent in agents.items()}
