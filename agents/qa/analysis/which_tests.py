"""The base's report, and who imports what -> which changed files are tests, and who misses a deleted one. Pure.

A name alone decides nothing: `ab_test.py` may sell two prices, `testing/` may be what users import, and a suite may be
called `checks.py`. What held tests on the base is a test, and what only such files import.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sisimpur.agents.qa.analysis.expressions import Function, module_of
from sisimpur.agents.qa.analysis.test_support import HELPER, TESTING, modules_of
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, dotted
from sisimpur.shared.model.evidence import SuiteRun, configures_tests, is_test_file

FOLDER = re.compile(r"(?:.*/)?(?:tests?|testing)/", re.IGNORECASE)  # up to the innermost that is called so
SAID = re.compile(r"(?:^|[/_])(?:tests?|checks?|specs?)(?:[/_.]|$)", re.IGNORECASE)  # a path that speaks of tests
SUPPORT = re.compile(r"tests?_?(?:support|base|cases?|common|data|lib|tools?)\.py")


@dataclass(frozen=True)
class PythonTexts:
    """Texts by path of Python files: of changed ones before and after (empty: not there), and, asked for only where it
    matters, of the base's product and of its tests.
    """

    changed: Mapping[str, tuple[str, str]]
    product: Callable[[], Mapping[str, str]]
    tests: Callable[[], Mapping[str, str]]


def holding_tests(base: SuiteRun, places: SuiteFiles) -> frozenset[str] | None:
    """Files that held tests in the base's report; None: of some test nobody knows the file. Examples in docstrings are
    the product's.
    """
    files = [places.file(test) for test in base.outcomes if not is_example(test)]
    return frozenset(files) if all(files) else None


def is_example(test: str) -> bool:
    """`shop.py::shop.total`: pytest runs what docstrings show."""
    return "." in test.partition("[")[0].rpartition("::")[2] and "::" in test


def keeps_examples(path: str, then: str, now: str) -> bool:
    """Say whether it showed examples, and each definition that did shows just these. Others may show more."""
    before, after = _examples(path, then), _examples(path, now)
    is_elsewhere = "__test__" in then + now  # doctest's own table of further examples
    return bool(before) and not is_elsewhere and all(after.get(name) == shown for name, shown in before.items())


def _examples(path: str, text: str) -> dict[str, list[tuple[str, str, str]]]:
    """What is typed, what comes back and the options of each example, by the definition; a document is one."""
    docs = _docstrings(module_of(text)) if path.endswith(".py") else [("", text)]
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, doc in docs:
        try:
            shown = doctest.DocTestParser().get_examples(doc)
        except ValueError:  # nobody can run it
            continue
        if shown:
            found.setdefault(name, []).extend((one.source, one.want, repr(one.options)) for one in shown)
    return found


def _docstrings(node: ast.AST, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, Function | ast.ClassDef | ast.Module):
        yield name, ast.get_docstring(node) or ""
    for child in ast.iter_child_nodes(node):
        inner = f"{name}.{child.name}" if isinstance(child, Function | ast.ClassDef) else name
        yield from _docstrings(child, inner)


def learned(touched: Touched, held: Collection[str] | None, sources: PythonTexts) -> Touched:
    """The same changes, sorted by what is known; `held` None: by their names, as they were."""
    if held is None:
        return touched
    return replace(touched, misnamed=misnamed(held, sources), relied=touched.relied | unnamed(held, sources))


def misnamed(held: Collection[str], sources: PythonTexts) -> frozenset[str]:
    """Changed files that look like tests, and are the product."""
    brought = {path for path, (then, now) in sources.changed.items() if not _defines(then) and _defines_tests(now)}
    suites = {_folder(path) for path in (*held, *brought)} - {""}
    asked = [path for path in sources.changed if is_test_file(path) and not configures_tests(path)]
    found = {path for path in asked if path not in held and path in brought and _is_used(path, _now(sources))}
    rest = [path for path in asked if path not in held and path not in brought]
    rest = [path for path in rest if not path.endswith("__init__.py") or any(map(str.strip, sources.changed[path]))]
    if not rest:
        return frozenset(found)
    product = {**sources.product(), **_now(sources)}
    known = {*held, *brought}
    tests = {one: text for one, text in sources.tests().items() if one in known or _folder(one) in suites}
    homes = {path.rpartition("/")[0] for path in product if not is_test_file(path)}
    for path in rest:
        texts = sources.changed[path]
        is_helper = _folder(path) in suites or (_is_used(path, tests) and _helps(path, texts, homes))
        if _is_used(path, product) or not (is_helper or _skips_all(texts[0])):
            found.add(path)
    return frozenset(found)


def unnamed(held: Collection[str], sources: PythonTexts) -> frozenset[str]:
    """Changed files that held tests, whatever they are called, as long as their path speaks of tests at all."""
    asked = [path for path in sources.changed if path in held and not is_test_file(path) and SAID.search(path)]
    product = sources.product() if asked else {}
    return frozenset(path for path in asked if not _is_used(path, product))


def _now(sources: PythonTexts) -> dict[str, str]:
    """The changed files of the product, as they are now."""
    return {path: now for path, (_, now) in sources.changed.items() if not is_test_file(path)}


def _defines_tests(text: str) -> bool:
    body = module_of(text).body
    inner = [one for node in body for one in (getattr(node, "body", ()) if not isinstance(node, Function) else ())]
    return any(isinstance(one, Function) and one.name.startswith("test") for one in (*body, *inner))


def _defines(text: str) -> bool:
    return any(isinstance(node, Function | ast.ClassDef) for node in module_of(text).body)


def _skips_all(text: str) -> bool:
    """A file of tests that the runner left out, as one does that skips itself."""
    return _defines_tests(text) and TESTING.search(text) is not None


def _folder(path: str) -> str:
    found = FOLDER.match(path)
    return found[0].lower() if found else ""


def _helps(path: str, texts: tuple[str, str], homes: Collection[str]) -> bool:
    """Among the product's modules only what says so is there for tests."""
    folder, _, name = path.rpartition("/")
    is_inside = folder in homes or any(path.startswith(f"{home}/") for home in homes if home)
    says_so = HELPER.fullmatch(name) or SUPPORT.fullmatch(name) or any(map(TESTING.search, texts))
    return not is_inside or bool(says_so)


