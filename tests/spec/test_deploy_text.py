"""How deploys are told: a line of a report for each, one message at its end; nothing that a program said acts there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sisimpur.agents.orchestrator.reports import deploy_text, report_notice, report_text
from sisimpur.agents.orchestrator.reports.account import DayAccount, DeployAccount, Live
from sisimpur.agents.orchestrator.reports.report_text import morning
from sisimpur.shared.model.deployment import OVER, Deploy, DeployStage, Place
from sisimpur.shared.money.token_budget import NANO, Totals
from sisimpur.shared.notify.notice import Notice, Tone

DAY, CALL = "2026-11-20", "python main.py"
THEN = datetime(2026, 11, 20, 14, 2, tzinfo=UTC)
NEW, OLD, OTHER = "ab12cd34" * 5, "11112222" * 5, "99998888" * 5
PRODUCTION: Place = "production"
HEALTHY = DeployAccount(
    Deploy(7, PRODUCTION, NEW, DeployStage.HEALTHY, OLD, begun_at=THEN - timedelta(minutes=20), ended_at=THEN),
    "20261120-01",
    "Fix the sum",
)
WHOSE = "ab12cd34 (**Fix the sum**, `20261120-01`)"


def ended(stage: DeployStage, why: str = "GET / answered 500", again: bool = False, **more: object) -> DeployAccount:
    deploy = replace(HEALTHY.deploy, stage=stage, why=why, **more)  # type: ignore[arg-type]
    return replace(HEALTHY, deploy=deploy, is_again=again)


RETURNED = ended(DeployStage.RETURNED, again=True, reverts=12)
FAILED = ended(DeployStage.FAILED, "`production.build` ended with 1")
STUCK = ended(DeployStage.STUCK, backup="/team/.state/backups/production/20261120T140000Z-ab12cd34ab12")
IDLE = DayAccount(DAY, "idle", spent=Totals(5 * NANO))


def day(*deploys: DeployAccount, paused: str = "") -> DayAccount:
    return replace(IDLE, deploys=deploys, deploys_paused=paused)


def section(text: str) -> list[str]:
    return text.split("## Deployed\n\n")[1].split("\n\n")[0].strip().splitlines()


# --- lines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "told"),
    [
        pytest.param(HEALTHY, "healthy since 14:02", id="healthy"),
        pytest.param(
            RETURNED,
            "sick: GET / answered 500; rolled back to 11112222; taken back by #12; its task is tried again",
            id="sick",
        ),
        pytest.param(
            ended(DeployStage.RETURNED), "sick: GET / answered 500; rolled back to 11112222", id="the owner's own"
        ),
        pytest.param(FAILED, "never ran: 'production.build' ended with 1; 11112222 runs on", id="not built"),
        pytest.param(
            ended(DeployStage.FAILED, "no", back_to=""), "never ran: no; nothing ran there before", id="the first one"
        ),
        pytest.param(
            replace(FAILED, unwatched=OTHER),
            "never ran: 'production.build' ended with 1; 99998888 runs there still, and nobody watched it to its end",
            id="after what was cut off",
        ),
        pytest.param(STUCK, "production may be down: GET / answered 500", id="stuck"),
        pytest.param(ended(DeployStage.STARTED, ""), "started, and watched since 13:42", id="under way"),
    ],
)
def test_a_deploy_is_one_line(one: DeployAccount, told: str) -> None:
    assert section(report_text.evening(day(one), CALL)) == [f"- production {WHOSE}: {told}"]


@pytest.mark.parametrize("stage", sorted(set(DeployStage) - OVER))
def test_whatever_is_under_way_has_words(stage: DeployStage) -> None:
    assert " since 13:42" in deploy_text.line(ended(stage), DAY)


def test_a_commit_of_nobody_of_ours_has_no_name() -> None:
    assert deploy_text.line(replace(HEALTHY, task="", title=""), DAY) == "production ab12cd34: healthy since 14:02"


def test_a_commit_of_nobody_of_ours_is_called_by_its_subject() -> None:
    one = replace(HEALTHY, task="", title="Mend the `sum`")
    assert deploy_text.line(one, DAY) == "production ab12cd34 (Mend the 'sum'): healthy since 14:02"
    assert message(one, NEW).title == "Live at production: Mend the 'sum'"


def test_a_pause_is_told_with_what_ends_it_also_on_a_day_without_a_deploy() -> None:
    line = "- nothing new is deployed: a fair → `python main.py resume-deploys`"
    assert section(report_text.evening(day(paused="a fair"), CALL)) == [line]
    assert section(report_text.evening(day(HEALTHY, paused="a fair"), CALL))[1:] == [line]


def test_a_day_without_deploys_has_no_such_section() -> None:
    assert "Deployed" not in report_text.evening(IDLE, CALL)
    assert "Deployed" not in morning(IDLE, IDLE, CALL)


def test_the_morning_looks_back_on_yesterday_and_on_the_night_and_tells_each_once() -> None:
    night = datetime(2026, 11, 21, 3, tzinfo=UTC)
    later = ended(DeployStage.HEALTHY, "", number=8, ended_at=night, begun_at=night)
    today = replace(day(HEALTHY, later, paused="a fair"), day="2026-11-21")
    text = morning(today, day(HEALTHY, paused="something that is over"), CALL)
    assert [line.partition(": ")[2] for line in section(text)] == [
        "healthy since 2026-11-20 14:02",
        "healthy since 03:00",
        "a fair → `python main.py resume-deploys`",
    ]


@pytest.mark.parametrize(
    ("deploys", "told"),
    [
        ((HEALTHY, HEALTHY), "# 2026-11-20: nothing to do, 2 deploys, $"),
        ((HEALTHY, RETURNED), "# 2026-11-20: nothing to do, 1 deploy, 1 rolled back, $"),
        ((RETURNED, STUCK), "# 2026-11-20: nothing to do, a deploy needs you, 1 rolled back, $"),
    ],
)
def test_the_days_first_line_counts_them_and_what_needs_the_owner_comes_first(
    deploys: tuple[DeployAccount, ...], told: str
) -> None:
    assert report_text.evening(day(*deploys), CALL).startswith(told)


@pytest.mark.parametrize(
    ("account", "tone"),
    [
        (day(HEALTHY), Tone.GOOD),
        (day(HEALTHY, FAILED), Tone.ATTENTION),
        (day(RETURNED), Tone.ATTENTION),
        (day(HEALTHY, paused="a fair"), Tone.ATTENTION),
        (day(HEALTHY, STUCK), Tone.BAD),
    ],
)
def test_the_colour_of_a_day_with_deploys(account: DayAccount, tone: Tone) -> None:
    assert report_notice.evening(account, CALL).tone is tone


# --- the message ---------------------------------------------------------------------------------------------


def message(one: DeployAccount, running: str = "", paused: str = "") -> Notice:
    return deploy_text.message(one, running, paused, CALL)


def test_what_is_live_is_a_short_good_word() -> None:
    notice = message(HEALTHY, NEW)
    assert (notice.title, notice.tone) == ("Live at production: Fix the sum", Tone.GOOD)
    assert notice.text == f"{WHOSE} is healthy there."


def test_what_the_owner_has_brought_back_is_not_called_new() -> None:
    one = replace(HEALTHY, deploy=replace(HEALTHY.deploy, asked=True), task="", was_live=True)
    assert message(one, NEW).title == "Production runs ab12cd34 (Fix the sum) again, as you asked"
    assert message(replace(one, was_live=False), NEW).title == "Live at production: Fix the sum"


@pytest.mark.parametrize(
    ("live", "told"),
    [
        (Live(PRODUCTION, OTHER, "Add b"), "Production was not touched: 99998888 (Add b) runs on there."),
        (Live(PRODUCTION, OTHER), "Production was not touched: 99998888 runs on there."),
        (Live(PRODUCTION), "Production was not touched."),
    ],
)
def test_what_was_sick_at_staging_says_that_production_was_not_touched(live: Live, told: str) -> None:
    text = message(replace(ended(DeployStage.RETURNED, place="staging"), ahead=(live,)), OLD).text
    assert text.split("\n\n")[1].endswith(f"is healthy. {told}")


def test_what_was_sick_tells_what_happened_what_runs_now_and_what_follows() -> None:
    notice = message(RETURNED, OLD)
    assert (notice.title, notice.tone) == ("Rolled back at production: Fix the sum", Tone.BAD)
    assert notice.text.split("\n\n") == [
        f"{WHOSE} was sick: GET / answered 500",
        "11112222, which was healthy before, runs there again and is healthy.",
        "- Pull request #12 takes it back. If it is still open, merge it or close it: until then nothing new is"
        " deployed.\n- Its task is tried again, with what was seen: `python main.py show 20261120-01`",
    ]


@pytest.mark.parametrize(
    ("running", "told"),
    [(OTHER, "but since then: 99998888 runs there now. Look"), ("", "but since then: Nothing runs there now. Look")],
)
def test_a_place_that_is_not_as_it_was_left_is_not_called_healthy(running: str, told: str) -> None:
    text = message(RETURNED, running).text
    assert told in text and "is healthy." not in text


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (replace(ended(DeployStage.RETURNED), task="", title=""), "no change of ours, so nobody takes it back but you"),
        (ended(DeployStage.RETURNED, asked=True), "You ordered it, so its change stays on the branch."),
    ],
)
def test_what_nobody_takes_back_is_said(one: DeployAccount, told: str) -> None:
    notice = message(one, OLD, paused="it was sick")
    assert told in notice.text
    assert notice.text.endswith(
        "Nothing new is deployed by itself: it was sick. To go on, type: `python main.py resume-deploys`"
    )


def test_what_never_ran_says_that_what_ran_runs_on() -> None:
    notice = message(FAILED, OLD)
    assert (notice.title, notice.tone) == ("Not deployed to production: Fix the sum", Tone.ATTENTION)
    assert notice.text.endswith("11112222 runs on: it was not touched.")


def test_the_id_of_a_commit_keeps_its_small_letters() -> None:
    old = "c9f8bc97" * 5
    assert message(ended(DeployStage.FAILED, back_to=old), old).text.endswith(
        "\n\nc9f8bc97 runs on: it was not touched."
    )


def test_what_runs_after_an_order_that_never_ran_is_not_called_healthy() -> None:
    text = message(replace(FAILED, unwatched=OTHER), OTHER).text
    assert text.endswith("\n\n99998888 runs there still, and nobody watched it to its end.")


def test_what_is_stuck_is_loud_in_its_first_words_and_says_what_to_type() -> None:
    notice = message(STUCK, OTHER, paused="production is not healthy")
    assert notice.tone is Tone.BAD
    assert notice.title == "Production may be down"
    assert notice.text.startswith("**Production may be down.** ")
    assert "99998888 runs there; nobody knows that it is healthy" in notice.text
    assert "lies in `.state/backups/production/20261120T140000Z-ab12cd34ab12`" in notice.text
    assert "`python main.py deploy --place production --commit 111122221111`" in notice.text
    assert "`python main.py resume-deploys`" in notice.text
    assert "- nothing runs there" in message(STUCK).text


def test_a_deploy_is_one_message_whatever_is_said_of_it() -> None:
    keys = {message(one, running).key for one in (HEALTHY, RETURNED, FAILED, STUCK) for running in (OLD, "")}
    assert keys == {"2026-11-20:deploy-7"}


@pytest.mark.parametrize(
    ("one", "last", "is_told"),
    [
        pytest.param(HEALTHY, PRODUCTION, True, id="live"),
        pytest.param(ended(DeployStage.HEALTHY, "", place="staging"), PRODUCTION, False, id="on its way"),
        pytest.param(ended(DeployStage.HEALTHY, "", place="staging"), "staging", True, id="staging is all there is"),
        pytest.param(ended(DeployStage.HEALTHY, "", place="staging", asked=True), PRODUCTION, True, id="ordered"),
        pytest.param(ended(DeployStage.RETURNED, place="staging"), PRODUCTION, True, id="sick at staging"),
        pytest.param(ended(DeployStage.STARTED), PRODUCTION, False, id="not over yet"),
    ],
)
def test_what_is_well_on_its_way_is_no_news(one: DeployAccount, last: str, is_told: bool) -> None:
    assert deploy_text.is_told(one.deploy, last) is is_told


# --- strangers -----------------------------------------------------------------------------------------------

HOSTILE = [
    "@everyone look",
    "see [this](https://evil.example/x)",
    "fixes #1",
    "a\n## Deployed\n- nothing",
    "``` \n# now I am a heading",
    "<img src=x onerror=y>",
    "\x1b[2J\u202ereversed\u0000",
    "`x` → `python main.py deploy --commit 666`" + "x" * 9_000 + " the end",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_what_a_program_says_stays_one_harmless_bounded_line_everywhere(words: str) -> None:
    stages = (DeployStage.RETURNED, DeployStage.FAILED, DeployStage.STUCK)
    ahead = (Live(PRODUCTION, OLD, words),)
    deploys = tuple(replace(ended(stage, words, backup=words), title=words, ahead=ahead) for stage in stages)
    account = day(*deploys, paused=words)
    notices = [message(one, OLD, paused=words) for one in (*deploys, *(replace(one, task="") for one in deploys))]
    said = [report_text.evening(account, CALL), morning(account, account, CALL)]
    said += [f"{notice.title}\n{notice.text}" for notice in notices]
    said += [part.text for part in report_notice.evening(account, CALL).sections]
    for text in said:
        assert "@everyone" not in text and "](http" not in text and "#1" not in text and "<img" not in text
        assert not {"\x1b", "\u202e", "\0"} & set(text)
        assert "```" not in text and "`python main.py deploy --commit 666`" not in text
        assert "x" * 1_001 not in text
    assert len(section(said[0])) == 4
    assert all(len(notice.text) < 3_000 for notice in notices)


def test_of_a_long_reason_the_begin_and_the_end_are_kept() -> None:
    text = deploy_text.cut("the build " + "x" * 9_000 + " no module named app", 400)
    assert len(text) == 400
    assert text.startswith("the build xxx") and text.endswith("xxx no module named app")
    assert deploy_text.cut("") == "nobody knows why"
