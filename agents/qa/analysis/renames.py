"""Names that a change gives to what was there, and the text of an old test as it has to be with them. Pure.

Of a rename that the task asks for, old tests are run under the new names: they still ask what they asked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sisimpur.agents.qa.analysis.expressions import Function, last_name, module_of, parsed

Edit = tuple[int, int, str, str]  # line from 1, byte in it, the old and the new name
DOTTED = re.compile(r"[\w.:]+")  # what is patched or looked up is named by a text


@dataclass(frozen=True)
class Renames:
    """`names`: functions, classes, methods, constants. `parameters`: what is called -> its old names and new ones."""

    names: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def applied(self, text: str) -> str:
        """The text of a test with these names; as it was, if it cannot be read or has one of the new names already."""
        module = parsed(text) if self.names or self.parameters else None
        if module is None or any(re.search(rf"\b{new}\b", text) for new in self.names.values()):
            return text
        lines = text.encode().split(b"\n")
        for line, byte, old, new in sorted(set(self._edits(module)), reverse=True):
            row, end = lines[line - 1], byte + len(old.encode())
            if row[byte:end] == old.encode():
                lines[line - 1] = row[:byte] + new.encode() + row[end:]
        return b"\n".join(lines).decode()

    def _edits(self, module: ast.Module) -> Iterator[Edit]:
        for node in ast.walk(module):
            if isinstance(node, ast.Call):
                of = self.parameters.get(last_name(node.func), {})
                yield from (_edit(one, one.arg, of[one.arg]) for one in node.keywords if one.arg and one.arg in of)
            elif isinstance(node, ast.expr | ast.alias) and (name := _named(node)) in self.names:
                yield _edit(node, name, self.names[name])


def _edit(node: ast.expr | ast.alias | ast.keyword, name: str, new: str) -> Edit:
    """Of an attribute and of a text the name stands at the end."""
    after = {ast.Attribute: 0, ast.Constant: 1}.get(type(node))  # bytes behind it
    if after is None or node.end_lineno is None or node.end_col_offset is None:
        return node.lineno, node.col_offset, name, new
    return node.end_lineno, node.end_col_offset - after - len(name.encode()), name, new


def _named(node: ast.AST) -> str:
    """The name that a place of the code uses; empty: none."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.alias():
            return node.name
        case ast.Constant(value=str(text)) if DOTTED.fullmatch(text):
            return re.split(r"[.:]", text)[-1]
    return ""


def renames(code: Iterable[tuple[str, str]], said: str, is_known: Callable[[str], bool]) -> Renames:
    """Find what has another name now: the task says both names, and the product knows the old one no more.

    `code`: texts of each changed file of the product, before and after. `said`: the words of the task.
    """
    words = frozenset(re.findall(r"\w+", said))
    trees = [(module_of(before), module_of(after)) for before, after in code]
    old, new = (dict(one for pair in trees for one in _made(pair[side].body)) for side in (0, 1))
    gone = [name for name in old if name in words - new.keys() and not is_known(name)]
    come = [name for name in new if name in words - old.keys()]
    names = dict(zip(gone, come, strict=True)) if len(gone) == len(come) else {}
    pairs = {name: (old[name], new.get(names.get(name, name), ())) for name in old}
    parameters = {name: _given_names(*pair, words) for name, pair in pairs.items()}
    return Renames(names, {name: found for name, found in parameters.items() if found})


def _given_names(before: Sequence[str], after: Sequence[str], words: frozenset[str]) -> Mapping[str, str]:
    """Parameters that stand in the place of others."""
    both = zip(before, after, strict=False)
    return {old: new for old, new in both if {old, new} <= words and old not in after and new not in before}


def _made(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Sequence[str]]]:
    """What the outermost level and classes define, with its parameters; those of a class are those that make it."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = dict(_made(node.body))
            yield node.name, inner.pop("__init__", ())
            yield from inner.items()
        elif isinstance(node, Function):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            yield node.name, [one.arg for one in every]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((one.id, ()) for one in targets if isinstance(one, ast.Name))
