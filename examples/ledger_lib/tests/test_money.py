"""Amounts."""

import pytest

from ledger import money


@pytest.mark.parametrize(
    ("text", "cents"), [("0", 0), ("12.34", 1234), ("1,234.50", 123450), ("-3.00", -300), (" 7 ", 700)]
)
def test_a_text_becomes_cents(text, cents):
    assert money.parse(text) == cents


@pytest.mark.parametrize("text", ["", "12,34", "1.234", "five", "1e3", "--1"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(ValueError, match="not an amount"):
        money.parse(text)


def test_an_amount_is_shown_with_thousands_and_cents():
    assert [money.show(cents) for cents in (0, 5, 123450)] == ["0.00", "0.05", "1,234.50"]


def test_an_amount_below_zero_is_shown_with_its_sign():
    assert money.show(-150) == "-1.50"


def test_shares_add_up_and_the_first_get_the_odd_cents():
    assert money.share(100, [1, 1, 1]) == [34, 33, 33]


def test_shares_follow_their_weights():
    assert money.share(1000, [3, 1]) == [750, 250]


def test_shares_need_a_weight():
    with pytest.raises(ValueError, match="weights"):
        money.share(100, [0, 0])


def test_half_a_cent_is_rounded_up():
    assert money.percent(50, 19) == 10
