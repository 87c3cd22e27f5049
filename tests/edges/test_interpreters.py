"""Which Python makes the target's environment: the real uv, on what this machine has and on what nobody has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.interpreters import Interpreters
from sisimpur.cli.setup.folders import UV
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.process import run

OWN = Path(sys.executable).resolve()
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
FILE = "config/targets/demo.yaml"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A machine with one Python, and no way to the network."""
    return {"PATH": str(OWN.parent), "HOME": str(tmp_path), "HTTPS_PROXY": "http://127.0.0.1:9"}


def interpreters(env: dict[str, str], said: str = "") -> Interpreters:
    return Interpreters(OWN, said, FILE, UV if UV.exists() else Path("uv"), env)


def test_without_a_word_it_is_our_own_and_a_path_is_the_owners(env: dict[str, str]) -> None:
    assert interpreters(env).chosen("") == OWN
    assert interpreters(env, "/opt/python/bin/python").chosen("3.99") == Path("/opt/python/bin/python")


@pytest.mark.parametrize(
    ("said", "wanted"), [(HERE, ""), ("", HERE)], ids=["the owner's word", "what the target wants"]
)
def test_a_version_that_the_machine_has_is_found_and_runs(env: dict[str, str], said: str, wanted: str) -> None:
    found = interpreters(env, said).chosen(wanted)
    shows = "import sys; print('%d.%d' % sys.version_info[:2])"
    assert run((str(found), "-I", "-c", shows), env={}, timeout=30).text.strip() == HERE


def test_the_one_that_its_ci_tests_with_is_taken_where_it_is_there(env: dict[str, str]) -> None:
    assert interpreters(env).chosen("", HERE).resolve() == OWN
    assert interpreters(env).chosen("", "3.99") == OWN
    assert interpreters(env, HERE).chosen("", "3.99").resolve() == OWN


def test_one_of_pyenv_is_found_where_nobody_looks(env: dict[str, str], tmp_path: Path) -> None:
    there = tmp_path / ".pyenv" / "versions" / f"{HERE}.0" / "bin"
    there.mkdir(parents=True)
    (there / "python3").symlink_to(OWN)
    assert interpreters({**env, "PATH": str(tmp_path)}).chosen(HERE).resolve() == OWN


def test_one_that_nobody_has_is_told_in_one_line_with_what_to_type(env: dict[str, str]) -> None:
    with pytest.raises(Misconfigured) as wanted:
        interpreters(env).chosen("3.99")
    assert str(wanted.value) == (
        "the target wants Python 3.99, and this machine has none; "
        f'write `python: "3.99"` into {FILE}, and uv installs it'
    )
    with pytest.raises(
        Misconfigured, match=r"there is no Python 3\.99 on this machine, and uv cannot install it"
    ) as said:
        interpreters(env, "3.99").chosen("")
    assert "\n" not in str(said.value)
    assert f"write its path as `python:` in {FILE}" in str(said.value)
