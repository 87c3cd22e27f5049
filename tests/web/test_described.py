"""The board keeps its description's word: a real board answers as that says, whatever schemathesis makes up.

It is run as a program, from PATH or from beside our Python.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.journey.board_process import BoardProcess, key_of, served
from tests.journey.gated import ID
from tests.journey.test_board import run

ROOT = Path(__file__).parents[2]
PLACES = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
PROGRAM = shutil.which("schemathesis", path=PLACES) or ""
DESCRIPTION = "/api/v1/openapi.json"
LONGEST = 600  # seconds; a minute where others work, too

pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="missing: schemathesis (.venv/bin/python -m pip install schemathesis==4.32.5)"
)
Lie = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BoardProcess, str]]:
    """With a change that waits, so that there is something to be read; and an owner's key."""
    with served(run(tmp_path_factory.mktemp("home")).home.root) as one:
        yield one, key_of(one)["authorization"]


def held(board: tuple[BoardProcess, str], folder: Path, description: str, *more: str) -> tuple[int, str]:
    """Which number it ended with, and what it said. The same seed makes up the same requests."""
    one, key = board
    typed = [PROGRAM, "--config-file", str(ROOT / "tests" / "web" / "schemathesis.toml"), "run", description]
    typed += ["--url", one.here, "-H", f"Authorization: {key}", "--no-color", "--warnings", "off"]
    typed += ["--seed", "1", "--max-examples", "3", "--phases", "coverage,fuzzing", *more]
    asked = {**os.environ, "TASK": ID, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(typed, capture_output=True, text=True, cwd=folder, env=asked, timeout=LONGEST)
    return done.returncode, done.stdout + done.stderr


def test_a_board_answers_as_its_description_says(board: tuple[BoardProcess, str], tmp_path: Path) -> None:
    """Neither news, which never end, nor the session, which would end with it."""
    others = [word for name in ("news", "session", "sessions/{id}") for word in ("--exclude-path", f"/api/v1/{name}")]
    code, said = held(board, tmp_path, f"{board[0].here}{DESCRIPTION}", *others)
    assert code == 0, said[-8_000:]
    asked = re.search(r"Operations: +(\d+) selected / (\d+) total", said)
    assert asked and int(asked[2]) - int(asked[1]) == 5, said[:2_000]  # one of news, four of a session


def lie_of_the_type(status: dict[str, Any]) -> None:
    status["get"]["responses"]["200"]["content"]["application/json"]["schema"] = {"type": "array"}


def lie_of_a_status(status: dict[str, Any]) -> None:
    status["get"]["responses"] = {"418": {"description": "a teapot"}}


def lie_of_the_form(status: dict[str, Any]) -> None:
    status["get"]["responses"]["200"]["content"] = {"text/plain": {}}


@pytest.mark.parametrize("lie", [lie_of_the_type, lie_of_a_status, lie_of_the_form])
def test_a_description_that_lies_is_found_out(board: tuple[BoardProcess, str], tmp_path: Path, lie: Lie) -> None:
    headers = {"authorization": board[1]}
    told = httpx2.get(f"{board[0].here}{DESCRIPTION}", headers=headers, trust_env=False).json()
    told["paths"] = {"/api/v1/status": told["paths"]["/api/v1/status"]}
    file = tmp_path / "openapi.json"
    lie(told["paths"]["/api/v1/status"])
    file.write_text(json.dumps(told))
    code, said = held(board, tmp_path, str(file))
    assert (code, "1 failed" in said or "FAILURES" in said) == (1, True), said
