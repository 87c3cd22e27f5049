import math

import pytest

from numerics.roots import NoRoot, bisect, newton


def test_bisect_finds_the_root_of_two():
    assert bisect(lambda x: x * x - 2, 0, 2) == pytest.approx(math.sqrt(2), abs=1e-11)


def test_bisect_needs_two_signs():
    with pytest.raises(NoRoot, match="signs"):
        bisect(lambda x: x * x + 1, -1, 1)


def test_newton_finds_the_root_of_two():
    assert newton(lambda x: x * x - 2, lambda x: 2 * x, 1) == pytest.approx(math.sqrt(2))


def test_newton_gives_up():
    with pytest.raises(NoRoot, match="steps"):
        newton(lambda x: x * x + 1, lambda x: 2 * x, 0.7)
