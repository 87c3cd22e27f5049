"""The labelled changes of the bench: well-formed, and a few of them through the real gates."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from bench.gate_case import (
    CASES,
    HELD,
    HELD_SAMPLES,
    OUR_KEY,
    SAMPLES,
    SOME_KEY,
    GateCase,
    cases,
    edited,
    filled,
    sample,
)
from bench.gate_place import Place, wheels
from bench.gates import judged
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.sandbox.box import find_box
from sisimpur.shared.system.outgoing import Outgoing

ALL = list(cases())
NAMED = [pytest.param(case, id=case.id) for case in ALL]
FILES = {name: sample(name) for name in SAMPLES}


def test_an_id_is_the_name_of_its_file_and_a_sample_that_of_its_folder() -> None:
    assert [(case.sample, case.id) for case in ALL] == [(p.parent.name, p.stem) for p in sorted(CASES.glob("*/*.yaml"))]
    assert len({case.id for case in ALL}) == len(ALL) >= 40


@pytest.mark.parametrize("label", ["right", "wrong"])
@pytest.mark.parametrize(
    ("name", "enough"), [("booking_service", 5), ("exam_site", 15), ("ledger_lib", 15), ("memoize_lib", 5)]
)
def test_there_are_enough_of_each_label_in_each_sample(name: str, enough: int, label: str) -> None:
    assert sum((case.sample, case.label) == (name, label) for case in ALL) >= enough


@pytest.mark.parametrize("case", NAMED)
def test_a_case_names_its_way_and_what_should_become_of_it(case: GateCase) -> None:
    assert bool(case.kind) == (case.label == "right") != bool(case.wrong_by)
    assert case.why and case.task.title and case.task.description
    through = ("merged", "merged, after QA's test", "policy/owner")
    assert (case.expect in through[:2]) <= (case.label == "right") <= (case.expect in through)


@pytest.mark.parametrize("case", NAMED)
def test_a_test_of_qas_is_laid_where_it_is_expected_and_nowhere_else(case: GateCase) -> None:
    assert bool(case.tester) == (case.expect == "merged, after QA's test")


@pytest.mark.parametrize("case", NAMED)
def test_each_edit_fits_and_the_task_names_what_it_touches(case: GateCase) -> None:
    before = case.base(FILES[case.sample])
    after = case.changed(before)
    touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert touched == {edit.path for edit in case.edits}
    named = {*case.task.files, *case.task.new_files}
    assert (touched <= named) == (case.wrong_by != "touches other files than the task names")
    assert set(case.task.files) <= set(before) and not set(case.task.new_files) & set(before)


@pytest.mark.parametrize("case", NAMED)
def test_every_changed_file_can_be_parsed(case: GateCase) -> None:
    after = case.changed(case.base(FILES[case.sample]))
    for path in {edit.path for edit in case.edits} & after.keys():
        if path.endswith(".py"):
            ast.parse(after[path])
    ast.parse(filled(case.truth))
    ast.parse(case.tester)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ALL if "bug fix" in case.way])
def test_a_right_bug_fix_brings_a_test_and_a_truth(case: GateCase) -> None:
    paths = {edit.path for edit in case.edits}
    assert any(map(is_test_file, paths)) and not all(map(is_test_file, paths))


def test_the_ways_to_be_wrong_are_many_and_each_gate_has_some() -> None:
    wrong = [case for case in ALL if case.label == "wrong"]
    assert len({case.wrong_by for case in wrong}) >= 20
    expected = Counter(case.expect for case in wrong)
    assert set(expected) == {"tests", "rules", "policy/owner", "scope", "only a model's review"}
    assert min(expected.values()) >= 4


def test_the_held_changes_are_well_formed_and_each_wrong_one_has_a_truth() -> None:
    held, files = list(cases((), HELD)), {name: sample(name) for name in HELD_SAMPLES}
    assert [(case.sample, case.id) for case in held] == [(p.parent.name, p.stem) for p in sorted(HELD.glob("*/*.yaml"))]
    assert not {case.id for case in held} & {case.id for case in ALL}
    for case in held:
        after = edited(case.changed(files[case.sample]), case.mend)
        assert {edit.path for edit in case.edits} == {*case.task.files, *case.task.new_files}, case.id
        assert bool(case.kind) == (case.label == "right") != bool(case.wrong_by), case.id
        assert bool(case.truth) >= (case.label == "wrong"), case.id
        for text in (case.truth, *(after[path] for path in after if path.endswith(".py"))):
            ast.parse(filled(text))
    assert min(Counter(case.label for case in held).values()) >= 45
    assert len({case.wrong_by for case in held}) > 15


def test_no_case_holds_a_key_or_a_hidden_character_as_it_is() -> None:
    found = Outgoing({"OUR": OUR_KEY, "SOME": SOME_KEY})
    for path in [*CASES.glob("*/*.yaml"), *HELD.glob("*/*.yaml")]:
        text = path.read_text("utf-8")
        assert found.find(text) == ()
        assert [c for c in text if not c.isprintable() and c != "\n"] == []


@pytest.mark.parametrize("name", HELD_SAMPLES)
def test_a_sample_holds_no_key(name: str) -> None:
    assert [path for path, text in sample(name).items() if Outgoing({}).find(text)] == []


def test_an_edit_that_does_not_fit_is_an_error() -> None:
    case = next(case for case in ALL if case.id == "ledger-short-cents")
    with pytest.raises(ValueError, match="stands there 0 times"):
        case.changed(case.changed(FILES["ledger_lib"]))
    with pytest.raises(ValueError, match="is not there"):
        case.changed({})


def test_marks_become_what_they_stand_for() -> None:
    assert filled("a{{U+200B}}b{{3 blanks}}c") == "a\u200bb   c"
    assert filled("{{our key 0:5}}{{our key 5:}}") == OUR_KEY
    assert filled("{{some key}} {{ title }}") == f"{SOME_KEY} {{{{ title }}}}"


# --- a few of them through the gates -------------------------------------------------------------------------

SHOWN = {
    "ledger-month-end": ("merged", ""),
    "ledger-weaker-total": ("sent back", "tests"),
    "ledger-swallows": ("sent back", "rules"),
    "ledger-leaks-split-key": ("sent back", "scope"),
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root: Path = tmp_path_factory.mktemp("gates")
    return Place("ledger_lib", root / "ledger_lib", find_box(root / "box"), wheels(root / "packages"))


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ALL if case.id in SHOWN])
def test_a_case_ends_as_its_label_says(ledger: Place, case: GateCase) -> None:
    result = judged(case, ledger)
    assert (result.end, result.by) == SHOWN[case.id], result.why
    assert result.is_through if case.label == "right" else not result.is_surprise


def test_every_case_that_is_shown_is_there() -> None:
    assert SHOWN.keys() <= {case.id for case in ALL}
