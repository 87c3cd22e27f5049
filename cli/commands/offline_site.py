"""Where the demo's target goes live: a server on this machine, at a free port, for as long as the day lasts."""

from __future__ import annotations

import json
import re
import secrets
import shlex
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from agents.devops.drivers.page_line import PageLine
from cli.terminal.arguments import CHECKOUT
from cli.terminal.text import plain
from cli.wiring.workshop import BASE_PYTHON
from shared.system.process import run

DAY = CHECKOUT / "examples" / "exam_site_day"
SERVE = DAY / "serve.py"
PAGE = "/accounts/sign-in/"  # the one that the day is about
PLAIN = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class DemoSite:
    """`folder`: what serve.py keeps there: the packages, the database, the log, and what runs."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def deploys_of(self, packages: Path) -> str:
        """`deploy` and `health` of the target's file."""
        filled = {
            "port": str(self.port),
            "place": str(self.folder),
            "python": str(BASE_PYTHON),
            "serve": str(SERVE),
            "programs": str(CHECKOUT / ".venv" / "bin"),
            "packages": str(packages),
            "keys": str(self.folder / "keys.env"),
        }
        text = Template((DAY / "deploy.yaml").read_text("utf-8"))
        return text.substitute({name: json.dumps(value)[1:-1] for name, value in filled.items()})

    def typed(self, command: str) -> str:
        """What the owner types, from here, for one of serve.py's commands."""
        serve = SERVE.relative_to(CHECKOUT) if Path.cwd() == CHECKOUT else SERVE
        return shlex.join(("python3", str(serve), str(self.folder), command))

    def says(self) -> str:
        """What a visitor of its page sees, in one line."""
        answer = PageLine(self.url).ask(PAGE, 5)
        if isinstance(answer, str):
            return f"GET {PAGE} {answer}"
        title = re.search(r"<title>(.*?)</title>", answer.text)
        return plain(f"GET {PAGE} answers {answer.status}" + (f": {title[1]}" if title else ""))

    def stop(self) -> None:
        done = run((str(BASE_PYTHON), str(SERVE), str(self.folder), "stop"), env=PLAIN, timeout=60)
        assert done.ok, done.complaint


@contextmanager
def site(folder: Path) -> Iterator[DemoSite]:
    """Nothing is served before the first deploy, and nothing after the end."""
    folder.mkdir()
    (folder / "keys.env").touch(mode=0o600)
    (folder / "keys.env").write_text(f"DJANGO_SECRET_KEY={secrets.token_urlsafe(40)}\n")
    made = DemoSite(folder, _free_port())
    try:
        yield made
    finally:
        made.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
