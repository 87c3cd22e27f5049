"""Command user: as whom the owner's commands of a deploy run, and whether he may.

A command of a deploy runs what was merged, and no box is around it. So it runs as another user of the machine, who is
seen to read neither the home nor keys; or, if the owner writes so, as the daemon's own.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system import process

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
    """`releases`: where versions are laid out. `private`: the home, and files of keys.

    `environment`: ours, of which a command gets PATH, HOME and LANG.
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
