"""P12: what is notified. Where a browser's service lies is said by a page: what a wrong one or a lost phone can do."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.record.outlets import outlet_findings
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.wiring.records import Records
from sisimpur.cli.wiring.services import phones_of
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.notify.messenger import Messenger
from sisimpur.shared.notify.notice import Notice
from sisimpur.shared.notify.notice_book import NoticeRepository
from sisimpur.shared.notify.phone.phone_notifier import KNOWN, PushSender
from sisimpur.shared.notify.phone.push_book import MOST_EACH, PushBook
from sisimpur.shared.notify.phone.sealing import vapid_key
from sisimpur.shared.system.http import Http, is_configured, is_public
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import board as board_command
from tests.journey.accounts_scene import RAHIM, listing
from tests.journey.described import DescribedClient
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, PORT, Browser
from tests.mail_sink import certificate
from tests.push_sink import LOOPBACK, PushSink, SinkBrowser

TASK = "20261120-03"
WAITS = Notice(f"2026-11-20:{TASK}:waiting-1-ab", "Waits for you: the title", "the reasons", waits=TASK)
ELSEWHERE = [
    "http://fcm.googleapis.com/fcm/send/a",
    "https://127.0.0.1/a",
    "https://[::1]/a",
    "https://localhost/a",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/a",
    "https://fcm.googleapis.com:8443/a",
    "https://fcm.googleapis.com:443/a",
    "https://user@fcm.googleapis.com/a",
    "https://fcm.googleapis.com@127.0.0.1/a",
    "https://127.0.0.1#@fcm.googleapis.com/a",
    "https://127.0.0.1\\@fcm.googleapis.com/a",
    "https://fcm.googleapis.com\\@127.0.0.1/a",
    "https://evil.fcm.googleapis.com/a",
    "https://evil.fcm.googleapis.com.attacker.example/a",
    "https://fcm.googleapis.com.attacker.example/a",
    "https://attackerpush.apple.com/a",
    "https://push.apple.com.attacker.example/a",
    "https://attacker.example/web.push.apple.com/a",
    "https://notify.windows.com/a",
    "https://x/.notify.windows.com/a",
    "https://fcm.googleapis.com",
    "https://fcm.googleapis.com/a\r\nhost: 127.0.0.1",
    "https://fcm.googleapis.com/a b",
    "https://fcm.googleapis.com/a#b",
    "https://fcm.googleapis.com\t/a",
    "https://fcm。googleapis.com/a",
    "HTTPS://127.0.0.1/fcm.googleapis.com/",
    "file:///etc/passwd",
    "",
]


@dataclass
class Scene:
    stage: Stage
    sink: PushSink
    trust: ssl.SSLContext

    def sender(self, records: Records) -> PushSender:
        takes = re.compile(re.escape(self.sink.url) + r"/[\w/-]+")
        http = Http(is_configured, context=self.trust)
        return PushSender(vapid_key(records.home), "mailto:you@example.com", records.clock, http, takes)

    def page(self, role: Role = Role.OWNER) -> Browser:
        app = make_app(BoardHome(self.stage.home.root, self.stage.clock), BoardPlace(PORT), make_sender=self.sender)
        page = Browser(DescribedClient(app, base_url=HERE, raise_server_exceptions=False))
        with self.stage.records() as records:
            keys, now = BoardKeys(records.db), records.clock.now()
            if role in (Role.READ, Role.ANSWER):
                page.token = keys.make_key("ci", role, now, 90)
            else:
                page.token = keys.sign_in(keys.link(now, role), now)
        return page

    def tell(self, notice: Notice = WAITS) -> list[str]:
        """As the daemon does. Return what was said of it."""
        said: list[str] = []
        with self.stage.records() as records:
            book, now = NoticeRepository(records.db), records.clock.now()
            Messenger(book, (), said.append, lambda: phones_of(records, self.sender)).send(notice, now)
        return said


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    shows, trusts = certificate(tmp_path, f"IP:{LOOPBACK}")
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    stage.clock.sleep((datetime.now(UTC) - stage.clock.now()).total_seconds())  # as the terminal's
    with PushSink(shows, stage.clock.now().timestamp()).listening() as sink:
        yield Scene(stage, sink, trusts)


def of_account(scene: Scene, *people: str) -> Browser:
    """Somebody who came with an account at GitHub, and who is listed so now."""
    listing(scene.stage, *people)
    page = scene.page()
    with scene.stage.records() as records:
        page.token = BoardKeys(records.db).enter("github:12345", Role.REVIEWER, records.clock.now())
    return page


def begin(page: Browser, browser: SinkBrowser, **more: Any) -> Any:
    return page.post("pushes", {**browser.subscription, **more})


def key(page: Browser) -> dict[str, str]:
    return {"authorization": f"Bearer {page.token}", "origin": HERE}


# --- which addresses are called ------------------------------------------------------------------------------


def test_no_address_is_kept_but_one_of_a_browsers_push_service(tmp_path: Path) -> None:
    """With what the product calls, not what the tests do: a service on this machine is refused, too."""
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    app = make_app(BoardHome(stage.home.root, stage.clock), BoardPlace(PORT))
    page = Browser(DescribedClient(app, base_url=HERE, raise_server_exceptions=False))
    with stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        page.token = keys.sign_in(keys.link(now), now)
    for endpoint in ELSEWHERE:
        answer = begin(page, SinkBrowser(endpoint))
        assert answer.status_code == 422 and "no push service" in answer.json()["title"], endpoint
        assert not KNOWN.fullmatch(endpoint)
    assert page.read("pushes")["pushes"] == []
    assert begin(page, SinkBrowser("https://fcm.googleapis.com/fcm/send/a:b")).status_code == 201


def test_a_known_name_that_leads_into_our_own_net_is_not_called(scene: Scene) -> None:
    """Whoever answers for the name here points it at this machine: the address is looked at, not the name alone."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(f"{host}:{port}")
        return ["127.0.0.1"]

    page = scene.page()
    push = begin(page, scene.sink.browser()).json()
    sender = scene.sender
    object.__setattr__(scene, "sender", lambda records: _public(sender(records), resolve))
    again = scene.page()
    said = again.post(f"pushes/{push['id']}/test", None).json()
    assert said["taken"] is False and "cannot be reached" in said["says"] and scene.sink.tries == 0


