"""config/ while it is changed: what counts, when, and what is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sisimpur.cli.wiring.config_watch import ConfigWatch, usable
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.paths import Home

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
CONFIG = Path(__file__).parents[2] / "config"
SECOND = timedelta(seconds=1)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.make()
    for name in ("agents.yaml", "policy.yaml", "schedules.yaml"):
        (home.config / name).write_text((CONFIG / name).read_text())
    (home.targets / "site.yaml").write_text("repo: /site\n")
    (home.config / ".env").write_text("ANTHROPIC_API_KEY=one\n")
    (home.config / ".env").chmod(0o600)
    return home


class Watching:
    """Looks at seconds of a day; what was told."""

    def __init__(self, home: Home) -> None:
        self.told: list[str] = []
        self.watch = ConfigWatch(home, {}, self.told.append)

    def zone_after(self, *seconds: float) -> str:
        for second in seconds:
            self.watch.look(NOW + second * SECOND)
        return self.watch.settings.schedules.time_zone


def write_zone(home: Home, zone: str) -> None:
    (home.config / "schedules.yaml").write_text(f"time_zone: {zone}\n")


def test_a_change_counts_when_it_has_rested_for_two_seconds(home: Home) -> None:
    watching = Watching(home)
    write_zone(home, "Asia/Tokyo")
    assert watching.zone_after(0, 0.5, 1.9) == "UTC"
    assert watching.zone_after(2.1) == "Asia/Tokyo"


def test_what_is_still_being_written_is_not_read(home: Home) -> None:
    watching = Watching(home)
    for second, zone in enumerate(("Asia/Tokyo", "Europe/Berlin", "Nowhere/At/All", "America/Lima")):
        write_zone(home, zone)
        assert watching.zone_after(second * 1.5) == "UTC"
    assert (watching.zone_after(10), watching.told) == ("America/Lima", [])


def test_a_clock_that_is_set_back_holds_up_no_change(home: Home) -> None:
    watching = Watching(home)
    write_zone(home, "Asia/Tokyo")
    assert watching.zone_after(0, -3600) == "Asia/Tokyo"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda h: (h.config / "policy.yaml").write_text("budget: {task: 1, day: 2, month: 3}"), id="caps"),
        pytest.param(lambda h: (h.config / ".env").write_text("ANTHROPIC_API_KEY=two\n"), id="a key"),
        pytest.param(lambda h: (h.targets / "site.yaml").write_text("repo: /another\n"), id="the target"),
        pytest.param(lambda h: (h.targets / "site.yaml").rename(h.targets / "other.yaml"), id="the target's name"),
    ],
)
def test_every_file_below_config_is_watched(home: Home, change: Callable[[Home], object]) -> None:
    watching = Watching(home)
    before = watching.watch.settings
    change(home)
    watching.zone_after(0, 3)
    assert watching.watch.settings != before


def test_a_change_of_nothing_but_its_date_changes_nothing(home: Home) -> None:
    watching = Watching(home)
    before = watching.watch.settings
    os.utime(home.config / "policy.yaml", (1, 1))
    watching.zone_after(0, 3)
    assert watching.watch.settings == before and watching.told == []


def test_what_cannot_be_used_is_told_once_and_what_was_read_before_goes_on(home: Home) -> None:
    watching = Watching(home)
    write_zone(home, "Nowhere/At/All")
    assert watching.zone_after(0, 3, 6, 9) == "UTC"
    (told,) = watching.told
    assert told.startswith(
        "config/ cannot be used as it is now, so what was read before goes on: config/schedules.yaml"
    )
    write_zone(home, "Nowhere/Either")
    assert watching.zone_after(12, 15) == "UTC" and len(watching.told) == 2
    write_zone(home, "Asia/Tokyo")
    assert watching.zone_after(18, 21) == "Asia/Tokyo" and len(watching.told) == 2


def test_a_key_that_was_taken_away_is_no_config_to_go_on_with(home: Home) -> None:
    watching = Watching(home)
    (home.config / ".env").unlink()
    watching.zone_after(0, 3)
    assert "write ANTHROPIC_API_KEY=" in watching.told[0]
    assert watching.watch.settings.secrets.get("ANTHROPIC_API_KEY") == "one"


def test_without_a_config_that_can_be_used_nothing_is_watched(home: Home) -> None:
    write_zone(home, "Nowhere/At/All")
    with pytest.raises(Misconfigured, match="time zone"):
        Watching(home)


@pytest.mark.parametrize("environment", [{"ANTHROPIC_API_KEY": "k"}, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}])
def test_a_key_may_stand_in_the_environment_and_a_local_model_wants_none(
    home: Home, environment: dict[str, str]
) -> None:
    (home.config / ".env").unlink()
    assert usable(home, environment)
