"""Door to the dead man's switch. The only module that tells a service outside that we are still alive.

Such a service (healthchecks.io, or one of your own) waits for our call, and tells the owner when none comes: the one
failure that we cannot tell him ourselves. Its address is a secret: it stands in no error and no text of an object,
and a bare transport writes no log lines, follows no redirects and asks the environment for no proxy.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from shared.system.fault import fault_point

if TYPE_CHECKING:
    import httpx2

PATIENCE = 5.0
AGENT = "sisimpur-agents/0.1"


class Ping:
    """`url`: checked by the settings; empty: there is no such service, and nothing is called.

    `patience`: the longest silence, in seconds.
    """

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self._url = url
        self._patience = patience

    def phase_ended(self, name: str, ok: bool) -> str:
        """One call, with /fail after the path if it did not go well -> why it did not arrive; empty: it did.

        Never raises, and may take seconds: not for whoever keeps others waiting.
        """
        if not self._url:
            return ""
        problem = self._call(ok)
        fault_point("ping.sent")
        return f"PING_URL was not told that {name} ended: {problem}" if problem else ""

    def _call(self, ok: bool) -> str:
        """Of the answer only its number counts -> what went wrong, without the address."""
        import httpx2

        headers, timeout = {"user-agent": AGENT, "accept-encoding": "identity"}, httpx2.Timeout(self._patience)
        try:
            url = self._url if ok else _failed(self._url)
            request = httpx2.Request("GET", url, headers=headers, extensions={"timeout": timeout.as_dict()})
            with _transport(url) as way:
                response = way.handle_request(request)
                response.close()
        except (httpx2.TransportError, httpx2.InvalidURL, OSError, ValueError) as error:
            return type(error).__name__
        return "" if response.is_success else f"it answers with {response.status_code}"


def _transport(url: str) -> httpx2.HTTPTransport:
    import httpx2

    here = url.startswith("http:")  # no authorities are needed, and to load them takes long
    return httpx2.HTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if here else True, trust_env=False)


def _failed(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/fail"))
