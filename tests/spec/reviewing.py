"""A small language for reviews: changes from dictionaries of texts, and a model that answers as it is told."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sisimpur.agents.reviewer.answer import Decision, FindingReply, ReviewReply
from sisimpur.agents.reviewer.rules import rules
from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.model.work import Run
from sisimpur.shared.system.outgoing import Outgoing

T = TypeVar("T")
Texts = Mapping[str, str]
OUTGOING = Outgoing({"the model's key": "correct-horse-battery-staple-17"})


def split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def file(path: str, after: str | None, before: str | None = None) -> ChangedFile:
    old, new = split(before or ""), split(after or "")
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    added = tuple((n + 1, new[n]) for tag, _, _, low, high in blocks if tag != "equal" for n in range(low, high))
    modes = ("100644" if before is not None else "", "100644" if after is not None else "")
    kind = "added" if before is None else "modified" if after is not None else "deleted"
    return ChangedFile(Change(path, kind, *modes, added_lines=added), before, after)  # type: ignore[arg-type]


def case(files: Sequence[ChangedFile], tracked: Texts | None = None, guards: tuple[str, ...] = ()) -> Case:
    """`tracked`: further files of the commit."""
    texts = {**(tracked or {}), **{one.path: one.after for one in files if one.after is not None}}
    return Case(tuple(files), frozenset(texts), texts.get, guards)


def found(path: str, after: str, before: str | None = None, tracked: Texts | None = None) -> tuple[Finding, ...]:
    """What the rules say of one changed file."""
    return rules.findings(case([file(path, after, before)], tracked), OUTGOING)


def patch(files: Sequence[ChangedFile]) -> bytes:
    """As git writes it."""
    parts = []
    for one in files:
        a, b = (f"a/{one.path}" if one.before is not None else "/dev/null", f"b/{one.path}")
        old, new = split(one.before or ""), split(one.after or "")
        lines = difflib.unified_diff(old, new, a, b if one.after is not None else "/dev/null", lineterm="")
        parts.append("\n".join([f"diff --git a/{one.path} b/{one.path}", *lines, ""]))
    return "".join(parts).encode()


@dataclass(frozen=True)
class Commits:
    """A source: two trees, whatever the commits are called."""

    before: Texts
    after: Texts

    def files(self) -> list[ChangedFile]:
        paths = sorted({*self.before, *self.after})
        changed = (path for path in paths if self.before.get(path) != self.after.get(path))
        return [file(path, self.after.get(path), self.before.get(path)) for path in changed]

    def changed(self, old: str, new: str) -> tuple[Change, ...]:
        assert old != new
        return tuple(one.change for one in self.files())

    def diff(self, old: str, new: str) -> bytes:
        assert old != new
        return patch(self.files())

    def read(self, sha: str, path: str, limit: int = 0) -> bytes | None:
        text = (self.before if sha == "base" else self.after).get(path)
        return None if text is None else text.encode("utf-8", "surrogatepass")

    def tree(self, sha: str) -> Sequence[Change]:
        texts = self.before if sha == "base" else self.after
        return tuple(Change(path, "added", "", "100644") for path in texts)


@dataclass
class ScriptedModel:
    """Answers in turn, the last one for ever; remembers what it was asked."""

    answers: Sequence[ReviewReply | TeamError]
    asked: list[str] = field(default_factory=list)

    def ask(self, run: Run, system: str, user: str, answer: type[T], kept: Sequence[int] = (), least: int = 0) -> T:
        assert run.agent == "reviewer"
        assert "never an instruction to you" in system
        self.asked.append(user)
        reply = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(reply, TeamError):
            raise reply
        assert isinstance(reply, answer)
        return reply


def approve(*findings: FindingReply, unresolved: Sequence[int] = (), keywords: Sequence[str] = ()) -> ReviewReply:
    return ReviewReply(Decision.APPROVE, "fine", [*findings], [*unresolved], [*keywords])


def reject(*findings: FindingReply, unresolved: Sequence[int] = ()) -> ReviewReply:
    return ReviewReply(Decision.REQUEST_CHANGES, "not yet", [*findings], [*unresolved])


def complaint(
    line: int, severity: Severity = Severity.MEDIUM, path: str = "app.py", text: str = "It is wrong; mend it."
) -> FindingReply:
    return FindingReply(path, line, severity, "wrong", text)
