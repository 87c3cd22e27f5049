"""Definitions that a change takes away, and who still knows them: shown by bindings and names, not by a test.

The last definition of a name is the one that counts: to delete one above it alters nothing. What no file names, no
route, no template and no test, nobody can call.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile, Function, PythonTree, dumped, target_names
from sisimpur.shared.model.change import usually_holds_keys

MOST, MOST_FILES, MOST_NAMED = 12, 2_000, 4  # definitions, files that are searched, files that are named
READ = (".py", ".html", ".htm", ".txt", ".jinja", ".jinja2", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".json", ".sh")


def gone(case: Case) -> str:
    """One line for each; empty: nothing is gone."""
    lost = [(file, name) for file in case.files if not file.is_test for name in _lost(file)][:MOST]
    knowing = _knowing(case, {name for _, name in lost})
    return "\n".join(f"{file.path}: {name}: {_told(case, file, name, knowing[name])}" for file, name in lost)


def _lost(file: ChangedFile) -> Iterator[str]:
    """Names that are defined less often than before, on the outermost level."""
    before, after = _defined(file.tree_before), _defined(file.tree)
    if file.after is None or file.tree:
        yield from sorted(name for name, count in before.items() if count > after[name])


def _defined(tree: PythonTree | None) -> Counter[str]:
    body = tree.module.body if tree else []
    return Counter(node.name for node in body if isinstance(node, Function | ast.ClassDef))


def _told(case: Case, file: ChangedFile, name: str, known: list[str]) -> str:
    before, after = _bindings(file.tree_before, name), _bindings(file.tree, name)
    if after:
        same = dumped(before[-1]) == dumped(after[-1]) != ""
        told = "which was so before" if same else "which was not so before"
        return f"was bound more than once; line {after[-1].lineno} binds it last now, {told}"
    others = [path for path in known if path != file.path]
    if len(_paths(case)) > MOST_FILES and not known:
        return f"named in none of the {MOST_FILES} files that were searched"
    where = (["this file"] if file.path in known else []) + others
    more = f" and {len(where) - MOST_NAMED} more" if len(where) > MOST_NAMED else ""
    return f"still named in {', '.join(where[:MOST_NAMED])}{more}" if where else "named in no file any more"


def _bindings(tree: PythonTree | None, name: str) -> list[ast.stmt]:
    """Statements of the outermost level that bind a name, in their order: the last one counts."""
    return [node for node in (tree.module.body if tree else []) if name in _bound(node)]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return target_names(node)


def _knowing(case: Case, names: set[str]) -> dict[str, list[str]]:
    """Name -> the files that hold it as a word: importers, routes, templates, tests."""
    found: dict[str, list[str]] = {name: [] for name in names}
    if not names:
        return found
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
    for path in _paths(case)[:MOST_FILES]:
        for name in set(word.findall(case.read(path) or "")):
            found[name].append(path)
    return found


def _paths(case: Case) -> list[str]:
    """Files that may name it."""
    return [path for path in sorted(case.tracked) if path.endswith(READ) and not usually_holds_keys(path)]
