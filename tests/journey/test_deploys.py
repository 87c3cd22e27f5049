"""What merged goes live, and comes back if it is sick: stories with real git, processes, pages; no container."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.cli.record.trace import drawn
from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.record.trace import tree
from sisimpur.shared.record.trace_reader import TraceReader
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.days import MIDNIGHT, days
from tests.journey.deployed import Site, book, ends, sick, site
from tests.journey.gated import FILES, GOOD, ID, RIGHT, SUM, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, git, plans, reads
from tests.mailbox import Mailbox

Make = Callable[..., Stage]
BETTER = {**GOOD, "app.py": RIGHT + "# and well\n"}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path) as live:
        yield live


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel, live: Site) -> Make:
    def make(*answers: Mapping[str, str], files: Mapping[str, str] = FILES, **more: str) -> Stage:
        day = Stage(tmp_path, model.url, Coder(*(answers or (GOOD,))), suite).set_up(VISION, files)
        live.configure(day, **more)
        return day

    return make


def head(day: Stage) -> str:
    return day.forge("rev-parse", "main")


def traced(day: Stage, deploy: int) -> list[str]:
    """From the goal to the last deploy, without what belongs to the gates, and what it cost is what the day cost."""
    with day.records() as records:
        reader = TraceReader(records.db)
        anchor = reader.find("deploy", deploy)
        root = tree(*reader.read(anchor), anchor)
        assert (
            root.cost.amount + root.parts[0].cost.amount + reading(records)
            == records.spending.totals(records.day(), 0).used
        )
    lines = list(drawn(root))
    assert [line for line in lines if line.startswith("=>")] == [line for line in lines if f"deploy {deploy}  " in line]
    told = ("goal", "task", "attempt", "merge", "deploy", "revert")
    return [word for line in lines if (word := line[21:].strip(" │├└─").split()[0]) in told]


def logged(day: Stage) -> list[str]:
    """What DevOps has written down of its steps."""
    lines = (json.loads(line) for line in (day.home.logs / "devops.jsonl").read_text().splitlines())
    return [f"{line['level']} {line['what']} {line['place']} {line['commit']}" for line in lines]


def reading(records: Records) -> int:
    """What the look at VISION.md took: it is no goal's."""
    return sum(share.spent for share in records.spending.breakdown() if share.agent == "orchestrator")


# --- healthy -------------------------------------------------------------------------------------------------


def test_what_merged_goes_to_staging_and_when_it_was_healthy_there_to_production(stage: Make, live: Site) -> None:
    day = stage()
    assert day.run_day() == []
    first = git(day.root / "site", "rev-list", "--max-parents=0", "HEAD")
    assert live.runs("staging") == live.runs("production") == head(day)
    assert live.starts == [(place, sha) for sha in (first, head(day)) for place in ("staging", "production")]
    assert ends(day) == ["staging healthy", "production healthy"] * 2


def test_what_the_owner_pushes_goes_live_too(stage: Make, live: Site) -> None:
    day = stage(places="production")
    day.run_day()
    git(day.root / "site", "pull", "-q", str(day.home.forge("site")), "main")
    day.owner_commits({"other.py": "Y = 2\n"})
    assert day.run_day() == []
    assert live.runs("production") == git(day.root / "site", "rev-parse", "HEAD") == head(day)


# --- sick ----------------------------------------------------------------------------------------------------


