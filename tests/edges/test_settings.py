"""Configuration: what is refused, and that every field says what it is for."""

from __future__ import annotations

import shutil
from datetime import time, timedelta
from pathlib import Path

import pytest

from bench.reference import reference
from sisimpur.shared.config.reference import FILES, setting_rows
from sisimpur.shared.config.settings import LiveCaps, Secrets, faults, load, load_board, read_secrets
from sisimpur.shared.config.settings_board import BoardFile
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.money.token_budget import dollars
from sisimpur.shared.system.paths import Home

ROOT = Path(__file__).parents[2]
NOTHING: dict[str, str] = {}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.make()
    for name in ("agents.yaml", "policy.yaml", "schedules.yaml"):
        shutil.copyfile(ROOT / "config" / name, home.config / name)
    (home.targets / "site.yaml").write_text("repo: /srv/site\n")
    return home


def test_the_delivered_configuration_is_valid(home: Home) -> None:
    settings = load(home, NOTHING)
    assert settings.policy.budget.day == dollars("5")
    assert settings.target.name == "site"
    assert settings.zone.key == "UTC"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        pytest.param(
            "policy", "budget: {task: -1, day: 5, month: 9}", "budget.task: '-1' is not an amount", id="negative"
        ),
        pytest.param(
            "policy", "budget: {task: .nan, day: 5, month: 9}", "budget.task: '.nan' is not an amount", id="nan"
        ),
        pytest.param("policy", "budget: {task: .inf, day: 5, month: 9}", "budget.task: '.inf' is not", id="inf"),
        pytest.param("policy", "budget: {task: 1e9, day: 5, month: 9}", "budget.task: '1e9' is not", id="exponent"),
        pytest.param("policy", "budget: {task: 99999999, day: 5, month: 9}", "is not an amount", id="absurd"),
        pytest.param("policy", "budget: {task: true, day: 5, month: 9}", "write an amount", id="a truth value"),
        pytest.param("policy", "budget: {task: 9, day: 5, month: 90}", "budget: task <= day <= month", id="order"),
        pytest.param("policy", "budget: {task: 1, day: 5}", "budget.month: is missing; add it", id="missing"),
        pytest.param(
            "policy", "budget: {task: 1, day: 5, month: 9, week: 7}", "budget.week: unknown key", id="unknown"
        ),
        pytest.param("policy", "budget: {task: 1, task: 2, day: 5, month: 9}", "'task' stands twice", id="duplicate"),
        pytest.param("policy", "a: &a 1\nbudget: *a", "anchors and aliases are not read", id="alias"),
        pytest.param(
            "policy", "auto_merge: true\nbudget: {task: 1, day: 5, month: 9}", "auto_merge: unknown", id="typo"
        ),
        pytest.param("schedules", "time_zone: Mars/Olympus", "time_zone: not a known time zone", id="time zone"),
        pytest.param("schedules", "time_zone: ../../etc/passwd", "time_zone: not a known time zone", id="path as zone"),
        pytest.param("schedules", "phases: {morning: '25:00'}", "phases.morning: write a time of day", id="time"),
        pytest.param("schedules", "phases: {morning: [7]}", "config/schedules.yaml:1: phases.morning", id="type"),
        pytest.param(
            "schedules", "phases: {planning: '06:59'}", "morning <= research <= planning < work", id="no order"
        ),
        pytest.param("schedules", "phases: {planning: '08:00'}", "planning < work", id="no time to plan"),
        pytest.param("schedules", "phases: {wrap_up: '08:00'}", "work < wrap_up must hold", id="no time to work"),
        pytest.param("schedules", "phases: {morning: '01:00'}", "clocks are set between 01:00 and 03:00", id="summer"),
        pytest.param(
            "schedules", "phases: {morning: '02:59'}", "phases.morning: clocks are set", id="an hour that is missing"
        ),
        pytest.param(
            "schedules", "catch_up_hours: 0", "catch_up_hours: write a number above 0, at most 48", id="never"
        ),
        pytest.param("schedules", "catch_up_hours: 48.5", "catch_up_hours: write a number above 0", id="too late"),
        pytest.param(
            "policy", "budget: {task: 1, day: 5, month: 9}\ncapacity: {parallel: 0}", "capacity.parallel", id="nobody"
        ),
        pytest.param(
            "policy", "budget: {task: 1, day: 5, month: 9}\ncapacity: {parallel: 17}", "capacity.parallel", id="a crowd"
        ),
        pytest.param("agents", "planner: {model: x}", "orchestrator: is missing", id="a model is missing"),
        pytest.param("targets/site", "repo: ''", "config/targets/site.yaml:1: repo:", id="no repository"),
        pytest.param("targets/site", "", "config/targets/site.yaml:1: (the whole file)", id="an empty file"),
    ],
)
def test_a_wrong_file_is_named_with_line_and_key(home: Home, name: str, text: str, reason: str) -> None:
    (home.config / f"{name}.yaml").write_text(text)
    with pytest.raises(TeamError) as problem:
        load(home, NOTHING)
    assert str(problem.value).startswith(f"config/{name}.yaml:")
    assert reason in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_home_without_a_file_for_its_board_has_the_usual_one_which_is_the_delivered_one(home: Home) -> None:
    assert load_board(home) == BoardFile()
    shutil.copyfile(ROOT / "config" / "board.yaml", home.config / "board.yaml")
    assert load_board(home) == BoardFile()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ports: 8765", "ports: unknown key"),
        ("port: 80", "port: "),
        ("hosts: ['https://team.example.net']", "hosts"),
        ("hosts: ['*']", "hosts"),
        ("url: http://team.example.net", "url: write the address that you type into a browser"),
        ("url: https://me:secret@team.example.net", "url: write the address"),
        ("url: 'javascript:alert(1)'", "url: write the address"),
        ("url: https://team.example.net/a/b", "url: write the address"),
    ],
)
def test_a_wrong_file_for_the_board_is_named_and_stops_no_team(home: Home, text: str, reason: str) -> None:
    (home.config / "board.yaml").write_text(text)
    with pytest.raises(Misconfigured, match=r"config/board\.yaml:1") as said:
        load_board(home)
    assert reason in str(said.value)
    assert load(home, NOTHING).target.name == "site"
    assert faults(home, NOTHING) == [str(said.value)]


