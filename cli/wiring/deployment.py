"""The owner's `deploy` and `health` -> what deploys: a driver, health checks of its places, backups."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sisimpur.agents.devops.agent import DevOps
from sisimpur.agents.devops.drivers.driver import Driver
from sisimpur.agents.devops.drivers.owner_command import surroundings
from sisimpur.agents.devops.drivers.release_files import ReleaseFiles
from sisimpur.agents.orchestrator.deploys.deploy_book import DeployRepository
from sisimpur.agents.orchestrator.deploys.deploying import Deployment, DeployRules
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.settings_deploy import PlaceSettings
from sisimpur.shared.model.deployment import Deploy, Place
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.repo.mirror import Mirror

if TYPE_CHECKING:
    from sisimpur.agents.devops.drivers.command_driver import CommandUser
    from sisimpur.agents.devops.drivers.health_checker import HealthChecker


def make_driver(
    records: Records, stopping: Callable[[], bool] = lambda: False, mirror: Mirror | None = None
) -> Driver | None:
    """Make the driver. None: nothing is to be deployed. It raises EngineAway or Misconfigured only when it is used.

    `mirror`: what is deployed; nothing is fetched or pushed through it.
    """
    deploy, home, name = records.settings.target.file.deploy, records.home, records.deploys.name
    files = _files(records, mirror or Mirror.at(home.mirror(records.settings.target.name)))
    match deploy.driver:
        case "none":
            return None
        case "command":
            if deploy.is_boxed:
                return _boxed(records, files, stopping)
            from sisimpur.agents.devops.drivers.command_driver import CommandDriver

            return CommandDriver(deploy, files, home.releases, records.clock, _user(records), stop=stopping)
        case "dockerfile":
            from sisimpur.agents.devops.docker.docker_manager import DockerManager
            from sisimpur.agents.devops.docker.dockerfile_driver import DockerfileDriver

            return DockerfileDriver(DockerManager(name(), os.environ), deploy, files.of)
        case "compose":
            from sisimpur.agents.devops.compose.compose_command import ComposeCommand
            from sisimpur.agents.devops.compose.compose_driver import ComposeDriver
            from sisimpur.agents.devops.docker.docker_manager import DockerManager

            compose = ComposeCommand(os.environ, deploy.minutes, stopping)
            return ComposeDriver(DockerManager(name(), os.environ), compose, deploy, files.of, home.releases)


def make_deployment(
    records: Records,
    mirror: Mirror,
    stopping: Callable[[], bool],
    yields: Callable[[], bool],
    print_line: Callable[[str], None],
    clean: Callable[[str], str],
) -> Deployment | None:
    """None: nothing is to be deployed. `yields`: whether watching is left to who comes next, while what is built and
    started is brought to its end. `clean`: the filter for outgoing text.
    """
    from sisimpur.agents.devops.drivers.backup import Backups

    driver = make_driver(records, stopping, mirror)
    if driver is None:
        return None
    target, files = records.settings.target.file, _files(records, mirror)
    backups = Backups(records.home.backups, target.deploy, records.clock, stop=stopping)

    def forget(commits: Collection[str], saved: Collection[str]) -> None:
        files.clean(commits)
        backups.clean(saved)

    devops = DevOps(
        driver=driver,
        sites=_sites(records, yields, clean),
        saves=backups,
        rule=target.health.rule,
        every=target.health.every,
        migrations=target.deploy.migrations,
        keep=target.deploy.keep,
        changed=lambda old, new: tuple(change.path for change in mirror.changed(old, new)),
        clock=records.clock,
        yields=yields,
        overruled=partial(_overruled, records.deploys),
        forget=forget,
        print_progress=print_line,
    )
    deploy = target.deploy
    return Deployment(devops, DeployRules(tuple(deploy.places), deploy.pause_after, deploy.as_whom, deploy.refused))


def _files(records: Records, mirror: Mirror) -> ReleaseFiles:
    """Whoever runs commands of what was merged does not run in the home."""
    deploy, home = records.settings.target.file.deploy, records.home
    if deploy.driver != "command":
        return ReleaseFiles(mirror, home.releases)
    from sisimpur.shared.sandbox.box import hand_over

    user = _user(records)
    return ReleaseFiles(mirror, user.releases, home.releases, hand_over if deploy.is_boxed else user.own)


def _boxed(records: Records, files: ReleaseFiles, stopping: Callable[[], bool]) -> Driver:
    from sisimpur.agents.devops.drivers.box_driver import BoxDriver
    from sisimpur.shared.sandbox.box import Stoppable, find_box

    home, deploy = records.home, records.settings.target.file.deploy

    def box() -> Stoppable:
        return Stoppable(find_box(home.temporary), stopping)

    return BoxDriver(deploy, files, home.releases, files.folder, box)


def _user(records: Records) -> CommandUser:
    """Misconfigured: what is laid out would lie in the home."""
    from sisimpur.agents.devops.drivers.command_driver import CommandUser

    deploy, home = records.settings.target.file.deploy, records.home
    releases = Path(deploy.releases) if deploy.releases else home.root.with_name(f"{home.root.name}.releases")
    if releases.resolve().is_relative_to(home.root.resolve()):
        raise Misconfigured(f"`deploy.releases` lies in the home; name a folder outside of {home.root}")
    return CommandUser(deploy, releases, (home.root, home.config / ".env", home.database))


def _sites(records: Records, yields: Callable[[], bool], clean: Callable[[str], str]) -> Mapping[Place, HealthChecker]:
    from sisimpur.agents.devops.drivers.health_checker import HealthChecker, SiteChecks, base_url

    file = records.settings.target.file
    pages, patterns, retries = file.health.pages or (), file.health.log_patterns, file.health.retries

    def checker(one: PlaceSettings) -> HealthChecker:
        site = SiteChecks(base_url(one), pages, patterns, retries)
        return HealthChecker(site, records.clock, partial(_cleaned, clean, one), yields)

    return {place: checker(one) for place, one in file.deploy.places.items()}


def _overruled(book: DeployRepository, deploy: Deploy) -> bool:
    return any(order.place == deploy.place and order.commit != deploy.commit for order in book.orders())


def _cleaned(clean: Callable[[str], str], place: PlaceSettings, text: str) -> str:
    """Remove also the secrets that the place was given."""
    return surroundings(place, os.environ).secrets.clean(clean(text))
