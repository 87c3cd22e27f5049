import pytest

from rulelang.tokens import RuleError, tokens, unquoted


def test_kinds():
    assert [token.kind for token in tokens('age >= 1.5 and "x"')] == ["name", "sign", "number", "keyword", "text", "end"]


def test_places_are_those_of_the_text():
    assert [token.place for token in tokens("a  + b")] == [0, 3, 5, 6]


def test_a_strange_character_is_named_with_its_place():
    with pytest.raises(RuleError, match="unexpected '%' at 2") as raised:
        tokens("a % b")
    assert raised.value.place == 2


def test_escapes():
    assert unquoted(r'"a\"b\\c\n"') == 'a"b\\c\n'
