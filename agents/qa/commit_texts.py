"""The texts of a commit that are read beside its runs: what it changes is sorted, compared and looked up in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from sisimpur.agents.qa.analysis.equivalence import is_same_code
from sisimpur.agents.qa.analysis.renames import Renames, renames
from sisimpur.agents.qa.analysis.task_words import modules_to_remove, names_made, obsolete, testing
from sisimpur.agents.qa.analysis.test_changes import Named, Weakening, renamed
from sisimpur.agents.qa.analysis.test_support import SourceTexts, relied_on
from sisimpur.agents.qa.analysis.touched import SuiteFiles, Touched, dotted, is_text, moved_modules
from sisimpur.agents.qa.analysis.uncovered import Pair, unrun
from sisimpur.agents.qa.analysis.which_tests import (
    PythonTexts,
    holding_tests,
    keeps_examples,
    learned,
    still_named,
    using,
)
from sisimpur.agents.qa.evidence_rule import MOST_NAMED, Runs, Texts, Uncounted, is_usable
from sisimpur.shared.model.change import Change, CommitFiles, paths_of
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.evidence import SuiteRun, configures_tests, is_test_file
from sisimpur.shared.model.text import few
from sisimpur.shared.model.work import Branch, TaskSpec

LARGEST = 20_000_000  # bytes of a file of the tests, data included
MADE = re.compile(r"(?<!class )\b(\w+)\(")


class CommitSource(CommitFiles, Protocol):
    """The target's commits: the mirror."""

    def tree_id(self, sha: str) -> str: ...
    def changed(self, old: str, new: str) -> tuple[Change, ...]: ...


def text_of(source: CommitFiles, commit: str, path: str) -> str:
    """A file that is no text is a NUL, which nobody can parse."""
    try:
        return (source.read(commit, path, LARGEST) or b"").decode()
    except (Refused, UnicodeDecodeError):
        return "\0"