def test_what_is_sick_at_staging_comes_back_is_taken_back_and_is_tried_again(stage: Make, live: Site) -> None:
    day = stage(sick(GOOD), BETTER)
    assert day.run_day() == []
    bad = next(deploy for deploy in book(day) if deploy.broke)
    assert ("production", bad.commit) not in live.starts
    assert "GET / answered 500, not 200" in bad.why
    assert [line for line in logged(day) if line.endswith(f" {bad.place} {bad.commit}")] == [
        f"{said} {bad.place} {bad.commit}"
        for said in (
            "info built",
            "info a backup was made",
            "info started",
            "warning sick",
            "info the last healthy version is started again",
            "info the last healthy version is healthy again",
        )
    ]
    taken_back = next(pull for pull in day.pulls() if pull.number == bad.reverts)
    assert taken_back.state == "merged", "it leaves the very files that were healthy"
    tree = f"{taken_back.merge_sha}^{{tree}}", f"{bad.back_to}^{{tree}}"
    assert day.forge("rev-parse", tree[0]) == day.forge("rev-parse", tree[1])
    assert day.states() == {ID: "completed"}
    assert day.forge("show", "main:app.py") == BETTER["app.py"].strip()
    assert live.runs("staging") == live.runs("production") == head(day)
    live_at_both = ["deploy", "deploy"]
    first, second = ["attempt", "merge", "deploy", "revert", *live_at_both], ["attempt", "merge", *live_at_both]
    assert traced(day, bad.number) == ["goal", "task", *first, *second]
    history = day.forge("log", "--first-parent", "--format=%s|%(trailers:key=Task,valueonly,separator=%x2C)", "main")
    goals = day.forge("log", "-3", "--first-parent", "--format=%(trailers:key=Goal,valueonly,separator=)", "main")
    assert goals.splitlines() == [SUM] * 3, "the revert is of the same goal"
    kinds = [(line.partition(": ")[0], line.rpartition("|")[2]) for line in history.splitlines()]
    assert kinds == [("fix", ID), ("revert", ID), ("fix", ID), ("first|", "")]
    assert f"(#{bad.reverts})|" in history and bad.commit in day.forge(
        "log", "-1", "--format=%b", taken_back.merge_sha or ""
    )


def test_what_is_sick_only_in_production_comes_back_there(stage: Make, live: Site) -> None:
    day = stage(sick(GOOD, "production"), BETTER)
    assert day.run_day() == []
    bad = next(deploy for deploy in book(day) if deploy.broke)
    assert bad.place == "production" and ("staging", bad.commit) in live.starts
    assert live.runs("production") == live.runs("staging") == head(day)


# --- the owner's turn ----------------------------------------------------------------------------------------


def test_what_came_to_nothing_is_tried_again_when_the_owner_says_so(stage: Make, live: Site) -> None:
    """What was wrong was his machine, not the commit."""
    day = stage(places="production")
    (live.live / "broken").touch()
    day.run_day()
    assert ends(day) == ["production stuck"]
    (live.live / "broken").unlink()
    day.run_day()
    assert ends(day) == ["production stuck"]
    with day.records() as records:
        records.deploys.resume(records.clock.now())
    assert day.run_day() == []
    assert live.runs("production") == head(day)


def test_a_place_that_an_order_has_mended_is_not_called_sick_any_more(stage: Make, live: Site) -> None:
    day = stage(places="production")
    first = git(day.root / "site", "rev-parse", "HEAD")
    day.owner_commits({"app.py": FILES["app.py"] + "# newer\n"})
    (live.live / "at-start").write_text(f"test -e $0.first || {{ touch $0.first; {order(day, first)}; kill $PPID; }}\n")
    assert day.run_day() == []
    assert ends(day)[:2] == ["production stuck", "production healthy"] and live.runs("production") == first
    assert "which is no change of ours, was sick at production" in paused(day)


def test_a_branch_that_is_somebody_elses_is_left_alone(stage: Make, live: Site) -> None:
    """It has the name of the one that would take the sick commit back."""
    day = stage(sick(GOOD), BETTER)
    forge = f"git -C {day.home.forge('site')}"
    branch = "refs/heads/agent/revert-$(echo $sha | cut -c 1-12)"
    (live.live / "at-start").write_text(f"sha=$({forge} rev-parse main); {forge} update-ref {branch} $sha\n")
    assert day.run_day() == []
    bad = next(deploy for deploy in book(day) if deploy.broke)
    name = f"agent/revert-{bad.commit[:12]}"
    assert paused(day) == f"{name} is there already, and not ours: remove that branch"
    assert day.forge("rev-parse", name) == bad.commit and not bad.reverts
    day.forge("branch", "-D", name)
    (live.live / "at-start").unlink()
    with day.records() as records:
        records.deploys.resume(records.clock.now())
    assert day.run_day() == []
    assert live.runs("production") == head(day)


