import math

import pytest

from numerics.integrate import simpson, trapezoid


def test_both_find_the_area_below_a_sine():
    assert trapezoid(math.sin, 0, math.pi) == pytest.approx(2, abs=1e-3)
    assert simpson(math.sin, 0, math.pi) == pytest.approx(2, abs=1e-7)


def test_simpson_is_exact_for_cubes():
    assert simpson(lambda x: x**3, 0, 2, parts=2) == pytest.approx(4)


def test_simpson_wants_an_even_number():
    with pytest.raises(ValueError, match="even"):
        simpson(math.sin, 0, 1, parts=3)
