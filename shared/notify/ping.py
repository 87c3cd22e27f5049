"""The dead man's switch: tells a service outside that we are still alive.

Such a service (healthchecks.io, or one of your own) waits for our call, and tells the owner when none comes: the one
failure that we cannot tell ourselves. Its address is a secret: it stands in no error and no text of an object.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.http import Http, HttpCall, NoAnswer, is_configured

PATIENCE = 5.0
HEADERS = {"user-agent": "sisimpur-agents/0.1", "accept-encoding": "identity"}


class Ping:
    """`url`: checked by the settings; empty: there is no such service, and nothing is called.

    `patience`: the longest silence, in seconds.
    """

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self._url, self._http = url, Http(is_configured)
        self._asked = HttpCall(HEADERS, 0, patience, patient=True)

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
        """Call it -> what went wrong, without the address; of the answer only its number counts."""
        try:
            url = self._url if ok else _failed(self._url)
        except ValueError as error:
            return type(error).__name__
        answer = self._http.ask(url, self._asked)
        if isinstance(answer, NoAnswer):
            return answer.error
        return "" if 200 <= answer.status < 300 else f"it answers with {answer.status}"


def _failed(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/fail"))
