"""A change that is to alter nothing -> the lines of it that no test has run, before or after. Pure.

Tests that pass on both sides show that code does what it did only where they run it: the head of a definition runs by
import alone, so it counts as run with its body. What is moved word for word, and what is taken away and known to
nobody, needs no run.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from sisimpur.agents.qa.analysis.equivalence import head, is_foreign
from sisimpur.agents.qa.analysis.expressions import last_name, module_of
from sisimpur.shared.model.text import ranges
from sisimpur.shared.repo.file_parts import dumped

PLAIN = ("property", "staticmethod", "classmethod", "cached_property")  # decorators that tell nobody of a method
Known = tuple[str, str]  # a definition: its name and text


@dataclass(frozen=True)
class Pair:
    """A file before and after (None: not there), and the lines of each that no test ran (None: nobody counted)."""

    before: str | None
    after: str | None
    unrun_before: Collection[int] | None = ()
    unrun_after: Collection[int] | None = ()


def unrun(
    pairs: Mapping[str, Pair],
    is_missed: Callable[[str], bool],
    is_hook: Callable[[str], bool] = lambda _: True,
    is_made: Callable[[str], bool] = lambda _: False,
) -> tuple[str, ...]:
    """`app.py:3` of a line that is there, `app.py:7 (before)` of one that was.

    `is_missed`: whether somebody still knows a name that is defined no more; `is_hook`: whether a package that is
    installed knows it, and so may call a method of this name; `is_made`: whether a test makes one of the class of this
    name. A file that is deleted was named by the task: it is not looked at.
    """
    sides = {path: (_Side(pair.before), _Side(pair.after)) for path, pair in pairs.items()}
    gone = Counter(one for before, after in sides.values() for one in before.without(after))
    come = Counter(one for before, after in sides.values() for one in after.without(before))
    moved = {one for one in come if come[one] <= gone[one]}
    found: list[str] = []
    for path, pair in sorted(pairs.items()):
        if pair.after is None:
            continue
        before, after = sides[path]
        old, new = _changed(before.lines, after.lines)
        if is_foreign(pair.after) or (pair.before is not None and head(pair.before) != head(pair.after)):
            found += [f"{path}:{line}" for line in new]
            continue
        kept = after.kept(before, moved) | after.made(is_made)
        found += [f"{path}:{line}" for line in after.unrun(new, pair.unrun_after, kept, before)]
        excused = before.kept(after, come.keys()) | before.dead(after, is_missed, is_hook) | before.made(is_made)
        found += [f"{path}:{line} (before)" for line in before.unrun(old, pair.unrun_before, excused)]
    return tuple(found)


def in_ranges(lines: Iterable[str]) -> str:
    """All of them: `app.py:3-9, 12; app.py:7 (before)`."""
    found: dict[tuple[str, str], list[int]] = {}
    for one in lines:
        path, _, rest = one.rpartition(":")
        number, _, side = rest.partition(" ")
        found.setdefault((path, side and f" {side}"), []).append(int(number))
    return "; ".join(f"{path}:{ranges(numbers)}{side}" for (path, side), numbers in found.items())


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
        self._standing = Definitions(tree)
        self._at_import = set(_lambdas_at_import(tree))
        self.names = frozenset(node.name for node in self._definitions)

    # --- what needs no run -----------------------------------------------------------------------------------

    def without(self, other: _Side) -> Iterator[Known]:
        """Definitions on the outermost level here whose name is not defined there."""
        for place, nodes in self._standing.by_place.items():
            if "." not in place and place not in other.names:
                yield from [(place, self._standing.text(place))] * len(nodes)

    def kept(self, other: _Side, moved: Collection[Known]) -> set[int]:
        """Lines of definitions that stand there as they are, in the same class; or in another file now."""
        away = set(self.without(other)).intersection(moved)
        return {
            line
            for place, nodes in self._standing.by_place.items()
            if self._standing.text(place) == other._standing.text(place) or (place, self._standing.text(place)) in away
            for node in nodes
            for line in all_lines(node)
        }

    def dead(self, other: _Side, is_missed: Callable[[str], bool], is_hook: Callable[[str], bool]) -> set[int]:
        """Lines of what is there no more, and nobody knows; of methods, neither does a package that might call them."""
        gone = [node for node in self._outer if node.name not in other.names and not node.decorator_list]
        gone += [
            node
            for place, nodes in self._standing.by_place.items()
            for node in nodes
            if "." in place and place.rpartition(".")[0] in other._standing.by_place and node.name not in other.names
            if all(isinstance(one, ast.Name) and one.id in PLAIN for one in node.decorator_list)
            if not is_missed(node.name) and not is_hook(node.name)
        ]
        return {line for node in gone if not is_missed(node.name) for line in all_lines(node)}

    def made(self, is_made: Callable[[str], bool]) -> set[int]:
        """Heads of classes without methods, of which a test makes one, or one of a class below it: no line tells it."""
        found, heads = set[str](), set[int]()
        classes = [node for node in self._definitions if isinstance(node, ast.ClassDef)]
        for node in sorted(classes, key=lambda node: -node.lineno):  # a class stands below those that it is made from
            if node.name in found or is_made(node.name):
                found.update((node.name, *map(last_name, node.bases)))
                is_told = _is_on_one_line(node, self.lines) or any(real_body(node, self.lines))
                heads.update(() if is_told else headline(node, self.lines))
        return heads

    # --- what was run ----------------------------------------------------------------------------------------

    def unrun(
        self, lines: Sequence[int], missing: Collection[int] | None, excused: Collection[int], old: _Side | None = None
    ) -> list[int]:
        """First lines of the statements in `lines` that were not run, each once. `old`: this file before, if it is new.

        Where nobody counted (None) nothing is known to have been run.
        """
        looked_at = [line for line in lines if line not in excused]
        if missing is None:
            return list(dict.fromkeys(self._first(line) for line in looked_at if is_code(self.lines[line - 1])))
        heads = {line: node for line in looked_at if (node := self._headed(line, old))}
        bare = [line for line in looked_at if line not in heads]
        found = {self._first(line) for line in bare if self._first(line) in missing or line in self._at_import}
        idle = {node.lineno: node for node in heads.values() if set(missing).issuperset(self._shows_use(node))}
        found |= {line for line, node in idle.items() if found.isdisjoint(all_lines(node))}
        return sorted(found)

    def _headed(self, line: int, old: _Side | None) -> Definition | None:
        """The innermost definition whose head this line belongs to. A new class without methods is run by import."""
        around = [node for node in self._definitions if line in headline(node, self.lines)]
        node = max(around, key=first_line, default=None)
        is_new = old is not None and isinstance(node, ast.ClassDef) and not old.knows(node.name)
        return None if node is None or (is_new and not any(real_body(node, self.lines))) else node

    def _shows_use(self, node: Definition) -> set[int]:
        """The lines whose run shows that it was used; of a class without methods, those of this file that make one."""
        own = set(real_body(node, self.lines))
        if own or not isinstance(node, ast.ClassDef):
            return own
        functions = (one for one in self._definitions if not isinstance(one, ast.ClassDef))
        made = (one for function in functions for one in ast.walk(function) if isinstance(one, ast.Call))
        return {self._first(one.lineno) for one in made if last_name(one.func) == node.name}

    def knows(self, name: str) -> bool:
        return re.search(rf"\b{name}\b", "\n".join(self.lines)) is not None

    def _first(self, line: int) -> int:
        """First line of the innermost statement that this line belongs to: coverage is counted there."""
        around = [node for node in self._statements if line in all_lines(node)]
        return max((node.lineno for node in around), default=line)


def _lambdas_at_import(tree: ast.AST) -> Iterator[int]:
    """The lines of those that no function makes: to be counted they need not be called."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Lambda):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _lambdas_at_import(node)


