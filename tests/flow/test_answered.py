"""A finding is answered: the reviewer hears the coder, the owner is asked where both hold to their word; no circles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sisimpur.cli.commands import owner_commands
from sisimpur.cli.views.status import status
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.test_declined import WRONG_FINDING, model, says, stage, told_to  # noqa: F401  fixtures
from tests.flow.test_gates import DROPS, asks, typed
from tests.journey.gated import GOOD, ID, RIGHT, Coder, fix
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

MAKE = Callable[..., Stage]
STOPS = {**GOOD, "app.py": RIGHT + "\n\nbreakpoint()\n"}


def reviewer(**more: Any) -> dict[str, Any]:
    return {**APPROVES, "json": {"decision": "approve", "reason": "", "unresolved": [], "findings": [], **more}}


ASIDE = reviewer(set_aside=[{"finding": 1, "reason": "t is checked in line 3"}])


def test_the_reviewer_hears_the_coder_and_drops_its_finding(stage: MAKE, model: ScriptedModel) -> None:  # noqa: F811
    model.play([reads(), plans(fix()), CODES, asks("what about negative numbers?"), APPROVES])
    day = stage(Coder(GOOD), says(WRONG_FINDING))
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "completed"}, 2)
    first, second = told_to(model, "Reviewer")
    assert WRONG_FINDING not in first and WRONG_FINDING in second
    assert "what about negative numbers?" in second


def test_a_rules_finding_is_set_aside_by_the_reviewer(stage: MAKE, model: ScriptedModel) -> None:  # noqa: F811
    model.play([reads(), plans(fix()), CODES, ASIDE])
    day = stage(Coder(STOPS), says("breakpoint() is wanted."))
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "completed"}, 2)
    (only,) = told_to(model, "Reviewer")
    assert "breakpoint() is wanted." in only


def test_what_opens_a_door_is_set_aside_only_with_the_owner(stage: MAKE, model: ScriptedModel) -> None:  # noqa: F811
    model.play([reads(), plans(fix()), CODES, ASIDE])
    day = stage(Coder(DROPS), says(WRONG_FINDING))
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "in_review"}, 2)
    assert "the reviewer sets it aside: t is checked in line 3" in typed(day, status)
    typed(day, owner_commands.approve, id=ID)
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}


def test_what_the_coder_contradicts_and_the_reviewer_holds_to_is_the_owners(
    stage: MAKE,  # noqa: F811
    model: ScriptedModel,  # noqa: F811
) -> None:
    day = stage(Coder(DROPS), says(WRONG_FINDING))
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "in_review"}, 2)
    text = typed(day, status)
    assert f"the coder says that a finding is wrong: {WRONG_FINDING}" in text
    assert "the reviewer holds to it: app.py:" in text
    typed(day, owner_commands.approve, id=ID, over="1")
    assert day.run_day() == []
    assert (day.states(), len(day.jobs)) == ({ID: "completed"}, 2)


def test_the_word_of_the_reviewer_stands_beside_what_is_asked(stage: MAKE, model: ScriptedModel) -> None:  # noqa: F811
    files = ("app.py", "tests/test_app.py", "settings.py")
    word = "Every page asks for X twice from now on."
    model.play([reads(), plans({**fix(), "files": list(files)}), CODES, reviewer(for_owner=word)])
    day = stage(Coder({**GOOD, "settings.py": "X = 2\n"}))
    day.run_day()
    assert day.states() == {ID: "in_review"}
    (asked,) = told_to(model, "Reviewer")
    assert "The owner decides" in asked and "settings.py" in asked
    with day.records() as records:
        forge = records.forge()
        assert forge
        said = "\n".join(comment.body for comment in forge.comments(day.pulls()[0].number))
    report = next(day.home.reports.rglob("*.md")).read_text()
    for place in (typed(day, status), said, report):
        assert word in place
