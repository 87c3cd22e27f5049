"""The table of SECURITY.md: whatever it names is run by `make attacks`, and what succeeded is told beside its test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = "tests/attacks/"


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """(the attack, how it went before, the files of its tests)"""
    table = (ROOT / "SECURITY.md").read_text("utf-8").partition("\n## Attacks\n")[2].partition("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| promise"):
            _, _, attack, before, *_, named, _ = line.split("|")
            yield attack.strip(), before.strip(), [_path(name) for name in re.findall(r"`([^`*]+)`", named)]


def _path(name: str) -> str:
    return name if "/" in name else HERE + name


ROWS = list(rows())


def run() -> list[str]:
    """Files and folders, without the names of single tests."""
    (line,) = re.findall(r"^attacks:.*\n\t(.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    return [path.partition("::")[0] for path in re.findall(r"\btests/\S+", line)]


RUN = run()


def test_the_table_is_read() -> None:
    assert len(ROWS) > 35 and {"succeeded", "open", "new"} <= {before for _, before, _ in ROWS}


@pytest.mark.parametrize(("attack", "_", "files"), ROWS)
def test_each_attack_has_tests_and_make_attacks_runs_them(attack: str, _: str, files: list[str]) -> None:
    assert files, attack
    for path in files:
        assert (ROOT / path).is_file(), path
        assert any(path == one or path.startswith(f"{one}/") for one in RUN), path


def test_make_attacks_names_nothing_that_is_not_there() -> None:
    """A path that does not exist runs nothing and looks green."""
    assert [path for path in RUN if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", sorted({path for _, before, files in ROWS if before == "succeeded" for path in files}))
def test_what_was_seen_before_the_mending_is_kept_beside_the_tests(path: str) -> None:
    kept = (ROOT / HERE / "README.md").read_text("utf-8")
    assert f"| `{path.removeprefix(HERE)}` | " in kept