class CommitTexts:
    """Errors are those of the source."""

    def __init__(self, source: CommitSource, branch: Branch, patterns: tuple[str, ...], said: str) -> None:
        """`patterns`: the owner's word on what is a test; empty: none. `said`: the words of the task."""
        self._said = said
        self._source = source
        self._patterns = patterns
        self._branch = branch
        self.changes = source.changed(branch.base, branch.commit)

    @cached_property
    def before(self) -> frozenset[str]:
        """The paths of the base."""
        return paths_of(self._source, self._branch.base)

    @cached_property
    def after(self) -> frozenset[str]:
        """The paths of the commit."""
        return paths_of(self._source, self._branch.commit)

    @cached_property
    def touched(self) -> Touched:
        same = frozenset(change.path for change in self.changes if self._does_the_same(change))
        shown = frozenset(change.path for change in self.changes if self._shows_the_same(change))
        return Touched(self.changes, same, self._relied(), patterns=self._patterns, same_examples=shown)

    def learn(self, base: SuiteRun, places: SuiteFiles) -> None:
        """Of the base's report, which of the changed files are tests."""
        if is_usable(base) and not self._patterns:
            changed = {path: (self._then(path), self._now(path)) for path in _python(one.path for one in self.changes)}
            sources = PythonTexts(changed, lambda: self._of_product(self.before, self._then), self._of_tests)
            self.touched = learned(self.touched, holding_tests(base, places), sources)

    @cached_property
    def moved(self) -> Mapping[str, str]:
        """Modules that have another name now, whole: the old one, and the new one."""
        product = self.touched.product
        gone = _python(one.path for one in product if one.kind == "deleted")
        come = _python(one.path for one in product if one.kind == "added")
        return moved_modules({path: self._then(path) for path in gone}, {path: self._now(path) for path in come})

    @cached_property
    def renames(self) -> Renames:
        """Names and places in the product that the task gives to what was there."""
        code = {one.path: (self._then(one.path), self._now(one.path)) for one in self.touched.code}
        return renames(code, self._said, self._knows)

    def _relied(self) -> frozenset[str]:
        """Files that only tests rely on.

        Of old files the product before decides: a change cannot claim a file by naming it.
        """
        texts = {change.path: self._both(change.path) for change in self.changes if not change.binary}
        old = {path: text for path, text in texts.items() if path in self.before}
        new = {path: text for path, text in texts.items() if path not in self.before}
        then = SourceTexts(self._of_tests, lambda: self._of_product(self.before, self._then))
        now = SourceTexts(self._of_tests, lambda: self._of_product(self.after, self._now))
        return relied_on(old, then) | relied_on(new, now)

    def without_runs(self, task: TaskSpec, weakened: Sequence[Weakening]) -> Texts:
        """Read what the rule of evidence is told of them before any run."""
        tests = [one.path for one in self.touched.tests if one.path.endswith(".py") and one.path in self.before]
        code = [one.path for one in self.touched.product if one.path.endswith(".py")]
        pairs = ((self._then(path), self._now(path)) for path in code)
        then = {path: self._then(path) for path in tests}
        gone = obsolete(task, then, pairs, self._knows) | frozenset(self._of_removed(task, then))
        python = _python(one.path for one in self.touched.tests)
        names = renamed({path: (self.renames.applied(self._then(path)), self._now(path)) for path in python})
        return Texts(weakened, gone, renamed=names, missed=tuple(self._missed()))

    def _of_removed(self, task: TaskSpec, tests: Mapping[str, str]) -> Iterator[Named]:
        """Tests of modules that are deleted as asked. Whether somebody still knows such a module is looked at apart."""
        deleted = _python(one.path for one in self.touched.product if one.kind == "deleted")
        for path in modules_to_remove(task, deleted):
            there = {dotted(path).rpartition(".")[2], *names_made(self._then(path))}
            for file in using([path], tests):
                yield from ((file, name) for name in testing(tests[file], there))

    def _missed(self) -> Iterator[str]:
        for path in _python(one.path for one in self.touched.product if one.kind == "deleted"):
            is_there = any(dotted(one) == dotted(path) for one in _python(self.after))
            if knowing := [] if is_there else still_named(path, self._product):
                yield f"{path} is deleted, and {few(knowing, MOST_NAMED)} still knows {dotted(path)}"

    def read(self, known: Texts, runs: Runs, is_hook: Callable[[str], bool]) -> Texts:
        """Read what it is told of them besides: which changed lines no run has run."""
        lines = _Lines.of(runs)
        return replace(known, unrun=self._unrun(lines, is_hook), uncounted=lines.uncounted)

    def _unrun(self, lines: _Lines, is_hook: Callable[[str], bool]) -> tuple[str, ...]:
        """Changed lines that no test is known to have run, of code that is not known to do the same."""
        code = [one for one in self.touched.product if one.path.endswith(".py") and one.path not in self.touched.same]
        pairs = {
            one.path: Pair(
                self._then(one.path) if one.mode_old else None,
                self._now(one.path) if one.mode_new else None,
                lines.missing_before(one.path),
                lines.missing_after(one.path),
            )
            for one in code
        }
        made = {name for text in self._of_tests().values() for name in MADE.findall(text)}
        return unrun(pairs, self._knows, is_hook, made.__contains__)

    # --- files -----------------------------------------------------------------------------------------------

    def _then(self, path: str) -> str:
        return text_of(self._source, self._branch.base, path)

    def _now(self, path: str) -> str:
        return text_of(self._source, self._branch.commit, path)

    def _both(self, path: str) -> str:
        return self._then(path) + "\n" + self._now(path)

    def _does_the_same(self, change: Change) -> bool:
        if change.kind != "modified" or not change.path.endswith(".py"):
            return False
        then, now = self._then(change.path), self._now(change.path)
        return is_same_code(then, now, lambda: self._texts(_python(self.after - {change.path})).values())

    def _shows_the_same(self, change: Change) -> bool:
        is_read = change.kind == "modified" and not change.binary
        return is_read and keeps_examples(change.path, self._then(change.path), self._now(change.path))

    def _of_tests(self) -> Mapping[str, str]:
        """Texts of the base's tests, and of those that the change brings."""
        paths = [path for path in self.before if _asks(path)]
        mine = [change.path for change in self.changes if change.mode_new and _asks(change.path)]
        now = {path: self._now(path) for path in mine}
        return {path: self._then(path) + "\n" + now.pop(path, "") for path in paths} | now

    def _of_product(self, paths: Iterable[str], text: Callable[[str], str]) -> Mapping[str, str]:
        return {path: text(path) for path in _python(paths) if not is_test_file(path)}

    def _knows(self, name: str) -> bool:
        """Say whether the product still has this word somewhere: documentation is not asked."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(name in text and word.search(text) for text in self._product.values())

    @cached_property
    def _product(self) -> Mapping[str, str]:
        return self._texts(path for path in self.after if not is_test_file(path) and not is_text(path))

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self._now(path) for path in sorted(paths)}


@dataclass(frozen=True)
class _Lines:
    """Lines that were not run, by file: on the base by several runs, on the commit by one."""

    before: Sequence[Mapping[str, Sequence[int]]]
    after: Mapping[str, Sequence[int]] | None

    @classmethod
    def of(cls, runs: Runs) -> _Lines:
        without = [run for run in (runs.base, runs.unchanged) if run and is_usable(run)]
        counted = [run.uncovered for run in without if run.covered is not None]
        return cls(counted, runs.change.uncovered if runs.change.covered is not None else None)

    @property
    def uncounted(self) -> Uncounted:
        return "the change" if self.after is None else "" if self.before else "the base"

    def missing_before(self, path: str) -> Collection[int] | None:
        return set.intersection(*(set(lines.get(path, ())) for lines in self.before)) if self.before else None

    def missing_after(self, path: str) -> Collection[int] | None:
        return None if self.after is None else self.after.get(path, ())


def _python(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path.endswith(".py")]


def _asks(path: str) -> bool:
    """A test's source, or what configures tests."""
    return configures_tests(path) or (is_test_file(path) and path.endswith(".py"))
