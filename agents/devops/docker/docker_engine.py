"""Docker SDK adapter: finds an engine, gives its errors names of ours, and has images built.

The engine is found by asking: the owner's DOCKER_HOST, the system's socket, that of a rootless one. Each connection is
made anew, so that an engine that was started again is found again. Images are built by the builder of the API: it
refuses, by name, what only BuildKit knows (RUN --mount, COPY <<EOF).
"""

from __future__ import annotations

import contextlib
import getpass
import http.client
import math
import os
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from sisimpur.agents.devops.docker.docker_words import plain, plain_line, why_away, without_noise
from sisimpur.agents.devops.drivers.driver import EngineAway, ReleaseFailed
from sisimpur.shared.model.errors import Misconfigured

if TYPE_CHECKING:
    import docker
    from docker.transport.unixconn import UnixHTTPAdapter

UNIX = "unix://"
SYSTEMS = f"{UNIX}/var/run/docker.sock"
HERE = re.compile(r"(?:unix://|tcp://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::|$)).*")
OLDEST = (1, 41)  # of the API; that of Docker 20.10
SECONDS = 60  # that an answer may take
PORT = 2375  # of an engine that is asked without a file
GONE, IN_USE = 404, 409

T = TypeVar("T")


@contextlib.contextmanager
def connected(environment: Mapping[str, str], seconds: int = SECONDS) -> Iterator[docker.APIClient]:
    """Connect while the block runs. EngineAway; Misconfigured: it may not be asked, or is too old."""
    import docker
    from docker.credentials.errors import StoreError

    try:
        with contextlib.closing(found(environment, seconds)) as engine:
            yield engine
    except docker.errors.APIError as error:
        raise _refused(error) from None
    except StoreError as error:
        raise Misconfigured(
            f"Docker's passwords cannot be had, see ~/.docker/config.json: {plain_line(str(error))}"
        ) from None
    except broken() as error:
        raise lost(error) from None


def broken() -> tuple[type[Exception], ...]:
    """List what is raised when an engine does not answer, or stops in the middle of it."""
    import docker

    return (docker.errors.DockerException, http.client.HTTPException, OSError)  # errors of requests are OSErrors


def streamed(parts: Iterable[T]) -> Iterator[T]:
    """The parts of an answer as they come. ConnectionError: the SDK, or a library below it, cannot read on."""
    import docker

    try:
        yield from parts
    except docker.errors.DockerException:
        raise
    except Exception as error:  # noqa: BLE001 (of three libraries, which the SDK lets through)
        raise ConnectionError(str(error)) from None


def lost(error: Exception) -> EngineAway:
    said = why_away(str(error)) or f"Docker does not answer any more ({plain_line(str(error), 200)})"
    return EngineAway(f"{said}; see: systemctl status docker")


@contextlib.contextmanager
def unless(*statuses: int) -> Iterator[None]:
    """Accept answers of these statuses, inside `connected`."""
    import docker

    try:
        yield
    except docker.errors.APIError as error:
        if error.status_code not in statuses:
            raise


def _refused(error: docker.errors.APIError) -> EngineAway:
    said = str(error.explanation or error)
    away = why_away(said) or (said if error.status_code in (502, 503, 504) else "")
    return EngineAway(away) if away else EngineAway(f"Docker says: {plain_line(said)}", said, error.status_code or 0)


# --- finding it ----------------------------------------------------------------------------------------------


def found(environment: Mapping[str, str], seconds: int = SECONDS) -> docker.APIClient:
    """The first that answers; close it. EngineAway or Misconfigured: of those that do not, the most telling reason."""
    troubles: list[EngineAway | Misconfigured] = []
    for host in _hosts(environment):
        if trouble := _trouble(host):
            troubles.append(trouble)
        else:
            return _new_enough(_client(host, environment, seconds))
    raise next((one for one in troubles if isinstance(one, Misconfigured)), troubles[0])


def _hosts(environment: Mapping[str, str]) -> tuple[str, ...]:
    if named := environment.get("DOCKER_HOST"):
        if not HERE.fullmatch(named):
            raise Misconfigured(f"DOCKER_HOST is {named[:200]}, not of this machine: type `unset DOCKER_HOST`")
        return (named,)
    folders = (environment.get("XDG_RUNTIME_DIR"), f"/run/user/{os.getuid()}")
    return (SYSTEMS, *dict.fromkeys(f"{UNIX}{folder}/docker.sock" for folder in folders if folder))


def _trouble(host: str) -> EngineAway | Misconfigured | None:
    """Say why nobody can be asked there. The SDK would say the same of all of these."""
    if not host.startswith(UNIX):
        return _trouble_at_port(host)
    path = host.removeprefix(UNIX)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(SECONDS)
            one.connect(path)
    except FileNotFoundError:
        return EngineAway(f"no Docker here: there is no {path}; install it, or type: sudo systemctl start docker")
    except PermissionError:
        who = getpass.getuser()
        return Misconfigured(f"{who} may not use {path}: type `sudo usermod -aG docker {who}`, and log in again")
    except OSError as error:
        return EngineAway(f"nobody answers at {path} ({error.strerror or error}): type `sudo systemctl start docker`")
    return None


def _trouble_at_port(host: str) -> EngineAway | None:
    found = urlsplit(host)
    try:
        with socket.create_connection((found.hostname or "localhost", found.port or PORT), SECONDS):
            return None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        named = "correct DOCKER_HOST, or type `unset DOCKER_HOST`"
        return EngineAway(f"nobody answers at {host[:200]}, which DOCKER_HOST names ({why}): {named}")


