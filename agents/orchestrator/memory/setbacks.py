"""History, evidence and our mirror -> what went wrong with a task's attempts. Looks and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from sisimpur.agents.orchestrator.board.writing import TestTurns
from sisimpur.agents.orchestrator.memory import lesson_text
from sisimpur.agents.orchestrator.memory.lesson_text import ReviewComplaint, SeenOfTry, TaskSetback
from sisimpur.agents.orchestrator.vision.issue_goals import number_of
from sisimpur.shared.model.evidence import ChangesRequested
from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.model.naming import attempt_ref
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.gate_book import GateRepository
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.task_records import Attempt


@dataclass(frozen=True)
class Setbacks:
    journal: Journal
    gates: GateRepository
    mirror: Mirror
    turns: TestTurns
    plans: PlanRepository

    def is_a_strangers(self, goal: str) -> bool:
        """Of a goal from an issue that is no wish of the owner's, or that nobody knows any more."""
        accepted = self.plans.accepted()
        owners = [one.id for one in (accepted.vision.goals if accepted else ()) if not one.proposed_by]
        return bool(number_of(goal)) and goal not in owners

    def is_a_strangers_task(self, task: str) -> bool:
        known = self.journal.task(task)
        return known is not None and self.is_a_strangers(known.goal_id)

    def of(self, task: str) -> Iterator[tuple[Attempt, TaskSetback]]:
        """The newest first. That a base has moved under a change, or a test of QA's is wrong, is no coder's mistake."""
        known = self.journal.task(task)
        to_qa = self.turns.to_qa(known) if known else []
        for attempt in reversed(self.journal.attempts(task)):
            if attempt.outcome not in ("failed", "sent back") or attempt in to_qa:
                continue
            commit = self.commit(task, attempt) or ""
            if attempt.refreshes and not commit:
                continue
            said = self.gates.evidence(task, commit), self.gates.reviewed(task, commit)
            if found := lesson_text.setback(attempt.note, *said):
                yield attempt, found

    def seen(self, task: str, attempt: Attempt) -> SeenOfTry:
        if not (commit := self.commit(task, attempt)):
            return lesson_text.seen_of(attempt.note, None, None)
        return lesson_text.seen_of("", self.gates.evidence(task, commit), self.gates.reviewed(task, commit))

    def facts(self, task: str, attempt: Attempt) -> tuple[str, ...]:
        """What the tests of a try say of their environment."""
        commit = self.commit(task, attempt)
        evidence = self.gates.evidence(task, commit) if commit else None
        if not commit or evidence is None:
            return ()
        texts = [*(failure.text for failure in evidence.failures), evidence.output]
        return facts_of_target(texts, partial(self._is_ours, commit), touches_tables(self.changed(commit)))

    def _is_ours(self, commit: str, module: str) -> bool:
        """The files are listed only if a module is missed: most tests miss none."""
        return is_module_of([entry.path for entry in self.mirror.tree(commit)])(module)

    def commit(self, task: str, attempt: Attempt) -> str | None:
        """None: the attempt led to no commit, or it is not in our mirror."""
        return self.mirror.attempt(attempt_ref(task, attempt.number))

    def changed(self, commit: str) -> tuple[str, ...]:
        """Paths that a commit changed."""
        return tuple(change.path for change in self.mirror.changed(self.mirror.parent(commit), commit))

    def other(self, before: str | None, commit: str, changed: Sequence[str]) -> tuple[str, ...]:
        """Which of the changed files are not as the earlier try had left them."""
        if not before:
            return tuple(changed)
        other = {change.path for change in self.mirror.changed(before, commit)}
        return tuple(path for path in changed if path in other)

    def keywords(self, task: str) -> tuple[str, ...]:
        """Words by which the task's newest review that names any would look for it."""
        return next((one.keywords for one in reversed(self.gates.reviews(task)) if one.keywords), ())

    def complaints(self, day: str) -> Iterator[ReviewComplaint]:
        """Findings of the tasks that the reviewer has sent back of late; nothing if none was on that day."""
        first = (date.fromisoformat(day) - lesson_text.WINDOW).isoformat()
        last = {task: at[:10] for task, at in self.journal.times_of(Event.CHANGES, first).items()}
        for task, sent in last.items() if day in last.values() else ():
            for reviewed in self.gates.reviews(task) if lesson_text.is_of_late(sent, day) else ():
                if isinstance(reviewed.verdict, ChangesRequested):
                    found, words = reviewed.verdict.findings, reviewed.keywords
                    yield from (ReviewComplaint(task, sent, finding, words) for finding in found)


# --- what a failure says of the tests' environment: a fact of the target -------------------------------------


NAME = r"[A-Za-z_][\w.-]{0,60}"
MODULE = re.compile(rf"(?:ModuleNotFoundError|ImportError): No module named ['\"]?({NAME})")
TABLE = re.compile(rf"no such table: ({NAME})|(?:relation|[Tt]able) ['\"]({NAME})['\"] does(?: not|n't) exist")
PROGRAM = re.compile(rf"\b(?:ba|da|z)?sh: (?:(?:line )?\d+: )?({NAME}): (?:command )?not found\b")
SAYS = (
    (
        re.compile(r"Cannot connect to the Docker daemon|DockerException|No such file or directory: '?docker\b"),
        "the tests run without Docker",
    ),
    (
        re.compile(
            r"gaierror|[Nn]ame resolution|Name or service not known|Network is unreachable|NameResolutionError"
            r"|Failed to resolve '"
        ),
        "the tests run without a network",
    ),
    (
        re.compile(r"could not connect to server|connection to server at|Can't connect to (?:local )?(?:MySQL|server)"),
        "the tests run without a database server",
    ),
)


def facts_of_target(
    texts: Iterable[str], is_ours: Callable[[str], bool], touches_tables: bool = False
) -> tuple[str, ...]:
    """`texts`: what failures say. `is_ours`: whether a module of this name is the target's own, and not a package.

    `touches_tables`: the change itself is about models or migrations; then a missing table is its own.
    """
    found = (fact for text in texts for fact in _of(text, is_ours, touches_tables))
    return tuple(dict.fromkeys(found))


def _of(text: str, is_ours: Callable[[str], bool], touches_tables: bool) -> Iterable[str]:
    for hit in MODULE.finditer(text):
        module = hit[1].partition(".")[0]
        if not is_ours(module):
            yield f"the tests' environment has no package with the module {module}"
    for hit in () if touches_tables else TABLE.finditer(text):
        yield f"the tests' database has no table {hit[1] or hit[2]}: no migration in git makes it"
    for hit in PROGRAM.finditer(text):
        yield f"the tests' environment has no program {hit[1]}"
    yield from (fact for says, fact in SAYS if says.search(text))


def is_module_of(paths: Collection[str]) -> Callable[[str], bool]:
    """Say of a module's first name whether one of these files or folders is it, at any depth."""
    names = {part.removesuffix(".py") for path in paths for part in path.split("/")}
    return names.__contains__


def touches_tables(paths: Iterable[str]) -> bool:
    return any(re.search(r"(^|/)(models|migrations)(/|\.py$|_)", path) for path in paths)
