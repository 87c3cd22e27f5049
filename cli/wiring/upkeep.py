"""A home -> what the team needs to find work by itself: the owner's rules, a linter, who knows of newer packages."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agents.orchestrator.team import UpkeepTools
from agents.orchestrator.upkeep.upkeep_pins import Releases
from cli.wiring.records import Records
from cli.wiring.workshop import Workshop
from shared.model.errors import Misconfigured, Refused
from shared.money.pricing import Pricing
from shared.money.token_budget import Ask
from shared.sandbox.linter import MOST_CHARS, MOST_FILES, Lint
from shared.system.process import run

if TYPE_CHECKING:
    from agents.reviewer.rules.lint_rules import Linter

VERSION = "import platform; print(platform.python_version())"
TYPICAL_REQUEST = 12_000  # bytes, which the meter books as so many tokens
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
        with suppress(Refused):  # the meter refuses it
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
    from agents.orchestrator.upkeep.package_index import PackageIndex, WheelFolder

    target = records.settings.target
    version = _version(target.file.python, f"config/targets/{target.name}.yaml")
    if target.file.packages:
        return WheelFolder(Path(target.file.packages), version)
    return PackageIndex(target.file.index, version)


def _version(python: str, file: str) -> str:
    if not python:
        return platform.python_version()
    done = run((python, "-I", "-c", VERSION), env={}, timeout=30)
    if not done.ok:
        raise Misconfigured(f"{python} does not say which Python it is; correct `python:` in {file}")
    return done.output.decode("ascii", "replace").strip()
