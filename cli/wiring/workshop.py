"""What works in boxes: the engine, the tests, the linter; and the tools that find work by themselves."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Literal, Protocol

from sisimpur.agents.coder.engine.engine import Engine
from sisimpur.agents.planner.facts.asking import Lints
from sisimpur.agents.qa.runner.suite import Bench
from sisimpur.agents.qa.survey.roots import Root
from sisimpur.agents.reviewer.rules.lint_rules import Linter
from sisimpur.cli.setup.folders import UV
from sisimpur.cli.wiring.records import Records, aider_python
from sisimpur.shared.config.settings import Settings, TargetFile
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import Box, JobLimits, Stoppable
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.paths import Home

if TYPE_CHECKING:
    from sisimpur.agents.coder.engine.aider_runner import AiderEngine
    from sisimpur.agents.coder.engine.aider_warm import WarmAider
    from sisimpur.agents.qa.runner.bench import BoxBench
    from sisimpur.agents.qa.runner.environment_store import Environments
    from sisimpur.shared.sandbox.linter import RuffLinter
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from sisimpur.agents.orchestrator.upkeep.upkeep_findings import Releases
from sisimpur.agents.orchestrator.upkeep.upkeeping import UpkeepTools
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Ask
from sisimpur.shared.sandbox.linter import MOST_CHARS, MOST_FILES, Lint
from sisimpur.shared.system.process import run

if TYPE_CHECKING:
    from sisimpur.agents.reviewer.rules.lint_rules import Linter


# Not the one of our own environment: its packages are none of the target's business.
BASE_PYTHON = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")


class Workshop(Protocol):
    """What works in a sandbox. Each method but `close` may raise Misconfigured."""

    def engine(self) -> Engine: ...
    def bench(self, mirror: Mirror) -> Bench: ...
    def prepare(self, mirror: Mirror, commit: str) -> None: ...
    def linter(self) -> Linter: ...
    def tools(self) -> Mapping[str, Lints]: ...
    def formats(self, files: Mapping[str, str], configuration: Mapping[str, str]) -> Mapping[str, str]: ...
    def close(self) -> None: ...


class WorkshopPlace(Protocol):
    """Where it works, and for which target."""

    @property
    def home(self) -> Home: ...
    @property
    def settings(self) -> Settings: ...


def roots_of(target: TargetFile) -> tuple[Root, ...] | None:
    """Return the packages that the owner names. None: he has written a command for all of them."""
    if target.setup.strip() or target.test.strip():
        return None
    return tuple(Root(one.root, one.setup.strip(), one.test.strip()) for one in target.roots)


class BoxWorkshop:
    """The sandbox of this machine, found and attacked once. `stop`: whether what runs in it is to end, at once."""

    def __init__(
        self, place: WorkshopPlace, print_line: Callable[[str], None], stop: Callable[[], bool] = never
    ) -> None:
        self._home = place.home
        self._settings = place.settings
        self._print_line = print_line
        self._stop = stop
        self._benches: list[BoxBench] = []
        self._made: Environments | None = None
        self._making = Lock()
        self._ahead: list[Thread] = []
        self._is_closed = False

    def close(self) -> None:
        """End what was started here."""
        self._is_closed = True
        for thread in self._ahead:
            thread.join()
        if "_aider" in self.__dict__:
            self._aider.close()
        for bench in self._benches:
            bench.close()

    @cached_property
    def box(self) -> Box:
        """Find and attack it. Misconfigured if this machine has none, or one that an attack gets out of."""
        from sisimpur.shared.sandbox.box import find_box
        from sisimpur.shared.sandbox.selftest import attack, require

        box = find_box(self._home.temporary)
        require(attack(box, self._home.temporary))
        return Stoppable(box, self._stop)

    def engine(self) -> Engine:
        """Return Aider, always the same one: its server is shared."""
        return self._aider

    @cached_property
    def _aider(self) -> AiderEngine | WarmAider:
        from sisimpur.agents.coder.engine.aider_fence import why_not
        from sisimpur.agents.coder.engine.aider_runner import AiderEngine
        from sisimpur.agents.coder.engine.aider_warm import Place, WarmAider

        home, settings = self._home, self._settings.agents.engine
        python, meter = aider_python(settings.python), home.meter_socket
        launcher: Literal["shim", "plain"] = "plain" if settings.launcher == "plain" else "shim"
        cold = AiderEngine(self.box, python, meter, home.temporary, launcher)
        if settings.launcher != "warm" or why_not():
            return cold
        return WarmAider(self.box, Place(python, meter, home.work), cold, self._print_line)

    def bench(self, mirror: Mirror) -> Bench:
        """Return the target's tests, with an environment of their own."""
        from sisimpur.agents.qa.runner.bench import BoxBench

        target = self._settings.target.file
        limits = JobLimits(seconds=target.minutes * 60, memory_mb=target.memory)
        self._benches.append(BoxBench(self.box, mirror, self._environments(mirror), self._home.work, limits))
        return self._benches[-1]

    def prepare(self, mirror: Mirror, commit: str) -> None:
        """Begin to install what the commit's tests need, beside other work. Tests that need it say what fails."""

        def install() -> None:
            with suppress(TeamError):
                self._environments(mirror).ready(commit)

        self._ahead.append(Thread(target=install, name="environment", daemon=True))
        self._ahead[-1].start()

    def _environments(self, mirror: Mirror) -> Environments:
        with self._making:
            self._made = self._made or self._environments_of(mirror)
            return self._made

    def _environments_of(self, mirror: Mirror) -> Environments:
        from sisimpur.agents.qa.runner.environment_build import INSTALL, Setup
        from sisimpur.agents.qa.runner.environment_store import Environments
        from sisimpur.agents.qa.runner.interpreters import Interpreters
        from sisimpur.agents.qa.runner.private_index import PrivateIndex

        target = self._settings.target
        where = f"config/targets/{target.name}.yaml"
        setup = Setup(
            target.name,
            BASE_PYTHON,
            target.file.setup,
            Path(target.file.packages) if target.file.packages else None,
            target.file.index,
            PrivateIndex(private) if (private := self._settings.secrets.get("PACKAGE_INDEX_URL")) else None,
            replace(INSTALL, seconds=target.file.minutes * 60),
            Interpreters(BASE_PYTHON, target.file.python, where, UV if UV.exists() else Path("uv"), os.environ),
            roots_of(target.file),
            target.file.branch,
        )
        box = Stoppable(self.box, lambda: self._is_closed)
        return Environments(box, mirror, self._home.environments, setup, self._print_line)

    def linter(self) -> Linter:
        return self._ruff

    def formats(self, files: Mapping[str, str], configuration: Mapping[str, str]) -> Mapping[str, str]:
        """What the formatter makes of these files."""
        return self._ruff.formatted(files, configuration)

    @cached_property
    def _ruff(self) -> RuffLinter:
        from sisimpur.shared.sandbox.linter import RuffLinter

        return RuffLinter(self.box, self._home.temporary)

    def tools(self) -> Mapping[str, Lints]:
        """Return the tools whose findings a goal may be measured by. None starts before it is asked."""
        return {"ruff": lambda files, options, beside: self._ruff.found(files, options, beside)}


