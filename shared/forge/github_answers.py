"""Meaning of GitHub's answers: its numbers and words become the errors of a forge."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sisimpur.shared.forge.forge import ForgeRefused, RateLimited
from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured, TeamError
from sisimpur.shared.model.text import one_line

LONGEST = 300  # characters of somebody else's words in an error
WAIT_UNSAID = 60.0  # seconds; GitHub's advice where it gives no number
LONGEST_WAIT = 86_400.0
TOKENS = "https://github.com/settings/personal-access-tokens"
LIMIT = re.compile(r"rate limit|abuse detection|please wait a few minutes|retry your request again later", re.I)
FORBIDDEN = ("FORBIDDEN", "INSUFFICIENT_SCOPES")  # GraphQL's own words


@dataclass(frozen=True)
class GitHubAnswer:
    status: int
    headers: Mapping[str, str]  # their names in small letters
    text: str


@dataclass(frozen=True)
class Reader:
    """`token_name`: where the owner finds the token; `now`: seconds since 1970, to count until a limit's end."""

    token_name: str
    now: float

    def data(self, answer: GitHubAnswer, what: str) -> Any:
        """The answer's JSON; None if it is empty. Or one of the seven errors."""
        if answer.status >= 300:
            raise self._error(answer, what)
        return _parsed(answer, what) if answer.text else None

    def text(self, answer: GitHubAnswer, what: str) -> str:
        if answer.status >= 300:
            raise self._error(answer, what)
        return answer.text

    def mutation(self, answer: GitHubAnswer, what: str) -> Any:
        """GraphQL says no with a 200 and a list of errors."""
        data = self.data(answer, what)
        errors = data.get("errors") if isinstance(data, dict) else None
        if not errors:
            return data
        first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
        kind, said = str(first.get("type", "")), one_line(str(first.get("message", "no reason")), LONGEST)
        if kind == "RATE_LIMITED":
            raise RateLimited(self._wait(answer))
        if kind in FORBIDDEN or "not accessible" in said:
            raise self._not_permitted(answer, said, what)
        if not kind and "something went wrong" in said.lower():
            raise ForgeUnavailable(f"GitHub failed in {what}: {said}")
        raise _refused(404 if kind == "NOT_FOUND" else 422, said, what)

    def _error(self, answer: GitHubAnswer, what: str) -> TeamError:
        status = answer.status
        if status == 429 or (status == 403 and _is_limit(answer)):
            return RateLimited(self._wait(answer))
        if status >= 500:
            return ForgeUnavailable(f"GitHub failed in {what} ({status})")
        if not isinstance(_json(answer.text), dict):
            return ForgeUnavailable(f"what answers {what} is not GitHub's API ({status}); is the address right?")
        said = _said(answer)
        if status == 401:
            place = f"put a valid one into config/.env as {self.token_name} ({TOKENS})"
            return Misconfigured(f"GitHub does not take the token: {said}; {place}")
        if status in (403, 451):
            return self._not_permitted(answer, said, what)
        if status < 400:
            return Misconfigured(
                f"the repository has moved ({what}); write its new address as `repo:` in config/targets"
            )
        return _refused(status, said, what)

    def _not_permitted(self, answer: GitHubAnswer, said: str, what: str) -> Misconfigured:
        wanted = one_line(answer.headers.get("x-accepted-github-permissions", ""), LONGEST)
        lacking = f"it needs the permission {wanted}" if wanted else "it lacks a permission, or its user does"
        return Misconfigured(f"the token in {self.token_name} may not do {what}: {said}; {lacking}, see {TOKENS}")

    def _wait(self, answer: GitHubAnswer) -> float:
        """Seconds to wait as GitHub says it: a number of them, or the time of the reset."""
        after, reset = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
        if after.isdecimal():
            return min(max(1.0, float(after)), LONGEST_WAIT)
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return min(max(1.0, float(reset) - self.now + 1), LONGEST_WAIT)
        return WAIT_UNSAID


def _refused(status: int, said: str, what: str) -> ForgeRefused:
    """GitHub has understood, and says no."""
    return ForgeRefused(f"GitHub refuses {what}: {said} ({status})", status, said)


def _is_limit(answer: GitHubAnswer) -> bool:
    marked = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    return marked or LIMIT.search(_said(answer)) is not None


def _said(answer: GitHubAnswer) -> str:
    """GitHub's message and the details below it, in one line."""
    data = _json(answer.text)
    if not isinstance(data, dict):
        return "no reason"
    given = data.get("errors")
    details = [_detail(error) for error in given] if isinstance(given, list) else [given]
    parts = [str(part) for part in (data.get("message"), *details) if part]
    return one_line(": ".join(parts), LONGEST) or "no reason"


def _detail(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    return str(error.get("message") or " ".join(str(error[key]) for key in ("field", "code") if error.get(key)))


def _parsed(answer: GitHubAnswer, what: str) -> Any:
    data = _json(answer.text)
    if data is None:
        raise ForgeUnavailable(f"what answers {what} is not GitHub's API, or the answer was cut; is the address right?")
    return data


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
