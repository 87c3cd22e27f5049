import unittest

from relay.signing import sign, verify

SECRET = b"open sesame"


class SigningTests(unittest.TestCase):
    def test_what_was_signed_is_verified(self):
        self.assertTrue(verify(SECRET, b"hello", sign(SECRET, b"hello", 1000), now=900))

    def test_another_body_is_refused(self):
        self.assertFalse(verify(SECRET, b"hallo", sign(SECRET, b"hello", 1000), now=900))

    def test_an_old_signature_is_refused(self):
        self.assertFalse(verify(SECRET, b"hello", sign(SECRET, b"hello", 1000), now=1001))

    def test_what_is_no_signature_is_refused(self):
        for text in ("", ".", "1000", "soon.abc"):
            self.assertFalse(verify(SECRET, b"hello", text, now=0))
