"""ruff's codes -> findings: which of them hurt, which are comments, and which say nothing about tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.agents.reviewer.rules.known import settled_by_base
from sisimpur.shared.model.evidence import Finding, LintFinding, Severity

BEFORE, AFTER = "before/", "after/"
HIGH = re.compile(r"invalid-syntax|E9|F7|F82[123]|S(?:102|201|30[127]|323|501|50[67]|602|605|609|701)$")
ERROR = re.compile(r"invalid-syntax|E9|F7|F82")
MEDIUM = re.compile(
    r"F50|F52|F6|F811|B(?:002|005|006|012|015|016|017|018|020|023|025|029|030|031|035|909)$"
    r"|S(?:202|306|50[234589]|601|604|612|702)$"
)
UNWANTED = ("S101", "S311", "S404", "S603", "S607")  # more noise than news
BREAKS_ELSEWHERE = ("F821", "F822", "F823")  # a removed line breaks one that stays


class Linter(Protocol):
    def lint(self, files: Mapping[str, str]) -> Sequence[LintFinding]:
        """Path -> text of Python files. Stumble: nothing is known of them."""


def findings(case: Case, linter: Linter) -> tuple[Finding, ...]:
    """Findings in changed Python files: about added lines, and about names that the change has made unknown."""
    files = {file.path: file for file in case.files if file.is_python and file.after is not None}
    texts = {BEFORE + path: file.before for path, file in files.items() if file.before is not None}
    texts |= {AFTER + path: file.after for path, file in files.items() if file.after is not None}
    lints = linter.lint({path: text for path, text in texts.items() if text}) if texts else ()
    before = [lint for lint in lints if lint.path.startswith(BEFORE)]
    after = [lint for lint in lints if lint.path.startswith(AFTER)]
    found = _findings(files, after, Counter((lint.path.removeprefix(BEFORE), lint.text) for lint in before))
    return tuple(settled_by_base(tuple(found), case, lambda base: _of_base(base, before)))


def _of_base(base: Case, lints: Iterable[LintFinding]) -> Iterator[Finding]:
    """Findings in the base that may be lived with. An error is one wherever it stands."""
    files = {file.path: file for file in base.files}
    for lint in lints:
        file = files[lint.path.removeprefix(BEFORE)]
        if not ERROR.match(lint.code) and (rank := severity(lint.code, file.is_test)):
            yield _finding(file, lint, rank)


def _findings(
    files: Mapping[str, ChangedFile], lints: Iterable[LintFinding], known: Counter[tuple[str, str]]
) -> Iterator[Finding]:
    for lint in lints:
        file = files[lint.path.removeprefix(AFTER)]
        if lint.line not in file.added:
            known[file.path, lint.text] -= 1
            if lint.code not in BREAKS_ELSEWHERE or known[file.path, lint.text] >= 0:
                continue
        if rank := severity(lint.code, file.is_test):
            yield _finding(file, lint, rank)


def _finding(file: ChangedFile, lint: LintFinding, rank: Severity) -> Finding:
    return replace(file.finding(lint.line, rank, lint.code, lint.text), source="ruff")


def severity(code: str, in_test: bool) -> Severity | None:
    """None: not worth a word. The linter's ideas about security say nothing about tests."""
    if code in UNWANTED or (in_test and code.startswith("S")):
        return None
    if HIGH.match(code):
        return Severity.HIGH
    return Severity.MEDIUM if MEDIUM.match(code) else Severity.LOW
