"""Labelled changes through the real gates, with a model that approves of everything.

`python -m bench.gates [--held] [--prompts=FOLDER] [ID ...]`. `--held`: the part that nobody looks at who works on the
rules, and no names. `--prompts`: the reviewer's prompts, without names, for who plays it; key.json has the labels.
For each change of bench/gate_cases: a repository, a mirror, a commit (or the committer's refusal), the tests in boxes,
the reviewer's rules, the merge policy. What is merged here is what only a model's review, or a person, could stop.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bench.gate_case import CASES, HELD, HELD_SAMPLES, SAMPLES, GateCase, cases
from bench.gate_place import Place, nameless, wheels
from sisimpur.shared.model import gate
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import NO_LINES, ChangesRequested, Escalated, rules
from sisimpur.shared.model.gate import ReviewState, next_step
from sisimpur.shared.model.work import Branch, Policy, Run
from sisimpur.shared.sandbox.box import find_box

GOAL = 0.9  # of the right changes end as they should; of the wrong ones nothing is merged that was not foreseen
AFTER_QA = "after QA's test"
COLUMNS = ("merged", AFTER_QA, "owner", "tests", "rules", "scope")

End = Literal["merged", "owner", "sent back"]


@dataclass(frozen=True)
class Result:
    """What became of a case. `by`: the gate that stopped it, or how it came through.

    `own`: seconds of the gates besides the tests' own. `faults`: runs of a few tests with a small fault planted, which
    are no runs of the suite, though in `tests`.
    """

    case: GateCase
    end: End
    by: str = ""
    why: str = ""
    own: float = 0.0
    tests: float = 0.0
    runs: int = 0
    faults: int = 0

    @property
    def is_through(self) -> bool:
        """A right change that ended as it should."""
        return self.end == "merged" or self.is_the_owners

    @property
    def is_the_owners(self) -> bool:
        """By design: no gate can tell, or may decide, and the case says so."""
        return self.end == "owner" and self.case.expect == "policy/owner"

    @property
    def is_surprise(self) -> bool:
        if self.case.label == "right":
            return not self.is_through
        return self.end == "merged" and self.case.expect != "only a model's review"


# --- through the gates ------------------------------------------------------------------------------------------


def judged(case: GateCase, place: Place) -> Result:
    """As the orchestrator would go on with it, until it is merged, sent back or the owner's.

    Where QA would be asked to write tests, it writes the one that is laid beside the case, or none: then what follows
    is what the tests at hand can show.
    """
    began = time.perf_counter()
    place.watch.restart()
    try:
        branch = place.commit(case)
    except Refused as reason:
        return Result(case, "sent back", "scope", str(reason), time.perf_counter() - began)
    took = time.perf_counter() - began
    place.install(branch.commit)
    began = time.perf_counter()
    result = _through(case, branch, place)
    took += time.perf_counter() - began
    watch = place.watch
    return replace(result, own=took - watch.seconds, tests=watch.seconds, runs=watch.runs, faults=watch.faults)


def _through(change: GateCase, branch: Branch, place: Place) -> Result:
    run, task = Run(1, "qa", "2026-01-01", change.id, 1), change.spec
    found, written, unrun = _submitted(branch, place), "", NO_LINES
    while True:
        match next_step(found, Policy()):
            case gate.RunTests():
                found = replace(found, evidence=place.qa.check(run, task, branch, [written] if written else (), unrun))
            case gate.Judge() if found.evidence:
                found = replace(found, reviewed=place.reviewer.review(run, task, branch, found.evidence))
            case gate.SendBack(wants_tests=True) if found.evidence and change.tester:
                unrun = found.evidence.uncovered
                written = place.qa.tests_for(task, branch, found.evidence).new_files[0]
                branch = place.commit(change, {written: change.tester})
                found = replace(_submitted(branch, place), writing=gate.Writing(gate.MOST_WRITING))
            case gate.SendBack(wants_tests=True):
                found = replace(found, writing=gate.Writing(gate.MOST_WRITING))
            case gate.SendBack(by="tests"):
                return Result(change, "sent back", "tests", _broken(found))
            case gate.SendBack():
                return Result(change, "sent back", "rules", _broken(found))
            case gate.AskOwner():
                return Result(change, "owner", _asker(found), _broken(found))
            case gate.Merge():
                return Result(change, "merged", AFTER_QA if written else "")
            case step:
                raise AssertionError(f"{task.id}: {step}")


def _submitted(branch: Branch, place: Place) -> ReviewState:
    return ReviewState(branch.commit, "", True, place.watch.quality == "full", True, protected=branch.protected)


def _asker(found: ReviewState) -> str:
    """Which gate it is that asks the owner."""
    if found.protected or (found.evidence and found.evidence.needing("ask owner")):
        return "policy/owner"
    return "rules" if found.reviewed and isinstance(found.reviewed.verdict, Escalated) else "tests"


def _broken(found: ReviewState) -> str:
    """The rules that speak against it, each once."""
    said = list(rules(found.evidence.problems)) if found.evidence else []
    if found.reviewed and isinstance(found.reviewed.verdict, ChangesRequested | Escalated):
        said += [one.rule for one in found.reviewed.verdict.findings if one.severity.rank > 0]
    if found.protected:
        said.append(f"protected: {', '.join(found.protected)}")
    return "; ".join(dict.fromkeys(said))


# --- the report ----------------------------------------------------------------------------------------------


def main(argv: Sequence[str] = ()) -> int:
    """Prints tables; 1 if a goal is missed. Of the held part nothing is said that names a case."""
    held, ids = "--held" in argv, [word for word in argv if not word.startswith("--")]
    prompts = next((Path(word.partition("=")[2]) for word in argv if word.startswith("--prompts=")), None)
    results = []
    if prompts:
        prompts.mkdir(parents=True)
    if not held:
        print(f"{'case':<30}{'is':<7}{'ends':<11}{'by':<16}{'own s':>6}{'tests s/runs':>12}  because")
    with tempfile.TemporaryDirectory() as folder:
        box = find_box(Path(folder) / "box")
        for name in HELD_SAMPLES if held else SAMPLES:
            wanted = [case for case in cases(ids, HELD if held else CASES) if case.sample == name]
            place = Place(name, Path(folder) / name, box, wheels()) if wanted else None
            for case in wanted:
                assert place
                own = Place(name, Path(folder) / case.id, box, wheels(), case.before) if case.before else place
                own.model.prompts = prompts
                results.append(judged(case, own))
                if not held:
                    print(row(results[-1]), flush=True)
    if prompts:
        key = {nameless(one.case.id): (one.case.id, one.case.label, one.case.way, one.end) for one in results}
        (prompts / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    return report(results, names=not held)


def row(one: Result) -> str:
    mark = "  <- !" if one.is_surprise else ""
    times = f"{one.own:>6.1f}{one.tests:>6.1f}/{f'{one.runs}+{one.faults}':<5}"
    return f"{one.case.id:<30}{one.case.label:<7}{one.end:<11}{one.by:<16}{times}  {one.why[:120]}{mark}"


def report(results: Sequence[Result], names: bool = True) -> int:
    """Per way, a table for each label, then the sums. 1 if a goal is missed."""
    for label in ("right", "wrong"):
        print(f"\n{label:<48}{'merged':>7}{'by QA':>7}{'owner':>7}{'tests':>7}{'rules':>7}{'scope':>7}")
        of_label = [one for one in results if one.case.label == label]
        for way in [*sorted({one.case.way for one in of_label}), "together"]:
            counts = Counter(_column(one) for one in of_label if way in (one.case.way, "together"))
            print(f"{way:<48}" + "".join(f"{counts[column] or '':>7}" for column in COLUMNS))
    rights = [one for one in results if one.case.label == "right"]
    wrongs = [one for one in results if one.case.label == "wrong"]
    through = sum(one.is_through for one in rights)
    stopped = sum(one.end != "merged" for one in wrongs)
    back = sum(one.end == "sent back" for one in rights)
    needlessly = len(rights) - through - back
    print(f"\nright changes through: {through} of {len(rights)}")
    counts = Counter("owner" if one.is_the_owners else _column(one) for one in rights if one.is_through)
    for column, words in (
        (("merged"), "merged"),
        (AFTER_QA, f"merged, {AFTER_QA}"),
        ("owner", "the owner's, by design"),
    ):
        print(f"  {words}: {counts[column]}")
    print(f"right changes that needlessly ask the owner: {needlessly}; that are sent back: {back}")
    print(f"wrong changes stopped without a model: {stopped} of {len(wrongs)}")
    if names:
        _list("only a model's review can stop", (one for one in wrongs if one.end == "merged"))
        _list("right, but stopped", (one for one in rights if not one.is_through))
        _list("the owner's, by design", (one for one in rights if one.is_the_owners))
    tested = [one for one in results if one.runs]
    own, tests = (sum(times) / len(tested or [1]) for times in ([t.own for t in tested], [t.tests for t in tested]))
    print(f"per case that was tested: gates {own:.1f} s beside {tests:.1f} s of tests")
    missed = any(one.is_surprise for one in wrongs) or through < GOAL * len(rights)
    verdict = "MISSED" if missed else "met"
    print(f"goal: {GOAL:.0%} of the right ones through, no wrong one merged but as foreseen: {verdict}")
    return int(missed)


def _column(one: Result) -> str:
    if one.end == "merged":
        return one.by or "merged"
    return one.end if one.end == "owner" else one.by


def _list(title: str, found: Iterable[Result]) -> None:
    for one in found:
        print(f"  {title}: {one.case.id}: {one.case.why if one.end == 'merged' else one.why}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
