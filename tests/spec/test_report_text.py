"""What the reports say: of a day with work, an idle, a failed, a missed one; and how little strangers can say there."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from PIL import Image

from sisimpur.agents.orchestrator.reports import report_notice
from sisimpur.agents.orchestrator.reports.account import (
    DayAccount,
    GoalAccount,
    PlanAccount,
    QuestionAccount,
    TaskAccount,
)
from sisimpur.agents.orchestrator.reports.drawn.canvas import LIGHT, SCALE
from sisimpur.agents.orchestrator.reports.drawn.chart import BAR, BOTTOM, LEFT
from sisimpur.agents.orchestrator.reports.picture import picture
from sisimpur.agents.orchestrator.reports.report_text import EFFECTS, evening, morning, waiting
from sisimpur.agents.orchestrator.reports.report_words import SHORT, columns, few, in_sentences, spent_by_hour
from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.text import as_said, harmless
from sisimpur.shared.model.work import Priority
from sisimpur.shared.money.ticket import Spending
from sisimpur.shared.money.token_budget import NANO, Totals
from sisimpur.shared.notify.discord_text import new_message
from sisimpur.shared.notify.notice import Notice, Tone
from sisimpur.shared.store.plan_book import Trouble
from sisimpur.web.api.page_files import is_page

DAY, CALL = "2026-11-20", "python main.py"
MERGED = TaskAccount(
    "20261120-01",
    "Fix the sum",
    State.COMPLETED,
    Event.MERGED,
    is_of_the_day=True,
    note="merged as 1234567890ab, pull request #7",
    cost=NANO // 2,
    cost_of_day=NANO // 4,
    new_tests=2,
    coverage=1.25,
)
FAILED = TaskAccount(
    "20261120-02", "Greet", State.FAILED, Event.EXHAUSTED, is_of_the_day=True, note="1: no change; 2: no change"
)
ASKING = TaskAccount(
    "20261120-03", "Lock", State.IN_REVIEW, asks=("it changes settings.py",), pull="https://github.com/o/n/pull/9"
)
WAITING = TaskAccount("20261120-04", "Tidy", State.BACKLOG)
SPENT = Totals(5 * NANO, spent=NANO)
WORKED = DayAccount(
    DAY,
    "worked",
    goals=(
        GoalAccount("Sums are right", Priority.HIGH, (MERGED, WAITING)),
        GoalAccount("Be polite", Priority.LOW, (FAILED,)),
        GoalAccount("The moon", Priority.LOW, is_asked_about=True),
        GoalAccount("Later", Priority.LOW, is_deferred=True),
    ),
    others=(ASKING,),
    spent=SPENT,
    month=Totals(100 * NANO, spent=7 * NANO),
    week=Totals(0, spent=2 * NANO, lost=NANO),
    course=(Spending(9 * 60 + 5, NANO // 2), Spending(13 * 60, NANO // 2)),
    plan=PlanAccount(("Fix the sum", "Greet"), NANO // 10),
    deferred=("Later",),
    questions=(QuestionAccount("The moon: which one?", "g-5"),),
)
IDLE = DayAccount(DAY, "idle", spent=replace(SPENT, spent=0), month=WORKED.month)


def section(text: str, heading: str) -> str:
    """What stands below a heading."""
    assert f"## {heading}\n" in text, f"no {heading!r} in:\n{text}"
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip()


# --- the evening ---------------------------------------------------------------------------------------------


def test_a_day_with_work_tells_asked_shipped_cost_failed_waiting_and_tomorrow_in_this_order() -> None:
    text = evening(WORKED, CALL, "2026-11-20.png")
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Asked", "Shipped", EFFECTS, "Failed, and why", "Waits for you", "Money", "Board", "Tomorrow"]
    assert text.startswith("# 2026-11-20: 1 merged, 1 failed, 3 things wait for you, $1.00 of $5.00 spent\n")
    assert "](2026-11-20.png)" in text


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("Asked", "- **Sums are right** (high): 1 merged, 1 to do; $0.50 so far, $0.25 of it on this day"),
        ("Asked", "- **Be polite** (low): failed"),
        ("Asked", "- **The moon** (low): a question for you"),
        ("Asked", "- **Later** (low): for another day"),
        ("Asked", "- without a goal: **Lock** (`20261120-03`): waits for you; cost $0.00"),
        ("Shipped", "cost $0.50, 2 new tests, coverage +1.2 points"),
        (
            "Failed, and why",
            "**Greet** (`20261120-02`): 1: no change; 2: no change → `python main.py retry 20261120-02 --why",
        ),
        (
            "Waits for you",
            "it changes settings.py → comment `/approve`, `/reject why` or `/retry why` at "
            "https://github.com/o/n/pull/9, or type `python main.py approve 20261120-03`",
        ),
        ("Waits for you", "https://github.com/o/n/pull/9"),
        ("Waits for you", "- **Greet** (`20261120-02`) has failed → `python main.py retry 20261120-02 --why '...'`"),
        ("Waits for you", "- The moon: which one? → reword or remove it in VISION.md"),
        ("Money", "- this day $1.00 of $5.00"),
        ("Money", "- reading the vision, looking things up and planning $0.75"),
        ("Money", "- per merged task $0.50, over all its attempts"),
        ("Money", "- this week $3.00\n- this month $7.00 of $100.00"),
        ("Board", "- To do (1): Tidy (`20261120-04`)"),
        ("Board", "- Done (1): Fix the sum (`20261120-01`)"),
        ("Tomorrow", "- goes on: **Tidy** (`20261120-04`)"),
        ("Tomorrow", "- to be planned: Later"),
    ],
)
def test_each_thing_stands_where_it_belongs(heading: str, line: str) -> None:
    assert line in section(evening(WORKED, CALL), heading)


def test_what_was_said_of_a_goal_is_told_once_when_its_tasks_merged_by_themselves() -> None:
    first = replace(MERGED, words=("remark: tests-27 can fail after this", "the reviewer says: look"))
    second = replace(MERGED, id="20261120-09", words=("remark: tests-27 can fail after this",))
    text = evening(replace(WORKED, goals=(GoalAccount("Sums", Priority.HIGH, (first, second)),)), CALL)
    assert section(text, "Noted").splitlines() == [
        "- **Fix the sum** (`20261120-01`): remark: tests-27 can fail after this",
        "- **Fix the sum** (`20261120-01`): the reviewer says: look",
    ]


SEES, BEHIND = (
    replace(MERGED, effect="The sum of a cart is right."),
    replace(MERGED, id="20261120-06", effect="nothing"),
)


@pytest.mark.parametrize(
    ("task", "told"),
    [
        pytest.param(SEES, "The sum of a cart is right.", id="a sentence"),
        pytest.param(BEHIND, "nothing that they notice", id="work that nobody sees"),
        pytest.param(MERGED, "nobody has said what changes for them", id="no reviewer has said it"),
        pytest.param(
            replace(SEES, into="agent/goal-g-1"),
            "The sum of a cart is right. (once `agent/goal-g-1` lands)",
            id="it lies on the branch of its goal",
        ),
    ],
)
def test_each_merged_task_says_in_a_sentence_what_changed_for_visitors(task: TaskAccount, told: str) -> None:
    text = evening(replace(WORKED, goals=(), others=(task, WAITING)), CALL)
    assert section(text, EFFECTS) == f"- **Fix the sum** (`{task.id}`): {told}"


def test_a_message_tells_what_is_noticed_and_counts_the_rest() -> None:
    account = replace(WORKED, goals=(), others=(BEHIND, SEES, MERGED, replace(BEHIND, id="20261120-07"), FAILED))
    (told,) = [one.text for one in report_notice.evening(account, CALL).sections if one.heading == EFFECTS]
    assert told.splitlines() == [
        "- **Fix the sum** (`20261120-01`): The sum of a cart is right.",
        "- nothing that they notice: 2 changes",
        "- not known for 1 change",
    ]


def test_a_question_about_a_goal_is_answered_by_its_id_and_one_about_a_note_in_the_vision_only() -> None:
    asked = replace(WORKED, questions=(*WORKED.questions, QuestionAccount("Which files?")))
    goal, note = section(evening(asked, CALL), "Waits for you").splitlines()[-2:]
    assert goal.endswith(f"reword or remove it in VISION.md, or type `{CALL} answer g-5 '...'`")
    assert note.endswith("Which files? → reword or remove it in VISION.md")


def test_the_money_spent_by_the_hour_stands_in_words_too() -> None:
    assert section(evening(WORKED, CALL), "Money").splitlines()[-5:] == [
        "```",
        "before     $0.00 " + "." * 40,
        "09:05      $0.50 " + "####" + "." * 36,
        "13:00      $1.00 " + "########" + "." * 32,
        "```",
    ]


def test_it_names_the_time_of_the_last_spending_of_an_hour() -> None:
    text = evening(replace(WORKED, course=(Spending(545, NANO), Spending(559, NANO), Spending(610, NANO))), CALL)
    rows = section(text, "Money").splitlines()[-3:-1]
    assert [row.split()[:2] for row in rows] == [["09:19", "$2.00"], ["10:10", "$3.00"]]


@pytest.mark.parametrize(
    ("now", "bars"),
    [
        pytest.param(datetime(2026, 11, 20, 0, 0, tzinfo=UTC), 1, id="the hour that has just begun counts"),
        pytest.param(datetime(2026, 11, 20, 13, 59, tzinfo=UTC), 14, id="until now"),
        pytest.param(datetime(2026, 11, 21, 8, 0, tzinfo=UTC), 24, id="the next morning: the whole day"),
    ],
)
def test_the_picture_has_no_bar_for_an_hour_that_has_not_come(now: datetime, bars: int) -> None:
    image = Image.open(io.BytesIO(picture(replace(IDLE, course=(Spending(0, NANO),)), now))).convert("RGB")
    feet = [image.getpixel((SCALE * (LEFT + hour * BAR + BAR // 2), SCALE * BOTTOM - 2)) for hour in range(24)]
    assert [foot == LIGHT.plenty for foot in feet] == [True] * bars + [False] * (24 - bars)


def test_what_is_spent_grows_at_the_end_of_the_hour_and_never_beyond_the_cap() -> None:
    spent = spent_by_hour(replace(WORKED, course=(Spending(59, 3 * NANO), Spending(60, 3 * NANO))))
    assert spent == [3 * NANO, *[5 * NANO] * 23]


def test_what_failed_stands_apart_from_what_was_dropped() -> None:
    """Both lie in one folder."""
    ends = (Event.CANCELLED, Event.GOAL_REMOVED, Event.GIVEN_BACK, Event.DELETED)
    gone = (TaskAccount(f"20261120-1{n}", f"Gone {n}", State.FAILED, ended, True) for n, ended in enumerate(ends))
    account = replace(IDLE, others=(FAILED, *gone))
    assert section(evening(account, CALL), "Board").splitlines() == [
        "- Failed (1): Greet (`20261120-02`)",
        "- Dropped (4): " + ", ".join(f"Gone {n} (`20261120-1{n}`)" for n in range(4)),
    ]
    names = {heading: [task.id for task in tasks] for heading, tasks in columns(account).items() if tasks}
    assert names == {"Failed": [FAILED.id], "Dropped": [f"20261120-1{n}" for n in range(4)]}


def test_an_idle_day_says_that_there_was_nothing_to_do() -> None:
    text = evening(IDLE, CALL)
    assert text.startswith("# 2026-11-20: nothing to do, $0.00 of $5.00 spent\n")
    assert section(text, "Tomorrow") == "- nothing goes on by itself: write new goals into VISION.md"


def test_what_is_stuck_waits_for_the_owner_with_the_ways_out_and_does_not_go_on_tomorrow() -> None:
    stuck = replace(WAITING, stuck="needs the change of x, since 2026-11-19 08:12", ways=("unblock 04", "cancel 04"))
    behind = TaskAccount("20261120-05", "Polish", State.BACKLOG, held_up="waits for 20261120-04 (backlog)")
    text = evening(replace(IDLE, others=(stuck, behind)), CALL)
    assert "nothing to do, 1 thing waits for you" in text
    assert section(text, "Waits for you") == (
        "- **Tidy** (`20261120-04`) needs the change of x, since 2026-11-19 08:12"
        " → one of: `python main.py unblock 04`, `python main.py cancel 04`"
    )
    tomorrow = section(text, "Tomorrow")
    assert "- does not go on: **Polish** (`20261120-05`) waits for 20261120-04 (backlog)\n" in tomorrow
    assert "nothing goes on by itself: answer what waits" in tomorrow and "- goes on" not in tomorrow


def test_an_idle_day_still_names_what_waits() -> None:
    text = evening(replace(IDLE, others=(ASKING,)), CALL)
    assert "nothing to do, 1 thing waits for you" in text
    assert "answer what waits" in section(text, "Tomorrow")


@pytest.mark.parametrize(
    ("phases", "told"),
    [
        (("morning",), "- mend what went wrong in morning, then type `python main.py run-day`"),
        (("planning", "morning"), "- mend what went wrong in planning and morning, then type `python main.py run-day`"),
        (("work",), "- nothing goes on by itself: write new goals into VISION.md"),
    ],
)
def test_where_the_vision_was_not_read_nobody_is_sent_to_write_more_into_it(phases: tuple[str, ...], told: str) -> None:
    text = evening(replace(IDLE, kind="failed", troubles=tuple(Trouble(name, "400") for name in phases)), CALL)
    assert section(text, "Tomorrow") == told


def test_a_failed_day_names_the_phase_and_the_reason() -> None:
    account = replace(IDLE, kind="failed", troubles=(Trouble("planning", "the model does not answer"),), stopped="halt")
    text = evening(account, CALL)
    assert "1 phase had a problem" in text
    assert section(text, "Went wrong") == "- planning: the model does not answer\n- nothing is spent: halt"


def test_what_went_wrong_names_a_command_that_works_on_this_home() -> None:
    hint, other = "type: python main.py resume", "type: python main.py --home there init, or see python main.py"
    account = replace(IDLE, troubles=(Trouble("work", hint), Trouble("work", other)))
    assert section(evening(account, "sisimpur --home here"), "Went wrong").splitlines() == [
        "- work: type: sisimpur --home here resume",
        f"- work: {other}",
    ]


def test_what_went_wrong_is_told_once_with_its_task_and_a_command_that_works() -> None:
    why = "the model refused; type: python main.py logs"
    account = replace(IDLE, troubles=(Trouble("work", why),), blocked=(f"20261126-01: {why}",))
    told = section(evening(account, "sisimpur --home here"), "Went wrong")
    assert told == "- 20261126-01: the model refused; type: sisimpur --home here logs"


def test_a_missed_day_says_so_and_counts_the_older_ones_in_one_line() -> None:
    older = tuple(f"2026-11-{number:02d}" for number in range(1, 12))
    text = evening(DayAccount(DAY, "missed", missed=older), CALL)
    assert text.startswith("# 2026-11-20: nobody was at work: the machine, or the team, was off\n")
    assert section(text, "Missed") == "11 days without work before this one: 2026-11-01, …, 2026-11-11"


def test_a_day_that_was_cut_off_says_so() -> None:
    assert "1 merged, 1 failed, 3 things wait for you, cut off before" in evening(replace(WORKED, kind="cut off"), CALL)


def test_what_was_done_before_takes_one_line() -> None:
    before = GoalAccount("Old", Priority.HIGH, (replace(MERGED, is_of_the_day=False),))
    text = evening(replace(WORKED, goals=(*WORKED.goals, before, before)), CALL)
    assert section(text, "Asked").endswith("- 2 goals were done before this day")
    assert "Shipped" in text and section(text, "Shipped").count("\n") == 0


def test_what_has_not_landed_was_not_done_before() -> None:
    before = GoalAccount("Old", Priority.HIGH, (replace(MERGED, is_of_the_day=False),), grows_on="agent/goal-g-1")
    assert not before.is_done_before and replace(before, grows_on="").is_done_before
    text = evening(replace(WORKED, goals=(before,)), CALL)
    assert "**Old** (high): merged, on agent/goal-g-1; $0.50 so far" in section(text, "Asked")


def test_what_the_owner_cancelled_has_not_failed() -> None:
    text = evening(replace(IDLE, others=(replace(FAILED, ended=Event.CANCELLED),)), CALL)
    assert "cancelled by you" in section(text, "Asked")
    assert "## Failed" not in text and "## Waits" not in text


def test_money_that_was_lost_or_is_reserved_is_told() -> None:
    text = section(evening(replace(IDLE, spent=Totals(5 * NANO, 0, NANO // 5, NANO // 2)), CALL), "Money")
    assert "$0.70 of $5.00; $0.50 of it for calls without an answer, at their worst case; $0.20 of it reserved" in text


def test_messages_that_did_not_arrive_are_named() -> None:
    text = evening(replace(IDLE, unsent=("Waits for you: Lock (Discord): not delivered: it did not answer",)), CALL)
    assert section(text, "Not delivered").startswith("- Waits for you: Lock (Discord): not delivered")


# --- the morning ---------------------------------------------------------------------------------------------


def test_the_morning_shows_yesterday_in_a_few_lines_and_what_waits() -> None:
    text = morning(replace(IDLE, day="2026-11-21", others=(ASKING,)), WORKED, CALL)
    assert section(text, DAY).splitlines() == [
        "- 1 merged, 1 failed, 3 things wait for you, $1.00 of $5.00 spent",
        "- merged **Fix the sum** (`20261120-01`)",
        "- 2 tests added, coverage +1.2 points",
        "- failed **Greet** (`20261120-02`): 1: no change; 2: no change"
        " → `python main.py retry 20261120-02 --why '...'`, or reword its goal",
    ]
    assert "approve 20261120-03" in section(text, "Waits for you")
    assert "Plan for today" not in text


def test_the_morning_shows_the_plan_with_its_forecast_and_the_questions() -> None:
    text = morning(WORKED, None, CALL)
    assert section(text, "Plan for today").splitlines() == [
        "- 2 tasks, probably about $0.10 of $5.00",
        "- Fix the sum",
        "- Greet",
        "- left for another day: Later",
    ]
    assert "which one?" in section(text, "Waits for you")


def test_the_morning_names_the_days_that_were_missed() -> None:
    assert section(morning(replace(IDLE, missed=("2026-11-18", "2026-11-19")), None, CALL), "Missed") == (
        "2026-11-18, 2026-11-19"
    )


# --- messages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("account", "tone"),
    [
        pytest.param(WORKED, Tone.BAD, id="something failed"),
        pytest.param(replace(IDLE, kind="cut off"), Tone.BAD, id="cut off"),
        pytest.param(replace(IDLE, others=(MERGED, ASKING)), Tone.ATTENTION, id="something waits for the owner"),
        pytest.param(replace(IDLE, others=(MERGED,)), Tone.GOOD, id="something was merged"),
        pytest.param(IDLE, Tone.PLAIN, id="nothing happened"),
    ],
)
def test_the_colour_of_a_day(account: DayAccount, tone: Tone) -> None:
    assert report_notice.evening(account, CALL).tone is tone


def test_the_day_is_one_message_from_morning_to_evening() -> None:
    keys = {
        report_notice.morning(WORKED, None, CALL).key,
        report_notice.progress(WORKED, CALL).key,
        report_notice.evening(WORKED, CALL).key,
    }
    assert keys == {"2026-11-20:day"}


def test_a_message_leads_with_what_waits_for_the_owner() -> None:
    notice = report_notice.evening(WORKED, CALL, b"png")
    assert notice.sections[0].heading == "Waits for you"
    assert notice.picture and notice.picture.name == "2026-11-20.png"
    assert "reports/daily/2026-11-20.md" in notice.text


def test_a_message_tells_each_cost_once_in_whole_cents_rounded() -> None:
    odd = replace(MERGED, cost=NANO * 255 // 10_000, cost_of_day=NANO * 255 // 10_000)
    goals = (GoalAccount("Sums are right", Priority.HIGH, (odd,)), GoalAccount("Polite", Priority.LOW, (FAILED,)))
    goals = (goals[0], replace(goals[1], tasks=(replace(FAILED, cost=NANO // 8),)))
    spent = Totals(5 * NANO, spent=NANO * 4_996 // 1_000)
    account = replace(WORKED, goals=goals, others=(replace(WAITING, cost=NANO // 1_000),), spent=spent)
    notices = [report_notice.evening(account, CALL), report_notice.progress(account, CALL)]
    notices += [report_notice.morning(account, account, CALL)]
    notices += [report_notice.cap_reached(account, "cap $5.00, used $4.996000001; up to $0.0449 more", CALL)]
    texts = ["\n".join([one.text, *(part.text for part in one.sections)]) for one in notices]
    for text in texts:
        assert all(re.fullmatch(r"\$\d+\.\d\d", one.rstrip(".")) for one in re.findall(r"\$[\d.]+", text)), text
    amounts = re.findall(r"\$[\d.]+", texts[0])
    assert amounts == ["$5.00", "$5.00", "$0.03", "$0.13", "$0.01", "$4.97", "$3.00", "$7.00", "$100.00"], texts[0]
    assert "under $0.01" in texts[0] and texts[3].startswith("cap $5.00, used $5.00; up to $0.04 more")


def test_no_section_of_a_message_is_longer_than_a_chat_takes_and_no_command_is_cut() -> None:
    many = replace(IDLE, others=tuple(replace(ASKING, id=f"t{n}", title="long " * 60) for n in range(40)))
    text = report_notice.evening(many, CALL).sections[0].text
    assert len(text) <= 1_024
    *lines, rest = text.splitlines()
    assert all(f"https://github.com/o/n/pull/9, or type `{CALL} approve t" in line for line in lines)
    assert all(line.endswith("with `--why '...'`") for line in lines)
    assert rest == f"- and {40 - len(lines)} more"


def test_other_reasons_are_another_message_and_the_same_ones_the_same() -> None:
    first, again = (report_notice.asks(DAY, ASKING, 1, CALL).key for _ in range(2))
    other = report_notice.asks(DAY, replace(ASKING, asks=("something else",)), 1, CALL).key
    assert first == again != other
    assert first.startswith("2026-11-20:20261120-03:waiting-")


def test_the_same_words_about_another_attempt_are_another_message() -> None:
    asks = {report_notice.asks(DAY, ASKING, attempt, CALL).key for attempt in (1, 2)}
    failed = {report_notice.gave_up(DAY, FAILED, attempt, CALL).key for attempt in (1, 2)}
    assert (len(asks), len(failed)) == (2, 2)


def test_a_cap_is_told_once_nearly_and_once_reached() -> None:
    nearly = report_notice.cap(DAY, "day-nearly", "most of it", is_reached=False)
    reached = report_notice.cap(DAY, "reached", "all of it", is_reached=True)
    assert (nearly.tone, reached.tone) == (Tone.ATTENTION, Tone.BAD)
    assert nearly.key != reached.key


CAPPED = replace(WORKED, is_capped=True, raise_to=10 * NANO)


def test_what_a_cap_keeps_waiting_is_told_with_what_the_owner_types() -> None:
    line = "today's cap is reached; 1 task waits for tomorrow; to go on now, type: `python main.py raise-cap 10.00`"
    assert section(evening(CAPPED, CALL), "Money").startswith(f"- {line}\n")
    notice = report_notice.cap_reached(CAPPED, "cap of this day reached: cap $5.00", CALL)
    assert notice.text == f"cap of this day reached: cap $5.00\n\n{line}"
    assert any(line in part.text for part in report_notice.progress(CAPPED, CALL).sections)


def test_a_cap_of_a_day_that_is_over_asks_for_nothing() -> None:
    text = section(evening(replace(CAPPED, raise_to=0), CALL), "Money")
    assert text.startswith("- the cap of this day was reached; 1 task waits for the next day\n")
    assert "raise-cap" not in text
    assert "cap of this day" not in evening(WORKED, CALL)


def test_another_cap_that_is_reached_says_only_what_it_is() -> None:
    assert report_notice.cap_reached(WORKED, "cap of this month reached", CALL).text == "cap of this month reached"


def test_a_raised_cap_that_is_reached_is_another_message() -> None:
    raised = replace(CAPPED, spent=replace(SPENT, cap=10 * NANO))
    keys = {report_notice.cap_reached(account, words, CALL).key for account in (CAPPED, raised) for words in "ab"}
    assert keys == {f"{DAY}:cap:{DAY}-reached-5000000000", f"{DAY}:cap:{DAY}-reached-10000000000"}


# --- links to the board --------------------------------------------------------------------------------------

BOARD = "https://team.example.net"
STUCK = replace(WAITING, id="20261120-09", stuck="a test hangs", ways=("unblock 20261120-09",))
OPENED = replace(CAPPED, board=BOARD, others=(ASKING, STUCK), deploys_paused="you said so")


def _notices(account: DayAccount) -> list[Notice]:
    board = account.board
    return [
        report_notice.morning(account, account, CALL),
        report_notice.progress(account, CALL),
        report_notice.evening(account, CALL),
        report_notice.asks(DAY, ASKING, 1, CALL, board),
        report_notice.gave_up(DAY, FAILED, 1, CALL, board),
        report_notice.cap_reached(account, "cap of this day reached", CALL),
    ]


def _opened(notice: Notice) -> set[str]:
    """What is a link to the board once Discord has it."""
    (embed,) = new_message(notice, ("github.com", BOARD.removeprefix("https://")))["embeds"]
    texts = [embed["description"], *(field["value"] for field in embed["fields"])]
    return {link.removeprefix(BOARD) for text in texts for link in re.findall(rf"{re.escape(BOARD)}\S*", text)}


def test_each_thing_that_waits_has_a_link_to_exactly_its_page_and_it_is_one_of_the_pages() -> None:
    day, asks, failed = "/review/20261120-03", "/task/20261120-09", "/task/20261120-02"
    pages = [_opened(notice) for notice in _notices(OPENED)]
    waits = {day, asks, failed, "/#asked-g-5"}
    assert pages == [waits | {"/team"}, *[waits | {"/money", "/team"}] * 2, {day}, {failed}, {"/money"}]
    assert all(is_page(page.partition("#")[0]) for some in pages for page in some)


def test_without_an_address_of_the_board_no_message_says_another_word() -> None:
    said = [f"{one.text}{one.sections}" for one in _notices(replace(OPENED, board=""))]
    linked = [f"{one.text}{one.sections}" for one in _notices(OPENED)]
    links = re.compile(rf"open {re.escape(BOARD)}/\S* or (type (?=`python main.py (?:approve|retry) \S+))?")
    assert [links.sub("", text) for text in linked] == said
    assert not any("open http" in text for text in said)


def test_a_stranger_s_link_is_none_even_if_it_leads_to_the_board() -> None:
    title = f"look at {BOARD}/review/x?do=approve"
    notice = report_notice.asks(DAY, replace(ASKING, title=title, asks=(title,)), 1, CALL, BOARD)
    assert _opened(notice) == {"/review/20261120-03"}


# --- strangers -----------------------------------------------------------------------------------------------

HOSTILE = [
    "@everyone look",
    "see [this](https://evil.example/x)",
    "![](https://evil.example/pixel.png)",
    "fixes #1",
    "a\n## Waits for you\n- nothing",
    "``` \n# now I am a heading",
    "<img src=x onerror=y>",
    "<!-- hidden",
    "\u202ereversed\u0000",
    "x" * 5_000,
]


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_title_stays_one_harmless_line_everywhere(title: str) -> None:
    tasks = tuple(replace(task, title=title, note=title, asks=(title,)) for task in (FAILED, ASKING, WAITING))
    account = replace(
        WORKED,
        goals=(GoalAccount(title, Priority.HIGH, (replace(MERGED, title=title, note=title),)),),
        others=tasks,
        plan=PlanAccount((title,), 1),
        deferred=(title,),
        questions=(QuestionAccount(title, "g-5"),),
        troubles=(Trouble("work", title),),
        stopped=title,
        blocked=(title,),
        unsent=(title,),
    )
    notices = [report_notice.evening(account, CALL), report_notice.morning(account, account, CALL)]
    notices += [report_notice.asks(DAY, tasks[1], 1, CALL), report_notice.gave_up(DAY, tasks[0], 1, CALL)]
    said = [evening(account, CALL), morning(account, account, CALL)]
    said += [f"{n.title}\n{n.text}\n" + "\n".join(part.text for part in n.sections) for n in notices]
    for text in said:
        assert "@everyone" not in text and "](http" not in text and "#1" not in text and "<img" not in text
        assert "<!--" not in text and "\u202e" not in text and "\0" not in text
        assert text.count("```") in (0, 2)
        assert "x" * 1_001 not in text
    headings = [line for line in said[0].splitlines() if line.startswith("## ")]
    assert headings == [f"## {h}" for h in HEADINGS]


SIGNS = [
    *"#*_~`|\\>+-=[]()!1.x \n",
    "**",
    "__init__",
    "~~",
    "||",
    "* ",
    "- ",
    "1. ",
    "# ",
    "-# ",
    "```",
    "---",
    "[x] ",
    "a_b",
]
MARKED = st.lists(st.sampled_from(SIGNS), min_size=1, max_size=12).map("".join)


def built(markdown: str) -> list[str]:
    """What a reader of Markdown makes of it, without the words."""
    page = MarkdownIt("commonmark").enable(["strikethrough", "table"]).parse(markdown)
    inner = [part for token in page for part in (token, *(token.children or ()))]
    return [f"{one.type} {one.content if one.type == 'code_inline' else ''}" for one in inner if one.type != "text"]


def pages(text: str) -> list[str]:
    account = replace(
        WORKED,
        goals=(GoalAccount(text, Priority.HIGH, (replace(MERGED, title=text, note=text),)),),
        others=tuple(replace(task, title=text, note=text, asks=(text,)) for task in (FAILED, ASKING, WAITING)),
        plan=PlanAccount((text,), 1),
        deferred=(text,),
        questions=(QuestionAccount(text, "g-5"),),
        guards=(text,),
        blocked=(text,),
    )
    notice = report_notice.evening(account, CALL)
    parts = [part.text for part in notice.sections]
    return [evening(account, CALL), morning(account, account, CALL), *parts]


@given(MARKED.filter(lambda text: text.strip() not in ("", "`")))
def test_no_mark_of_a_title_changes_what_a_page_is_built_of(text: str) -> None:
    plain = "p" * len(as_said(text))  # what is longer may be cut sooner
    assert [*map(built, pages(text))] == [*map(built, pages(plain))]


@pytest.mark.parametrize(
    "text", ["-1 is returned", "--version prints", "snake_case and 2 * 3", "a | b", "#tag", "1.5 s"]
)
def test_what_means_nothing_in_markdown_stays_letter_by_letter(text: str) -> None:
    assert as_said(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("**bold** __init__", r"\*\*bold\*\* \_\_init\_\_"),
        ("1. first", r"1\. first"),
        ("# Plan", r"\# Plan"),
        ("C:\\", "C:\\\\"),
    ],
)
def test_what_would_mean_something_is_marked_off(text: str, told: str) -> None:
    assert as_said(text) == told


@given(MARKED)
def test_what_is_marked_off_is_marked_off_once(text: str) -> None:
    assert as_said(as_said(text, 999), 999) == as_said(text, 999)


HEADINGS = (
    *("Asked", "Shipped", EFFECTS, "Failed, and why", "Went wrong", "Waits for you"),
    *("Money", "Board", "Tomorrow", "Not delivered"),
)


def test_a_long_line_is_cut_and_says_so() -> None:
    assert harmless("y" * 500, 10) == "y" * 9 + "…"


def test_few_lines_count_the_rest() -> None:
    assert few(["a", "b", "c"], most=2) == "- a\n- b\n- and 1 more"
    assert few(["a", "b"], most=2) == "- a\n- b"


LONG = "Which sum is meant? The one of all rows, or the one of a page? " + "Both are there. " * 40


def test_what_is_asked_is_cut_after_a_sentence_and_says_so() -> None:
    assert in_sentences("Which sum?", 100) == "Which sum?"
    cut = in_sentences(LONG, 100)
    assert cut == "Which sum is meant? The one of all rows, or the one of a page? Both are there. Both are there. […]"
    assert in_sentences("x" * 300, 100) == "x" * 99 + "…", "what has no sentence is cut as it is"


@pytest.mark.parametrize("length", range(0, 400, 20))
def test_a_message_has_a_remark_whole_or_not_at_all(length: int) -> None:
    """'noted: remark: In core/settings.py…' said nothing, and stood before what to type."""
    remark = f"remark: {'a comma is missing ' * 30}"[:length].strip()
    (line,) = waiting(replace(IDLE, others=(replace(ASKING, words=(remark,)),)), CALL, SHORT)
    said = line.partition(" → ")[0]
    assert said.endswith(f"it changes settings.py (noted: {remark})" if length <= 260 else "it changes settings.py")
