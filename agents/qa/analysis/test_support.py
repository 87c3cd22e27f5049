"""Changed files that lie beside the product, and that the tests depend on: expected values, helpers, plugins. Pure.

What lies among the product's modules is the product's: it may find a file by a name that it puts together. Whoever
changes one of the others together with the code changes what the tests ask. So they count as tests: the old ones are
laid under the new code, as old tests are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.expressions import module_of
from sisimpur.agents.qa.analysis.touched import WORDS
from sisimpur.shared.model.evidence import configures_tests, is_test_file
from sisimpur.shared.model.scope import matches

SHOWN = ("templates/", "static/", "locale/", *WORDS)  # what people read: named by tests, and still no part of them
HELPER = re.compile(
    r"(\w+_)?(helpers?|factor(y|ies)|fixtures?|fakes?|mocks?|stubs?|builders?|testing|tests?_?utils?|assertions?)\.py"
)
TESTING = re.compile(
    r"^\s*(from|import)\s+(pytest|unittest|hypothesis|factory|faker|responses|django\.test|model_bakery)\b",
    re.MULTILINE,
)
PLUGIN = re.compile(r"-p[ =]([\w.]+)")


@dataclass(frozen=True)
class SourceTexts:
    """Texts by path, each asked for only where it matters: of tests and what configures them, and of the product."""

    tests: Callable[[], Mapping[str, str]]
    product: Callable[[], Mapping[str, str]]


def relied_on(changed: Mapping[str, str], repository: SourceTexts) -> frozenset[str]:
    """`changed`: path -> text before and after, of files that do not look like tests."""
    possible = {path: text for path, text in changed.items() if _may_be_the_tests(path, text)}
    if not possible:
        return frozenset()
    asked = _Uses(repository.tests())
    plugins = {path for path in possible if asked.is_plugin(path)}
    used = {path for path in possible.keys() - plugins if asked.uses(path)}
    return frozenset(plugins | (_beside(used, asked, repository.product()) if used else set()))


def _beside(used: Collection[str], asked: _Uses, product: Mapping[str, str]) -> set[str]:
    """Files that tests use, that the product does not name, and that lie in no folder of its modules."""
    made = _Uses(product)
    possible = {path for path, text in product.items() if _may_be_the_tests(path, text)}
    helpers = {path for path in possible if asked.uses(path) and not made.uses(path)}
    modules = (path for path, text in product.items() if path not in helpers and not _is_other(path, text))
    homes = {path.rpartition("/")[0] for path in modules}
    return {path for path in used if not made.uses(path) and homes.isdisjoint(_folders(path))}


def _is_other(path: str, text: str) -> bool:
    """An empty `__init__.py` says nothing about who uses its folder."""
    return configures_tests(path) or (path.endswith("__init__.py") and not text.strip())


def _folders(path: str) -> Iterator[str]:
    """Folder of a path and those around it; all that has a folder lies below the root."""
    folders = path.split("/")[:-1]
    yield from ("/".join(folders[:end]) for end in range(min(1, len(folders)), len(folders) + 1))


def _may_be_the_tests(path: str, text: str) -> bool:
    if is_test_file(path) or configures_tests(path):
        return False
    if not path.endswith(".py"):
        return not matches(path, SHOWN)
    name = path.rpartition("/")[2]
    return HELPER.fullmatch(name) is not None or TESTING.search(text) is not None or "def pytest_" in text


class _Uses:
    """Names that some files use: as a text, or by an import."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._words: set[str] = set()
        self._modules: set[str] = set()
        self._plugins: set[str] = set()
        for path, text in files.items():
            self._read(path, text)

    def _read(self, path: str, text: str) -> None:
        if not path.endswith(".py"):
            self._plugins |= set(PLUGIN.findall(text))
            return
        tree = module_of(text)
        self._words |= {word.strip("/") for word in _texts(tree)}
        self._modules |= set(_imported(tree, path))
        self._plugins |= set(_plugins(tree))

    def is_plugin(self, path: str) -> bool:
        return path.endswith(".py") and _is_meant(path, self._plugins)

    def uses(self, path: str) -> bool:
        return _is_meant(path, self._modules) if path.endswith(".py") else bool(self._words.intersection(_names(path)))


def modules_of(text: str, path: str) -> frozenset[str]:
    """What a file imports, by its whole name."""
    return frozenset(_imported(module_of(text), path))


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _names(path: str) -> Iterator[str]:
    """Ways in which a test may call a data file: by its path from any folder on, its name, or one of its folders."""
    parts = path.split("/")
    yield from ("/".join(parts[start:]) for start in range(len(parts)))
    folders = parts[:-1]
    yield from ("/".join(folders[start:end]) for end in range(len(folders) + 1) for start in range(end))


def _is_meant(path: str, modules: Collection[str]) -> bool:
    """Look for its whole dotted name, or the part of it that begins at some folder of the search path."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return any(".".join(parts[start:]) in modules for start in range(len(parts)))


def _imported(tree: ast.Module, path: str) -> Iterator[str]:
    """`a.b` and `a.b.c` of `from a.b import c`; a relative one from the folder of `path`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            folders = path.split("/")[: -node.level] if node.level else []
            base = ".".join([*folders, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)


def _plugins(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "pytest_plugins" for target in targets):
                yield from _texts(node)