def _public(sender: PushSender, resolve: Any) -> PushSender:
    return PushSender(sender.key, sender.subject, sender.clock, Http(is_public, resolve), sender.takes)


@pytest.mark.parametrize(
    ("fate", "taken", "says"),
    [
        ("201", True, "answers with 201"),
        ("moved", False, "answers with 302"),
        ("huge", True, "answers with 201"),
        ("400", False, "answers with 400"),
        ("400 cut", False, "answers with 400"),
        ("503", False, "answers with 503"),
        ("lost", False, "did not confirm"),
        ("410", False, "takes nothing any more"),
    ],
)
def test_a_test_tells_what_the_service_answered_in_few_words_and_no_secret(
    scene: Scene, fate: str, taken: bool, says: str
) -> None:
    page, browser = scene.page(), scene.sink.browser()
    push = begin(page, browser)
    scene.sink.fates.append(fate)
    answer = page.post(f"pushes/{push.json()['id']}/test", None)
    assert answer.json()["taken"] is taken and says in answer.json()["says"] and scene.sink.tries == 1
    assert len(answer.text) < 600 and "\n" not in answer.json()["says"]
    whole = push.text + answer.text + page.get("/api/v1/pushes").text + page.get("/api/v1/audit?limit=200").text
    secret = scene.stage.home.push_key.read_text()
    for one in (browser.endpoint.rpartition("/")[2][:8], browser.keys.p256dh, browser.keys.auth, secret):
        assert one not in whole
    assert len(page.read("pushes")["pushes"]) == (fate != "410")


