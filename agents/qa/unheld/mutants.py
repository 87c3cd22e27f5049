"""Changed lines -> copies of their file with one planted fault each: good tests notice. Pure."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from sisimpur.agents.qa.analysis.expressions import Function, last_name, module_of
from sisimpur.shared.model.evidence import EDGE, Problem
from sisimpur.shared.model.text import few

MOST = 12
LEAST_KILLED = 0.6  # of the planted faults
LONGEST = 400_000  # characters of a file
MOST_TOLD, MOST_NAMED = 5, 3  # lines that no test holds; files of tests
TALK = ("print", "debug", "info", "warning", "error", "exception", "log")  # nobody tests what is said to a log

OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {  # operator -> its sign, and the sign that takes its place
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
NEIGHBOURS: dict[type[ast.cmpop], tuple[str, str]] = {
    **OPPOSITES,
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
SWAPPED: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*"}


@dataclass(frozen=True)
class Mutant:
    """`source`: the whole file, with the fault. `is_edge`: wrong only where both sides of a comparison
    are equal, or where a parameter is left out.
    """

    path: str
    line: int
    what: str
    source: bytes
    is_edge: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.what}"


@dataclass(frozen=True)
class FaultsTried:
    """What tests say of planted faults: how many were tried, and which none noticed.

    `by`: the files of tests that were asked; empty: all. `seconds`: of the runs.
    """

    count: int = 0
    survivors: tuple[Mutant, ...] = ()
    by: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def told(self) -> str:
        """In one line; empty: none was tried."""
        asked = f", as far as {few(self.by, MOST_NAMED)} can tell" if self.by else ""
        killed = self.count - len(self.survivors)
        return f"{killed} of {self.count} small faults in changed lines are noticed{asked}" if self.count else ""

    @property
    def unheld(self) -> tuple[str, ...]:
        """A line for each changed line with a fault that nobody noticed, some of them."""
        return self._lines(self.survivors)

    @property
    def untested_edge(self) -> Problem | None:
        """A limit is tested where a test stands on it, a default where a test leaves the parameter out.

        There another one shows, and nowhere else.
        """
        lines = self._lines([one for one in self.survivors if one.is_edge])
        return Problem(EDGE, "; ".join(lines), "write tests") if lines else None

    def _lines(self, survivors: Iterable[Mutant]) -> tuple[str, ...]:
        who = f"none of {few(self.by, MOST_NAMED)}" if self.by else "no test"
        places: dict[tuple[str, int], list[str]] = {}
        for one in survivors:
            places.setdefault((one.path, one.line), []).append(one.what)
        found = [
            f"{who} notices if line {line} of {path} is another: {', '.join(whats)}"
            for (path, line), whats in sorted(places.items())
        ]
        more = len(found) - MOST_TOLD
        return (*found[:MOST_TOLD], *([f"{more} more changed lines are held by no test"] if more > 0 else []))


@dataclass(frozen=True)
class _Edit:
    """Replacement of the text of a node in a file."""

    node: ast.expr | ast.stmt
    text: str
    what: str
    path: str = ""
    file: str = ""
    is_edge: bool = False
    error: str = ""  # that is caught no longer
    among: frozenset[str] = frozenset()  # errors that are caught with it


def mutants(
    files: Sequence[tuple[str, str, Collection[int]]],
    most: int = MOST,
    are_small: bool = False,
    before: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Mutant, ...]:
    """Return at most `most`, always the same ones, spread over the lines. `files`: (path, text, changed lines).

    `are_small`: the slips that no look at the code catches, such as `<=` for `<`; edges come first, statements last.
    `before`: the texts as they were, by path: an error that was caught there is nothing that the change has to show.
    """
    by_line: dict[tuple[str, int], list[_Edit]] = {}
    for path, text, lines in files:
        found = _of_file(path, text, frozenset(lines), _slips if are_small else _faults)
        then = [frozenset(map(ast.unparse, errors)) for _, errors in _handlers(module_of(before.get(path, "")))]
        edits = [one for one in found if not any(one.error in some and some <= one.among for some in then)]
        for edit in sorted(edits, key=lambda edit: are_small and isinstance(edit.node, ast.stmt)):
            by_line.setdefault((path, edit.node.lineno), []).append(edit)
    rows = [by_line[place] for place in sorted(by_line)]
    rounds = ([row[number] for row in rows if number < len(row)] for number in range(max(map(len, rows), default=0)))
    edges = _spread([edit for row in rows for edit in row if edit.is_edge], most)
    chosen = [*edges, *(edit for one in rounds for edit in _spread(one, most) if not edit.is_edge)][:most]
    return tuple(mutant for edit in chosen if (mutant := _planted(edit)))


def _spread(found: list[_Edit], most: int) -> list[_Edit]:
    """Choose from the first to the last, in even steps."""
    if len(found) <= most:
        return found
    return [found[number * len(found) // most] for number in range(most)]


def _of_file(
    path: str, text: str, lines: frozenset[int], edits_of: Callable[[ast.AST, ast.AST], Iterator[_Edit]]
) -> list[_Edit]:
    if len(text) > LONGEST or text.startswith("\ufeff") or "\r" in text.replace("\r\n", ""):
        return []  # its lines are counted in another way
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            edits = (edit for node, owner in _with_owners(ast.parse(text)) for edit in edits_of(node, owner))
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
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # one bracket more may be one too many
        return None
    return Mutant(edit.path, node.lineno, edit.what, source, edit.is_edge)


def unnoticed(
    planted: Sequence[Mutant],
    missed_by: Callable[[Sequence[Mutant], Collection[str]], Sequence[Mutant]],
    ours: Collection[str],
    others: Collection[str],
) -> Problem | None:
    """Tests that a machine wrote have to notice most of the faults that were planted in the lines they are about.

    `ours`, `others`: files of tests. What the others of the change notice ours need not, if ours notice any.
    """
    survivors = missed_by(planted, ours)
    killed = len(planted) - len(survivors)
    if others and 0 < killed < LEAST_KILLED * len(planted):
        survivors = missed_by(survivors, others)
    if killed >= LEAST_KILLED * (killed + len(survivors)):
        return None
    known = f"{killed} of {killed + len(survivors)} planted faults"
    text = f"the written tests notice {known}; not noticed: {'; '.join(map(str, survivors))}"
    return Problem("the written tests do not notice faults", text, "correct")


# --- faults --------------------------------------------------------------------------------------------------


def _faults(node: ast.AST, owner: ast.AST) -> Iterator[_Edit]:
    """Coarse ones: a test that is about these lines at all notices."""
    match node:
        case ast.Compare():
            yield from _compared(node, OPPOSITES)
        case ast.Constant() if not isinstance(owner, ast.Expr | ast.JoinedStr | ast.FormattedValue):
            yield from _other_constant(node)
        case _:
            yield from _in_common(node)


def _slips(node: ast.AST, owner: ast.AST) -> Iterator[_Edit]:
    """Small ones. Texts are said to people, and count only as the default of a parameter."""
    match node:
        case ast.Compare() if not _picks(node, owner):
            yield from _compared(node, NEIGHBOURS)
        case ast.Constant() if not isinstance(owner, ast.Expr | ast.JoinedStr | ast.FormattedValue):
            yield from _other_value(node, is_default=isinstance(owner, ast.arguments) or _is_option(owner))
        case ast.If(test=test) | ast.IfExp(test=test) if last_name(test) not in ("", "TYPE_CHECKING"):
            yield _Edit(test, f"(not {_text(test)})", "the condition was negated")
        case ast.Raise() | ast.AugAssign() | ast.Delete() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _Edit(node, "pass", "the statement was dropped")
        case ast.Slice(upper=ast.Name() | ast.Attribute() | ast.BinOp() | ast.Call() as limit):
            yield _Edit(limit, f"({_text(limit)} + 1)", f":{ast.unparse(limit):.20} became one more", is_edge=True)
        case ast.ExceptHandler(type=ast.Tuple()) | ast.Call(args=[_, _, *_]) if caught := _errors(node):
            yield from _caught(*caught)
        case _:
            yield from _in_common(node)


def _errors(node: ast.AST) -> tuple[ast.expr, Sequence[ast.expr]] | None:
    """What names the errors that are passed over, and these; None: it passes over none."""
    match node:
        case ast.ExceptHandler(type=ast.Tuple(elts=errors) as named):
            return named, errors
        case ast.ExceptHandler(type=ast.expr() as named):
            return named, [named]
        case ast.Call(args=errors) if last_name(node) == "suppress":
            return node, errors
    return None


def _handlers(module: ast.Module) -> Iterator[tuple[ast.expr, Sequence[ast.expr]]]:
    return filter(None, map(_errors, ast.walk(module)))


def _caught(node: ast.expr, errors: Sequence[ast.expr]) -> Iterator[_Edit]:
    """One error less that is passed over: a test that raises it notices."""
    called, among = ast.unparse(node.func) if isinstance(node, ast.Call) else "", [*map(ast.unparse, errors)]
    for one in among:
        rest = "".join(f"{other}, " for other in among if other != one)
        what = f"{one} was passed on"
        yield _Edit(node, f"{called}({rest})", what, is_edge=True, error=one, among=frozenset(among))


def _is_option(owner: ast.AST) -> bool:
    """`default=` of an option or of a field."""
    return isinstance(owner, ast.keyword) and owner.arg == "default"


def _other_value(node: ast.Constant, is_default: bool) -> Iterator[_Edit]:
    value = node.value
    if type(value) is int:
        yield _Edit(node, str(value + 1), f"{value!r:.20} became {value + 1!r:.20}", is_edge=is_default)
    elif is_default or not isinstance(value, str):
        yield from (replace(edit, is_edge=is_default) for edit in _other_constant(node))


def _in_common(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.BinOp(op=operator) if type(operator) in SWAPPED:
            sign = SWAPPED[type(operator)]
            yield _Edit(node, f"({_text(node.left)} {sign} {_text(node.right)})", f"arithmetic became {sign}")
        case ast.BoolOp():
            sign = "or" if isinstance(node.op, ast.And) else "and"
            yield _Edit(node, f"({f' {sign} '.join(map(_text, node.values))})", f"became {sign}")
        case ast.UnaryOp(op=ast.Not()):
            yield _Edit(node, f"bool({_text(node.operand)})", "not was dropped")
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield _Edit(node, "return None", "returns None")
        case ast.Expr(value=ast.Call(func=function)) if last_name(function) not in TALK:
            yield _Edit(node, "pass", "a call was dropped")


def _compared(node: ast.Compare, signs: Mapping[type[ast.cmpop], tuple[str, str]]) -> Iterator[_Edit]:
    """One for each operator of a chain."""
    for place, op in enumerate(node.ops):
        said = [OPPOSITES[type(one)][0] for one in node.ops]
        sign, said[place] = signs[type(op)]
        rest = "".join(f" {one} {_text(right)}" for one, right in zip(said, node.comparators, strict=True))
        is_edge = signs is NEIGHBOURS and isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        yield _Edit(node, f"({_text(node.left)}{rest})", f"{sign} became {said[place]}", is_edge=is_edge)


def _picks(node: ast.Compare, owner: ast.AST) -> bool:
    """`a if a > b else b`, `if a > b: a = b`: where both are equal it does not matter which is taken."""
    match owner:
        case ast.IfExp(body=one, orelse=other) | ast.If(body=[ast.Assign(targets=[one], value=other)], orelse=[]):
            return {*map(ast.unparse, (one, other))} == {*map(ast.unparse, (node.left, *node.comparators))}
    return False


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
