"""For `doctor`: can what is configured under `deploy` and `health` work on this machine? Looks and changes nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from agents.devops.drivers import ports
from agents.devops.drivers.driver import Driver, HasPorts
from agents.devops.drivers.release_files import release_env
from cli.commands.compose_check import compose_findings
from cli.views.what_runs import MakeDriver, make_driver
from cli.wiring.records import Records, open_records
from shared.config.settings import Settings
from shared.config.settings_deploy import HealthSettings, PlaceSettings
from shared.forge.github_check import SetupFinding
from shared.model.deployment import Place
from shared.model.errors import Misconfigured, TeamError
from shared.system.paths import Home

HERE = "127.0.0.1"


def deploy_findings(home: Home, settings: Settings, make: MakeDriver = make_driver) -> Iterator[SetupFinding]:
    """Nothing where nothing is deployed."""
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
    """Free, or held by what we have started there ourselves."""
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
    """Whose it is, if that is as it should be."""
    who = ports.holder(port) or "another program"
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
