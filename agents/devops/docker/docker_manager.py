"""Docker adapter: containers, images, volumes and logs of ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from sisimpur.agents.devops.docker.docker_engine import GONE, IN_USE, build, connected, streamed, unless
from sisimpur.agents.devops.docker.docker_words import COMMIT, HOME, PLACE, SHORT, Container, Image, Names, summed_up
from sisimpur.agents.devops.drivers.driver import Cleaned, Release, ReleaseFailed, holder, is_taken
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.fault import fault_point

if TYPE_CHECKING:
    import docker

POLITE = 10  # seconds between TERM and KILL
MOST_LOGGED = 64_000  # bytes of the log of one container
CACHED = 10
PROCESSES = 512
LOG_SIZE, LOG_FILES = "10m", "3"


@dataclass(frozen=True)
class Wanted:
    """A container to be. `volumes`: name at the engine -> path in it; `port`: of this machine."""

    name: str
    image: str  # its id
    labels: Mapping[str, str]
    env: Mapping[str, str]
    volumes: Mapping[str, str]
    port: int
    container_port: int
    memory: int  # MB
    cpus: float
    capabilities: tuple[str, ...] = ()  # that it has besides; the others are dropped


class DockerManager:
    """Docker manager of one home. `home_id`: 12 hexadecimal digits; `environment`: the owner's, for DOCKER_HOST.

    `cached`: how many ends of failed builds and earlier stages are kept, the newest ones, for the next builds.
    Every method may raise EngineAway or Misconfigured.
    """

    def __init__(self, home_id: str, environment: Mapping[str, str] | None = None, cached: int = CACHED) -> None:
        self.names = Names(home_id)
        self.environment = dict(environment or {})
        self._cached = cached

    def check(self) -> str:
        """-> e.g. "Docker 20.10.24"."""
        with self._connected() as engine:
            return f"Docker {str(engine.version()['Version']).partition('+')[0]}"

    # --- what is there ---------------------------------------------------------------------------------------

    def containers_of(self, place: Place) -> tuple[Container, ...]:
        """All that are ours there, whether they run or not, by name."""
        labels = {"label": [f"{HOME}={self.names.home}", f"{PLACE}={place}"]}
        with self._connected() as engine:
            rows = engine.containers(all=True, filters=labels)
            ids = [row["Id"] for row in rows if self.names.is_at(place, _name(row))]
            found = [one for one in (_seen(engine, id_, place) for id_ in ids) if one]
        return tuple(sorted(found, key=lambda one: one.name))

    def running(self, place: Place) -> Running | None:
        return summed_up(self.containers_of(place))

    def images(self) -> tuple[Image, ...]:
        """List images that are ours by name and by label."""
        with self._connected() as engine:
            rows = engine.images(filters={"label": f"{HOME}={self.names.home}"})
        named = [(row, tuple(filter(self.names.released, row["RepoTags"] or ()))) for row in rows]
        return tuple(Image(row["Id"], names, row["Labels"].get(COMMIT, "")) for row, names in named if names)

    def logs(self, place: Place, lines: int) -> str:
        """The newest lines of each container, at most 64,000 bytes of it; of several each with its name before it."""
        found = self.containers_of(place)
        with self._connected() as engine:
            texts = [(one.name, _log(engine, one.id, lines)) for one in found]
        if len(texts) == 1:
            return texts[0][1]
        return "\n".join(f"{name} | {line}" for name, text in texts for line in text.splitlines())

    def publisher(self, port: int) -> str:
        """The name of the container that has that port of this machine; empty: none."""
        with self._connected() as engine:
            rows = engine.containers()
        return next((_name(row) for row in rows for one in row["Ports"] or () if one.get("PublicPort") == port), "")

    # --- what is done ----------------------------------------------------------------------------------------

    def build(self, context: IO[bytes], release: Release, dockerfile: str, seconds: float) -> None:
        """`context`: a tar file. ReleaseFailed."""
        name, labels = self.names.image(release), {HOME: self.names.home, COMMIT: release.commit}
        build(self.environment, context, name=name, labels=labels, dockerfile=dockerfile, seconds=seconds)

    def tag(self, image: Image, release: Release) -> None:
        with self._connected() as engine:
            engine.tag(image.id, self.names.of(release.place), release.commit[:SHORT])

    def volume(self, name: str, place: Place) -> str:
        """Makes it, unless it is there -> its name at the engine. Misconfigured: that one is somebody else's."""
        full = f"{self.names.of(place)}-{name}"
        with self._connected() as engine:
            found = engine.create_volume(full, labels=self.names.labels(place))  # one that is there stays as it is
        if (found["Labels"] or {}).get(HOME) != self.names.home:
            raise Misconfigured(f"the volume {full} was not made by us: type `docker volume rm {full}`")
        return full

    def create(self, wanted: Wanted) -> str:
        """-> its id. It begins again by itself, also with the machine, until we end it: so often is told of it."""
        with self._connected() as engine:
            made = engine.create_container(
                wanted.image,
                name=wanted.name,
                ports=[wanted.container_port],
                environment=dict(wanted.env),
                labels=dict(wanted.labels),
                host_config=_host_config(engine, wanted),
                use_config_proxy=False,
            )
        return str(made["Id"])

    def start(self, container: str) -> None:
        with self._connected() as engine:
            engine.start(container)

    def stop(self, container: str) -> None:
        """Politely, and then not. It does not begin again by itself."""
        with self._connected() as engine, unless(GONE):
            engine.stop(container, timeout=POLITE)

    def remove(self, container: str) -> None:
        """Remove it at once, with the volumes that have no name."""
        with self._connected() as engine, unless(GONE, IN_USE):  # in use: it is being removed already
            engine.remove_container(container, force=True, v=True)

    # --- throwing away ---------------------------------------------------------------------------------------

    def clean(self, keep: Collection[Release]) -> Cleaned:
        """Remove what is ours by name and label, but for what is up, `keep`, and volumes with a name."""
        found = [one for place in PLACES for one in self.containers_of(place)]
        kept = {(one.place, one.commit[:SHORT]) for one in found if one.is_up}
        kept |= {(one.place, one.commit[:SHORT]) for one in keep}
        over = [one.id for one in found if not one.is_up and (one.place, one.commit[:SHORT]) not in kept]
        names = [name for one in self.images() for name in one.names if self.names.released(name) not in kept]
        with self._connected() as engine:
            over += self._left_by_builds(engine)
            containers = sum(_remove_container(engine, one) for one in over)
            images = sum(_remove_image(engine, one) for one in names)
            return Cleaned(containers, images + sum(_remove_image(engine, one) for one in self._ends(engine)))

    def _left_by_builds(self, engine: docker.APIClient) -> list[str]:
        """Containers of builds that were cut off: they have the label that each step begins with, and no other."""
        rows = engine.containers(all=True, filters={"label": f"{HOME}={self.names.home}"})
        return [row["Id"] for row in rows if row["State"] != "running" and not {PLACE, COMMIT} & set(row["Labels"])]

    def _ends(self, engine: docker.APIClient) -> list[str]:
        """Images without a name that nothing is built on: of failed builds and earlier stages, but for the newest."""
        rows = engine.images(filters={"label": f"{HOME}={self.names.home}", "dangling": True})
        ours = [row for row in rows if COMMIT not in row["Labels"] or _is_finished(engine, row["Id"])]
        return [row["Id"] for row in sorted(ours, key=lambda row: -int(row["Created"]))[self._cached :]]

    def _connected(self) -> AbstractContextManager[docker.APIClient]:
        return connected(self.environment)


