import unittest

from relay.limiter import Limiter


class LimiterTests(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.limiter = Limiter(1, 2, clock=lambda: self.now)

    def test_a_burst_is_allowed_and_no_more(self):
        self.assertEqual([self.limiter.allow("a") for _ in range(3)], [True, True, False])

    def test_tokens_come_back(self):
        self.limiter.allow("a"), self.limiter.allow("a")
        self.now = 1.0
        self.assertTrue(self.limiter.allow("a"))
        self.assertFalse(self.limiter.allow("a"))

    def test_clients_do_not_share(self):
        self.assertTrue(all(self.limiter.allow(name) for name in "abc"))

    def test_idle_clients_are_forgotten(self):
        self.limiter.allow("a")
        self.now = 100.0
        self.limiter.forget_idle(60)
        self.assertEqual(len(self.limiter), 0)

    def test_a_rate_is_above_zero(self):
        with self.assertRaises(ValueError):
            Limiter(0, 1)
