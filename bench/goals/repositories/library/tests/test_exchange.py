from taka import Money, Rates


def test_to_dollars():
    assert Rates("BDT", USD="110.5").convert(Money("221"), "USD") == Money(2, "USD")
