"""Puts the parts together."""
import asyncio
import socket

from dakghor import http
from dakghor.loading import load
from dakghor.store import Store
from dakghor.worker import Worker


class Service:
    def __init__(self, settings):
        self.settings = settings
        self.store = Store(settings.database, settings.lease_seconds)
        senders = {kind: load(name)() for kind, name in settings.senders.items()}
        hooks = [load(name) for name in settings.hooks.get("after_send", [])]
        self.worker = Worker(self.store, senders, settings, socket.gethostname(), hooks)

    async def run(self):
        place = self.settings.http
        server = await asyncio.start_server(http.handler(self.store), place["host"], place["port"])
        async with server:
            await asyncio.gather(server.serve_forever(), self.worker.run())
