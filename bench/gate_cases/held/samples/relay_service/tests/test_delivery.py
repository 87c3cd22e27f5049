import unittest

from relay.delivery import Delivery, Parcel


class DeliveryTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.slept, self.sent, self.failures = [], [], 0

    async def sleep(self, seconds):
        self.slept.append(seconds)

    async def send(self, target, body):
        if self.failures:
            self.failures -= 1
            raise ConnectionError("refused")
        self.sent.append((target, body))

    def delivery(self, **changes):
        return Delivery(self.send, sleep=self.sleep, **changes)

    async def test_what_is_taken_is_delivered_once(self):
        self.assertTrue(await self.delivery().deliver(Parcel("a", b"1")))
        self.assertEqual((self.sent, self.slept), ([("a", b"1")], []))

    async def test_a_refused_one_is_tried_again_with_growing_pauses(self):
        self.failures = 3
        self.assertTrue(await self.delivery().deliver(Parcel("a", b"1")))
        self.assertEqual(self.slept, [1.0, 2.0, 4.0])

    async def test_it_gives_up_after_the_last_attempt(self):
        self.failures = 9
        delivery = self.delivery(most_attempts=3)
        self.assertFalse(await delivery.deliver(Parcel("a", b"1")))
        self.assertEqual([parcel.errors for parcel in delivery.dead], [["refused"] * 3])
        self.assertEqual(len(self.slept), 2)

    async def test_workers_empty_the_queue(self):
        delivery = self.delivery()
        for number in range(10):
            await delivery.put("a", b"%d" % number)
        await delivery.run(3)
        self.assertEqual((len(delivery), delivery.delivered), (0, 10))
