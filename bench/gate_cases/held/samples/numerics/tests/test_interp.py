import pytest

from numerics import interp


@pytest.mark.parametrize(("x", "y"), [(-1, 0), (0, 0), (0.5, 5), (1, 10), (1.5, 15), (9, 20)])
def test_points_are_joined_by_lines(x, y):
    assert interp.linear([0, 1, 2], [0, 10, 20], x) == y


def test_x_must_grow():
    with pytest.raises(ValueError, match="grow"):
        interp.linear([1, 0], [0, 1], 0.5)


def test_a_grid_has_both_ends():
    assert interp.grid(0, 1, 5) == [0, 0.25, 0.5, 0.75, 1]


def test_clamp():
    assert [interp.clamp(v, 0, 10) for v in (-1, 5, 11)] == [0, 5, 10]
