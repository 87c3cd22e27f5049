"""The environment of a place: what is in its file is used, and never told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sisimpur.agents.devops.drivers.release_files import read_env_file, release_env
from sisimpur.shared.config.settings_deploy import PlaceSettings
from sisimpur.shared.model.errors import Misconfigured


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param("\n# none\n  # yet\n", {}, id="nothing in it"),
        pytest.param("A=1\r\nB=2", {"A": "1", "B": "2"}, id="of another system"),
        pytest.param("export A=1", {"A": "1"}, id="of a shell"),
        pytest.param("A=x=y#z $B ${C}", {"A": "x=y#z $B ${C}"}, id="to the end of the line"),
        pytest.param("A='x y'\nB=\"z\"\nC='\nD='x\"", {"A": "x y", "B": "z", "C": "'", "D": "'x\""}, id="quotes"),
        pytest.param("A=\n B = 2 ", {"A": "", "B": "2"}, id="blanks"),
        pytest.param("A=1\nA=2", {"A": "2"}, id="twice"),
        pytest.param("\ufeffA=ü", {"A": "ü"}, id="marked as UTF-8"),
    ],
)
def test_a_file_is_read(tmp_path: Path, text: str, values: dict[str, str]) -> None:
    (tmp_path / "env").write_text(text, "utf-8", newline="")
    assert read_env_file(tmp_path / "env") == values


@pytest.mark.parametrize(
    ("text", "line"),
    [("A=1\nSECRET", "2"), ("1A=SECRET", "1"), ("A B=SECRET", "1"), ("=SECRET", "1"), ("A=SECRET\x07\n\nx", "1, 3")],
)
def test_a_broken_one_is_told_by_its_lines_and_without_its_words(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "env").write_text(text)
    with pytest.raises(Misconfigured, match=f"env, line {line}: write NAME=VALUE") as told:
        read_env_file(tmp_path / "env")
    assert "SECRET" not in str(told.value)


def test_one_that_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=f"there is no {tmp_path}/env: make it"):
        read_env_file(tmp_path / "env")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Misconfigured, match=f"{tmp_path}/pipe: is not a plain file"):
        read_env_file(tmp_path / "pipe")


def test_the_configuration_counts_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("A=file\nB=file\n")
    place = PlaceSettings(env={"A": "config"}, env_file=str(tmp_path / "env"))
    assert release_env(place) == {"A": "config", "B": "file"}
    assert release_env(PlaceSettings()) == {}