def using(paths: Iterable[str], files: Mapping[str, str]) -> frozenset[str]:
    """The files that import one of these."""
    return frozenset(other for path in paths for other in _importing(path, files))


def _is_used(path: str, files: Mapping[str, str]) -> bool:
    return any(_importing(path, files))


def _importing(path: str, files: Mapping[str, str]) -> Iterator[str]:
    """The others that import it by its whole name."""
    whole = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    names = {whole, whole.removeprefix("src.")}
    word = whole.rpartition(".")[2]
    yield from (
        other
        for other, text in files.items()
        if other != path and word in text and not names.isdisjoint(modules_of(text, other))
    )


# --- files that are gone -------------------------------------------------------------------------------------

BY_NAME = ("/management/commands/", "/templatetags/")  # found by the file's name alone


def still_named(path: str, files: Mapping[str, str]) -> list[str]:
    """The files that know a deleted module: by an import, its whole name as a text, or where its name is enough."""
    name = dotted(path)
    python = {other: text for other, text in files.items() if other.endswith(".py")}
    found = {*_importing(path, python)}
    whole = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    as_text = re.compile(rf"{re.escape(name)}(?:[.:]\w+)*")
    for other, text in files.items():
        if "." in name and name in text:
            is_named = any(map(as_text.fullmatch, _constants(text))) if other in python else whole.search(text)
            found |= {other} if is_named else set()
        elif any(one in f"/{path}" for one in BY_NAME) and re.search(rf"\b{name.rpartition('.')[2]}\b", text):
            found.add(other)
    return sorted(found)


def _constants(text: str) -> Iterator[str]:
    for node in ast.walk(module_of(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
