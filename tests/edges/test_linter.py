"""The linter's door: what ruff says comes back by path and line, and the files have no say in how it runs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Misconfigured, Stumble
from sisimpur.shared.sandbox.box import Box, find_box
from sisimpur.shared.sandbox.linter import MOST_FILES, MOST_PER_FILE, Lint, RuffLinter


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.fixture
def linter(box: Box, tmp_path: Path) -> RuffLinter:
    return RuffLinter(box, tmp_path / "lint")


def test_lints_come_back_with_path_line_and_code(linter: RuffLinter) -> None:
    found = linter.lint({"after/a.py": "import os\n\nx = eval('1')\nprint(nobody)\n", "b.py": "x = 1\n"})
    assert {(lint.path, lint.line, lint.code) for lint in found} == {
        ("after/a.py", 1, "F401"),
        ("after/a.py", 3, "S307"),
        ("after/a.py", 4, "F821"),
    }
    assert "`nobody`" in next(lint.text for lint in found if lint.code == "F821")


def test_what_does_not_parse_is_a_lint(linter: RuffLinter) -> None:
    found = linter.lint({"a.py": "def f(:\n"})
    assert {(lint.line, lint.code) for lint in found} >= {(1, "invalid-syntax")}


def test_new_syntax_is_no_fault(linter: RuffLinter) -> None:
    assert linter.lint({"a.py": "def f[T](x: T) -> T:\n    return x\n"}) == ()


@pytest.mark.parametrize(
    "remark",
    ["x = eval('1')  # noqa\n", "# ruff: noqa\nx = eval('1')\n", "# flake8: noqa\nx = eval('1')\n"],
)
def test_a_remark_does_not_silence_it(linter: RuffLinter, remark: str) -> None:
    assert [lint.code for lint in linter.lint({"a.py": remark})] == ["S307"]


def test_configuration_among_the_files_does_not_silence_it(linter: RuffLinter) -> None:
    files = {"ruff.toml": "lint.select = []\n", "pyproject.toml": "[tool.ruff]\nexclude=['*']\n", "a.py": "eval('1')\n"}
    assert ("a.py", "S307") in {(lint.path, lint.code) for lint in linter.lint(files)}


@pytest.mark.parametrize(
    "path", ["../../../etc/passwd.py", "/etc/cron.d/x", "a\n\0b.py", "--fix", "\ud800.py", "a" * 5000]
)
def test_a_path_is_only_a_name(linter: RuffLinter, path: str, tmp_path: Path) -> None:
    assert linter.lint({path: "eval('1')\n"}) == (Lint(path, 1, "S307", linter.lint({"a.py": "eval('1')\n"})[0].text),)
    assert list((tmp_path / "lint").iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["\0", "\ud800\n", "\ufeff", "(" * 3_000, "x = " + "[" * 50_000, "a" * 1_000_000, "\r\r\r", "", "'''", "\x0c\x1a"],
    ids=range(10),
)
def test_hostile_content_ends_in_lints_or_in_a_named_failure(linter: RuffLinter, text: str) -> None:
    try:
        found = linter.lint({"a.py": text, "b.py": "eval('1')\n"})
    except Stumble as error:
        assert len(str(error)) < 400
        return
    assert ("b.py", "S307") in {(lint.path, lint.code) for lint in found}
    assert all(lint.text.isprintable() and len(lint.text) <= 300 for lint in found)


def test_one_file_cannot_bury_the_others(linter: RuffLinter) -> None:
    found = linter.lint({"a.py": "eval('1')\n" * 5_000, "b.py": "eval('1')\n"})
    assert sum(lint.path == "a.py" for lint in found) == MOST_PER_FILE
    assert any(lint.path == "b.py" for lint in found)


def test_more_than_can_be_said_is_a_failure_and_no_silence(linter: RuffLinter) -> None:
    with pytest.raises(Stumble):
        linter.lint({f"{number}.py": "" for number in range(MOST_FILES + 1)})
    with pytest.raises(Stumble):
        linter.lint({"a.py": "eval('1')\n" * 60_000})


def test_no_file_costs_nothing(tmp_path: Path, box: Box) -> None:
    assert RuffLinter(box, tmp_path / "lint").lint({}) == ()
    assert not (tmp_path / "lint").exists()


def test_a_missing_linter_is_named(box: Box, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="make setup"):
        RuffLinter(box, tmp_path, tmp_path / "ruff").lint({"a.py": "x = 1\n"})


@pytest.mark.parametrize(
    "script", ["exit 2", "echo '[]'; exit 1", "echo no json", "echo '[{}]'", "kill -9 $$", "echo '{\"a\": 1}'"]
)
def test_a_linter_that_breaks_is_no_silent_pass(box: Box, tmp_path: Path, script: str) -> None:
    program = tmp_path / "broken"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(Stumble):
        RuffLinter(box, tmp_path / "lint", program).lint({"a.py": "x = 1\n"})


def test_it_works_whatever_files_are_usually_open_to(box: Box, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert RuffLinter(box, tmp_path / "lint").lint({"a.py": "eval('1')\n"})
        assert stat.S_IMODE((tmp_path / "lint").stat().st_mode) == 0o700
    finally:
        os.umask(before)


# --- as the repository has it --------------------------------------------------------------------------------


def test_findings_are_counted_as_the_repository_configures_them(linter: RuffLinter) -> None:
    code = {"app/a.py": "import os\nimport sys  # noqa: F401\nx = eval('1')\n"}
    assert [(one.path, one.line, one.code) for one in linter.found({**code, "ruff.toml": "lint.select = ['F']\n"})] == [
        ("app/a.py", 1, "F401")
    ]
    assert len(linter.found({**code, "pyproject.toml": "[tool.ruff]\nlint.select = ['S', 'F']\n"})) == 2
    assert linter.found({**code, "app/ruff.toml": "lint.select = ['E9']\n"}) == ()


def test_what_is_selected_for_one_count_counts_beside_the_configuration(linter: RuffLinter) -> None:
    code = {
        "a.py": "def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n",
        "ruff.toml": "lint.select=['F']\n",
    }
    assert linter.found(code) == ()
    assert [one.code for one in linter.found(code, ["--select=RET"])] == ["RET505"]


def test_what_lies_beside_is_known_and_nothing_is_said_of_it(linter: RuffLinter) -> None:
    """An import of the project's own package is no foreign one, though only one folder is looked at."""
    text = "import json\n\nimport pytest\n\nfrom shop.prices import tax\n\nprint(json, pytest, tax)\n"
    code = {"shop/jobs/a.py": text, "ruff.toml": "lint.select = ['I', 'D']\n"}
    assert [one.code for one in linter.found(code, ["--ignore=D"])] == ["I001"], "what is not there is foreign"
    assert linter.found(code, ["--ignore=D"], ["shop/prices.py"]) == ()
    assert {one.path for one in linter.found(code, (), ["shop/prices.py"])} == {"shop/jobs/a.py"}


