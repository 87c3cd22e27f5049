"""Who uses what a change changed: callers in the product, and tests, as far as the change does not show them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sisimpur.agents.reviewer.definitions import MOST_CALLERS, MOST_TESTS, told_uses, uses
from sisimpur.agents.reviewer.diff_analyzer import chunks
from tests.spec.reviewing import ScriptedModel, approve, case, file, patch
from tests.spec.test_reviewer_verdict import NEW, review

TAX = "def tax(x):\n    return x * 15 // 100\n"
LESS = TAX.replace("15", "10")
SHOP = "class Shop:\n    def __init__(self):\n        self.sum = 0\n\n    def price(self, x):\n        return x\n"
DEAR = SHOP.replace("return x", "return x + 1")
FILLER = "".join(f"x{number} = {number}\n" for number in range(100))


def used(tracked: Mapping[str, str], after: str = LESS, before: str | None = TAX) -> str:
    """By the files around a change of `shop/prices.py`."""
    changed = [file("shop/prices.py", after, before)]
    (chunk,) = chunks(patch(changed), changed, 100_000)
    return told_uses(uses(case(changed, tracked)), chunk)


def test_a_caller_is_shown_with_the_lines_around_its_call_and_what_it_stands_in() -> None:
    text = "from shop.prices import tax\n\n\nclass Cart:\n    def sum(self):\n        a = 1\n        b = tax(a)\n"
    assert used({"shop/cart.py": text + "        return b\n\n    def other(self): ...\n"}).split("\n") == [
        "=== shop/cart.py, from line 6, in Cart.sum: uses tax",
        "        a = 1",
        "        b = tax(a)",
        "        return b",
    ]


def test_of_a_function_that_names_it_and_calls_it_the_call_is_shown() -> None:
    text = "from shop.prices import tax\n\n\ndef sum(a):\n    how: tax\n    other = tax\n    x = 1\n"
    text += "    b = tax(\n        a,\n    )\n"
    assert used({"shop/cart.py": text + "    return b\n"}).split("\n") == [
        "=== shop/cart.py, from line 7, in sum: uses tax",
        *("    x = 1", "    b = tax(", "        a,", "    )", "    return b"),
    ]


FOUND = [
    pytest.param("from shop.prices import tax as t\nt(1)\n", id="by another name"),
    pytest.param("from shop import prices\nprices.tax(1)\n", id="of a module"),
    pytest.param("from .prices import tax\npath('', tax)\n", id="handed on, not called"),
    pytest.param("from shop import tax\ntax(1)\n", id="as the package passes it on"),
]


@pytest.mark.parametrize("text", FOUND)
def test_names_are_followed_through_imports(text: str) -> None:
    assert used({"shop/a.py": text, "shop/__init__.py": "from shop.prices import tax\n"}).startswith("=== shop/a.py")


NOT_FOUND = [
    pytest.param("def tax(): ...\ntax()\n", id="another of this name"),
    pytest.param("from other import tax\ntax(1)\n", id="somebody else's"),
    pytest.param("from shop.prices import tax\n", id="only imported"),
    pytest.param("x = 'tax(1)'  # shop.prices\n", id="in a text"),
    pytest.param("from shop.prices import tax\ntax(\n", id="no Python"),
]


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_only_reads_like_a_use_is_not_shown(text: str) -> None:
    assert used({"shop/a.py": text}) == ""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("from shop.prices import Shop\nShop().price(1)\n", True),
        ("from shop import Shop\nShop().price(1)\n", True),
        ("from shop.other import Shop\nShop().price(1)\n", False),
        ("class Shop:\n    pass\n\n\nShop().price(1)\n", False),
    ],
    ids=["its class", "as the package passes it on", "of another file", "of this file"],
)
def test_a_method_of_another_class_of_that_name_is_no_use(text: str, is_found: bool) -> None:
    """Each command of Django is a `Command` with `handle`: a reviewer read the tests of four others."""
    tracked = {"shop/a.py": text, "shop/other.py": SHOP, "shop/__init__.py": "from shop.prices import Shop\n"}
    assert used(tracked, DEAR, SHOP).startswith("=== shop/a.py") is is_found


SAME = [
    pytest.param(TAX + "\n\nx = 1\n", TAX, id="something beside it"),
    pytest.param(TAX.replace(":\n", ':\n    """Tell the tax."""\n'), TAX, id="its docstring alone"),
    pytest.param(TAX, None, id="it is new"),
]


@pytest.mark.parametrize(("after", "before"), SAME)
def test_who_uses_what_says_the_same_is_not_shown(after: str, before: str | None) -> None:
    assert used({"a.py": "from shop.prices import tax\ntax(1)\n"}, after, before) == ""


def test_a_method_is_found_by_its_name_where_its_class_is_named() -> None:
    tracked = {"a.py": "from shop.prices import Shop\nShop().price(1)\n", "b.py": "Other().price(1)\n"}
    assert used(tracked, DEAR, SHOP) == "\n".join(
        ("=== a.py, from line 1: uses Shop.price", "from shop.prices import Shop", "Shop().price(1)")
    )
    made = used(tracked, SHOP.replace("0", "1"), SHOP)
    assert made.startswith("=== a.py, from line 1: uses Shop\n")
    named_as_a_list = used({"a.py": "Shop, [].append(1)\n"}, *(one.replace("price", "append") for one in (DEAR, SHOP)))
    assert named_as_a_list == ""


def test_a_caller_in_the_same_file_is_shown_where_the_change_does_not_show_it() -> None:
    far = f"\n{FILLER}\ndef total(x):\n    return tax(x)\n"
    assert "in total: uses tax" in used({}, LESS + far, TAX + far)
    assert used({}, LESS + "def total(x):\n    return tax(x)\n", TAX + "def total(x):\n    return tax(x)\n") == ""


def test_a_short_test_is_shown_whole_after_the_callers() -> None:
    test = "from shop.prices import tax\n\n\ndef test_tax():\n    x = 100\n    y = 1\n    z = 1\n    w = tax(x)\n"
    shown = used(
        {"a_test.py": test + "    v = 1\n    assert w == 15\n", "b.py": "from shop.prices import tax\ntax(1)\n"}
    )
    caller, short = shown.split("\n\n")
    assert caller.startswith("=== b.py")
    assert short.split("\n")[0] == "=== a_test.py, from line 4, in test_tax: uses tax"
    assert short.split("\n")[-1] == "    assert w == 15"


def test_there_are_never_too_many_and_each_file_has_its_turn() -> None:
    one = "def f{0}():\n    a = 1\n    tax({0})\n    b = 1\n    c = 1\n"
    many = "from shop.prices import tax\n" + "".join(one.format(number) for number in range(30))
    shown = used({"a.py": many, "b.py": many, "test_a.py": many, "test_b.py": many})
    assert shown.replace("\n\n", "\n").count("\n") < MOST_TESTS
    heads = [line.split(",")[0].removeprefix("=== ") for line in shown.split("\n") if line.startswith("===")]
    assert heads[:3] == ["a.py", "b.py", "a.py"] and {"test_a.py", "test_b.py"} <= {*heads}
    assert used({"a.py": many}).replace("\n\n", "\n").count("\n") < MOST_CALLERS


def test_the_nearest_file_comes_first() -> None:
    text = "from shop.prices import tax\ntax(1)\n"
    assert used({"a.py": text, "shop/z.py": text}).startswith("=== shop/z.py")


def test_the_reviewer_reads_the_uses_only_where_there_are_some() -> None:
    model = ScriptedModel([approve()])
    review(model=model)
    caller = {"a.py": "from app import price\nprice(1)\n"}
    review(model=model, gone=caller, after={"app.py": NEW.replace("return x\n", "return 2\n"), **caller})
    first, second = model.asked
    assert "uses the changed code" not in first
    assert "=== a.py, from line 1: uses price\nfrom app import price\nprice(1)\n" in second
