"""The owner settles a finding by a comment below the pull request, as by `approve --over`: the same rules hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sisimpur.shared.forge.forge import Comment
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage, MemoryForge, open_core
from tests.flow.test_declined import one_by_one, says
from tests.flow.test_gates import DROPS
from tests.journey.gated import FILES, GOOD, ID, RIGHT, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads

WRONG = "The finding is wrong: `t` is a name of ours."
KEY = {**GOOD, "app.py": RIGHT + f"TOKEN = {'q7Zp2mX9' + 'vK4tR8wL'!r}\n"}


class Commented(MemoryForge):
    """A forge below whose pull requests somebody wrote."""

    words: tuple[tuple[str, str], ...] = ()
    since = True  # after all that is there

    def comments(self, number: int) -> list[Comment]:
        found = super().comments(number)
        at = max(one.at for one in found) if self.since else min(one.at for one in found)
        said = enumerate(self.words)
        return [
            *found,
            *(replace(found[0], id=f"w{n}", author=who, body=text, at=at, ours=False) for n, (who, text) in said),
        ]


class Obeying(Commented):
    """Its owner does what the comment that asks him says."""

    def comments(self, number: int) -> list[Comment]:
        said = "\n".join(one.body for one in super().comments(number) if one.ours)
        asks = said.partition("### Waits for the owner")[2]
        self.words = tuple(("alice", words) for words in re.findall("Or write here: `(/approve [0-9a-f]{12})`", asks))
        return super().comments(number)


def heard(day: Stage, *words: tuple[str, str], since: bool = True) -> None:
    """One more day, after these comments."""
    forge = type("Said", (Commented,), {"words": words, "since": since})
    day.open_team = partial(open_core, forge=forge)
    assert day.run_day() == []


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def asking(tmp_path: Path, model: ScriptedModel) -> Callable[..., Stage]:
    """The coder contradicts a finding of a rule, and the owner is asked."""

    def make(change: dict[str, str]) -> Stage:
        day = FlowStage(tmp_path, model.url, one_by_one(Coder(change), says(WRONG)), suite).set_up(VISION, FILES)
        target = day.home.targets / "site.yaml"
        target.write_text(target.read_text() + "inbox: {owners: [alice]}\n")
        day.run_day()
        assert day.states() == {ID: "in_review"}
        return day

    return make


def test_a_pull_request_that_waits_says_the_comment_that_answers_it(asking: Callable[..., Stage]) -> None:
    day = asking(DROPS)
    day.open_team = partial(open_core, forge=Obeying)
    assert day.run_day() == []
    assert day.states() == {ID: "completed"}


@pytest.mark.parametrize("words", [f"/approve {ID} over 1 t is ours", "/approve over {letters}", "/approve --over #1"])
def test_a_comment_settles_a_finding_and_the_change_is_merged(asking: Callable[..., Stage], words: str) -> None:
    day = asking(DROPS)
    with day.records() as records:
        found = records.gates.newest(ID)[1]
    assert found
    jobs = len(day.jobs)
    heard(day, ("alice", words.replace("{letters}", found.verdict.findings[0].signature[:8])))
    assert any("raw SQL at app.py:" in line and "is settled" in line for line in day.said)
    assert day.states() == {ID: "completed"} and len(day.jobs) == jobs
    assert "by your word" in day.note(ID)


@pytest.mark.parametrize(
    ("who", "words", "since"),
    [
        pytest.param("mallory", "/approve over 1", True, id="not an owner"),
        pytest.param("alice", "/approve 20261120-07 over 1", True, id="another task"),
        pytest.param("alice", "/approve over 7", True, id="no such finding"),
        pytest.param("alice", "/approve over 1", False, id="a number from before it was read"),
    ],
)
def test_nothing_is_settled_by(asking: Callable[..., Stage], who: str, words: str, since: bool) -> None:
    day = asking(DROPS)
    day.clock.sleep(60)
    heard(day, (who, words), since=since)
    assert day.states() == {ID: "in_review"}
    with day.records() as records:
        assert not records.gates.ruled_over(ID)


def test_no_comment_is_over_a_key(asking: Callable[..., Stage]) -> None:
    day = asking(KEY)
    heard(day, ("alice", "/approve over 1"))
    assert any("nobody's word is over a secret" in line for line in day.said)
    assert day.states() == {ID: "in_review"}
