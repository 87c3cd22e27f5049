"""A site that goes live by commands: what a place runs is a file, and a small real server answers as that commit wants.

A commit is sick if its app.py holds "# sick" (or "# sick at staging"); it does not build with "# unbuildable".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from sisimpur.shared.model.deployment import Deploy
from tests.journey.stage import Stage


@dataclass(frozen=True)
class Site:
    """`live/<place>` holds the commit that runs there, and its folder; `live/starts` each start there was.

    `live/broken`: every page fails, whatever runs. `live/away`: nobody can say what runs.
    `live/at-start`: shell, run at each start.
    """

    live: Path
    port: int

    def runs(self, place: str) -> str:
        """The commit; empty: nothing."""
        path = self.live / place
        return path.read_text().split()[0] if path.exists() else ""

    @property
    def starts(self) -> list[tuple[str, str]]:
        path = self.live / "starts"
        return [(line.split()[0], line.split()[1]) for line in path.read_text().splitlines()] if path.exists() else []

    def configure(self, stage: Stage, places: str = "staging production", more: str = "", health: str = "") -> None:
        """`more`: lines of `deploy`, `health`: of health."""
        path = next(stage.home.targets.glob("*.yaml"))
        before = path.read_text().partition("\n# deploys\n")[0]
        path.write_text(f"{before}\n# deploys\n{self._deploy(places)}{more}\n{HEALTH}{health}\n")

    def _deploy(self, places: str) -> str:
        told = "".join(
            f"  {place}:\n    url: http://127.0.0.1:{self.port}/{place}\n"
            f"    build: {shell('! grep -n unbuildable {folder}/app.py')}\n"
            f"    start: {shell(START, self.live)}\n"
            f"    running: {shell(RUNNING, self.live)}\n"
            for place in places.split()
        )
        return f"deploy:\n  driver: command\n  unsandboxed: yes\n{told}"


START = (
    "if test -e $0/at-start; then sh $0/at-start; fi; "
    "echo {place} {commit} >> $0/starts && echo {commit} {folder} > $0/{place}.new && mv $0/{place}.new $0/{place}"
)
RUNNING = "if test -e $0/away; then echo nobody knows; else cut -d ' ' -f 1 $0/{place} 2>/dev/null; fi"


def shell(line: str, *words: object) -> str:
    """The argument vector as the configuration wants it; `words` are $0, $1 ..."""
    return json.dumps(["sh", "-c", line, *map(str, words)])


HEALTH = "health:\n  pages: [{path: /}]\n  grace: 0\n  retries: 0\n  every: 60\n  watch_minutes: 2\n"


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    live = folder / "live"
    live.mkdir()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = self.path.strip("/").split("/")[0]
            status = answer(live, place)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"hello" if status == 200 else b"it is sick")

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Site(live, server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(live: Path, place: str) -> int:
    """200, or 500 if what runs there is sick."""
    path = live / place
    if not path.exists() or (live / "broken").exists():
        return 503
    text = (Path(path.read_text().split()[1]) / "app.py").read_text()
    lines = text.splitlines()
    return 500 if "# sick" in lines or f"# sick at {place}" in lines else 200


def book(stage: Stage) -> tuple[Deploy, ...]:
    with stage.records() as records:
        return records.deploys.deploys()


def ends(stage: Stage) -> list[str]:
    """`staging HEALTHY` and so on, the oldest first."""
    return [f"{deploy.place} {deploy.stage}" for deploy in book(stage)]


def sick(files: Mapping[str, str], where: str = "") -> dict[str, str]:
    """The same change, but it does not survive being deployed."""
    return {**files, "app.py": files["app.py"] + f"# sick{f' at {where}' if where else ''}\n"}
