"""A model's fields changed, and no migration with them. Only where the app's migrations are part of the repository."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agents.reviewer.rules.case import Case, ChangedFile
from agents.reviewer.rules.python_tree import PythonTree, span, target_names
from shared.model.review import Finding, Severity

RELATIONS = ("ForeignKey", "OneToOneField", "ManyToManyField")
OF_THE_TABLE = ("constraints", "indexes", "unique_together", "index_together", "db_table")
MODELS = re.compile(r"(?P<app>.*?)(?:^|/)(?:models\.py|models/[^/]+\.py)$")


def findings(case: Case) -> Iterator[Finding]:
    for file in case.files:
        where = MODELS.match(file.path)
        if where and file.tree and not file.is_test and _tracks(case, folder := _folder(where["app"])):
            changed = _changed_fields(file.tree_before, file.tree)
            if changed and not any(other.path.startswith(folder) for other in case.files):
                name, line = changed
                text = f"{name} differs from the newest migration; add one in {folder}"
                yield file.finding(_nearest(file, line), Severity.MEDIUM, "no migration", text)


def _folder(app: str) -> str:
    return f"{app}/migrations/" if app else "migrations/"


def _tracks(case: Case, folder: str) -> bool:
    return any(re.fullmatch(re.escape(folder) + r"\d{4}\w*\.py", path) for path in case.tracked)


def _changed_fields(before: PythonTree | None, after: PythonTree) -> tuple[str, int] | None:
    """The first field (Class.name) that is new, gone or different, and its line."""
    old, new = _fields(before) if before else {}, _fields(after)
    for name in (*new, *old):
        if name not in old or name not in new or old[name][0] != new[name][0]:
            return name, new[name][1] if name in new else 1
    return None


def _fields(tree: PythonTree) -> dict[str, tuple[str, int]]:
    """Class.name -> what it is made of, and its line."""
    found: dict[str, tuple[str, int]] = {}
    for node in tree.nodes:
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                names = target_names(one)
                if names and isinstance(one, ast.Assign | ast.AnnAssign) and _counts(node, names[0], one.value, tree):
                    assert one.value
                    found[f"{_owner(node, tree)}.{names[0]}"] = (_dump(one.value), span(one)[0])
    return found


def _counts(owner: ast.ClassDef, name: str, value: ast.expr | None, tree: PythonTree) -> bool:
    if owner.name == "Meta":
        return name in OF_THE_TABLE and value is not None
    kind = tree.dotted(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    is_form = any("Form" in tree.dotted(base) or "Serializer" in tree.dotted(base) for base in owner.bases)
    return not is_form and (kind in RELATIONS or kind.endswith("Field"))


def _owner(node: ast.ClassDef, tree: PythonTree) -> str:
    above = next((one for one in tree.above(node) if isinstance(one, ast.ClassDef)), None)
    return above.name if node.name == "Meta" and above else node.name


def _dump(value: ast.expr) -> str:
    try:
        return ast.dump(value)
    except RecursionError:
        return ""


def _nearest(file: ChangedFile, line: int) -> int:
    return min(file.added, key=lambda number: abs(number - line), default=0)
