import unittest

from relay.config import Config, load


class ConfigTests(unittest.TestCase):
    def test_only_the_secret_is_needed(self):
        self.assertEqual(load({"RELAY_SECRET": "open sesame"}), Config(b"open sesame"))

    def test_a_short_secret_is_refused(self):
        with self.assertRaisesRegex(ValueError, "RELAY_SECRET"):
            load({"RELAY_SECRET": "sesame"})

    def test_a_port_is_one(self):
        for port in ("0", "65536"):
            with self.subTest(port), self.assertRaisesRegex(ValueError, "RELAY_PORT"):
                load({"RELAY_SECRET": "open sesame", "RELAY_PORT": port})

    def test_debug_is_switched_on(self):
        self.assertTrue(load({"RELAY_SECRET": "open sesame", "RELAY_DEBUG": "yes"}).debug)
