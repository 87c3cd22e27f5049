"""AppriseNotifier keeps the notifier's contract, if Apprise is installed; and what it says if it is not."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.notify.apprise_notifier import AppriseNotifier
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice, Notifier, Picture, Section
from sisimpur.shared.notify.notice_text import LONGEST, plain
from tests.edges.notifier_contract import CHANGED, NOTICE, NotifierContract, NotifierHome

IS_HERE = importlib.util.find_spec("apprise") is not None
needed = pytest.mark.skipif(not IS_HERE, reason="apprise is not installed: .venv/bin/pip install 'apprise>=2.2,<3'")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what Apprise imports

SECRET = "s3cr3t-0f-the-service"


class Service(NotifierHome):
    """A server that Apprise speaks to as json://."""

    secret = SECRET

    def __init__(self) -> None:
        self.got: list[str] = []
        self.fates: list[str] = []
        self.goes_on = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fate = service.fates.pop(0) if service.fates else "taken"
                if fate == "silent":
                    service.goes_on.wait(10)
                if fate in ("taken", "lost"):
                    service.got.append(f"{message['title']}\n{message['message']}")
                self.send_response({"taken": 200, "moved": 302}.get(fate, 503))
                self.send_header("location", "/elsewhere")
                self.end_headers()

            def do_GET(self) -> None:
                service.got.append("followed")
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"json://127.0.0.1:{self.server.server_port}/{SECRET}"
        self.notifier = AppriseNotifier([self.url])

    def shown(self) -> list[str]:
        return self.got

    def fail(self) -> None:
        self.fates.append("failed")

    def lose(self) -> None:
        self.fates.append("lost")

    def misdirected(self) -> Notifier:
        return AppriseNotifier(["no such service"])


@pytest.fixture
def home() -> Iterator[Service]:
    service = Service()
    thread = threading.Thread(target=service.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield service
    service.goes_on.set()
    service.server.shutdown()
    thread.join()
    service.server.server_close()


@needed
class TestAppriseNotifier(NotifierContract):
    pass


@needed
@pytest.mark.parametrize(
    "url", ["discord://123/abc", f"https://discord.com/api/webhooks/123456789012345678/{'a' * 68}"]
)
def test_discord_is_refused_here(url: str) -> None:
    with pytest.raises(Misconfigured, match="DISCORD_WEBHOOK_URL"):
        AppriseNotifier([url])


@needed
def test_what_one_service_took_is_not_sent_to_it_again_because_another_did_not(home: Service) -> None:
    both = AppriseNotifier([home.url, "json://127.0.0.1:9/"])  # nobody listens there
    for _ in range(2):
        with pytest.raises(DeliveryUnknown):
            both.send(NOTICE)
    assert len(home.got) == 1
    with pytest.raises(DeliveryUnknown):
        both.send(CHANGED)
    assert len(home.got) == 2


@needed
def test_a_redirect_is_not_followed(home: Service) -> None:
    home.fates.append("moved")
    with pytest.raises(DeliveryUnknown):
        home.notifier.send(NOTICE)
    assert home.got == []


@needed
def test_a_service_that_is_silent_is_not_waited_for_without_end(home: Service) -> None:
    home.fates.append("silent")
    begun = time.monotonic()
    with pytest.raises(DeliveryUnknown):
        AppriseNotifier([home.url], budget=0.3).send(NOTICE)
    assert time.monotonic() - begun < 3


@needed
def test_a_notice_that_all_have_taken_is_a_new_message_the_next_time(home: Service) -> None:
    home.notifier.send(NOTICE)
    home.notifier.send(NOTICE)
    assert len(home.got) == 2


@pytest.mark.skipif(IS_HERE, reason="apprise is installed here")
def test_without_apprise_it_says_what_to_type() -> None:
    with pytest.raises(Misconfigured, match="pip install 'apprise"):
        AppriseNotifier(["json://127.0.0.1/"])


def test_no_address_at_all_is_not_silence() -> None:
    with pytest.raises(Misconfigured, match="no URL"):
        AppriseNotifier([])


def test_a_notice_as_plain_text_names_its_picture_and_says_where_it_was_cut() -> None:
    picture = Picture("day.png", b"png", "two merged,\none waits")
    notice = Notice("k", "t", " first ", sections=(Section("A\nB", "second\n"),), picture=picture)
    assert plain(notice) == "first\n\nA B\nsecond\n\n(a picture is in the report: two merged, one waits)"
    long = plain(Notice("k", "t", "x" * 50_000))
    assert len(long) == LONGEST
    assert long.endswith("x\n(cut)")
