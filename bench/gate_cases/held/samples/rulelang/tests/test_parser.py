import pytest

from rulelang.parser import parse
from rulelang.show import names, tree
from rulelang.tokens import RuleError

RULES = {
    "precedence": 'a or b and not c == 1 + 2 * 3',
    "lists": 'country in ["NL", "DE"] and (x - 1 - 2 < 0)',
    "calls": 'matches(lower(subject), "*invoice*") and len(words(body)) > 3',
}


@pytest.mark.parametrize("name", RULES)
def test_trees_are_as_they_were(name, golden):
    golden(name, tree(parse(RULES[name])))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unexpected 'end' at 0"),
        ("a +", "unexpected 'end' at 3"),
        ("(a", "expected '\\)' at 2"),
        ("a b", "unexpected 'b' at 2"),
        ("[1 2]", "expected ',' at 3"),
        ("1 < 2 < 3", "unexpected '<' at 6"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(text, message):
    with pytest.raises(RuleError, match=message):
        parse(text)


def test_nesting_has_a_limit():
    parse("(" * 40 + "1" + ")" * 40)
    with pytest.raises(RuleError, match="deep"):
        parse("(" * 60 + "1" + ")" * 60)


def test_names_are_listed_once():
    assert names(parse("b + a.c * b > len(d)")) == ["a.c", "b", "d"]
