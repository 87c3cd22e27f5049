"""Prompt tokens of a small task, the whole team's: a day with six. `python -m bench.tokens`.

The prompts are real: Aider's own, in its sandbox, with that of every role. Answers and tests are scripted. A token is
four bytes, as the scripted model counts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sisimpur.cli.wiring.records import Records
from sisimpur.cli.wiring.team import open_team
from sisimpur.cli.wiring.workshop import BoxWorkshop
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.edges.engine_bench import block
from tests.journey import rooms
from tests.journey.stage import HOLDS, ScriptedWorkshop, Stage

TASKS = 6
GOAL = 4_000


def main() -> int:
    found = by_role()
    for role, tokens in found.most_common():
        print(f"{tokens / TASKS:8,.0f} {role}")
    each = found.total() / TASKS
    print(f"{each:8,.0f} tokens in per task   goal {GOAL:,}: {'met' if each <= GOAL else 'MISSED'}")
    return int(each > GOAL)


def by_role() -> Counter[str]:
    """Who asked -> tokens of all prompts of the day."""
    script: list[dict[str, Any]] = [*codes(TASKS), HOLDS | {"times": "any"}, *rooms.script(*rooms.tasks(TASKS))]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(script) as model:
        stage = Stage(Path(folder), model.url, tests=rooms.outcomes(frozenset(), []))
        stage.set_up(rooms.vision(TASKS), rooms.files(TASKS))
        stage.given_config("policy", capacity=f"{{parallel: 1, tasks_per_day: {TASKS}}}", goals="{read: true}")
        with stage.records() as records, open_team(records, stage.said.append, _workshop_of(stage)) as team:
            team.run_day()
            assert team.problems == []
        assert [pull.state for pull in stage.pulls()] == ["merged"] * TASKS
    found: Counter[str] = Counter()
    for request in model.requests:
        found[request.agent] += sum(_read(request.usage))
    return found


def _read(usage: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(usage[f"{kind}input_tokens"] for kind in ("", "cache_creation_", "cache_read_"))


def codes(count: int, delay: float = 0) -> list[dict[str, Any]]:
    """What Aider's model answers, a step for each room."""
    steps: list[dict[str, Any]] = []
    for n in range(count):
        test = block(f"tests/test_room{n}.py", "", f"import room{n}\n\n\ndef test():\n    assert room{n}.NUMBER == 1\n")
        text = block(f"room{n}.py", "NUMBER = 0\n", "NUMBER = 1\n") + test
        when = {"user": f"Set room {n}\\b"}
        steps.append({"agent": "engine", "when": when, "times": "any", "text": text, "delay": delay})
    return steps


def _workshop_of(stage: Stage) -> Callable[[Records, Callable[[str], None], Callable[[], bool]], EngineWorkshop]:
    def make(records: Records, say: Callable[[str], None], stop: Callable[[], bool]) -> EngineWorkshop:
        scripted = ScriptedWorkshop(stage, records.home.meter_socket, lambda: None)
        return EngineWorkshop(scripted, BoxWorkshop(records, say, stop))

    return make


class EngineWorkshop:
    """The real engine in its box; tests and linter are the story's."""

    def __init__(self, scripted: ScriptedWorkshop, real: BoxWorkshop) -> None:
        self.engine, self.close = real.engine, real.close
        self.bench, self.prepare = scripted.bench, scripted.prepare
        self.linter, self.tools, self.formats = scripted.linter, scripted.tools, scripted.formats


if __name__ == "__main__":
    raise SystemExit(main())
