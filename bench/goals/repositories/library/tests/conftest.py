import pytest

from taka import Money, registry


@pytest.fixture
def bill():
    return Money("1000", "BDT")


@pytest.fixture(autouse=True)
def the_same_currencies():
    """What a test registers is gone after it."""
    before = dict(registry._known)
    yield
    registry._known.clear()
    registry._known.update(before)
