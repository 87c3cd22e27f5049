"""SQL and HTML put together from strings, and queries that go wrong or are too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, PythonTree
from sisimpur.agents.reviewer.rules.sql_texts import is_built_sql
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.repo.definitions import span

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
