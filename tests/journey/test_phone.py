"""A day of which one change waits: the phone hears of that, once, and of nothing else that the day told."""

from __future__ import annotations

from pathlib import Path

from sisimpur.cli.wiring.team import open_messages
from sisimpur.shared.notify.phone.phone_notifier import PhoneNotifier
from sisimpur.shared.notify.phone.push_book import PushBook
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.base.sign_in import BoardKeys
from tests.edges.test_phone import sender
from tests.journey.gated import FILES, GOOD, ID, SUM, VISION, Coder, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads, task
from tests.mail_sink import certificate
from tests.mailbox import Mailbox
from tests.push_sink import LOOPBACK, PushSink


def test_a_change_that_waits_comes_to_a_phone_once_and_the_message_of_the_day_does_not(tmp_path: Path) -> None:
    shows, trusts = certificate(tmp_path, f"IP:{LOOPBACK}")
    files = ("app.py", "tests/test_app.py", "settings.py")
    answers = [reads(), plans(task(SUM, title="Mend it", files=files)), CODES, APPROVES]
    with ScriptedModel(answers) as model:
        day = Stage(tmp_path, model.url, Coder({**GOOD, "settings.py": "X = 2\n"}), suite).set_up(VISION, FILES)
        with PushSink(shows, day.clock.now().timestamp()).listening() as sink, day.records() as records:
            keys, now, browser = BoardKeys(records.db), records.clock.now(), sink.browser()
            found = keys.lets_in(keys.sign_in(keys.link(now), now), now)
            assert found
            book = PushBook(records.db)
            push = book.keep(found.digest, browser.endpoint, browser.keys, "en", now)
            box = Mailbox(tmp_path / "box")
            day.services[:] = [box, PhoneNotifier(push, book, sender(sink, trusts))]
            assert day.run_day() == []
            assert [one["task"] for one in sink.shown()] == [ID] and len(sink.pushes) == 1
            assert len(list(box.messages())) > 1, "the day's own message, too"
            assert day.run_day() == [] and len(sink.pushes) == 1


def test_the_team_asks_the_books_whom_to_tell(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    with stage.records() as records:
        messages = open_messages(records, lambda _: (), print)
        assert list(messages.notifiers) == []
        keys, now = BoardKeys(records.db), records.clock.now()
        found = keys.lets_in(token := keys.sign_in(keys.link(now), now), now)
        browser = PushSink(None, 0.0, url="https://fcm.googleapis.com").browser()  # type: ignore[arg-type]
        assert found and not stage.home.push_key.exists()
        push = PushBook(records.db).keep(found.digest, browser.endpoint, browser.keys, "en", now)
        assert [one.name for one in messages.notifiers] == [f"phone {push.id}"]
        assert stage.home.push_key.exists()
        keys.sign_out(token)
        assert list(messages.notifiers) == []
