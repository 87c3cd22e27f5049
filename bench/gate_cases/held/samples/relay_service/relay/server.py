"""The socket: who may put what into the queue."""

import asyncio
import time

from relay.config import load
from relay.delivery import Delivery
from relay.limiter import Limiter
from relay.request import BadRequest, read_request, response
from relay.signing import verify


class App:
    def __init__(self, config, delivery, limiter, now=time.time):
        self.config, self.delivery, self.limiter, self._now = config, delivery, limiter, now

    async def answer(self, request, client):
        """(status, text) for a request."""
        if request.path == "/health":
            return 200, "ok"
        if not request.path.startswith("/to/"):
            return 404, "unknown path"
        if not self.limiter.allow(client):
            return 429, "slow down"
        signature = request.headers.get("X-Signature", "")
        if not verify(self.config.secret, request.body, signature, self._now()):
            return 403, "wrong signature"
        await self.delivery.put(request.path.removeprefix("/to/"), request.body)
        return 202, "queued"

    async def serve(self, reader, writer):
        """One connection."""
        try:
            status, text = await self.answer(await read_request(reader), writer.get_extra_info("peername")[0])
        except BadRequest as problem:
            status, text = 400, str(problem)
        writer.write(response(status, text))
        await writer.drain()
        writer.close()


async def send(target, body):
    """Hands a body to host:port."""
    host, _, port = target.partition(":")
    _, writer = await asyncio.open_connection(host, int(port or 80))
    writer.write(body)
    await writer.drain()
    writer.close()


async def main():
    config = load()
    delivery = Delivery(send)
    app = App(config, delivery, Limiter(10, 20))
    server = await asyncio.start_server(app.serve, config.host, config.port)
    workers = [asyncio.create_task(delivery.work()) for _ in range(config.workers)]
    async with server:
        await asyncio.gather(server.serve_forever(), *workers)


if __name__ == "__main__":
    asyncio.run(main())
