"""The channel in which the owner answers: what is read of it, and one reply below each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.notify.discord_channel import DiscordChannel, at_time
from sisimpur.simulators.discord.local_channel import BOT_TOKEN, CHANNEL
from sisimpur.simulators.discord.local_webhook import Fault, LocalWebhook, page, too_many

OWNER, NOW = "42", datetime(2026, 11, 20, 8, tzinfo=UTC)


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[LocalWebhook]:
    with LocalWebhook(tmp_path / "discord") as hook:
        yield hook


def channel(hook: LocalWebhook, token: str = BOT_TOKEN, number: str = CHANNEL) -> DiscordChannel:
    return DiscordChannel(token, number, hook.url.partition("/api/")[0])


def test_what_was_written_since_is_read_in_order_with_its_author(hook: LocalWebhook) -> None:
    old = hook.channel.says(OWNER, "/approve", NOW)
    hook.channel.says("7", "hello", NOW + timedelta(seconds=1))
    hook.channel.says(OWNER, "/reject why", NOW + timedelta(seconds=2), edited_timestamp=NOW.isoformat())
    found = channel(hook).newer(old)
    assert [(one.author, one.text, one.edited) for one in found] == [
        ("7", "hello", False),
        (OWNER, "/reject why", True),
    ]
    assert len(channel(hook).newer(at_time(NOW - timedelta(days=1)))) == 3
    assert channel(hook).newer(at_time(NOW + timedelta(days=1))) == []


@pytest.mark.parametrize(
    "more",
    [{"author": {"id": OWNER, "bot": True}}, {"webhook_id": "1"}, {"type": 7}],
    ids=["a bot", "a webhook", "that somebody joined"],
)
def test_what_no_person_wrote_is_nobodys_word(hook: LocalWebhook, more: dict[str, object]) -> None:
    hook.channel.says(OWNER, "/approve", NOW)
    hook.channel.messages[0] |= more
    assert [one.author for one in channel(hook).newer("0")] == [""]


@pytest.mark.parametrize(
    "more",
    [{"content": 5}, {"id": "../1"}, {"id": 5}, {"timestamp": "soon"}, {"author": None}, {"author": {}}],
    ids=str,
)
def test_what_is_no_message_is_left_out(hook: LocalWebhook, more: dict[str, object]) -> None:
    hook.channel.says(OWNER, "first", NOW)
    hook.channel.messages[0] |= more
    hook.channel.messages[0]["id"] = more.get("id", "1") if isinstance(more.get("id", "1"), str) else 5
    hook.channel.answer = lambda *_: (200, list(hook.channel.messages))  # type: ignore[method-assign]
    assert channel(hook).newer("0") == []


def test_a_reply_stands_once_below_the_message_and_calls_nobody(hook: LocalWebhook) -> None:
    said = hook.channel.says(OWNER, "/approve", NOW)
    for _ in range(2):
        channel(hook).reply(said, "@everyone " + "long " * 1000)
    (reply,) = [one for one in hook.channel.messages if one["author"].get("bot")]
    assert reply["message_reference"]["message_id"] == said and reply["allowed_mentions"] == {"parse": []}
    assert len(reply["content"]) <= 2000


@pytest.mark.parametrize(
    ("token", "number", "why"),
    [("another", CHANNEL, "does not know DISCORD_BOT_TOKEN"), (BOT_TOKEN, "5", "lets the bot not into")],
)
def test_what_the_owner_has_to_mend_is_said(hook: LocalWebhook, token: str, number: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        channel(hook, token, number).newer("0")


@pytest.mark.parametrize(
    "fault",
    [page(502), too_many(3.0), Fault(dropped=True), Fault(200, b"{}"), Fault(200, b"[[[["), Fault(200, b"[" * 100_000)],
    ids=["away", "too many", "cut", "no list", "no JSON", "deep"],
)
def test_what_passes_is_asked_again_later(hook: LocalWebhook, fault: Fault) -> None:
    hook.faults.append(fault)
    with pytest.raises(Unavailable):
        channel(hook).newer("0")
    assert channel(hook).newer("0") == []


@pytest.mark.parametrize(
    "api", ["http://discord.com", "https://discord.com.evil.example", "https://evil.example", "ftp://127.0.0.1", "x"]
)
def test_the_token_goes_to_discord_and_this_machine_only(api: str) -> None:
    with pytest.raises(Misconfigured, match="DISCORD_API_URL"):
        DiscordChannel(BOT_TOKEN, CHANNEL, api)
