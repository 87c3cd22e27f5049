"""A GET to a page of a deployed place, at the owner's own address: what came, or in words why nothing did."""

from __future__ import annotations

from collections.abc import Mapping

from shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer, Why, is_configured

HEADERS = {"user-agent": "sisimpur-agents/0.1 (health)", "accept-encoding": "identity"}
MAX_BODY = 64 * 1024  # bytes
UNREACHED = "cannot be asked: nobody takes the call at its address"
LATE = "took longer than {seconds:g} s"

WORDS: Mapping[Why, str] = {
    "no address": "cannot be asked: its address is none ({error})",
    "unknown": LATE,
    "no host": UNREACHED,
    "unreached": UNREACHED,
    "certificate": UNREACHED,
    "late": LATE,
    "cut": "was cut off before its answer was whole",
    "no HTTP": "answered something that is not HTTP",
    "broken": "was cut off ({error})",
}


class PageLine:
    """`base_url`: http or https, of the owner's."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url.rstrip("/")
        self._http = Http(is_configured)

    def ask(self, path: str, seconds: float) -> HttpAnswer | str:
        """One GET -> what came, or in words why nothing did: "took longer than 5 s". Never raises."""
        answer = self._http.ask(self._base + path, HttpCall(HEADERS, MAX_BODY, seconds))
        if isinstance(answer, NoAnswer):
            return WORDS[answer.why].format(seconds=seconds, error=answer.error)
        return answer
