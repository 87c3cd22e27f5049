"""The changed files, sorted by what they are to the tests; which file a test's id belongs to; what moved. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sisimpur.agents.qa.analysis.expressions import Function, module_of
from sisimpur.shared.model.change import LINK, SUBMODULE, Change
from sisimpur.shared.model.evidence import SuiteRun, configures_tests, is_test_file
from sisimpur.shared.model.scope import matches, permits

DOCUMENTS = ("README", "CHANGES", "HISTORY", "NEWS", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTORS", "CONTRIBUTING")
WORDS = (  # documentation; a text elsewhere may be what the product says
    *("*.md", "*.rst", "docs/", "/doc/", "LICENSE*", "LICENCE*", "CHANGELOG*"),
    *(name + ending for name in DOCUMENTS for ending in ("", ".txt")),
)
SAID = ("templates/", "prompts/")  # there a text is the product's, whatever it is called
CODE = (".py", ".pyi", ".pyw", ".pyx")  # never a text, wherever it lies
GROUP = re.compile(r"(.+) \(\w+\)")  # how a reporter names what is no test: `shop.tests (import)`


def is_text(path: str) -> bool:
    """Documentation. What Python runs is none: a build imports `docs/conf.py`, readers copy `docs/examples/a.py`."""
    return not path.endswith(CODE) and permits(path, WORDS) and not matches(path, SAID)


@dataclass(frozen=True)
class Touched:
    """Changes of a commit. `same`: paths of code that does what it did; `relied`: beside the product, for its tests.

    `misnamed`: they look like tests and are the product. `patterns`: the owner's word on what is a test; empty: none.
    `same_examples`: their docstrings, or the documents, still show each example that they showed.
    Links and submodules are never laid out again: they need the owner anyhow.
    """

    changes: tuple[Change, ...]
    same: frozenset[str] = frozenset()
    relied: frozenset[str] = frozenset()
    misnamed: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    same_examples: frozenset[str] = frozenset()

    @property
    def tests(self) -> tuple[Change, ...]:
        """Test files, their data, and what configures them."""
        special = (LINK, SUBMODULE)
        return tuple(
            change
            for change in self.changes
            if self.is_for_tests(change.path) and change.mode_old not in special and change.mode_new not in special
        )

    def is_for_tests(self, path: str) -> bool:
        is_named = bool(matches(path, self.patterns)) if self.patterns else is_test_file(path)
        return configures_tests(path) or path in self.relied or (is_named and path not in self.misnamed)

    def may_be_product(self, path: str) -> bool:
        """Before a run has shown which files hold tests. Nobody looks for a product below `tests/`."""
        return not self.is_for_tests(path) or not (self.patterns or matches(path, ("tests/", "conftest.py")))

    def _is_product(self, path: str) -> bool:
        return not self.is_for_tests(path) and not is_text(path)

    @property
    def expected(self) -> frozenset[str]:
        """What tests expect, beside them: golden files, snapshots, and what else they read."""
        paths = {change.path for change in self.tests if not change.path.endswith(CODE)}
        return frozenset(paths - {*self.configuration})

    @property
    def configuration(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes if configures_tests(change.path))

    @property
    def code(self) -> tuple[Change, ...]:
        """Python that the product runs, and that is still there."""
        return tuple(
            change
            for change in self.changes
            if change.path.endswith(".py") and change.kind != "deleted" and not self.is_for_tests(change.path)
        )

    @property
    def product(self) -> tuple[Change, ...]:
        """Changes that a user of the target could notice: neither tests nor texts."""
        return tuple(change for change in self.changes if self._is_product(change.path))

    @property
    def adds(self) -> bool:
        """Something that a test could show. Tests beside code that does what it did claim that there is something."""
        new = [change for change in self.product if change.path not in self.same]
        return any(change.added_lines or change.binary for change in new) or (not new and self.brings_tests)

    @property
    def touches_old_tests(self) -> bool:
        """A new conftest.py reaches old tests too."""
        return any(change.kind != "added" or configures_tests(change.path) for change in self.tests)

    @property
    def brings_tests(self) -> bool:
        return any(change.kind != "deleted" and change.path.endswith(".py") for change in self.tests)


class SuiteFiles:
    """Index of the files that tests are in. `paths`: all files of a commit."""

    def __init__(self, paths: Iterable[str]) -> None:
        paths = [path for path in paths if path.endswith(".py")]
        roots = {"", "src/", *(path.removesuffix("manage.py") for path in paths if path.endswith("/manage.py"))}
        self._modules = {
            _module(path.removeprefix(root)): path for root in sorted(roots) for path in paths if path.startswith(root)
        }

    def file(self, test: str) -> str:
        """The path in an id of pytest, or that of the module in an id of unittest; empty: not known."""
        path, sign, _ = test.partition("::")
        if sign or path.endswith(".py"):
            return path
        group = GROUP.fullmatch(test)
        parts = (group[1] if group else test).split(".")
        names = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
        return next((self._modules[name] for name in names if name in self._modules), "")

    def files(self, tests: Iterable[str]) -> frozenset[str]:
        return frozenset(filter(None, map(self.file, tests)))

    def broken_files(self, run: SuiteRun) -> frozenset[str]:
        """Files that could not be collected or set up: none of their tests has run."""
        return self.files(test for test in run.of("failed") if is_group(test))


def is_group(test: str) -> bool:
    """An id that stands for a whole file or class."""
    return "::" not in test and (test.endswith(".py") or GROUP.fullmatch(test) is not None)


def chosen(touched: Collection[str], holding: Collection[str]) -> Sequence[str]:
    """The touched files if all of them hold tests; else any test may be concerned: () for all."""
    return sorted(touched) if set(touched) <= set(holding) else ()


# --- modules that moved --------------------------------------------------------------------------------------


def dotted(path: str) -> str:
    """`shop.prices` of `src/shop/prices.py`."""
    return _module(path.removeprefix("src/"))


def moved_modules(gone: Mapping[str, str], come: Mapping[str, str]) -> dict[str, str]:
    """Modules by their names -> where each of their definitions stands now, word for word.

    `gone`, `come`: the texts of files that a change deletes and adds.
    """
    there = {dotted(path): _definitions(text) for path, text in come.items()}
    homes = {
        dotted(path): [name for name, found in there.items() if _definitions(text) <= found]
        for path, text in gone.items()
        if _definitions(text)
    }
    return {old: names[0] for old, names in homes.items() if len(names) == 1 and names[0] != old}


def with_moved(text: str, moves: Mapping[str, str]) -> str:
    """The text of a test that was, as it has to be when these modules are called otherwise."""
    for old, new in moves.items():
        text = _with_moved(text, old, new)
    return text


def _with_moved(text: str, old: str, new: str) -> str:
    package, _, name = old.rpartition(".")
    to, _, called = new.rpartition(".")
    before = rf"from {re.escape(package)} import {name}" if package else f"import {name}"
    after = f"from {to} import {called}" if to else f"import {called}"

    def imported(found: re.Match[str]) -> str:
        return f"{found[1]}{after} as {found[2] or name}"

    text = re.sub(rf"^([ \t]*){before}(?: as (\w+))?[ \t]*$", imported, text, flags=re.MULTILINE)
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)" if package else rf"(?<=from ){name}(?= import\b)", new, text)


def _definitions(text: str) -> frozenset[str]:
    return frozenset(ast.dump(node) for node in module_of(text).body if isinstance(node, Function | ast.ClassDef))


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
