"""Docker compose adapter: starts the plugin of Docker's command line, or the older program.

It gets an environment of our own making, so that neither the daemon's nor the repository's `.env` decides which engine,
project or files it uses. Its project folder is ours, too, and empty but for the file that it is to run.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.devops.drivers.driver import EngineAway
from sisimpur.shared.model.errors import Misconfigured, Stopping
from sisimpur.shared.system import process
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import write_text
from sisimpur.shared.system.process import Finished

PASSED = ("DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG", "HOME", "LANG")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEMS = "/var/run/docker.sock"
OLDEST = (1, 29)
SECONDS = 30.0  # that it may take to say its version
KEPT = 1_000_000  # bytes of what it prints
BETWEEN_LOOKS = 0.1
NO_VARIABLES = "no-variables"
MISSING = (
    "there is no docker compose here: install the plugin (apt install docker-compose-v2, or docker-compose-plugin),"
    " or docker-compose 1.29"
)


@dataclass(frozen=True)
class ComposeProgram:
    argv: tuple[str, ...]
    version: str

    @property
    def is_plugin(self) -> bool:
        """Say whether this is the second generation."""
        return not self.version.startswith("1.")

    @property
    def name(self) -> str:
        return f"{' '.join(self.argv).replace('docker compose', 'docker-compose')} {self.version}"


class ComposeCommand:
    """`environment`: the owner's, of which it gets what names the engine. `minutes`: the longest run."""

    def __init__(
        self, environment: Mapping[str, str], minutes: float = 20, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._environment, self._minutes, self._stop = environment, minutes, stop
        self._found: ComposeProgram | None = None

    def find(self) -> ComposeProgram:
        """Misconfigured: there is none, or it is too old."""
        if self._found is None:
            self._found = self._look()
        return self._found

    def run(self, project: str, file: Path, words: Sequence[str], *, may_stop: bool = False) -> Finished:
        """Run to the end, however that is; what was printed is in its order.

        One at a time in a folder: if we were killed, the one that we started may still be at work, and is waited for.
        EngineAway: it does not end. Stopping: it was cut for that. Misconfigured: as `find`.
        """
        found = self.find()
        empty = file.parent / NO_VARIABLES
        write_text(empty, "")
        fault_point("deploy.compose-begins")
        options = ("--ansi", "never", "--project-name", project, "--project-directory", str(file.parent))
        argv = (*found.argv, *options, "--env-file", str(empty), "--file", str(file), *words)
        watch: process.Watch = lambda _pid, _size: "stopped" if may_stop and self._stop() else None  # noqa: E731
        with _alone(file.parent, self._minutes * 60) as lock:
            done = process.run(
                argv,
                cwd=file.parent,
                env=self._env(),
                timeout=self._minutes * 60,
                how=process.RunOptions(limit=KEPT, merge=True, pass_fds=(lock,), watch=watch),
            )
        fault_point("deploy.compose-ended")
        if done.end == "stopped":
            raise Stopping("the program is being stopped: a build was cut, and is begun anew at the next start")
        return done

    def _look(self) -> ComposeProgram:
        old = ""
        for argv in (("docker", "compose"), ("docker-compose",)):
            done = process.run((*argv, "version", "--short"), env=self._env(), timeout=SECONDS)
            version = re.fullmatch(r"v?((\d+)\.(\d+)[\w.+~-]*)", done.text.strip())
            if not done.ok or not version:
                continue
            if (int(version[2]), int(version[3])) >= OLDEST:
                return ComposeProgram(argv, version[1])
            old = version[1]
        raise Misconfigured(f"docker-compose {old} is too old; {MISSING.partition(': ')[2]}" if old else MISSING)

    def _env(self) -> dict[str, str]:
        """A silent step of a build may take as long as the build; the older program builds without another one."""
        ours = {"COMPOSE_HTTP_TIMEOUT": str(int(self._minutes * 60)), "COMPOSE_DOCKER_CLI_BUILD": "0"}
        passed = {name: self._environment[name] for name in PASSED if self._environment.get(name)}
        folders = [folder for folder in self._environment.get("PATH", "").split(":") if folder.startswith("/")]
        return {"DOCKER_HOST": _host(self._environment), **passed, **ours, "PATH": ":".join(folders) or PATH}


def _host(environment: Mapping[str, str]) -> str:
    """Address of the engine to ask; a context of the owner's command line is for the owner's own commands."""
    rootless = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = (SYSTEMS, f"{rootless}/docker.sock")
    return f"unix://{next((one for one in sockets if os.access(one, os.W_OK)), SYSTEMS)}"


@contextlib.contextmanager
def _alone(folder: Path, seconds: float) -> Iterator[int]:
    """A lock that is kept until we, and whoever inherits it, are done. EngineAway: it does not become free."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        until = time.monotonic() + seconds
        while not _taken(descriptor):
            if time.monotonic() > until:
                raise EngineAway(f"a docker compose of ours is still at work in {folder}; end it, or wait")
            time.sleep(BETWEEN_LOOKS)
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
