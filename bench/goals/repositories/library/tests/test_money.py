import pytest

from taka import MixedCurrencies, Money, NotMoney, UnknownCurrency


def test_sums(bill):
    assert bill + Money(5) == Money(1005)
    assert sum([bill, bill]) == Money(2000)


def test_currencies_do_not_mix(bill):
    with pytest.raises(MixedCurrencies):
        bill + Money(1, "USD")


def test_what_is_no_money():
    with pytest.raises(NotMoney):
        Money("lots")
    with pytest.raises(UnknownCurrency):
        Money(1, "XXA")


def test_yen_have_no_decimals():
    assert str(Money("10.5", "JPY")) == "JPY 11"


def test_money_does_not_change(bill):
    with pytest.raises(AttributeError):
        bill.amount = 5
