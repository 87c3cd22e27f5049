"""A stack of approved changes -> tested once; up to the first that makes it red they are merged without another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.roles import ChecksChange
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.agents.orchestrator.gate_books import GateBooks
from sisimpur.agents.orchestrator.gates import Gatekeeper
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Stopping, Stumble, Unavailable
from sisimpur.shared.model.evidence import Evidence, SuiteRun
from sisimpur.shared.model.work import Run
from sisimpur.shared.store.queue_book import QueuePlace
from sisimpur.shared.store.task_records import TaskRecord


@dataclass(frozen=True)
class Stacked:
    """A task's change on top of those before it. `old`: the commit that was approved; `new`: one of no reference."""

    task: str
    old: str
    new: str
    evidence: Evidence  # of the old one


@dataclass(frozen=True)
class MergeQueue:
    review: GateBooks
    gates: Gatekeeper
    books: Bookkeeping

    def test(self, tasks: Sequence[TaskRecord]) -> None:
        """Test them together. What a kill cuts off, or what does not go together, is tested by itself."""
        tip = self.review.branches.look(self.review.branches.target(tasks[0]))
        if tip is None:
            return  # the next look finds it
        stack, places = self._stacked(tasks, tip), self.review.gates.places
        places.keep([QueuePlace(known.id, self.review.commits.newest(known)) for known in tasks])
        if len(stack) < 2:
            return
        names = tuple(one.task for one in stack)
        self.books.tell(f"testing {', '.join(names)} on top of each other")
        try:
            with self.books.runs.unlocked("qa", names[0]) as run:
                green = _green(self.gates.qa(), run, tip, stack)
        except (Misconfigured, Unavailable, Stopping):
            places.forget(names)
            raise
        except (BrokenSetup, Stumble) as problem:
            self.books.tell(f"{', '.join(names)}: not tested together: {problem}")
            return
        trees = tuple(map(self.review.branches.mirror.tree_id, (tip, *(one.new for one in stack))))
        together = names[:green]
        places.forget(names[green + 1 if green else 2 :])
        places.keep(QueuePlace(one.task, one.old, trees[: at + 2], together) for at, one in enumerate(stack[:green]))
        self.books.tell(_told(names, green))

    def _stacked(self, tasks: Sequence[TaskRecord], tip: str) -> list[Stacked]:
        """Those that are the very change that was approved, also on top of the others."""
        found: list[Stacked] = []
        for known in tasks:
            commit = self.review.commits.newest(known)
            made = self.review.branches.mirror.start_for(commit, found[-1].new if found else tip)
            evidence = self.review.gates.evidence(known.id, commit)
            if made and evidence and self._is_same(known, commit, made):
                found.append(Stacked(known.id, commit, made, evidence))
        return found

    def _is_same(self, known: TaskRecord, old: str, new: str) -> bool:
        return self.review.commits.seen(known, new).subject == self.review.commits.seen(known, old).subject


def _green(qa: ChecksChange, run: Run, tip: str, stack: Sequence[Stacked]) -> int:
    """How many from the first on are green together; 0: not even two are."""
    base, good, bad = qa.base(run, tip), 1, len(stack) + 1
    here = len(stack)
    while good < here < bad:
        if _is_green(qa.together(run, stack[here - 1].new), base, stack[:here]):
            good = here
        else:
            bad = here
        here = (good + bad) // 2
    return good if good > 1 else 0


def _is_green(found: SuiteRun, base: SuiteRun, stack: Sequence[Stacked]) -> bool:
    """Nothing fails or is skipped that was not before, and what has shown each of the changes still passes."""
    shown = {test for one in stack for test in one.evidence.proving}
    worse = (found.of("failed") - base.of("failed")) | (found.of("skipped") & base.of("passed"))
    return found.is_whole and not worse and shown <= found.of("passed")


def _told(names: Sequence[str], green: int) -> str:
    if green == len(names):
        return f"{', '.join(names)}: green together; they are merged in this order"
    alone = " and ".join(names[green : green + 1] if green else names[:2])
    first = f"{', '.join(names[:green])} are merged first; " if green else ""
    return f"red together: {first}{alone} {'is' if green else 'are'} tested alone"