def test_after_three_that_came_to_nothing_deploys_pause(stage: Make, live: Site) -> None:
    day = stage(files={**FILES, "other.py": "Y = 1\n"}, places="production")
    day.run_day()
    git(day.root / "site", "pull", "-q", str(day.home.forge("site")), "main")
    for number in range(4):
        day.owner_commits({"app.py": f"{RIGHT}# unbuildable\n# {number}\n"})
        day.run_day()
    assert ends(day)[2:] == ["production failed"] * 3
    assert paused(day) == "3 deploys in a row came to nothing at production"
    assert live.runs("production") == book(day)[1].commit, "what ran runs on"


def test_a_sick_commit_of_the_owner_comes_back_too_and_he_is_asked_what_now(stage: Make, live: Site) -> None:
    day = stage(places="production")
    day.run_day()
    git(day.root / "site", "pull", "-q", str(day.home.forge("site")), "main")
    before = head(day)
    day.owner_commits({"app.py": f"{RIGHT}# sick\n"})
    day.run_day()
    assert ends(day)[-1] == "production rolled back" and live.runs("production") == before
    assert "is no change of ours" in paused(day)


# --- orders --------------------------------------------------------------------------------------------------


def test_an_order_ends_the_watching_of_what_is_there_now(stage: Make, live: Site) -> None:
    day = stage(places="production")
    first = git(day.root / "site", "rev-parse", "HEAD")
    (live.live / "at-start").write_text(f"test -e $0.first && {order(day, first)} && rm $0; touch $0.first\n")
    assert day.run_day() == []
    assert ends(day) == [f"production {end}" for end in ("healthy", "overruled", "healthy")]
    assert [sha for _, sha in live.starts] == [first, head(day), first], "what he replaced is not tried again unasked"


# --- by the daemon -------------------------------------------------------------------------------------------


def test_a_rollback_waits_for_nobody_and_what_follows_it_waits_for_the_forge(
    stage: Make, live: Site, tmp_path: Path
) -> None:
    day, clock = stage(sick(GOOD), BETTER), ManualClock(MIDNIGHT)
    day.services.append(Mailbox(tmp_path / "box"))
    forge = day.home.forge("site") / "HEAD"
    with days(day, clock) as daemon:
        daemon.until(at(7))
        first = live.runs("staging")
        (live.live / "at-start").write_text(f"mv {forge} {forge}.away")
        daemon.until(at(9))
        assert len(live.starts) == 4 and live.starts[-1] == ("staging", first) and live.runs("staging") == first
        titles = [message["title"] for message in Mailbox(tmp_path / "box").messages()]
        assert any(title.startswith("Rolled back at staging") for title in titles)
        assert day.states() == {ID: "completed"}, "its task waits for the pull request"
        (live.live / "at-start").unlink()
        daemon.records.deploys.order("production", first, clock.now())
        daemon.until(at(9.5))
        assert live.starts[-1] == ("staging", first) and not daemon.records.deploys.orders(), "it runs there already"
        forge.with_name("HEAD.away").rename(forge)
        daemon.until(at(14))
        assert daemon.end is None
    assert day.states() == {ID: "completed"} and len(day.jobs) == 2
    assert live.runs("staging") == live.runs("production") == head(day)


# --- helpers -------------------------------------------------------------------------------------------------


def at(hour: float) -> datetime:
    return MIDNIGHT + timedelta(hours=hour)


def paused(day: Stage) -> str:
    with day.records() as records:
        found = records.deploys.paused()
        return found.why if found else ""


def order(day: Stage, commit: str) -> str:
    """What the owner types."""
    return f"{sys.executable} {CHECKOUT / 'main.py'} --home {day.home.root} deploy --place production --commit {commit}"
