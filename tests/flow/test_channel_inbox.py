"""A change that waits is answered in the Discord channel: asked once more, by its commit, by listed accounts alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.shared.notify.discord_notifier import DiscordNotifier
from sisimpur.simulators.discord.local_channel import BOT_TOKEN, CHANNEL
from sisimpur.simulators.discord.local_webhook import Fault, LocalWebhook, page
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.stage import APPROVES, CODES, VISION, Stage, goals_of, plans, reads, task

OWNER, STRANGER, TASK = "42", "43", "20261120-01"
SUM = goals_of(VISION)[0]
Waiting = tuple[Stage, LocalWebhook]


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Waiting]:
    """No test is run, so the change waits."""
    with PlayedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model, LocalWebhook(tmp_path / "hook") as hook:
        stage = FlowStage(tmp_path, model.url).set_up()
        with (stage.home.config / "policy.yaml").open("a") as policy:
            policy.write(f'discord: {{channel: "{CHANNEL}", owners: ["{OWNER}"]}}\n')
        with (stage.home.config / ".env").open("a") as keys:
            keys.write(f"DISCORD_BOT_TOKEN={BOT_TOKEN}\nDISCORD_API_URL={hook.url.partition('/api/')[0]}\n")
        stage.run_day()
        assert stage.states() == {TASK: "in_review"}
        yield stage, hook


def says(waiting: Waiting, text: str, author: str = OWNER, **more: object) -> str:
    """What is replied below it; empty: nothing."""
    stage, hook = waiting
    before = len(hook.channel.replies)
    stage.clock.sleep(60)
    hook.channel.says(author, text, stage.clock.now(), **more)
    stage.clock.sleep(60)
    stage.run_day()
    return "\n".join(hook.channel.replies[before:])


def commit_in(reply: str) -> str:
    return reply.rpartition(f"/approve {TASK} ")[2].rstrip("`")


def test_a_yes_is_asked_once_more_with_what_he_has_to_know_and_then_merged(waiting: Waiting) -> None:
    asked = says(waiting, "/approve")
    assert waiting[0].states() == {TASK: "in_review"}
    assert "are you sure?" in asked and "`app.py`" in asked and "spent: $" in asked and "why you are asked: " in asked
    assert "is approved" in says(waiting, f"/approve {TASK} {commit_in(asked)}")
    assert waiting[0].states() == {TASK: "completed"}
    with waiting[0].records() as records:
        via = records.db.rows("select via from audit where kind = 'ruling'")
    assert [row["via"] for row in via] == ["discord"]


@pytest.mark.parametrize(
    ("text", "author", "more"),
    [
        pytest.param("/approve {commit}", STRANGER, {}, id="a stranger"),
        pytest.param("/approve {commit}", OWNER, {"webhook_id": "1"}, id="a webhook in the owner's name"),
        pytest.param("/approve {commit}", OWNER, {"edited_timestamp": "2026-11-20T09:00:00+00:00"}, id="edited"),
        pytest.param("/approve {commit} NO WAIT, do not merge", OWNER, {}, id="more behind it"),
        pytest.param("yes, /approve {commit}", OWNER, {}, id="within a sentence"),
        pytest.param("thanks\n/approve {commit}", OWNER, {}, id="in a second line"),
        pytest.param("/approve 0123456789ab", OWNER, {}, id="another commit"),
        pytest.param("/approve 20261119-07 {commit}", OWNER, {}, id="another task"),
        pytest.param("/approve", OWNER, {}, id="a first yes twice"),
        pytest.param("", OWNER, {}, id="a picture without words"),
    ],
)
def test_nothing_else_merges_it(waiting: Waiting, text: str, author: str, more: dict[str, object]) -> None:
    commit = commit_in(says(waiting, "/approve"))
    says(waiting, text.format(commit=commit), author, **more)
    assert waiting[0].states() == {TASK: "in_review"}


def test_a_message_is_followed_once_although_it_is_listed_again(waiting: Waiting) -> None:
    says(waiting, f"/reject {TASK} not now")
    assert waiting[0].states() == {TASK: "failed"}
    assert "coder tries again" in says(waiting, f"/retry {TASK} use a sum")
    assert waiting[0].states()[TASK] == "in_review"
    waiting[0].run_day()
    assert waiting[0].states()[TASK] == "in_review" and len(waiting[1].channel.replies) == 2


@pytest.mark.parametrize("text", ["/retry as in {id}", "/retry because {id} failed", "/cancel see {id}"])
def test_a_task_that_is_only_mentioned_is_not_meant(waiting: Waiting, text: str) -> None:
    says(waiting, f"/reject {TASK} not now")
    assert says(waiting, text.format(id=TASK)) == "nothing waits for you"
    assert waiting[0].states() == {TASK: "failed"}


def test_a_key_that_an_answer_repeats_does_not_leave(waiting: Waiting) -> None:
    with (waiting[0].home.config / ".env").open("a") as keys:
        keys.write("TAVILY_API_KEY=Fix-the-sum-is-a-key\n")
    with waiting[0].records() as records, records.db.transaction() as db:
        db.execute("update tasks set title = 'Fix-the-sum-is-a-key' where id = ?", (TASK,))
    asked = says(waiting, "/approve")
    assert "are you sure?" in asked and "Fix-the-sum-is-a-key" not in asked


def test_an_answer_that_cannot_be_sent_counts_all_the_same(waiting: Waiting) -> None:
    stage, hook = waiting
    stage.clock.sleep(60)
    hook.channel.says(OWNER, f"/reject {TASK} not now", stage.clock.now())
    hook.faults += [Fault(), page(502)]
    stage.clock.sleep(60)
    before = len(stage.said)
    stage.run_day()
    assert stage.states() == {TASK: "failed"} and not hook.channel.replies
    assert any("heeded, but not answered there" in line for line in stage.said[before:])


def test_what_was_written_yesterday_is_old(waiting: Waiting) -> None:
    stage, hook = waiting
    hook.channel.says(OWNER, f"/reject {TASK}", stage.clock.now())
    stage.clock.sleep(timedelta(days=1, hours=1).total_seconds())
    stage.run_day()
    assert stage.states() == {TASK: "in_review"} and not hook.channel.replies


def test_a_channel_that_is_away_is_told_once_and_the_work_goes_on(waiting: Waiting) -> None:
    stage, hook = waiting
    hook.channel.is_gone = True
    before = len(stage.said)
    stage.clock.sleep(60)
    assert stage.run_day() == []
    assert sum("what you write at Discord is not heard" in line for line in stage.said[before:]) == 1


@pytest.mark.parametrize("words", ["/approve", "/approve {commit}"])
def test_a_protected_path_is_not_approved_there(waiting: Waiting, words: str) -> None:
    stage, _ = waiting
    commit = commit_in(says(waiting, "/approve"))
    target = next(stage.home.targets.glob("*.yaml"))
    target.write_text(target.read_text().replace("protected: []", "protected: [app.py]"))
    assert "approved on the board or below its pull request only" in says(waiting, words.format(commit=commit))
    assert stage.states() == {TASK: "in_review"}


# --- a plan that waits -------------------------------------------------------------------------------------------


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[Waiting]:
    tasks = (task(SUM), task(SUM, "Say it in the readme", ["README.md"]))
    with PlayedModel([reads(), plans(*tasks), CODES, APPROVES]) as model, LocalWebhook(tmp_path / "hook") as hook:
        stage = FlowStage(tmp_path, model.url).set_up()
        with (stage.home.config / "policy.yaml").open("a") as policy:
            policy.write(f'discord: {{channel: "{CHANNEL}", owners: ["{OWNER}"]}}\n')
        stage.given_config("policy", approve="{plan: always}")
        with (stage.home.config / ".env").open("a") as keys:
            keys.write(f"DISCORD_BOT_TOKEN={BOT_TOKEN}\nDISCORD_API_URL={hook.url.partition('/api/')[0]}\n")
            keys.write(f"DISCORD_WEBHOOK_URL={hook.url}\n")
        stage.services.append(DiscordNotifier(hook.url, stage.clock))
        stage.run_day()
        assert set(stage.states().values()) == {"backlog"}
        yield stage, hook


def test_a_plan_is_approved_there_by_a_second_word_that_names_it(planned: Waiting) -> None:
    asked = says(planned, "/approve plan")
    assert set(planned[0].states().values()) == {"backlog"}
    assert "are you sure?" in asked and f"{TASK} Fix the sum" in asked and "Say it in the readme" in asked
    wrong = says(planned, "/approve plan 0123456789ab")
    assert "the plan is another one now" in wrong and set(planned[0].states().values()) == {"backlog"}
    second = asked.rpartition("`/approve plan ")[2].rstrip("`")
    assert "2 tasks of the plan approved" in says(planned, f"/approve plan {second}")
    assert set(planned[0].states().values()) == {"in_review"}


@pytest.mark.parametrize("text", ["/reject plan no", "/cancel plan", "/retry plan otherwise"])
def test_a_plan_is_not_dropped_whole_but_task_by_task(planned: Waiting, text: str) -> None:
    assert "a plan is approved whole" in says(planned, text)
    assert "out of the queue" in says(planned, f"/cancel {TASK} not now")
    assert sorted(planned[0].states().values()) == ["backlog", "failed"]


def test_one_task_of_a_plan_begins_by_a_word_that_names_it(planned: Waiting) -> None:
    assert "a plan is approved whole" in says(planned, "/unblock"), "it names none"
    assert f"{TASK}: begins without (plan)" in says(planned, f"/unblock {TASK} the rest can wait")
    assert sorted(planned[0].states().values()) == ["backlog", "in_review"]
    assert "waits for no other task" in says(planned, f"/unblock {TASK} once more")
    with planned[0].records() as records:
        assert [dict(row) for row in records.db.rows("select task, without, why from waivers")] == [
            {"task": TASK, "without": "(plan)", "why": "the rest can wait"}
        ]


def test_the_message_says_once_how_to_answer_there(planned: Waiting) -> None:
    stage, hook = planned
    said = [embed["description"] for embed in embeds(hook)]
    assert said and said[-1].count("In your Discord channel you can answer") == 1 and "`/approve plan`" in said[-1]
    asked = says(planned, "/approve plan")
    says(planned, asked.rpartition("write: `")[2].rstrip("`"))
    waits = [one["description"] for one in embeds(hook) if one["title"].startswith("Waits for you")]
    assert waits and all(f"`/approve {one}`" in text for one, text in zip(sorted(stage.states()), waits, strict=True))


def test_whom_nobody_hears_is_not_told_to_answer_there(tmp_path: Path) -> None:
    with PlayedModel([reads(), plans(task(SUM)), CODES, APPROVES]) as model, LocalWebhook(tmp_path / "hook") as hook:
        stage = FlowStage(tmp_path, model.url).set_up()
        with (stage.home.config / ".env").open("a") as keys:
            keys.write(f"DISCORD_WEBHOOK_URL={hook.url}\n")
        stage.services.append(DiscordNotifier(hook.url, stage.clock))
        stage.run_day()
        assert stage.states() == {TASK: "in_review"}
        assert embeds(hook) and not [one for one in embeds(hook) if "/approve" in one["description"]]


def embeds(hook: LocalWebhook) -> list[dict[str, Any]]:
    return [embed for message in hook.messages for embed in message.payload["embeds"]]
