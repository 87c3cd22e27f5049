import asyncio
import time

from common import holds

MOST = 0.45  # seconds for 40 messages of 20 ms


def check(tree):
    from dakghor.settings import Settings
    from dakghor.store import Store
    from dakghor.worker import Worker

    class Slow:
        now = most = 0

        async def send(self, payload):
            Slow.now += 1
            Slow.most = max(Slow.most, Slow.now)
            await asyncio.sleep(0.02)
            Slow.now -= 1

    store, least = Store(":memory:"), 9.0
    for _ in range(3):
        for n in range(20):
            store.put("mail", {"n": n})
            store.put("sms", {"n": n})
        worker = Worker(store, {"mail": Slow(), "sms": Slow()}, Settings())
        begun = time.monotonic()
        taken = asyncio.run(worker.drain())
        least = min(least, time.monotonic() - begun)
        if taken != 40:
            return f"drain says {taken}, not 40"
    if store.counts() != {"done": 120}:
        return f"jobs: {store.counts()}"
    if Slow.most > 8:
        return f"{Slow.most} at once: the gateway blocks us over 8"
    return None if least <= MOST else f"{least:.2f} s for 40 messages"


holds(check)
