"""The subject of a review: the changed files, before and after, and their Python as the rules see it."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sisimpur.shared.model.change import Change
from sisimpur.shared.model.evidence import Finding, Severity, is_test_file
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.repo.file_parts import Function, parse, span

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
    def _numbers(self) -> tuple[int, ...]:
        return tuple(sorted(self.added))

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
        place = bisect_left(self._numbers, first)
        return next((number for number in self._numbers[place : place + 1] if number <= last), None)

    def finding(self, line: int, severity: Severity, rule: str, text: str) -> Finding:
        """Make a finding of a rule about this line; 0: about the file."""
        quote = self.lines[line - 1].strip()[:LONGEST_QUOTE] if 0 < line <= len(self.lines) else ""
        is_whole = " ".join(quote.split()) == (words := self.words(line))
        rest = "" if is_whole or not quote else sha256_of(words)[:16]
        return Finding(self.path, line, severity, "rule", rule, text, quote, rest)

    def words(self, line: int) -> str:
        """All words of the statements that a line belongs to: of a call over many lines the first says nothing."""
        spans = [span(node) for node in self.tree.statements(line)] if self.tree else []
        first, last = min((one for one, _ in spans), default=line), max((end for _, end in spans), default=line)
        return " ".join(" ".join(self.lines[max(0, first - 1) : last]).split())


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


# --- Python as the rules see it ------------------------------------------------------------------------------

LONGEST = 400_000  # characters of a file that is parsed
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # of statements, in statements
MOST_GIVEN = 50  # values of a name that are looked at


@dataclass(frozen=True, eq=False)
class PythonTree:
    module: ast.Module

    @staticmethod
    def of(text: str) -> PythonTree | None:
        """None: it does not parse, or is too long. Nothing in the text is executed."""
        module = parse(text) if len(text) <= LONGEST else None
        return PythonTree(module) if module else None

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.module))

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Function))

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def _imported(self) -> dict[str, str]:
        """Local name -> what it stands for: `from os import system as s` gives s: os.system."""
        names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names |= {
                    a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                names |= {a.asname or a.name: f"{node.module or ''}.{a.name}" for a in node.names}
        return names

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Nodes that the node stands in, from the inside out."""
        while (found := self._parents.get(node)) is not None:
            yield found
            node = found

    def statements(self, line: int) -> list[ast.AST]:
        """Those that hold the line and begin last: one, or all of `a(); b()` and of `if a: b()`."""
        around: list[ast.AST] = []
        level: list[ast.AST] = [self.module]
        while level := [child for node in level for child in _inside(node, line)]:
            around += level
        last = max((_first(node) for node in around), default=0)
        return [node for node in around if _first(node) == last]

    def names_above(self, line: int) -> tuple[str, ...]:
        """The classes and functions that a line stands in and does not begin, from the outside in."""
        around = (node for node in self.nodes if isinstance(node, Function | ast.ClassDef))
        inside = (node for node in around if span(node)[0] < line <= span(node)[1])
        return tuple(node.name for node in sorted(inside, key=lambda node: node.lineno))

    def function_of(self, node: ast.AST) -> Function | None:
        return next((above for above in self.above(node) if isinstance(above, Function)), None)

    @cached_property
    def _given(self) -> Mapping[tuple[Function | None, str], list[ast.expr]]:
        """(function or module, name) -> the values of its assignments."""
        found: dict[tuple[Function | None, str], list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
                for name in target_names(node):
                    found.setdefault((self.function_of(node), name), []).append(node.value)
        return found

    @cached_property
    def _bound(self) -> Counter[tuple[Function | None, str]]:
        """How often a name is bound, in whatever way."""
        names = [(self.function_of(n), n.id) for n in self.nodes if isinstance(n, ast.Name) and _is_store(n)]
        return Counter([*names, *((self.function_of(n), n.arg) for n in self.nodes if isinstance(n, ast.arg))])

    @cached_property
    def _changed_elsewhere(self) -> frozenset[str]:
        """Names that get values in ways that no assignment shows: imported, matched, caught, global."""
        return frozenset(name for node in self.nodes for name in _bound_otherwise(node))

    def given(self, name: ast.Name) -> list[ast.expr]:
        """All that is assigned to a name where it is used: in its function, or else in the module."""
        here = (self.function_of(name), name.id)
        return self._given.get(here, []) if self._bound[here] else self._given.get((None, name.id), [])

    def is_only_given(self, name: ast.Name) -> bool:
        """Nothing but what is assigned to it: no parameter, no variable of a loop."""
        if name.id in self._changed_elsewhere:
            return False
        given, here = self.given(name), (self.function_of(name), name.id)
        return 0 < len(given) <= MOST_GIVEN and len(given) == (self._bound[here] or self._bound[None, name.id])

    def is_constant_of_module(self, name: ast.Name) -> bool:
        """A name in capitals that no function gives a value to."""
        return name.id.isupper() and name.id not in self._given_in_functions

    @cached_property
    def _given_in_functions(self) -> frozenset[str]:
        arguments = (node.arg for node in self.nodes if isinstance(node, ast.arg))
        return frozenset([*arguments, *(name for function, name in self._bound if function)])

    def dotted(self, node: ast.AST) -> str:
        """`subprocess.run`, whatever it is called in this file; empty: no plain name. getattr with a text is a name."""
        parts: list[str] = []
        while True:
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call) and (name := _got(node)):
                parts.append(name)
                node = node.args[0]
            else:
                break
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self._imported.get(node.id, node.id), *reversed(parts)])

    def called(self, function: ast.expr) -> str:
        """The last part of its name, also of what is called on no plain name."""
        return function.attr if isinstance(function, ast.Attribute) else self.dotted(function).rpartition(".")[2]

    def imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Each imported module, or module and name, with its statement."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node, f"{_module(node)}.{alias.name}") for alias in node.names)


def _module(node: ast.ImportFrom) -> str:
    """Name of a module with the dots of a relative import: `.mock` is not the package mock."""
    return "." * node.level + (node.module or "")


def _inside(node: ast.AST, line: int) -> Iterator[ast.AST]:
    """What holds the line of what stands in it; each body is in the order of its lines."""
    for body in (getattr(node, name, ()) for name in BODIES):
        place = bisect_right(body, line, key=_first)
        while place and _last(body[place - 1]) >= line:
            place -= 1
            yield body[place]


def _first(node: ast.AST) -> int:
    return span(node.pattern if isinstance(node, ast.match_case) else node)[0]


def _last(node: ast.AST) -> int:
    return span(node.body[-1] if isinstance(node, ast.match_case) else node)[1]


def _bound_otherwise(node: ast.AST) -> list[str]:
    match node:
        case ast.Global() | ast.Nonlocal():
            return node.names
        case ast.Import() | ast.ImportFrom():
            return [(one.asname or one.name).partition(".")[0] for one in node.names]
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name] if node.name else []
        case ast.MatchMapping():
            return [node.rest] if node.rest else []
    return []


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _got(call: ast.Call) -> str | None:
    """The attribute that `getattr(thing, "name")` gets."""
    if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
        return text_of(call.args[1])
    return None


def text_of(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def is_constant(node: ast.AST | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def target_names(node: ast.AST) -> list[str]:
    """The plain names that a statement assigns to."""
    single = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []
    targets = node.targets if isinstance(node, ast.Assign) else single
    return [target.id for target in targets if isinstance(target, ast.Name)]
