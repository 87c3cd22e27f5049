"""Guards of the whole suite: nobody leaves this machine, and nobody finds the developer's own files or keys."""

from __future__ import annotations

import ipaddress
import os
import signal
import sys
from typing import Any

import hypothesis

OWNERS = ("ANTHROPIC", "GITHUB", "DISCORD", "APPRISE", "TAVILY", "PING", "SISIMPUR")
OURS = ("SISIMPUR_EVERY_POINT", "SISIMPUR_ACCEPT")  # `make crash`; what is accepted is written (accepted.py)

os.environ["HOME"] = "/nonexistent/home-of-a-test"
for _name in [name for name in os.environ if name.startswith(OWNERS) and name not in OURS]:
    del os.environ[_name]


# Whoever was started in the background ignores Ctrl-C, and so would everything that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


# How long one example takes says more about the others on this machine than about the code.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


class LeftTheMachine(Exception):
    """A test tried to reach another machine. Script that service instead."""


def _stay_here(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto") or not isinstance(arguments[1], tuple):
        return
    host = str(arguments[1][0])
    if host != "localhost" and not (_is_address(host) and ipaddress.ip_address(host).is_loopback):
        raise LeftTheMachine(f"{event} to {host}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


sys.addaudithook(_stay_here)
