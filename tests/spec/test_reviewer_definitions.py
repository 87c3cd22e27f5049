"""Definitions that changed code calls: those of the repository that the change does not show, and not too many."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sisimpur.agents.reviewer.definitions import MOST, MOST_CHARS, MOST_LINES, called
from sisimpur.agents.reviewer.diff_analyzer import chunks
from tests.spec.reviewing import case, file, patch

TAX = "RATE = 15\n\n\ndef tax(x):\n    return x * RATE // 100\n"
FILLER = "".join(f"x{number} = {number}\n" for number in range(100))


def definitions(path: str, new: str, tracked: Mapping[str, str], old: str = "") -> str:
    """Of a file to whose end `new` was added."""
    changed = [file(path, old + new, old or None)]
    (chunk,) = chunks(patch(changed), changed, 100_000)
    return called(case(changed, tracked), chunk)


FOUND = [
    pytest.param("from shop.prices import tax\ntax(1)\n", "shop/prices.py", id="a name"),
    pytest.param("from shop.prices import tax as t\nt(1)\n", "shop/prices.py", id="by another name"),
    pytest.param("from shop import prices\nprices.tax(1)\n", "shop/prices.py", id="of a module"),
    pytest.param("import shop.prices\nshop.prices.tax(1)\n", "shop/prices.py", id="with all its dots"),
    pytest.param("import shop.prices as p\np.tax(1)\n", "shop/prices.py", id="a module by another name"),
    pytest.param("from .prices import tax\ntax(1)\n", "app/prices.py", id="beside it"),
    pytest.param("from ..prices import tax\ntax(1)\n", "prices.py", id="above it"),
    pytest.param("from shop import tax\ntax(1)\n", "shop/__init__.py", id="of a package"),
    pytest.param("from lib.prices import tax\ntax(1)\n", "app/lib/prices.py", id="from a folder of sources"),
]


@pytest.mark.parametrize(("new", "path"), FOUND)
def test_what_is_called_is_shown_as_it_is(new: str, path: str) -> None:
    shown = definitions("app/views.py", new, {path: TAX})
    assert shown == f"=== {path}, from line 4\ndef tax(x):\n    return x * RATE // 100"


GUARD = "def author(view):\n    return view\n"


@pytest.mark.parametrize("decorator", ["author", "guards.author", "author(1)"])
def test_the_decorator_of_a_changed_function_is_shown_though_it_is_no_call(decorator: str) -> None:
    head = f"from shop import guards\nfrom shop.guards import author\n\n\n@{decorator}\ndef remove(request):\n"
    shown = definitions("app/views.py", "    return 2\n", {"shop/guards.py": GUARD}, head + "    x = 1\n")
    assert shown == f"=== shop/guards.py, from line 1\n{GUARD}".rstrip("\n")


TRACKED = {"shop/prices.py": TAX, "shop/secrets.py": TAX, "shop/broken.py": "def tax(:"}
NOT_FOUND = [
    pytest.param("from django.shortcuts import render\nrender(1)\n", id="somebody else's"),
    pytest.param("from shop.prices import RATE\nRATE(1)\n", id="no definition"),
    pytest.param("from shop.prices import tax\n", id="not called"),
    pytest.param("things[0].tax(1)\n", id="called on no name"),
    pytest.param("def own(): ...\nown()\n", id="shown in the change"),
    pytest.param("from shop.secrets import tax\ntax(1)\n", id="of a file that usually holds keys"),
    pytest.param("from shop.broken import tax\ntax(1)\n", id="a file that is no Python"),
]


@pytest.mark.parametrize("new", NOT_FOUND)
def test_what_is_somebody_elses_or_shown_is_not_shown_again(new: str) -> None:
    assert definitions("app/views.py", new, TRACKED) == ""


def test_what_is_called_of_the_same_file_is_shown_where_the_change_does_not_show_it() -> None:
    old = f"class Shop:\n    def tax(self):\n        return 15\n\n{FILLER}"
    shown = definitions("app.py", "def f(): return Shop()\n", {}, old)
    assert shown.startswith("=== app.py, from line 1\nclass Shop:\n    def tax(self):")


def test_a_method_is_that_of_the_class_that_calls_it() -> None:
    body = FILLER.replace("x", "    x")
    old = f"class Other:\n    def tax(self): ...\n\n\nclass Shop:\n    def tax(self):\n        return 15\n\n{body}"
    shown = definitions("app.py", "    def f(self):\n        return self.tax()\n", {}, old)
    assert shown == "=== app.py, from line 6\n    def tax(self):\n        return 15"


def test_calls_that_were_there_before_show_nothing() -> None:
    old = "from shop.prices import tax\ntax(1)\n"
    assert definitions("app.py", "y = 1\n", {"shop/prices.py": TAX}, old) == ""


def test_there_are_never_too_many_and_the_products_come_first() -> None:
    many = {"many.py": "".join(f"def f{number}():\n    pass\n" for number in range(20))}
    new = "import many\n" + "".join(f"many.f{number}()\n" for number in range(20))
    assert definitions("app.py", new, many).count("===") == MOST
    long = {"many.py": "".join(f"def f{n}():\n" + f"    {'y' * 2_900}\n" for n in range(9))}
    assert len(definitions("app.py", new, long)) <= MOST_CHARS
    deep = {"many.py": "def f0():\n" + "    pass\n" * 99}
    assert definitions("app.py", new, deep).split("\n")[-1] == "[cut]"
    assert definitions("app.py", new, deep).count("\n") == MOST_LINES + 1
    files = [file("tests/test_a.py", "from many import f0\nf0()\n"), file("z.py", "from many import f1\nf1()\n")]
    (chunk,) = chunks(patch(files), files, 100_000)
    assert called(case(files, many), chunk).split("\n")[1] == "def f1():"
