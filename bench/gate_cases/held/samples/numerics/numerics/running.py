"""Statistics of values that come one by one (Welford)."""

import math


class Running:
    def __init__(self):
        self.count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, value):
        self.count += 1
        change = value - self._mean
        self._mean += change / self.count
        self._squares += change * (value - self._mean)

    @property
    def mean(self):
        if not self.count:
            raise ValueError("no values yet")
        return self._mean

    @property
    def stdev(self):
        """Of a sample; 0 for one value."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else 0.0

    def merged(self, other):
        """Both as if their values had come together."""
        both = Running()
        both.count = self.count + other.count
        if both.count:
            change = other._mean - self._mean
            both._mean = self._mean + change * other.count / both.count
            both._squares = self._squares + other._squares
        return both


def moving_average(values, window):
    """The means of all runs of `window` neighbours."""
    if window < 1:
        raise ValueError("a window of at least one")
    return [sum(values[i : i + window]) / window for i in range(len(values) - window + 1)]