VERSION = "import platform; print(platform.python_version())"
TYPICAL_REQUEST = 12_000  # bytes, which the meter books as so many tokens
VERSION_SAID = re.compile(r"3\.\d{1,2}(\.\d{1,2})?")
MOST_BATCHES = 10  # of files: what is larger than that is not looked at as a whole


def make_upkeep(records: Records, workshop: Workshop, pricing: Pricing) -> UpkeepTools:
    """Make the tools. None of them opens anything, or can be wrong, before its first use."""
    policy, target = records.settings.policy, records.settings.target.file
    linter = cache(workshop.linter)
    return UpkeepTools(
        policy.upkeep.rules(policy.budget.day),
        lambda files: _lint(linter(), files),
        lambda: _releases(records),
        target.protected,
        _least(records, pricing),
    )


def _least(records: Records, pricing: Pricing) -> int:
    """Return what one call of the coder or the reviewer may cost, the dearer of the two, in nano-dollars."""
    agents, now = records.settings.agents, records.clock.now()
    least = 0
    for one in (agents.coder, agents.reviewer):
        with suppress(Misconfigured):  # the meter refuses it
            rates = pricing.rates(one.model, TYPICAL_REQUEST, now)
            least = max(least, Ask(one.model, rates, "", TYPICAL_REQUEST, one.max_tokens).worst)
    return least


def _lint(linter: Linter, files: Mapping[str, str]) -> Sequence[Lint]:
    """Lint the files in as many runs as it takes."""
    batches: list[dict[str, str]] = [{}]
    room = MOST_CHARS
    for path, text in files.items():
        if len(text) > MOST_CHARS:
            continue
        if len(batches[-1]) == MOST_FILES or len(text) > room:
            batches.append({})
            room = MOST_CHARS
        batches[-1][path] = text
        room -= len(text)
    found = (one for batch in batches[:MOST_BATCHES] if batch for one in linter.lint(batch))
    return [Lint(one.path, one.line, one.code, one.text) for one in found]


def _releases(records: Records) -> Releases:
    """Open the index that the tests' environment is installed from, for its Python version."""
    from sisimpur.agents.orchestrator.upkeep.package_index import PackageIndex, WheelFolder

    target = records.settings.target
    version = _version(target.file.python, f"config/targets/{target.name}.yaml")
    if target.file.packages:
        return WheelFolder(Path(target.file.packages), version)
    return PackageIndex(target.file.index, version)


def _version(python: str, file: str) -> str:
    if not python or VERSION_SAID.fullmatch(python):
        return python or platform.python_version()
    done = run((python, "-I", "-c", VERSION), env={}, timeout=30)
    if not done.ok:
        raise Misconfigured(f"{python} does not say which Python it is; correct `python:` in {file}")
    return done.output.decode("ascii", "replace").strip()
