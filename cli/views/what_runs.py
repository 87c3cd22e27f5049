"""What really runs at each place: asked now, held against the book, and said plainly. Looks and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agents.devops.drivers.driver import Driver
from agents.orchestrator.reports.deploy_text import begin_and_end, short
from cli.terminal.text import command, plain
from cli.wiring.records import Records
from shared.model.deployment import OVER, Deploy, DeployStage, Place, Running, healthy_at, unwatched
from shared.model.errors import TeamError, Unavailable

NOBODY_KNOWS = (DeployStage.STUCK, DeployStage.OVERRULED)  # which of the two runs
LONGEST_WHY = 300  # characters on the screen

MakeDriver = Callable[[Records], Driver | None]


def make_driver(records: Records) -> Driver | None:
    from cli.wiring import deployment

    return deployment.make_driver(records)


def on_screen(text: str, most: int = LONGEST_WHY) -> str:
    """What programs and people said, on one line; of a long text its begin and its end."""
    return begin_and_end(" ".join(plain(text).split()), most)


def asked(records: Records, make: MakeDriver) -> dict[Place, Running | str | None]:
    """Place -> what it says of itself; a text: why it cannot be asked. Who is away is not asked for the next place."""
    found: dict[Place, Running | str | None] = {}
    away = ""
    for place in records.settings.target.file.deploy.places:
        try:
            driver = None if away else make(records)
            found[place] = driver.running(place) if driver else away
        except TeamError as problem:
            found[place] = on_screen(str(problem))
            away = on_screen(str(problem)) if isinstance(problem, Unavailable) else ""
    return found


def runs(deploys: Sequence[Deploy], place: Place, said: Running | str | None, records: Records) -> dict[str, Any]:
    """`told`: all of it in words. `is_other`: it is not what was deployed there."""
    commit, ended = (said.commit, on_screen(said.ended)) if isinstance(said, Running) else ("", "")
    live = healthy_at(place, deploys)
    is_other = not isinstance(said, str) and not _is_meant(said, _meant(deploys, place))
    typed = command(records.home.root, "deploy", "--place", place, "--commit", short(live))
    return {
        "commit": commit,
        "ended": ended,
        "problem": said if isinstance(said, str) else "",
        "is_other": is_other,
        "command": typed if (is_other or ended) and live else "",
    }


def _meant(deploys: Sequence[Deploy], place: Place) -> set[str]:
    """What may run there by the book: while a deploy is under way the new one, the one before, or just now none.

    After one that got stuck, or was cut off, nobody knows which of the two it is; that is another matter.
    """
    here = [d for d in deploys if d.place == place]
    unsure = [d for d in here if d.stage not in OVER or (d is here[-1] and d.stage in NOBODY_KNOWS)]
    cut = unwatched(here[-1], deploys) if here else ""
    return {
        healthy_at(place, deploys),
        *(sha for d in unsure for sha in (d.commit, d.back_to, "")),
        *([cut] if cut else ()),
    }


def _is_meant(said: Running | None, meant: set[str]) -> bool:
    return any(said.is_of(commit) for commit in meant) if said else "" in meant


def in_words(runs: dict[str, Any]) -> str:
    if runs["problem"]:
        return f"runs: nobody can be asked ({runs['problem']})"
    what = short(runs["commit"]) if runs["commit"] else "nothing of ours"
    if runs["ended"]:
        what = f"{what}, but it has ended: {runs['ended']}"
    elif runs["is_other"]:
        what = f"{what}, which is not what was deployed; nothing is touched before the next deploy"
    return f"runs: {what}" + (f"; to put it right, type: {runs['command']}" if runs["command"] else "")
