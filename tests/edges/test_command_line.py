"""The command line itself: its help, what was perhaps meant, completion, and which home is found."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.vision import vision_parser
from sisimpur.cli.app import main
from sisimpur.cli.commands.owner_commands import amount_of, take_zone
from sisimpur.cli.setup.environments import go_on
from sisimpur.cli.setup.folders import BUILT, DATA
from sisimpur.cli.terminal.arguments import CHECKOUT, nearest_home, parse
from sisimpur.cli.terminal.command_line import GROUPS
from sisimpur.cli.terminal.completion import bash, fish, zsh
from sisimpur.cli.terminal.parser import make_parser
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.naming import VERSION, fits
from sisimpur.shared.system import markdown
from sisimpur.shared.system.clock import ManualClock, machine_zone
from sisimpur.shared.system.log import Log
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import run
from tests.repositories import repository

COMMANDS = make_parser().commands


def ended(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0)


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    declared = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    for words in (["--version"], ["-V"]):
        assert ended(*words) == 0
        assert capsys.readouterr().out == f"sisimpur {declared}\n"
    assert declared == VERSION
    assert f"\n## {declared}" in (CHECKOUT / "CHANGELOG.md").read_text()


def test_the_help_has_every_command_once_below_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    text = capsys.readouterr().out
    assert [line[:-1] for line in text.splitlines() if line[:-1] in GROUPS] == list(GROUPS)
    assert sorted(re.findall(r"^  ([a-z][a-z-]+) ", text.partition("\noptions:")[0], re.MULTILINE)) == sorted(COMMANDS)
    assert "\nexamples:\n" in text and f"docs: {CHECKOUT / 'docs' / 'README.md'}\n" in text
    assert ended("--help") == 0 and capsys.readouterr().out == text


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_it_does_in_a_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", name]) == 0
    text = capsys.readouterr().out
    assert ended(name, "--help") == 0 and capsys.readouterr().out == text
    assert re.search(r"^[A-Z][^\n]{15,}\.$", text, re.MULTILINE), text


def test_every_example_of_the_help_is_understood() -> None:
    for parser in [make_parser(), *COMMANDS.values()]:
        for line in re.findall(r"^  (?:python main\.py|sisimpur) (.*)$", parser.format_help(), re.MULTILINE):
            words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line.partition(" >")[0])]
            assert parse(words, {}).command in words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "type a command; all of them: "),
        (["statsu"], "there is no command 'statsu'; did you mean status"),
        (["--home", "/x", "bugdet"], "did you mean budget?"),
        (["help", "deplyo"], "there is no command 'deplyo'; did you mean deploy or deploys"),
        (["zzz"], "there is no command 'zzz'; all of them: "),
    ],
)
def test_a_word_that_is_no_command_is_answered_by_what_was_perhaps_meant(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*words) == 2
    assert said in capsys.readouterr().err


# --- completion ----------------------------------------------------------------------------------------------

TYPED = [
    ("sisimpur dep", {"deploy", "deploys"}),
    ("sisimpur --home /x raise", {"raise-cap"}),
    ("sisimpur demo --forge ", {"local", "github"}),
    ("sisimpur logs --fo", {"--follow"}),
    ("sisimpur completion ", {"bash", "zsh", "fish", "-h", "--help"}),
    ("sisimpur help wri", {"write-off"}),
]


@pytest.mark.parametrize(("typed", "offered"), TYPED, ids=[typed for typed, _ in TYPED])
def test_bash_offers_what_fits(typed: str, offered: set[str]) -> None:
    words = typed.split(" ")
    line = " ".join(f"'{word}'" for word in words)
    asked = (
        f'{bash(make_parser())}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _sisimpur; echo "${{COMPREPLY[@]}}"'
    )
    done = run(("bash", "-c", asked), env={"PATH": os.environ["PATH"]}, timeout=20)
    assert (set(done.text.split()), done.errors) == (offered, b"")


@pytest.mark.parametrize(("typed", "offered"), TYPED, ids=[typed for typed, _ in TYPED])
def test_fish_offers_what_fits(typed: str, offered: set[str], tmp_path: Path) -> None:
    if not shutil.which("fish"):
        pytest.skip("there is no fish here")
    asked = f'{fish(make_parser())}\ncomplete -C "{typed}"'
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = run(("fish", "--no-config", "-c", asked), env=env, timeout=20)
    assert {line.split("\t")[0] for line in done.text.splitlines()} == {o for o in offered if o not in ("-h", "--help")}


def test_zsh_can_read_its_script_which_names_every_command(tmp_path: Path) -> None:
    text = zsh(make_parser())
    assert all(f"'{name}:" in text and f"            {name}) " in text for name in COMMANDS)
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh here")
    (tmp_path / "_sisimpur").write_text(text)
    done = run(("zsh", "-n", str(tmp_path / "_sisimpur")), env={"PATH": os.environ["PATH"]}, timeout=20)
    assert (done.code, done.complaint) == (0, "")


# --- the home ------------------------------------------------------------------------------------------------


def test_the_home_is_the_nearest_folder_upwards_with_a_teams_config(tmp_path: Path) -> None:
    (tmp_path / "team" / "config" / "targets").mkdir(parents=True)
    deep = tmp_path / "team" / "tasks" / "backlog"
    deep.mkdir(parents=True)
    (tmp_path / "team" / "tasks" / "config").mkdir()  # any program's
    assert nearest_home(deep) == nearest_home(tmp_path / "team") == tmp_path / "team"
    assert nearest_home(tmp_path) is None


def test_a_home_of_somebody_else_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "config" / "targets").mkdir(parents=True)
    if os.getuid():
        pytest.skip("only root can give a folder away")
    os.chown(tmp_path, 12345, 12345)
    assert nearest_home(tmp_path) is None


@pytest.mark.parametrize(
    ("words", "environment", "why"),
    [
        (["--home", "/x", "status"], {"SISIMPUR_HOME": "/y"}, "--home"),
        (["status"], {"SISIMPUR_HOME": "/y"}, "SISIMPUR_HOME"),
        (["status"], {}, "the nearest folder upwards with config/"),
    ],
)
def test_why_it_is_this_home_is_known(words: list[str], environment: dict[str, str], why: str) -> None:
    assert parse(words, environment).chosen == why


def test_environments_are_built_in_the_checkout_and_beside_no_package() -> None:
    assert BUILT == CHECKOUT != DATA


# --- the owner's card ----------------------------------------------------------------------------------------


def test_the_sample_vision_of_the_seed_has_its_ten_goals() -> None:
    text = (CHECKOUT / "examples" / "sisimpur" / "VISION.md").read_text()
    vision = vision_parser.parse(markdown.outline(text))
    assert (len(vision.goals), len(vision.ideas), len(vision.notes), vision.warnings) == (10, 3, 2, ())


def test_setup_goes_on_to_make_a_home_or_prints_the_next_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    site, home = tmp_path / "site", tmp_path / "home"
    repository(site, {"README.md": "1"})
    assert go_on(parse(["--home", str(home), "setup", "--target", str(site)])) == 0
    assert f"home: {home}\n" in capfd.readouterr().out
    there = ("VISION.md", "PROGRESS.md", "tasks/backlog", "reports/daily", "logs", "config/targets/site.yaml")
    assert [name for name in there if not (home / name).exists()] == []
    assert go_on(parse(["setup"])) == 0
    is_there = (CHECKOUT / "tasks").is_dir()  # somebody has made a home of this checkout
    assert is_there or "next, name the repository to work on: make setup TARGET=" in capfd.readouterr().out
    assert go_on(parse(["setup", "--quiet"])) == 0
    assert capfd.readouterr().out == ""


def test_logs_without_a_line_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(tmp_path / "site", {"README.md": "1"})
    home = str(tmp_path / "home")
    assert main(["--home", home, "init", "--target", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    assert main(["--home", home, "logs", "--task", "20261120-01"]) == 0
    assert tuple(capsys.readouterr()) == ("", "logs: no line of what you asked for is written yet\n")


def test_logs_say_what_became_of_a_call_or_a_run_without_our_own_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(tmp_path / "site", {"README.md": "1"})
    home = tmp_path / "home"
    assert main(["--home", str(home), "init", "--target", str(tmp_path / "site")]) == 0
    log = Log(home / "logs", ManualClock(datetime(2026, 11, 20, 8, 30, tzinfo=UTC)), str)
    refused = {"code": "meter_upstream_refused", "status": 400, "note": "no such effort", "model": "m"}
    log.of("meter")("meter.failed", refused)
    log.of("meter")("meter.failed", {**refused, "code": "meter_upstream", "status": None, "note": "ConnectError"})
    capsys.readouterr()
    assert main(["--home", str(home), "logs"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("m did not take the call (its status 400); no such effort")
    assert second.endswith("m did not answer; ConnectError")


def test_a_page_of_progress_that_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "PROGRESS.md").write_text("mine")
    repository(tmp_path / "site", {"README.md": "1"})
    assert main(["--home", str(tmp_path / "home"), "init", "--target", str(tmp_path / "site")]) == 0
    assert (tmp_path / "home" / "PROGRESS.md").read_text() == "mine"


def test_a_target_without_a_commit_is_refused_without_a_word_about_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "site")], env=os.environ, timeout=30)
    assert main(["--home", str(tmp_path / "home"), "init", "--target", str(tmp_path / "site")]) == 1
    told = capsys.readouterr().err
    assert "push a first commit" in told and ".env" not in told


@pytest.mark.parametrize(
    ("typed", "fitting"),
    [
        ("20261120-01", True),
        ("2026", True),
        ("01", True),
        ("1", True),
        ("20261120-1", False),
        ("11", False),
        ("", False),
    ],
)
def test_an_id_is_named_by_its_begin_or_its_end(typed: str, fitting: bool) -> None:
    assert fits("20261120-01", typed) is fitting


@pytest.mark.parametrize(("typed", "fitting"), [("g-1f3a2b", True), ("1f3a2b", True), ("g-1f", True), ("3a2b", False)])
def test_a_goal_is_named_so_too(typed: str, fitting: bool) -> None:
    assert fits("g-1f3a2b", typed) is fitting


@pytest.mark.parametrize("words", [["retry", "x", "--why"], ["reject", "x", "--why"], ["raise-cap", "5", "--why"]])
@pytest.mark.parametrize("why", ["-1 is returned", "--version", "--over", "/healthz answers", "-x"])
def test_a_reason_may_begin_as_it_likes(words: list[str], why: str) -> None:
    assert parse([*words, why]).why == why


def test_the_time_zone_is_that_of_the_machine(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    assert machine_zone({}, link) == "UTC"
    link.symlink_to("/usr/share/zoneinfo/Asia/Dhaka")
    assert machine_zone({}, link) == "Asia/Dhaka"
    assert machine_zone({"TZ": ":Europe/Rome"}, link) == "Europe/Rome"
    assert machine_zone({"TZ": "CET-1CEST"}, link) == "Asia/Dhaka", "a rule has no name"


def test_a_new_home_takes_the_time_zone_over(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.make()
    shutil.copyfile(CHECKOUT / "config" / "schedules.yaml", home.config / "schedules.yaml")
    assert "time zone: Asia/Dhaka, as this machine has it" in take_zone(home, "Asia/Dhaka")
    assert "time_zone: Asia/Dhaka\n" in (home.config / "schedules.yaml").read_text()


@pytest.mark.parametrize(
    ("typed", "cents"),
    [("7.50", 750), ("$7.50", 750), ("7,50", 750), ("7 $", 700), ("US$ 7", 700)],
)
def test_an_amount_is_read_as_people_write_it(typed: str, cents: int) -> None:
    assert amount_of(typed) == cents * 10_000_000


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("1,000", "'1,000' is not an amount of dollars; write one like 5.00"),
        ("-5", "'-5' is not an amount"),
        ("seven", "'seven' is not an amount"),
        (".50", "to a shell $7 is nothing: write 7.50"),
    ],
)
def test_what_is_no_amount_is_said_with_what_to_write(typed: str, told: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        amount_of(typed)
    assert told in str(refused.value)


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "1000000001", "9" * 5_000, "٣", "x"])
@pytest.mark.parametrize("words", [("trace", "deploy"), ("write-off",), ("run-day", "--wait")], ids=" ".join)
def test_a_number_that_no_book_and_no_clock_holds_is_wrong_usage(words: Sequence[str], typed: str) -> None:
    with pytest.raises(SystemExit) as ended:
        parse([*words, typed])
    assert ended.value.code == 2
