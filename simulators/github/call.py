"""What the local GitHub is asked and what it answers: a request, a call for a handler, an answer, a refusal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from sisimpur.simulators.github.state import Account, Repository, State
from sisimpur.simulators.github.views import View

Json = Any
DOCUMENTATION = "https://docs.github.com/rest"
MANY_SEGMENTS = ("ref", "branch", "path")
MAX_BODY = 65_536  # characters
MAX_TITLE = 256


@dataclass(frozen=True)
class Request:
    """As it came. `path` is still percent-encoded, names of headers are in lower case."""

    method: str
    path: str
    query_text: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.query_text, keep_blank_values=True))

    def json(self) -> Json:
        """None if there is no body. ValueError, RecursionError: it is no JSON, or holds half a character."""
        value = json.loads(self.body) if self.body else None
        json.dumps(value, ensure_ascii=False).encode()
        return value


@dataclass(frozen=True)
class Answer:
    """`body`: what becomes JSON, or text or bytes that are sent as they are; None: nothing is sent."""

    status: int
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """An answer that says no, in GitHub's form."""

    def __init__(
        self, status: int, message: str, errors: Sequence[Json] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        body = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
        self.answer = Answer(status, body | ({"errors": list(errors)} if errors else {}), headers or {})


def not_found(message: str = "Not Found") -> Refusal:
    return Refusal(404, message)


def invalid(resource: str, code: str, *, field: str = "", message: str = "") -> Refusal:
    error = {"resource": resource, "code": code, "field": field, "message": message}
    return Refusal(422, "Validation Failed", [{key: value for key, value in error.items() if value}])


def unprocessable(reason: str) -> Refusal:
    return Refusal(422, "Unprocessable Entity", [reason])


@dataclass(frozen=True)
class Call:
    """A request to one repository by somebody who may make it. `now`: GitHub's text for the time."""

    state: State
    view: View
    account: Account
    repository: Repository
    parameters: Mapping[str, str]  # of the path, decoded
    query: Mapping[str, str]
    body: Json
    path: str
    accept: str
    now: str

    @property
    def number(self) -> int:
        return int(self.parameters["n"]) if re.fullmatch("[0-9]{1,9}", self.parameters["n"]) else 0

    # --- the body; what has the wrong type is refused as GitHub's own front door does

    def text(self, name: str, limit: int = MAX_BODY) -> str | None:
        value: str | None = self._field(name, str, "a string")
        if value is not None and "\0" in value:
            raise invalid("Issue", "invalid", field=name)
        if value is not None and len(value) > limit:
            raise invalid("Issue", "custom", field=name, message=f"{name} is too long (maximum is {limit} characters)")
        return value

    def needed(self, name: str, limit: int = MAX_BODY) -> str:
        value = self.text(name, limit)
        if value is None:
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
        return value

    def choice(self, name: str, among: Sequence[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in among:
            raise Refusal(422, f"Invalid request.\n\n{value[:100]} is not a possible value. Must be one of {among}.")
        return value

    def flag(self, name: str) -> bool:
        return bool(self._field(name, bool, "a boolean"))

    def items(self, name: str) -> list[Json]:
        return self._field(name, list, "an array") or []

    def names(self) -> list[str]:
        """Labels: `{"labels": [...]}` or a bare array, each a name or an object with one."""
        given = self.body if isinstance(self.body, list) else self.items("labels")
        names: list[Any] = [item.get("name") if isinstance(item, dict) else item for item in given]
        if not all(isinstance(name, str) and 0 < len(name) <= 50 for name in names):
            raise invalid("Label", "invalid", field="name")
        return names

    def _field(self, name: str, kind: type, what: str) -> Any:
        if self.body is not None and not isinstance(self.body, dict):
            raise Refusal(422, "Invalid request.\n\nThe body is not an object.")
        value = (self.body or {}).get(name)
        if value is not None and not isinstance(value, kind):
            raise Refusal(422, f"Invalid request.\n\nFor 'properties/{name}', {str(value)[:100]} is not {what}.")
        return value

    # --- the answer

    def page(self, items: Sequence[Json]) -> Answer:
        """One page of a list, with links to its neighbours."""
        size, number = self.page_size(), max(1, _number(self.query.get("page"), 1))
        last = max(1, -(-len(items) // size))
        around = {"prev": number - 1, "next": number + 1, "first": 1, "last": last}
        wanted = (("prev", "first") if number > 1 else ()) + (("next", "last") if number < last else ())
        link = ", ".join(f'<{self._page_url(around[rel])}>; rel="{rel}"' for rel in wanted)
        return Answer(200, list(items[(number - 1) * size : number * size]), {"link": link} if link else {})

    def page_size(self) -> int:
        return min(max(1, _number(self.query.get("per_page"), 30)), 100)

    def _page_url(self, number: int) -> str:
        return f"{self.view.base}{self.path}?{urlencode({**self.query, 'page': number})}"

    def in_order(self, items: Sequence[Json], by_default: str = "desc") -> list[Json]:
        """By number; only the order of creation is known here."""
        if self.query.get("sort", "created") != "created":
            raise Refusal(501, f"The local GitHub sorts by created, not by {self.query['sort'][:40]}")
        newest_first = self.query.get("direction", by_default) == "desc"
        return sorted(items, key=lambda item: int(item.number), reverse=newest_first)


Role = Literal["read", "write", "admin"]


@dataclass(frozen=True)
class Route:
    """An operation of the API. `path` is what follows /repos/OWNER/NAME.

    `needs`: the token's permissions as X-Accepted-GitHub-Permissions names them (`;` or, `,` and); `role`: what the
    account must be allowed in the repository; `knows`: the query parameters that are obeyed, beside those of pages.
    """

    method: str
    path: str
    handler: Callable[[Call], Answer]
    needs: str = "metadata=read"
    role: Role = "read"
    knows: tuple[str, ...] = ()

    @property
    def template(self) -> str:
        return "/repos/{r}" + self.path


def pattern(template: str) -> re.Pattern[str]:
    """{r} is OWNER/NAME; {ref}, {branch} and {path} may hold slashes; every other name is one segment."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile("".join(_group(part) if odd % 2 else re.escape(part) for odd, part in enumerate(parts)))


def _group(name: str) -> str:
    if name == "r":
        return "(?P<r>[^/]+/[^/]+)"
    return f"(?P<{name}>{'.+' if name in MANY_SEGMENTS else '[^/]+'})"


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch("[0-9]{1,6}", text) else default
