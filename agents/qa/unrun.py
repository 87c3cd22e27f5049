"""A change that is to alter nothing -> the lines of it that no test has run, before or after. Pure.

Tests that pass on both sides show that code does what it did only where they run it. What is moved word for word, and
what is taken away and known to nobody, needs no run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agents.qa.expressions import module_of

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Pair:
    """A file before and after (None: not there), and the lines of each that no test ran (None: nobody counted)."""

    before: str | None
    after: str | None
    unrun_before: Collection[int] | None = ()
    unrun_after: Collection[int] | None = ()


def unrun(pairs: Mapping[str, Pair], is_missed: Callable[[str], bool]) -> tuple[str, ...]:
    """`app.py:3` of a line that is there, `app.py:7 (before)` of one that was.

    `is_missed`: whether somebody still knows a name that is defined no more. A file that is deleted was named by the
    task: it is not looked at.
    """
    sides = {path: (_Side(pair.before), _Side(pair.after)) for path, pair in pairs.items()}
    known = [frozenset(made for pair in sides.values() for made in pair[number].made) for number in (0, 1)]
    found: list[str] = []
    for path, pair in sorted(pairs.items()):
        if pair.after is None:
            continue
        before, after = sides[path]
        gone, come = _changed(before.lines, after.lines)
        found += [f"{path}:{line}" for line in after.unrun(come, pair.unrun_after, known[0])]
        found += [
            f"{path}:{line} (before)" for line in before.unrun(gone, pair.unrun_before, known[1], after, is_missed)
        ]
    return tuple(found)


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[list[int], list[int]]:
    """Numbers, from 1, of the lines that only one of them has."""
    blocks = [
        block for block in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if block[0] != "equal"
    ]
    gone = [number + 1 for _, start, end, _, _ in blocks for number in range(start, end)]
    return gone, [number + 1 for _, _, _, start, end in blocks for number in range(start, end)]


class _Side:
    """A file at one time. What is no Python has lines and nothing else."""

    def __init__(self, text: str | None) -> None:
        self.lines = (text or "").split("\n")
        tree = module_of(text or "")
        self._statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.ExceptHandler)]
        self._definitions = [node for node in self._statements if isinstance(node, Definition)]
        self._outer = [node for node in tree.body if isinstance(node, Definition)]
        self.names = frozenset(node.name for node in self._definitions)
        self.made = frozenset(map(ast.dump, self._definitions))

    def unrun(
        self,
        lines: Sequence[int],
        missing: Collection[int] | None,
        elsewhere: Collection[str],
        other: _Side | None = None,
        is_missed: Callable[[str], bool] = bool,
    ) -> list[int]:
        """Of `lines` the first ones of statements that were not run, each once. `elsewhere`: what stands there too.

        Where nobody counted (None) nothing is known to have been run.
        """
        excused = set(self._excused(elsewhere, other, is_missed))
        looked_at = [line for line in lines if line not in excused and (missing is not None or self._is_code(line))]
        firsts = dict.fromkeys(map(self._first, looked_at))
        return [line for line in firsts if missing is None or line in set(missing)]

    def _is_code(self, line: int) -> bool:
        text = self.lines[line - 1].strip()
        return bool(text) and not text.startswith("#")

    def _first(self, line: int) -> int:
        """Of the innermost statement that this line belongs to: coverage is counted there."""
        around = [node for node in self._statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return max((node.lineno for node in around), default=line)

    def _excused(
        self, elsewhere: Collection[str], other: _Side | None, is_missed: Callable[[str], bool]
    ) -> Iterator[int]:
        """Lines of definitions that stand on the other side as they are, or that nobody knows any more."""
        for node in self._definitions:
            is_dead = other and node in self._outer and node.name not in other.names and not node.decorator_list
            if ast.dump(node) in elsewhere or (is_dead and not is_missed(node.name)):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
