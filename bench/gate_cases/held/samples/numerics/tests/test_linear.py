import pytest

from numerics.linear import Singular, identity, multiply, solve


def test_a_system_is_solved():
    assert solve([[2, 1], [1, 3]], [3, 5]) == pytest.approx([0.8, 1.4])


def test_a_singular_system_is_refused():
    with pytest.raises(Singular):
        solve([[1, 2], [2, 4]], [1, 2])


def test_identity_changes_nothing():
    assert multiply([[1, 2], [3, 4]], identity(2)) == [[1, 2], [3, 4]]


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="shapes"):
        multiply([[1, 2]], [[1, 2]])