def test_a_second_target_is_not_guessed_about(home: Home) -> None:
    (home.targets / "other.yaml").write_text("repo: /srv/other\n")
    with pytest.raises(Misconfigured, match=r"holds other\.yaml, site\.yaml; keep one"):
        load(home, NOTHING)


def test_a_home_without_target_says_what_to_type(home: Home) -> None:
    (home.targets / "site.yaml").unlink()
    with pytest.raises(Misconfigured, match="init --target PATH_OR_URL"):
        load(home, NOTHING)


def test_the_environment_wins_over_the_file(home: Home) -> None:
    (home.config / ".env").write_text("ANTHROPIC_API_KEY=filed\nGITHUB_TOKEN='quoted'\nOTHER=x\n")
    secrets = read_secrets(home, {"ANTHROPIC_API_KEY": "given"})
    assert secrets.get("ANTHROPIC_API_KEY") == "given"
    assert secrets.get("GITHUB_TOKEN") == "quoted"
    assert secrets.get("DISCORD_WEBHOOK_URL") == ""
    assert set(secrets.values) == {"ANTHROPIC_API_KEY", "GITHUB_TOKEN"}


def test_a_secret_shows_itself_nowhere(home: Home) -> None:
    secrets = read_secrets(home, {"ANTHROPIC_API_KEY": "sk-very-secret"})
    assert "very-secret" not in f"{secrets} {secrets!r} {secrets.model_dump()} {secrets.model_dump_json()}"
    assert isinstance(secrets, Secrets)


