"""Box driver: deploys a target without containers, in a box of ours with one port.

    staging:
      port: 8001
      build: [sh, -c, "python3 -m venv .venv && .venv/bin/pip install --no-index -f wheels -r requirements.txt"]
      start: [.venv/bin/gunicorn, site.wsgi]

`start` is what runs, and stays in the foreground, as in a container; it finds its port as PORT. The commit's files are
/site, which `build` may write to and `start` may not; /data is kept from version to version. There is no network.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from sisimpur.agents.devops.drivers.command_driver import OF_A_COMMIT, Files, built_how
from sisimpur.agents.devops.drivers.driver import Cleaned, EngineAway, Release, ReleaseFailed, holder, is_taken
from sisimpur.agents.devops.drivers.kept_box import FOLDER, BoxOrder, KeptBox
from sisimpur.agents.devops.drivers.owner_command import OwnerCommand, Surroundings, surroundings
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import Place, Running
from sisimpur.shared.model.errors import Unavailable
from sisimpur.shared.sandbox.box import Box, hand_over
from sisimpur.shared.sandbox.box_job import Job, JobLimits, Mount, base_python, python_mounts
from sisimpur.shared.system.fault import fault_point

PATH = "/usr/local/bin:/usr/bin:/bin"
BUILT_DISK, BUILT_FILE, BUILT_FILES = 4_096, 1_024, 500_000  # MB, MB, number: that a build may write
TRIES = 3  # to be the one that begins: an earlier try, cut off half way, may only just come up


class BoxDriver:
    """`folder`: ours, for what keeps boxes. `data`: where each place has its folder. `box`: where builds run.

    Misconfigured: a command holds a {name} that is none.
    """

    def __init__(
        self, settings: DeploySettings, files: Files, folder: Path, data: Path, box: Callable[[], Box]
    ) -> None:
        self._settings, self._files, self._data, self._box = settings, files, data, box
        self._kept = {place: KeptBox(folder / f"{place}.box") for place in settings.places}
        self._commands: Mapping[tuple[Place, str], OwnerCommand] = {
            (place, name): OwnerCommand(f"{place}.{name}", argv, OF_A_COMMIT)
            for place, one in settings.places.items()
            for name, argv in (("build", one.build), ("start", one.start))
        }

    def check(self) -> str:
        box = self._box()
        for place in self._settings.places:
            self._given(place)
        return f"commands of yours {self._settings.as_whom} ({box.name} {box.version})"

    def build(self, release: Release) -> None:
        place, command = release.place, self._commands[release.place, "build"]
        folder, how = self._files.of(release.commit), built_how(self._settings.places[place])
        if not command or self._files.built(release.commit, place) == how:
            return
        given = self._given(place)
        mounts = (*python_mounts(base_python()), Mount(folder, FOLDER, writable=True))
        job = Job(command.filled(_holes(release)), mounts, FOLDER, given.env, self._limits())
        done = self._box().run(job)
        fault_point("deploy.built")
        if not done.ok:
            raise ReleaseFailed(command.problem(done, given))
        self._files.set_built(release.commit, place, how)

    def start(self, release: Release, hurry: bool = False) -> None:
        """What ran before has ended when this one begins: both would have the same port, and the same data."""
        place, kept = release.place, self._kept[release.place]
        if (found := kept.found()) and found.name == release.commit:
            return
        try:
            folder = self._files.of(release.commit)
        except ReleaseFailed as problem:
            raise ReleaseFailed(str(problem), is_untouched=True) from None
        port = self._settings.places[place].port
        if found is None and is_taken(port):
            who = holder(port) or "another program"
            raise ReleaseFailed(f"port {port} is taken by {who}", is_untouched=True)
        order = BoxOrder(
            release.commit,
            self._commands[place, "start"].filled(_holes(release)),
            str(folder),
            str(self._place_for_data(place)),
            port,
            self._settings.memory,
        )
        for number in range(TRIES):
            kept.end(hurry)
            fault_point("deploy.stopped")
            try:
                kept.start(order, self._given(place).env)
            except Unavailable as problem:
                if number + 1 == TRIES or kept.found() is None:
                    raise ReleaseFailed(f"`{place}.start` has no box: {problem}") from None
            else:
                break
        fault_point("deploy.started")

    def running(self, place: Place) -> Running | None:
        found = self._kept[place].found()
        return Running(found.name) if found and found.name else None

    def has_port(self, place: Place) -> bool:
        return self._kept[place].found() is not None

    def logs(self, place: Place, lines: int = 50) -> str:
        return "\n".join(self._kept[place].log(lines))

    def clean(self, keep: Collection[Release]) -> Cleaned:
        """Data stays."""
        running = [found.commit for place in self._kept if (found := self.running(place))]
        return Cleaned(builds=self._files.clean({*running, *(release.commit for release in keep)}))

    def _given(self, place: Place) -> Surroundings:
        """Nothing of ours: PORT, what the owner gives the place, and programs of the machine."""
        one = self._settings.places[place]
        path = f"{PATH}:{base_python().parent}"
        found = surroundings(one, {"PATH": path, "HOME": "/home/sandbox", "LANG": "C.UTF-8"})
        return Surroundings({"PORT": str(one.port), **found.env}, found.secrets)

    def _limits(self) -> JobLimits:
        memory = self._settings.memory
        return JobLimits(
            seconds=self._settings.minutes * 60,
            memory_mb=memory,
            address_mb=max(4096, 4 * memory),
            processes=512,
            file_mb=BUILT_FILE,
            tmp_mb=512,
            disk_mb=BUILT_DISK,
            files=BUILT_FILES,
        )

    def _place_for_data(self, place: Place) -> Path:
        folder = self._data / f"data-{place}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(folder.iterdir()):  # what a box has written there is its own already, and one may be at it now
                hand_over(folder)
        except OSError as error:
            raise EngineAway(f"{folder} cannot be made ({error.strerror}); make room there") from None
        fault_point("deploy.volumes")
        return folder


def _holes(release: Release) -> Mapping[str, str]:
    return {"commit": release.commit, "folder": FOLDER, "place": release.place}
