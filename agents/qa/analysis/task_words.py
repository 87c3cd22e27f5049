"""What a task's own words say about tests: whether it asks for new behaviour, and which tests it names. Pure."""

from __future__ import annotations

import re

from agents.qa.analysis.touched import Touched
from shared.model.work import TaskSpec

MENDS = re.compile(r"\b(fix(es)?|bugs?|crash(es)?|broken|wrong|repair|error)\b")
QUIET = (  # kinds of work after which the target does what it did before; a word alone may be a thing of the product
    r"^(refactor|docs?|tests?|perf|style|chore|ci)(\([^)]*\))?:",
    r"^(refactor|clean up|simplify|rename|dedup\w*|tidy|reformat|annotate)\b",
    r"^(document|test|cover) (the|all|how|that)\b",
    r"^remove (the )?(unused|dead|duplicated?|obsolete)\b",
    r"\b(refactor|readme|documentation|docstrings?|unit tests?|regression tests?|test coverage)\b",
    r"^(add|write|improve|extend)( more| missing)? tests?\b",
    r"\b(faster|speed up|optimi[sz]e)\b|\bimprove .*performance\b",
    r"^make\b.* (linear|quicker|leaner|simpler|clearer|easier to read|more (readable|efficient))$",
    r"\b(better|clearer|shorter) names?\b",
)
UNCHANGED = re.compile(
    r"\bno change (of|in|to) behaviou?r\b|\b(behaviou?r|output) (stays|is|remains) (the same|unchanged|as it is)\b"
)
REMOVES = re.compile(r"\b(remov\w+|delet\w+|drop(s|ped)?|get rid of)\b", re.IGNORECASE)
KEEPS = re.compile(r"\b(not|never|keep\w*|stays?)\b|n't\b", re.IGNORECASE)
ADAPTS = re.compile(r"\b(up to date|updat\w+|adapt\w*|adjust\w*|chang\w+|rewrit\w+|correct\w*)\b", re.IGNORECASE)


def asks_for_behaviour(task: TaskSpec, touched: Touched) -> bool:
    """Whether something must work afterwards that did not before. In doubt it must: then a test has to show it."""
    if not touched.product:
        return False
    return mends(task) or (touched.adds and not _is_quiet(task))


def _is_quiet(task: TaskSpec) -> bool:
    title, text = task.title.strip().lower(), "\n".join((task.description, *task.acceptance)).lower()
    return any(re.search(quiet, title) for quiet in QUIET) or UNCHANGED.search(text) is not None


def mends(task: TaskSpec) -> bool:
    return MENDS.search(task.title.lower()) is not None


def is_declared(test: str, task: TaskSpec) -> bool:
    """The task's text names this test: whoever wrote the task knew that it would change."""
    text = "\n".join((task.title, task.description, *task.acceptance))
    return re.search(rf"(?<!\w){re.escape(bare_name(test))}(?!\w)", text) is not None


def changes_tests_of(path: str, task: TaskSpec) -> bool:
    """A sentence of the task says that the tests of this file are to be changed, without naming them."""
    return bool(path) and any(path in sentence and ADAPTS.search(sentence) is not None for sentence in _sentences(task))


def names_to_remove(task: TaskSpec) -> frozenset[str]:
    """The words of the sentences that ask to remove something."""
    asking = (one for one in _sentences(task) if REMOVES.search(one) and not KEEPS.search(one))
    return frozenset(word for sentence in asking for word in re.findall(r"[^\W\d]\w*", sentence))


def _sentences(task: TaskSpec) -> list[str]:
    return re.split(r"[.;!?]\s|\n", "\n".join((task.title, task.description, *task.acceptance)))


def bare_name(test: str) -> str:
    """`test_b` of `tests/test_a.py::TestA::test_b[1]` and of `tests.test_a.TestA.test_b`."""
    last = test.partition("[")[0].rpartition("::")[2]
    return last if last.endswith(".py") else last.rpartition(".")[2]
