"""Each outage of GitHub against each write of the forge: python -m bench.outages > docs/outages.md (a minute)."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sisimpur.shared.forge.forge import FORGE_PROBLEMS, Forge, RateLimited
from sisimpur.simulators.github.local_github import LocalGitHub
from tests.edges.test_github_forge import GitHubHome
from tests.edges.test_github_outages import OUTAGES, WRITES, Outage, Write

HEAD = """# Outages of GitHub that were tried, and what happened

Made by `python -m bench.outages` against the local GitHub (`simulators/github`), with deadlines of {short:.0f} s
where a server is silent. Each row is one thing that goes wrong. It is planted into each of {count} writes:
{writes}.

**Raised** is what the caller got; "nothing" means that it found out by itself that the work was done. **There then** is
how many of the {count} stood at GitHub at that moment. **After two repetitions** is how often each of them stands.
That is never 0, and never 2. `tests/edges/test_github_outages.py` proves the same, and the reads.

| outage | raised | there then | after two repetitions | longest call |
|---|---|---|---|---|"""


@dataclass(frozen=True)
class Tried:
    raised: str
    then: int
    finally_: int
    seconds: float


def main() -> int:
    names = ", ".join(WRITES)
    print(HEAD.format(count=len(WRITES), writes=names, short=1.0))
    with tempfile.TemporaryDirectory() as folder, LocalGitHub(Path(folder), looks_until_known=0) as hub:
        wrong = 0
        for row, (name, outage) in enumerate(OUTAGES.items()):
            tried = [_try(hub, f"team/app-{row}-{n}", outage, write) for n, write in enumerate(WRITES.values())]
            print(_line(name, tried), flush=True)
            wrong += sum(one.finally_ != 1 for one in tried)
    return 1 if wrong else 0


def _try(hub: LocalGitHub, repository: str, outage: Outage, write: Write) -> Tried:
    home = GitHubHome(hub, one_account=True, name=repository)
    sha = home.push("task")
    forge: Forge = home.opened(patience=outage.patience)
    number = home.forge.ensure_pull("task", "main", "T", "B", draft=write.is_draft).number if write.on_a_pull else 0
    plant = hub.faults.after if outage.worked else hub.faults.before
    plant(outage.fault, write.where)
    began, raised = time.monotonic(), "nothing"
    try:
        write.call(forge, "task", number, sha)
    except RateLimited as error:
        raised = f"RateLimited ({error.wait:.0f} s)"
    except FORGE_PROBLEMS as error:
        raised = type(error).__name__
    seconds, then = time.monotonic() - began, write.done(home, "task", number, sha)
    hub.faults.clear()
    for _ in range(2):
        write.call(home.forge, "task", number, sha)
    return Tried(raised, then, write.done(home, "task", number, sha), seconds)


def _line(name: str, tried: list[Tried]) -> str:
    raised = {kind: sum(one.raised == kind for one in tried) for kind in dict.fromkeys(one.raised for one in tried)}
    words = ", ".join(kind if len(raised) == 1 else f"{kind} ({count})" for kind, count in raised.items())
    then = f"{sum(one.then for one in tried)} of {len(tried)}"
    after = ", ".join(sorted({str(one.finally_) for one in tried}))
    return f"| {name} | {words} | {then} | {after} | {max(one.seconds for one in tried):.1f} s |"


if __name__ == "__main__":
    sys.exit(main())
