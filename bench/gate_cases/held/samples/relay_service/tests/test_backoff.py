import unittest

from relay.backoff import delay, jittered, schedule


class BackoffTests(unittest.TestCase):
    def test_pauses_double(self):
        self.assertEqual(schedule(4), [1.0, 2.0, 4.0, 8.0])

    def test_no_pause_is_longer_than_five_minutes(self):
        self.assertEqual(delay(20), 300.0)

    def test_jitter_adds_up_to_a_quarter(self):
        self.assertTrue(all(8.0 <= jittered(3) <= 10.0 for _ in range(50)))
