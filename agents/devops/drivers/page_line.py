"""Door to the pages of a place. The only module that asks for one: no redirect is followed, no proxy is asked.

The time limit is for all of it, also where a server sends a byte now and then.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

AGENT = "sisimpur-agents/0.1 (health)"
MAX_BODY = 64 * 1024  # bytes


@dataclass(frozen=True)
class PageAnswer:
    """`text`: the beginning of the page. `location`: where a redirect leads."""

    status: int
    text: str
    location: str = ""


class PageLine:
    """`base_url`: http or https, of the owner's."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")

    def ask(self, path: str, seconds: float) -> PageAnswer | str:
        """One GET -> what came, or in words why nothing did: "took longer than 5 s". Never raises."""
        import httpx2

        try:
            return asyncio.run(self._within(path, seconds))
        except (TimeoutError, httpx2.TimeoutException):
            return f"took longer than {seconds:g} s"
        except httpx2.ConnectError:
            return "cannot be asked: nobody takes the call at its address"
        except httpx2.RemoteProtocolError as error:
            cut = "disconnected" in str(error) or "without sending complete" in str(error)
            return "was cut off before its answer was whole" if cut else "answered something that is not HTTP"
        except httpx2.TransportError as error:
            return f"was cut off ({type(error).__name__})"
        except (httpx2.InvalidURL, OSError, ValueError) as error:
            return f"cannot be asked: its address is none ({type(error).__name__})"

    async def _within(self, path: str, seconds: float) -> PageAnswer:
        import httpx2

        url, timeout = _checked(self._base + path), httpx2.Timeout(seconds)
        headers = {"user-agent": AGENT, "accept-encoding": "identity", "connection": "close"}
        request = httpx2.Request("GET", url, headers=headers, extensions={"timeout": timeout.as_dict()})
        async with asyncio.timeout(seconds), _transport(url) as way:
            response = await way.handle_async_request(request)
            try:
                body = await _beginning(response)
            finally:
                await response.aclose()
        location = response.headers.get("location", "") if response.is_redirect else ""
        return PageAnswer(response.status_code, body.decode("utf-8", "replace"), location)


def _checked(url: str) -> str:
    """ValueError if its port is none: what connects says so in a way of its own."""
    if not urlsplit(url).hostname or urlsplit(url).port == 0:
        raise ValueError(url)
    return url


def _transport(url: str) -> httpx2.AsyncHTTPTransport:
    import httpx2

    here = url.startswith("http:")  # no authorities are needed, and to load them takes long
    return httpx2.AsyncHTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if here else True, trust_env=False)


async def _beginning(response: httpx2.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) >= MAX_BODY:
            break
    return body[:MAX_BODY]
