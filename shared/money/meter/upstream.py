"""Upstream adapter: the meter's line to the vendor. The real key is held here, in memory alone.

No redirects, no proxies from the environment, certificates checked; what comes back is bounded and read as it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from sisimpur.shared.model.errors import Unavailable

MAX_ERROR = 64 * 1024  # bytes of an error answer
BEARER_SINCE = "2026-10-21"  # the API version that takes the key as a bearer
LINGER = 0.2  # seconds for the end of a stream that said it is over, so that the connection can be used again

_NOT_REACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


@dataclass(frozen=True)
class Upstream:
    """Upstream of the calls. `key` may be empty for a local model; `headers` are added to every request."""

    base_url: str
    key: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def credentials(self, version: str) -> dict[str, str]:
        """Anthropic took `x-api-key` first and takes a bearer now; all others take a bearer."""
        if not self.key:
            return {}
        if urlsplit(self.base_url).hostname == "api.anthropic.com" and version < BEARER_SINCE:
            return {"x-api-key": self.key}
        return {"authorization": f"Bearer {self.key}"}


class Response:
    """An answer while it is read. `read` answers None at the end; Unavailable if it is cut."""

    def __init__(self, response: httpx2.Response, key: str) -> None:
        self._key = key.encode()
        self.status = response.status_code
        self.headers = response.headers
        self._chunks = response.aiter_raw()

    async def read(self) -> bytes | None:
        try:
            return await anext(self._chunks, None)
        except httpx2.TransportError as error:
            raise Unavailable(f"the upstream's answer broke ({type(error).__name__})") from None

    async def head(self) -> bytes:
        """Read as much of an answer as is worth it. Some errors tell us the key that they do not like: it is masked.

        In what is no error it would be a word like any other, if the key is a short one.
        """
        found = bytearray()
        while len(found) < MAX_ERROR and (data := await self.read()) is not None:
            found += data
        tells_key = self._key and self.status != 200
        return bytes(found.replace(self._key, b"***") if tells_key else found)[:MAX_ERROR]

    async def finish(self) -> None:
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(LINGER):
                while await self.read() is not None:
                    pass


class UpstreamClient:
    """Open while the meter runs. `idle` is the longest silence of the upstream, in seconds."""

    def __init__(self, upstream: Upstream, idle: float) -> None:
        self._upstream = upstream
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(idle, connect=10, pool=10),
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=50),
            follow_redirects=False,
            trust_env=False,
            verify=urlsplit(upstream.base_url).scheme == "https",  # to load certificates takes 25 ms
        )

    async def close(self) -> None:
        """Close. What was cut off closes in the next round of the event loop, and there may be none after this."""
        await self._client.aclose()
        await asyncio.sleep(0)

    @asynccontextmanager
    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
        """Unavailable: it says whether anything may have been sent."""
        url = self._upstream.base_url.rstrip("/") + path
        keyed = {**headers, "accept-encoding": "identity", "user-agent": "sisimpur-agents", **self._upstream.headers}
        keyed |= self._upstream.credentials(headers["anthropic-version"])
        request = self._client.build_request("POST", url, headers=keyed, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except _NOT_REACHED as error:
            raise Unavailable(f"the upstream cannot be reached ({type(error).__name__})", unbilled=True) from None
        except httpx2.TransportError as error:
            raise Unavailable(f"the upstream did not answer ({type(error).__name__})") from None
        try:
            yield Response(response, self._upstream.key)
        finally:
            await response.aclose()
