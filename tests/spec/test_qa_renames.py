"""Names that a task gives: which they are, and old tests with them."""

from __future__ import annotations

import pytest

from sisimpur.agents.qa.analysis.renames import Move, Renames, renames

SAID = "Rename is_open to is_free. `Room(size=)` becomes `Room(seats=)`, `wait(days)` becomes `wait(within)`"
BEFORE = """\
class Room:
    def __init__(self, size, days):
        self.size = size

    def is_open(self, day): ...

def wait(days, day): ...
"""
AFTER = """\
class Room:
    def __init__(self, seats, days):
        self.size = seats

    def is_free(self, day): ...

def wait(within, day): ...
"""
FOUND = Renames({"is_open": "is_free"}, {"Room": {"size": "seats"}, "wait": {"days": "within"}})


def nobody(_: str) -> bool:
    return False


def test_what_the_task_renames_is_found_in_the_code() -> None:
    assert renames({"shop.py": (BEFORE, AFTER)}, SAID, nobody) == FOUND


@pytest.mark.parametrize(
    ("before", "after", "said", "is_known"),
    [
        pytest.param("def a(): ...", "def b(): ...", "Tidy up", False, id="nobody asked for it"),
        pytest.param("def a(): ...", "def b(): ...", "Remove a", False, id="the new name is not the task's"),
        pytest.param("def a(): ...", "def b(): ...", "Rename a to b", True, id="somebody still knows the old one"),
        pytest.param("def a(): ...", "def a(): ...\ndef b(): ...", "a, b", False, id="the old one is still there"),
        pytest.param("def a(): ...", "a = (", "Rename a to b", False, id="nobody can read it"),
        pytest.param("def a(): ...\ndef b(): ...", "def c(): ...", "a and b become c", False, id="two become one"),
        pytest.param("def f(a, b): ...", "def f(b, a): ...", "f(a, b)", False, id="parameters change places"),
    ],
)
def test_all_else_is_no_rename(before: str, after: str, said: str, is_known: bool) -> None:
    assert renames({"shop.py": (before, after)}, said, lambda _: is_known) == Renames()


@pytest.mark.parametrize(
    ("text", "now"),
    [
        pytest.param("assert is_open(1)", "assert is_free(1)", id="a call"),
        pytest.param("from shop import is_open as o", "from shop import is_free as o", id="an import"),
        pytest.param("x = room(\n  1\n).is_open\n", "x = room(\n  1\n).is_free\n", id="an attribute, lines below"),
        pytest.param('patch("shop.rooms:is_open")', 'patch("shop.rooms:is_free")', id="what is patched"),
        pytest.param('getattr(room, "is_open")', 'getattr(room, "is_free")', id="what is looked up"),
        pytest.param(
            'assert told(room) == {"is_open": 1}', 'assert told(room) == {"is_open": 1}', id="what is expected"
        ),
        pytest.param('f"{is_open(1)} is_open"', 'f"{is_free(1)} is_open"', id="in a text with values"),
        pytest.param(
            "a = 1\rb = is_open\r\nc = is_open", "a = 1\rb = is_free\r\nc = is_free", id="lines end otherwise"
        ),
        pytest.param("\x0cis_open(1)\n\x0c\nis_open(2)", "\x0cis_free(1)\n\x0c\nis_free(2)", id="form feeds"),
        pytest.param('say("is_open is a word")', 'say("is_open is a word")', id="words of a text"),
        pytest.param(
            "def f(is_open): r.is_open(is_open)", "def f(is_open): r.is_free(is_open)", id="the test's own name"
        ),
        pytest.param("is_open = r.is_open\nis_open", "is_free = r.is_free\nis_free", id="a variable"),
        pytest.param("def test_is_open(): ...", "def test_is_open(): ...", id="a part of a test's name"),
        pytest.param("বাড়ি = is_open  # is_open", "বাড়ি = is_free  # is_open", id="after wide letters, before a comment"),
        pytest.param("Room(size=3, days=2)", "Room(seats=3, days=2)", id="a parameter of this call"),
        pytest.param(
            "wait(size=3, days=wait(days=1))", "wait(size=3, within=wait(within=1))", id="calls in each other"
        ),
        pytest.param("timedelta(days=2)", "timedelta(days=2)", id="another's parameter"),
        pytest.param("is_free = is_open()", "is_free = is_open()", id="the new name is taken"),
        pytest.param("is_open(", "is_open(", id="nobody can read it"),
    ],
)
def test_an_old_test_has_the_new_names_and_nothing_else(text: str, now: str) -> None:
    assert FOUND.applied(text) == now
    assert Renames().applied(text) == text


MOVED = "def fee(day):\n    return 5\n"
MOVES = Renames(moves=(Move("fee", "shop.money", "shop.rates"),))


def test_what_stands_word_by_word_in_another_module_has_moved() -> None:
    code = {"src/shop/money.py": (MOVED + "X = 1\n", "X = 1\n"), "src/shop/rates.py": ("", MOVED)}
    assert renames(code, "Move fee to shop/rates.py", nobody) == MOVES
    assert renames(code, "Tidy up", nobody) == Renames()
    assert renames({**code, "src/shop/rates.py": ("", MOVED.replace("5", "6"))}, "Move fee", nobody) == Renames()
    assert renames({**code, "src/shop/more.py": ("", MOVED)}, "Move fee", nobody) == Renames()


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("from shop.money import fee as f\nf(1)", "from shop.rates import fee as f\nf(1)"),
        ("from shop.money import (\n    X,\n    fee,\n)\n", "from shop.money import X; from shop.rates import fee\n"),
        (
            "from shop import money as m\nm.fee(m.X)",
            "from shop import money as m; from shop import rates\nrates.fee(m.X)",
        ),
        ("from shop import money\nmoney.X", "from shop import money\nmoney.X"),
        ("from shop import money\nrates = money.fee", "from shop import money\nrates = money.fee"),
    ],
)
def test_an_old_test_finds_what_has_moved(text: str, now: str) -> None:
    assert MOVES.applied(text) == now