class DockerPlaces:
    """What each way of running containers has of Docker. `settings`: the owner's, of all places."""

    def __init__(self, manager: DockerManager, settings: DeploySettings) -> None:
        self._manager = manager
        self._settings = settings

    def logs(self, place: Place, lines: int = 50) -> str:
        return self._manager.logs(place, lines)

    def clean(self, keep: Collection[Release]) -> Cleaned:
        return self._manager.clean(keep)

    def has_port(self, place: Place) -> bool:
        """Say whether a container of ours there has the port."""
        publisher = self._manager.publisher(self._settings.places[place].port)
        return publisher in [one.name for one in self._manager.containers_of(place)]

    def _end(self, container: Container, hurry: bool) -> None:
        if container.is_up and not hurry:
            self._manager.stop(container.id)
            fault_point("deploy.stopped")
        self._manager.remove(container.id)
        fault_point("deploy.removed")

    def _see_port(self, place: Place) -> None:
        """Check the port before anything ends."""
        if is_taken(self._settings.places[place].port) and not self.has_port(place):
            raise ReleaseFailed(self._taken(place), is_untouched=True)

    def _taken(self, place: Place) -> str:
        port = self._settings.places[place].port
        publisher = self._manager.publisher(port)
        who = f"the container {publisher}" if publisher else holder(port) or "another program"
        return f"port {port} is taken by {who}: end it, or change deploy.{place}.port"


