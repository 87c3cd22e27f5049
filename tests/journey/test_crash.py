"""`kill -9` at the fault points of a day, then start again: nothing is lost, nothing outward happens twice."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, RIGHT, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads
from tests.killing import EVERY_POINT, finishes, killed_at, points
from tests.mailbox import Mailbox
from tests.readable import check_record

SCRIPT = [reads(), plans(fix()), CODES, APPROVES]
AT_LEAST = 120  # points of a day; fewer: somebody has removed some
RECORD = {"talk.written", "talk.indexed", "metric-days.kept", "outlet.sending", "outlet.sent", "outlet.booked"}
EVERY = EVERY_POINT  # `make crash`; else a sample: test_daemon_crash.py has another
STEP = 1 if EVERY else 64
SLICES = 4 if EVERY else 1  # so that workers share the kills
TWICE = 6 if EVERY else 1  # recoveries that are killed too
PAID_FOR = ["commit.import", "push.sent", "pr.created"] if EVERY else ["push.sent"]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(SCRIPT) as model:
        yield model


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Path]:
    """A fresh folder each time."""
    return (tmp_path / str(number) for number in itertools.count())


def fresh(place: Path, model: ScriptedModel) -> tuple[Stage, list[str]]:
    """A home that has not seen its first day, and the command that runs one."""
    model.requests.clear()
    place.mkdir()
    stage = Stage(place, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    with (stage.home.config / "policy.yaml").open("a") as policy:
        policy.write("events: {file: events.jsonl}\n")
    return stage, [sys.executable, "-m", "tests.journey.one_day", str(place), model.url]


def check_everything(stage: Stage, model: ScriptedModel, point: str = "notice.sent") -> None:
    """One task in one folder, one pull request, merged once, said once; the ledger knows of every cent, the record
    can be read.

    Only where a message was sent and its answer never came may there be a second one.
    """
    messages = list(Mailbox(stage.root / "box").messages())
    assert len(messages) <= 1 + (point == "notice.sent")
    assert messages[-1]["title"].endswith("the day's report") and "Shipped" in messages[-1]["sections"]
    assert "1 merged" in (stage.home.reports / "2026-11-20.md").read_text()
    assert list(stage.states().values()) == ["completed"]
    (pull,) = stage.pulls()
    assert pull.state == "merged"
    titled = f"fix: {pull.title[:1].lower()}{pull.title[1:]} (#{pull.number})"
    assert stage.forge("log", "--format=%s", "main").splitlines() == [titled, "first"]
    assert stage.forge("show", "main:app.py") == RIGHT.strip()
    assert stage.forge("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"
    with stage.records() as records:
        forge, day = records.forge(), records.day()
        assert forge
        assert len([one for one in forge.comments(pull.number) if not one.verdict]) == 1
        assert [review.sha for review in forge.reviews(pull.number)] == [pull.head_sha]
        assert records.spending.totals(day, 0).used >= model.billed
        assert records.spending.totals(day, 0).reserved == 0
        assert records.journal.unfinished_moves() == []
        check_record(records)
        assert [row["day"] for row in records.db.rows("select day from metric_days")] == [day]
    assert [*stage.home.work.iterdir(), *stage.home.temporary.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("slice_", range(SLICES))
def test_a_kill_at_any_point_loses_and_doubles_nothing(
    slice_: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    _, argv = fresh(next(places), model)
    passed = points(argv, at_least=AT_LEAST)
    assert set(passed) >= RECORD
    for number in range(slice_ * STEP + 1, len(passed) + 1, SLICES * STEP):
        stage, argv = fresh(next(places), model)
        passed = killed_at(number, argv)
        finishes(argv)
        try:
            check_everything(stage, model, passed[-1])
        except AssertionError as failure:
            raise AssertionError(f"killed at {passed[-1]} (point {number}): {failure}") from failure


@pytest.mark.slow
@pytest.mark.parametrize("number", range(TWICE))
def test_a_second_kill_during_recovery_changes_nothing_of_it(
    number: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    """First kill: somewhere between the claim and the pull request; second: a few points into the recovery."""
    stage, argv = fresh(next(places), model)
    first = ("claim.booked", "move.in_progress.done", "llm.settle", "ref.update", "push.sent", "pr.created")[number]
    killed_at(first, argv)
    killed_at(number + 5, argv)
    finishes(argv)
    check_everything(stage, model)


@pytest.mark.slow
@pytest.mark.parametrize("slice_", range(min(SLICES, 2)))
def test_a_kill_while_a_change_is_sent_back_and_corrected_loses_and_doubles_nothing(
    slice_: int, places: Iterator[Path], model: ScriptedModel
) -> None:
    _, argv = fresh(next(places), model)
    passed = points([*argv, "bumpy"], at_least=AT_LEAST)
    first = passed.index("check.booked") + 1
    second = passed.index("check.booked", first) + 1
    for number in range(first + slice_ * STEP, second, 2 * STEP):
        stage, argv = fresh(next(places), model)
        killed_at(number, [*argv, "bumpy"])
        finishes([*argv, "bumpy"])
        check_everything(stage, model)


def test_a_repeated_day_is_quiet_after_a_crash(places: Iterator[Path], model: ScriptedModel) -> None:
    stage, argv = fresh(next(places), model)
    killed_at("push.ack", argv)
    finishes(argv)
    calls, pulls = len(model.requests), stage.pulls()
    finishes(argv)
    assert (len(model.requests), stage.pulls()) == (calls, pulls)


@pytest.mark.parametrize("point", PAID_FOR)
def test_what_was_paid_for_is_not_paid_again(point: str, places: Iterator[Path], model: ScriptedModel) -> None:
    """From the commit on the work exists: the next start goes on from there and asks no model."""
    stage, argv = fresh(next(places), model)
    killed_at(point, argv)
    calls = len(model.requests)
    finishes(argv)
    assert len(model.requests) == calls + 1 + (point == "commit.import")  # the review is still to come
    check_everything(stage, model)


def test_kills_while_it_is_tested_count_for_no_attempt(places: Iterator[Path], model: ScriptedModel) -> None:
    """Four kills that everybody shares: the change is tested by the fifth start, and no owner is asked."""
    stage, argv = fresh(next(places), model)
    for _ in range(4):
        killed_at("check.booked", argv)
    finishes(argv)
    check_everything(stage, model)


def test_a_crash_loop_ends_in_failed_and_spends_no_more(places: Iterator[Path], model: ScriptedModel) -> None:
    """Attempts are counted before the run: after three lost ones the owner is asked."""
    stage, argv = fresh(next(places), model)
    stage.given_config("policy", attempts="{lost: 3}")
    for _ in range(3):
        killed_at("move.in_progress.done", argv)
    finishes(argv)
    (id_,) = stage.states()
    assert stage.states() == {id_: "failed"}
    assert "cut off before it led to a commit" in stage.note(id_)
    assert [request.summary for request in model.requests if "coder" in request.summary] == []
