"""What the providers allow, by their contracts. Over it they block our account for a day (it happened: 2024-01-12)."""
import asyncio

MAX_IN_FLIGHT = 8  # all senders together: they share one gateway


class Gate:
    """Lets so many through at a time. Written for the old worker, unused since; keep."""

    def __init__(self, most=MAX_IN_FLIGHT):
        self._slots = asyncio.Semaphore(most)

    async def __aenter__(self):
        await self._slots.acquire()

    async def __aexit__(self, *error):
        self._slots.release()
