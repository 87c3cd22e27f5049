"""Door to GitHub's API. The only module that sends a request there: through PyGithub, with patience of our own.

PyGithub brings the authentication, the addresses, the connection and the pauses between calls. What it would do by
itself is switched off: it would send writes again, sleep for up to an hour until a limit ends, and follow a server
that never ends. Only reads are repeated, twice; a limit is an answer; and every call ends in time: it runs in a thread
of its own, which is left behind with its connection if it does not come back.
"""

from __future__ import annotations

import functools
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import TypeAdapter, ValidationError

from sisimpur.shared.forge.forge import ForgeRefused
from sisimpur.shared.forge.github_answers import GitHubAnswer, Reader
from sisimpur.shared.forge.github_values import Account
from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.outgoing import Outgoing

if TYPE_CHECKING:
    from github import Github


# --- answers that are kept ------------------------------------------------------------------------------------

MOST_KEPT = 16_000_000  # characters of all answers together


class AnswerCache:
    """Answers that carry a tag, by what was asked; what was not asked for longest goes first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, GitHubAnswer] = OrderedDict()
        self._size = 0
        self._turn = threading.Lock()

    def get(self, key: str) -> GitHubAnswer | None:
        with self._turn:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def keep(self, key: str, answer: GitHubAnswer) -> None:
        if answer.status != 200 or "etag" not in answer.headers:
            return
        with self._turn:
            self._forget(key)
            self._answers[key] = answer
            self._size += len(answer.text)
            while self._size > MOST_KEPT:
                self._forget(next(iter(self._answers)))

    def _forget(self, key: str) -> None:
        before = self._answers.pop(key, None)
        self._size -= len(before.text) if before else 0


# --- the client -----------------------------------------------------------------------------------------------

GITHUB = "https://api.github.com"
PATIENCE = 60.0  # seconds for one call with its repetitions
SECONDS_BETWEEN = 1.0  # between two writes; between reads a quarter of it
READ_AGAIN = 2  # times
PER_PAGE, MOST_PAGES = 100, 100
OURSELVES = ("127.0.0.1", "localhost")  # the only hosts that may be spoken to without encryption
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.\.?$)[A-Za-z0-9._-]{1,100}")

T = TypeVar("T")


@dataclass(frozen=True)
class GitHubAccess:
    """Address of GitHub, and the pace at which it is asked."""

    url: str = GITHUB
    patience: float = PATIENCE  # seconds until a call ends, whatever happens
    seconds_between: float = SECONDS_BETWEEN  # two writes; GitHub wants one a second


AT_GITHUB = GitHubAccess()


class GitHubClient:
    """One token at one repository. Every method raises the forge's errors and nothing else; paths begin with `/`.

    `token_name`: what the owner calls the token.
    """

    def __init__(self, repository: str, token: str, clock: Clock, token_name: str, access: GitHubAccess) -> None:
        if not NAME.fullmatch(repository):
            raise Misconfigured(f"{repository[:100]!r} is no repository at GitHub; write it as OWNER/NAME")
        if not re.fullmatch("[!-~]+", token):
            raise Misconfigured(f"the token is empty or holds blanks; put a valid one into config/.env as {token_name}")
        self.repository = repository
        self._token = token
        self._clock = clock
        self._token_name = token_name
        self._url = _checked(access.url)
        self._patience = access.patience
        self._between = access.seconds_between
        self._outgoing = Outgoing({token_name: token})
        self._kept = AnswerCache()
        self._turn = threading.Lock()  # PyGithub's connection holds one request at a time
        self._github: Github | None = None
        self._login = ""

    def __repr__(self) -> str:
        return f"GitHubClient({self.repository} at {self._url}, by {self._token_name})"

    # -- asking -----------------------------------------------------------------------------------------------

    def login(self) -> str:
        """Login of the token's user; asked once."""
        if not self._login:
            self._login = self.shaped(Account, self._data("GET", "/user"), "GET /user").login
        return self._login

    def scopes(self) -> str | None:
        """Scopes of a classic token; None: it is a fine-grained one, which does not show what it may do."""
        return self._answer("GET", "/user").headers.get("x-oauth-scopes")

    def read(self, shape: type[T], path: str) -> T:
        """One thing of the repository."""
        return self.shaped(shape, self._data("GET", self._at(path)), f"GET {path}")

    def poll(self, shape: type[T], path: str, **query: str) -> T:
        """Read, but take what did not change since from memory: GitHub does not count such a call."""
        answer = self._if_changed(self._at(path), query)
        return self.shaped(shape, self._read(answer, path), f"GET {path}")

    def text(self, path: str, media_type: str) -> str:
        answer = self._answer("GET", self._at(path), headers={"Accept": media_type})
        return self._judged(lambda reader: reader.text(answer, f"GET {path}"))

    def pages(self, shape: type[T], path: str, key: str = "", **query: str) -> list[T]:
        """A list to its end, polled. `key`: where it stands in the answer, if it is not the answer itself."""
        found: list[T] = []
        for number in range(1, MOST_PAGES + 1):
            asked = {**query, "per_page": str(PER_PAGE), "page": str(number)}
            answer = self._if_changed(self._at(path), asked)
            data = self._read(answer, path)
            listed = data.get(key) if key and isinstance(data, dict) else data
            found += self.shaped(list[shape], listed, f"GET {path}")  # type: ignore[valid-type]
            if 'rel="next"' not in answer.headers.get("link", ""):
                return found
        raise ForgeRefused(f"GET {path} has more than {MOST_PAGES * PER_PAGE} entries, more than we read")

    # -- telling ----------------------------------------------------------------------------------------------

    def write(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Sent once. ForgeUnavailable: it is unknown whether it was done; look before it is sent again."""
        return self._data(verb, self._at(path), body)

    def mutate(self, name: str, fields: Mapping[str, str], wanted: str) -> None:
        """A change for which there is only GraphQL, in the words that PyGithub itself uses."""
        kind = f"{name[:1].upper()}{name[1:]}Input!"
        query = f"mutation Mutation($input: {kind}) {{ {name}(input: $input) {{ {wanted} }} }}"
        self._graph(name, query, {"input": dict(fields)})

    def nodes(self, shape: type[T], ids: Sequence[str], wanted: str) -> list[T]:
        """What only GraphQL tells of things, by their node ids, in that order; ForgeUnavailable if one is missing."""
        query = f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ {wanted} }} }}"
        found: list[T] = []
        for begin in range(0, len(ids), PER_PAGE):
            asked = list(ids[begin : begin + PER_PAGE])
            answer = self._graph("nodes", query, {"ids": asked})
            listed = self.shaped(dict[str, list[shape]], answer.get("data"), "nodes")["nodes"]  # type: ignore[valid-type]
            if len(listed) != len(asked):
                raise ForgeUnavailable("GitHub's answer to nodes is not whole")
            found += listed
        return found

    def _graph(self, name: str, query: str, variables: Mapping[str, Any]) -> Any:
        body = {"query": query, "variables": dict(variables)}
        answer = self._cleaned(self._answer("POST", self._connected().requester.graphql_url, body))
        return self._judged(lambda reader: reader.mutation(answer, name))

    # -- one call ---------------------------------------------------------------------------------------------

    def _at(self, path: str) -> str:
        return f"/repos/{self.repository}{path}"

    def _data(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self._answer(verb, path, body)
        return self._judged(lambda reader: reader.data(answer, f"{verb} {path}"))

    def _read(self, answer: GitHubAnswer, path: str) -> Any:
        return self._judged(lambda reader: reader.data(answer, f"GET {path}"))

    def _if_changed(self, path: str, query: Mapping[str, str]) -> GitHubAnswer:
        key = f"{path}?{sorted(query.items())}"
        before = self._kept.get(key)
        tag = {"If-None-Match": before.headers["etag"]} if before else {}
        answer = self._answer("GET", path, query=query, headers=tag)
        if before and answer.status == 304:
            return before
        self._kept.keep(key, answer)
        return answer

    def _judged(self, read: Callable[[Reader], T]) -> T:
        return read(Reader(self._token_name, self._clock.now().timestamp()))

    def shaped(self, shape: type[T], data: Any, what: str = "a write") -> T:
        """Check and return what was answered; ForgeUnavailable if it cannot be read."""
        try:
            form: Any = shape
            shaped: T = _adapter(form).validate_python(data)
            return shaped
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])[:100]
            raise ForgeUnavailable(
                f"GitHub's answer to {what} cannot be read (at {where or 'its beginning'})"
            ) from None

    def _answer(
        self,
        verb: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> GitHubAnswer:
        """Return whatever GitHub answers; ForgeUnavailable if it does not, or not in time."""
        with self._turn:
            github = self._connected()

            def send() -> GitHubAnswer:
                done = github.requester.requestJson(verb, path, dict(query or {}), dict(headers or {}), body)
                return GitHubAnswer(*done)

            try:
                answer = _in_a_thread(lambda: _sent(send, READ_AGAIN if verb == "GET" else 0)).result(self._patience)
                return answer if answer.status < 300 else self._cleaned(answer)
            except TimeoutError:
                self._github = None  # that connection may still be busy: the next call takes a new one
                raise ForgeUnavailable(f"GitHub did not answer {verb} {path} in {self._patience:.0f} s") from None
            except Exception as error:  # noqa: BLE001 - of four libraries; their texts may hold the request's headers
                raise ForgeUnavailable(f"GitHub cannot be reached ({verb} {path}: {type(error).__name__})") from None

    def _cleaned(self, answer: GitHubAnswer) -> GitHubAnswer:
        """Text that errors are told from. GitHub never repeats a token to us; a proxy that shows what it got might."""
        return GitHubAnswer(answer.status, answer.headers, self._outgoing.clean(answer.text))

    def _connected(self) -> Github:
        self._github = self._github or self._connect()
        return self._github

    def _connect(self) -> Github:
        from github import Auth, Github

        return Github(
            auth=Auth.Token(self._token),
            base_url=self._url,
            timeout=max(1, round(self._patience / (READ_AGAIN + 1))),
            retry=0,  # see _sent: theirs sleep for as long as the server says
            seconds_between_requests=self._between / 4,
            seconds_between_writes=self._between,
        )


def branch_path(name: str) -> str:
    """A branch's name as a part of a path. ForgeRefused: with this one the path would lead elsewhere."""
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise ForgeRefused(f"{name[:200]!r} is no name of a branch")
    return quote(name.encode("utf-8", "replace"))


def _checked(url: str) -> str:
    parts = urlsplit(url)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OURSELVES)
    if not safe or "@" in parts.netloc or parts.query or parts.fragment:
        raise Misconfigured(f"{url[:100]!r} cannot be GitHub's API; write {GITHUB}, or https://YOUR-HOST/api/v3")
    return url.rstrip("/")


def _sent(send: Callable[[], GitHubAnswer], again: int) -> GitHubAnswer:
    """The first answer that is no failure of the server's, or the last one. PyGithub pauses between two calls."""
    for _ in range(again):
        with suppress(OSError):  # as all errors of its connection are
            answer = send()
            if answer.status < 500:
                return answer
    return send()


def _in_a_thread(work: Callable[[], T]) -> Future[T]:
    """Nobody waits for the thread when the program ends."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=run, name="github", daemon=True).start()
    return future


@functools.cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
