"""A day by mail: the evening's report and what waits for the owner, as one thread; nothing else, and nobody waits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sisimpur.cli.wiring.services import mail_of, services
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.notify.notice import AGAIN
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.days import MIDNIGHT, days
from tests.journey.gated import FILES, GOOD, ID, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, KEY, Stage, plans, reads, task
from tests.mail_sink import PASSWORD, USER, MailSink
from tests.web.test_paper import can_read, of, prints, words

DAY = "2026-11-20"
TITLE = "সংখ্যা ঠিক করো"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def sink() -> Iterator[MailSink]:
    with MailSink().listening() as sink:
        yield sink


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel, sink: MailSink) -> Stage:
    """A home that mails, as its owner writes it down."""
    stage = FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    with (stage.home.config / "policy.yaml").open("a") as policy:
        policy.write(f"mail: {{server: '{sink.url}', to: [{USER}], pdf: false}}\n")
    with (stage.home.config / ".env").open("a") as keys:
        keys.write(f"\nMAIL_USER={USER}\nMAIL_PASSWORD={PASSWORD}\n")
    mails_on(stage)
    return stage


def mails_on(stage: Stage) -> None:
    with stage.records() as records:
        stage.services[:] = services(records)


def subjects(sink: MailSink) -> list[str]:
    return [str(mail.message["Subject"]) for mail in sink.mails]


def test_a_day_is_one_mail_in_the_evening_with_its_headline_and_its_picture(stage: Stage, sink: MailSink) -> None:
    assert stage.run_day(until="planning") == []
    assert sink.mails == []
    assert stage.run_day() == []
    (mail,) = sink.mails
    assert subjects(sink)[0].startswith(f"{DAY}: 1 merged, $0.")
    picture, dark = (part for part in mail.message.walk() if part.get_content_type() == "image/png")
    assert dark.get_payload(decode=True) == (stage.home.reports / f"{DAY}-dark.png").read_bytes() != b""
    assert picture.get_payload(decode=True) == (stage.home.reports / f"{DAY}.png").read_bytes()
    assert "**Shipped**\n- **Fix the sum**" in mail.text and "<b>Shipped</b><br>\n- <b>Fix the sum</b>" in mail.page
    assert stage.run_day() == [] and len(sink.mails) == 1


@prints
@can_read
def test_the_evenings_mail_has_the_whole_report_as_a_pdf(stage: Stage, sink: MailSink, tmp_path: Path) -> None:
    policy = stage.home.config / "policy.yaml"
    policy.write_text(policy.read_text().replace(", pdf: false}", "}"))
    mails_on(stage)
    assert stage.run_day() == []
    (attached,) = sink.mails[0].message.iter_attachments()
    file, content = tmp_path / "attached.pdf", attached.get_payload(decode=True)
    assert isinstance(content, bytes)
    file.write_bytes(content)
    read = words(file)
    assert attached.get_filename() == f"{DAY}.pdf"
    for heading in re.findall(r"^## (.+)$", (stage.home.reports / f"{DAY}.md").read_text(), re.MULTILINE):
        assert of(heading) in read, heading
    assert of("Fix the sum") in read


def waits(stage: Stage, model: ScriptedModel) -> None:
    hostile = f"{TITLE}\nBcc: a@evil.example {KEY} <img src=//evil.example/a.png> [here](https://evil.example)"
    model.play([reads(), plans(task(fix()["goal_id"], hostile, ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})


def test_what_waits_for_the_owner_comes_at_once_in_the_thread_of_its_day(
    stage: Stage, model: ScriptedModel, sink: MailSink
) -> None:
    waits(stage, model)
    assert stage.run_day() == []
    asks, evening = sink.mails
    assert subjects(sink)[0].startswith(f"Waits for you: {TITLE} Bcc: ")
    assert f"approve {ID}" in asks.text and f"approve {ID}" in evening.text
    assert len({mail.message["References"] for mail in sink.mails}) == 1
    assert len({mail.message["Message-ID"] for mail in sink.mails}) == 2


def test_nothing_of_a_title_is_fetched_followed_or_obeyed_and_no_key_is_in_it(
    stage: Stage, model: ScriptedModel, sink: MailSink
) -> None:
    waits(stage, model)
    stage.run_day()
    for mail in sink.mails:
        assert mail.to == [USER] and mail.message["Bcc"] is None
        assert not re.search(r"<a |://|<[^>]*//", mail.page)
        assert mail.page.count("<img ") == (mail is sink.mails[-1]) and TITLE in mail.page
        assert all(key not in mail.raw.decode() + mail.text + mail.page for key in (KEY, PASSWORD))


def test_a_server_that_is_away_keeps_nobody_and_the_mail_comes_when_it_is_back(
    stage: Stage, model: ScriptedModel, sink: MailSink
) -> None:
    """Its day is not held up; what could not wait is tried again, and the evening's mail says what is missing."""
    waits(stage, model)
    sink.fates += ["at GREETING 421 busy"]
    assert stage.run_day() == []
    assert stage.states() == {ID: "in_review"}
    assert [line for line in stage.said if "not delivered (Waits for you: " in line and "mail: 127.0.0.1" in line]
    (evening,) = sink.mails
    assert "**Not delivered**\n- Waits for you: " in evening.text


