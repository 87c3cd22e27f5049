"""Door to the docker SDK. The only module that finds an engine, and gives its errors names of ours.

It is found by asking: the owner's DOCKER_HOST, the system's socket, that of a rootless one. Each connection is made
anew, so that an engine that was started again is found again.
"""

from __future__ import annotations

import contextlib
import getpass
import http.client
import os
import re
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.devops.docker.docker_words import plain_line, why_away
from agents.devops.drivers.driver import EngineAway
from shared.model.errors import Misconfigured, Stumble

if TYPE_CHECKING:
    import docker

UNIX = "unix://"
SYSTEMS = f"{UNIX}/var/run/docker.sock"
HERE = re.compile(r"(?:unix://|tcp://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::|$)).*")
OLDEST = (1, 41)  # of the API; that of Docker 20.10
SECONDS = 60  # that an answer may take
PORT = 2375  # of an engine that is asked without a file
GONE, IN_USE = 404, 409


class EngineRefused(EngineAway):
    """It answers, and says no: whoever asked for a commit's sake knows whether that is to blame, and nobody else.

    `said`: its words; `status`: HTTP's.
    """

    def __init__(self, said: str, status: int) -> None:
        super().__init__(f"Docker says: {plain_line(said)}")
        self.said = said
        self.status = status


@contextlib.contextmanager
def connected(environment: Mapping[str, str], seconds: int = SECONDS) -> Iterator[docker.APIClient]:
    """While the block runs. EngineAway, EngineRefused; Misconfigured: it may not be asked, or is too old."""
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
    """What is raised when an engine does not answer, or stops in the middle of it."""
    import docker
    import urllib3

    sdk = (docker.errors.DockerException, docker.errors.StreamParseError)
    return (*sdk, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)  # errors of requests are OSErrors


def lost(error: Exception) -> EngineAway:
    said = why_away(str(error)) or f"Docker does not answer any more ({plain_line(str(error), 200)})"
    return EngineAway(f"{said}; see: systemctl status docker")


@contextlib.contextmanager
def unless(*statuses: int) -> Iterator[None]:
    """Inside `connected`: an answer of that status is as good as any."""
    import docker

    try:
        yield
    except docker.errors.APIError as error:
        if error.status_code not in statuses:
            raise


def _refused(error: docker.errors.APIError) -> Stumble:
    said = str(error.explanation or error)
    away = why_away(said) or (said if error.status_code in (502, 503, 504) else "")
    return EngineAway(away) if away else EngineRefused(said, error.status_code or 0)


# --- finding it ----------------------------------------------------------------------------------------------


def found(environment: Mapping[str, str], seconds: int = SECONDS) -> docker.APIClient:
    """The first that answers; close it. EngineAway or Misconfigured: of those that do not, the most telling reason."""
    troubles: list[Stumble | Misconfigured] = []
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


def _trouble(host: str) -> Stumble | Misconfigured | None:
    """Why nobody can be asked there. The SDK would say the same of all of these."""
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
    """It speaks the newest version that both know."""
    import docker
    from docker.utils import kwargs_from_env

    from agents.devops.docker.docker_wire import ClosingAdapter

    secured = kwargs_from_env({**environment, "DOCKER_HOST": host}).get("tls", False)
    engine = docker.APIClient(host, "auto", seconds, secured)
    if host.startswith(UNIX):
        engine.mount("http+docker://", ClosingAdapter(host.removeprefix(UNIX), seconds))
    return engine


def _new_enough(engine: docker.APIClient) -> docker.APIClient:
    version = tuple(int(part) for part in re.findall(r"\d+", engine.api_version))
    if version < OLDEST:
        engine.close()
        oldest = ".".join(map(str, OLDEST))
        raise Misconfigured(
            f"Docker is too old (API {engine.api_version}, not {oldest}): install Docker 20.10 or newer"
        )
    return engine
