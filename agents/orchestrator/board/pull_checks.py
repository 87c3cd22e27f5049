"""What others check at the forge -> whether a commit may be merged now. Read right before a merge, kept in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from sisimpur.shared.forge.forge import OURS, CommitChecks, Forge
from sisimpur.shared.model.gate import CheckedByOthers
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.mirror import Mirror

PATIENCE = timedelta(hours=1)  # since our own tests began; then the owner is asked
BEGINNING = timedelta(minutes=2)  # in which workflows report for the first time
SOONEST, LATEST = timedelta(seconds=30), timedelta(minutes=5)  # between two looks
MOST_NAMED, LONGEST_NAME = 10, 100  # names that the owner is told, and letters of one
WORKFLOWS = ".github/workflows/"
HINT = "run it there again, or write its name into `ignore_checks` in config/targets"
UNREADABLE = "not all that others check can be read: give the token Actions: read (docs/github.md), or ignore all of it"


@dataclass(frozen=True)
class Expected:
    """`required` by the forge; `seen` before of this commit; `ignored`: the owner's patterns.

    `begins`: the commit holds workflows, which may have reported nothing yet.
    """

    required: Collection[str] = ()
    seen: Collection[str] = ()
    ignored: Sequence[str] = ()
    begins: bool = False

    def counts(self, name: str) -> bool:
        return name not in OURS and not any(fnmatchcase(name, pattern) for pattern in self.ignored)


def judged(commit: str, found: CommitChecks, expected: Expected, waited: timedelta) -> CheckedByOthers:
    """What is red is told to the owner, and so is what has not come to an end in time."""
    results = {name: result for name, result in found.items.items() if expected.counts(name)}
    red = sorted(name for name, result in results.items() if result == "failure")
    lacking = {name for name in (*expected.required, *expected.seen) if expected.counts(name)} - results.keys()
    awaited = sorted({*lacking, *(name for name, result in results.items() if result == "pending")})
    if not results and not awaited and expected.begins and waited < BEGINNING:
        awaited = ["its workflows"]
    against = [f"red at the forge: {_named(red)}; {HINT}"] if red else []
    against += [] if found.complete else [UNREADABLE]
    if awaited and waited >= PATIENCE:
        against.append(f"not ended, or not there, after an hour at the forge: {_named(awaited)}; {HINT}")
    seen = frozenset((*expected.seen, *results))
    return CheckedByOthers(
        commit,
        tuple(against),
        () if against else tuple(one_line(name, LONGEST_NAME) for name in awaited[:MOST_NAMED]),
        seen,
    )


def _named(names: Sequence[str]) -> str:
    """Anybody may name a check as he likes: a few, each in one line."""
    return ", ".join(one_line(name, LONGEST_NAME) for name in names[:MOST_NAMED]) + ", ..." * (len(names) > MOST_NAMED)


class PullChecks:
    """`ignored`: patterns of names that count for nothing, by the owner's word."""

    def __init__(self, forge: Forge, mirror: Mirror, ignored: Sequence[str]) -> None:
        self._forge = forge
        self._mirror = mirror
        self._ignored = ignored
        self._known: dict[str, CheckedByOthers] = {}

    def of(self, task: str, commit: str) -> CheckedByOthers | None:
        """What was found last; None: nothing is known to be against it."""
        known = self._known.get(task)
        return known if known and known.commit == commit else None

    def anew(self) -> None:
        """What was red may have been run again: it is read at the next try to merge."""
        self._known = {task: replace(one, against=()) for task, one in self._known.items()}

    def read(self, task: str, commit: str, into: str, since: datetime, now: datetime) -> CheckedByOthers:
        """Ask the forge about exactly this commit. `since`: when our own tests of it began."""
        if "*" in self._ignored:
            return CheckedByOthers(commit)
        before, waited = self.of(task, commit), max(now - since, timedelta())
        seen, found = before.seen if before else frozenset(), self._forge.checks(commit)
        begins = found.runs_workflows and any(one.path.startswith(WORKFLOWS) for one in self._mirror.tree(commit))
        expected = Expected(self._forge.required(into), seen, self._ignored, begins)
        here = judged(commit, found, expected, waited)
        again = now + min(max(waited, SOONEST), LATEST) if here.awaited else None
        self._known[task] = here = replace(here, read_again=again)
        return here
