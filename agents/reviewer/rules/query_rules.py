"""SQL and HTML put together from strings, and queries that go wrong or are too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sisimpur.agents.reviewer.rules.case import MOST_GIVEN, Case, ChangedFile, PythonTree, text_of
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.repo.file_parts import span

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW

CLEAN = ("escape", "conditional_escape", "format_html", "format_html_join", "render_to_string", "clean", "json_script")


def findings(case: Case) -> Iterator[Finding]:
    for file in case.code:
        assert file.tree
        for call in file.tree.calls:
            if line := file.first_added(*span(call)):
                yield from _sql(file, file.tree, call, line)
                yield from _html(file, file.tree, call, line)
                yield from _rows(file, file.tree, call, line)


def _sql(file: ChangedFile, tree: PythonTree, call: ast.Call, line: int) -> Iterator[Finding]:
    name, first = tree.called(call.func), next(iter(call.args), None)
    if name in ("raw", "execute", "executemany", "RawSQL", "RunSQL") and first and is_built_sql(first, tree):
        text = "SQL put together from strings; give the values as parameters"
        yield file.finding(line, HIGH, "raw SQL", text)
    if name == "extra" and {one.arg for one in call.keywords} & {"select", "where", "tables", "order_by", "params"}:
        yield file.finding(line, MEDIUM, "raw SQL", "extra() puts raw SQL into a query; use annotate() or filter()")


def _html(file: ChangedFile, tree: PythonTree, call: ast.Call, line: int) -> Iterator[Finding]:
    name, first = tree.called(call.func), next(iter(call.args), None)
    if first is None or _is_clean(first, tree):
        return
    if name in ("mark_safe", "SafeString", "SafeText"):
        text = f"{name} on a value: whatever it holds becomes HTML; use format_html, or escape it"
        yield file.finding(line, MEDIUM, "unescaped HTML", text)
    if name == "format_html" and isinstance(first, ast.JoinedStr):
        yield file.finding(
            line, MEDIUM, "unescaped HTML", "format_html on an f-string escapes nothing; pass the values"
        )


def _rows(file: ChangedFile, tree: PythonTree, call: ast.Call, line: int) -> Iterator[Finding]:
    if tree.called(call.func) == "get" and _is_manager(call.func) and _in_view(call, tree):
        yield file.finding(line, LOW, "unhandled get", "what if there is no such row? see get_object_or_404")
    if _is_query(call) and (loop := _loop_over_rows(call, tree)):
        yield file.finding(line, LOW, "query in a loop", f"one query per row of line {loop}; see select_related")


def _is_clean(value: ast.expr, tree: PythonTree) -> bool:
    """Nothing of a visitor is in it; what is nested too deeply is not looked at."""
    try:
        return _holds_no_value(value, tree)
    except RecursionError:
        return False


def _holds_no_value(value: ast.expr, tree: PythonTree) -> bool:
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Call):
        name = tree.dotted(value.func).rpartition(".")[2]
        return name in CLEAN or name in ("_", "gettext", "gettext_lazy")
    if isinstance(value, ast.BinOp):
        return _holds_no_value(value.left, tree) and _holds_no_value(value.right, tree)
    if isinstance(value, ast.JoinedStr):
        return all(_holds_no_value(p.value, tree) for p in value.values if isinstance(p, ast.FormattedValue))
    return isinstance(value, ast.Name) and value.id.isupper()


def _is_manager(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Attribute) and func.value.attr == "objects"


def _in_view(call: ast.Call, tree: PythonTree) -> bool:
    function = tree.function_of(call)
    is_view = function is not None and bool(function.args.args) and function.args.args[0].arg == "request"
    return is_view and not any(isinstance(above, ast.Try) for above in tree.above(call))


def _is_query(call: ast.AST) -> bool:
    """`Exam.objects.filter(...)`, `exam.question_set.all()`."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    manager = call.func.value
    return isinstance(manager, ast.Attribute) and (manager.attr == "objects" or manager.attr.endswith("_set"))


def _loop_over_rows(call: ast.Call, tree: PythonTree) -> int | None:
    """The line of a `for` over a queryset that this call is in the body of."""
    for above in tree.above(call):
        if isinstance(above, ast.For) and call.lineno > above.lineno and any(map(_is_query, ast.walk(above.iter))):
            return above.lineno
    return None


# --- SQL that is put together, and the ways of quoting that make it harmless ---------------------------------


SQL = re.compile(r"\b(?:select|insert|update|delete|create|alter|drop|where|from|order by|union)\b", re.I)
QUOTING = frozenset(
    (
        *("quote_name", "quote_ident", "quote_identifier", "quote_literal", "escape_identifier", "escape_literal"),
        *("Identifier", "Placeholder", "Literal", "bindparam", "mogrify"),
    )
)
NUMBERS = frozenset(("int", "float", "len", "Decimal"))
TEXTS = ("text", "SQL", "RawSQL")  # of SQLAlchemy, psycopg and Django: they take SQL as it is


