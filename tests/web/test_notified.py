"""Notifications in a real browser: switched on by a press, tried, shown by the worker, and a tap opens the review.

The push service is ours. A browser without the network gets no subscription of its own, so the page is handed one,
whose keys that service has; what it opens goes to the browser's real worker as the browser itself would hand it over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import BoardKeys
from tests.attacks.test_phone import WAITS, Scene
from tests.journey.board_process import in_thread
from tests.journey.gated import ID
from tests.journey.test_board import TITLE, run
from tests.mail_sink import certificate
from tests.push_sink import LOOPBACK, PushSink, SinkBrowser
from tests.web.browsing import LONGEST, PHONE, PLAYWRIGHT, needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = needs(PLAYWRIGHT)
GIVEN = """{
  let made = null;
  const given = (%s);
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async (wanted) => {
    window.wanted = { visible: wanted.userVisibleOnly, key: wanted.applicationServerKey };
    return (made = { toJSON: () => given, unsubscribe: async () => ((made = null), true) });
  };
}"""
ASKED = """{
  window.asked_for = 0;
  const real = Notification.requestPermission.bind(Notification);
  Notification.requestPermission = () => { window.asked_for += 1; return real(); };
}"""
SHOWN = """async () => {
  const found = await (await navigator.serviceWorker.ready).getNotifications();
  return found.map(({ title, body, tag, lang, data }) => ({ title, body, tag, lang, data }));
}"""
# As a tap does, but for the window that a tap may bring to the front.
TAPPED = """async () => {
  const [notification] = await registration.getNotifications();
  dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    shows, trusts = certificate(tmp_path, f"IP:{LOOPBACK}")
    stage = run(tmp_path)
    with PushSink(shows, stage.clock.now().timestamp()).listening() as sink:
        yield Scene(stage, sink, trusts)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    found.set_default_timeout(LONGEST)
    yield found
    found.close()


def opened(context: BrowserContext, scene: Scene, port: int, given: SinkBrowser, role: Role = Role.OWNER) -> Page:
    page = context.new_page()
    page.add_init_script(GIVEN % json.dumps(given.subscription))
    page.add_init_script(ASKED)
    with scene.stage.records() as records:
        code = BoardKeys(records.db).link(records.clock.now(), role)
    page.goto(f"http://127.0.0.1:{port}/#code={code}")
    page.get_by_role("link", name="Settings").click()
    return page


def deliver(context: BrowserContext, page: Page, said: dict[str, str] | str) -> None:
    """Hand it to the page's worker, as the browser does once it has opened what came."""
    line, found = context.new_cdp_session(page), list[dict[str, Any]]()
    line.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    line.send("ServiceWorker.enable")
    while not found:
        page.wait_for_timeout(50)
    data = said if isinstance(said, str) else json.dumps(said)
    about = {"origin": page.evaluate("location.origin"), "registrationId": found[0]["registrationId"]}
    line.send("ServiceWorker.deliverPushMessage", {**about, "data": data})


def shown_once(context: BrowserContext, page: Page, said: dict[str, str] | str) -> dict[str, Any]:
    """Hand it over until it is shown: a busy browser loses what it hands to a worker that is just being stopped.

    What is handed over again comes only while nothing is there, so a worker that shows a message twice is still found.
    """
    for _ in range(4):
        deliver(context, page, said)
        began = time.monotonic()
        while time.monotonic() - began < LONGEST / 4000:
            if found := page.evaluate(SHOWN):
                (only,) = found
                return dict(only)
            time.sleep(0.05)
    raise AssertionError(f"the worker shows nothing for {said!r}, handed over four times")


def test_a_phone_is_notified_once_it_is_pressed_and_a_tap_opens_the_review(
    context: BrowserContext, scene: Scene
) -> None:
    from playwright.sync_api import expect

    context.grant_permissions(["notifications"])
    with in_thread(scene.stage, make_sender=scene.sender) as port:
        page = opened(context, scene, port, scene.sink.browser())
        press = page.get_by_role("button", name="Notify this phone")
        expect(press).to_be_visible()
        assert page.evaluate("window.asked_for") == 0
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
        press.click()
        expect(page.get_by_text("This browser is notified from now on")).to_be_visible()
        assert page.evaluate("window.asked_for") == 1
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_text("On its way: 127.0.0.1 answers with 201")).to_be_visible()
        assert page.evaluate("window.wanted") == {"visible": True, "key": scene.sink.key}
        assert scene.sink.pushes[-1].shown["title"].startswith("This is a test")
        scene.sink.fates.append("503")
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_role("alert")).to_contain_text("answers with 503")
        expect(page.get_by_text("took nothing")).to_be_visible()

        with ThreadPoolExecutor() as daemon:  # in a thread that has no loop of the browser's
            assert daemon.submit(scene.tell, replace(WAITS, waits=ID)).result() == []
        shown_once(context, page, scene.sink.pushes[-1].shown)
        deliver(context, page, scene.sink.pushes[-1].shown)  # what comes twice is there once
        page.wait_for_timeout(200)
        (shown,) = page.evaluate(SHOWN)
        assert (shown["title"], shown["body"], shown["data"]) == ("1 change waits for you", ID, ID)
        page.get_by_role("link", name="Money").click()
        (worker,) = context.service_workers
        worker.evaluate(TAPPED)
        expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
        assert page.url.endswith(f"/review/{ID}") and page.evaluate(SHOWN) == []
        assert scene.stage.states()[ID] == "in_review", "a tap decides nothing"

        page.get_by_role("link", name="Settings", exact=True).click()
        page.get_by_role("button", name="Notify no more").click()
        expect(page.get_by_role("button", name="Notify this phone")).to_be_visible()
        assert scene.page().read("pushes")["pushes"] == []


