"""Ports of this machine: free, or whose."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from sisimpur.agents.devops.drivers.driver import holder, is_taken
from tests.docker_scene import free_port, occupied


def test_who_listens_at_a_port_is_known() -> None:
    port = free_port()
    assert not is_taken(port)
    assert holder(port) == ""
    with occupied(port):
        assert is_taken(port)
        name = Path("/proc/self/comm").read_text().strip()
        assert holder(port) == f"{name} (process {os.getpid()})"


def test_one_of_all_addresses_is_taken_too() -> None:
    with socket.socket(socket.AF_INET6) as one:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        one.bind(("::", 0))
        one.listen()
        port = one.getsockname()[1]
        assert is_taken(port)
        assert f"process {os.getpid()}" in holder(port)


def test_a_port_that_we_may_not_have_counts_as_free() -> None:
    assert not is_taken(1)
