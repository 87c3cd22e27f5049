import pytest

from taka import Money, compat


def test_old_names_warn():
    with pytest.warns(DeprecationWarning):
        assert compat.to_string(Money(5)) == "BDT 5.00"