@pytest.mark.parametrize("refusals", [1, 3])
def test_an_evening_that_the_server_did_not_take_comes_minutes_later_once_and_with_its_picture(
    stage: Stage, sink: MailSink, refusals: int
) -> None:
    """Who greets a stranger with "later" takes it at the next try."""
    clock = ManualClock(MIDNIGHT + timedelta(hours=6))
    sink.fates += ["at MAIL 451 later"] * refusals
    with days(stage, clock) as day:
        day.until(MIDNIGHT + timedelta(hours=23))
        assert sink.mails == []
        day.until(MIDNIGHT + timedelta(hours=23, minutes=59))
    (mail,) = sink.mails
    assert subjects(sink)[0].startswith(f"{DAY}: 1 merged, $0.")
    picture, _ = (part for part in mail.message.walk() if part.get_content_type() == "image/png")
    assert picture.get_payload(decode=True) == (stage.home.reports / f"{DAY}.png").read_bytes()


def test_an_evening_that_nobody_took_and_no_daemon_tries_again_is_named_by_the_next_one(
    stage: Stage, model: ScriptedModel, sink: MailSink
) -> None:
    """As at Discord: the file is there."""
    sink.fates.append("at MAIL 451 later")
    assert stage.run_day() == [] and sink.mails == []
    stage.clock.sleep(24 * 3600)
    stage.run_day()
    (mail,) = sink.mails
    assert f"**Not delivered**\n- {DAY}: the day's report (mail): not delivered: " in mail.text


def test_of_a_lost_answer_one_more_mail_comes_at_most_and_it_is_the_same(
    stage: Stage, model: ScriptedModel, sink: MailSink
) -> None:
    waits(stage, model)
    sink.fates += ["lost"] * 9
    for _ in range(4):
        stage.run_day()
        stage.clock.sleep(600)
    asked = [mail for mail in sink.mails if mail.message["Subject"].startswith("Waits for you")]
    assert len(asked) == 2 and len({mail.message["Message-ID"] for mail in asked}) == 1
    assert AGAIN not in asked[0].text and AGAIN in asked[1].text


def test_every_evening_is_a_thread_of_its_own(stage: Stage, model: ScriptedModel, sink: MailSink) -> None:
    stage.run_day()
    stage.clock.sleep(24 * 3600)
    stage.run_day()
    threads = [mail.message["References"] for mail in sink.mails]
    assert len(sink.mails) == 2 and len(set(threads)) == 2


def test_the_doctor_signs_in_and_names_what_is_wrong(stage: Stage, sink: MailSink) -> None:
    with stage.records() as records:
        mail = mail_of(records.settings, records.clock)
    assert mail.check().endswith(f"answers; goes to {USER}")
    sink.fates.append("at GREETING 421 busy")
    with pytest.raises(Unavailable, match="421 busy"):
        mail.check()
    assert sink.mails == []
