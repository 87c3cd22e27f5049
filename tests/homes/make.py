"""Makes the home that tests/journey/test_old_homes.py opens: python -m tests.homes.make

Run it once for each version, with that version's program, and commit the folder that it makes: tests/homes/<version>.
A home of an earlier version is never made again: it is what people have.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from pathlib import Path

from sisimpur.shared.money.ledger import OwnerAdjustments
from sisimpur.shared.money.token_budget import dollars
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.homes.frozen import freeze
from tests.homes.story import GREETING, LAMP, begun, script, staged
from tests.journey.stage import Stage
from tests.killing import finishes, killed_at

HOMES = Path(__file__).parent
THE_CODER_ASKS = "llm.sent#6"  # after the orchestrator's call, the researcher's two and the planner's two
IT_IS_MADE = "pr.created"  # the pull request stands, its intent is still open


def main() -> int:
    """The version's home replaces one of the same version."""
    version = tomllib.loads((HOMES.parents[1] / "pyproject.toml").read_text())["project"]["version"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "owner"
        root.mkdir()
        live(root)
        freeze(root, HOMES / version)
    sys.stdout.write(f"{HOMES / version}\n")
    return 0


def live(root: Path) -> None:
    """A day with a crash, an evening of the owner's, and half a day."""
    with ScriptedModel(script()) as model:
        begun(root, model.url)
        day = [sys.executable, "-m", "tests.homes.story", str(root), model.url]
        killed_at(THE_CODER_ASKS, [*day, "0"])
        finishes([*day, "0.1"])
        evening(staged(root, model.url, 0.5))
        killed_at(IT_IS_MADE, [*day, "1"])


def evening(stage: Stage) -> None:
    """The owner lowers what was lost, raises a cap, puts a goal off, and drops a task."""
    with stage.records() as records:
        ledger, now = records.ledger, stage.clock.now()
        (lost,) = ledger.reader.lost_calls()
        OwnerAdjustments(ledger._db).write_off(lost.number, dollars("0.001"), "the bill of that day says so", now)
        OwnerAdjustments(ledger._db).raise_cap(dollars("6.5"), records.settings.policy.budget.caps, "a large goal", now)
    lines = stage.home.roadmap.read_text().splitlines()
    (lamp,) = [line for line in lines if f"`{LAMP}`" in line]
    lines.remove(lamp)
    stage.home.roadmap.write_text("\n".join([*lines, "", lamp, ""]))
    (stage.home.root / "tasks" / "backlog" / "greeting.md").write_text(GREETING)


if __name__ == "__main__":
    sys.exit(main())
