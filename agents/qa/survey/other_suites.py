"""Suites of other languages, which nobody runs here: what a change leaves unknown, and what needs the owner. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sisimpur.agents.qa.survey.target_survey import TargetSurvey
from sisimpur.shared.model.evidence import Evidence, Problem
from sisimpur.shared.model.text import few

MOST = 3  # that are named
SCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
JVM = (".java", ".kt", ".kts", ".groovy", ".scala")
FILES = {
    "JavaScript": SCRIPT,
    "Go": (".go",),
    "Rust": (".rs",),
    "Java": JVM,
    "Kotlin": JVM,
    "Ruby": (".rb", ".erb"),
    "PHP": (".php",),
    "C or C++": (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"),
}


def suites_not_run(survey: TargetSurvey) -> tuple[str, ...]:
    """`JavaScript (web/package.json, …)`, each language once."""
    found: dict[str, list[str]] = {}
    for language, path in survey.others():
        found.setdefault(language, []).append(path)
    return tuple(f"{language} ({few(paths, MOST)})" for language, paths in found.items())


def of_other_parts(survey: TargetSurvey, paths: Iterable[str]) -> dict[str, list[str]]:
    """Language -> those of these files that only its suites could test: its own, in a folder that has a manifest."""
    found: dict[str, list[str]] = {}
    others = [(language, path.rpartition("/")[0]) for language, path in survey.others()]
    for path in sorted(paths):
        for language, folder in others:
            inside = path.startswith(f"{folder}/" if folder else "")
            if inside and path.endswith(FILES[language]) and path not in found.get(language, ()):
                found.setdefault(language, []).append(path)
    return found


def with_other_suites(evidence: Evidence, survey: TargetSurvey, changed: Iterable[str]) -> Evidence:
    """Name the suites that did not run; a change in such a part is the owner's, whatever Python's tests say."""
    problems = tuple(
        Problem("its suites are not run", f"{few(paths, MOST)}: {language} is not tested here", "ask owner")
        for language, paths in of_other_parts(survey, changed).items()
    )
    return replace(
        evidence, not_run=(*evidence.not_run, *suites_not_run(survey)), problems=(*evidence.problems, *problems)
    )
