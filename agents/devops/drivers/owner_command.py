"""Owner's commands of a deploy: fills them in, starts them, and reports their end.

What a command starts in its own process group ends with it, at once. What is to outlive it belongs to somebody else (a
service manager), or to a session of its own *before* the command ends; and it prints elsewhere: see docs/deploys.md.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.devops.drivers.release_files import release_env
from sisimpur.shared.config.settings_deploy import PlaceSettings
from sisimpur.shared.model.errors import Misconfigured, Stopping
from sisimpur.shared.model.text import legible
from sisimpur.shared.system import process
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.process import Finished

HOLE = re.compile(r"(?<!\$)\{([a-z_]+)\}")  # ${name} is a shell's
TAIL_LINES, TAIL_CHARS = 30, 4_000
KEPT = 1_000_000  # bytes of what it prints
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Surroundings:
    """Surroundings that the commands of a place find. `secrets`: what of it may not be told.

    `before`: words before each command, which make it somebody else's.
    """

    env: Mapping[str, str]
    secrets: Outgoing
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnerCommand:
    """`name`: as the owner wrote it, e.g. staging.start. Misconfigured if {one of its names} is none of `holes`."""

    name: str
    argv: tuple[str, ...]
    holes: tuple[str, ...]

    def __post_init__(self) -> None:
        for hole in (found for word in self.argv for found in HOLE.findall(word)):
            if hole not in self.holes:
                known = ", ".join(f"{{{one}}}" for one in self.holes)
                raise self._wrong(f"{{{hole}}} is not known there; it may use {known}")

    def __bool__(self) -> bool:
        return bool(self.argv)

    @property
    def program(self) -> str:
        return self.argv[0]

    def check(self, given: Surroundings) -> None:
        """Misconfigured if there is no such program. One in the folder of a commit cannot be looked for yet."""
        is_named = "/" not in self.program or self.program.startswith("/")
        if is_named and not HOLE.search(self.program) and shutil.which(self.program, path=given.env["PATH"]) is None:
            raise self._wrong(f"there is no program {self.program[:100]!r} here, or it may not be started")

    def filled(self, fill: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(HOLE.sub(lambda hole: fill[hole[1]], word) for word in self.argv)

    def run(
        self,
        fill: Mapping[str, str],
        *,
        cwd: Path,
        given: Surroundings,
        minutes: float,
        stop: Callable[[], bool] = lambda: False,
        merge: bool = True,
    ) -> Finished:
        """Run to the end, however that is. Stopping: it was cut for that. Misconfigured: it cannot be started."""
        argv = [*given.before, *self.filled(fill)]
        if stop():
            raise Stopping(f"the program is being stopped: {self.name} is not begun")
        watch: process.Watch = lambda _pid, _printed: "stopped" if stop() else None  # noqa: E731
        how = process.RunOptions(limit=KEPT, merge=merge, watch=watch)
        done = process.run(argv, cwd=cwd, env=given.env, timeout=minutes * 60, how=how)
        if done.end == "not found":
            raise self._wrong(f"it cannot be started: {done.complaint[:300]}")
        if done.end == "stopped":
            raise Stopping(f"the program is being stopped: {self.name} was cut, and is begun anew at the next start")
        return done

    def problem(self, done: Finished, given: Surroundings) -> str:
        """Describe for people how it ended badly, and the last lines that it printed."""
        how = f"ended with {done.code}" if done.code >= 0 else f"was ended by signal {-done.code}"
        if done.end == "timed out":
            how = f"was not done after {done.seconds / 60:.3g} minutes"
        elif done.end != "exited":
            how = f"took more than its box may ({done.end})"
        said = tail(given.secrets.clean(done.text + done.errors.decode("utf-8", "replace")))
        return f"`{self.name}` {how}" + (f"; it said:\n{said}" if said else "; it said nothing")

    def _wrong(self, why: str) -> Misconfigured:
        return Misconfigured(f"{self.name}: {why}; correct it under `deploy:` in config/targets")


def tail(text: str) -> str:
    """The last lines, readable."""
    lines = legible(text).rstrip().splitlines()
    return "\n".join(lines[-TAIL_LINES:])[-TAIL_CHARS:]


def surroundings(place: PlaceSettings, ours: Mapping[str, str], before: tuple[str, ...] = ()) -> Surroundings:
    """PATH, HOME and LANG of ours, and what the owner gives the place. Misconfigured: its env_file cannot be read.

    Only absolute folders stay in PATH: a program is never found in the files of a commit.
    """
    given = release_env(place)
    env = {"PATH": PATH, **{name: ours[name] for name in ("PATH", "HOME", "LANG") if ours.get(name)}, **given}
    folders = [folder for folder in env["PATH"].split(":") if folder.startswith("/")]
    of_the_file = {name: value for name, value in given.items() if place.env.get(name) != value}
    return Surroundings({**env, "PATH": ":".join(folders) or PATH}, Outgoing(of_the_file), before)
