"""The guards of conftest.py work."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

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
