"""The wire in memory brings what the real one brings: answers, errors, and entries in the money book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.wiring.model import Caching, make_client, make_meter
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.llm.llm_client import LlmClient
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import LedgerSavings
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import MemoryClient, MemoryMeter, PlayedModel
from tests.journey.stage import Stage

RUN = Run(1, "planner", "2026-11-20", "", 0)


@dataclass(frozen=True)
class Told:
    text: str


SCRIPTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "an answer": [{"json": {"text": "yes"}}],
    "no JSON, then an answer": [{"text": "hm"}, {"json": {"text": "yes"}}],
    "never an answer": [{"text": "hm", "times": "any"}],
    "too long": [{"text": "x", "stop_reason": "max_tokens", "times": "any"}],
    "refused by the model": [{"text": "no", "stop_reason": "refusal", "times": "any"}],
    "a wrong request": [{"status": 400, "error": {"message": "no such effort"}, "times": "any"}],
    "a wrong key": [{"status": 401, "times": "any"}],
    "too many requests, and no word when to come again": [{"status": 429, "times": "any"}],
    "failing": [{"status": 500, "times": "any"}],
    "failing once": [{"status": 529}, {"json": {"text": "yes"}}],
    "cut before the answer": [{"text": "x", "drop": "before", "times": "any"}],
    "cut within the answer": [{"json": {"text": "x" * 500}, "drop": "after 4", "times": "any"}],
    "an error within the answer": [{"json": {"text": "x" * 500}, "error_event": {"after": 4}, "times": "any"}],
    "no step at all": [{"agent": "nobody", "text": "x"}],
}


def asked(records: Records, is_in_memory: bool) -> object:
    """What comes of a question, and what stands in the book."""
    pricing = Pricing(records.settings.agents.prices)
    caching = Caching(LedgerSavings(records.db, pricing), pricing, records.clock)
    client = make_client(records, caching, 0.0)  # nobody waits for a model that is busy
    if is_in_memory:
        client = MemoryClient(client.ledger, client.replies, client.meter, client.models, client.clock)
    kind: Any = MemoryMeter if is_in_memory else make_meter
    meter: AbstractContextManager[object] = kind(records, pricing, "k", lambda *_: None, lambda _: None)
    with meter:
        outcome = tried(client)
    calls = records.db.rows("select state, status, code, input, output, amount from calls order by rowid")
    return outcome, [tuple(row) for row in calls]


def tried(client: LlmClient) -> object:
    try:
        return client.ask(RUN, "You are the Planner.", "Yes?", Told)
    except TeamError as problem:
        return type(problem), str(problem)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_comes_of_a_question(tmp_path: Path, name: str) -> None:
    seen = []
    for kind in (ScriptedModel, PlayedModel):
        root = tmp_path / kind.__name__
        root.mkdir()
        with kind(SCRIPTS[name]) as model:
            stage = Stage(root, model.url).set_up()
            with stage.records() as records:
                seen.append(asked(records, kind is PlayedModel))
    assert seen[1] == seen[0] and seen[0]
