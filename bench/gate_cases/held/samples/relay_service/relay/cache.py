"""Values with a time to live."""

import time


class Cache:
    def __init__(self, ttl, size=1000, clock=time.monotonic):
        self.ttl, self.size, self._clock = ttl, size, clock
        self._values = {}

    def put(self, key, value):
        """Keeps a value; the oldest one goes if there is no room."""
        self._values.pop(key, None)
        while len(self._values) >= self.size:
            del self._values[next(iter(self._values))]
        self._values[key] = (value, self._clock() + self.ttl)

    def get(self, key, default=None):
        """The value, or the default if there is none or it is too old."""
        if key not in self._values:
            return default
        value, until = self._values[key]
        if self._clock() >= until:
            return default
        return value

    def __len__(self):
        return len(self._values)
