"""Differential testing: which functions can be called on both commits, and what their results say of a change."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.differential.calls import CallResult, Compared, Difference, compared, kept, results
from sisimpur.agents.qa.differential.comparable import KEEPER, Comparable

SHOP = '''"""Prices."""
from __future__ import annotations

RATE = 2


class Basket:
    def __init__(self):
        self.lines = []

    @property
    def total(self):
        return sum(self.lines)


def price(count, each=3):
    return count * each
'''


def of(before: str, after: str) -> Comparable:
    return Comparable.of({"shop.py": (before, after)})


def watched(found: Comparable) -> list[str]:
    """The functions whose calls are kept, in the order of the file."""
    module = ast.parse(found.texts["shop.py"])
    return [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and any(KEEPER in ast.dump(one) for one in node.decorator_list)
    ]


# --- what can be compared ------------------------------------------------------------------------------------


def test_functions_of_a_changed_file_are_watched_and_the_changed_ones_are_known() -> None:
    found = of(SHOP, SHOP.replace("count * each", "each * count"))
    assert sorted(watched(found)) == ["price", "total"]
    assert found.changed == {"price"}
    assert found.remade == frozenset()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", SHOP, id="a new file"),
        pytest.param(SHOP, SHOP + "\n\ndef more():\n    return 1\n", id="a file that only adds"),
        pytest.param(SHOP, "def (", id="no Python any more"),
        pytest.param("X = 1\n", "X = 2\n", id="no function"),
        pytest.param("def a():\n    return 1\n", "async def a():\n    return 1\n", id="another kind of function"),
        pytest.param("def a(b):\n    return 1\n", "def a(c):\n    return 1\n", id="other parameters"),
        pytest.param("@a.setter\ndef a(b):\n    c = 1\n", "@a.setter\ndef a(b):\n    c = 2\n", id="another's name"),
    ],
)
def test_what_cannot_be_called_on_both_sides_is_left_out(before: str, after: str) -> None:
    assert of(before, after) == Comparable({})


@pytest.mark.parametrize(
    "line", ["def a(b):", "async def a(b):", "@route('/')\ndef a(b):", "@property\nasync def a(b):"]
)
def test_a_call_is_kept_below_all_decorators(line: str) -> None:
    text = of(f"{line}\n    return 1\n", after := f"{line}\n    return 2\n").texts["shop.py"].decode()
    assert text == f"import gate_calls as {KEEPER}\n" + after.replace(
        line.splitlines()[-1], f"@{KEEPER}.seen\n{line.splitlines()[-1]}"
    )


@pytest.mark.parametrize(
    "now",
    [
        SHOP.replace("self.lines = []", "self.rows = []").replace("self.lines)", "self.rows)"),
        SHOP.replace("self.lines = []", "self.lines = {}"),
        SHOP.replace("class Basket:", "class Basket(dict):"),
        SHOP.replace("class Basket:", "@dataclass\nclass Basket:"),
    ],
)
def test_no_object_crosses_over_where_its_fields_are_others(now: str) -> None:
    assert of(SHOP, now).remade == {"Basket"}


def test_a_derived_class_has_the_fields_of_its_base() -> None:
    derived = SHOP + "\n\nclass Big(Basket):\n    pass\n"
    assert of(derived, derived.replace("self.lines = []", "self.lines = ()")).remade == {"Basket", "Big"}


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, min_size=1), st.booleans(), st.booleans())
def test_a_watched_file_does_the_same(names: list[str], documented: bool, is_late: bool) -> None:
    head = ('"""Doc."""\n' if documented else "") + ("from __future__ import annotations\n" if is_late else "")
    after = head + "".join(f"def {name}(n):\n    return n + {place}\n" for place, name in enumerate(names))
    text = of(after.replace("n +", "n -"), after).texts["shop.py"].decode()
    there: dict[str, Any] = {}
    exec(
        text.replace(f"import gate_calls as {KEEPER}", f"class {KEEPER}:\n    seen = staticmethod(lambda f: f)"), there
    )
    assert [there[name](1) for name in names] == [1 + place for place in range(len(names))]
    assert there.get("__doc__") == ("Doc." if documented else None)


# --- what the results say ------------------------------------------------------------------------------------


def line(near: int = 0, call: int = 0, **other: object) -> bytes:
    told = {"call": [call, near], "said": f"price({near})", "end": "returned", "type": "int", "what": "1"}
    return json.dumps({**told, "changes": [], "itself": False, "quick": True, **other}).encode()


CALLS = kept(
    json.dumps({"function": "shop:price", "given": "AA==", "path": ["/job"], "django": ""}).encode(), Comparable({})
)


def difference(then: dict[str, Any], now: dict[str, Any]) -> Compared:
    return compared(CALLS, results(line(**then)), results(line(**now)))


RAISED = {"end": "raised", "type": "IndexError", "what": "list index out of range"}


@pytest.mark.parametrize(
    ("then", "now", "turn"),
    [
        ({}, {"what": "2"}, "other value"),
        ({}, {"type": "str", "what": "'1'"}, "other type"),
        ({}, RAISED, "raises"),
        ({}, {"end": "came to no end", "type": "", "what": ""}, "no end"),
        ({}, {"changes": [["[2, 1]", "[1, 2]"]]}, "changes its input"),
        ({}, {"changes": [["Basket()", "Basket(1)"]], "itself": True}, "other value"),
    ],
)
def test_a_call_that_does_something_else_is_told(then: dict[str, Any], now: dict[str, Any], turn: str) -> None:
    (found,) = difference(then, now).differences
    assert found.turn == turn
    assert found.told.startswith("price(0) returns 1 before the change, and now ")


@pytest.mark.parametrize(("then", "now"), [({}, {}), (RAISED, {}), (RAISED, {"end": "raised", "type": "ValueError"})])
def test_what_was_refused_before_is_no_difference(then: dict[str, Any], now: dict[str, Any]) -> None:
    assert difference(then, now).differences == ()


def test_a_call_that_took_long_before_may_come_to_no_end_on_a_busy_machine() -> None:
    assert difference({"quick": False}, {"end": "came to no end"}).differences == ()


def test_where_nothing_is_to_change_each_difference_goes_back_with_the_call() -> None:
    problem = difference({}, {"what": "2"}).problem(True, "", "")
    assert problem
    assert problem.remedy == "correct"
    assert "price(0) returns 1 before the change, and now returns 2" in problem.text


@pytest.mark.parametrize(
    ("now", "words", "text", "goes_back"),
    [
        pytest.param({"what": "2"}, "", "", False, id="another value may be what was asked for"),
        pytest.param(RAISED, "", "", True, id="a slip"),
        pytest.param(RAISED, "raise an error", "", True, id="no error that anybody asks for"),
        pytest.param(RAISED, "an IndexError", "", False, id="asked for by name"),
        pytest.param(RAISED, "", "raise IndexError(n)", False, id="raised on purpose"),
        pytest.param({**RAISED, "type": "KeyError"}, "", "", True, id="nobody speaks of errors"),
        pytest.param({**RAISED, "type": "KeyError"}, "refuse others", "", False, id="may be the refusal"),
        pytest.param({**RAISED, "type": "ValueError"}, "", "", False, id="mostly meant"),
        pytest.param({"end": "came to no end"}, "", "", True, id="hangs"),
        pytest.param({"changes": [["[2]", "[]"]]}, "a total", "", True, id="the caller's list is another"),
        pytest.param({"changes": [["[2]", "[]"]]}, "clear it", "", False, id="that was asked for"),
    ],
)
def test_where_something_is_asked_for_only_what_nobody_means_goes_back(
    now: dict[str, Any], words: str, text: str, goes_back: bool
) -> None:
    found = difference({}, now)
    assert (found.problem(False, words, text) is not None) == goes_back
    assert found.told[0] == "1 of 1 calls near those of the tests do something else now"


def test_that_nothing_differs_is_told_with_how_much_was_asked() -> None:
    assert difference({}, {}).told == ("1 calls near those of the tests do what they did before",)
    assert Compared().told == ()


def test_some_differences_are_told_each_function_and_kind_first() -> None:
    answer = CallResult("f(0)", "returned", "int", "1")
    many = [
        Difference("f", near, "other value", CallResult(f"f({near})", "returned", "int", "1"), answer)
        for near in range(9)
    ]
    last = Difference("g", 3, "raises", CallResult("g()", "returned", "int", "1"), answer)
    told = Compared(20, (*many, last)).told
    assert len(told) == 6
    assert told[1].startswith("f(0) ")
    assert told[2].startswith("g() ")


JSON = st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one))


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_a_box_says_is_read(data: bytes) -> None:
    assert kept(data, Comparable({})).calls == ()
    assert results(data) == {}


@given(st.permutations([line(n, call) for call in range(3) for n in range(3)]))
def test_the_order_of_the_lines_says_nothing(lines: list[bytes]) -> None:
    assert results(b"\n".join(lines)) == results(b"\n".join(sorted(lines)))


def test_no_function_takes_all_the_room() -> None:
    rows = [{"function": f"shop:{name}", "given": f"{n}", "path": [], "django": ""} for name in "ab" for n in range(90)]
    found = kept(b"\n".join(json.dumps(row).encode() for row in rows), Comparable({}, frozenset({"b"})))
    assert len(found.calls) == 100
    assert [one.name for one in found.calls[:90]] == ["b"] * 90