def test_what_the_repository_leaves_out_is_left_out_also_where_it_is_named(linter: RuffLinter) -> None:
    code = {"shop/old.py": "import os\n", "ruff.toml": "lint.select = ['F']\nexclude = ['shop/old.py']\n"}
    assert linter.found(code) == ()


@pytest.mark.parametrize("path", ["../a.py", "/etc/a.py", "a//b.py", "a" * 5000 + "/b.py"])
def test_a_path_that_is_none_is_not_counted(linter: RuffLinter, path: str) -> None:
    with pytest.raises(Stumble):
        linter.found({path: "x = 1\n"})


def test_a_configuration_that_ruff_does_not_take_is_no_clean_code(linter: RuffLinter) -> None:
    with pytest.raises(Stumble, match="ruff: exited, exit code 2"):
        linter.found({"a.py": "import os\n", "ruff.toml": "lint.select = ['NOPE']\n"})


# --- the formatter --------------------------------------------------------------------------------------------


def test_files_are_formatted_as_their_repository_configures_it(linter: RuffLinter) -> None:
    files = {"a/b.py": "x = {'a':1,\n  'b':2}\n", "c.py": "def f(:\n", "d.py": "y = 1\n"}
    wide = {"pyproject.toml": "[tool.ruff.format]\nquote-style = 'single'\n"}
    assert linter.formatted(files, {}) == {"a/b.py": 'x = {"a": 1, "b": 2}\n', "d.py": "y = 1\n"}
    assert linter.formatted(files, wide)["a/b.py"] == "x = {'a': 1, 'b': 2}\n"
    assert linter.formatted({}, wide) == {}


def test_a_configuration_that_ruff_does_not_take_formats_nothing(linter: RuffLinter) -> None:
    assert linter.formatted({"a.py": "x  = 1\n"}, {"pyproject.toml": "[tool.ruff]\nno-such = 1\n"}) == {}
