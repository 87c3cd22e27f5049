"""A Python file as the rules see it: its nodes, what its names stand for, and what surrounds a node."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

LONGEST = 400_000  # characters of a file that is parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class PythonTree:
    module: ast.Module

    @staticmethod
    def of(text: str) -> PythonTree | None:
        """None: it does not parse, or is too long. Nothing in the text is executed."""
        if len(text) > LONGEST:
            return None
        try:
            with warnings.catch_warnings():  # the file's bad escapes are its own affair
                warnings.simplefilter("ignore")
                return PythonTree(ast.parse(text.removeprefix("\ufeff")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

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
        """What the node stands in, from the inside out."""
        while (found := self._parents.get(node)) is not None:
            yield found
            node = found

    def names_above(self, line: int) -> tuple[str, ...]:
        """The classes and functions that a line stands in and does not begin, from the outside in."""
        around = (node for node in self.nodes if isinstance(node, Function | ast.ClassDef))
        inside = (node for node in around if span(node)[0] < line <= span(node)[1])
        return tuple(node.name for node in sorted(inside, key=lambda node: node.lineno))

    def function_of(self, node: ast.AST) -> Function | None:
        return next((above for above in self.above(node) if isinstance(above, Function)), None)

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

    def imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Each imported module, or module and name, with its statement."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node, f"{_module(node)}.{alias.name}") for alias in node.names)


def _module(node: ast.ImportFrom) -> str:
    """With the dots of a relative import: `.mock` is not the package mock."""
    return "." * node.level + (node.module or "")


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
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def span(node: ast.AST) -> tuple[int, int]:
    """First and last line, decorators included."""
    first = int(getattr(node, "lineno", 0))
    decorators = getattr(node, "decorator_list", [])
    return min([first, *(one.lineno for one in decorators)]), int(getattr(node, "end_lineno", None) or first)
