import unittest

from relay.config import Config
from relay.delivery import Delivery
from relay.limiter import Limiter
from relay.request import Request
from relay.server import App
from relay.signing import sign

SECRET = b"open sesame"


async def nothing(target, body):
    pass


class AppTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.delivery = Delivery(nothing)
        self.app = App(Config(SECRET), self.delivery, Limiter(1, 3, clock=lambda: 0.0), now=lambda: 900)

    def request(self, **changes):
        headers = {"X-Signature": sign(SECRET, b"hello", 1000)}
        return Request(**{"method": "POST", "path": "/to/a:80", "headers": headers, "body": b"hello", **changes})

    async def test_a_signed_webhook_is_queued(self):
        self.assertEqual(await self.app.answer(self.request(), "c"), (202, "queued"))
        self.assertEqual(len(self.delivery), 1)

    async def test_a_forged_one_is_refused(self):
        self.assertEqual((await self.app.answer(self.request(body=b"hallo"), "c"))[0], 403)
        self.assertEqual(len(self.delivery), 0)

    async def test_whoever_asks_too_often_must_wait(self):
        found = [(await self.app.answer(self.request(), "c"))[0] for _ in range(4)]
        self.assertEqual(found, [202, 202, 202, 429])

    async def test_health_needs_no_signature(self):
        self.assertEqual(await self.app.answer(Request("GET", "/health"), "c"), (200, "ok"))

    async def test_other_paths_are_unknown(self):
        self.assertEqual((await self.app.answer(Request("GET", "/"), "c"))[0], 404)
