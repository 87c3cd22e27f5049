"""Compare two texts of a Python file: do they do the same? Pure: nothing is executed, and in doubt they do not.

These may differ: comments and layout; docstrings that nobody reads at run time; annotations of functions that nobody
could ask for them, and of their own variables; imports that only these need and that no other file takes from here, or
that only a type checker runs; the name of one private function, throughout. A comment that says how the file is read
(its encoding, its interpreter) is no comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from sisimpur.agents.qa.analysis.expressions import Function, module_of, parsed
from sisimpur.shared.model.text import UTF8, coding_of, python_lines

FOR_ANNOTATIONS = ("typing", "collections.abc", "__future__")
PRIVATE = re.compile(r"_[a-z]\w*")
# How a program comes by docstrings: by these words, or through what makes a help text or documentation of them.
ANY_DOC = r"\b(getdoc|pydoc|doctest)\b|\bhelp\("
SHOWS = r"^\s*(from|import)\s+(docopt|click|typer|fire|plac|argh|defopt|cyclopts|invoke|fastapi|rest_framework|ply)\b"
READS_OWN = re.compile(rf"\b__doc__\b|{ANY_DOC}|{SHOWS}", re.MULTILINE)
READS_OTHERS = re.compile(rf"""\.\s*__doc__\b|["']__doc__["']|\bimport\b.*\b__doc__\b|{ANY_DOC}""")
PLAIN_ANNOTATION = (  # what an annotation may be made of: nothing that runs code or binds a name
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.BitOr, ast.Tuple, ast.List, ast.Load),
    ast.UnaryOp,
)


def _none() -> Iterable[str]:
    return ()


def is_same_code(old: str, new: str, others: Callable[[], Iterable[str]] = _none) -> bool:
    """`others`: the texts of all other files that might use a name of this one; read only if all else is the same."""
    if is_foreign(new) or head(old) != head(new):
        return False
    try:
        before, after = parsed(old), parsed(new)
        if before is None or after is None:
            return False
        return ast.dump(before) == ast.dump(after) or (_is_same(old, new, ()) and _is_same(old, new, tuple(others())))
    except (RecursionError, MemoryError):
        return False


def _is_same(old: str, new: str, others: Sequence[str]) -> bool:
    is_read = any(map(READS_OWN.search, (old, new))) or any(map(READS_OTHERS.search, others))
    before, after = (module_of(text) if is_read else _unspoken(module_of(text)) for text in (old, new))
    renamed, asked = _renamed(before, after, others), _asked_for(before, others) | _asked_for(after, others)
    kept = _kept_for(before, others) | _kept_for(after, others)
    return _told(before, asked, renamed, kept) == _told(after, asked, {}, kept)


def _unspoken(module: ast.Module) -> ast.Module:
    """Remove docstrings and other texts that stand alone."""
    for node in ast.walk(module):
        if isinstance(node, Function | ast.ClassDef | ast.Module):
            node.body = [one for one in node.body if not _is_text(one)]
    return module


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# --- a new name ----------------------------------------------------------------------------------------------


def _renamed(before: ast.Module, after: ast.Module, others: Sequence[str]) -> dict[str, str]:
    """The one private function that has another name now; neither name stands anywhere else in any way."""
    then, now = (set(_private(tree)) for tree in (before, after))
    gone, come = sorted(then - now), sorted(now - then)
    if (
        len(gone) != 1
        or len(come) != 1
        or _stands(gone[0], ast.unparse(after))
        or _stands(come[0], ast.unparse(before))
    ):
        return {}
    if any(_stands(name, text) for text in others for name in (gone[0], come[0])):
        return {}
    return {gone[0]: come[0]}


def _private(tree: ast.Module) -> Iterator[str]:
    """Functions that nobody finds by their name: a decorator could, and so could a class that this one is made from."""
    for owner in ast.walk(tree):
        known = isinstance(owner, ast.ClassDef) and bool(owner.bases or owner.keywords or owner.decorator_list)
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, Function) and PRIVATE.fullmatch(node.name) and not node.decorator_list and not known:
                yield node.name


