"""The changes' labels, proven without any gate: `python -m bench.gate_verify [--held] [ID ...]`, after a change.

`--held`: those of the held part. A right one leaves no test red that was not, and the test that a bug fix brings is red
without it. Of a wrong one the truth fails; it passes on the sample as it was, or once the change is mended.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from bench.gate_case import CASES, HELD, ROOT, TRUTH, GateCase, cases, edited, filled, sample
from bench.gate_place import NEEDED, wheels
from sisimpur.shared.model.evidence import is_test_file
from tests.repositories import write

PLACE = ROOT / ".state" / "bench-verify"  # a Python with what the samples' tests need
OPTIONS = ("-q", "-rfE", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def complaints(case: GateCase) -> Iterator[str]:
    """What is not as the label says."""
    before = case.base(sample(case.sample))
    after = case.changed(before)
    if case.label == "wrong":
        if not red(after, case.truth):
            yield "the truth passes on a wrong change"
        if red(edited(after, case.mend) if case.mend else before, case.truth):
            yield "the truth fails on what is right"
        return
    base = red(before) if case.before else reds_of(case.sample)
    if new := red(after) - base:
        yield f"red: {sorted(new)}"
    if case.truth and red(after, case.truth):
        yield "the truth fails on a right change"
    if case.tester and red(after, case.tester):
        yield "the tester's test fails on a right change"
    tests = {path: text for path, text in after.items() if is_test_file(path)}
    if "bug fix" in case.way and not red({**before, **tests}) - base:
        yield "the fix's test is green without it"


@cache
def reds_of(name: str) -> frozenset[str]:
    return red(sample(name))


def red(files: Mapping[str, str], truth: str = "") -> frozenset[str]:
    """The tests that fail, of the truth alone if there is one. What ends the run early does not make it green."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), {**files, TRUTH: filled(truth)} if truth else files)
        argv = [str(PLACE / "bin" / "python"), "-u", "-m", "pytest", *OPTIONS, *([TRUTH] if truth else [])]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        found = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        is_green = not found and not done.returncode and " passed" in done.stdout
        return frozenset() if is_green else frozenset(found or ["the run"])


def main(argv: list[str]) -> int:
    """1 if a label is not proven."""
    ids = [word for word in argv if not word.startswith("--")]
    found = list(cases(ids, HELD if "--held" in argv else CASES))
    wanted = [case for case in found if case.truth or case.label == "right"]
    if not PLACE.is_dir():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True)
        packages = ["--no-index", "--find-links", str(wheels())]
        subprocess.run([str(PLACE / "bin" / "python"), "-m", "pip", "install", "-q", *packages, *NEEDED], check=True)
    base = {name: reds_of(name) for name in {case.sample for case in wanted}}
    with ThreadPoolExecutor(2) as pool:
        unproven = 0
        for case, said in zip(wanted, pool.map(lambda case: list(complaints(case)), wanted), strict=True):
            unproven += bool(said)
            for one in said:
                print(f"{case.id}: {one}", flush=True)
    untold, reds = len(found) - len(wanted), sum(map(len, base.values()))
    print(f"{len(wanted)} labels, {unproven} not proven, {untold} without a truth; red before: {reds} tests")
    return int(unproven > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
