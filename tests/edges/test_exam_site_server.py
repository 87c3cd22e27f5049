"""What serves the demo's site: one version after the other, and the truth about which. Real processes, no Django."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sisimpur.agents.devops.drivers.health_checker import PageLine
from sisimpur.shared.system.http import HttpAnswer
from sisimpur.shared.system.process import Finished, run

SERVE = Path(__file__).parents[2] / "examples" / "exam_site_day" / "serve.py"
OLD, NEW = "a" * 40, "b" * 40
APPLICATION = """
import os
def application(environ, start_response):
    start_response("200 OK", [])
    return [b"%s in " + os.getcwd().encode()]
"""


@dataclass(frozen=True)
class Place:
    root: Path
    port: int

    def typed(self, command: str, *rest: str) -> Finished:
        words = (sys.executable, "-I", str(SERVE), str(self.root / "site"), command, *rest)
        return run(words, env={"PATH": "/usr/bin:/bin"}, timeout=30)

    def start(self, commit: str) -> None:
        """A version that says who it is; its packages are a Django that does nothing."""
        files = {
            "requirements.txt": "",
            "core/wsgi.py": APPLICATION % commit[:1],
            "django/core/management.py": "def call_command(*_, **__): pass\n",
        }
        for name, text in files.items():
            path = self.root / commit / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = self.typed("start", str(self.root / commit), commit, str(self.port))
        assert done.ok, done.complaint

    def runs(self) -> str:
        done = self.typed("running")
        assert done.ok, done.complaint
        return done.text.strip()

    def says(self) -> str:
        """As soon as it answers."""
        for _ in range(100):
            answer = PageLine(f"http://127.0.0.1:{self.port}").ask("/", 5)
            if isinstance(answer, HttpAnswer):
                return answer.text
            time.sleep(0.1)
        raise AssertionError((self.root / "site" / "log").read_text())

    @property
    def server(self) -> int:
        return int((self.root / "site" / "live").read_text().split()[-1])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    programs = tmp_path / "site" / f"packages-{hashlib.sha256(b'').hexdigest()[:12]}" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = Place(tmp_path, probe.getsockname()[1])
    yield place
    assert place.typed("stop").ok


def test_a_version_outlives_its_command_and_makes_way_for_the_next_one(place: Place) -> None:
    assert place.runs() == ""
    place.start(OLD)
    assert place.runs() == OLD
    assert place.says() == f"a in {place.root / 'site'}", "no version is served in the folder of its files"
    place.start(NEW)
    assert place.runs() == NEW
    assert place.says().startswith("b in ")
    assert place.typed("stop").ok
    assert place.runs() == ""


def test_what_was_killed_does_not_run_whatever_was_written_down(place: Place) -> None:
    place.start(OLD)
    place.says()
    os.kill(place.server, signal.SIGKILL)
    assert "" in (place.runs() for _ in range(100))
    place.start(NEW)
    assert place.runs() == NEW
