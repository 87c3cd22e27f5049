"""How many layouts are measured without a line by hand. `python -m bench.layouts [--only WORD] [--keep FOLDER]`.

Each sample is built, `init` makes a home for it, and the tests of its newest commit run in the real box, with an
environment made as the team makes it. It counts only if as many tests pass as the sample is known to have.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.layouts.samples import SAMPLES, Sample
from sisimpur.agents.qa.agent import Qa, QaPolicy
from sisimpur.cli.setup.folders import ROOT, UV
from sisimpur.cli.wiring.forge import at_home
from sisimpur.cli.wiring.records import open_records
from sisimpur.cli.wiring.workshop import BoxWorkshop
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.evidence import SuiteRun
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Run
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.process import run
from tests.repositories import ENVIRONMENT, commit, repository

GOAL = 12  # of the thirteen
LONGEST = 160  # characters of why one does not count


class Unkept:
    """No run of the base is kept: each sample is measured once."""

    def base_run(self, _key: str) -> SuiteRun | None:
        return None

    def keep_base_run(self, _key: str, _run: SuiteRun) -> None: ...

    keep_run = keep_base_run


def main(words: Sequence[str]) -> int:
    """Print a table; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.layouts")
    parser.add_argument("--only", default="", metavar="WORD", help="the samples whose layout has this word")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave samples and homes here")
    asked = parser.parse_args(words)
    samples = [sample for sample in SAMPLES if asked.only in sample.layout]
    good = 0
    print(f"{'layout':<42}{'known':>6}{'passed':>8}{'seconds':>9}  modelled on, or why not", flush=True)
    with tempfile.TemporaryDirectory(prefix="layouts-") as folder:
        for number, sample in enumerate(samples):
            began = time.monotonic()
            passed, why = measured(sample, (asked.keep or Path(folder)) / str(number))
            good += passed == sample.tests and not why
            told = one_line(why, LONGEST) or sample.model or "made up"
            seconds = time.monotonic() - began
            print(f"{sample.layout:<42}{sample.tests:>6}{passed:>8}{seconds:>9.0f}  {told}", flush=True)
    print(f"\n{good} of {len(samples)} layouts are measured without a line by hand", flush=True)
    return 0 if good >= min(GOAL, len(samples)) else 1


def measured(sample: Sample, place: Path) -> tuple[int, str]:
    """How many tests passed, and what went wrong."""
    build(sample, place / "target")
    words = (sys.executable, str(ROOT / "main.py"), "--home", str(place / "home"), "init", "--target")
    done = run((*words, str(place / "target")), env=ENVIRONMENT, timeout=120)
    if not done.ok:
        return 0, f"init: {done.complaint}"
    try:
        found = base_run(place / "home")
    except TeamError as problem:
        return 0, str(problem)
    passed = len(found.of("passed"))
    return passed, "" if found.is_whole and passed == sample.tests else f"{found.end}: {found.output[-400:]}"


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
            policy = QaPolicy(target.test, 1.0, target.tests)
            qa = Qa(workshop.bench(code.mirror), code.mirror, Unkept(), policy, log)
            return qa.base(Run(0, "qa", "2026-01-01"), code.sync())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
