"""What the owner gets to read: every day, also when there was nothing, when it failed, and when nobody was there."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, KEY, Stage, plans, reads
from tests.killing import EVERY_POINT, finishes, killed_at, points
from tests.mail_sink import MailSink
from tests.mailbox import Mailbox

DAY, HOURS = "2026-11-20", 3600.0
IDLE = "# Vision\n"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    """A day that merges one change."""
    stage = Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    stage.services.append(Mailbox(tmp_path / "box"))
    return stage


def box(stage: Stage) -> Mailbox:
    (service,) = stage.services
    assert isinstance(service, Mailbox)
    return service


def report(stage: Stage, day: str = DAY) -> str:
    return (stage.home.reports / f"{day}.md").read_text()


def section(text: str, heading: str) -> str:
    assert f"## {heading}\n" in text, f"no {heading!r} in:\n{text}"
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip()


# --- a day ---------------------------------------------------------------------------------------------------


def test_a_day_ends_with_a_report_of_what_was_asked_shipped_and_paid(stage: Stage, model: ScriptedModel) -> None:
    assert stage.run_day() == []
    text = report(stage)
    assert text.startswith(f"# {DAY}: 1 merged, $0.0")
    assert "**Fix the sum in app.py** (high): merged; $0.0" in section(text, "Asked")
    assert f"(`{ID}`): merged as " in section(text, "Shipped")
    assert "1 new test" in section(text, "Shipped")
    assert "per merged task $0.0" in section(text, "Money")
    assert (stage.home.reports / f"{DAY}.png").read_bytes().startswith(b"\x89PNG")
    assert stage.said[-1] == f"report: {stage.home.reports / f'{DAY}.md'}"


def test_nothing_of_a_key_is_in_any_message_or_report(stage: Stage, model: ScriptedModel) -> None:
    model.play([reads(), plans({**fix(), "title": f"Use {KEY} @everyone"}), CODES, APPROVES])
    stage.run_day()
    everything = report(stage) + "".join(map(str, box(stage).messages()))
    assert KEY not in everything and "@everyone" not in everything
    assert "[removed: ANTHROPIC_API_KEY]" in everything


# --- kills ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kill_at_any_point_of_telling_ends_in_one_report_and_no_message_too_many(
    tmp_path: Path, model: ScriptedModel
) -> None:
    """An idle day passes the same points of telling as any other, and is quick. `make crash` dies at each of them."""
    places = (tmp_path / str(number) for number in itertools.count())

    def fresh() -> tuple[Stage, list[str]]:
        place = next(places)
        place.mkdir()
        stage = Stage(place, model.url, Coder(GOOD), suite).set_up(IDLE, FILES)
        return stage, [sys.executable, "-m", "tests.journey.one_day", str(place), model.url]

    _, argv = fresh()
    passed = points(argv)
    ours = [n for n, name in enumerate(passed, 1) if name.split(".")[0] in ("notice", "report", "picture")]
    assert {passed[n - 1] for n in ours} == {
        f"notice.{moment}" for moment in ("planned", "sending", "sent", "done")
    } | {
        "report.written",
        "picture.written",
    }
    some = [ours[1], ours[3]]  # message planned, message sent
    for number in ours if EVERY_POINT else some:
        stage, argv = fresh()
        killed_at(number, argv)
        finishes(argv)
        there = list(Mailbox(stage.root / "box").messages())
        in_doubt = number in ours[2:4] and passed[number - 1] == "notice.sent"  # later its id is known
        assert len(there) == 1 + in_doubt, f"killed at {passed[number - 1]} ({number})"
        assert there[-1]["title"].endswith("the day's report")
        assert report(stage, there[-1]["key"].split(":")[0]).count("nothing to do") == 1


@pytest.mark.slow
def test_a_kill_while_the_evening_is_mailed_loses_no_mail_and_what_comes_twice_has_one_id(
    tmp_path: Path, model: ScriptedModel
) -> None:
    """Its picture may have one bar more by then, its words are the same."""

    def fresh(name: str) -> list[str]:
        (tmp_path / name).mkdir()
        stage = Stage(tmp_path / name, model.url, Coder(GOOD), suite).set_up(IDLE, FILES)
        stage.given_config("policy", merge=f"{{}}\nmail: {{server: '{sink.url}', to: [you@example.com], pdf: false}}")
        return [sys.executable, "-m", "tests.journey.one_day", str(tmp_path / name), model.url]

    with MailSink().listening() as sink:
        passed = points(fresh("clean"))
        assert len(sink.mails) == 1
        *_, last = (number for number, name in enumerate(passed, 1) if name == "notice.done")
        mailing = range(last - 3, last + 1)
        assert [passed[n - 1] for n in mailing] == ["notice.planned", "notice.sending", "notice.sent", "notice.done"]
        for number in mailing:
            sink.mails.clear()
            argv = fresh(str(number))
            killed_at(number, argv)
            finishes(argv)
            assert len(sink.mails) == 1 + (passed[number - 1] == "notice.sent")
            assert len({mail.message["Message-ID"] for mail in sink.mails}) == 1
