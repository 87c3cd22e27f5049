"""Attacks on the record: a key that the owner, a stranger or a model wrote stands in nothing that is kept of it.

What an upstream says in its errors and headers: tests/edges/test_conversations.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sisimpur.cli.wiring.services import relay_of
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import BAD, FILES, GOOD, ID, Coder, fix, suite
from tests.journey.looked_up import ADDRESS, CLAIM, QUOTE, VISION, answers, looks, with_web
from tests.journey.stage import CODES, KEY, Stage, plans, reads
from tests.journey.test_board import signed_in
from tests.talk import everything_said

SHAPE = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
KEYS = f"{KEY} {SHAPE}"
PAGE = {"url": ADDRESS, "title": f"Sessions {KEYS}", "text": f"Much is said. {QUOTE}, unless it writes them: {KEYS}."}
SCRIPT = [
    reads(),
    plans(
        fix(
            title=f"Mend {KEYS}",
            description=f"Mend it with {KEYS}.",
            reason=f"because {KEYS}",
            acceptance=[f"it adds {KEYS}"],
        )
    ),
    {**CODES, "text": f"done, with {KEYS}"},
    {
        "agent": "reviewer",
        "times": "any",
        "json": {"decision": "approve", "reason": f"fine {KEYS}", "unresolved": [], "findings": []},
    },
    looks(1),
    answers({**CLAIM, "text": f"They are lost: {KEYS}"}, recommendation=f"Leave them; {KEYS}."),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A day on which everybody writes a key wherever he can."""
    with ScriptedModel(SCRIPT) as model:
        day = Stage(
            tmp_path_factory.mktemp("told"), model.url, Coder(BAD, GOOD), suite, trace=f"AssertionError: {KEYS}"
        )
        day.set_up(f"{VISION}\n## Notes\nThe key is {KEYS}.\n", FILES)
        with (day.home.config / "policy.yaml").open("a") as policy:
            policy.write("events: {file: events.jsonl}\n")
        assert with_web(day, PAGE).run_day() == []
        assert day.states() == {ID: "completed"}
        with day.records() as records:
            assert [*relay_of(records).step()] == []
        yield day


def holds_none(text: str) -> None:
    assert text and [key for key in (KEY, SHAPE) if key in text] == []


def test_no_key_is_in_a_conversation(told: Stage) -> None:
    said = everything_said(told.home.talk).decode()
    assert "[removed: " in said
    holds_none(said)


def test_no_key_is_in_the_audit(told: Stage) -> None:
    with told.records() as records:
        holds_none("\n".join(f"{row}" for row in records.audit.rows()))


def test_no_key_is_in_an_event(told: Stage) -> None:
    holds_none((told.home.root / "events.jsonl").read_text())


def test_no_key_is_in_a_commit(told: Stage) -> None:
    holds_none(told.forge("log", "--all", "-p", "--format=fuller"))
    (pull,) = told.pulls()
    holds_none(f"{pull}")


def test_no_key_is_in_the_log_or_a_report(told: Stage) -> None:
    holds_none(told.log())
    holds_none("".join(path.read_text() for path in told.home.reports.rglob("*.md")))


@pytest.mark.parametrize("name", ["status", "tasks", "pulls", "waiting", "money", "goals", f"tasks/{ID}"])
def test_no_key_is_on_the_board(told: Stage, name: str) -> None:
    holds_none(json.dumps(signed_in(told).read(name)))


def test_no_key_is_in_a_span(told: Stage) -> None:
    with told.records() as records:
        holds_none("\n".join(event.text for event in relay_of(records).feeds["runs"](0)))