def _client(host: str, environment: Mapping[str, str], seconds: int) -> docker.APIClient:
    """Make a client that speaks the newest version that both know."""
    import docker
    from docker.utils import kwargs_from_env

    secured = kwargs_from_env({**environment, "DOCKER_HOST": host}).get("tls", False)
    engine = docker.APIClient(host, "auto", seconds, secured)
    if host.startswith(UNIX):
        engine.mount("http+docker://", _closing_adapter(host.removeprefix(UNIX), seconds))
    return engine


def _closing_adapter(path: str, seconds: int) -> UnixHTTPAdapter:
    """The SDK's way to a unix socket, but for one at which nobody listens: that is closed at once.

    The SDK leaves it open when it cannot connect. Python closes it some time later, with a ResourceWarning.
    """
    from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnection, UnixHTTPConnectionPool

    class Connection(UnixHTTPConnection):
        """Keeps its socket before it connects: whoever gives up a connection closes what it keeps."""

        def connect(self) -> None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(self.unix_socket)

    class Pool(UnixHTTPConnectionPool):
        def _new_conn(self) -> Any:
            return Connection(self.base_url, self.socket_path)  # whoever asks sets how long it may take

    class ClosingAdapter(UnixHTTPAdapter):
        def get_connection(self, url: Any, proxies: Any = None) -> UnixHTTPConnectionPool:  # noqa: ARG002
            with self.pools.lock:
                pool = self.pools.get(url)
                if pool is None:
                    pool = self.pools[url] = Pool(url, self.socket_path, self.timeout, maxsize=self.max_pool_size)
            return pool

    return ClosingAdapter(path, seconds)


def _new_enough(engine: docker.APIClient) -> docker.APIClient:
    version = tuple(int(part) for part in re.findall(r"\d+", engine.api_version))
    if version < OLDEST:
        engine.close()
        oldest = ".".join(map(str, OLDEST))
        raise Misconfigured(
            f"Docker is too old (API {engine.api_version}, not {oldest}): install Docker 20.10 or newer"
        )
    return engine


# --- what an engine says of what went wrong ------------------------------------------------------------------


TAIL, LONGEST_LINE = 30, 500  # that are told of it: lines, characters
MOST_HELD = 100_000  # characters of one that does not end


def build(
    environment: Mapping[str, str],
    context: IO[bytes],
    *,
    name: str,
    labels: Mapping[str, str],
    dockerfile: str,
    seconds: float,
) -> None:
    """`context`: a tar file; `dockerfile`: its path in there. A missing base image is fetched. ReleaseFailed."""
    told = _Told()
    try:
        with connected(environment, math.ceil(seconds)) as engine, _ended_after(seconds, engine) as is_over:
            try:
                events = engine.build(
                    fileobj=context,
                    custom_context=True,
                    tag=name,
                    labels=dict(labels),
                    dockerfile=dockerfile,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    timeout=math.ceil(seconds),
                )
                for event in streamed(events):
                    told.take(event)
            except broken():
                if is_over():
                    raise told.failed(f"it was not built after {seconds / 60:g} minutes (`deploy.minutes`)") from None
                raise
    except EngineAway as refused:
        if not refused.said:
            raise
        raise told.failed(refused.said) from None
    told.judge()


@contextlib.contextmanager
def _ended_after(seconds: float, engine: docker.APIClient) -> Iterator[Callable[[], bool]]:
    """Cut an answer that is not whole by then; the engine ends a build that nobody listens to. -> was it cut?"""
    answers: list[Any] = []
    over = threading.Event()

    def cut() -> None:
        over.set()
        for answer in answers:
            with contextlib.suppress(Exception):  # it has come to its end in this very moment
                answer.raw.shutdown()

    engine.hooks["response"].append(lambda answer, *_, **__: answers.append(answer))
    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()
        for answer in answers:
            answer.close()


class _Told:
    """Record of what the builder said: its last lines, what went wrong, and whether it came to its end."""

    def __init__(self) -> None:
        self._lines = deque[str](maxlen=TAIL)
        self._open = ""
        self._wrong = ""
        self._is_done = False

    def take(self, event: Mapping[str, Any]) -> None:
        self._wrong = str(event.get("error") or self._wrong)
        self._is_done |= "ID" in (event.get("aux") or {})
        *lines, self._open = (self._open + str(event.get("stream", ""))).split("\n")
        self._open = self._open[-MOST_HELD:]
        said = without_noise("\n".join(map(plain, lines))).split("\n")
        self._lines.extend(line[:LONGEST_LINE] for line in map(str.rstrip, said) if line)

    def judge(self) -> None:
        """ReleaseFailed, EngineAway; nothing if it came to a good end."""
        if self._wrong:
            raise self.failed(self._wrong)
        if not self._is_done:
            raise lost(ConnectionError("it stopped in the middle of a build"))

    def failed(self, why: str) -> ReleaseFailed | EngineAway:
        if away := why_away(why):
            return EngineAway(away)
        lines = [*self._lines, *([plain(self._open)[:LONGEST_LINE]] if self._open.strip() else [])]
        return ReleaseFailed("\n".join((f"it could not be built: {plain_line(why)}", *lines[-TAIL:])))
