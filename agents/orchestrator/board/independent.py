"""A green change that brings its own tests -> what a test says that was written from the task's words alone.

Who writes it sees the code as it was. It is run on the change, and is no part of it: where the two disagree, the
reviewer reads that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.board.roles import ChangeRoles, ChecksChange
from sisimpur.agents.orchestrator.board.transitions import Bookkeeping
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Stumble, Unavailable
from sisimpur.shared.model.evidence import Evidence, is_test_file
from sisimpur.shared.model.naming import attempt_ref, is_upkeep
from sisimpur.shared.model.work import Branch, Coded, Correction, Run, TaskKind, TaskSpec
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.paths import remove_folder

FIXES = (TaskKind.FIX, TaskKind.BEHAVIOUR)
ASKING = (*FIXES, TaskKind.FEATURE, TaskKind.UNKNOWN)


@dataclass(frozen=True)
class IndependentTest:
    """`has_room`: whether a task has not yet used half of what it may cost."""

    roles: ChangeRoles
    mirror: Mirror
    books: Bookkeeping
    has_room: Callable[[str], bool]

    def heard(self, qa: ChecksChange, attempt: int, spec: TaskSpec, branch: Branch, evidence: Evidence) -> Evidence:
        """Written once for these words of the task. What keeps it from being written keeps nothing else."""
        if not self._is_wanted(spec, branch, evidence):
            return evidence
        ref = attempt_ref(f"{spec.id}.qa-{spec.asked}", 1)
        with self.books.runs.unlocked("qa", spec.id, attempt) as run:
            test = self.mirror.attempt(ref) or self._written(run, ref, qa, spec, branch, evidence.command)
            if not test or self.mirror.is_ancestor(test, branch.commit):
                return evidence
            changed = self.mirror.changed(self.mirror.parent(test), test)
            files = {one.path: self.mirror.read(test, one.path) for one in changed}
            told = qa.heard(run, branch, evidence.command, files)
        self.books.tell(f"{spec.id}: a test from its words alone {told or 'was interrupted'}")
        return replace(evidence, independent=told)

    def _is_wanted(self, spec: TaskSpec, branch: Branch, evidence: Evidence) -> bool:
        kinds = {"fixes": FIXES, "all": ASKING, "off": ()}[self.roles.independent]
        own = [path for path in (*spec.files, *spec.new_files) if is_test_file(path) and path in branch.changed]
        is_green = bool(evidence.proving) and not evidence.is_red and not evidence.needing("write tests")
        return is_green and bool(own) and spec.kind in kinds and not is_upkeep(spec.id) and self.has_room(spec.id)

    def _written(self, run: Run, ref: str, qa: ChecksChange, spec: TaskSpec, branch: Branch, command: str) -> str:
        order = qa.blind_order(spec, branch, command)
        if order is None:
            return ""
        self.books.tell(f"{spec.id}: QA writes a test from its words alone")
        asked = replace(spec, id=f"{spec.id}.qa-{spec.asked}")
        remove_folder(folder := self.roles.work / f"{asked.id}.a1")  # what a kill left
        try:
            once = replace(run, attempt=1)
            answer = self.roles.coder().code(once, asked, branch.base, folder, Correction("", "", order))
        except (OutOfBudget, Misconfigured, ModelAway, Stumble, Unavailable) as problem:
            self.books.tell(f"{spec.id}: no test from its words alone: {problem}")
            return ""
        finally:
            remove_folder(folder)
        if isinstance(answer, Coded):
            return answer.branch.commit
        self.mirror.restore(ref, branch.base)  # nobody is asked a second time
        return ""
