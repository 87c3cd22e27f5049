import unittest

from relay.cache import Cache


class CacheTests(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.cache = Cache(10, size=2, clock=lambda: self.now)

    def test_a_value_is_kept_for_a_while(self):
        self.cache.put("a", 1)
        self.assertEqual(self.cache.get("a"), 1)
        self.now = 10.0
        self.assertIsNone(self.cache.get("a"))

    def test_the_oldest_goes_first(self):
        for key in "abc":
            self.cache.put(key, key)
        self.assertEqual([self.cache.get(key) for key in "abc"], [None, "b", "c"])
