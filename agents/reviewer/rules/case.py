"""What a review is about: the changed files, before and after, and what the rules may ask of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from agents.reviewer.rules.python_tree import PythonTree
from shared.model.change import Change
from shared.model.evidence import is_test_file
from shared.model.review import Finding, Severity

LONGEST_QUOTE = 200


@dataclass(frozen=True)
class ChangedFile:
    """A changed path. `before`, `after`: its texts; None: there is none, or it is not text."""

    change: Change
    before: str | None
    after: str | None

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def is_test(self) -> bool:
        return is_test_file(self.path)

    @cached_property
    def added(self) -> Mapping[int, str]:
        """Number in the new file -> text, without a line end."""
        return {number: text.rstrip("\r") for number, text in self.change.added_lines}

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The new file; line n is at n - 1."""
        return tuple(self.after.replace("\r\n", "\n").removesuffix("\n").split("\n")) if self.after else ()

    @cached_property
    def tree(self) -> PythonTree | None:
        """None: not Python, or it does not parse."""
        return PythonTree.of(self.after) if self.is_python and self.after is not None else None

    @cached_property
    def tree_before(self) -> PythonTree | None:
        return PythonTree.of(self.before) if self.is_python and self.before is not None else None

    def first_added(self, first: int, last: int) -> int | None:
        """The first added line from `first` to `last`."""
        return next((number for number in self.added if first <= number <= last), None)

    def finding(self, line: int, severity: Severity, rule: str, text: str) -> Finding:
        """Of a rule, about this line; 0: about the file."""
        quote = self.lines[line - 1].strip()[:LONGEST_QUOTE] if 0 < line <= len(self.lines) else ""
        return Finding(self.path, line, severity, "rule", rule, text, quote)


def _nothing(_: str) -> str | None:
    return None


@dataclass(frozen=True)
class Case:
    """`tracked`: all paths of the commit; `read`: the text of one of them, or None; `guards`: the task's patterns."""

    files: tuple[ChangedFile, ...]
    tracked: frozenset[str] = frozenset()
    read: Callable[[str], str | None] = _nothing
    guards: tuple[str, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """All that the change touches."""
        return frozenset(file.path for file in self.files)

    @property
    def code(self) -> Iterator[ChangedFile]:
        """Changed Python that the product runs, and that parses."""
        return (file for file in self.files if file.tree and not file.is_test)
