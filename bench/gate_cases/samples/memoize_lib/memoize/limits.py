"""Rate limits: a token bucket, a sliding window, and one of them for each key."""

import threading
import time
from collections import deque

from memoize.caches import LRUCache
from memoize.durations import parse_duration


class RateLimited(Exception):
    """Too many calls. `retry_after`: seconds until one more is allowed."""

    def __init__(self, retry_after):
        super().__init__(f"rate limit exceeded, retry after {retry_after:.2f} seconds")
        self.retry_after = retry_after


class TokenBucket:
    """`rate` tokens a second flow in, `capacity` of them fit. It is full at first."""

    def __init__(self, rate, capacity=None, clock=time.monotonic):
        if rate <= 0:
            raise ValueError("rate must be above 0")
        self.rate = rate
        self.capacity = float(rate if capacity is None else capacity)
        self._clock = clock
        self._tokens = self.capacity
        self._filled = clock()
        self._lock = threading.Lock()

    def try_acquire(self, tokens=1):
        """Take the tokens if they are there. Raises ValueError for more than can ever be there."""
        if tokens > self.capacity:
            raise ValueError(f"{tokens} tokens do not fit in a bucket of {self.capacity:g}")
        with self._lock:
            self._refill()
            if self._tokens < tokens:
                return False
            self._tokens -= tokens
            return True

    def wait_time(self, tokens=1):
        """Seconds until the tokens are there; 0 if they are."""
        with self._lock:
            self._refill()
            return max(0.0, (tokens - self._tokens) / self.rate)

    def acquire(self, tokens=1, timeout=None, sleep=time.sleep):
        """Wait for the tokens. False if that would take longer than the timeout; then it does not wait at all."""
        limit = None if timeout is None else parse_duration(timeout)
        while not self.try_acquire(tokens):
            wait = self.wait_time(tokens)
            if limit is not None:
                if wait > limit:
                    return False
                limit -= wait
            sleep(wait)
        return True

    def _refill(self):
        now = self._clock()
        self._tokens = min(self.capacity, self._tokens + (now - self._filled) * self.rate)
        self._filled = now


class SlidingWindow:
    """At most `limit` calls in any `window` of time."""

    def __init__(self, limit, window=1, clock=time.monotonic):
        if limit < 1:
            raise ValueError("limit must be at least 1")
        self.limit = limit
        self.window = parse_duration(window)
        self._clock = clock
        self._calls = deque()
        self._lock = threading.Lock()

    def try_acquire(self):
        with self._lock:
            now = self._forget()
            if len(self._calls) >= self.limit:
                return False
            self._calls.append(now)
            return True

    def wait_time(self):
        with self._lock:
            now = self._forget()
            if len(self._calls) < self.limit:
                return 0.0
            return self._calls[0] + self.window - now

    def _forget(self):
        now = self._clock()
        while self._calls and self._calls[0] <= now - self.window:
            self._calls.popleft()
        return now


class KeyedLimiter:
    """A limiter for each key, e.g. for each user; the `max_keys` that were used last are kept."""

    def __init__(self, make, max_keys=10_000):
        self._make = make
        self._limiters = LRUCache(max_keys)

    def try_acquire(self, key):
        return self._limiters.get_or_set(key, self._make).try_acquire()

    def wait_time(self, key):
        return self._limiters.get_or_set(key, self._make).wait_time()

    def reset(self, key):
        """True if something was known of the key."""
        return self._limiters.delete(key)
