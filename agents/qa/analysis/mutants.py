"""Changed lines -> copies of their file with one planted fault each: good tests notice. Pure."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.qa.analysis.expressions import Function, last_name
from sisimpur.shared.model.evidence import Problem

MOST = 12
LEAST_KILLED = 0.6  # of the planted faults
LONGEST = 400_000  # characters of a file
TALK = ("print", "debug", "info", "warning", "error", "exception", "log")  # nobody tests what is said to a log

OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="),
    ast.LtE: ("<=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
SWAPPED: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*"}


@dataclass(frozen=True)
class Mutant:
    """`source`: the whole file, with the fault."""

    path: str
    line: int
    what: str
    source: bytes

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.what}"


@dataclass(frozen=True)
class _Edit:
    """Replacement of the text of a node in a file."""

    node: ast.expr | ast.stmt
    text: str
    what: str
    path: str = ""
    file: str = ""


def mutants(files: Sequence[tuple[str, str, Collection[int]]], most: int = MOST) -> tuple[Mutant, ...]:
    """Return at most `most`, always the same ones, spread over the lines. `files`: (path, text, changed lines)."""
    by_line: dict[tuple[str, int], list[_Edit]] = {}
    for path, text, lines in files:
        for edit in _of_file(path, text, frozenset(lines)):
            by_line.setdefault((path, edit.node.lineno), []).append(edit)
    rows = [by_line[place] for place in sorted(by_line)]
    rounds = ([row[number] for row in rows if number < len(row)] for number in range(max(map(len, rows), default=0)))
    chosen = [edit for one in rounds for edit in _spread(one, most)][:most]
    return tuple(mutant for edit in chosen if (mutant := _planted(edit)))


def _spread(found: list[_Edit], most: int) -> list[_Edit]:
    """Choose from the first to the last, in even steps."""
    if len(found) <= most:
        return found
    return [found[number * len(found) // most] for number in range(most)]


def _of_file(path: str, text: str, lines: frozenset[int]) -> list[_Edit]:
    if len(text) > LONGEST or text.startswith("\ufeff") or "\r" in text.replace("\r\n", ""):
        return []  # its lines are counted in another way
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            edits = _edits(ast.parse(text))
            return [replace(edit, path=path, file=text) for edit in edits if edit.node.lineno in lines]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _planted(edit: _Edit) -> Mutant | None:
    """None: what came out is no Python."""
    rows, node = edit.file.encode().split(b"\n"), edit.node
    assert node.end_lineno and node.end_col_offset is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    middle = rows[first][: node.col_offset] + edit.text.encode() + rows[last][node.end_col_offset :]
    source = b"\n".join([*rows[:first], *middle.split(b"\n"), *rows[last + 1 :]])
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    return Mutant(edit.path, node.lineno, edit.what, source)


def unnoticed(survivors: Sequence[str], planted: int) -> Problem | None:
    """Tests that a machine wrote have to notice most of the faults that were planted in the lines they are about."""
    killed = planted - len(survivors)
    if not planted or killed >= LEAST_KILLED * planted:
        return None
    text = f"the written tests notice {killed} of {planted} planted faults; not noticed: {'; '.join(survivors)}"
    return Problem("the written tests do not notice faults", text, "correct")


# --- faults --------------------------------------------------------------------------------------------------


def _edits(module: ast.Module) -> Iterator[_Edit]:
    for node, owner in _with_owners(module):
        match node:
            case ast.Compare(ops=[op], comparators=[right]):
                sign, opposite = OPPOSITES[type(op)]
                yield _Edit(node, f"({_text(node.left)} {opposite} {_text(right)})", f"{sign} became {opposite}")
            case ast.BinOp(op=operator) if type(operator) in SWAPPED:
                sign = SWAPPED[type(operator)]
                yield _Edit(node, f"({_text(node.left)} {sign} {_text(node.right)})", f"arithmetic became {sign}")
            case ast.BoolOp():
                sign = "or" if isinstance(node.op, ast.And) else "and"
                yield _Edit(node, f"({f' {sign} '.join(map(_text, node.values))})", f"became {sign}")
            case ast.UnaryOp(op=ast.Not()):
                yield _Edit(node, f"bool({_text(node.operand)})", "not was dropped")
            case ast.Constant() if not isinstance(owner, ast.Expr | ast.JoinedStr | ast.FormattedValue):
                yield from _other_constant(node)
            case ast.Return(value=value) if value is not None and not _is_none(value):
                yield _Edit(node, "return None", "returns None")
            case ast.Expr(value=ast.Call(func=function)) if last_name(function) not in TALK:
                yield _Edit(node, "pass", "a call was dropped")


def _with_owners(module: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each node with the one around it, in the order of the text; nobody tests annotations and messages."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(module, module)]
    while waiting:
        node, owner = waiting.pop()
        yield node, owner
        inner = [child for child in ast.iter_child_nodes(node) if not _is_left_alone(child, node)]
        waiting.extend((child, node) for child in reversed(inner))


def _is_left_alone(child: ast.AST, owner: ast.AST) -> bool:
    if isinstance(owner, Function | ast.ClassDef):
        return child in owner.decorator_list or child is getattr(owner, "returns", None)
    if isinstance(owner, ast.arg | ast.AnnAssign):
        return child is owner.annotation
    return isinstance(owner, ast.Raise) or (isinstance(owner, ast.Assert) and child is owner.msg)


def _other_constant(node: ast.Constant) -> Iterator[_Edit]:
    value = node.value
    if isinstance(value, bool):
        yield _Edit(node, str(not value), f"{value} became {not value}")
    elif isinstance(value, int | float):
        other = 1 if value == 0 else 0
        yield _Edit(node, str(other), f"{value!r:.20} became {other}")
    elif isinstance(value, str) and value:
        yield _Edit(node, '""', "a text became empty")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