def test_what_is_no_subscription_is_refused_whole(scene: Scene) -> None:
    page, browser = scene.page(), scene.sink.browser()
    whole = browser.subscription
    for body in (
        {},
        {"endpoint": whole["endpoint"]},
        {**whole, "keys": {"p256dh": whole["keys"]["p256dh"], "auth": "x"}},
        {**whole, "keys": {"p256dh": "A" * 87, "auth": whole["keys"]["auth"]}},
        {**whole, "language": "xx"},
        {**whole, "url": "https://attacker.example"},
        {**whole, "endpoint": whole["endpoint"] + "x" * 2_000},
    ):
        assert page.post("pushes", body).status_code == 422, body
    assert page.read("pushes")["pushes"] == []


def test_a_session_fills_no_books_with_them(scene: Scene) -> None:
    page = scene.page()
    said = [begin(page, scene.sink.browser()).status_code for _ in range(MOST_EACH + 2)]
    assert said == [201] * MOST_EACH + [409] * 2


# --- who may ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.VIEWER, Role.READ, Role.ANSWER])
def test_who_decides_nothing_is_not_notified(scene: Scene, role: Role) -> None:
    page = scene.page(role)
    assert begin(page, scene.sink.browser()).status_code == 403
    assert page.read("pushes") == {"key": "", "pushes": []}


def test_that_of_another_is_neither_seen_nor_tried_nor_ended_but_by_an_owner(scene: Scene) -> None:
    owner, reviewer = scene.page(), scene.page(Role.REVIEWER)
    theirs, own = begin(owner, scene.sink.browser()).json(), begin(reviewer, scene.sink.browser()).json()
    assert [one["id"] for one in reviewer.read("pushes")["pushes"]] == [own["id"]]
    assert reviewer.post(f"pushes/{theirs['id']}/test", None).status_code == 404
    address = f"/api/v1/pushes/{theirs['id']}"
    assert reviewer.http.delete(address, headers=key(reviewer)).status_code == 404 and scene.sink.tries == 0
    assert {one["id"]: one["mine"] for one in owner.read("pushes")["pushes"]} == {theirs["id"]: True, own["id"]: False}
    assert owner.http.delete(f"/api/v1/pushes/{own['id']}", headers=key(owner)).status_code == 204
    assert reviewer.read("pushes")["pushes"] == []


def test_another_page_begins_none_in_somebodys_name(scene: Scene) -> None:
    page = scene.page()
    for headers in ({"origin": "http://127.0.0.1:1"}, {"sec-fetch-site": "same-site"}):
        assert page.post("pushes", scene.sink.browser().subscription, **headers).status_code == 403
    assert page.read("pushes")["pushes"] == []


