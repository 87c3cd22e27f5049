"""The merge policy: a table, and laws over every combination of its facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from sisimpur.shared.model.evidence import (
    OLD_FAILS,
    UNCHANGED,
    UNSHOWN,
    Approved,
    ChangesRequested,
    Escalated,
    Evidence,
    Finding,
    Problem,
    Reviewed,
    Severity,
)
from sisimpur.shared.model.gate import (
    DISPUTED,
    MOST_RUNS,
    AskOwner,
    BeginAnew,
    Cancel,
    CheckedByOthers,
    Fail,
    Judge,
    Merge,
    Noticed,
    Refresh,
    ReviewState,
    RunTests,
    SendBack,
    Step,
    Writer,
    Writing,
    fingerprint,
    next_step,
    reasons,
    writer,
)
from sisimpur.shared.model.work import Policy

RED = Problem("a test fails", "tests/test_a.py::test_b fails", "correct", ("test_b",))
UNPROVED = Problem(UNSHOWN, "no new test fails without the change", "write tests")
BENT = Problem(OLD_FAILS, "tests/test_a.py::test_b as it was before the change does not pass", "correct", ("test_b",))
SHRUNK = Problem("a test is gone", "the task asks for it", "ask owner")
FINDING = Finding("app.py", 3, Severity.HIGH, "rule", "eval", "eval of input", "eval(x)")


def evidence(*problems: Problem) -> Evidence:
    return Evidence("c1", "t1", "b1", "pytest", "full bubblewrap", problems=problems)


def said(verdict: Approved | ChangesRequested | Escalated) -> Reviewed:
    return Reviewed("c1", verdict)


RED_ELSEWHERE = CheckedByOthers("c1", against=("ci is red",))
READY = ReviewState("c1", "s1", True, True, True, evidence=evidence(), reviewed=said(Approved()))


@pytest.mark.parametrize(
    ("found", "step"),
    [
        pytest.param(READY, Merge(), id="tested, approved, nothing against it"),
        pytest.param(replace(READY, is_as_asked=False), BeginAnew(), id="its task says something else by now"),
        pytest.param(
            replace(READY, is_as_asked=False, pull_state="merged"), Noticed(merged=True), id="the owner merged it so"
        ),
        pytest.param(replace(READY, others=RED_ELSEWHERE), AskOwner(("ci is red",)), id="red at the forge"),
        pytest.param(
            replace(READY, others=RED_ELSEWHERE, approved=True),
            AskOwner(("ci is red",)),
            id="red, though approved there",
        ),
        pytest.param(
            replace(READY, others=RED_ELSEWHERE, is_current=False), AskOwner(("ci is red",)), id="red, and outdated"
        ),
        pytest.param(
            replace(READY, others=RED_ELSEWHERE, is_current=False, approved=True),
            Refresh(),
            id="what was red on an older base is tried again by approval",
        ),
        pytest.param(replace(READY, evidence=None), RunTests(), id="not tested yet"),
        pytest.param(replace(READY, evidence=None, is_current=False), Refresh(), id="up to date before it is tested"),
        pytest.param(replace(READY, is_current=False), Refresh(), id="its base has moved: tested again before a merge"),
        pytest.param(
            replace(READY, evidence=None, checks_begun=MOST_RUNS),
            AskOwner((f"its tests were begun {MOST_RUNS} times and came to no end; `retest` runs them again",)),
            id="tests that kill the machine",
        ),
        pytest.param(
            replace(READY, evidence=None, checks_begun=MOST_RUNS, approved=True),
            Merge(),
            id="the owner takes it untested",
        ),
        pytest.param(replace(READY, reviewed=None), Judge(), id="not read yet"),
        pytest.param(
            replace(READY, reviewed=None, reviews_begun=MOST_RUNS),
            AskOwner((f"its review was begun {MOST_RUNS} times and came to no verdict",)),
            id="a reviewer that never answers",
        ),
        pytest.param(replace(READY, evidence=evidence(RED)), SendBack("tests"), id="red"),
        pytest.param(
            replace(READY, evidence=evidence(RED), approved=True), SendBack("tests"), id="red, though approved"
        ),
        pytest.param(replace(READY, evidence=evidence(UNPROVED)), SendBack("tests", wants_tests=True), id="no proof"),
        pytest.param(
            replace(READY, evidence=evidence(UNPROVED), writing=Writing(1)),
            AskOwner((UNPROVED.text,)),
            id="still no proof after QA's turn",
        ),
        pytest.param(replace(READY, evidence=evidence(SHRUNK)), AskOwner((SHRUNK.text,)), id="fewer tests"),
        pytest.param(
            replace(READY, reviewed=said(ChangesRequested((FINDING,)))), SendBack("review"), id="changes requested"
        ),
        pytest.param(
            replace(READY, reviewed=said(ChangesRequested((FINDING,))), contradicted="it is\nno eval"),
            SendBack("review"),
            id="contradicted, and something else was found",
        ),
        pytest.param(
            replace(
                READY, reviewed=replace(said(ChangesRequested((FINDING,))), holds=True), contradicted="it is\nno eval"
            ),
            AskOwner(
                (
                    "the coder says that a finding is wrong: it is no eval",
                    "the reviewer holds to it: app.py:3 eval of input",
                )
            ),
            id="contradicted, and held to",
        ),
        pytest.param(
            replace(READY, protected=("a.py",), reviewed=replace(said(Approved()), word="it doubles the timeout")),
            AskOwner(
                (
                    "it changes a.py, which is never merged without you",
                    "the reviewer tells you: it doubles the timeout",
                )
            ),
            id="a word for the owner beside what is asked",
        ),
        pytest.param(
            replace(READY, reviewed=replace(said(Approved()), word="fine")), Merge(), id="a word that nobody waits for"
        ),
        pytest.param(
            replace(READY, reviewed=replace(said(Escalated("a licence")), word="a licence")),
            AskOwner(("the reviewer asks you: a licence",)),
            id="the same word once",
        ),
        pytest.param(
            replace(READY, reviewed=said(Escalated("a licence question"))),
            AskOwner(("the reviewer asks you: a licence question",)),
            id="escalated",
        ),
        pytest.param(
            replace(READY, reviewed=said(Escalated("a licence question")), approved=True), Merge(), id="and answered"
        ),
        pytest.param(
            replace(READY, protected=("core/settings.py",)),
            AskOwner(("it changes core/settings.py, which is never merged without you",)),
            id="a protected path",
        ),
        pytest.param(replace(READY, protected=("core/settings.py",), approved=True), Merge(), id="and approved"),
        pytest.param(
            replace(READY, protected=("core/settings.py",), approved=True, is_current=False),
            Refresh(),
            id="approved, but the branch has moved: tested again",
        ),
        pytest.param(
            replace(READY, in_full_box=False),
            AskOwner(("the sandbox of this machine is a reduced one",)),
            id="reduced box",
        ),
        pytest.param(
            replace(READY, in_budget=False), AskOwner(("it cost more than the cap of a task",)), id="too dear"
        ),
        pytest.param(replace(READY, goal="reworded"), AskOwner(("its goal was reworded in VISION.md",)), id="reworded"),
        pytest.param(replace(READY, goal="removed"), Cancel(), id="no means no"),
        pytest.param(
            replace(READY, goal="upkeep"), AskOwner(("the team's own proposal, not from VISION.md",)), id="nobody asked"
        ),
        pytest.param(replace(READY, goal="upkeep", approved=True), Merge(), id="nobody asked, and it is approved"),
        pytest.param(
            replace(READY, head="feed" * 10),
            AskOwner(("somebody else moved its branch to feedfeedfe: merge or close its pull request yourself",)),
            id="a foreign push",
        ),
        pytest.param(
            replace(READY, guarded=("billing.py",)),
            Fail("it changes billing.py, which you have said not to touch"),
            id="a don't touch that was written since",
        ),
        pytest.param(
            replace(READY, guarded=("billing.py",), approved=True),
            AskOwner(("it changes billing.py, which you have said not to touch: change the note, or reject it",)),
            id="and it is approved: not merged, not thrown away",
        ),
        pytest.param(replace(READY, goal="removed", approved=True), Merge(), id="approved without its goal"),
        pytest.param(replace(READY, is_as_asked=False, approved=True), Merge(), id="approved in its new words"),
        *(
            pytest.param(
                replace(found, since=("its goal said A; now B",)), AskOwner(("its goal said A; now B",)), id=id_
            )
            for id_, found in {
                "approved in other words": READY,
                "before its goal was removed": replace(READY, goal="removed"),
                "before its task was rewritten": replace(READY, is_as_asked=False),
                "and its base has moved": replace(READY, is_current=False, evidence=None),
            }.items()
        ),
        pytest.param(replace(READY, pull_state="merged"), Noticed(merged=True), id="merged by the owner"),
        pytest.param(
            replace(READY, pull_state="closed", approved=True), Noticed(merged=False), id="closed by the owner"
        ),
    ],
)
def test_what_happens_next(found: ReviewState, step: Step) -> None:
    assert next_step(found, Policy()) == step


def test_without_auto_merge_everything_waits_for_the_owner() -> None:
    assert next_step(READY, Policy(auto=False)) == AskOwner(("config/policy.yaml says merge.auto: false",))


def test_without_test_writing_a_missing_proof_is_the_owners() -> None:
    found = replace(READY, evidence=evidence(UNPROVED))
    assert next_step(found, Policy(write_tests=False)) == AskOwner((UNPROVED.text,))


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(replace(READY, evidence=evidence(RED)), id="the same red tests"),
        pytest.param(replace(READY, reviewed=said(ChangesRequested((FINDING,)))), id="the same findings"),
    ],
)
def test_a_correction_that_changed_nothing_is_the_last_one(found: ReviewState) -> None:
    seen = replace(found, fingerprints=frozenset({fingerprint(found.evidence, found.reviewed)}))
    assert next_step(seen, Policy()) == Fail("the correction gave exactly the same result as before")


def test_another_tree_is_another_result() -> None:
    before = fingerprint(evidence(RED), None)
    assert fingerprint(replace(evidence(RED), tree="t2"), None) != before


# --- QA's turns with its own tests ---------------------------------------------------------------------------

ASKED = Writing(1, "c0", ("tests/test_x.py",))
DOUBTED = replace(ASKED, turns=2, doubted=(RED.rule,))
OTHER_RED = replace(RED, rule="the written tests do not notice faults")
UNPINNED = replace(UNPROVED, rule=UNCHANGED)


@pytest.mark.parametrize(
    ("problems", "writing", "who"),
    [
        pytest.param((UNPROVED,), Writing(), "QA", id="no test"),
        pytest.param((RED,), Writing(), "coder", id="red, and QA wrote nothing"),
        pytest.param((), ASKED, "", id="its tests show it"),
        pytest.param((UNPROVED,), replace(ASKED, own=()), "", id="it wrote none"),
        pytest.param((UNPROVED,), ASKED, "QA", id="its tests show nothing"),
        pytest.param((UNPROVED,), replace(ASKED, turns=2), "nobody", id="they still show nothing"),
        pytest.param((UNPINNED,), ASKED, "", id="which lines it was to pin down, it was told"),
        pytest.param((RED,), ASKED, "QA", id="its test is red"),
        pytest.param((RED,), replace(ASKED, turns=2), "QA", id="it is red after the second turn"),
        pytest.param((RED,), DOUBTED, "nobody", id="it stays red, and QA says nothing of the code"),
        pytest.param((RED,), replace(DOUBTED, says="the code is wrong"), "coder", id="the code is wrong"),
        pytest.param((RED,), replace(DOUBTED, says="the code is wrong", answered=True), "nobody", id="in vain"),
        pytest.param((OTHER_RED,), DOUBTED, "QA", id="red for another reason"),
        pytest.param((OTHER_RED,), replace(DOUBTED, turns=3), "nobody", id="for the third time"),
        pytest.param((RED,), Writing(2), "coder", id="the coder has changed the tests since"),
    ],
)
def test_whose_turn_it_is_with_tests(problems: tuple[Problem, ...], writing: Writing, who: Writer) -> None:
    assert writer(evidence(*problems), writing) == who


def test_what_is_taken_out_gives_way_to_the_commit_before_it() -> None:
    assert next_step(replace(READY, evidence=evidence(UNPROVED), writing=replace(ASKED, turns=2)), Policy()) == Refresh(
        "c0", "QA's tests show nothing. They are taken out, the change goes on"
    )


def test_that_tests_were_taken_out_stands_beside_what_the_owner_is_asked() -> None:
    found = replace(READY, evidence=evidence(UNPROVED), writing=Writing(2, "c1"))
    assert next_step(found, Policy()) == AskOwner(
        (UNPROVED.text, "QA wrote tests twice that showed nothing; they were taken out")
    )


TWICE = DISPUTED.format(why="the coder changed this test twice")


@pytest.mark.parametrize(
    ("bent", "problems", "step"),
    [
        pytest.param((), (BENT,), SendBack("tests"), id="the first time the coder is told"),
        pytest.param(("test_c",), (BENT,), SendBack("tests"), id="of another test"),
        pytest.param(("test_b",), (BENT, RED), SendBack("tests"), id="beside what is red in any case"),
        pytest.param(("test_b",), (BENT,), AskOwner((BENT.text, TWICE)), id="once more: the owner is asked"),
    ],
)
def test_a_test_that_the_coder_changes_again_is_the_owners_to_judge(
    bent: tuple[str, ...], problems: tuple[Problem, ...], step: Step
) -> None:
    found = replace(READY, evidence=evidence(*problems), bent=frozenset(bent))
    assert next_step(found, Policy()) == step
    assert next_step(replace(found, reviewed=None), Policy()) == (Judge() if isinstance(step, AskOwner) else step)
    assert next_step(replace(found, approved=True), Policy()) == (Merge() if isinstance(step, AskOwner) else step)


def test_a_coder_that_contradicts_an_old_test_is_heard_by_the_owner() -> None:
    found = replace(READY, evidence=evidence(BENT), contradicted="one more is wanted")
    said = DISPUTED.format(why="the coder says that the old test is wrong (one more is wanted)")
    assert next_step(found, Policy()) == AskOwner((BENT.text, said))
    assert next_step(replace(found, evidence=evidence(BENT, RED)), Policy()) == SendBack("tests")


# --- laws ----------------------------------------------------------------------------------------------------


def every() -> Iterator[tuple[ReviewState, Policy]]:
    """Every combination of facts that matter."""
    evidences = (None, evidence(), evidence(RED), evidence(UNPROVED), evidence(SHRUNK), evidence(RED, SHRUNK))
    verdicts = (None, said(Approved()), said(ChangesRequested((FINDING,))), said(Escalated("why")))
    both = (True, False)
    for tested, read, approved, current, full, auto in product(evidences, verdicts, both, both, both, both):
        for protected, goal, head, runs in product(((), ("a",)), ("wanted", "removed"), ("", "feed"), (0, MOST_RUNS)):
            found = ReviewState(
                "c1",
                "s1",
                current,
                full,
                True,
                approved,
                goal=goal,  # type: ignore[arg-type]
                protected=protected,
                head=head,
            )
            yield (
                replace(found, evidence=tested, reviewed=read, checks_begun=runs, reviews_begun=runs),
                Policy(auto),
            )


EVERY = list(every())


def test_nothing_is_merged_that_is_not_up_to_date() -> None:
    assert all(found.is_current for found, policy in EVERY if next_step(found, policy) == Merge())


def test_nothing_red_is_ever_merged() -> None:
    merged = [found for found, policy in EVERY if next_step(found, policy) == Merge()]
    assert merged and not any(found.evidence and found.evidence.is_red for found in merged)


def test_without_the_owner_only_what_is_tested_and_approved_and_has_nothing_against_it_is_merged() -> None:
    merged = [(found, policy) for found, policy in EVERY if next_step(found, policy) == Merge() and not found.approved]
    assert merged
    for found, policy in merged:
        assert policy.auto and found.in_full_box and not found.protected and not found.head
        assert found.evidence and not found.evidence.problems
        assert found.reviewed and isinstance(found.reviewed.verdict, Approved)


def test_whatever_waits_says_why() -> None:
    for found, policy in EVERY:
        step = next_step(found, policy)
        assert not isinstance(step, AskOwner) or (step.reasons and all(step.reasons))


def test_a_removed_goal_is_never_worked_on_unless_the_owner_has_approved_just_that() -> None:
    removed = [(found, policy) for found, policy in EVERY if found.goal == "removed" and not found.approved]
    assert {type(next_step(found, policy)) for found, policy in removed} == {Cancel}


def test_what_was_approved_in_other_words_is_neither_merged_nor_thrown_away() -> None:
    steps = [next_step(replace(found, approved=False, since=("A; now B",)), policy) for found, policy in EVERY]
    assert {type(step) for step in steps} == {AskOwner}


def test_the_reasons_name_every_fact_that_stands_against_a_merge() -> None:
    found = replace(READY, in_full_box=False, protected=("a",), goal="reworded", in_budget=False)
    assert len(reasons(found, Policy(auto=False))) == 5
