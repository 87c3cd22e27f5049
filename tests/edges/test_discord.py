"""Messages that Discord takes, whatever a notice holds; DiscordNotifier in good and bad weather; the local webhook."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.notify.discord_notifier import DiscordNotifier
from sisimpur.shared.notify.discord_text import (
    MAX_PICTURE,
    attachment,
    changed_message,
    clip,
    new_message,
    units,
)
from sisimpur.shared.notify.notice import DeliveryUnknown, Notice, Notifier, Picture, Section, Tone
from sisimpur.shared.notify.notice_text import harmless
from sisimpur.shared.system.clock import ManualClock, SystemClock
from sisimpur.simulators.discord.local_webhook import Fault, LocalWebhook, page, too_many
from sisimpur.simulators.discord.local_webhook_messages import TOKEN
from sisimpur.simulators.discord.local_webhook_rules import refusal
from tests.edges.notifier_contract import CHANGED, NOTICE, NotifierContract, NotifierHome, everything_said

SCHEMA = json.loads((Path(__file__).parent.parent / "discord" / "webhook.schema.json").read_text("utf-8"))
VALID = jsonschema.Draft202012Validator(SCHEMA)
HOSTS = ("github.com",)
PNG = bytes.fromhex("89504e470d0a1a0a") + bytes(range(256))
PICTURE = Picture("day of work.png", PNG, "two tasks merged, one waits")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def texts(payload: Mapping[str, Any]) -> Iterator[str]:
    """All that is to be read in a message."""
    for embed in payload["embeds"]:
        yield from (embed["title"], embed["description"], embed.get("footer", {}).get("text", ""))
        for field in embed["fields"]:
            yield from (field["name"], field["value"])
    yield from (one["description"] for one in payload["attachments"])


# --- messages ------------------------------------------------------------------------------------------------

PIECES = [
    *("@everyone", "@HERE", "<@123>", "<@!123>", "<#45>", "<@&678>", "</merge:9>", "<:smile:12>", "<id:guide>"),
    *("[pay](https://evil.example/x)", "[pay](<https://evil.example>)", "<https://evil.example>", "](", "discord://x"),
    *("https://github.com/a/b", "[ours](https://github.com/a)", "https://github.com.evil.example/", "www.evil.example"),
    *("```", "``", "`", "```py\nx\n```", "# ", "> ", "\n", " ", "\t", "\0", "\u200b", "\u202e", "\ud83d", "\U0001f600"),
    *(
        "@",
        "everyone",
        "here",
        "<",
        "#",
        "\u3000",
        "e\u0301",
        "&#64;everyone",
        "\\",
        "x" * 300,
        "\U0001f600" * 200,
        "word ",
    ),
]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join)
NOTICES = st.builds(
    Notice,
    st.just("k"),
    HOSTILE,
    HOSTILE,
    st.sampled_from(Tone),
    st.lists(st.builds(Section, HOSTILE, HOSTILE), max_size=30).map(tuple),
    st.none() | st.builds(Picture, HOSTILE, st.just(PNG), HOSTILE),
)


@settings(deadline=None)
@given(NOTICES)
def test_discord_takes_every_notice_and_nothing_in_it_acts(notice: Notice) -> None:
    sent = attachment(notice)
    new, changed = new_message(notice, HOSTS), changed_message(notice, HOSTS)
    for payload in (new, changed):
        VALID.validate(payload)
        assert refusal(payload, [sent.name] if sent else []) is None
        assert payload["allowed_mentions"] == {"parse": []}
        for text in texts(payload):
            text.encode()  # no half of a character
            assert not re.search(r"@(everyone|here)|<[@#:/!]|<id:|\]\(", text, re.IGNORECASE), text
            assert all(
                re.match(r"https://github\.com(?=[/)\s]|\Z)", link) for link in re.findall(r"\w+://\S*", text)
            ), text
    assert "username" not in changed  # it cannot be changed


def test_the_schema_finds_a_misspelt_key() -> None:
    payload = new_message(NOTICE)
    payload["allow_mentions"] = payload.pop("allowed_mentions")
    with pytest.raises(jsonschema.ValidationError, match="allow_mentions"):
        VALID.validate(payload)


def test_as_many_sections_as_there_is_room_for_and_the_rest_is_named() -> None:
    def sections(count: int, length: int) -> dict[str, Any]:
        notice = Notice("k", "t", "x" * 100, sections=(Section("h", "y" * length),) * count)
        embed: dict[str, Any] = new_message(notice)["embeds"][0]
        return embed

    assert "footer" not in sections(25, 10)
    assert len(sections(28, 10)["fields"]) == 25
    assert sections(28, 10)["footer"]["text"] == "… and 3 more sections in the report"
    assert sections(26, 10)["footer"]["text"] == "… and 1 more section in the report"
    assert len(sections(8, 1024)["fields"]) == 5  # 100 + 1 + 5 x 1,025 of 6,000


@pytest.mark.parametrize("length", range(1, 1100, 50))
def test_a_message_that_is_full_has_room_for_its_footer(length: int) -> None:
    large = Picture("a.png", bytes(MAX_PICTURE + 1), "w")
    notice = Notice("k", "t", "x" * length, sections=(Section("h", "y" * 1024),) * 30, picture=large)
    assert refusal(new_message(notice), []) is None


@pytest.mark.parametrize("length", [0, 40, 400, 9_000])
def test_its_foot_is_said_last_whatever_is_dropped(length: int) -> None:
    foot = f"Audit: head `{'0f' * 32}` @everyone {'z' * length}"
    notice = Notice("k", "t", "x" * 100, sections=(Section("h", "y" * 1024),) * 30, foot=foot)
    payload = new_message(notice)
    dropped, said = payload["embeds"][0]["footer"]["text"].split("\n", 1)
    assert dropped.startswith("… and 2") and said.startswith(f"Audit: head {'0f' * 32} @")
    assert "@everyone" not in said and refusal(payload, []) is None


def test_a_later_section_does_not_take_the_place_of_one_that_was_dropped() -> None:
    large, small = Section("large", "y" * 1024), Section("small", "y")
    notice = Notice("k", "t", "x" * 4096, sections=(large, large, small))
    assert [field["name"] for field in new_message(notice)["embeds"][0]["fields"]] == ["large"]


@pytest.mark.parametrize(
    ("text", "limit", "clipped"),
    [
        pytest.param("all of it", 9, "all of it", id="what fits stays"),
        pytest.param("one two three four five", 20, "one two th (cut)", id="says that it was cut"),
        pytest.param("\U0001f600" * 20, 21, "\U0001f600" * 5 + " (cut)", id="a character of two units is not halved"),
        pytest.param("```\n" + "x" * 40, 30, "```\n" + "x" * 16 + "\n``` (cut)", id="code is ended"),
        pytest.param("```x```" + "y" * 40, 30, "```x```" + "y" * 13 + " (cut)", id="ended code stays so"),
        pytest.param("x" * 18 + "```\nyyyyyyyyyyyyyy", 30, "x" * 18 + " (cut)", id="half a fence is no fence"),
        pytest.param("see https://github.com/a/b and more", 26, "see (cut)", id="half a link leads elsewhere"),
        pytest.param("at https://a.b/c and so on and on", 26, "at https://a.b/c (cut)", id="a whole link stays"),
    ],
)
def test_a_text_that_is_too_long(text: str, limit: int, clipped: str) -> None:
    assert clip(text, limit) == clipped


@given(HOSTILE, st.integers(10, 400))
def test_a_clipped_text_fits_and_ends_its_code(text: str, limit: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    found = clip(text, limit)
    assert units(found) <= limit
    assert found == text or (found.endswith(" (cut)") and found.count("```") % 2 == 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("[ours](https://github.com/a)", "[ours] (https://github.com/a)", id="no link under another text"),
        pytest.param("<https://github.com/a>", "https://github.com/a", id="a listed address stays one"),
        pytest.param("https://evil.example/a", "https[:]//evil.example/a", id="others do not"),
        pytest.param("x@everyone", "x@\u200beveryone", id="a call within a word"),
        pytest.param("me@example.org", "me@example.org", id="a mail address"),
        pytest.param("a\udcffb", "a?b", id="a byte of a file name"),
    ],
)
def test_what_stays_of_a_text(text: str, shown: str) -> None:
    assert harmless(text, HOSTS) == shown
    assert harmless(shown, HOSTS) == shown


def test_a_picture_has_a_name_that_can_stand_in_an_address_and_words_for_who_cannot_see_it() -> None:
    payload = new_message(dataclasses.replace(NOTICE, picture=PICTURE))
    assert payload["embeds"][0]["image"] == {"url": "attachment://day-of-work.png"}
    assert payload["attachments"] == [{"id": "0", "filename": "day-of-work.png", "description": PICTURE.words}]


def test_a_picture_that_is_too_large_is_left_out_and_missed() -> None:
    dark = attachment(dataclasses.replace(NOTICE, picture=Picture("a.png", PNG, "w", PNG[::-1])))
    assert dark and dark.png == PNG[::-1]
    payload = new_message(dataclasses.replace(NOTICE, picture=Picture("a.png", bytes(MAX_PICTURE + 1), "w")))
    assert payload["attachments"] == []
    assert "image" not in payload["embeds"][0]
    assert payload["embeds"][0]["footer"]["text"] == "the picture is too large for Discord"


def test_every_tone_has_a_colour_of_its_own() -> None:
    colours = {new_message(dataclasses.replace(NOTICE, tone=tone))["embeds"][0]["color"] for tone in Tone}
    assert len(colours) == len(Tone)


# --- the notifier --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalWebhook]:
    with LocalWebhook(tmp_path_factory.mktemp("discord") / "messages") as hook:
        yield hook


@pytest.fixture
def hook(server: LocalWebhook) -> LocalWebhook:
    """The one server, as if it were new: to stop one takes a fifth of a second."""
    server.faults.clear()
    server.requests.clear()
    for message in server.messages:
        server.remove(message.id)
    return server


class Discord(NotifierHome):
    secret = TOKEN

    def __init__(self, hook: LocalWebhook) -> None:
        self.hook = hook
        self.notifier = DiscordNotifier(hook.url, SystemClock(), budget=2.0)

    def shown(self) -> list[str]:
        return ["\n".join(texts(message.payload)) for message in self.hook.messages]

    def fail(self) -> None:
        self.hook.faults.append(Fault(503))

    def lose(self) -> None:
        self.hook.faults.append(Fault(dropped=True, done=True))

    def misdirected(self) -> Notifier:
        return DiscordNotifier("https://example.org/api/webhooks/1/abc", SystemClock())


class TestDiscordNotifier(NotifierContract):
    @pytest.fixture
    def home(self, hook: LocalWebhook) -> Discord:
        return Discord(hook)


def notifier(hook: LocalWebhook, budget: float = 20.0) -> DiscordNotifier:
    """Its waits cost no time."""
    return DiscordNotifier(hook.url, ManualClock(NOON), budget=budget)


REPEATABLE = LATER = Unavailable  # a 429 says when
OUTAGES = [  # what goes wrong; the error when the notice is new; the error when it is brought up to date
    pytest.param(Fault(500), DeliveryUnknown, REPEATABLE, id="500"),
    pytest.param(Fault(502, done=True), DeliveryUnknown, REPEATABLE, id="502 after the work"),
    pytest.param(page(503), DeliveryUnknown, REPEATABLE, id="503 as a page"),
    pytest.param(page(504, done=True), DeliveryUnknown, REPEATABLE, id="504 as a page, after the work"),
    pytest.param(page(200), DeliveryUnknown, REPEATABLE, id="a page of somebody else"),
    pytest.param(page(403), REPEATABLE, REPEATABLE, id="403 not by Discord's API"),
    pytest.param(page(404), REPEATABLE, REPEATABLE, id="404 not by Discord's API"),
    pytest.param(Fault(204, done=True), DeliveryUnknown, REPEATABLE, id="done without a word"),
    pytest.param(Fault(200, b'{"id": 7}'), DeliveryUnknown, REPEATABLE, id="an id that is none"),
    pytest.param(Fault(200, b"[" * 100_000), DeliveryUnknown, REPEATABLE, id="deep nonsense"),
    pytest.param(Fault(200, b'{"id": "7", "x": "%b"}' % (b"x" * 3_000_000)), DeliveryUnknown, REPEATABLE, id="a flood"),
    pytest.param(Fault(cut=True), DeliveryUnknown, REPEATABLE, id="cut body"),
    pytest.param(Fault(dropped=True), DeliveryUnknown, REPEATABLE, id="hangs up before the work"),
    pytest.param(Fault(dropped=True, done=True), DeliveryUnknown, REPEATABLE, id="hangs up after the work"),
    pytest.param(Fault(status=500, silence=9), DeliveryUnknown, REPEATABLE, id="silence before the work"),
    pytest.param(Fault(silence=9), DeliveryUnknown, REPEATABLE, id="silence after the work"),
    pytest.param(too_many(120.0), LATER, LATER, id="429 for longer than we wait"),
    pytest.param(too_many(120.0, "header"), LATER, LATER, id="429, told in the header"),
    pytest.param(page(429), LATER, LATER, id="429 as a page that does not say how long"),
    pytest.param(Fault(429, b'{"retry_after": 1e999}'), LATER, LATER, id="429 for ever"),
    pytest.param(Fault(429, b'{"retry_after": NaN}'), LATER, LATER, id="429 for no number"),
    pytest.param(Fault(429, b'{"retry_after": "soon"}'), LATER, LATER, id="429 for a word"),
    pytest.param(Fault(400, b'{"message": "Invalid Form Body", "code": 50035}'), Refused, Refused, id="400"),
]


@pytest.mark.parametrize(("fault", "new", "again"), OUTAGES)
def test_in_no_outage_a_message_is_lost_silently_or_doubled_by_who_knows_its_id(
    hook: LocalWebhook, fault: Fault, new: type[TeamError], again: type[TeamError]
) -> None:
    begun, budget = time.monotonic(), 0.3 if fault.silence else 3.0
    hook.faults.append(fault)
    with pytest.raises(new) as caught:
        notifier(hook, budget).send(NOTICE)
    assert type(caught.value) is new
    assert (getattr(caught.value, "wait", 0) > 0) is (fault.status == 429)
    is_there = len(hook.messages)
    assert is_there == 0 or new is DeliveryUnknown  # what surely was not delivered may be sent again
    sent = notifier(hook).send(NOTICE)
    hook.faults.append(fault)
    with pytest.raises(again) as caught:
        notifier(hook, budget).send(CHANGED, sent)
    assert type(caught.value) is again
    assert notifier(hook).send(CHANGED, sent) == sent
    assert len(hook.messages) == is_there + 1
    assert time.monotonic() - begun < 4


def test_an_answer_that_comes_in_byte_by_byte_is_not_read_to_its_end(hook: LocalWebhook) -> None:
    ours = DiscordNotifier(hook.url, SystemClock(), budget=0.5)
    sent, begun = ours.send(NOTICE), time.monotonic()
    hook.faults.append(Fault(drip=0.1))
    with pytest.raises(Unavailable, match="does not show"):
        ours.send(CHANGED, sent)
    assert time.monotonic() - begun < 2


def test_where_nobody_listens_nothing_was_delivered(tmp_path: Path) -> None:
    with LocalWebhook(tmp_path) as hook:
        ours = notifier(hook)
    with pytest.raises(Unavailable, match="cannot be reached") as caught:
        ours.send(NOTICE)
    assert type(caught.value) is Unavailable
    assert TOKEN not in everything_said(caught.value)


@pytest.mark.parametrize("told", ["body", "header"])
def test_too_many_requests_are_waited_for_as_long_as_discord_says(hook: LocalWebhook, told: str) -> None:
    clock = ManualClock(NOON)
    hook.faults += [too_many(1.25, told), too_many(2.5, told)]
    DiscordNotifier(hook.url, clock).send(NOTICE)
    assert len(hook.messages) == 1
    assert (clock.now() - NOON).total_seconds() == pytest.approx(3.75)


def test_no_wait_is_no_reason_to_knock_without_end(hook: LocalWebhook) -> None:
    hook.faults += [too_many(0.0)] * 50
    with pytest.raises(Unavailable, check=lambda error: error.wait > 0):
        notifier(hook, 5.0).send(NOTICE)
    assert len(hook.requests) <= 11


def test_a_wait_that_is_too_long_is_told_and_kept(hook: LocalWebhook) -> None:
    """Calls before its end would count as abuse."""
    clock = ManualClock(NOON)
    ours = DiscordNotifier(hook.url, clock, budget=20)
    hook.faults.append(too_many(120.5))
    for passed, wait in ((0, 120.5), (60, 60.5)):
        clock.sleep(passed)
        with pytest.raises(Unavailable, match="takes nothing") as caught:
            ours.send(NOTICE)
        assert caught.value.wait == pytest.approx(wait)
    assert len(hook.requests) == 1
    clock.sleep(50)
    ours.send(NOTICE)
    assert len(hook.messages) == 1


def test_the_last_request_of_a_window_is_followed_by_a_pause(hook: LocalWebhook) -> None:
    clock = ManualClock(NOON)
    ours = DiscordNotifier(hook.url, clock)
    hook.faults.append(Fault(headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "1.5"}))
    sent = ours.send(NOTICE)
    assert clock.now() == NOON
    ours.send(CHANGED, sent)
    assert (clock.now() - NOON).total_seconds() == pytest.approx(1.5)


def test_a_message_that_somebody_deleted_is_posted_anew(hook: LocalWebhook) -> None:
    ours = notifier(hook)
    first = ours.send(NOTICE)
    hook.remove(first)
    second = ours.send(CHANGED, first)
    assert [message.id for message in hook.messages] == [second] != [first]


@pytest.mark.parametrize("sent", ["not-an-id", "../../1", "99999999999999999999", "1?x=", "١٢"])
def test_an_id_that_is_none_of_ours_is_no_message_to_change(hook: LocalWebhook, sent: str) -> None:
    assert notifier(hook).send(NOTICE, sent) == hook.messages[0].id


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Fault(401, b'{"message": "Invalid Webhook Token", "code": 50027}'), id="401"),
        pytest.param(Fault(403, b'{"message": "Missing Access", "code": 50001}'), id="403"),
        pytest.param(Fault(404, b'{"message": "Unknown Webhook", "code": 10015}'), id="404"),
        pytest.param(Fault(404, b'{"message": "404: Not Found", "code": 0}'), id="404, the general one"),
        pytest.param(Fault(302, b"", {"location": "/api/webhooks/elsewhere"}), id="moved: not followed"),
    ],
)
@pytest.mark.parametrize("sent", ["", "1300000000000000999"])
def test_a_webhook_that_is_gone_is_never_used_again(hook: LocalWebhook, answer: Fault, sent: str) -> None:
    ours = notifier(hook)
    hook.faults.append(answer)
    for _ in range(3):
        with pytest.raises(Misconfigured, match="DISCORD_WEBHOOK_URL") as caught:
            ours.send(NOTICE, sent)
    assert len(hook.requests) == 1
    assert TOKEN not in everything_said(caught.value)


def test_a_webhook_that_was_deleted_in_discord_is_gone(tmp_path: Path) -> None:
    with LocalWebhook(tmp_path) as hook:
        sent = notifier(hook).send(NOTICE)
        hook.end()
        for known in ("", sent):
            with pytest.raises(Misconfigured, match="404"):
                notifier(hook).send(NOTICE, known)


def test_a_forums_webhook_is_the_owners_to_change(hook: LocalWebhook) -> None:
    hook.faults.append(Fault(400, b'{"message": "Webhooks posted to forum channels ...", "code": 220001}'))
    with pytest.raises(Misconfigured, match="text channel"):
        notifier(hook).send(NOTICE)


def test_a_refusal_has_discords_words_in_one_line_without_our_address(hook: LocalWebhook) -> None:
    errors = {"embeds": {"0": {"title": {"_errors": [{"code": "X", "message": f"Too\nlong {TOKEN} " + "!" * 500}]}}}}
    hook.faults.append(Fault(400, json.dumps({"message": "Invalid Form Body", "code": 1, "errors": errors}).encode()))
    with pytest.raises(Refused) as caught:
        notifier(hook).send(NOTICE)
    assert "Invalid Form Body; embeds.0.title: Too long *** !!!" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_picture_arrives_whole_and_is_replaced_not_added(hook: LocalWebhook) -> None:
    ours = notifier(hook)
    sent = ours.send(dataclasses.replace(NOTICE, picture=PICTURE))
    assert dict(hook.messages[0].files) == {"day-of-work.png": PNG}
    ours.send(dataclasses.replace(NOTICE, picture=Picture("evening.png", PNG[::-1], "later")), sent)
    assert dict(hook.messages[0].files) == {"evening.png": PNG[::-1]}
    assert {path.name for path in hook.folder.iterdir()} == {f"{sent}.json", f"{sent}-evening.png"}
    ours.send(NOTICE, sent)
    assert dict(hook.messages[0].files) == {}


def test_nothing_of_the_address_is_logged(hook: LocalWebhook, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        ours = notifier(hook)
        ours.send(CHANGED, ours.send(dataclasses.replace(NOTICE, picture=PICTURE)))
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(vars(ours))


def test_a_thread_of_the_channel_is_named_in_every_call(hook: LocalWebhook) -> None:
    ours = DiscordNotifier(f"{hook.url}?thread_id=42", ManualClock(NOON))
    ours.send(CHANGED, ours.send(NOTICE))
    assert [asked.query for asked in hook.requests] == [{"thread_id": "42", "wait": "true"}, {"thread_id": "42"}]


@pytest.mark.parametrize("version", ["/api/", "/api/v6/"])
def test_the_version_of_the_api_is_ours_whatever_the_address_says(hook: LocalWebhook, version: str) -> None:
    DiscordNotifier(hook.url.replace("/api/", version), ManualClock(NOON)).send(NOTICE)
    assert hook.requests[0].path.startswith("/api/v10/webhooks/")


SECRET = "aB3cD5eF7gH9" * 5
GOOD = f"https://discord.com/api/webhooks/123456789012345678/{SECRET}"


@pytest.mark.parametrize(
    "url",
    [
        GOOD,
        f" {GOOD}/ ",
        GOOD.replace("discord.com", "discordapp.com"),
        GOOD.replace("discord.com", "ptb.discord.com"),
        GOOD.replace("discord.com", "canary.discord.com"),
        GOOD.replace("/api/", "/api/v10/"),
        f"{GOOD}?thread_id=123",
        GOOD.replace("https://discord.com", "http://127.0.0.1:8080"),
    ],
)
def test_an_address_that_is_taken(url: str) -> None:
    assert DiscordNotifier(url, ManualClock(NOON)).name == "Discord"


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param(GOOD.replace("https", "http"), id="in the clear"),
        pytest.param(GOOD.replace("discord.com", "discord.com.evil.example"), id="another host"),
        pytest.param(GOOD.replace("discord.com", "evil.example/discord.com"), id="Discord as a folder"),
        pytest.param(GOOD.replace("//", "//discord.com@"), id="a user"),
        pytest.param(GOOD.replace(".com/", ".com:8443/"), id="another port"),
        pytest.param(GOOD.replace("https://discord.com", f"https://discord.com:{SECRET}"), id="a port that is none"),
        pytest.param(GOOD.replace("https://discord.com", "https://[discord"), id="a host that is none"),
        pytest.param(GOOD.replace("https://discord.com", "http://192.0.2.1"), id="another machine"),
        pytest.param(f"{GOOD}/slack", id="Slack's form"),
        pytest.param(f"{GOOD}/../../users", id="elsewhere at Discord"),
        pytest.param(f"{GOOD}?wait=false", id="a question of its own"),
        pytest.param(f"{GOOD}#x", id="a fragment"),
        pytest.param(f"discord://123456789012345678/{SECRET}", id="Apprise's form"),
    ],
)
def test_an_address_that_is_refused_with_what_to_type_and_without_its_secret(url: str) -> None:
    with pytest.raises(Misconfigured, match="DISCORD_WEBHOOK_URL=https") as caught:
        DiscordNotifier(url, ManualClock(NOON))
    assert SECRET not in everything_said(caught.value)


# --- the local webhook ---------------------------------------------------------------------------------------


def ask(url: str, method: str = "GET", payload: Any = None, query: str = "?wait=true") -> tuple[int, Any]:
    """By another client than ours."""
    body = None if payload is None else payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    request = urllib.request.Request(url + query, body, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            data = response.read()
            return response.status, json.loads(data) if data else None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_the_local_webhook_keeps_shows_changes_and_forgets_messages(hook: LocalWebhook) -> None:
    status, made = ask(hook.url, "POST", {"content": "one", "username": "us"})
    place = f"{hook.url}/messages/{made['id']}"
    assert (status, made["content"]) == (200, "one")
    assert ask(place, "PATCH", {"content": "two"})[1]["content"] == "two"
    assert ask(place)[1]["content"] == "two"
    assert hook.messages[0].payload == {"content": "two", "username": "us"}
    kept = hook.folder / f"{made['id']}.json"
    assert json.loads(kept.read_text("utf-8")) == {"content": "two", "username": "us"}
    assert ask(place, "DELETE") == (204, None)
    assert ask(place) == (404, {"message": "Unknown Message", "code": 10008})
    assert not kept.exists()


def test_without_wait_the_local_webhook_does_not_show_the_message(hook: LocalWebhook) -> None:
    assert ask(hook.url, "POST", {"content": "one"}, query="") == (204, None)
    assert len(hook.messages) == 1


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        pytest.param(lambda url: url[:-1] + "1", 401, 50027, id="token"),
        pytest.param(lambda url: url.replace("/1300", "/1301"), 404, 10015, id="webhook"),
        pytest.param(lambda url: url.replace("/webhooks/", "/hooks/"), 404, 0, id="path"),
    ],
)
def test_the_local_webhook_knows_only_its_own_address(
    hook: LocalWebhook, wrong: Callable[[str], str], status: int, code: int
) -> None:
    found, body = ask(wrong(hook.url), "POST", {"content": "one"})
    assert (found, body["code"]) == (status, code)


def embed(**parts: Any) -> dict[str, Any]:
    return {"embeds": [{"title": "t", **parts}]}


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        pytest.param({"content": "x" * 2001}, "content", id="content"),
        pytest.param({"content": "x", "username": "my discord"}, "username", id="a forbidden name"),
        pytest.param({"content": "x", "username": "x" * 81}, "username", id="a long name"),
        pytest.param({"content": 5}, "content", id="no text"),
        pytest.param({"embeds": [{"title": "t"}] * 11}, "embeds", id="embeds"),
        pytest.param(embed(title="x" * 257), "embeds.0.title", id="title"),
        pytest.param(embed(title="\U0001f600" * 129), "embeds.0.title", id="title of large characters"),
        pytest.param(embed(description="x" * 4097), "embeds.0.description", id="description"),
        pytest.param(embed(footer={"text": "x" * 2049}), "embeds.0.footer.text", id="footer"),
        pytest.param(embed(color=1 << 24), "embeds.0.color", id="colour"),
        pytest.param(embed(fields=[{"name": "n", "value": "v"}] * 26), "embeds.0.fields", id="fields"),
        pytest.param(embed(fields=[{"name": "n", "value": "x" * 1025}]), "embeds.0.fields.0.value", id="value"),
        pytest.param(embed(fields=[{"name": "x" * 257, "value": "v"}]), "embeds.0.fields.0.name", id="name"),
        pytest.param(embed(fields=[{"name": " ", "value": "v"}]), "embeds.0.fields.0.name", id="blank name"),
        pytest.param(embed(fields=[{"name": "n"}]), "embeds.0.fields.0.value", id="no value"),
        pytest.param(
            embed(image={"url": "attachment://a.png"}), "embeds.0.image.url", id="a picture that is not there"
        ),
        pytest.param({"embeds": [{"description": "x" * 3001}] * 2}, "embeds", id="6,000 over all embeds"),
    ],
)
def test_the_local_webhook_refuses_what_discord_refuses_and_says_where(
    hook: LocalWebhook, payload: Mapping[str, Any], place: str
) -> None:
    status, body = ask(hook.url, "POST", payload)
    assert (status, body["code"]) == (400, 50035)
    errors = body["errors"]
    for part in place.split("."):
        errors = errors[part]
    assert errors["_errors"][0]["message"]
    assert hook.messages == []


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        pytest.param({}, 50006, id="nothing in it"),
        pytest.param({"embeds": [{}]}, 50006, id="an empty embed"),
        pytest.param(b"{", 50109, id="no JSON"),
        pytest.param([], 50109, id="a list"),
    ],
)
def test_the_local_webhook_refuses_what_is_no_message(hook: LocalWebhook, payload: Any, code: int) -> None:
    status, body = ask(hook.url, "POST", payload)
    assert (status, body["code"]) == (400, code)


def test_an_edit_keeps_the_files_that_it_names_or_all_if_it_names_none(hook: LocalWebhook) -> None:
    sent = notifier(hook).send(dataclasses.replace(NOTICE, picture=PICTURE))
    place = f"{hook.url}/messages/{sent}"
    (file,) = ask(place)[1]["attachments"]
    ask(place, "PATCH", {"content": "more"})
    ask(place, "PATCH", {"content": "more", "attachments": [{"id": file["id"]}]})
    assert list(hook.messages[0].files) == [file["filename"]]
    ask(place, "PATCH", {"embeds": [], "attachments": []})
    assert list(hook.messages[0].files) == []


def test_the_local_webhook_tells_what_it_hears(tmp_path: Path) -> None:
    heard: list[str] = []
    with LocalWebhook(tmp_path, heard=heard.append) as hook:
        ours = notifier(hook)
        ours.send(CHANGED, ours.send(NOTICE))
    assert heard == ["webhook: a message -> 200", "webhook: a message brought up to date -> 200"]
