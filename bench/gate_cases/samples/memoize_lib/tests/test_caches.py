import threading

import pytest

from memoize import LRUCache, TTLCache, from_spec


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


class TestLRU:
    def test_get_and_set(self):
        cache = LRUCache()
        cache.set("a", 1)
        assert cache.get("a") == 1
        assert cache.get("b") is None
        assert cache.get("b", 7) == 7

    def test_drops_what_was_not_used_for_longest(self):
        cache = LRUCache(maxsize=2)
        cache.set("a", 1)
        cache.set("b", 2)
        cache.get("a")
        cache.set("c", 3)
        assert cache.keys() == ["a", "c"]

    def test_writing_again_counts_as_use(self):
        cache = LRUCache(maxsize=2)
        cache.set("a", 1)
        cache.set("b", 2)
        cache.set("a", 3)
        cache.set("c", 4)
        assert "b" not in cache
        assert cache.get("a") == 3

    def test_unlimited(self):
        cache = LRUCache(maxsize=None)
        for number in range(1000):
            cache.set(number, number)
        assert len(cache) == 1000

    @pytest.mark.parametrize("maxsize", [0, -1])
    def test_size_must_be_positive(self, maxsize):
        with pytest.raises(ValueError, match="at least 1"):
            LRUCache(maxsize)

    def test_evictions_are_reported(self):
        dropped = []
        cache = LRUCache(maxsize=1, on_evict=lambda key, value: dropped.append((key, value)))
        cache.set("a", 1)
        cache.set("b", 2)
        assert dropped == [("a", 1)]
        assert cache.stats.evictions == 1

    def test_delete(self):
        cache = LRUCache()
        cache.set("a", 1)
        assert cache.delete("a")
        assert not cache.delete("a")

    def test_hits_and_misses_are_counted(self):
        cache = LRUCache()
        cache.set("a", 1)
        cache.get("a")
        cache.get("b")
        assert (cache.stats.hits, cache.stats.misses) == (1, 1)

    def test_get_or_set_makes_a_value_once_for_all_threads(self):
        cache, made, start = LRUCache(), [], threading.Barrier(4)

        def make():
            made.append(1)
            return 42

        def ask():
            start.wait()
            assert cache.get_or_set("a", make) == 42

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [1]


class TestTTL:
    def test_an_entry_ends(self, clock):
        cache = TTLCache(ttl=10, clock=clock)
        cache.set("a", 1)
        clock.now += 9
        assert cache.get("a") == 1
        clock.now += 1
        assert cache.get("a") is None
        assert len(cache) == 0

    def test_reading_does_not_prolong(self, clock):
        cache = TTLCache(ttl=10, clock=clock)
        cache.set("a", 1)
        clock.now += 6
        cache.get("a")
        clock.now += 6
        assert "a" not in cache

    def test_an_entry_may_have_a_ttl_of_its_own(self, clock):
        cache = TTLCache(ttl=10, clock=clock)
        cache.set("a", 1, ttl="1m")
        clock.now += 30
        assert cache.remaining("a") == 30
        assert cache.remaining("b") is None

    def test_purge(self, clock):
        cache = TTLCache(ttl=10, clock=clock)
        cache.set("a", 1)
        clock.now += 5
        cache.set("b", 2)
        clock.now += 5
        assert cache.purge() == 1
        assert cache.stats.expirations == 1
        assert cache.items() == [("b", 2)]

    def test_the_size_holds_too(self, clock):
        dropped = []
        cache = TTLCache(maxsize=2, ttl=10, clock=clock, on_evict=lambda *pair: dropped.append(pair))
        for number in range(3):
            cache.set(number, number * 10)
        assert cache.keys() == [1, 2]
        assert dropped == [(0, 0)]


class TestSpec:
    def test_lru(self):
        cache = from_spec("lru:maxsize=50")
        assert type(cache) is LRUCache
        assert cache.maxsize == 50

    def test_ttl(self):
        cache = from_spec("ttl:maxsize=none,ttl=5m")
        assert (cache.maxsize, cache.ttl) == (None, 300)

    def test_defaults(self):
        assert from_spec("lru").maxsize == 128
        assert from_spec("ttl").ttl == 60

    @pytest.mark.parametrize("spec", ["fifo", "lru:ttl=5", "lru:size=3", "lru:maxsize", "lru:maxsize=many"])
    def test_mistakes(self, spec):
        with pytest.raises(ValueError):
            from_spec(spec)
