"""A changed file before and after -> functions that can be called on both sides, and its text with these kept. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.expressions import Function, last_name, parsed

KEEPER = "_sisimpur_calls"  # the name of our module in the file
LEFT_ALONE = (  # what makes an object, what keeping a call needs itself, and decorators of what has another's name
    *("__init__", "__new__", "__del__", "__init_subclass__", "__class_getitem__", "__set_name__", "__hash__"),
    *("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__enter__", "__exit__"),
    *("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__"),
    *("setter", "deleter", "overload"),
)
MAKES = ("__init__", "__new__", "__post_init__", "__getstate__", "__setstate__", "__reduce__")
MOST = 24  # functions of a file


@dataclass(frozen=True)
class Comparable:
    """`texts`: changed files, by path, that keep the calls of their functions. `changed`: functions whose own words are
    others. `remade`: classes whose objects are made of other fields: no object of one commit is one of the other's.
    """

    texts: Mapping[str, bytes]
    changed: frozenset[str] = frozenset()
    remade: frozenset[str] = frozenset()

    @classmethod
    def of(cls, files: Mapping[str, tuple[str, str]]) -> Comparable:
        """`files`: path -> text before (empty: there was none) and after. A file that only adds is left out."""
        texts: dict[str, bytes] = {}
        changed: set[str] = set()
        remade: set[str] = set()
        for path, (before, after) in files.items():
            old, new = parsed(before), parsed(after)
            if old is None or new is None or not before or _only_adds(old, new):
                continue
            both = list(_in_both(old, new))
            others = [one for one in both if one.is_changed]
            text = _keeping(
                after, new, [one.node for one in (*others, *(one for one in both if not one.is_changed))][:MOST]
            )
            if text is not None and both:
                texts[path] = text
                changed |= {one.name for one in others}
                remade |= _remade(old, new)
        return cls(texts, frozenset(changed), frozenset(remade))


@dataclass(frozen=True)
class _Both:
    name: str
    node: Function
    is_changed: bool


def _only_adds(old: ast.Module, new: ast.Module) -> bool:
    """Whether all that stood there still stands there."""
    there = {ast.dump(one) for one in _statements(new.body)}
    return all(ast.dump(one) in there for one in _statements(old.body))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _statements(node.body)
            yield ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list)
        else:
            yield node


def _in_both(old: ast.Module, new: ast.Module) -> Iterator[_Both]:
    """Functions that take the same on both sides. Decorators are no matter: the call of what they wrap is kept."""
    known = dict(_functions(old.body, ""))
    for name, node in _functions(new.body, ""):
        then = known.get(name)
        if then is not None and type(then) is type(node) and _taken(then) == _taken(node):
            yield _Both(name, node, ast.dump(then) != ast.dump(node))


def _functions(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.")
        elif isinstance(node, Function) and not {node.name, *map(last_name, node.decorator_list)} & {*LEFT_ALONE}:
            yield owner + node.name, node


def _taken(node: Function) -> tuple[object, ...]:
    """Names of parameters, and how each is given."""
    every = node.args
    parts = (every.posonlyargs, every.args, every.kwonlyargs)
    rest = (every.vararg.arg if every.vararg else "", every.kwarg.arg if every.kwarg else "")
    return (*(tuple(one.arg for one in part) for part in parts), *rest)


def _remade(old: ast.Module, new: ast.Module) -> set[str]:
    """Also what is derived from one: it has the same fields."""
    before, after = dict(_classes(old.body, "")), dict(_classes(new.body, ""))
    found = {name for name, node in after.items() if name in before and _made_of(before[name]) != _made_of(node)}
    for _ in after:
        last = {name.rpartition(".")[2] for name in found}
        more = {name for name, node in after.items() if last & {last_name(base) for base in node.bases}}
        if more <= found:
            break
        found |= more
    return found


def _classes(body: Iterable[ast.stmt], owner: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield owner + node.name, node
            yield from _classes(node.body, f"{owner}{node.name}.")


def _made_of(node: ast.ClassDef) -> tuple[object, ...]:
    """What decides the fields of its objects."""
    fields = [
        ast.dump(one) for one in node.body if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr)
    ]
    makes = [ast.dump(one) for one in node.body if isinstance(one, ast.FunctionDef) and one.name in MAKES]
    stored = {
        one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and last_name(one.value) == "self"
    }
    bases = [ast.dump(one) for one in (*node.bases, *node.decorator_list)]
    return tuple(fields), tuple(makes), tuple(bases), frozenset(stored)


def _keeping(text: str, module: ast.Module, functions: Iterable[Function]) -> bytes | None:
    """The file, with a line above each function. None: its lines are counted in another way."""
    if text.startswith("\ufeff") or "\r" in text.replace("\r\n", "") or "\f" in text:
        return None
    lines = text.split("\n")
    above = [(node.lineno, f"{lines[node.lineno - 1][: node.col_offset]}@{KEEPER}.seen") for node in functions]
    first = next((one for one in module.body if not _comes_first(one)), None)
    if first is None:
        return None
    begins = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))])
    for line, words in (*sorted(above, reverse=True), (begins, f"import gate_calls as {KEEPER}")):
        lines.insert(line - 1, words)
    made = "\n".join(lines)
    return made.encode("utf-8", "replace") if parsed(made) is not None else None


def _comes_first(node: ast.stmt) -> bool:
    """What has to stand before all else: the docstring, and what a file says of its language."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
