"""Our own few rules, so that no linter is needed: unused imports and locals, bare excepts, a name that is `l`."""
import ast

from common import holds


def findings(path):
    text = path.read_text("utf-8")
    tree, rows = ast.parse(text), text.splitlines()
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    public = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            public |= set(ast.literal_eval(node.value))
    for node in ast.walk(tree):
        if "noqa" in rows[getattr(node, "lineno", 1) - 1]:
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                if name not in loaded | public and alias.asname != alias.name:
                    yield f"{path.name}:{node.lineno} {name} is not used"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"{path.name}:{node.lineno} a bare except"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and (node.id == "l" or node.id == "skipped"):
            yield f"{path.name}:{node.lineno} {node.id}"


def check(tree):
    for path in sorted((tree / "hishab/importers").glob("*.py")):
        for each in findings(path):
            return each
    from hishab import importers

    if importers.names() != ["bkash", "citybank"]:
        return f"importers that are left: {importers.names()}"
    found = importers.read("bkash", "03/04/2025 Received Karim  1,250.00")
    return None if found[0].amount == -1250.0 else "bkash reads another amount"


holds(check)