def _stands(name: str, text: str) -> bool:
    return name in text and re.search(rf"\b{name}\b", text) is not None


# --- annotations ---------------------------------------------------------------------------------------------


def _asked_for(module: ast.Module, others: Sequence[str]) -> frozenset[str]:
    """Functions and classes that are handed on as a value, here or elsewhere: frameworks read what they are given."""
    own = {node.name for node in ast.walk(module) if isinstance(node, Function | ast.ClassDef)}
    near = {text for text in others if any(_stands(name, text) for name in own)}
    return frozenset(_values_of(module)).union(*map(_values, near))


def _values(text: str) -> frozenset[str]:
    """Names that a text uses as values; every word, if it cannot be read."""
    module = parsed(text)
    return frozenset(re.findall(r"\w+", text) if module is None else _values_of(module))


def _values_of(module: ast.Module) -> Iterator[str]:
    """Names that are used without being called; in annotations they are only mentioned."""
    marks = [mark for node in ast.walk(module) for mark in _annotations_of(node)]
    silent = {id(part) for mark in marks for part in ast.walk(mark)}
    called = {id(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}
    for node in ast.walk(module):
        if id(node) in called or id(node) in silent or not isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr


def _annotations_of(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, Function):
        return [node.returns] if node.returns else []
    return [node.annotation] if isinstance(node, ast.arg) and node.annotation else []


def _told(module: ast.Module, asked: frozenset[str], renamed: Mapping[str, str], kept: frozenset[str]) -> str:
    """Dump the module without all that may differ."""
    _strip(module, asked, ())
    for function in [node for node in ast.walk(module) if isinstance(node, Function)]:
        function.body = [_Unannotated().visit(one) for one in function.body]
    if _knows_checkers(module):
        module.body = [node for node in module.body if not _is_for_checkers(node)] or module.body
    _drop_imports(module, kept)
    for node in ast.walk(module):
        if isinstance(node, Function):
            node.name = renamed.get(node.name, node.name)
        elif isinstance(node, ast.Name):
            node.id = renamed.get(node.id, node.id)
        elif isinstance(node, ast.Attribute):
            node.attr = renamed.get(node.attr, node.attr)
    return ast.dump(module)


def _strip(owner: ast.AST, asked: frozenset[str], around: tuple[ast.AST, ...]) -> None:
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, Function) and not _might_be_read(node, asked, (*around, owner)):
            _strip_one(node)
        _strip(node, asked, (*around, owner))


def _might_be_read(
    function: ast.FunctionDef | ast.AsyncFunctionDef, asked: frozenset[str], around: Iterable[ast.AST]
) -> bool:
    """A decorator reads it, or one of what it stands in; or what its class is made from; or who has it as a value."""
    owners = [function, *(node for node in around if isinstance(node, Function | ast.ClassDef))]
    made = (node for node in owners if isinstance(node, ast.ClassDef))
    return any(node.decorator_list or node.name in asked for node in owners) or any(
        node.bases or node.keywords for node in made
    )


