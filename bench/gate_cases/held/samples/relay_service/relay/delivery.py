"""The queue of what must be delivered, and the workers that do it."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from relay.backoff import delay


@dataclass
class Parcel:
    target: str
    body: bytes
    attempts: int = 0
    errors: list = field(default_factory=list)


class Delivery:
    """`send(target, body)` is a coroutine function that raises if the target does not take the body."""

    def __init__(self, send, most_attempts=5, sleep=asyncio.sleep):
        self._send, self._most, self._sleep = send, most_attempts, sleep
        self._waiting = asyncio.Queue()
        self.delivered, self.dead = 0, deque(maxlen=100)

    async def put(self, target, body):
        await self._waiting.put(Parcel(target, body))

    async def deliver(self, parcel):
        """Tries until it is taken; True if it was."""
        while parcel.attempts < self._most:
            try:
                await self._send(parcel.target, parcel.body)
            except OSError as problem:
                parcel.attempts += 1
                parcel.errors.append(str(problem))
                if parcel.attempts < self._most:
                    await self._sleep(delay(parcel.attempts - 1))
            else:
                self.delivered += 1
                return True
        self.dead.append(parcel)
        return False

    async def work(self):
        """Delivers for ever."""
        while True:
            parcel = await self._waiting.get()
            try:
                await self.deliver(parcel)
            finally:
                self._waiting.task_done()

    async def run(self, workers):
        """Delivers all that waits now, with so many workers, and stops them."""
        tasks = [asyncio.create_task(self.work()) for _ in range(workers)]
        try:
            await self._waiting.join()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def __len__(self):
        return self._waiting.qsize()
