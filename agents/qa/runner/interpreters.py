"""Interpreter adapter: which Python makes the target's environment. Finds it on this machine, or has uv install it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.process import run

VERSION = re.compile(r"3\.\d{1,2}(\.\d{1,2})?")
LONG = 600.0  # seconds for an installation
QUIET = {"UV_NO_PROGRESS": "1", "UV_SYSTEM_CERTS": "1", "NO_COLOR": "1"}
KEPT_IN_ENV = ("PATH", "HOME", "XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR", "HTTPS_PROXY", "https_proxy")


@dataclass(frozen=True)
class Interpreters:
    """`own`: the one of this program. `said`: what the owner wrote: a path, or a version; empty: what fits.

    `uv`: the program. `file`: where the owner writes it.
    """

    own: Path
    said: str
    file: str
    uv: Path
    env: Mapping[str, str]

    def chosen(self, wanted: str, better: str = "") -> Path:
        """`wanted`: the version that the target asks for, if `own` is none of these; empty: it is.

        `better`: the one that its CI tests with: taken where this machine has it, and nobody said more.
        Misconfigured: there is none; the text says what to type. Only what the owner wrote is installed.
        """
        if self.said and not VERSION.fullmatch(self.said):
            return Path(self.said)
        version = self.said or wanted
        if not version:
            return (self.found(better) if better else None) or self.own
        if found := self.found(version):
            return found
        failed = self._installed(version) if self.said else ""
        if self.said and (found := self.found(version)):
            return found
        if self.said:
            how = (
                f"uv cannot install it ({failed}): install it yourself, and write its path as `python:` in {self.file}"
            )
            raise Misconfigured(f"there is no Python {version} on this machine, and {how}")
        there = f"the target wants Python {version}, and this machine has none"
        raise Misconfigured(f'{there}; write `python: "{version}"` into {self.file}, and uv installs it')

    def found(self, version: str) -> Path | None:
        """Ask uv for one that runs; one of pyenv's lies where nobody looks for it."""
        words = (str(self.uv), "python", "find", "--system", "--no-project", version)
        done = run(words, env={**self._env(), "UV_PYTHON_DOWNLOADS": "never"}, timeout=60)
        return Path(done.text.strip()) if done.ok else None

    def _installed(self, version: str) -> str:
        """Why it was not; empty: it was."""
        done = run((str(self.uv), "python", "install", "--no-bin", version), env=self._env(), timeout=LONG)
        lines = [line.strip() for line in done.complaint.splitlines() if line.strip()]
        return (
            "" if done.ok else next((line for line in lines if "rror" in line), lines[-1] if lines else done.end)[:200]
        )

    def _env(self) -> dict[str, str]:
        env = {name: self.env[name] for name in KEPT_IN_ENV if name in self.env}
        pyenv = Path(self.env.get("HOME", "/nonexistent"), ".pyenv", "versions")
        places = [env.get("PATH", os.defpath), *map(str, sorted(pyenv.glob("3.*/bin"), reverse=True))]
        return {**env, **QUIET, "PATH": os.pathsep.join(places)}
