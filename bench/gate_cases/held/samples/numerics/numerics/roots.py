"""Where a function is zero."""


class NoRoot(ValueError):
    """None was found."""


def bisect(function, low, high, tolerance=1e-12, most_steps=200):
    """A root between two points of different sign. Raises NoRoot."""
    f_low = function(low)
    if f_low * function(high) > 0:
        raise NoRoot("the signs at both ends are the same")
    for _ in range(most_steps):
        middle = (low + high) / 2
        if high - low <= tolerance:
            return middle
        f_middle = function(middle)
        if f_low * f_middle <= 0:
            high = middle
        else:
            low, f_low = middle, f_middle
    raise NoRoot("too many steps")


def newton(function, derivative, start, tolerance=1e-12, most_steps=50):
    """A root near `start`. Raises NoRoot."""
    x = start
    for _ in range(most_steps):
        step = function(x) / derivative(x)
        x -= step
        if abs(step) <= tolerance:
            return x
    raise NoRoot("too many steps")
