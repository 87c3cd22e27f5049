"""The guards of conftest.py work."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from sisimpur.shared.system.process import run
from tests.conftest import LeftTheMachine


def test_no_test_can_reach_another_machine() -> None:
    with socket.socket() as client, pytest.raises(LeftTheMachine):
        client.connect(("192.0.2.1", 80))


def test_the_own_machine_is_reachable() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_no_test_finds_the_developers_home_or_keys() -> None:
    assert not Path("~").expanduser().exists()
    assert not [name for name in os.environ if name.endswith(("_TOKEN", "_API_KEY"))]


def test_whoever_asks_for_every_point_gets_every_point() -> None:
    """Of our own variables two alone reach the tests: without the first `make crash` would be the short proof."""
    ours = {"SISIMPUR_ACCEPT": "", "SISIMPUR_EVERY_POINT": "1"}
    asked = {**os.environ, **ours, "SISIMPUR_HOME": "/x", "PYTHONPATH": "."}
    code = "import os, tests.conftest; print(sorted(name for name in os.environ if name.startswith('SISIMPUR')))"
    done = run((sys.executable, "-c", code), cwd=Path(__file__).parent.parent, env=asked, timeout=60)
    assert done.text.strip() == str([*ours])
