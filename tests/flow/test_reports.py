"""What the owner gets to read: every day, also when there was nothing, when it failed, and when nobody was there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.app import main
from sisimpur.cli.commands import owner_commands
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.wiring.services import services
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ticket import UNTRUE, CallEnding, Reservation, TicketOrder
from sisimpur.shared.money.token_budget import NANO, Ask, Rates
from sisimpur.shared.notify.discord_notifier import DiscordNotifier
from sisimpur.shared.notify.notice import DeliveryUnknown
from sisimpur.shared.store.gate_book import Ruling
from sisimpur.shared.store.task_store import Survey, TaskStore
from sisimpur.simulators.discord.local_webhook import LocalWebhook
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.flow.memory_wire import PlayedModel
from tests.flow.stage import FlowStage
from tests.journey.gated import BAD, FILES, GOOD, ID, LAST, VISION, WORSE, WORST, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, goals_of, plans, reads, task
from tests.journey.test_recount import FIGURES_IN, with_one_figure_changed
from tests.mailbox import Mailbox
from tests.recount import recounted

DAY, HOURS = "2026-11-20", 3600.0
IDLE = "# Vision\n"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with PlayedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Iterator[Stage]:
    """A day that merges one change. Whatever becomes of it: the figures of its evening are those of the books."""
    stage = FlowStage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
    stage.services.append(Mailbox(tmp_path / "box"))
    yield stage
    for page in sorted(stage.home.reports.glob("*.md"))[-1:]:
        if (title := page.read_text()).startswith(f"# {page.stem}: ") and ": nobody was at work" not in title:
            assert recounted(stage.home.root, page.stem) == []


def box(stage: Stage) -> Mailbox:
    (service,) = stage.services
    assert isinstance(service, Mailbox)
    return service


def report(stage: Stage, day: str = DAY) -> str:
    return (stage.home.reports / f"{day}.md").read_text()


def section(text: str, heading: str) -> str:
    assert f"## {heading}\n" in text, f"no {heading!r} in:\n{text}"
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip()


def later(stage: Stage, days: int) -> None:
    stage.clock.sleep(days * 24 * HOURS)


# --- a day ---------------------------------------------------------------------------------------------------


def test_the_costs_of_the_report_are_those_of_the_money_book(stage: Stage) -> None:
    stage.run_day()
    with stage.records() as records:
        day, fixed = records.spending.totals(DAY, 0).used, records.spending.spent_by(ID).used
    text = report(stage).replace(",", "")
    for amount in (day, fixed, day - fixed):
        assert f"${amount / 1e9:.4f}" in text


def test_what_changed_for_visitors_is_what_the_reviewer_of_the_merged_change_has_said(
    stage: Stage, model: ScriptedModel
) -> None:
    """No call more than before: it is a word of the verdict."""
    said = {"decision": "approve", "reason": "", "findings": [], "effect": "The sum of a *cart* is right @everyone."}
    model.play([reads(), plans(fix()), CODES, {"agent": "reviewer", "json": said}])
    stage.run_day()
    told = section(report(stage), "What changed for your visitors")
    assert told.startswith(f"- **Fix the sum** (`{ID}`): The sum of a \\*cart\\* is right @\u200beveryone.")
    (evening,) = box(stage).messages()
    assert evening["sections"]["What changed for your visitors"] == told
    assert "- this week $" in section(report(stage), "Money")
    other = told.replace("right", "wrong")
    assert recounted(stage.home.root, DAY, report(stage).replace(told, other)) != []


def test_the_day_is_one_message_that_is_edited_from_morning_to_evening(stage: Stage) -> None:
    stage.run_day(until="planning")
    (morning,) = box(stage).messages()
    assert morning["title"] == f"{DAY}: good morning"
    assert "- Fix the sum" in morning["sections"]["Plan for today"]
    assert section(report(stage), "Plan for today").startswith("- 1 task, probably about $")
    stage.run_day()
    (evening,) = box(stage).messages()
    assert evening["title"] == f"{DAY}: the day's report"
    assert evening["sections"]["Shipped"].startswith("- **Fix the sum**")
    assert evening["png"] > 1_000


def test_the_head_of_the_audit_stands_in_the_evenings_report_and_message_and_the_chain_holds_it(stage: Stage) -> None:
    stage.run_day()
    with stage.records() as records:
        told = records.audit.head()
        assert told and told.rows < records.audit.check().rows  # the message itself left a row
        assert records.audit.holds(told.hash) == told
    assert f"head `{told.hash}` of {told.rows} rows" in section(report(stage), "Audit")
    (message,) = box(stage).messages()
    assert f"Audit: head `{told.hash}`" in message["foot"]


def test_each_figure_of_the_evenings_message_is_recomputed(stage: Stage) -> None:
    stage.run_day()
    message = box(stage).of(":day")
    assert (parts := message["sections"]) and "Money" in parts and "Shipped" in parts
    assert_each_changed_figure_is_noticed(stage, DAY, message, (*FIGURES_IN, "What changed for your visitors"), 8)


def test_each_figure_of_a_morning_is_recomputed(stage: Stage, model: ScriptedModel) -> None:
    """The page and the message: of the last day with work, of the days without, of what is planned and waits."""
    stage.run_day()
    later(stage, 3)
    vision = f"{VISION}- Raise X in settings.py\n- Raise Y in other.py\n"
    stage.given_vision(vision)
    asked = {"goal_id": goals_of(vision)[2], "verdict": "question", "text": "How high?", "evidence": []}
    planned = plans(task(goals_of(vision)[1], "Raise X", ["settings.py"]))
    planned["json"]["goals"].append(asked)
    model.play([reads(), planned])
    stage.run_day(until="planning")
    day, message = "2026-11-23", box(stage).of("2026-11-23:day")
    told = section(report(stage, day), DAY)
    assert "1 merged" in told and "1 test added" in told and "Missed" in message["sections"]
    assert "1 thing waits for you" in message["text"]
    assert recounted(stage.home.root, day) == []
    headings = (DAY, "Plan for today", "Deployed")
    page = report(stage, day)
    changed = [recounted(stage.home.root, day, wrong) for _, wrong in with_one_figure_changed(page, headings)]
    assert len(changed) > 5 and all(changed)
    assert_each_changed_figure_is_noticed(stage, day, message, headings, 5)
    for words in ("- Raise X", "How high?", "2026-11-21, "):
        without = [line for line in page.splitlines() if words not in line]
        assert len(without) < len(page.splitlines()) and recounted(stage.home.root, day, "\n".join(without)) != []


def test_yesterday_is_told_against_the_cap_that_it_had(stage: Stage) -> None:
    stage.run_day()
    stage.given_config("policy", budget="{task: 1.00, day: 4.00, month: 100.00}")
    later(stage, 1)
    stage.run_day(until="morning")
    assert "of $5.00 spent" in section(report(stage, "2026-11-21"), DAY)
    assert recounted(stage.home.root, "2026-11-21") == []


def assert_each_changed_figure_is_noticed(
    stage: Stage, day: str, message: Mapping[str, Any], headings: Collection[str], at_least: int
) -> None:
    texts = {"": message["text"], **message["sections"]}
    page = "\n".join(f"## {heading}\n{text}" if heading else text for heading, text in texts.items())
    changed = {words: noticed(stage, day, message, wrong) for words, wrong in with_one_figure_changed(page, headings)}
    assert noticed(stage, day, message, page) == [] and len(changed) >= at_least
    assert [words for words, found in changed.items() if not found] == []


def noticed(stage: Stage, day: str, message: Mapping[str, Any], page: str) -> list[str]:
    """`page`: its text, and each section below its heading."""
    text, *sections = page.split("\n## ")
    parts = [{"heading": heading, "text": text} for heading, _, text in (one.partition("\n") for one in sections)]
    return recounted(stage.home.root, day, message={"title": message["title"], "text": text, "sections": parts})


def test_the_same_day_again_sends_nothing_and_takes_nothing_back(stage: Stage) -> None:
    stage.run_day()
    tries, text, messages = box(stage).tries, report(stage), list(box(stage).messages())
    stage.run_day()
    assert (box(stage).tries, report(stage), list(box(stage).messages())) == (tries, text, messages)


def test_after_each_finished_task_the_message_is_brought_up_to_date_but_not_every_minute(
    stage: Stage, model: ScriptedModel
) -> None:
    """Two tasks fail one after the other: the first is shown at once, the second with the evening."""
    titles: list[str] = []
    send = Mailbox.send

    class Watched(Mailbox):
        def send(self, notice, sent=""):  # type: ignore[no-untyped-def]
            titles.append(notice.title)
            return send(self, notice, sent)

    stage.services[:] = [Watched(stage.root / "box")]
    stage.change = lambda folder, job: None
    two = (fix(), {**fix(), "key": "b", "title": "Greet", "files": ["other.py"]})
    model.play([reads(), plans(*two), CODES, APPROVES])
    stage.run_day()
    assert list(stage.states().values()) == ["failed", "failed"]
    assert titles == [
        f"{DAY}: good morning",
        f"{DAY}: good morning",  # with the plan
        "Failed: Fix the sum",
        f"{DAY}: at work",
        "Failed: Greet",
        f"{DAY}: the day's report",
    ]


# --- what cannot wait ----------------------------------------------------------------------------------------


def test_a_change_that_waits_for_the_owner_is_told_at_once_and_once(stage: Stage, model: ScriptedModel) -> None:
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})
    stage.run_day()
    later(stage, 1)
    stage.run_day()
    assert len([key for key in box(stage).told() if "waiting-" in key]) == 1
    text = next(message["text"] for message in box(stage).messages() if "waiting-" in message["key"])
    assert f"approve {ID}" in text
    assert f"approve {ID}" in section(report(stage, "2026-11-21"), "Waits for you")


def test_what_waits_again_for_the_same_reason_after_a_retry_is_told_again(stage: Stage, model: ScriptedModel) -> None:
    files = ("app.py", "tests/test_app.py", "settings.py")
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", files)), CODES, APPROVES])
    stage.change = Coder({**GOOD, "settings.py": "X = 2\n"}, {**GOOD, "settings.py": "X = 3\n"})
    stage.run_day()
    first = [key for key in box(stage).told() if "waiting-" in key]
    assert owner_commands.retry(Arguments("retry", stage.home.root, id=ID, why="X must be 3")) == 0
    stage.run_day()
    assert stage.states() == {ID: "in_review"}
    both = [key for key in box(stage).told() if "waiting-" in key]
    assert (len(first), len(both)) == (1, 2)
    assert len({key.rpartition("-")[2] for key in both}) == 1  # the same reasons


def test_what_fails_again_for_the_same_reason_after_a_retry_is_told_again(stage: Stage) -> None:
    stage.change = Coder(BAD)
    for _ in range(2):
        stage.run_day()
        assert stage.states() == {ID: "failed"}
        assert owner_commands.retry(Arguments("retry", stage.home.root, id=ID, why="")) == 0
    failed = [key for key in box(stage).told() if "failed-" in key]
    assert len(failed) == 2
    assert len({key.rpartition("-")[2] for key in failed}) == 1


def test_the_books_are_opened_only_when_there_is_something_to_tell_and_somebody(stage: Stage) -> None:
    """After each move; a hundred old tasks would be read each time."""
    stage.run_day()
    services = stage.services.copy()
    for told in ([], services):
        stage.services[:] = told
        store = CountedStore(stage.home)
        with stage.records() as records:
            vars(records)["store"] = store
            with stage.open_team(records, print, make_services=lambda _: stage.services) as team:
                reporting, store.looks = team.telling.reporting, 0
                reporting.tell_what_waited()
                assert store.looks == len(told)  # at first nobody knows what was told
                for _ in range(3):
                    reporting.step(DAY)
                assert store.looks == len(told)


def test_without_a_service_the_progress_file_follows_the_work_all_the_same(stage: Stage, model: ScriptedModel) -> None:
    seen: list[bool] = []
    stage.services.clear()
    stage.change = lambda folder, job: seen.append(
        stage.home.progress.exists() and "Failed" in stage.home.progress.read_text()
    )
    model.play([reads(), plans(fix(), {**fix(), "key": "b", "title": "Greet", "files": ["other.py"]}), CODES, APPROVES])
    stage.run_day()
    assert (seen[0], seen[-1]) == (False, True)


def test_what_was_dropped_at_the_gates_names_both_places_where_goals_come_from(
    stage: Stage, model: ScriptedModel
) -> None:
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})
    stage.run_day()
    stage.given_vision(IDLE)
    stage.run_day()
    assert stage.note(ID) == "its goal is gone: removed from VISION.md or ticked off there, or its issue was closed"


class CountedStore(TaskStore):
    looks = 0

    def survey(self, expected: Mapping[State, Set[str]]) -> Survey:
        self.looks += 1
        return super().survey(expected)


def test_what_was_asked_of_an_earlier_attempt_does_not_wait_any_more(stage: Stage, model: ScriptedModel) -> None:
    """It lies at the gates again, and nobody has looked at it yet."""
    files = ("app.py", "tests/test_app.py", "settings.py")
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", files)), CODES, APPROVES])
    stage.change = Coder({**GOOD, "settings.py": "X = 2\n"}, {**GOOD, "settings.py": "X = 1\n"})
    stage.run_day()
    assert owner_commands.retry(Arguments("retry", stage.home.root, id=ID, why="leave the settings")) == 0
    assert stage.run_day() == []
    assert stage.states() == {ID: "completed"}
    assert len([key for key in box(stage).told() if "waiting-" in key]) == 1


def test_what_has_waited_before_anybody_could_be_told_is_told_at_the_next_start(
    stage: Stage, model: ScriptedModel
) -> None:
    """A kill just before the message, or a service that is new."""
    mailbox = stage.services.pop()
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})
    stage.run_day()
    stage.services.append(mailbox)
    stage.run_day()
    assert len([key for key in box(stage).told() if "waiting-" in key]) == 1


def test_what_was_approved_does_not_wait_any_more(stage: Stage, model: ScriptedModel) -> None:
    """Neither in PROGRESS.md nor in the report, also before the team has merged it."""
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})
    stage.run_day()
    assert "waits for you" in stage.home.progress.read_text()
    with stage.records() as records:
        parked = records.gates.parked(ID)
        assert parked
        now = records.clock.now()
        records.gates.rule(ID, Ruling("approve", parked.subject, "", now))
    stage.given_config("policy", budget="{task: 0.0000001, day: 0.0000001, month: 0.0000001, warn_at: 0.8}")
    stage.home.forge("site").rename(stage.root / "away")  # so that it cannot be merged yet
    stage.run_day()
    assert "waits for you" not in stage.home.progress.read_text()
    assert "Waits for you" not in report(stage)


def test_a_task_that_failed_is_told_at_once_with_its_reason_and_the_command(stage: Stage) -> None:
    stage.change = Coder(BAD, WORSE, WORST, LAST)
    stage.run_day()
    assert stage.states() == {ID: "failed"}
    message = next(message for message in box(stage).messages() if "failed-" in message["key"])
    assert message["tone"] == "bad"
    assert f"retry {ID}" in message["text"] and "test_sum" in message["text"]
    assert f"retry {ID}" in section(report(stage), "Failed, and why")


def test_a_cap_that_is_nearly_used_is_told_once(stage: Stage) -> None:
    stage.given_config("policy", budget='{task: "0.40", day: "0.40", month: "0.40", warn_at: 0.01}')
    stage.run_day()
    stage.run_day()
    caps = [key for key in box(stage).told() if ":cap:" in key]
    assert caps == [f"{DAY}:cap:{DAY}-nearly-400000000", f"{DAY}:cap:2026-11-nearly-400000000"]


def test_a_cap_that_is_reached_is_told_once(stage: Stage, model: ScriptedModel) -> None:
    stage.run_day(until="planning")
    stage.given_config("policy", budget='{task: "0.001", day: "0.001", month: "0.001", warn_at: 0.8}')
    stage.run_day()
    stage.run_day()
    assert box(stage).told().count(f"{DAY}:cap:{DAY}-reached-1000000") == 1


def lies(stage: Stage, model: str) -> None:
    """A call of a model, in another run, whose count cannot be true."""
    with stage.records() as records:
        ledger, now = records.ledger, records.clock.now()
        order = TicketOrder(Run(99, "reviewer", DAY, "", 0), NANO, (model,), now + timedelta(hours=1))
        ticket = ledger.ticket(ledger.open_ticket(order, now))
        assert ticket
        ask = Ask(model, Rates(1, 1, 1, 1, 1), "v", 10, 10)
        reservation = ledger.reserve(ticket, ask, records.settings.policy.budget.caps, now)
        assert isinstance(reservation, Reservation)
        ledger.disbelieve(reservation, 0, CallEnding(code=UNTRUE, note="10 tokens are counted as 0"), now)


def test_a_model_that_counts_what_cannot_be_true_is_told_once_and_its_fallback_works_on(
    stage: Stage, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.given_config("agents", reviewer="{model: claude-opus-5-5, fallback: [claude-haiku-5-5]}")
    for _ in range(2):
        lies(stage, "claude-opus-5-5")
    for _ in range(2):
        stage.run_day()
    assert stage.states() == {ID: "completed"}
    assert {one.body["model"] for one in model.requests} == {"claude-sonnet-5-5", "claude-haiku-5-5"}
    assert len([key for key in box(stage).told() if ":paused-model:" in key]) == 1
    paused = "claude-opus-5-5 counts what cannot be true (call 2: 10 tokens are counted as 0); compare its bill"
    assert f"not asked any more: {paused}" in report(stage)
    for view in ("budget", "status", "resume", "status"):
        main(["--home", str(stage.home.root), view])
    *before, after = capsys.readouterr().out.split(paused)
    assert len(before) == 3
    assert "was stopped" not in after


def test_work_for_which_only_a_paused_model_is_left_waits_for_the_owner(stage: Stage, model: ScriptedModel) -> None:
    """As for a model that is away. Nobody is told that it answers again while it is not asked."""
    stage.run_day(until="planning")
    for _ in range(2):
        lies(stage, "claude-sonnet-5-5")
    (problem,) = stage.run_day()
    assert problem.endswith("type: python main.py resume")
    assert stage.states() == {ID: "backlog"}
    assert len({key for key in box(stage).told() if ":outage:" in key or ":paused-model:" in key}) == 2
    with stage.records() as records:
        assert {attempt.outcome for attempt in records.journal.attempts(ID)} == {"void"}
        records.ledger.resume()
    assert stage.run_day() == []
    assert stage.states() == {ID: "completed"}


def test_a_phase_that_failed_is_told_at_once_and_in_the_report(stage: Stage) -> None:
    stage.home.vision.unlink()
    problems = stage.run_day()
    assert problems and "VISION.md is missing" in problems[0]
    assert "VISION.md is missing" in box(stage).of(next(key for key in box(stage).told() if ":phase:" in key))["text"]
    assert "morning: " in section(report(stage), "Went wrong")


# --- days without work ---------------------------------------------------------------------------------------


def test_an_idle_day_has_a_report_and_a_message_and_costs_nothing(stage: Stage, model: ScriptedModel) -> None:
    stage.given_vision(IDLE)
    stage.run_day()
    assert report(stage).startswith(f"# {DAY}: nothing to do, $0.00 of $5.00")
    assert box(stage).of(":day")["text"].startswith("nothing to do")
    assert model.requests == []


def test_every_missed_day_gets_its_report_and_the_next_message_says_so(stage: Stage) -> None:
    stage.given_vision(IDLE)
    stage.run_day()
    later(stage, 4)
    stage.run_day(until="morning")
    names = sorted(path.stem for path in stage.home.reports.glob("*.md"))
    assert names == [f"2026-11-{day}" for day in (20, 21, 22, 23, 24)]
    assert "nobody was at work" in report(stage, "2026-11-22")
    missed = "2026-11-21, 2026-11-22, 2026-11-23"
    assert section(report(stage, "2026-11-24"), "Missed") == missed
    assert box(stage).of("2026-11-24:day")["sections"]["Missed"] == missed


def test_of_many_missed_days_seven_get_a_report_and_the_older_ones_a_line(stage: Stage) -> None:
    stage.given_vision(IDLE)
    stage.run_day()
    later(stage, 13)
    stage.run_day()
    names = sorted(path.stem for path in stage.home.reports.glob("*.md"))
    assert names == [
        "2026-11-20",
        *(f"2026-11-{day}" for day in range(26, 31)),
        "2026-12-01",
        "2026-12-02",
        "2026-12-03",
    ]
    assert "5 days without work before this one: 2026-11-21" in report(stage, "2026-11-26")
    assert "12 days without work before this one: 2026-11-21, …, 2026-12-02" in report(stage, "2026-12-03")
    for name in names:
        page = report(stage, name)
        assert recounted(stage.home.root, name) == [], name
        if " days without" in page:
            assert recounted(stage.home.root, name, page.replace(" days without", "0 days without")) != []


def test_a_day_that_was_cut_off_gets_its_report_in_the_next_morning(stage: Stage) -> None:
    stage.run_day(until="work")
    assert report(stage).startswith("# Good morning")
    later(stage, 1)
    stage.run_day(until="morning")
    assert report(stage).startswith(f"# {DAY}: 1 merged, cut off before its evening")
    assert "1 merged" in section(report(stage, "2026-11-21"), DAY)
    assert "1 test added" in section(report(stage, "2026-11-21"), DAY)
    assert recounted(stage.home.root, "2026-11-21") == []


def test_the_first_day_of_a_home_has_missed_nothing(stage: Stage) -> None:
    stage.run_day()
    assert "Missed" not in report(stage)


# --- Discord -------------------------------------------------------------------------------------------------


def test_discord_shows_one_message_for_the_day_with_its_picture(stage: Stage, tmp_path: Path) -> None:
    with LocalWebhook(tmp_path / "discord") as hook:
        stage.services[:] = [DiscordNotifier(hook.url, stage.clock)]
        assert stage.run_day() == []
        (message,) = hook.messages
    assert "the day's report" in str(message.payload)
    assert list(message.files) == [f"{DAY}.png"]
    assert message.files[f"{DAY}.png"] == (stage.home.reports / f"{DAY}-dark.png").read_bytes()


@pytest.mark.parametrize("board", ["https://team.example.net:8443", "http://127.0.0.1:8765", ""])
def test_with_an_address_of_the_board_discord_shows_a_link_to_the_page_of_what_waits(
    stage: Stage, model: ScriptedModel, tmp_path: Path, board: str
) -> None:
    model.play([reads(), plans(task(fix()["goal_id"], "Set it", ["settings.py"])), CODES, APPROVES])
    stage.change = Coder({"settings.py": "X = 2\n"})
    (stage.home.config / "board.yaml").write_text(f'url: "{board}"\n')
    with LocalWebhook(tmp_path / "discord") as hook:
        with (stage.home.config / ".env").open("a") as keys:
            keys.write(f"\nDISCORD_WEBHOOK_URL={hook.url}\n")
        with stage.records() as records:
            stage.services[:] = services(records)
        assert stage.run_day() == []
        told = [str(message.payload) for message in hook.messages]
    link = f"open {board}/review/{ID} or " if board else f" approve {ID}`"
    assert len(told) == 2 and all(link in text for text in told)
    assert all(("open http" in text) is bool(board) for text in told)


# --- services that are away ----------------------------------------------------------------------------------


def test_a_day_without_its_service_is_whole_in_its_file_and_told_the_next_morning(stage: Stage) -> None:
    box(stage).before += [Unavailable("it does not answer") for _ in range(50)]
    stage.run_day()
    assert list(box(stage).messages()) == []
    assert "1 merged" in report(stage)
    box(stage).before.clear()
    later(stage, 1)
    stage.run_day()
    message = box(stage).of("2026-11-21:day")
    assert (
        f"{DAY}: the day's report (Mailbox): not delivered: it does not answer" in message["sections"]["Not delivered"]
    )
    later(stage, 1)
    stage.run_day()
    assert "Not delivered" not in box(stage).of("2026-11-22:day")["sections"]


def test_a_service_that_comes_back_in_the_evening_gets_the_days_message(stage: Stage) -> None:
    box(stage).before += [Unavailable("away"), Unavailable("away")]
    stage.run_day()
    assert box(stage).told() == [f"{DAY}:day"]
    assert box(stage).of(":day")["title"] == f"{DAY}: the day's report"


def test_a_lost_answer_in_the_morning_leads_to_one_more_message_that_says_so(stage: Stage) -> None:
    box(stage).after.append(DeliveryUnknown("silence"))
    stage.run_day()
    first, second = box(stage).messages()
    assert (first["title"], second["title"]) == (f"{DAY}: good morning", f"{DAY}: the day's report")


def test_two_lost_answers_in_the_morning_cost_the_day_no_evening(stage: Stage) -> None:
    box(stage).before += [DeliveryUnknown("502"), DeliveryUnknown("502")]
    stage.run_day()
    (message,) = (message for message in box(stage).messages() if message["key"] == f"{DAY}:day")
    assert message["title"] == f"{DAY}: the day's report"
    assert message["png"] > 1_000


def test_a_wrong_address_is_a_problem_of_the_day_and_costs_no_report(stage: Stage) -> None:
    box(stage).before.append(Misconfigured("the webhook is gone"))
    assert stage.run_day() == ["Mailbox: the webhook is gone"]
    assert box(stage).tries == 1
    assert "1 merged" in report(stage)


def test_no_service_at_all_is_no_problem(stage: Stage) -> None:
    stage.services.clear()
    assert stage.run_day() == []
    assert "Not delivered" not in report(stage)
