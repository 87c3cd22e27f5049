"""(goal, its tasks, the merged tree) -> EndReading: the one model call at the end of a goal that no figure settles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.change import CommitFiles, usually_holds_keys
from sisimpur.shared.model.errors import Refused, Stumble, Unavailable
from sisimpur.shared.model.evidence import is_test_file
from sisimpur.shared.model.work import Goal, GoalWord, Run, TaskSpec
from sisimpur.shared.repo.file_parts import changed_lines, lines_of, view

MAX_CHANGES = 24_000  # characters of all differences
MAX_FILES = 24_000  # of all files
LARGEST_FILE = 10_000  # of one of them
MAX_BLOCK = 8_000  # of any other block
OF_A_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
NAMED = re.compile(r"[\w-][\w./-]*")


@dataclass(frozen=True)
class EndReading:
    verdict: Literal["holds", "not yet", "cannot tell"]
    missing: str


class MergedTree(CommitFiles, Protocol):
    """The target's commits: the mirror."""

    def diff(self, old: str, new: str, limit: int = ...) -> bytes: ...


@dataclass(frozen=True)
class GoalWork:
    """What was done for a goal. `changes`: (before, after) of each merge; `unmeasured`: why no figure tells."""

    goal: Goal
    tasks: Sequence[TaskSpec]
    changes: Sequence[tuple[str, str]]
    words: Sequence[GoalWord]
    unmeasured: str = ""


@dataclass(frozen=True)
class GoalEvaluator:
    asker: Asker
    prompts: Prompts

    def read(self, run: Run, work: GoalWork, tree: MergedTree, commit: str) -> EndReading:
        """Ask once, about the tree of this commit. Errors are those of the asker."""
        patches = [_difference(tree, *ends) for ends in work.changes]
        prompt = self.prompts.render(
            "orchestrator/goal_end",
            goal=_block((work.goal.title, *(f"- {detail}" for detail in work.goal.details)), "goal"),
            tasks=_block(map(_task, work.tasks), "tasks"),
            words=_block(_words(work), "words"),
            changes=quoted(_changes(patches), "changes"),
            files=_files(work, tree, commit, "\n".join(patches)) or quoted("", "files"),
        )
        return self.asker.ask(run, prompt.system, prompt.user, EndReading)


def _block(lines: Iterable[str], label: str) -> str:
    return quoted("\n".join(lines)[:MAX_BLOCK], label)


def _task(task: TaskSpec) -> str:
    return "\n".join((f"{task.id}: {task.title}", *(f"  - {line}" for line in task.acceptance)))


def _words(work: GoalWork) -> Iterable[str]:
    if work.unmeasured:
        yield f"could not be measured: {work.unmeasured}"
    yield from (f"{word.kind}{f' ({word.task})' if word.task else ''}: {word.text}" for word in work.words)


def _changes(patches: Sequence[str]) -> str:
    """Each change has the same share of the room; what is cut says so."""
    return "\n".join(_cut(patch, MAX_CHANGES // max(1, len(patches))) for patch in patches)


def _difference(tree: MergedTree, before: str, after: str) -> str:
    try:
        patch = tree.diff(before, after).decode("utf-8", "replace")
    except (Refused, Stumble, Unavailable) as problem:  # not here any more, or too large
        return f"({problem})"
    return "".join(part for part in OF_A_FILE.split(patch) if not usually_holds_keys(_path(part)))


def _path(part: str) -> str:
    """The path of one file's part of a patch."""
    return re.split(r' "?b/', part.partition("\n")[0])[-1].rstrip('"')


def _files(work: GoalWork, tree: MergedTree, commit: str, patch: str) -> str:
    """The files that the goal and its tasks name, the product's and small ones first; none can speak as another one.

    Long ones by the parts that the words or the changes are about; one that is new stands in the changes.
    """
    there = {entry.path for entry in tree.tree(commit) if not usually_holds_keys(entry.path)}
    said = "\n".join((work.goal.title, *work.goal.details))
    named = [*NAMED.findall(said), *(path for task in work.tasks for path in (*task.files, *task.context))]
    texts = {path: _text(tree, commit, path) for path in dict.fromkeys(named) if path in there}
    words = "\n".join((said, *map(_task, work.tasks), *changed_lines(patch)))
    shown, room = [], MAX_FILES
    for path, text in sorted(texts.items(), key=lambda one: (is_test_file(one[0]), len(one[1]), one[0])):
        part = view(path, text, words, LARGEST_FILE, LARGEST_FILE) or text
        part = _cut(part, min(2 * LARGEST_FILE, room))
        shown.append(f"{path} ({len(lines_of(text))} lines):\n{quoted(part, 'file')}")
        room -= len(part)
        if room <= 0:
            break
    return "\n\n".join(shown)


def _text(tree: MergedTree, commit: str, path: str) -> str:
    try:
        return (tree.read(commit, path) or b"").decode("utf-8", "replace")
    except Refused as problem:
        return f"({problem})"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}\n(cut: {len(text) - room} more characters)"