# --- definitions and their lines -----------------------------------------------------------------------------

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Definitions:
    """Each definition that a module or class body has under this name, if whatever has the name is the same there."""

    def __init__(self, module: ast.Module) -> None:
        self.by_place: dict[str, list[Definition]] = {}
        self._texts: dict[str, str] = {}
        self._read(module.body, "")

    def text(self, place: str) -> str:
        """`Shop.check` -> its definition; empty: there is none, or not only one."""
        return self._texts.get(place, "")

    def _read(self, body: Sequence[ast.stmt], owner: str) -> None:
        made = [node for node in body if isinstance(node, Definition)]
        otherwise = {name for node in body if not isinstance(node, Definition) for name in _bound(node)}
        often = Counter(node.name for node in made)
        for name in often.keys() - otherwise:
            mine = [node for node in made if node.name == name]
            texts = set(map(dumped, mine))
            if len(texts) == 1 and all(texts):
                self.by_place[owner + name] = mine
                self._texts[owner + name] = texts.pop()
        for node in made:
            if isinstance(node, ast.ClassDef) and often[node.name] == 1 and node.name not in otherwise:
                self._read(node.body, f"{owner}{node.name}.")


def _bound(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    """Decorators included."""
    marks = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(mark.lineno for mark in marks)])


def all_lines(node: ast.stmt | ast.ExceptHandler) -> range:
    return range(first_line(node), (node.end_lineno or node.lineno) + 1)


def headline(node: Definition, lines: Sequence[str]) -> Sequence[int]:
    """The lines that are run where it is defined, not where it is used; with its body if that begins on one of them."""
    if _is_on_one_line(node, lines):
        return all_lines(node)
    parts = [part for one in ast.iter_child_nodes(node) if one not in node.body for part in ast.walk(one)]
    last = max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])
    between = range(last + 1, first_line(node.body[0]))
    return [*range(first_line(node), last + 1), *(line for line in between if is_code(lines[line - 1]))]


def real_body(node: Definition, lines: Sequence[str]) -> Iterator[int]:
    """The lines whose run shows that it was used: of a class, those of its methods."""
    if _is_on_one_line(node, lines):
        return
    for one in node.body:
        if not isinstance(node, ast.ClassDef):
            yield from () if _is_silent(one) else (one.lineno,)
        elif isinstance(one, Definition):
            yield from real_body(one, lines)


def is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#")


def _is_on_one_line(node: Definition, lines: Sequence[str]) -> bool:
    first = node.body[0]
    if isinstance(first, Definition):
        return False
    return bool(lines[first.lineno - 1].encode()[: first.col_offset].strip())


def _is_silent(node: ast.stmt) -> bool:
    """Say whether coverage never counts it as run: a docstring, `...`, a declaration."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, ast.Global | ast.Nonlocal)
