"""For `doctor`: may the compose file be run as it is on the branch? Read from our copy of the target; runs nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agents.devops.drivers.driver import Release
from cli.views.what_runs import one_line
from cli.wiring.records import Records
from shared.forge.github_check import SetupFinding
from shared.model.errors import Misconfigured, TeamError
from shared.repo.mirror import Mirror
from shared.repo.remote import Remote

MOST = 4_000  # characters of all that is wrong with it


def compose_findings(records: Records) -> Iterator[SetupFinding]:
    """Nothing with another driver, and before the target was fetched for the first time. Each problem once."""
    target = records.settings.target
    place = records.home.mirror(target.name)
    if target.file.deploy.driver != "compose" or not place.is_dir():
        return
    mirror = Mirror(place, Remote(str(place)))
    try:
        if head := mirror.head(target.file.branch):
            yield _finding(list(dict.fromkeys(_problems(records, mirror, head))), target.file.deploy.compose_file, head)
    except (TeamError, OSError) as problem:
        yield SetupFinding("compose file", False, f"it cannot be read: {one_line(str(problem))}")


def _finding(problems: list[str], name: str, head: str) -> SetupFinding:
    found = f"{name} of {head[:8]}, the branch's newest commit here,"
    return SetupFinding("compose file", not problems, " ".join(problems) or f"{found} may be run")


def _problems(records: Records, mirror: Mirror, commit: str) -> Iterator[str]:
    """Of each place, by its own variables."""
    from agents.devops.compose.compose_command import ComposeCommand
    from agents.devops.compose.compose_driver import ComposeDriver, NotToRun
    from agents.devops.docker.docker_manager import DockerManager
    from agents.devops.drivers.release_files import ReleaseFiles

    deploy = records.settings.target.file.deploy
    with tempfile.TemporaryDirectory(prefix="compose-") as scratch:
        files, manager = ReleaseFiles(mirror, Path(scratch)), DockerManager(records.deploys.name(), os.environ)
        driver = ComposeDriver(manager, ComposeCommand(os.environ), deploy, files.of, Path(scratch))
        for place in deploy.places:
            try:
                driver.look(Release(place, commit))
            except NotToRun as problem:
                yield one_line(str(problem), MOST)
            except Misconfigured:  # its env_file: that is told for the place
                continue
