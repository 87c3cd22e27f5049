"""For `doctor`: can what is configured under `deploy` and `health` work on this machine? Changes nothing."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sisimpur.agents.devops.drivers.driver import Driver, HasPorts, Release, holder
from sisimpur.agents.devops.drivers.release_files import release_env
from sisimpur.cli.terminal.printing import on_screen
from sisimpur.cli.views.deploys import MakeDriver, make_driver
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.config.settings import Settings
from sisimpur.shared.config.settings_deploy import HealthSettings, PlaceSettings
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.deployment import Place
from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.paths import Home

HERE = "127.0.0.1"
MOST_SAID = 4_000  # characters of all that is wrong with a compose file


def deploy_findings(home: Home, settings: Settings, make: MakeDriver = make_driver) -> Iterator[SetupFinding]:
    """Check driver, compose file and places. Nothing is found where nothing is deployed."""
    if settings.target.file.deploy.driver == "none" or not home.state.exists():
        return
    try:
        with open_records(home.root) as records:
            yield from _findings(records, make)
    except TeamError as problem:
        yield SetupFinding("deploys", False, str(problem))


def _findings(records: Records, make: MakeDriver) -> Iterator[SetupFinding]:
    file = records.settings.target.file
    driver = make(records)
    assert driver
    name = file.deploy.driver
    try:
        yield SetupFinding("deploys", True, f"{name}: {driver.check()}")
    except TeamError as problem:
        yield SetupFinding("deploys", False, f"{name}: {problem}")
    yield from compose_findings(records)
    for place, settings in file.deploy.places.items():
        try:
            release_env(settings)
            yield SetupFinding(place, True, f"{_port(driver, place, settings)}; {_pages(file.health, settings)}")
        except TeamError as problem:
            yield SetupFinding(place, False, str(problem))


def _pages(health: HealthSettings, place: PlaceSettings) -> str:
    asked = place.url or f"http://{HERE}:{place.port}"
    if not health.pages:
        return "no page is asked (`pages: []`): only its end, its restarts and its log are looked at"
    return f"asked at {asked}: {', '.join(page.path for page in health.pages)}"


def _port(driver: Driver, place: Place, settings: PlaceSettings) -> str:
    """Say that the port is free, or held by what we have started there ourselves; else Misconfigured."""
    port = settings.port
    if not port:
        return "no port of its own"
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what has just ended holds nobody up
        try:
            door.bind((HERE, port))
        except OSError as problem:
            return _taken(driver, place, port, problem)
    return f"port {port} is free"


def _taken(driver: Driver, place: Place, port: int, problem: OSError) -> str:
    """Say who holds the port, if that is as it should be; else Misconfigured."""
    who = holder(port) or "another program"
    try:
        if isinstance(driver, HasPorts) and driver.has_port(place):
            return f"port {port} is ours"
        if not isinstance(driver, HasPorts) and driver.running(place):
            return f"port {port} is taken by {who}, as it should be if that is what `{place}.start` starts"
    except TeamError:  # what is wrong with it was told before
        what = "Docker is away" if isinstance(driver, HasPorts) else f"`{place}.running` says nothing"
        return f"port {port} is in use, and nobody can tell whose it is while {what}"
    raise Misconfigured(
        f"port {port} cannot be used ({problem.strerror}): {who} has it, or it is not yours; end that, or choose"
        f" another `deploy.{place}.port` in config/targets"
    )


# --- the compose file ----------------------------------------------------------------------------------------


def compose_findings(records: Records) -> Iterator[SetupFinding]:
    """Check the compose file of the branch, if the target was fetched once. Name each problem once."""
    target = records.settings.target
    place = records.home.mirror(target.name)
    if target.file.deploy.driver != "compose" or not place.is_dir():
        return
    mirror = Mirror(place, Remote(str(place)))
    try:
        if head := mirror.head(target.file.branch):
            yield _finding(list(dict.fromkeys(_problems(records, mirror, head))), target.file.deploy.compose_file, head)
    except (TeamError, OSError) as problem:
        yield SetupFinding("compose file", False, f"it cannot be read: {on_screen(str(problem))}")


def _finding(problems: list[str], name: str, head: str) -> SetupFinding:
    found = f"{name} of {head[:8]}, the branch's newest commit here,"
    return SetupFinding("compose file", not problems, " ".join(problems) or f"{found} may be run")


def _problems(records: Records, mirror: Mirror, commit: str) -> Iterator[str]:
    """Name the problems for each place, by its own variables."""
    from sisimpur.agents.devops.compose.compose_command import ComposeCommand
    from sisimpur.agents.devops.compose.compose_driver import ComposeDriver
    from sisimpur.agents.devops.docker.docker_manager import DockerManager
    from sisimpur.agents.devops.drivers.release_files import ReleaseFiles

    deploy = records.settings.target.file.deploy
    with tempfile.TemporaryDirectory(prefix="compose-") as scratch:
        files, manager = ReleaseFiles(mirror, Path(scratch)), DockerManager(records.deploys.name(), os.environ)
        driver = ComposeDriver(manager, ComposeCommand(os.environ), deploy, files.of, Path(scratch))
        for place in deploy.places:
            try:
                driver.look(Release(place, commit))
            except Refused as problem:
                yield on_screen(str(problem), MOST_SAID)
            except Misconfigured:  # its env_file: that is told for the place
                continue
