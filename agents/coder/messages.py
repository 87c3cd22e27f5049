"""TaskSpec -> what the engine is told, and what the commit says. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shared.model.change import Change
from shared.model.scope import Scope
from shared.model.work import Correction, TaskSpec

LONGEST_SUBJECT = 72  # characters, as git's own tools show it
KINDS = (
    ("test", r"\b(tests?|coverage)\b"),
    ("docs", r"\b(docs?|documentation|readme|comments?)\b"),
    ("fix", r"\b(fix|fixes|repair|correct|broken|bug|crash|missing|wrong)\b"),
    ("refactor", r"\b(refactor|remove|duplicated?|clean|simplify|rename|move)\b"),
    ("perf", r"\b(faster|slow|speed|performance)\b"),
)


def holes(task: TaskSpec) -> dict[str, str]:
    """For the prompt coder/task."""
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "acceptance": "\n".join(f"- {line}" for line in task.acceptance) or "- the description is met",
        "files": _list(task.files),
        "new_files": _list(task.new_files),
        "context": _list(task.context),
    }


def scope_of(task: TaskSpec, allow: Sequence[str], before: Sequence[Change], correction: Correction | None) -> Scope:
    """What the commit may change against its base: what the task names, and what an earlier attempt was allowed."""
    tests = correction.tests if correction else None
    files, new_files = (
        [*task.files, *(tests.files if tests else ())],
        [*task.new_files, *(tests.new_files if tests else ())],
    )
    files += [change.path for change in before if change.kind != "added"]
    new_files += [change.path for change in before if change.kind == "added"]
    return Scope(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(new_files)), tuple(allow), task.guards)


def commit_message(task: TaskSpec) -> str:
    """A conventional commit: `fix: <title>`, the description, and the task that it belongs to."""
    kind = next((kind for kind, words in KINDS if re.search(words, task.title.lower())), "feat")
    subject = f"{kind}: {task.title[:1].lower()}{task.title[1:]}"
    if len(subject) > LONGEST_SUBJECT:
        subject = subject[: LONGEST_SUBJECT - 1].rsplit(" ", 1)[0] + "…"
    return f"{subject}\n\n{task.description}\n\nTask: {task.id}\n"


def _list(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "none"
