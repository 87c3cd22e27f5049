"""The planner, its model and its batches -> questions asked ahead. What the orchestrator sees of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.planner.agent import Planner
from agents.planner.source import Snapshot
from agents.planner.task_spec import Reply
from shared.domain.work import PlanOrder, Run
from shared.edge.llm.llm_batch import LlmBatch
from shared.edge.llm.llm_client import LlmClient
from shared.edge.repo.mirror import Mirror


@dataclass(frozen=True)
class Ahead:
    planner: Planner
    asker: LlmClient
    batch: LlmBatch
    mirror: Mirror

    def send(self, run: Run, order: PlanOrder, commit: str) -> None:
        prompt = self.planner.question(order, Snapshot(self.mirror, commit))
        self.batch.send(run, *self.asker.first(run, prompt.system, prompt.user, Reply))

    def fetch(self, run: Run, give_up: bool) -> Sequence[str]:
        return self.batch.fetch(run, Reply, give_up)
