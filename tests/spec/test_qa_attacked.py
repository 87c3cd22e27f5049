"""Code that is nested as deeply as a parser takes it: what is shown of it comes to an end, and claims nothing."""

from __future__ import annotations

import ast

import pytest

from sisimpur.agents.qa.analysis.equivalence import handed_on, is_same_code
from sisimpur.agents.qa.analysis.test_changes import weakenings
from sisimpur.agents.qa.analysis.uncovered import Pair, unrun
from sisimpur.agents.qa.unheld.mutants import MOST, mutants

DEEP = {
    "a sum": "(\n" + "+\n".join(["a"] * 2_000) + ")",
    "calls of calls": "a" + ".b()\\\n" * 300,
    "names of names": "a" + ".b\\\n" * 900,
    "not not": "not " * 1_500 + "a",
}


@pytest.mark.parametrize("part", DEEP.values(), ids=DEEP)
def test_code_that_is_nested_deeply_is_judged_like_any_other(part: str) -> None:
    old, new = f"def test_f():\n    assert {part}\n", f"def test_f():\n    assert a\n    assert {part}\n"
    assert weakenings("tests/test_a.py", old, None)
    assert not is_same_code(old, new)
    assert len(mutants([("a.py", old, range(1, 2_100))])) <= MOST
    assert unrun({"a.py": Pair(old, f"x = 1\n{old}", (), (1,))}, lambda _: False) == ("a.py:1",)
    assert handed_on(["f"], [f"x = {part}.f\n"], ["m"]) <= {"f"}


def nested(depth: int) -> str:
    return f"def f(x, c, y):\n    return {'-' * depth}(x if c else y)\n"


def deepest() -> int:
    """How deeply the parser takes it, here; whoever is called from here has less room."""
    few, many = 1, 20_000
    while many - few > 1:
        middle = (few + many) // 2
        try:
            ast.parse(nested(middle))
            few = middle
        except (RecursionError, MemoryError):
            many = middle
    return few


def test_a_fault_that_is_nested_too_deeply_is_none() -> None:
    """One bracket more than there was may be one too many."""
    most = deepest()
    found = [len(mutants([("a.py", nested(most - less), [2])], are_small=True)) for less in range(0, 40, 5)]
    assert found[0] == 0 < found[-1]


def test_who_is_asked_for_a_name_is_told_by_plain_names() -> None:
    assert handed_on(["f"], ["import m\nm.f()\n"], ["m"]) == frozenset()
    assert handed_on(["f"], ["import m as n\nn.f()\n"], ["m"]) == frozenset()
    assert handed_on(["f"], ["import a\na.m.f()\n"], ["m"]) == {"f"}
    assert handed_on(["f"], ["x().f()\n"], ["m"]) == {"f"}
