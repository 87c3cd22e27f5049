"""A home that deploys by commands which write and print a file: real git, real books, no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sisimpur.cli.app import main
from sisimpur.cli.wiring.forge import open_code
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.deployment import Deploy, DeployEvent, NewDeploy, Place
from tests.journey.stage import Stage, git

PLACES: tuple[Place, ...] = ("staging", "production")
GOOD = (DeployEvent.BUILT, DeployEvent.SAVED, DeployEvent.STARTED, DeployEvent.PASSED)
SICK = (DeployEvent.BUILT, DeployEvent.SAVED, DeployEvent.STARTED, DeployEvent.SICKENED)


@dataclass
class DeployHome:
    root: Path
    stage: Stage

    @classmethod
    def made(cls, root: Path, places: Sequence[Place] = ("production",), health: str = "") -> DeployHome:
        home = cls(root, Stage(root, "http://127.0.0.1:9").set_up())
        if places:
            home.given_driver(places, health)
        return home

    def given_driver(self, places: Sequence[Place] = ("production",), health: str = "") -> None:
        path = self.stage.home.targets / "site.yaml"
        plain = path.read_text().partition("deploy:")[0]
        told = "".join(
            f"  {place}:\n"
            f'    start: [sh, -c, "test ! -e {self.root}/broken || exit 3; echo {{commit}} > {self.runs(place)}"]\n'
            f"    running: [cat, {self.runs(place)}]\n"
            for place in places
        )
        health = health or "pages: [], watch_minutes: 0, grace: 0, every: 0.1"
        path.write_text(f"{plain}deploy:\n  driver: command\n  unsandboxed: yes\n{told}health: {{{health}}}\n")

    def runs(self, place: Place = "production") -> Path:
        """The file that stands for what runs there."""
        return self.root / place

    def type(self, *words: str) -> int:
        return main(["--home", str(self.stage.home.root), *words])

    def commit(self, text: str = "") -> str:
        """The newest of the owner's repository; with a text, a new one. Our mirror knows it then."""
        if text:
            self.stage.owner_commits({"app.py": f"# {text}\n"})
        with self.stage.records() as records:
            return open_code(records.home, records.settings, records.clock, print).sync()

    def deployed(self, commit: str, *events: DeployEvent, **more: Any) -> Deploy:
        with self.stage.records() as records:
            return booked(records, commit, *events, **more)

    def site(self, *words: str) -> str:
        return git(self.root / "site", *words)


def booked(
    records: Records,
    commit: str,
    *events: DeployEvent,
    place: Place = "production",
    back_to: str = "",
    why: str = "",
    reverts: int = 0,
) -> Deploy:
    """A deploy as the book would have it, a minute for each step; without events it is healthy."""
    book, now = records.deploys, records.clock.now() - timedelta(minutes=10)
    deploy = book.plan(NewDeploy(place, commit, back_to), now)
    for event in events or GOOD:
        now += timedelta(minutes=1)
        said = why if event in (DeployEvent.SICKENED, DeployEvent.NOT_BUILT, DeployEvent.LOST) else ""
        deploy = book.happened(deploy, event, now, said)
    if reverts:
        book.reverted_by(deploy, reverts)
    if deploy.is_over:
        book.settled(deploy)
    return next(one for one in book.deploys() if one.number == deploy.number)
