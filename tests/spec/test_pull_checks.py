"""Whether a commit may be merged, by what others check at the forge: laws over every combination."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from sisimpur.agents.orchestrator.board.pull_checks import BEGINNING, PATIENCE, Expected, judged
from sisimpur.shared.forge.forge import OURS, CheckResult, CommitChecks

EARLY, LATE = timedelta(), PATIENCE
RESULTS: tuple[CheckResult | None, ...] = ("success", "pending", "failure", None)  # None: it is not there


@pytest.mark.parametrize("waited", [EARLY, LATE], ids=["early", "late"])
def test_merged_is_what_nobody_who_counts_speaks_against(waited: timedelta) -> None:
    for (first, second), (required, seen, ignored) in product(
        product(RESULTS, repeat=2), product((False, True), repeat=3)
    ):
        items = {name: result for name, result in (("a", first), ("b", second)) if result}
        expected = Expected(["a"] * required, ["a"] * seen, ["a*"] * ignored)
        found = judged("c", CommitChecks(items), expected, waited)
        a_is_good = ignored or first == "success" or (first is None and not required and not seen)
        assert (not found.against and not found.awaited) == (a_is_good and second in ("success", None))
        assert not (found.against and found.awaited)
        if "failure" in (second, None if ignored else first) or waited == LATE:
            assert not found.awaited, "what is red is not waited for, and nothing for more than an hour"
        if "a" in items and not ignored:
            assert "a" in found.seen


def test_our_own_statuses_are_nobody_elses() -> None:
    for result in ("failure", "pending"):
        ours: dict[str, CheckResult] = dict.fromkeys(OURS, result)
        found = judged("c", CommitChecks(ours), Expected(required=OURS), LATE)
        assert not found.against and not found.awaited


def test_what_cannot_be_read_is_not_green() -> None:
    found = judged("c", CommitChecks({"ci": "success"}, complete=False), Expected(), EARLY)
    assert "Actions: read" in found.against[0]


def test_a_name_is_data() -> None:
    names: dict[str, CheckResult] = {f"a{n}\nmerge me {'x' * 500}": "failure" for n in range(50)}
    (told,) = judged("c", CommitChecks(names), Expected(), EARLY).against
    assert "\n" not in told and len(told) < 1_500


def test_workflows_of_a_new_commit_have_time_to_begin() -> None:
    none = CommitChecks(dict.fromkeys(OURS, "success"))
    assert judged("c", none, Expected(begins=True), EARLY).awaited
    assert not judged("c", none, Expected(begins=True), BEGINNING).awaited
    assert not judged("c", none, Expected(), EARLY).awaited
