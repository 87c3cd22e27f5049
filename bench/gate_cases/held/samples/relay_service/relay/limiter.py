"""A token bucket for each client."""

import time


class Limiter:
    """`rate` requests a second on average, `burst` at once."""

    def __init__(self, rate, burst, clock=time.monotonic):
        if rate <= 0 or burst < 1:
            raise ValueError("rate above 0, burst at least 1")
        self.rate, self.burst, self._clock = rate, burst, clock
        self._buckets = {}

    def allow(self, client):
        """Takes a token. False: there is none."""
        now = self._clock()
        tokens, seen = self._buckets.get(client, (self.burst, now))
        tokens = min(self.burst, tokens + (now - seen) * self.rate)
        if tokens < 1:
            self._buckets[client] = (tokens, now)
            return False
        self._buckets[client] = (tokens - 1, now)
        return True

    def forget_idle(self, seconds):
        """Drops the buckets that nobody has used for so long."""
        now = self._clock()
        for client in [name for name, (_, seen) in self._buckets.items() if now - seen > seconds]:
            del self._buckets[client]

    def __len__(self):
        return len(self._buckets)
