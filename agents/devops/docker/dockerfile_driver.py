"""Dockerfile driver: makes an image of the target, and one container of that.

Both places run the very same image: what goes to production is what was healthy at staging, not another build of it.
Before the new container begins the old one ends, since both have the same port and volumes; what is in no volume
that the owner names goes with it.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, NoReturn

from sisimpur.agents.devops.docker.docker_engine import IN_USE
from sisimpur.agents.devops.docker.docker_manager import DockerManager, DockerPlaces, Wanted
from sisimpur.agents.devops.docker.docker_words import HOME, PORT_TAKEN, Image
from sisimpur.agents.devops.drivers.driver import EngineAway, Release, ReleaseFailed
from sisimpur.agents.devops.drivers.release_files import pack, release_env
from sisimpur.shared.config.settings_deploy import DeploySettings, PlaceSettings
from sisimpur.shared.model.deployment import PLACES, Place, Running
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.fault import fault_point

LIMITS = {"CPUs": "deploy.cpus", "memory limit": "deploy.memory"}  # what an engine complains of -> the owner's word


class DockerfileDriver(DockerPlaces):
    """`files`: the folder with a commit's files, which may be links but lead nowhere."""

    def __init__(self, manager: DockerManager, settings: DeploySettings, files: Callable[[str], Path]) -> None:
        super().__init__(manager, settings)
        self._files = files

    def check(self) -> str:
        for place in self._settings.places.values():
            release_env(place)
        return self._manager.check()

    def build(self, release: Release) -> None:
        if self._image(release):
            return
        others = (self._image(Release(place, release.commit)) for place in PLACES if place != release.place)
        if there := next((image for image in others if image), None):
            self._manager.tag(there, release)
            fault_point("deploy.tagged")
            return
        names, dockerfile = self._manager.names, self._settings.dockerfile
        with tempfile.TemporaryFile() as context:
            _pack(self._files(release.commit), dockerfile, {HOME: names.home}, context)
            self._manager.build(context, release, dockerfile, self._settings.minutes * 60)
        fault_point("deploy.image")

    def start(self, release: Release, hurry: bool = False) -> None:
        image, place = self._image(release), self._settings.places[release.place]
        if image is None:
            raise ReleaseFailed(
                f"{release.commit[:12]} has no image at {release.place}: it is to be built first", is_untouched=True
            )
        there = self._manager.containers_of(release.place)
        if [(one.commit, one.ended) for one in there] == [(release.commit, "")]:
            return
        wanted = self._wanted(release, image, place)
        self._see_port(release.place)
        for one in there:
            self._end(one, hurry)
        self._begin(wanted, release.place)

    def running(self, place: Place) -> Running | None:
        return self._manager.running(place)

    # --- images ----------------------------------------------------------------------------------------------

    def _image(self, release: Release) -> Image | None:
        name = self._manager.names.image(release)
        return next((one for one in self._manager.images() if name in one.names and one.commit == release.commit), None)

    # --- containers ------------------------------------------------------------------------------------------

    def _wanted(self, release: Release, image: Image, place: PlaceSettings) -> Wanted:
        """All that can be wrong with the owner's words is found before anything ends."""
        manager, settings = self._manager, self._settings
        volumes = {manager.volume(name, release.place): path for name, path in place.volumes.items()}
        fault_point("deploy.volumes")
        return Wanted(
            name=manager.names.of(release.place),
            image=image.id,
            labels=manager.names.labels(release.place, release.commit),
            env=release_env(place),
            volumes=volumes,
            port=place.port,
            container_port=settings.container_port,
            memory=settings.memory,
            cpus=settings.cpus,
            capabilities=settings.capabilities,
        )

    def _begin(self, wanted: Wanted, place: Place) -> None:
        container = ""
        try:
            container = self._manager.create(wanted)
            fault_point("deploy.created")
            self._manager.start(container)
            fault_point("deploy.running")
        except EngineAway as refused:
            if not refused.said:
                raise
            if container:
                self._manager.remove(container)
                fault_point("deploy.removed")
            self._explain(refused, wanted, place)

    def _explain(self, refused: EngineAway, wanted: Wanted, place: Place) -> NoReturn:
        if PORT_TAKEN.search(refused.said):
            raise ReleaseFailed(self._taken(place)) from None
        if refused.status == IN_USE:
            text = f"a container {wanted.name} is there that we did not make: type `docker rm -f {wanted.name}`"
            raise Misconfigured(text) from None
        if word := next((word for said, word in LIMITS.items() if said in refused.said), ""):
            raise Misconfigured(f"`{word}` cannot be had here; {refused}") from None
        raise ReleaseFailed(f"it does not start; {refused}") from None


def _pack(folder: Path, dockerfile: str, labels: Mapping[str, str], target: IO[bytes]) -> None:
    try:
        pack(folder, dockerfile, labels, target)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise EngineAway(f"no room is left in {tempfile.gettempdir()} for what is to be built: make some") from None
