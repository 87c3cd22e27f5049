import pytest

from taka import Currency, Money, NotMoney, parse, register


@pytest.mark.parametrize("text", ["500", "৫০০", "৳500", "BDT 500", "500 bdt", "৳ 5,00.00"])
def test_five_hundred(text):
    assert parse(text) == Money(500)


def test_own_currencies():
    register(Currency("PTS", "000", "Points", symbol="★", decimals=0))
    assert str(parse("★12")) == "PTS 12"


def test_no_money():
    with pytest.raises(NotMoney):
        parse("five")
