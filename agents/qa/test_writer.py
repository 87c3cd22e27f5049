"""TaskSpec and Evidence -> the order to write the tests that are missing, and nothing else. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from sisimpur.agents.qa.coverage_checker import places
from sisimpur.agents.qa.evidence_rule import UNCHANGED
from sisimpur.shared.model.evidence import Evidence, configures_tests, is_test_file, rules
from sisimpur.shared.model.naming import slug
from sisimpur.shared.model.work import Branch, TaskSpec

MOST_CONTEXT = 8  # changed files that are shown
LIKE_DJANGO = """\
Write them as this repository does: a class on django.test.TestCase (SimpleTestCase where no database is needed), one
method per behaviour, in the style of the test file that comes along."""
LIKE_UNITTEST = """\
Write them as this repository does: a class on unittest.TestCase, one method per behaviour, in the style of the test
file that comes along."""
LIKE_PYTEST = """\
Write them for pytest: plain functions whose names are sentences, parametrized tables, the fixtures that are there."""
ORDER = """\
The change for this task is made; its tests are missing. Write them, in {path} and nowhere else.

{style}

- Test what the task asks for, through what the changed code offers to its callers, with its edge cases.
- {aim}
- Every test asserts exact results. No test is skipped, may fail, or asks only whether something is there.
- Where the changed code is pure, write property tests with hypothesis, if this repository has it.
- Do not change any other file. If the code has a fault, write the test that shows it.
{uncovered}
What was asked for:

{description}"""


SHOWS_IT = "At least one test must fail without the change."
KEEPS_IT = """\
The change is to alter nothing that a caller sees. Pin down what the code did before: every test must pass with the
  change and without it. Now {gap}."""


@dataclass(frozen=True)
class Sample:
    """A test file of the repository, as an example of its style."""

    path: str
    text: str


def order(
    task: TaskSpec, branch: Branch, evidence: Evidence, paths: Collection[str], sample: Sample | None
) -> TaskSpec:
    """`paths`: all files of the commit. The order is for the coding engine; it creates one file and edits none."""
    path = new_file(task, branch.changed, paths)
    uncovered = f"- No test runs these changed lines: {places(evidence.uncovered)}." if evidence.uncovered else ""
    changed = [one for one in branch.changed if one in set(paths)][:MOST_CONTEXT]
    description = ORDER.format(
        path=path, style=_style(sample), aim=_aim(evidence), uncovered=uncovered, description=task.description
    )
    held = "pass, with the change and without it" if _is_to_keep(evidence) else "pass, and fail without the change"
    return replace(
        task,
        title=f"Tests for: {task.title}",
        description=description,
        files=(),
        new_files=(path,),
        context=tuple(dict.fromkeys([*changed, *([sample.path] if sample else [])])),
        acceptance=(*task.acceptance, f"{path} holds tests that {held}"),
    )


def _is_to_keep(evidence: Evidence) -> bool:
    return UNCHANGED in rules(evidence.needing("write tests"))


def _aim(evidence: Evidence) -> str:
    if not _is_to_keep(evidence):
        return SHOWS_IT
    return KEEPS_IT.format(gap="; ".join(one.text for one in evidence.needing("write tests")))


def new_file(task: TaskSpec, changed: Iterable[str], paths: Collection[str]) -> str:
    """`tests/test_<title>.py`, where the repository keeps its tests; a name that is not taken."""
    name = (slug(task.title) or slug(task.id) or "change").replace("-", "_")
    folder = _folder(changed, paths)
    names = (f"{folder}test_{name}{number}.py" for number in ("", *(f"_{n}" for n in range(2, 1000))))
    return next(path for path in names if path not in set(paths))


def sample_of(changed: Iterable[str], paths: Collection[str]) -> str:
    """The test file whose style is to be followed: beside the new one, or the next best; empty: there is none."""
    folder, tests = _folder(changed, paths), sorted(filter(_is_test_module, paths))
    return next((path for path in tests if path.rpartition("/")[0] == folder.rstrip("/")), tests[0] if tests else "")


def _folder(changed: Iterable[str], paths: Collection[str]) -> str:
    """Folder of the changed package's tests, or else of most tests, with a slash at its end."""
    kept = Counter(path.rpartition("/")[0] for path in sorted(paths) if _is_test_module(path))
    for path in changed:
        package = path.rpartition("/")[0]
        for folder in (f"{package}/tests", package):
            if package and folder in kept:
                return f"{folder}/"
    most = kept.most_common(1)
    folder = most[0][0] if most else "tests"
    return f"{folder}/" if folder else ""


def _is_test_module(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and "test" in name and is_test_file(path) and not configures_tests(path)


def _style(sample: Sample | None) -> str:
    if sample and "django.test" in sample.text:
        return LIKE_DJANGO
    if sample and "unittest" in sample.text and "pytest" not in sample.text:
        return LIKE_UNITTEST
    return LIKE_PYTEST
