import pytest

import rulelang
from rulelang import RuleFailed

RECORD = {"age": 20, "country": "NL", "guest": False, "user": {"name": "Ada"}, "tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("-age", -20),
        ("age >= 18 and not guest", True),
        ('country in ["DE", "NL"]', True),
        ('user.name == "Ada"', True),
        ('"c" in tags or age < 3', False),
        ('matches(user.name, "A*")', True),
        ('lower(country) + "!"', "nl!"),
        ("max(1, age)", 20),
        ("none == none", True),
    ],
)
def test_values(text, expected):
    assert rulelang.compile(text)(RECORD) == expected


@pytest.mark.parametrize("text", ["height", "user.age", "age.real", 'age + "1"', "exec(1)", "len(age)"])
def test_a_rule_without_a_value_says_so(text):
    with pytest.raises(RuleFailed):
        rulelang.compile(text)(RECORD)


def test_the_right_side_is_left_alone_where_the_left_one_decides():
    assert rulelang.compile("age > 3 or height")(RECORD) is True
    assert rulelang.compile("age < 3 and height")(RECORD) is False
