"""Mappings that forget: by size (LRU) and by age (TTL). All of them are thread-safe."""

import threading
import time
from collections import OrderedDict

from memoize.durations import parse_duration
from memoize.stats import Stats

MISSING = object()


class LRUCache:
    """Keeps at most `maxsize` entries and drops the one that was not used for longest.

    `on_evict(key, value)` is called for what is dropped because there is no room, after it is gone.
    """

    def __init__(self, maxsize=128, on_evict=None):
        if maxsize is not None and maxsize < 1:
            raise ValueError("maxsize must be at least 1, or None")
        self.maxsize = maxsize
        self.stats = Stats()
        self._on_evict = on_evict
        self._entries = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key, default=None):
        """The value, counted as a hit; or the default, counted as a miss."""
        with self._lock:
            value = self._find(key)
            if value is MISSING:
                self.stats.misses += 1
                return default
            self.stats.hits += 1
            self._entries.move_to_end(key)
            return value

    def set(self, key, value):
        with self._lock:
            self._put(key, value)
            dropped = self._make_room()
        if self._on_evict:
            for old_key, old_value in dropped:
                self._on_evict(old_key, old_value)

    def delete(self, key):
        """True if the key was there."""
        with self._lock:
            return self._entries.pop(key, MISSING) is not MISSING

    def clear(self):
        with self._lock:
            self._entries.clear()

    def get_or_set(self, key, make):
        """The value; made and kept if it is missing. `make` runs once even if several threads ask at a time."""
        with self._lock:
            value = self.get(key, MISSING)
            if value is MISSING:
                value = make()
                self.set(key, value)
            return value

    def items(self):
        """Pairs, the one that was not used for longest first. Counts as no use."""
        with self._lock:
            return [(key, self._find(key)) for key in list(self._entries) if self._find(key) is not MISSING]

    def keys(self):
        return [key for key, _ in self.items()]

    def __contains__(self, key):
        with self._lock:
            return self._find(key) is not MISSING

    def __len__(self):
        return len(self.items())

    def _find(self, key):
        return self._entries.get(key, MISSING)

    def _put(self, key, value):
        self._entries[key] = value
        self._entries.move_to_end(key)

    def _make_room(self):
        dropped = []
        while self.maxsize is not None and len(self._entries) > self.maxsize:
            key = next(iter(self._entries))
            dropped.append((key, self._raw(self._entries.pop(key))))
            self.stats.evictions += 1
        return dropped

    def _raw(self, entry):
        return entry


class TTLCache(LRUCache):
    """An LRUCache whose entries end `ttl` seconds after they were written."""

    def __init__(self, maxsize=128, ttl=60, clock=time.monotonic, on_evict=None):
        super().__init__(maxsize, on_evict)
        self.ttl = parse_duration(ttl)
        self._clock = clock

    def set(self, key, value, ttl=None):
        """`ttl`: of this entry alone."""
        with self._lock:
            self.purge()
            super().set(key, (value, self._clock() + (self.ttl if ttl is None else parse_duration(ttl))))

    def get_or_set(self, key, make):
        with self._lock:
            value = self.get(key, MISSING)
            if value is MISSING:
                value = make()
                self.set(key, value)
            return value

    def remaining(self, key):
        """Seconds until the entry ends; None if it is not there."""
        with self._lock:
            if self._find(key) is MISSING:
                return None
            return self._entries[key][1] - self._clock()

    def purge(self):
        """Drop all that has ended; returns how many."""
        with self._lock:
            now = self._clock()
            ended = [key for key, (_, end) in self._entries.items() if end <= now]
            for key in ended:
                del self._entries[key]
            self.stats.expirations += len(ended)
            return len(ended)

    def _find(self, key):
        value, end = self._entries.get(key, (MISSING, 0))
        return value if value is not MISSING and self._clock() < end else MISSING

    def _raw(self, entry):
        return entry[0]


def from_spec(spec, clock=time.monotonic):
    """A cache from a line of configuration: "lru:maxsize=50" or "ttl:maxsize=50,ttl=5m". Raises ValueError."""
    name, _, rest = spec.partition(":")
    options = {}
    for part in filter(None, rest.split(",")):
        option, found, value = part.partition("=")
        if not found:
            raise ValueError(f"not an option: {part!r}")
        options[option.strip()] = value.strip()
    maxsize = options.pop("maxsize", "128")
    size = None if maxsize == "none" else int(maxsize)
    ttl = options.pop("ttl", None)
    if options:
        raise ValueError(f"unknown options: {', '.join(sorted(options))}")
    if name == "lru":
        if ttl is not None:
            raise ValueError("an lru cache has no ttl")
        return LRUCache(size)
    if name == "ttl":
        return TTLCache(size, 60 if ttl is None else ttl, clock)
    raise ValueError(f"unknown kind of cache: {name!r}")
