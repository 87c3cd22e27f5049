"""Command driver: deploys a target without containers by fixed commands of the owner's.

    staging:
      url: http://127.0.0.1:8001
      build: [sh, -c, "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt"]  # in {folder}
      start: [sh, -c, "ln -sfn {folder} /srv/staging && systemctl --user restart site-staging"]
      running: [sh, -c, "systemctl --user -q is-active site-staging && basename $(readlink /srv/staging)"]
      logs: [journalctl, --user, -q, -n, "200", -u, site-staging]

They run in no box: what was merged runs as the user whom `run_as` names, or, if the owner writes `unsandboxed: yes`, as
ours. Without one of the two nothing is built or started (see CommandUser); the third way, a box, is box_driver.py. A
command ends with all that it started
in its own process group, so whatever goes on running belongs to a service manager, as above, or to a session that it
got before the command ended: `subprocess.Popen(argv, start_new_session=True, stdout=a_file, ...)` in a start script
keeps that order, `setsid program &` in a shell does not always.

`build` ran once for a commit at a place, as long as its words and the commit's folder stay: what it makes belongs into
{folder}, or elsewhere under a name with {commit}.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pwd
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sisimpur.agents.devops.drivers.driver import Cleaned, EngineAway, Release, ReleaseFailed
from sisimpur.agents.devops.drivers.owner_command import OwnerCommand, Surroundings, surroundings
from sisimpur.shared.config.settings_deploy import DeploySettings, PlaceSettings
from sisimpur.shared.model.deployment import FEWEST, Place, Running
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import seen_before
from sisimpur.shared.system import process
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_text, write_text
from sisimpur.shared.system.process import Finished

DOCKER = Path("/var/run/docker.sock")  # whoever writes to it owns the machine
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
TRIES = """
if ! test -x "$1"; then printf 'not enter'; exit; fi
shift
for one; do
if test -r "$one" || test -x "$one" && test -d "$one"; then printf 'read %s' "$one"; exit; fi
done
if test -w "$0"; then printf 'write to %s' "$0"; fi
"""


@dataclass(frozen=True)
class CommandUser:
    """As whom the owner's commands run: a user who can read neither home nor keys; or, by the owner's word, ours.

    `releases`: where versions are laid out. `private`: the home, and files of keys. `environment`: ours, of which a
    command gets PATH, HOME and LANG.
    """

    settings: DeploySettings
    releases: Path
    private: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def ours(self) -> Mapping[str, str]:
        """What of our environment may be given on: another user has a HOME of his own."""
        if not self.settings.run_as:
            return self.environment
        return {**self.environment, **PATH, "HOME": self._entry().pw_dir}

    @property
    def before(self) -> tuple[str, ...]:
        """Words before each command."""
        if not self.settings.run_as:
            return ()
        found = self._entry()
        groups = ("--regid", str(found.pw_gid), "--init-groups")
        return ("setpriv", "--reuid", str(found.pw_uid), *groups, "--no-new-privs", "--")

    def check(self) -> None:
        """Misconfigured: nothing may run, and what to write."""
        if refused := self.settings.refused:
            raise Misconfigured(refused)
        if self.settings.run_as:
            self._check_other()

    def own(self, folder: Path) -> None:
        """Give him a folder that was laid out: what builds in it is his.

        From the inside out: what is above is still ours, so he can put no link where we look next.
        """
        if not self.settings.run_as:
            return
        found = self._entry()
        folder.parent.chmod(0o711)
        for parent, folders, files in os.walk(folder, topdown=False):
            for path in (*(os.path.join(parent, name) for name in (*folders, *files)), parent):
                os.chown(path, found.pw_uid, found.pw_gid, follow_symlinks=False)

    def _check_other(self) -> None:
        name, found = self.settings.run_as, self._entry()
        if os.geteuid() != 0:
            raise self._wrong(
                "only root can run commands as somebody else; start the daemon as root, or let sudo in"
                " your commands do it and write `unsandboxed: yes`"
            )
        if found.pw_uid in (0, os.geteuid()):
            raise self._wrong(f"{name} may read all that the daemon reads; name another user")
        there = next(path for path in (self.releases, *self.releases.parents) if path.exists())
        paths = [str(path) for path in self.private if path.exists()]
        done = process.run((*self.before, "sh", "-c", TRIES, str(DOCKER), str(there), *paths), env=PATH, timeout=20)
        if not done.ok:
            raise self._wrong(f"nobody can tell what {name} can read: {done.complaint[-200:]}")
        if done.text.startswith("not "):
            raise self._wrong(f"{name} cannot enter {there}; write `releases: FOLDER`, one that he can")
        if done.text:
            raise self._wrong(f"{name} can {done.text}; `chmod 700` what is private, and take {name} out of its group")

    def _entry(self) -> pwd.struct_passwd:
        try:
            return pwd.getpwnam(self.settings.run_as)
        except KeyError:
            raise self._wrong(f"there is no user {self.settings.run_as} here; make one (useradd)") from None

    def _wrong(self, why: str) -> Misconfigured:
        return Misconfigured(f"`deploy.run_as`: {why}")


MOST_LINES = 1_000  # of a log
QUICK = 0.5  # minutes for what only tells us something
HURRIED = 0.05  # minutes for what would only be good to know
COMES_UP = 15  # seconds that `running` may take to name what was started
OF_A_COMMIT = ("commit", "folder", "place")
COMMIT = re.compile(rf"[0-9a-f]{{{FEWEST},64}}")


class Files(Protocol):
    """The files of commits, as ReleaseFiles keeps them."""

    def of(self, commit: str) -> Path: ...

    def built(self, commit: str, place: Place) -> str: ...

    def set_built(self, commit: str, place: Place, how: str) -> None: ...

    @property
    def known(self) -> Collection[str]: ...

    def clean(self, keep: Collection[str]) -> int: ...


class CommandDriver:
    """`user`: as whom commands run. `stop`: whether the program is being stopped.

    Misconfigured: a command holds a {name} that is none.
    """

    def __init__(
        self,
        settings: DeploySettings,
        files: Files,
        folder: Path,
        clock: Clock,
        user: CommandUser,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`folder`: ours, for what the log said before a start."""
        self._settings, self._files, self._folder = settings, files, folder
        self._clock, self._user, self._stop = clock, user, stop
        self._before: dict[Place, Sequence[str]] = {}  # what was seen before a start, if it cannot be written
        self._commands = {place: _commands(place, settings) for place in settings.places}

    def check(self) -> str:
        self._user.check()
        programs: list[str] = []
        for place, commands in self._commands.items():
            given = self._given(place)
            for command in filter(None, commands.values()):
                command.check(given)
                programs.append(command.program)
        return f"commands of yours: {', '.join(dict.fromkeys(programs))}; {self._settings.as_whom}"

    def build(self, release: Release) -> None:
        """The owner's command runs again if it was cut: it has to lead to the same end."""
        self._user.check()
        folder, command = self._files.of(release.commit), self._commands[release.place]["build"]
        if not command or self._files.built(release.commit, release.place) == (
            how := built_how(self._settings.places[release.place])
        ):
            return
        done = self._run(command, release, folder, self._stop)
        fault_point("deploy.built")
        if not done.ok:
            raise ReleaseFailed(command.problem(done, self._given(release.place)))
        self._files.set_built(release.commit, release.place, how)

    def start(self, release: Release, hurry: bool = False) -> None:
        """A command that was begun is not cut: half a start helps nobody. After one that fails it is built again."""
        if self._said(release) == release.commit:
            return
        self._user.check()
        try:
            folder, command = self._files.of(release.commit), self._commands[release.place]["start"]
        except ReleaseFailed as problem:
            raise ReleaseFailed(str(problem), is_untouched=True) from None
        self._remember_log(release.place, hurry)
        done = self._run(command, release, folder)
        fault_point("deploy.started")
        try:
            if not done.ok:
                raise ReleaseFailed(command.problem(done, self._given(release.place)))
            self._wait_for(release)
        except ReleaseFailed:
            self._files.set_built(release.commit, release.place, "")
            raise

    def running(self, place: Place) -> Running | None:
        """`running` prints the commit, or at least 7 digits of it; nothing, however it ends: nothing runs."""
        command = self._commands[place]["running"]
        done = self._ask(command, place)
        if done.end != "exited":
            raise EngineAway(command.problem(done, self._given(place)))
        said = done.text.strip().lower()
        if not said:
            return None
        if not COMMIT.fullmatch(said):
            what = self._given(place).secrets.clean(repr(said[:100]))
            raise Misconfigured(f"`{command.name}` prints {what}; let it print the commit that runs, or nothing")
        return Running(self._in_full(said))

    def logs(self, place: Place, lines: int = 50) -> str:
        """Lines that were printed since the start; all of it, if nobody knows what was there before."""
        found = self._log(place)
        new = found[seen_before(self._remembered(place), _digests(found)) :]
        return "\n".join(new[-lines:])

    def clean(self, keep: Collection[Release]) -> Cleaned:
        """Leave the owner's programs alone.

        Folders of commits that neither run nor are kept go; they count as images.
        """
        running = [found.commit for place in self._commands if (found := self.running(place))]
        return Cleaned(builds=self._files.clean({*running, *(release.commit for release in keep)}))

    def _wait_for(self, release: Release) -> None:
        said = ""
        for _ in range(COMES_UP):
            said = self._said(release)
            if said == release.commit:
                return
            self._clock.sleep(1)
        says = said[:12] or "nothing"
        names = [self._commands[release.place][one].name for one in ("start", "running")]
        raise ReleaseFailed(f"`{names[0]}` ended well, but `{names[1]}` prints {says}, not {release.commit[:12]}")

    def _said(self, wanted: Release) -> str:
        """The commit that runs, in full also if that is all that is known of it."""
        found = self.running(wanted.place)
        return self._in_full(found.commit, wanted.commit) if found else ""

    def _in_full(self, said: str, *more: str) -> str:
        found = [commit for commit in {*self._files.known, *more} if commit.startswith(said)]
        return found[0] if len(found) == 1 else said

    def _run(
        self, command: OwnerCommand, release: Release, folder: Path, stop: Callable[[], bool] = lambda: False
    ) -> Finished:
        """A command about a release, in the folder of its files."""
        fill = {"commit": release.commit, "folder": str(folder), "place": release.place}
        given, minutes = self._given(release.place), self._settings.minutes
        return command.run(fill, cwd=folder, given=given, minutes=minutes, stop=stop)

    def _ask(self, command: OwnerCommand, place: Place, minutes: float | None = None) -> Finished:
        """A command that only reports of a place; its errors stay apart from what it prints."""
        fill = {"commit": "", "folder": "/", "place": place}
        minutes = minutes or min(QUICK, self._settings.minutes)
        return command.run(fill, cwd=Path("/"), given=self._given(place), minutes=minutes, merge=False)

    def _given(self, place: Place) -> Surroundings:
        return surroundings(self._settings.places[place], self._user.ours, self._user.before)

    # --- its log ---------------------------------------------------------------------------------------------

    def _log(self, place: Place, minutes: float | None = None) -> Sequence[str]:
        command = self._commands[place]["logs"]
        done = self._ask(command, place, minutes) if command else None
        return done.text.splitlines()[-MOST_LINES:] if done else ()

    def _remember_log(self, place: Place, hurry: bool) -> None:
        """Remember what the version before it printed: it says nothing of this one.

        A full disk keeps nothing from being started.
        """
        before, note = self._log_before(place, hurry), self._folder / f"{place}.log-before"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_text(note, "\n".join(before))
            self._before.pop(place, None)
        except OSError:
            self._before[place] = before
            with contextlib.suppress(OSError):
                note.unlink()
        fault_point("deploy.log-remembered")

    def _log_before(self, place: Place, hurry: bool) -> Sequence[str]:
        """Read the log before a start; in a hurry nobody waits for it, nor asks why it is not to be had."""
        try:
            return _digests(self._log(place, HURRIED if hurry else None))
        except Misconfigured:
            if not hurry:
                raise
            return ()

    def _remembered(self, place: Place) -> Sequence[str]:
        if place in self._before:
            return self._before[place]
        try:
            return read_text(self._folder / f"{place}.log-before").splitlines()
        except FileNotFoundError:
            return ()


def built_how(place: PlaceSettings) -> str:
    """Digest of the command that builds and of what the owner's config gives it; none of its words."""
    return hashlib.sha256(json.dumps([place.build, sorted(place.env.items())]).encode()).hexdigest()


def _commands(place: Place, settings: DeploySettings) -> Mapping[str, OwnerCommand]:
    """Commands of a place by their names."""
    found = settings.places[place]
    of_a_commit = {"build": found.build, "start": found.start}
    others = {"running": found.running, "logs": found.logs}
    return {name: OwnerCommand(f"{place}.{name}", argv, OF_A_COMMIT) for name, argv in of_a_commit.items()} | {
        name: OwnerCommand(f"{place}.{name}", argv, ("place",)) for name, argv in others.items()
    }


def _digests(lines: Sequence[str]) -> list[str]:
    """A log may hold what is nobody's business."""
    return [hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:16] for line in lines]