def test_who_signs_out_hears_nothing_there_though_another_session_asked_for_it(
    context: BrowserContext, scene: Scene
) -> None:
    """A night later the phone signs in anew: the session that asked goes on hearing, and only the new one signs out."""
    from playwright.sync_api import expect

    context.grant_permissions(["notifications"])
    with in_thread(scene.stage, make_sender=scene.sender) as port:
        page = opened(context, scene, port, scene.sink.browser())
        page.get_by_role("button", name="Notify this phone").click()
        expect(page.get_by_text("This browser is notified from now on")).to_be_visible()
        page.evaluate("(key) => localStorage.setItem('sisimpur.key', key)", scene.page().token)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
        subscribed = "navigator.serviceWorker.ready.then((worker) => worker.pushManager.getSubscription())"
        assert page.evaluate(subscribed) is None
        assert len(scene.page().read("pushes")["pushes"]) == 1, "till its service says that it is gone"


@pytest.mark.parametrize("said", ["", "no JSON", '"a text"', '{"title": 5, "task": "../../money", "tag": []}'])
def test_what_is_no_message_of_ours_is_shown_without_a_word_of_it_and_leads_to_today(
    context: BrowserContext, scene: Scene, said: str
) -> None:
    from playwright.sync_api import expect

    context.grant_permissions(["notifications"])
    with in_thread(scene.stage, make_sender=scene.sender) as port:
        page = opened(context, scene, port, scene.sink.browser())
        page.get_by_role("button", name="Notify this phone").click()
        expect(page.get_by_text("This browser is notified from now on")).to_be_visible()
        shown = shown_once(context, page, said)
        assert (shown["title"], shown["body"]) == ("sisimpur", "")
        (worker,) = context.service_workers
        worker.evaluate(TAPPED)
        expect(page.get_by_role("heading", name="What waits for you")).to_be_visible()


def test_who_blocks_it_is_told_where_and_who_only_looks_is_not_asked(context: BrowserContext, scene: Scene) -> None:
    from playwright.sync_api import expect

    with in_thread(scene.stage, make_sender=scene.sender) as port:
        page = opened(context, scene, port, scene.sink.browser())
        page.evaluate("void Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
        page.get_by_role("link", name="Money").click()
        page.get_by_role("link", name="Settings").click()
        expect(page.get_by_text("This browser blocks notifications of this page")).to_be_visible()
        expect(page.get_by_role("button", name="Notify this phone")).to_have_count(0)
        page.close()
        page = opened(context, scene, port, scene.sink.browser(), Role.VIEWER)
        expect(page.get_by_role("heading", name="This browser")).to_be_visible()
        expect(page.locator("main").get_by_text("Reading …")).to_have_count(0)
        expect(page.get_by_text("Notify this phone")).to_have_count(0)
