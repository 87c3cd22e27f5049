"""How many layouts go from `init` to a merged change without a line by hand. `python -m bench.layouts [--only WORD]`.

Each sample is built, `init` makes a home for it, the tests of its newest commit run in the real box, in an environment
made as the team makes it, and a day with one small goal is run; only the model is scripted. A sample counts only if as
many tests pass as it is known to have, and if the change is merged.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.layouts.first_merge import merged
from bench.layouts.samples import SAMPLES, Sample
from sisimpur.agents.qa.agent import Qa, QaPolicy
from sisimpur.cli.setup.folders import ROOT, UV
from sisimpur.cli.wiring.forge import at_home
from sisimpur.cli.wiring.records import open_records
from sisimpur.cli.wiring.workshop import BoxWorkshop, roots_of
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Run
from sisimpur.shared.store.gate_book import BaseRuns
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import run
from tests.repositories import ENVIRONMENT, commit, repository

GOAL = 12  # of the thirteen
MAIN = (sys.executable, str(ROOT / "main.py"))
LONGEST = 160  # characters of why one does not count


def main(words: Sequence[str]) -> int:
    """Print a table; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.layouts")
    parser.add_argument("--only", default="", metavar="WORD", help="the samples whose layout has this word")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave samples and homes here")
    asked = parser.parse_args(words)
    samples = [sample for sample in SAMPLES if asked.only in sample.layout]
    good = 0
    head = f"{'layout':<42}{'known':>6}{'passed':>8}{'doctor s':>10}{'day s':>7}  modelled on, or why not"
    print(head, flush=True)
    with tempfile.TemporaryDirectory(prefix="layouts-") as folder:
        for number, sample in enumerate(samples):
            tried = layout(sample, (asked.keep or Path(folder)) / str(number))
            good += not tried.why
            told = one_line(tried.why, LONGEST) or sample.model or "made up"
            figures = f"{sample.tests:>6}{tried.passed:>8}{tried.measured_s:>10.0f}{tried.day_s:>7.0f}"
            print(f"{sample.layout:<42}{figures}  {told}", flush=True)
    print(f"\n{good} of {len(samples)} layouts go from init to a merged change without a line by hand", flush=True)
    return 0 if good >= min(GOAL, len(samples)) else 1


@dataclass(frozen=True)
class Tried:
    """How many tests passed, how long `init` with the first run and the day took, and why it does not count."""

    passed: int = 0
    measured_s: float = 0
    day_s: float = 0
    why: str = ""


def layout(sample: Sample, place: Path) -> Tried:
    """One sample, from its files to its first merge."""
    build(sample, place / "target")
    began = time.monotonic()
    try:
        init = (*MAIN, "--home", str(place / "home"), "init", "--target", str(place / "target"))
        done = run(init, env=ENVIRONMENT, timeout=120)
        if not done.ok:
            return Tried(why=f"init: {done.complaint}")
        found = base_run(place / "home")
        passed, measured_s = len(found.of("passed")), time.monotonic() - began
        if not found.is_whole or passed != sample.tests:
            return Tried(passed, measured_s, why=f"{found.end}: {found.output[-400:]}")
        why = merged(Home(place / "home"), sample)
    except TeamError as problem:
        return Tried(why=str(problem))
    return Tried(passed, measured_s, time.monotonic() - began - measured_s, why)


def build(sample: Sample, folder: Path) -> None:
    """Make its repository: its files, what its own tools write, and a second commit as an owner's day has it."""
    repository(folder, sample.files)
    for line in sample.prepare:
        env = {**ENVIRONMENT, "HOME": str(Path.home()), "UV_PYTHON": sys.executable, "UV_SYSTEM_CERTS": "1"}
        done = run(("sh", "-c", line.format(uv=UV)), cwd=folder, env=env, timeout=600)
        assert done.ok, f"{line}: {done.complaint}"
    commit(folder, {})


def base_run(home: Path) -> SuiteRun:
    """Run the tests of the newest commit as QA does before a change."""
    with open_records(home, {}) as records:
        workshop = BoxWorkshop(records, lambda _line: None)
        with (
            closing(at_home(records.home, records.settings, records.clock, lambda _line: None)) as code,
            closing(workshop),
        ):
            target = records.settings.target.file
            log = Log(records.home.logs, records.clock, lambda text: text)
            policy = QaPolicy(target.test, 1.0, target.tests, roots_of(target))
            runs = BaseRuns(records.gates, records.clock)  # the day needs no second run of it
            qa = Qa(workshop.bench(code.mirror), code.mirror, runs, policy, log)
            return qa.base(Run(0, "qa", "2026-01-01"), code.sync())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
