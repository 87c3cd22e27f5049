"""What the base does already: the form of a line, without the words in which two lines of one form differ. Pure.

A form keeps what is called, and what is put into a text: `run(f"drop {quote(a)}")` is `run(f"delete {quote(b)}")`,
and not `run(f"drop {a}")`. A name is followed to what the function gives it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.reviewer.rules.case import LONGEST_QUOTE, Case, ChangedFile, Function, PythonTree
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.repo.definitions import span

BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
PASSES_ON = ("format", "join", "format_map")  # methods of texts: their values are put in as they are
DEEPEST = 60  # calls in calls


def _base(case: Case) -> Case:
    """The files before the change, each line as if it were new."""
    return replace(case, files=tuple(_as_new(file) for file in case.files if file.before is not None))


def _as_new(file: ChangedFile) -> ChangedFile:
    lines = (file.before or "").replace("\r\n", "\n").removesuffix("\n").split("\n")
    change = replace(file.change, kind="added", mode_old="", added_lines=tuple(enumerate(lines, 1)))
    return ChangedFile(change, None, file.before)


def settled_by_base(
    found: Sequence[Finding], case: Case, judged: Callable[[Case], Iterable[Finding]]
) -> Iterator[Finding]:
    """`judged`: what the same rules say of the base; asked only if it matters.

    What the base breaks in the same form, or has lost elsewhere, is a remark. Guards, keys and honesty are asked anew.
    """
    base, now = _base(case), {file.path: file for file in case.files}
    weighs = any(one.severity is not Severity.LOW and one.quote and not one.is_firm for one in found)
    old = [one for one in judged(base) if one.quote] if weighs else []
    then = {file.path: file for file in base.files}
    forms = {(one.path, one.rule, form(then[one.path], one.line)) for one in old}
    gone = _gone(old, now)
    for one in found:
        if not one.quote or one.is_firm:
            yield one
        elif (one.path, one.rule, form(now[one.path], one.line)) in forms:
            yield replace(one, severity=Severity.LOW, text=f"{one.text} (as this file did before)")
        elif gone[one.rule, one.quote] > 0:
            gone[one.rule, one.quote] -= 1
            yield replace(one, severity=Severity.LOW, text=f"{one.text} (moved, not new)")
        else:
            yield one


def _gone(old: Iterable[Finding], now: dict[str, ChangedFile]) -> Counter[tuple[str, str]]:
    """(rule, line) -> how many of them no file holds any more where it stood."""
    stood = Counter((one.path, one.rule, one.quote) for one in old)
    left = {path: Counter(line.strip()[:LONGEST_QUOTE] for line in file.lines) for path, file in now.items()}
    found: Counter[tuple[str, str]] = Counter()
    for (path, rule, quote), count in stood.items():
        found[rule, quote] += max(0, count - left[path][quote])
    return found


# --- the form of a line --------------------------------------------------------------------------------------


def form(file: ChangedFile, line: int) -> str:
    """The form of the statement that a line of the new file belongs to; of what is no Python, its words."""
    node = _statement(file.tree, line) if file.tree else None
    if file.tree is None or node is None:
        text = file.lines[line - 1] if 0 < line <= len(file.lines) else ""
        return " ".join(text.split())
    if isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
        return ast.dump(node)  # its head says nothing without its body
    if isinstance(value := getattr(node, "value", None), ast.AST):  # `x = f()`, `return f()`, `f()`
        return _Shape(file.tree).of(value, 0)
    parts = tuple(part for name, part in ast.iter_fields(node) if name not in BODIES)
    return type(node).__name__ + _Shape(file.tree).of(parts, 0)


def _statement(tree: PythonTree, line: int) -> ast.AST | None:
    around = (node for node in tree.nodes if isinstance(node, ast.stmt | ast.ExceptHandler))
    inside = (node for node in around if span(node)[0] <= line <= span(node)[1])
    return max(inside, key=lambda node: (span(node)[0], -span(node)[1]), default=None)


@dataclass(frozen=True)
class _Shape:
    """`follows`: a name stands for what its function gives it; one step back, and no further."""

    tree: PythonTree
    follows: bool = True

    def of(self, node: object, depth: int) -> str:
        """`depth`: calls that it stands in. What is given to the inner ones has no name."""
        if isinstance(node, list | tuple):
            return f"({','.join(self.of(part, depth) for part in node)})"
        if not isinstance(node, ast.AST) or depth > DEEPEST:
            return repr(node)
        if isinstance(node, ast.Constant):
            return repr(node.value) if node.value is None or isinstance(node.value, bool) else "text"
        if isinstance(node, ast.Name):
            return "value" if depth > 1 else self._name(node)
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else self.of(node.func, 1)
            return name + self.of((*node.args, *node.keywords), depth + (name not in PASSES_ON))
        fields = tuple(part for name, part in ast.iter_fields(node) if name != "ctx")
        return type(node).__name__ + self.of(fields, depth)

    def _name(self, node: ast.Name) -> str:
        given = self.tree.given(node) if self.follows else []
        inside = {_Shape(self.tree, follows=False).of(value, 1) for value in given}
        return "|".join(sorted(inside if self.tree.is_only_given(node) else {node.id, *inside}))
