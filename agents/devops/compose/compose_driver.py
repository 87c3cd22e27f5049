"""Compose driver: runs a target of several containers from a compose file that is ours.

    the repository's file ─ strict_yaml ─ compose_rules ─> compose.json (for our eyes only) ─> docker compose up

What answers, and what is built from the repository, carries the commit's label and is replaced as a whole. A database
beside it is left alone as long as the file says the same of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from sisimpur.agents.devops.compose import compose_rules
from sisimpur.agents.devops.compose.compose_command import ComposeCommand
from sisimpur.agents.devops.compose.compose_parts import ComposeSite, Inside
from sisimpur.agents.devops.compose.compose_rules import Composed, Forbidden
from sisimpur.agents.devops.compose.compose_values import Problems, escaped, plain
from sisimpur.agents.devops.docker.docker_engine import GONE, connected, unless
from sisimpur.agents.devops.docker.docker_manager import DockerManager, DockerPlaces
from sisimpur.agents.devops.docker.docker_words import COMMIT, HOME, PORT_TAKEN, summed_up, why_away, without_noise
from sisimpur.agents.devops.drivers import release_files
from sisimpur.agents.devops.drivers.driver import EngineAway, Release, ReleaseFailed
from sisimpur.agents.devops.drivers.owner_command import tail
from sisimpur.agents.devops.drivers.release_files import read_env_file, release_env
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import Place, Running
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system import strict_yaml
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import read_text, write_text
from sisimpur.shared.system.process import Finished

POLITE, HURRIED = 10, 1  # seconds between TERM and KILL
RUNS, BUILDS = "compose.json", "build.json"
SHORTEST_SECRET = 6  # characters; a shorter value would blot out half of a log


class ComposeDriver(DockerPlaces):
    """`files`: commit -> the folder with its files. `folder`: ours; what we run is written there, with its secrets."""

    def __init__(
        self,
        manager: DockerManager,
        command: ComposeCommand,
        settings: DeploySettings,
        files: Callable[[str], Path],
        folder: Path,
    ) -> None:
        super().__init__(manager, settings)
        self._command, self._files, self._folder = command, files, folder

    def check(self) -> str:
        for place in self._settings.places.values():
            release_env(place)
        return f"{self._manager.check()}, {self._command.find().name}"

    def build(self, release: Release) -> None:
        folder, is_plugin = self._folder_of(release.place), self._command.find().is_plugin
        try:
            composed = self._composed(release)
            missing = self._missing(release, composed)
            if missing and not is_plugin:
                composed = labelled(composed, folder, {HOME: self._manager.names.home})
        except Refused as problem:
            raise ReleaseFailed(str(problem)) from None
        if absent := [name for name, image in composed.pulled.items() if not self._is_there(image)]:
            self._prepare(release, composed, ("pull", "--quiet", *absent))
        if missing:
            self._prepare(release, composed, ("build", *(() if is_plugin else ("--force-rm",)), *missing))

    def start(self, release: Release, hurry: bool = False) -> None:
        found = self.running(release.place)
        if found and found.commit == release.commit and not found.ended:
            return
        try:
            composed = self._composed(release)
        except Refused as problem:
            raise ReleaseFailed(str(problem), is_untouched=True) from None
        if missing := self._missing(release, composed):
            raise ReleaseFailed(
                f"{release.commit[:12]} has no image of {', '.join(missing)}: it is to be built first",
                is_untouched=True,
            )
        self._see_port(release.place)
        self._end_others(release, hurry)
        wait = str(HURRIED if hurry else POLITE)
        words = ("up", "--detach", "--no-build", "--remove-orphans", "--timeout", wait)
        done = self._run(release.place, RUNS, composed, words)
        fault_point("deploy.running")
        self._judge(done, release, f"the start of {release.commit[:12]}", is_start=True)

    def running(self, place: Place) -> Running | None:
        """A job that ended well is no part that is missing; a service that is not there is."""
        there = self._manager.containers_of(place)
        written = self._written(place)
        services = written.get("services", {})
        once = [name for name, one in services.items() if one.get("restart") != "unless-stopped"]
        jobs = {name for service in once for name in self._names(place, service)}
        found = summed_up([one for one in there if one.name not in jobs or one.state != "exited" or one.exit_code])
        if found is None or found.ended or COMMIT not in str(written) or found.commit != _commit(written):
            return found
        names = {one.name for one in there}
        gone = [one for one in services if not names.intersection(self._names(place, one))]
        return replace(found, ended=f"the service {gone[0]} is not there") if gone else found

    # --- the file --------------------------------------------------------------------------------------------

    def look(self, release: Release) -> None:
        """Check that its file may be run; whether it comes up is not known. Refused, Misconfigured as below."""
        self._composed(release)

    def _composed(self, release: Release) -> Composed:
        """Refused: what is wrong with the repository's file. Misconfigured: with the owner's `env_file`."""
        root = self._files(release.commit).resolve()
        return composed(root, self._site(release, root))

    def _site(self, release: Release, root: Path) -> ComposeSite:
        settings, place = self._settings, self._settings.places[release.place]
        return ComposeSite(
            place=release.place,
            commit=release.commit,
            name=self._manager.names.of(release.place),
            labels=self._manager.names.labels(release.place),
            image_labels={HOME: self._manager.names.home, COMMIT: release.commit},
            commit_label=COMMIT,
            folder=str(root),
            file=settings.compose_file,
            service=settings.service,
            port=place.port,
            container_port=settings.container_port,
            memory=settings.memory,
            cpus=settings.cpus,
            env=release_env(place),
            has_env_file=bool(place.env_file),
        )

    def _written(self, place: Place) -> Mapping[str, Any]:
        """Read what was told to run last; empty: nothing was, or nobody can read it."""
        try:
            found = json.loads(read_text(self._folder / place / RUNS))
        except (FileNotFoundError, Refused, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _folder_of(self, place: Place) -> Path:
        """Folder of the place, where nobody else may look."""
        folder = self._folder / place
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        return folder

    def _names(self, place: Place, service: str) -> tuple[str, str]:
        """Names of a service's container, by the older program and by the plugin."""
        begin = self._manager.names.of(place)
        return f"{begin}_{service}_1", f"{begin}-{service}-1"

    # --- running it ------------------------------------------------------------------------------------------

    def _missing(self, release: Release, composed: Composed) -> list[str]:
        """The services whose image is not there."""
        there = {name for image in self._manager.images() if image.commit == release.commit for name in image.names}
        return [service for service, name in composed.built.items() if name not in there]

    def _is_there(self, image: str) -> bool:
        """Say whether there is one, whoever made it."""
        with connected(self._manager.environment) as engine, unless(GONE):
            engine.inspect_image(image)  # type: ignore[no-untyped-call]
            return True
        return False

    def _prepare(self, release: Release, composed: Composed, words: tuple[str, ...]) -> None:
        done = self._run(release.place, BUILDS, composed, words, may_stop=True)
        fault_point("deploy.image")
        self._judge(done, release, f"{words[0]} of {release.commit[:12]}")

    def _end_others(self, release: Release, hurry: bool) -> None:
        """End those of other commits, side by side: it takes as long as the slowest, and the port is free then."""
        others = [one for one in self._manager.containers_of(release.place) if one.commit not in ("", release.commit)]
        with ThreadPoolExecutor(max_workers=max(1, len(others))) as workers:
            list(workers.map(lambda one: self._end(one, hurry), others))

    def _run(
        self, place: Place, name: str, composed: Composed, words: tuple[str, ...], may_stop: bool = False
    ) -> Finished:
        folder = self._folder_of(place)
        write_text(folder / name, composed.as_json)
        (folder / name).chmod(0o600)
        fault_point("deploy.compose-written")
        return self._command.run(self._manager.names.of(place), folder / name, words, may_stop=may_stop)

    def _judge(self, done: Finished, release: Release, what: str, is_start: bool = False) -> None:
        """EngineAway: no commit is to blame."""
        if done.ok:
            return
        self._manager.check()
        said = self._hidden(release.place, done.text)
        if why := why_away(said):
            raise EngineAway(why)
        if is_start and PORT_TAKEN.search(said):
            raise ReleaseFailed(self._taken(release.place))
        how = f"took longer than {self._settings.minutes:g} minutes" if done.end == "timed out" else "failed"
        raise ReleaseFailed(f"{what} {how}; docker compose said:\n{tail(without_noise(said))}")

    def _hidden(self, place: Place, text: str) -> str:
        """Hide the owner's values: some of them are keys."""
        values = {
            value for value in release_env(self._settings.places[place]).values() if len(value) >= SHORTEST_SECRET
        }
        for value in sorted(values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text


def _commit(written: Mapping[str, Any]) -> str:
    labels = [one.get("labels", {}) for one in written.get("services", {}).values()]
    return next((one[COMMIT] for one in labels if COMMIT in one), "")


# --- the repository's file -----------------------------------------------------------------------------------


def composed(root: Path, site: ComposeSite) -> Composed:
    """Read what is run of the file in the folder `root`, which holds a commit's files. Refused."""
    parsed = strict_yaml.parse(read_text(_real(root, Inside("compose_file", site.file, "file"))), site.file).value
    held = {name: _env_file(root, name) for name in compose_rules.env_files(parsed, site)}
    found = compose_rules.checked(parsed, replace(site, files=held))
    problems = found.problems if isinstance(found, Forbidden) else Problems(_outside(root, found)).all()
    if problems or isinstance(found, Forbidden):
        raise Refused("\n".join((f"{site.file} may not be run as it is:", *problems)))
    return found


def labelled(composed: Composed, folder: Path, labels: Mapping[str, str]) -> Composed:
    """The same, with Dockerfiles of ours in `folder`, each stage of which begins with the labels. Refused.

    The older builder keeps every step of a build, also of one that failed: so they are ours to know and to throw away.
    """
    services = dict(composed.document["services"])
    for number, name in enumerate(composed.built):
        build = services[name]["build"]
        said, ours = Path(plain(build["context"]), plain(build["dockerfile"])), folder / f"Dockerfile.{number}"
        try:
            write_text(ours, release_files.labelled(read_text(said), labels))
        except (Refused, FileNotFoundError) as refused:
            raise Refused(f"services.{name}.build.dockerfile: {refused}") from None
        fault_point("deploy.dockerfile-written")
        services[name] = {**services[name], "build": {**build, "dockerfile": escaped(str(ours))}}
    return replace(composed, document={**composed.document, "services": services})


def _outside(root: Path, composed: Composed) -> list[str]:
    """List what is wrong with the paths that the file names, as they lie there."""
    problems = []
    for named in composed.inside:
        try:
            _real(root, named)
            if named.kind == "folder":
                _real(root, replace(named, path=f"{named.path}/.dockerignore", kind="file"))
        except Refused as refused:
            problems.append(str(refused))
    return problems


def _real(root: Path, named: Inside) -> Path:
    """Find where it lies. Refused: not in the repository, also by way of a link, or not what it has to be."""
    path = Path(os.path.realpath(root / named.path))
    if not path.is_relative_to(os.path.realpath(root)):
        raise Refused(f"{named.where}: {named.path} leads out of the repository by a link; put the thing itself there")
    if named.path.endswith("/.dockerignore") and not path.exists():
        return path
    fits = {"file": path.is_file(), "folder": path.is_dir(), "any": path.is_file() or path.is_dir()}
    if not fits[named.kind]:
        data = "; what is to be kept belongs into a named volume" if named.kind == "any" else ""
        raise Refused(f"{named.where}: there is no {named.path} in the repository{data}")
    return path


def _env_file(root: Path, name: str) -> Mapping[str, str] | None:
    """None: it is not there. Refused: it cannot be read, or is a link."""
    path = root / name
    if not os.path.lexists(path):
        return None
    _real(root, Inside("env_file", name, "file"))
    try:
        return read_env_file(path)
    except Misconfigured as wrong:
        raise Refused(str(wrong)) from None
