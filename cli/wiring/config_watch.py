"""config/ as the owner changes it while the daemon runs: a change counts when it is settled and valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sisimpur.shared.config.settings import ANTHROPIC, Settings, load
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.system.paths import Home, stamp

REST = timedelta(seconds=2)  # editors write a file in several steps

Stamps = tuple[tuple[str, int, int, int], ...]


def usable(home: Home, environment: Mapping[str, str]) -> Settings:
    """Read all of config/, with what is needed to begin; or Misconfigured."""
    require_private(home)
    settings = load(home, environment)
    model_key(settings)
    return settings


def model_key(settings: Settings) -> str:
    """Return the key, or Misconfigured. A local endpoint may want none."""
    key = settings.secrets.get("ANTHROPIC_API_KEY")
    if not key and settings.secrets.base_url == ANTHROPIC:
        raise Misconfigured("no key for the model; write ANTHROPIC_API_KEY=... into config/.env (and chmod 600 it)")
    return key or "none"


def open_to_others(home: Home) -> str:
    """Say what to type about a file of keys that others can read; empty: nobody else can."""
    path = home.config / ".env"
    is_open = path.exists() and path.stat().st_mode & 0o077
    return f"others can read {path}; type: chmod 600 {path}" if is_open else ""


def require_private(home: Home) -> None:
    """Misconfigured: others can read our keys, so nothing is begun with them."""
    if problem := open_to_others(home):
        raise Misconfigured(problem)


def config_stamps(home: Home) -> Stamps:
    """Return what changes when a file in config/ does, or comes, or goes."""
    files = (home.config / ".env", *sorted(home.config.glob("*.yaml")), *sorted(home.targets.glob("*.yaml")))
    return tuple((path.name, *stamp(path)) for path in files)


class ConfigWatch:
    """Watches config/. `settings`: the newest valid ones. Invalid ones are reported once, and change nothing.

    Misconfigured if config/ cannot be used now.
    """

    def __init__(self, home: Home, environment: Mapping[str, str], print_line: Callable[[str], None]) -> None:
        self._home = home
        self._environment = environment
        self._print_line = print_line
        self._read = config_stamps(home)  # before it is read: what changes in between is seen the next time
        self._seen, self._since = self._read, datetime.min
        self.settings = usable(home, environment)

    def look(self, now: datetime) -> None:
        stamp = config_stamps(self._home)
        if stamp != self._seen:
            self._seen, self._since = stamp, now
        elif stamp != self._read and abs(now - self._since) >= REST:
            self._read = stamp
            self._take()

    def _take(self) -> None:
        try:
            self.settings = usable(self._home, self._environment)
        except TeamError as problem:
            self._print_line(f"config/ cannot be used as it is now, so what was read before goes on: {problem}")
