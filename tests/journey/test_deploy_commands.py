"""The owner's hands on deploys, as he types them: what he is shown, what is booked and done, and with which code."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.backup import Backups
from sisimpur.cli.commands.day import run_day
from sisimpur.cli.commands.deploys import before, deploy, rollback
from sisimpur.cli.terminal.arguments import CHECKOUT, Arguments
from sisimpur.cli.views.deploys import make_driver
from sisimpur.shared.model.deployment import Deploy, DeployEvent, DeployStage, Place
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.system import lock
from tests.journey.deploy_scene import GOOD, SICK, DeployHome

A, B, C = "a" * 40, "b" * 40, "c" * 40
HOSTILE = "\x1b[2J\x9b31m\u202eGET / @everyone\nanswered\r500 `" + "x" * 5_000 + " the end"


@pytest.fixture
def home(tmp_path: Path) -> DeployHome:
    return DeployHome.made(tmp_path)


@pytest.fixture(scope="module")
def unconfigured(tmp_path_factory: pytest.TempPathFactory) -> DeployHome:
    """To look at."""
    return DeployHome.made(tmp_path_factory.mktemp("unconfigured"), ())


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> DeployHome:
    """To look at: our mirror knows its repository."""
    home = DeployHome.made(tmp_path_factory.mktemp("seen"))
    home.commit()
    return home


def shown(home: DeployHome, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert home.type(*words) == code
    out, errors = capsys.readouterr()
    return out + errors


def facts(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(shown(home, capsys, "deploys", "--json"))


# --- without a driver ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["deploys", "deploy --commit abcd", "rollback", "pause-deploys", "resume-deploys"])
def test_without_a_driver_each_command_says_how_to_configure_one(
    unconfigured: DeployHome, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    text = shown(unconfigured, capsys, *words.split(), code=1)
    assert "nothing is deployed here: write `deploy: {driver: " in text
    assert "config/targets/site.yaml" in text and text.count("\n") == 1


def test_without_a_driver_status_says_nothing_of_deploys(
    unconfigured: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "production" not in shown(unconfigured, capsys, "status")


@pytest.mark.parametrize("words", ["deploy", "deploy --commit a --place moon", "rollback --place moon"])
def test_wrong_usage_is_2(seen: DeployHome, words: str) -> None:
    with pytest.raises(SystemExit) as end:
        seen.type(*words.split())
    assert end.value.code == 2


# --- deploys -------------------------------------------------------------------------------------------------


def test_deploys_shows_what_the_book_says_and_what_really_runs(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first = home.commit()
    assert "nothing was healthy there yet\n  runs: nothing of ours\nno deploys yet" in shown(home, capsys, "deploys")
    home.deployed(first)
    home.runs().write_text(f"{first}\n")
    text = shown(home, capsys, "deploys")
    assert f"production: {first[:8]} (first) healthy since " in text
    assert f"  runs: {first[:8]}\n" in text
    assert f"healthy: {first[:8]} (first)" in text


def test_what_somebody_else_has_started_is_said_plainly_with_what_puts_it_right(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first, other = home.commit(), home.commit("other")
    home.deployed(first)
    home.runs().write_text(other)
    text = shown(home, capsys, "deploys")
    assert f"runs: {other[:8]}, which is not what was deployed" in text
    assert f"deploy --place production --commit {first[:8]}\n" in text
    assert facts(home, capsys)["places"][0]["runs"]["is_other"] is True


def test_while_a_deploy_is_under_way_the_old_the_new_and_nothing_are_all_as_they_should_be(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = home.commit(), home.commit("second")
    home.deployed(first)
    home.deployed(second, *GOOD[:3], back_to=first)
    for there in (first, second, ""):
        home.runs().write_text(there)
        (place,) = facts(home, capsys)["places"]
        assert place["runs"]["is_other"] is False
    assert (place["commit"], place["under_way"]["commit"], place["under_way"]["stage"]) == (first, second, "started")
    assert f"; {second[:8]} (the owner's own) started, and watched, since " in shown(home, capsys, "deploys")


def test_after_one_that_got_stuck_either_of_the_two_is_no_surprise_but_after_a_healthy_one_the_last_is(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = home.commit(), home.commit("second"), home.commit("third")

    def is_other(commit: str) -> bool:
        home.runs().write_text(commit)
        return bool(facts(home, capsys)["places"][0]["runs"]["is_other"])

    home.deployed(first)
    home.deployed(second, back_to=first)
    assert [is_other(sha) for sha in (first, second, second[:7])] == [True, False, False]
    home.deployed(third, *GOOD[:3], DeployEvent.SICKENED, DeployEvent.LOST, back_to=second)
    assert [is_other(sha) for sha in (first, second, third, third[:7], "")] == [True, False, False, False, False]


def test_what_an_order_cut_off_and_did_not_replace_is_not_called_healthy(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = home.commit(), home.commit("second"), home.commit("third")
    home.deployed(first)
    home.deployed(second, *GOOD[:3], DeployEvent.OVERRULED, back_to=first)
    home.deployed(third, DeployEvent.NOT_BUILT, back_to=first, why="no room")
    home.runs().write_text(second)
    told = (
        f"production: {second[:8]} runs there still, and nobody watched it to its end; {first[:8]} (first) was healthy"
    )
    assert told in shown(home, capsys, "deploys")


def test_who_cannot_be_asked_costs_one_line(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.deployed(home.commit())
    home.runs().write_text("a page of HTML")
    text = shown(home, capsys, "deploys")
    assert "runs: nobody can be asked (" in text and "healthy since" in text


def test_the_keys_of_json_are_stable(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = home.commit(), home.commit("second")
    home.deployed(first)
    home.deployed(
        second, *SICK, DeployEvent.SENT_BACK, DeployEvent.RECOVERED, back_to=first, why="GET / answered 500", reverts=7
    )
    found = facts(home, capsys)
    assert set(found) == {"driver", "places", "paused", "held", "orders", "deploys"}
    keys = ("place", "commit", "subject", "task", "since", "stuck", "unwatched", "under_way", "runs")
    assert set(found["places"][0]) == {*keys}
    assert set(found["places"][0]["runs"]) == {"commit", "ended", "problem", "is_other", "command"}
    assert set(found["deploys"][0]) == {
        *("number", "place", "commit", "subject", "task", "stage", "why", "back_to", "asked", "reverted_by"),
        *("begun", "started", "ended", "backup"),
    }
    newest = found["deploys"][0]
    assert (newest["stage"], newest["reverted_by"], newest["back_to"]) == ("rolled back", 7, first)
    assert found["places"][0]["commit"] == first


def test_only_the_newest_twenty_are_shown_and_the_rest_is_counted(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first = home.commit()
    for _ in range(22):
        home.deployed(first)
    text = shown(home, capsys, "deploys")
    assert "#22 " in text and "#3 " in text and "#2 " not in text
    assert "… and 2 more" in text
    assert len(facts(home, capsys)["deploys"]) == 22


def test_what_programs_said_is_one_bounded_harmless_line(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    first = home.commit()
    home.deployed(first, *SICK, DeployEvent.LOST, why=HOSTILE)
    for words in (("deploys",), ("status",), ("deploys", "--json")):
        text = shown(home, capsys, *words)
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(text)
        assert "the end" in text  # where programs say what was wrong
        assert "x" * 2_001 not in text
    assert all(len(line) < 400 for line in shown(home, capsys, "deploys").splitlines())


def test_status_has_a_line_for_each_place_and_what_ends_a_pause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = DeployHome.made(tmp_path, ("staging", "production"))
    first, second = home.commit(), home.commit("second")
    home.deployed(first, place="staging")
    home.deployed(second, *SICK, DeployEvent.LOST, place="production", why="GET / answered 500")
    home.type("pause-deploys", "--why", "a fair")
    text = shown(home, capsys, "status")
    assert f"staging: {first[:8]} (first) healthy since " in text
    assert "production: may be down: GET / answered 500" in text
    assert "nothing new is deployed since" in text and "a fair" in text and "resume-deploys" in text
    found = json.loads(shown(home, capsys, "status", "--json"))
    assert len(found["deploys"]) == 2
    assert [answer["command"].split()[-1] for answer in found["answers"]] == ["resume-deploys"]


# --- deploy --------------------------------------------------------------------------------------------------


def test_a_commit_is_deployed_at_once_by_its_first_digits(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    first = home.commit()
    text = shown(home, capsys, "deploy", "--commit", first[:7])
    assert f"production {first[:8]}: starting" in text
    assert text.endswith(f"production {first[:8]}: healthy\n")
    assert home.runs().read_text().strip() == first


def test_what_is_due_on_the_branch_follows_what_was_ordered(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = home.commit(), home.commit("second")
    text = shown(home, capsys, "deploy", "--commit", first)
    assert text.endswith(f"production {first[:8]}: healthy; then {second[:8]} was due, and runs there now\n")
    assert home.runs().read_text().strip() == second


def test_no_model_is_needed_for_it(home: DeployHome) -> None:
    """What is down at night does not wait until a key is found."""
    (home.stage.home.config / ".env").write_text("")
    with pytest.raises(Misconfigured, match="no key for the model"):
        run_day(Arguments("run-day", home.stage.home.root), {})
    first = home.commit()
    for commit in (first, home.commit("second")):
        assert deploy(Arguments("deploy", home.stage.home.root, commit=commit), {}) == 0
    assert rollback(Arguments("rollback", home.stage.home.root), {}) == 0
    assert home.runs().read_text().strip() == first


def test_an_order_that_could_not_even_be_looked_at_is_not_carried_out_later(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first = home.commit()
    with home.stage.records() as records:
        records.plans.name_target("/another", records.clock.now())
    assert "this home has worked on /another" in shown(home, capsys, "deploy", "--commit", first, code=1)
    assert facts(home, capsys)["orders"] == []


def test_what_was_pushed_a_moment_ago_is_looked_for(home: DeployHome) -> None:
    """Nobody was at work since, so our mirror is not even there."""
    first = home.site("rev-parse", "HEAD")
    assert home.type("deploy", "--commit", first) == 0
    assert home.runs().read_text().strip() == first


def test_what_does_not_start_ends_with_1_and_says_why(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert home.type("deploy", "--commit", home.commit()) == 0
    (home.root / "broken").touch()
    text = shown(home, capsys, "deploy", "--commit", home.commit("second"), code=1)
    assert "deploy: production " in text and "`production.start` ended with 3" in text


@pytest.mark.parametrize("typed", ["beef", "abc", "main", "--help-me", "../../etc"])
def test_an_unknown_commit_is_1_with_what_to_type(
    seen: DeployHome, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    text = shown(seen, capsys, "deploy", f"--commit={typed}", code=1)
    assert "is no commit that is known here; see what there is: git -C " in text


def test_what_was_not_merged_is_not_deployed(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    """Code of a model that nobody has judged runs in a sandbox, or not at all."""
    first = home.commit()
    mirror = home.stage.home.mirror("site")
    tree = home.site("rev-parse", f"{first}^{{tree}}")
    attempt = home.site("--git-dir", str(mirror), "commit-tree", tree, "-p", first, "-m", "an attempt")
    text = shown(home, capsys, "deploy", "--commit", attempt, code=1)
    assert "is not on main: only what was merged is deployed" in text
    home.deployed(attempt)  # it was, once: the branch was rewritten since
    assert home.type("deploy", "--commit", attempt) == 0


def test_a_place_that_is_not_configured_is_named(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(home, capsys, "deploy", "--commit", home.commit(), "--place", "staging", code=1)
    assert "no staging is configured; name one of production" in text


def test_production_is_meant_unless_staging_is_all_there_is(tmp_path: Path) -> None:
    home = DeployHome.made(tmp_path, ("staging",))
    assert home.type("deploy", "--commit", home.commit()) == 0
    assert home.runs("staging").exists()
    home.given_driver(("staging", "production"))
    assert home.type("deploy", "--commit", home.commit()) == 0
    assert home.runs("production").exists()


def test_who_is_at_work_does_it_and_is_not_disturbed(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    first = home.commit()
    with lock.hold(home.stage.home.lock):
        for _ in range(2):  # the same order again is one order
            text = shown(home, capsys, "deploy", "--commit", first)
            assert f"run-day (pid {os.getpid()}) does it" in text
        with home.stage.records() as records:
            assert [(order.place, order.commit) for order in records.deploys.orders()] == [("production", first)]
    assert not home.runs().exists()
    assert facts(home, capsys)["orders"] == [{"place": "production", "commit": first}]


def test_the_daemon_does_it_now(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    first = home.commit()
    with lock.hold(home.stage.home.lock), home.stage.records() as records:
        Epochs(records.db).begin(os.getpid(), records.clock.now())
        text = shown(home, capsys, "deploy", "--commit", first)
    assert f"production {first[:8]}: the daemon does it now; see: " in text


# --- rollback ------------------------------------------------------------------------------------------------


def test_rollback_brings_back_what_was_healthy_before_and_pauses(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first = home.commit()
    assert home.type("deploy", "--commit", first) == 0
    assert home.type("deploy", "--commit", home.commit("second")) == 0
    text = shown(home, capsys, "rollback")
    assert "deploys are paused" in text and "resume-deploys" in text
    assert home.runs().read_text().strip() == first
    assert facts(home, capsys)["paused"]["why"] == f"you rolled back production to {first[:8]}"
    assert "nothing was healthy at production before" in shown(home, capsys, "rollback", code=1)


def test_rollback_of_what_goes_back_by_itself_orders_nothing(
    home: DeployHome, capsys: pytest.CaptureFixture[str]
) -> None:
    first = home.commit()
    assert home.type("deploy", "--commit", first) == 0
    second = home.commit("second")
    home.deployed(second, *SICK, back_to=first, why="GET / answered 500")
    text = shown(home, capsys, "rollback")
    assert "first production" in text and text.endswith(f"production {first[:8]}: healthy\n")
    assert [row["stage"] for row in facts(home, capsys)["deploys"]] == ["rolled back", "healthy"]


def history(*told: tuple[str, DeployStage, str]) -> list[Deploy]:
    """(commit, how it stands, what was healthy before it), one after the other."""
    return [Deploy(number, "production", commit, stage, back) for number, (commit, stage, back) in enumerate(told)]


H = DeployStage.HEALTHY


@pytest.mark.parametrize(
    ("deploys", "back"),
    [
        pytest.param(history(), "", id="nothing was ever deployed"),
        pytest.param(history((A, H, "")), "", id="the first one"),
        pytest.param(history((A, H, ""), (B, H, A)), A, id="the one before"),
        pytest.param(history((A, H, ""), (B, H, A), (C, H, B), (B, H, C)), A, id="twice goes back twice"),
        pytest.param(history((A, H, ""), (B, H, A), (A, H, B)), "", id="never forward to what was left"),
        pytest.param(
            history((A, H, ""), (B, H, A), (C, DeployStage.RETURNED, B)), A, id="what is sick went back already"
        ),
        pytest.param(history((A, H, ""), (B, H, A), (C, DeployStage.FAILED, B)), A, id="what was not built never ran"),
        pytest.param(history((A, H, ""), (B, DeployStage.STARTED, A)), A, id="what is still watched"),
        pytest.param(history((A, H, ""), (B, DeployStage.PLANNED, A)), "", id="what is still built does not run yet"),
        pytest.param(history((A, H, ""), (B, DeployStage.RETURNING, A)), A, id="it goes back just now"),
        pytest.param(history((A, H, ""), (B, DeployStage.STUCK, A)), A, id="stuck: the last healthy one once more"),
        pytest.param(history((A, H, ""), (B, H, A), (B, DeployStage.STUCK, B)), A, id="stuck with what was healthy"),
    ],
)
def test_what_a_rollback_goes_back_to(deploys: list[Deploy], back: str) -> None:
    assert before("production", deploys) == back


def test_another_place_is_not_rolled_back_to() -> None:
    staging: Place = "staging"
    assert before("production", [Deploy(1, staging, A, H), Deploy(2, "production", B, H)]) == ""


# --- pause, resume -------------------------------------------------------------------------------------------


def test_a_pause_and_its_end_may_be_typed_twice(home: DeployHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert ": a fair\n" in shown(home, capsys, "pause-deploys", "--why", "a\x1bfair")
    again = shown(home, capsys, "pause-deploys", "--why", "another reason")
    assert ": a fair\n" in again and "another" not in again
    assert "deploys were paused" in shown(home, capsys, "resume-deploys")
    assert "deploys were not paused" in shown(home, capsys, "resume-deploys")
    assert facts(home, capsys)["paused"] is None


# --- what the manual says ------------------------------------------------------------------------------------

MANUAL = (CHECKOUT / "docs" / "deploys.md").read_text().split("```yaml\n")[1:]
COMMENTED = (CHECKOUT / "config" / "targets" / "example.yaml").read_text().partition("docs/deploys.md\n")[2]
EXAMPLES = [*(block.partition("```")[0] for block in MANUAL), re.sub("(?m)^# ", "", COMMENTED)]


def test_there_is_an_example_of_each_driver() -> None:
    assert [re.findall("driver: ([a-z]+)", text) for text in EXAMPLES] == [
        ["dockerfile"],
        ["compose"],
        ["command"],
        ["command"],
        ["dockerfile"],
    ]


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_manual_are_understood(tmp_path: Path, text: str) -> None:
    home = DeployHome.made(tmp_path, ())
    path = home.stage.home.targets / "site.yaml"
    path.write_text(f"{path.read_text()}\n{text}")
    with home.stage.records() as records:
        file, clock = records.settings.target.file, records.clock
        Backups(tmp_path, file.deploy, clock)  # knows each {name} that a command holds
        if file.deploy.driver == "command":
            assert make_driver(records)
    assert file.deploy.production and file.health.pages