# --- a lost phone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["closed", "signed out", "another role"])
def test_a_phone_whose_session_is_over_hears_nothing_any_more(
    scene: Scene, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    phone, laptop = scene.page(), scene.page()
    browser = scene.sink.browser()
    begin(phone, browser)
    scene.tell()
    assert [one["task"] for one in scene.sink.shown()] == [TASK]
    root, id_ = scene.stage.home.root, phone.read("session")["id"]
    assert board_command(Arguments("board", root, sessions=True)) == 0
    assert f"{id_}  owner" in (line := capsys.readouterr().out) and "notifies 1 browser" in line
    if end == "closed":
        assert board_command(Arguments("board", root, close=id_)) == 0
    elif end == "signed out":
        assert phone.http.delete("/api/v1/session", headers=key(phone)).status_code == 204
    else:  # the same browser comes in again, in a role that decides nothing
        assert phone.http.delete("/api/v1/session", headers=key(phone)).status_code == 204
        assert begin(scene.page(Role.VIEWER), browser).status_code == 403
    scene.tell(Notice("2026-11-20:other", "Waits for you", "x", waits="20261120-04"))
    assert [one["task"] for one in scene.sink.shown()] == [TASK]
    assert laptop.read("pushes")["pushes"] == []


def test_a_phone_that_lay_there_for_a_night_is_signed_out_and_hears_what_waits(scene: Scene) -> None:
    begin(phone := scene.page(), scene.sink.browser())
    night = 13 * 3600
    scene.stage.clock.sleep(night)
    scene.sink.now += night
    assert phone.get("/api/v1/status").status_code == 401
    assert scene.tell() == [] and [one["task"] for one in scene.sink.shown()] == [TASK]


def test_of_who_is_taken_from_the_list_no_phone_is_called_one_that_works(scene: Scene) -> None:
    browser = scene.sink.browser()
    with scene.stage.records() as records:
        keys, now = BoardKeys(records.db), records.clock.now()
        session = sha256_of(keys.enter("github:12345", Role.OWNER, now))
        PushBook(records.db).keep(session, browser.endpoint, browser.keys, "en", now)
    scene.tell()
    assert scene.sink.shown() == []
    assert not [one for one in outlet_findings(scene.stage.home) if one.name.startswith("phone")]


def test_who_only_looks_now_or_is_listed_no_more_hears_of_nothing(scene: Scene) -> None:
    """The browser was allowed while they decided. The session goes on, in the role of today."""
    page, others = of_account(scene, RAHIM), iter(range(10))
    assert begin(page, scene.sink.browser()).status_code == 201

    def told() -> int:
        before = len(scene.sink.pushes)
        assert scene.tell(Notice(f"2026-11-20:other-{next(others)}", "Waits", "x", waits=TASK)) == []
        return len(scene.sink.pushes) - before

    assert told() == 1
    listing(scene.stage, RAHIM.replace("reviewer", "viewer"))
    assert page.read("session")["role"] == "viewer" and told() == 0
    assert not [one for one in outlet_findings(scene.stage.home) if one.name.startswith("phone")]
    listing(scene.stage, RAHIM.replace("12345", "99"))
    assert told() == 0
    listing(scene.stage, RAHIM)
    assert told() == 1


@pytest.mark.parametrize("damaged", [b"", b"AAAA", b"no key\n", b"\xff\xfe", b"x" * 100_000])
def test_a_key_of_ours_that_is_none_stops_no_team_and_each_phone_says_why(scene: Scene, damaged: bytes) -> None:
    page = scene.page()
    begin(page, scene.sink.browser())
    assert scene.tell() == [] and len(scene.sink.pushes) == 1
    scene.stage.home.push_key.write_bytes(damaged)
    for number in range(2):
        assert scene.tell(Notice(f"2026-11-20:{number}", "Waits for you", "x", waits="20261120-04")) == []
    with scene.stage.records() as records:
        (push,) = PushBook(records.db).alive(records.clock.now())
    assert "holds no key of ours; delete it" in push.why and len(scene.sink.pushes) == 1


def test_a_list_that_cannot_be_read_stops_no_team_and_names_nobody(scene: Scene) -> None:
    of_link, of_github = scene.sink.browser(), scene.sink.browser()
    begin(scene.page(), of_link)
    assert begin(of_account(scene, RAHIM), of_github).status_code == 201
    assert scene.tell() == [] and len(scene.sink.pushes) == 2
    (scene.stage.home.config / "board.yaml").write_text("sign_in: [")
    assert scene.tell(Notice("2026-11-20:other", "Waits for you", "x", waits="20261120-04")) == []
    assert len(scene.sink.pushes) == 3, "a link's session is in no list"


def test_no_word_of_the_change_leaves_and_nothing_in_it_decides(scene: Scene) -> None:
    begin(scene.page(), scene.sink.browser(), language="bn")
    assert scene.tell() == []
    (shown,) = scene.sink.shown()
    assert shown.keys() == {"title", "body", "task", "tag", "lang"}
    assert "the title" not in str(shown) and "reasons" not in str(shown) and "http" not in str(shown)


def test_the_doctor_tells_which_phone_takes_nothing(scene: Scene) -> None:
    assert not [one for one in outlet_findings(scene.stage.home) if one.name.startswith("phone")]
    begin(scene.page(), scene.sink.browser())
    scene.tell()
    (fine,) = [one for one in outlet_findings(scene.stage.home) if one.name.startswith("phone")]
    assert fine.ok and fine.detail.startswith("1 browser told")
    scene.sink.fates.append("503")
    (said,) = scene.tell(Notice("2026-11-20:other", "Waits", "x", waits=TASK))
    (finding,) = [one for one in outlet_findings(scene.stage.home) if one.name.startswith("phone")]
    assert not finding.ok and "answers with 503" in finding.detail and finding.detail in said