def test_a_key_with_a_line_break_is_named_without_its_value(home: Home) -> None:
    with pytest.raises(Misconfigured, match=r"ANTHROPIC_API_KEY holds a blank or a control character") as problem:
        read_secrets(home, {"ANTHROPIC_API_KEY": "sk-secret\n"})
    assert "sk-secret" not in str(problem.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://hc-ping.com/a-secret",
        "http://localhost.evil.example/a-secret",
        "ftp://127.0.0.1/a-secret",
        "https:///a-secret",
        "https://user:a-secret@hc-ping.com/x",
        "https://hc-ping.com/x#a-secret",
        "https://[::1/a-secret",
        "https://hc-ping.com:99999999/a-secret",
        "a-secret",
    ],
)
def test_the_dead_mans_switch_is_called_by_https_and_a_wrong_address_is_not_repeated(home: Home, url: str) -> None:
    with pytest.raises(Misconfigured, match=r"PING_URL is no https address; write it in config/\.env") as problem:
        read_secrets(home, {"PING_URL": url})
    assert "a-secret" not in str(problem.value)


@pytest.mark.parametrize("url", ["https://hc-ping.com/uuid", "http://127.0.0.1:8000/x", "http://[::1]:8000/x"])
def test_its_address_is_a_secret(home: Home, url: str) -> None:
    secrets = read_secrets(home, {"PING_URL": url})
    assert secrets.get("PING_URL") == secrets.to_hide["PING_URL"] == url


def test_the_times_of_a_day_become_a_schedule(home: Home) -> None:
    (home.config / "schedules.yaml").write_text("phases: {morning: '06:30', planning: '06:30'}\ncatch_up_hours: 2.5\n")
    schedule = load(home, NOTHING).schedules.schedule
    assert [(slot.name, slot.at) for slot in schedule.slots] == [
        ("morning", time(6, 30)),
        ("research", time(6, 30)),
        ("planning", time(6, 30)),
        ("work", time(8)),
        ("wrap_up", time(23)),
    ]
    assert schedule.catch_up == timedelta(hours=2.5)


@pytest.mark.parametrize(
    ("upkeep", "cap"),
    [
        pytest.param("{}", "1", id="a fifth of the day, if nothing is said"),
        pytest.param("{share: 0.333}", "1.665", id="exact"),
        pytest.param("{share: 0}", "0", id="nothing"),
        pytest.param("{share: 1, tasks: 0}", "5", id="all of it"),
    ],
)
def test_the_share_of_upkeep_is_a_cap_of_the_meter_also_when_its_file_changes(
    home: Home, upkeep: str, cap: str
) -> None:
    live = LiveCaps(home, load(home, NOTHING).policy.caps)
    assert live().upkeep == dollars("1")
    (home.config / "policy.yaml").write_text(f"budget: {{task: 1, day: 5, month: 9}}\nupkeep: {upkeep}\n")
    caps = load(home, NOTHING).policy.caps
    assert live() == caps and (caps.day, caps.upkeep) == (dollars("5"), dollars(cap))


@pytest.mark.parametrize("upkeep", ["{share: 1.1}", "{share: -0.1}", "{tasks: -1}", "{open: 0}", "{tasks: 1.5}"])
def test_what_is_no_share_is_named(home: Home, upkeep: str) -> None:
    (home.config / "policy.yaml").write_text(f"budget: {{task: 1, day: 5, month: 9}}\nupkeep: {upkeep}\n")
    with pytest.raises(Misconfigured, match=r"policy.yaml:2: upkeep\."):
        load(home, NOTHING)


def test_a_link_in_place_of_the_env_file_is_not_followed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("ANTHROPIC_API_KEY=x\n")
    (home.config / ".env").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TeamError, match="is a symbolic link"):
        read_secrets(home, NOTHING)


def test_every_field_says_what_it_is_for() -> None:
    for model in FILES.values():
        assert [row.key for row in setting_rows(model) if not row.meaning] == []


def test_the_reference_in_the_docs_is_the_programs_own() -> None:
    assert (ROOT / "docs" / "configuration.md").read_text("utf-8") == reference()


@pytest.mark.parametrize("key", ["deploy.staging.port", "deploy.production.backup", "health.pages[].contains"])
def test_the_reference_has_the_keys_of_what_may_be_absent_or_come_often(key: str) -> None:
    assert f"| `{key}` | " in reference()
