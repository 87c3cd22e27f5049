from taka import Money, format_money


def test_dollars():
    assert format_money(Money("1234567.5", "USD")) == "$1,234,567.50"


def test_rupees():
    assert format_money(Money("1234567.5", "INR")) == "₹12,34,567.50"


def test_bengali_digits():
    assert format_money(Money("25"), digits="০১২৩৪৫৬৭৮৯") == "৳২৫.০০"