def _is_finished(engine: docker.APIClient, image: str) -> bool:
    """Of a build of ours that lost its name; what somebody made of one of ours has its labels too, and steps after."""
    with unless(GONE):
        steps: Any = engine.history(image)  # type: ignore[no-untyped-call]
        return f"LABEL {COMMIT}=" in str(steps[0]["CreatedBy"])
    return False


def _name(row: Mapping[str, Any]) -> str:
    return next((str(name).lstrip("/") for name in row["Names"] or () if name.count("/") == 1), "")


def _seen(engine: docker.APIClient, id_: str, place: Place) -> Container | None:
    """None: it has gone in between."""
    with unless(GONE):
        found = engine.inspect_container(id_)
        state, commit = found["State"], (found["Config"]["Labels"] or {}).get(COMMIT, "")
        return Container(
            id_,
            found["Name"].lstrip("/"),
            place,
            commit,
            state["Status"],
            int(state["ExitCode"]),
            int(found["RestartCount"]),
            bool(state.get("OOMKilled")),
            found["Created"],
        )
    return None


def _log(engine: docker.APIClient, id_: str, lines: int) -> str:
    kept, size = deque[bytes](), 0
    with unless(GONE):
        for part in streamed(engine.logs(id_, stream=True, follow=False, tail=lines)):
            kept.append(part)
            size += len(part)
            while size > MOST_LOGGED and len(kept) > 1:
                size -= len(kept.popleft())
    return b"".join(kept)[-MOST_LOGGED:].decode("utf-8", "replace")


def _host_config(engine: docker.APIClient, wanted: Wanted) -> Any:
    import docker

    memory = wanted.memory * 1_048_576
    return engine.create_host_config(
        init=True,
        restart_policy={"Name": "unless-stopped"},
        security_opt=["no-new-privileges"],
        cap_drop=["ALL"],
        cap_add=list(wanted.capabilities),
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=int(wanted.cpus * 1_000_000_000),
        pids_limit=PROCESSES,
        log_config=docker.types.LogConfig(type="json-file", config={"max-size": LOG_SIZE, "max-file": LOG_FILES}),
        port_bindings={wanted.container_port: ("127.0.0.1", wanted.port)},
        mounts=[docker.types.Mount(path, name) for name, path in wanted.volumes.items()],
    )


def _remove_container(engine: docker.APIClient, id_: str) -> bool:
    """Remove it; say whether it is gone by our doing."""
    with unless(GONE, IN_USE):
        engine.remove_container(id_, force=True, v=True)
        fault_point("deploy.swept")
        return True
    return False


def _remove_image(engine: docker.APIClient, name: str) -> bool:
    """Remove it with what nothing else needs. One that somebody's container needs stays."""
    with unless(GONE, IN_USE):
        engine.remove_image(name)
        fault_point("deploy.swept")
        return True
    return False