def is_built_sql(value: ast.expr, tree: PythonTree) -> bool:
    """Find built SQL, also one step back: `sql = f"..."`, then `execute(sql)`."""
    values = [value, *(tree.given(value) if isinstance(value, ast.Name) else [])]
    if len(values) > MOST_GIVEN:
        return True
    return any(
        _is_built(one, tree) and SQL.search(" ".join(filter(None, map(text_of, ast.walk(one))))) for one in values
    )


def _is_built(value: ast.expr, tree: PythonTree) -> bool:
    """What is nested too deeply to be followed counts as built."""
    try:
        return _Texts(tree).is_built(value)
    except RecursionError:
        return True


@dataclass(frozen=True)
class _Texts:
    """`steps`: how far a name is followed back."""

    tree: PythonTree
    steps: int = 2

    def is_built(self, value: ast.expr) -> bool:
        """Say whether something is put into a text that nobody has quoted."""
        if isinstance(value, ast.JoinedStr):
            parts = [part.value for part in value.values if isinstance(part, ast.FormattedValue)]
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Mod):
            parts = [part for side in (value.left, value.right) for part in _members(side)]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
            if self._is_composed(value.func.value):
                return False  # psycopg's: what it is given quotes itself, or is refused
            parts = [value.func.value, *value.args, *(one.value for one in value.keywords)]
        else:
            parts = []
            if isinstance(value, ast.Call) and self.tree.called(value.func) in TEXTS and value.args:
                return self.is_built(value.args[0])
        return not all(map(self._is_safe, parts))

    def _is_composed(self, value: ast.expr) -> bool:
        """`sql.SQL("... {}")`: of one text that stands there."""
        is_sql = isinstance(value, ast.Call) and self.tree.called(value.func) == "SQL"
        return isinstance(value, ast.Call) and is_sql and bool(value.args) and text_of(value.args[0]) is not None

    def _is_safe(self, value: ast.expr) -> bool:
        """A text, a number, a module's constant, a table's own name, what was quoted: nobody outside decides it."""
        match value:
            case ast.Constant():
                return True
            case (ast.Name() as name) | ast.Subscript(value=ast.Name() as name) if self.tree.is_constant_of_module(
                name
            ):
                return True
            case ast.Name():
                back = _Texts(self.tree, self.steps - 1)
                is_known = self.steps > 0 and self.tree.is_only_given(value)
                return is_known and all(map(back._is_safe, self.tree.given(value)))
            case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
                return not self.is_built(value)
            case ast.BinOp(op=ast.Mult()):  # `["%s"] * len(ids)`
                return all(isinstance(one, ast.Constant) for one in _members(value.left))
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return self._is_safe(value.elt)
            case ast.IfExp():
                return self._is_safe(value.body) and self._is_safe(value.orelse)
            case ast.Call():
                return self._is_safe_call(value) or _names_a_table(value)
        return _names_a_table(value)

    def _is_safe_call(self, call: ast.Call) -> bool:
        """`quote_name(table)`, `", ".join(map(quote_name, columns))`, `int(n)`."""
        name, first = self.tree.called(call.func), next(iter(call.args), None)
        if name == "join" and first and isinstance(call.func, ast.Attribute):
            return text_of(call.func.value) is not None and all(map(self._is_safe, _members(first)))
        is_number = name in NUMBERS and self.tree.dotted(call.func) in (name, f"decimal.{name}")
        return is_number or self._quotes(first if name == "map" and first else call.func)

    def _quotes(self, function: ast.expr) -> bool:
        """A function that quotes, by its own name or by that of what it is (`qn = connection.ops.quote_name`)."""
        if isinstance(function, ast.Name) and self.tree.is_only_given(function):
            back = _Texts(self.tree, self.steps - 1)
            return self.steps > 0 and all(map(back._quotes, self.tree.given(function)))
        if isinstance(function, ast.Attribute) and function.attr == "quote":
            return "preparer" in ast.unparse(function.value)  # SQLAlchemy's
        is_own = isinstance(function, ast.Name) and any(one.name == function.id for one in self.tree.functions)
        return self.tree.called(function) in QUOTING and not is_own


def _members(value: ast.expr) -> list[ast.expr]:
    """What `%` puts in: one value, or each of several."""
    if isinstance(value, ast.Dict):
        return value.values
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _names_a_table(value: ast.expr) -> bool:
    """`Exam._meta.db_table`, `Exam._meta.get_field("name").column`"""
    while isinstance(value, ast.Attribute | ast.Call):
        if isinstance(value, ast.Attribute) and value.attr == "_meta":
            return True
        if isinstance(value, ast.Call) and not all(isinstance(one, ast.Constant) for one in value.args):
            return False
        value = value.func if isinstance(value, ast.Call) else value.value
    return False
