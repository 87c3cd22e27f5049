"""What our commits say: words in which nothing acts, and below them our trailers. Pure.

A trailer says whose commit it is: git reads trailers in the last paragraph alone, and that one is ours. No line above
it looks like one, whoever wrote it. A commit is read as plain text: what would act is set apart by a blank, and an
address stands without its scheme.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sisimpur.shared.model.naming import VERSION
from sisimpur.shared.model.text import CALLS, acts_nowhere, legible, one_line
from sisimpur.shared.model.work import TaskKind, TaskSpec

LONGEST_SUBJECT = 72  # characters, as git's own tools show it
LONGEST_MESSAGE = 20_000
KEYS = ("Goal", "Task", "Attempt", "Model", "Prompt-Digest", "Team-Version")  # in this order
NAME = re.compile(r"\w+[A-Z]|\w+[._(]\w")  # `README`, `Decimal.quantize`: a capital that is part of it
TRAILER = re.compile(rf"({'|'.join(KEYS)}): (\S.*)")

PREFIXES: Mapping[TaskKind, str] = {
    TaskKind.FIX: "fix",
    TaskKind.FEATURE: "feat",
    TaskKind.BEHAVIOUR: "feat",
    TaskKind.REFACTORING: "refactor",
    TaskKind.REMOVAL: "refactor",
    TaskKind.TESTS: "test",
    TaskKind.DOCS: "docs",
    TaskKind.UPKEEP: "chore",
}
KINDS = (  # words of a title whose kind nobody said, the first that fits; else it is a feature
    ("test", r"\b(tests?|coverage)\b"),
    ("docs", r"\b(docs?|documentation|readme|comments?)\b"),
    ("fix", r"\b(fix|fixes|repair|correct|broken|bug|crash|missing|wrong)\b"),
    ("refactor", r"\b(refactor|remove|duplicated?|clean|simplify|rename|move)\b"),
    ("perf", r"\b(faster|slow|speed|performance)\b"),
)
ACTS = (  # in a commit at a forge
    (re.compile(r"(?<![a-z])[a-z]*(?:https?|ftp):/{2,}(?=[^\s/])", re.IGNORECASE), ""),
    (CALLS, r"\1 "),
    (re.compile(r"\bwww\.(?=\S)", re.IGNORECASE), "www. "),
    (re.compile(r"^---(?=\s|\Z)", re.MULTILINE), "- - -"),  # git takes what comes after it for a patch
)


@dataclass(frozen=True)
class CommitText:
    """`said`: title and reasons, by whomever; `trailers`: ours; `pull`: the pull request that it merges, or 0."""

    said: str
    trailers: Mapping[str, str] = field(default_factory=dict)
    pull: int = 0

    def written(self, clean: Callable[[str], str]) -> str:
        """The whole message. `clean`: the filter for outgoing text."""
        said = inert(clean(self.said)).strip()[:LONGEST_MESSAGE].rstrip()
        subject, end, body = said.partition("\n")
        named = f"{subject} (#{self.pull})" if self.pull else subject
        values = {key: one_line(clean(self.trailers.get(key, ""))) for key in KEYS}
        below = "\n".join(f"{key}: {value}" for key, value in values.items() if value)
        return "\n\n".join(filter(None, (f"{named}{end}{body}", below))) + "\n"


def inert(text: str) -> str:
    """Plain text in which nothing acts, and no line is a trailer. Twice is as good as once."""
    text = legible(text)
    for expression, apart in ACTS:
        text = expression.sub(apart, text)
    return acts_nowhere(text)


def task_text(task: TaskSpec, attempt: int = 0, model: str = "", prompt: str = "") -> CommitText:
    """A conventional commit: `fix: <title>`, and why. `prompt`: what the model was told."""
    words = (kind for kind, found in KINDS if re.search(found, task.title.lower()))
    first = task.title if NAME.match(task.title) else f"{task.title[:1].lower()}{task.title[1:]}"
    subject = f"{PREFIXES.get(task.kind) or next(words, 'feat')}: {first}"
    if len(subject) > LONGEST_SUBJECT:
        subject = subject[: LONGEST_SUBJECT - 1].rsplit(" ", 1)[0] + "…"
    digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16] if prompt else ""
    made_by = {"Model": model, "Prompt-Digest": digest, "Team-Version": VERSION}
    return CommitText(f"{subject}\n\n{task.description}", {**whose(task.goal_id, task.id, attempt), **made_by})


def whose(goal: str, task: str, attempt: int) -> dict[str, str]:
    return {"Goal": goal, "Task": task, "Attempt": str(attempt or "")}


def squashed(commit: str, goal: str, known: Mapping[str, str], pull: int) -> CommitText:
    """The merge of a commit of ours, by what that says. `goal`: its words; `known`: what a trailer does not say."""
    above, _, last = commit.rstrip().rpartition("\n\n")
    lines = [TRAILER.fullmatch(line) for line in last.split("\n")]
    trailers = {found[1]: found[2] for found in lines if found}
    is_ours = above and all(lines) and trailers.get("Task") == known["Task"]
    said = (above if is_ours else commit).strip()
    why = f"{said}\n\nThe goal: {goal}" if goal else said
    return CommitText(why, {**known, **trailers} if is_ours else known, pull)
