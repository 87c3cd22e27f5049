"""GitHub counts the team's calls: whoever reads the board in a loop takes none of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sisimpur.cli.views.pulls import ASKED_AGAIN
from sisimpur.simulators.github.faults import Fault
from sisimpur.simulators.github.local_github import LocalGitHub
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.at_github import GitHubStage
from tests.journey.gated import GOOD, ID, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, plans, reads
from tests.journey.test_board import Browser, signed_in

FEW = 3  # calls of one look: who we are, and a list


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LocalGitHub]:
    with LocalGitHub(tmp_path / "github") as hub:
        yield hub


@pytest.fixture
def day(tmp_path: Path, hub: LocalGitHub) -> GitHubStage:
    """After it: one change is merged."""
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        stage = GitHubStage(tmp_path, model.url, Coder(GOOD), suite, hub=hub).set_up()
        assert stage.run_day() == []
    return stage


def asked(hub: LocalGitHub) -> int:
    """How often, since this was asked last."""
    count = len(hub.exchanges)
    hub.exchanges.clear()
    return count


def loop(page: Browser) -> None:
    for _ in range(20):
        assert [row["task"] for row in page.read("pulls")["pulls"]] == [ID]
        assert [row["number"] for row in page.read(f"tasks/{ID}")["pulls"]] == [1]


def test_a_loop_of_reads_asks_github_once(day: GitHubStage, hub: LocalGitHub) -> None:
    page = signed_in(day)
    asked(hub)
    loop(page)
    assert 0 < asked(hub) <= FEW


def test_many_loops_at_once_ask_github_once(day: GitHubStage, hub: LocalGitHub) -> None:
    """Each of them has the books open for itself."""
    page = signed_in(day)
    asked(hub)
    with ThreadPoolExecutor(max_workers=8) as loops:
        list(loops.map(loop, [page] * 8))
    assert 0 < asked(hub) <= FEW


def test_after_ten_seconds_it_is_asked_for_what_is_new_alone(day: GitHubStage, hub: LocalGitHub) -> None:
    page = signed_in(day)
    loop(page)
    asked(hub)
    day.clock.sleep(ASKED_AGAIN.total_seconds())
    loop(page)
    assert [exchange.status for exchange in hub.exchanges] == [304]


def test_github_that_is_away_is_not_waited_for_by_each(day: GitHubStage, hub: LocalGitHub) -> None:
    page = signed_in(day)
    loop(page)
    day.clock.sleep(ASKED_AGAIN.total_seconds())
    hub.faults.before(Fault(503, {"message": "planted"}), where="GET /repos/{r}/pulls", times=99)
    asked(hub)
    loop(page)  # as it was shown last
    assert "GitHub" in page.read("pulls")["problem"]
    assert 0 < asked(hub) <= FEW
