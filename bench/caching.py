"""What prompt caching saves, and where it loses: questions to the web, runs of Aider. `python -m bench.caching`.

The model is scripted, and keeps and bills prompts as the vendor does. A run of Aider that is sent no answer it can use
asks again in the same run; a correction is a run of its own. It needs the real Aider.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.research import LONG, LONG_ANSWER, WORDS
from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.savings import LedgerSavings, Saved
from sisimpur.shared.sandbox.box import find_box
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.edges.engine_bench import FIX, Bench, bench, block
from tests.journey.gated import FILES
from tests.journey.looked_up import PAGE, QUOTE, VISION, looks, with_web
from tests.journey.stage import Stage, reads

AIDER = Path(__file__).parents[1] / ".venv-aider" / "bin" / "python"
NANO = 1_000_000_000
MISSES = block("app/calc.py", "    return nothing of the kind\n", "    return 0\n")
BACK = block("app/calc.py", "    return a + b\n", "    return a - b\n")
GUIDE = "How sums are made in this shop, in many words. " * 400  # a file that tasks are shown


@dataclass(frozen=True)
class Cost:
    """Nano-dollars, of so many calls."""

    calls: int
    without: int
    marked: int


def main() -> int:
    """Prints a table; 1 if marks lose where they are set."""
    missed = 0
    for name, found in (*questions(), *runs()):
        change = (found.marked - found.without) / found.without
        loses = change > 0 and name in SET
        missed += loses
        told = "marks are set" if name in SET else "marks are set where the ledger says that this is usual"
        print(
            f"{name:<44}{found.calls} calls  without ${found.without / NANO:.5f}  with ${found.marked / NANO:.5f} "
            f"{change:>+7.0%}  {told}{': MISSED' if loses else ''}"
        )
    return int(bool(missed))


# --- questions -----------------------------------------------------------------------------------------------

GREEDY = [looks(2 * n + 1, 2 * n + 2, searches=[f"{n} more", f"{n} again"]) for n in range(4)]
TWO, THREE = "a question, answered in the second turn", "a question, answered in the third turn"
FIVE = "a question, as greedy as it may be"
SET = (TWO, THREE, FIVE)


def questions() -> Iterator[tuple[str, Cost]]:
    yield TWO, question([looks(1, 2)])
    yield THREE, question([looks(1, 2), looks(3)])
    yield FIVE, question(GREEDY)


def question(steps: Sequence[Mapping[str, Any]]) -> Cost:
    """Eight results, long pages."""
    text = f"{QUOTE}. " + WORDS["English"] * (LONG // len(WORDS["English"]))
    found = [{**PAGE, "url": f"{PAGE['url']}/{n}", "text": text} for n in range(8)]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads(), *steps, LONG_ANSWER]) as model:
        stage = with_web(Stage(Path(folder), model.url).set_up(VISION, FILES), *found)
        stage.run_day(until="research")
        with stage.records() as records:
            saved = sum(LedgerSavings(records.db, Pricing()).by_day().values(), Saved()).caching
        asked = [one for one in model.requests if "You are the Researcher" in str(one.body.get("system"))]
    billed = sum(one.billed for one in asked)
    return Cost(len(asked), billed + saved, billed)


# --- runs of the engine --------------------------------------------------------------------------------------


def runs() -> Iterator[tuple[str, Cost]]:
    yield "a run of Aider, right at once", compared([[FIX]])
    yield "a run that has to ask again", compared([[MISSES, FIX]])
    yield "a run and a correction, each right at once", compared([[FIX], [BACK]])
    yield "a run and a correction that both ask again", compared([[MISSES, FIX], [MISSES, BACK]])


def compared(answers: Sequence[Sequence[str]]) -> Cost:
    """The runs go on from one another, within five minutes."""
    (without, calls), (marked, _) = (billed(answers, marks) for marks in (False, True))
    return Cost(calls, without, marked)


def billed(answers: Sequence[Sequence[str]], marks: bool) -> tuple[int, int]:
    with desk([{"text": text} for texts in answers for text in texts]) as (engine, at):
        job = with_guide(at, marks)
        for number in range(len(answers)):
            job = replace(job, message=f"Correct it, round {number}.") if number else job
            run = engine.run(job)
            assert run.end == "edited", run
            job = again(at, job)
        return at.model.billed, len(at.model.requests)


@contextmanager
def desk(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[AiderEngine, Bench]]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        box = find_box(home)
        with bench(box, home, steps) as at:
            yield AiderEngine(box, AIDER, at.meter, home), at


def with_guide(at: Bench, marks: bool) -> EngineJob:
    job = at.job(marks=marks, read=("GUIDE.md",))
    (job.folder / "GUIDE.md").write_text(GUIDE)
    return job


def again(at: Bench, job: EngineJob) -> EngineJob:
    """As a check-out of what it wrote."""
    files = {
        path: (job.folder / path).read_bytes() for path in ("app/calc.py", "app/notes.txt", "README.md", "GUIDE.md")
    }
    return replace(job, folder=at.folder(files))


if __name__ == "__main__":
    raise SystemExit(main())