def _strip_one(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if _is_plain(function.returns):
        function.returns = None
    every = function.args
    for arg in (*every.posonlyargs, *every.args, *every.kwonlyargs, *filter(None, (every.vararg, every.kwarg))):
        if _is_plain(arg.annotation):
            arg.annotation = None


class _Unannotated(ast.NodeTransformer):
    """In a function an annotation of a variable with a value is never evaluated, and kept nowhere."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return node if node.value is None else ast.Assign([node.target], node.value, lineno=0)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node


def _knows_checkers(module: ast.Module) -> bool:
    """TYPE_CHECKING is that of typing."""
    nodes = list(ast.walk(module))
    taken = [one for one in nodes if isinstance(one, ast.ImportFrom) and one.module == "typing" and not one.level]
    bound = [one for one in nodes if isinstance(one, ast.alias) and "TYPE_CHECKING" in (one.name, one.asname)]
    own = any(
        isinstance(one, ast.Name) and one.id == "TYPE_CHECKING" and isinstance(one.ctx, ast.Store) for one in nodes
    )
    return (
        not own
        and bool(bound)
        and all(one.asname is None and any(one in node.names for node in taken) for one in bound)
    )


def _is_for_checkers(node: ast.stmt) -> bool:
    """Imports that no run makes."""
    if not isinstance(node, ast.If) or ast.unparse(node.test) != "TYPE_CHECKING":
        return False
    return not node.orelse and all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)


def _is_plain(annotation: ast.expr | None) -> bool:
    return annotation is not None and all(isinstance(node, PLAIN_ANNOTATION) for node in ast.walk(annotation))


def _drop_imports(module: ast.Module, kept: frozenset[str]) -> None:
    """Remove imports for annotations, if nothing that is left knows their names, and nobody has them from here."""
    left = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)} | set(_bound_otherwise(module)) | kept
    annotated = any(isinstance(node, ast.AnnAssign) or _annotations_of(node) for node in ast.walk(module))
    module.body = [node for node in module.body if not _is_for_annotations(node, left, annotated)]


def _kept_for(module: ast.Module, others: Sequence[str]) -> frozenset[str]:
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom) and node.module in FOR_ANNOTATIONS]
    return handed_on({alias.asname or alias.name for node in imports for alias in node.names}, others, FOR_ANNOTATIONS)


def _bound_otherwise(module: ast.Module) -> Iterator[str]:
    """Names that stand in the file by other ways than as a name."""
    for node in ast.walk(module):
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)  # "__all__", getattr, globals()


def _is_for_annotations(node: ast.stmt, left: set[str], annotated: bool) -> bool:
    if not isinstance(node, ast.ImportFrom) or node.level or node.module not in FOR_ANNOTATIONS:
        return False
    if node.module == "__future__":
        return [alias.name for alias in node.names] == ["annotations"] and not annotated
    return all(alias.name != "*" and (alias.asname or alias.name) not in left for alias in node.names)


# --- names that others have from here ------------------------------------------------------------------------


def handed_on(names: Collection[str], others: Iterable[str], homes: Collection[str]) -> frozenset[str]:
    """`others`: texts of the other files. `homes`: the modules that the names are from; there anybody may get them."""
    found: set[str] = set()
    for text in others:
        words = {name for name in names if name in text}
        if words:
            module = parsed(text)
            found |= words if module is None else words.intersection(_had(module, words, homes))
    return frozenset(found)


def _had(module: ast.Module, words: Collection[str], homes: Collection[str]) -> Iterator[str]:
    """Names that are imported or asked for by name; by a star comes whatever is used."""
    known = {*homes, *_homes_by_name(module, homes)}
    for node in ast.walk(module):
        match node:
            case ast.ImportFrom() if node.level or node.module not in homes:
                yield from words if node.names[0].name == "*" else (alias.name for alias in node.names)
            case ast.Attribute() if _dotted(node.value) not in known:
                yield node.attr
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w.:]+", text):  # getattr, a patched name
                yield re.split(r"[.:]", text)[-1]


def _dotted(node: ast.expr) -> str:
    """`os.path`; empty: no plain name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _homes_by_name(module: ast.Module, homes: Collection[str]) -> Iterator[str]:
    """`t` of `import typing as t`, `abc` of `from collections import abc`"""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.asname for alias in node.names if alias.asname and alias.name in homes)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (alias.asname or alias.name for alias in node.names if f"{node.module}.{alias.name}" in homes)


# --- how the file is read ------------------------------------------------------------------------------------


def is_foreign(text: str) -> bool:
    """Say whether a line declares another encoding than UTF-8: the interpreter may then read another program."""
    return any(coding_of(line) not in UTF8 for line in python_lines(text))


def head(text: str) -> tuple[str, tuple[str, ...]]:
    """(shebang, codings that the first two lines name); UTF-8 need not be named."""
    first = python_lines(text)[:2]
    shebang = first[0] if first[0].startswith("#!") else ""
    return shebang, tuple(coding for coding in map(coding_of, first) if coding not in UTF8)
