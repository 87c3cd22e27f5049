"""Deploys in real containers: how fast a sick version is back at the last good one, and what watching costs.

python -m bench.deploys
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.deployed_docker import Containers, containers

GOAL = 10.0  # seconds from the failing look to the last good version serving again, besides the container's own start


def main() -> int:
    """1 if a goal is missed."""
    folder = tempfile.TemporaryDirectory()
    with folder as root, ScriptedModel([]) as model, containers(Path(root), model.url) as home:
        home.pushes("well", "first")
        lost, asked = _lost_while_watched(home)
        print(f"requests lost while a healthy version is watched: {lost} of {asked} (goal 0)")
        seconds = _back(home)
        print(f"sick to serving the last good version again: {seconds:.1f} s (goal {GOAL:g})")
    return int(bool(lost) or seconds > GOAL)


def _lost_while_watched(home: Containers) -> tuple[int, int]:
    """From the first good answer on, until the day is over."""
    answers: list[bool] = []
    _while_a_day_runs(home, lambda: answers.append(_page(home.port) == "first"))
    since = answers[answers.index(True) :]
    return since.count(False), len(since)


def _back(home: Containers) -> float:
    home.pushes("later", "second")
    seen: list[tuple[float, str]] = []
    _while_a_day_runs(home, lambda: seen.append((time.monotonic(), _page(home.port))))
    seen.append((time.monotonic(), _page(home.port)))
    came = next(number for number, (_, text) in enumerate(seen) if text == "second")
    sick = next(at for at, text in seen[came:] if text != "second")
    return next(at for at, text in seen[came:] if text == "first") - sick


def _while_a_day_runs(home: Containers, act: Callable[[], None]) -> None:
    day = threading.Thread(target=home.stage.run_day)
    day.start()
    while day.is_alive():
        act()
        time.sleep(0.02)
    day.join()


def _page(port: int) -> str:
    """Empty: no good answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, OSError):
        return ""


if __name__ == "__main__":
    sys.exit(main())
