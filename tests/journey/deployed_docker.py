"""A site in containers: the owner pushes versions of it, and days deploy them. Real engine, real time.

python -m tests.journey.deployed_docker ROOT      a day of that home, to be killed
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from sisimpur.shared.model.deployment import Deploy
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.process import Finished, run
from tests.docker_scene import base_image, clean_up, client, free_port
from tests.journey.gated import Coder, suite
from tests.journey.stage import Stage, git
from tests.killing import REPOSITORY

IDLE = "# Vision\n\n## Priority: HIGH\n"
CONFIG = """
deploy:
  driver: dockerfile
  memory: 128
  production: {{port: {port}, volumes: {{data: /data}}}}
health:
  pages: [{{path: /healthz/}}, {{path: /}}]
  grace: 8
  watch_minutes: 0.05
  every: 0.3
  retries: 1
"""
STEPS = {"build": "RUN exit 7\n", "large": "RUN python3 -c \"open('/large', 'wb').write(b'x' * 90_000_000)\"\n"}
# `WAY` is what a version does: well; exit; build (it does not); large (90 MB); page (only / is sick); later (sick after
# a second); poison (it leaves something behind that makes every version sick).
APP = """import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WAY, TEXT, BEGAN = "{way}", "{text}", time.monotonic()
if WAY == "exit":
    sys.exit("no data, no pages")
if WAY == "poison":
    Path("/data/poison").touch()


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        sick = WAY == "page" or WAY == "later" and time.monotonic() > BEGAN + 1 or Path("/data/poison").exists()
        body = TEXT.encode()
        self.send_response(500 if sick and self.path == "/" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", 8000), Pages).serve_forever()
"""


@dataclass(frozen=True)
class Containers:
    """A home whose target is deployed in containers at `port`."""

    stage: Stage
    port: int

    def pushes(self, way: str, text: str) -> str:
        """A new version of the owner's -> its commit."""
        dockerfile = f"FROM {base_image()}\nCOPY . /app\n{STEPS.get(way, '')}"
        folder = self.stage.root / "site"
        for name, content in {"Dockerfile": dockerfile, "app.py": APP.format(way=way, text=text)}.items():
            (folder / name).write_text(content)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", text)
        return git(folder, "rev-parse", "HEAD")

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-m", "tests.journey.deployed_docker", str(self.stage.root)]

    def day(self, environment: Mapping[str, str]) -> Finished:
        """In a process of its own, with another engine, say."""
        return run(self.argv, cwd=REPOSITORY, env={**os.environ, **environment}, timeout=120)

    def deploys(self) -> tuple[Deploy, ...]:
        with self.stage.records() as records:
            return records.deploys.deploys()

    def running(self) -> list[tuple[str, str]]:
        """Commit and state of all containers of this home."""
        with self.stage.records() as records, contextlib.closing(client()) as engine:
            rows = engine.containers(all=True, filters={"label": f"sisimpur.home={records.deploys.name()}"})
        return [(row["Labels"]["sisimpur.commit"], row["State"]) for row in rows]


@contextlib.contextmanager
def containers(root: Path, model_url: str) -> Iterator[Containers]:
    """Nothing of it is left at the engine."""
    stage = make(root, model_url)
    stage.set_up(IDLE, {"README.md": "# A site\n"})
    port = free_port()
    path = next(stage.home.targets.glob("*.yaml"))
    path.write_text(f"{path.read_text()}\n{CONFIG.format(port=port)}")
    with stage.records() as records:
        name = records.deploys.name()
    try:
        yield Containers(stage, port)
    finally:
        clean_up(name)


def make(root: Path, model_url: str) -> Stage:
    stage = Stage(root, model_url, Coder({}), suite)
    stage.clock = SystemClock(UTC)  # type: ignore[assignment]  # containers need time of their own
    return stage


def main(root: str) -> int:
    problems = make(Path(root), "").run_day()
    sys.stderr.write("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
