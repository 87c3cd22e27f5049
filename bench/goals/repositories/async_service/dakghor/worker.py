"""Takes jobs and sends them."""
import asyncio
import logging

from dakghor import backoff

log = logging.getLogger("dakghor.worker")


class Worker:
    def __init__(self, store, senders, settings, name="worker-1", after_send=()):
        self.store = store
        self.senders = senders
        self.settings = settings
        self.name = name
        self.after_send = after_send
        self.stopping = False

    async def run(self):
        while not self.stopping:
            if not await self.drain():
                await asyncio.sleep(0.5)

    async def drain(self):
        """Sends all that is due; how many jobs it took."""
        taken = 0
        while not self.stopping and (job := self.store.claim(self.name)):
            taken += 1
            await self.handle(job)
        return taken

    async def handle(self, job):
        try:
            await self.senders[job["kind"]].send(job["payload"])
        except Exception as error:
            wait = backoff.delay(self.settings.retry, job["tries"])
            if wait is None:
                log.error("job %s is dead: %s", job["id"], error)
                self.store.bury(job["id"], str(error))
            else:
                self.store.retry(job["id"], wait, str(error))
            return
        self.store.done(job["id"])
        for hook in self.after_send:
            hook(job)
