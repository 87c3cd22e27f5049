"""`deploys`: what was brought to each place, what runs there, what is in the way, and what the owner types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sisimpur.agents.devops.drivers.driver import EngineAway
from sisimpur.agents.orchestrator.reports.deploy_text import UNDER_WAY, clock, short
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import (
    LONGEST_WHY,
    MOST_SHOWN,
    command,
    on_screen,
    pasteable,
    plain,
    print_groups,
    print_json,
    print_list,
)
from sisimpur.cli.views.pulls import pulls
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.deployment import (
    OVER,
    Deploy,
    DeployStage,
    Place,
    Running,
    healthy_at,
    unwatched,
    waiting_for_revert,
)
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.text import begin_and_end

if TYPE_CHECKING:  # most looks at deploys ask no driver
    from sisimpur.agents.devops.drivers.driver import Driver

LONGEST_TITLE = 80
NOBODY_KNOWS = (DeployStage.STUCK, DeployStage.OVERRULED)  # which of the two runs
MakeDriver = Callable[[Records], "Driver | None"]


def make_driver(records: Records) -> Driver | None:
    from sisimpur.cli.wiring import deployment

    return deployment.make_driver(records)


def configured(records: Records) -> DeploySettings:
    """Return the settings. Misconfigured, with what to write, if nothing is to be deployed."""
    target = records.settings.target
    if target.file.deploy.driver == "none":
        raise Misconfigured(
            f"nothing is deployed here: write `deploy: {{driver: compose, ...}}` (or dockerfile, or command) into"
            f" config/targets/{target.name}.yaml; whole examples: docs/deploys.md"
        )
    return target.file.deploy


def deploys(arguments: Arguments, make: MakeDriver = make_driver) -> int:
    with open_records(arguments.home, looking=True) as records:
        configured(records)
        facts, now = deploy_facts(records, make), records.clock.now()
    if arguments.json:
        return print_json(facts)
    for place in facts["places"]:
        print(plain(_stands(place, now)))
        print(plain(f"  {pasteable(in_words(place['runs']), arguments.home)}"))
    print_groups("waits for you", ([held["text"], held["command"]] for held in facts["held"]))
    print_list("ordered", (f"{one['place']} {short(one['commit'])}" for one in facts["orders"]))
    print_groups("deploys", (list(_lines(row, now)) for row in facts["deploys"]))
    if not facts["deploys"]:
        print("no deploys yet")
    return 0


def standings(records: Records) -> list[str]:
    """Return a line for each place, for `status`: from the database alone."""
    book, now = _DeploysView.of(records), records.clock.now()
    return [plain(_stands(_place(book, place), now)) for place in records.settings.target.file.deploy.places]


def pause(records: Records) -> tuple[str, str] | None:
    """Say why nothing new is deployed, and what ends that. None: it is not paused."""
    found = records.deploys.paused()
    if found is None:
        return None
    told = f"nothing new is deployed since {clock(found.at, records.day())}: {on_screen(found.why)}"
    return told, command(records.home.root, "resume-deploys")


@dataclass(frozen=True)
class _DeploysView:
    """All deploys. `tasks`: by commit; `titles`: of tasks, by id; `subjects`: of the commits that are shown."""

    deploys: Sequence[Deploy]
    tasks: dict[str, str]
    titles: dict[str, str]
    subjects: dict[str, str]

    @classmethod
    def of(cls, records: Records) -> _DeploysView:
        from sisimpur.shared.repo.mirror_commits import subjects

        deploys = records.deploys.deploys()
        mirror = records.home.mirror(records.settings.target.name)
        named = (healthy_at(place, deploys) for place in records.settings.target.file.deploy.places)
        shown = [sha for sha in (*named, *(deploy.commit for deploy in deploys[-2 * MOST_SHOWN :])) if sha]
        tasks = records.journal.merged_as((*shown, *(deploy.commit for deploy in deploys)))
        titles = {known.id: known.title for known in records.journal.tasks(tasks.values()).values()}
        return cls(deploys, tasks, titles, subjects(mirror, shown))

    def about(self, commit: str) -> dict[str, str]:
        """Say whose change a commit is, in the form of `--json`."""
        task = self.tasks.get(commit, "")
        subject = self.titles.get(task) or self.subjects.get(commit, "")
        return {"commit": commit, "subject": on_screen(subject), "task": task}


def deploy_facts(records: Records, make: MakeDriver = make_driver) -> dict[str, Any]:
    """Collect everything in the form of `--json`; the newest deploy first."""
    book, deploy = _DeploysView.of(records), records.settings.target.file.deploy
    said = asked(records, make)
    return {
        "driver": deploy.driver,
        "places": [
            _place(book, name) | {"runs": runs(book.deploys, name, said[name], records)} for name in deploy.places
        ],
        "paused": _paused(records),
        "held": [{"text": text, "command": typed} for text, typed in _held(records, book.deploys)],
        "orders": [{"place": order.place, "commit": order.commit} for order in records.deploys.orders()],
        "deploys": [_row(one, book) for one in reversed(book.deploys)],
    }


def _place(book: _DeploysView, place: Place) -> dict[str, Any]:
    """Describe it from the database. `commit` empty: nothing was ever healthy there, or nobody knows (`stuck`: why).

    `unwatched`: what runs there instead since an order that came to nothing; empty: there is no such thing.
    """
    here = [deploy for deploy in book.deploys if deploy.place == place]
    over = [deploy for deploy in here if deploy.stage in OVER]
    under_way = next((deploy for deploy in here if deploy.stage not in OVER), None)
    came = [deploy for deploy in over if deploy.stage in (DeployStage.HEALTHY, DeployStage.RETURNED)]
    live = healthy_at(place, book.deploys)
    return {
        "place": place,
        **book.about(live),
        "since": _iso(came[-1].ended_at) if live and came else "",
        "stuck": on_screen(over[-1].why, 2_000) if over and over[-1].stage is DeployStage.STUCK else "",
        "unwatched": unwatched(over[-1], here) if over else "",
        "under_way": _row(under_way, book) if under_way else None,
    }


def _row(deploy: Deploy, book: _DeploysView) -> dict[str, Any]:
    return {
        "number": deploy.number,
        "place": deploy.place,
        **book.about(deploy.commit),
        "stage": deploy.stage.value,
        "why": on_screen(deploy.why, 2_000),
        "back_to": deploy.back_to,
        "asked": deploy.asked,
        "reverted_by": deploy.reverts or None,
        "begun": _iso(deploy.begun_at),
        "started": _iso(deploy.started_at),
        "ended": _iso(deploy.ended_at),
        "backup": deploy.backup,
    }


def _iso(when: datetime | None) -> str:
    return when.isoformat(timespec="seconds") if when else ""


def _paused(records: Records) -> dict[str, str] | None:
    found = records.deploys.paused()
    if found is None:
        return None
    typed = command(records.home.root, "resume-deploys")
    return {"since": _iso(found.at), "why": on_screen(found.why, 2_000), "command": typed}


def _held(records: Records, deploys: Sequence[Deploy]) -> Iterator[tuple[str, str]]:
    """Yield why nothing new is begun, each with what the owner types."""
    if found := pause(records):
        yield found
    waiting = waiting_for_revert(deploys, records.deploys.forgiven())
    rows = pulls(records)[0] if waiting else []
    open_ = {row["number"] for row in rows if row["state"] == "open"}
    for deploy in waiting:
        if deploy.reverts in open_:
            sick = f"{short(deploy.commit)} was sick at {deploy.place}"
            told = f"{sick}: merge #{deploy.reverts}, which takes it back, or close it; until then nothing new is begun"
            yield told, command(records.home.root, "prs")


def _stands(place: dict[str, Any], now: datetime) -> str:
    if place["stuck"]:
        told = f"may be down: {begin_and_end(place['stuck'], LONGEST_WHY)}"
    elif place["unwatched"]:
        before = f"; {_named(place)} was healthy before" if place["commit"] else ""
        told = f"{short(place['unwatched'])} runs there still, and nobody watched it to its end{before}"
    elif place["commit"]:
        told = f"{_named(place)} healthy since {_at(place['since'], now)}"
    else:
        told = "nothing was healthy there yet"
    if row := place["under_way"]:
        told += (
            f"; {_named(row)} {UNDER_WAY[DeployStage(row['stage'])]}, since {_at(row['started'] or row['begun'], now)}"
        )
    return f"{place['place']}: {told}"


def _named(row: dict[str, Any]) -> str:
    what = "; ".join(part for part in (begin_and_end(row["subject"], LONGEST_TITLE), row["task"]) if part)
    return f"{short(row['commit'])} ({what})" if what else short(row["commit"])


def _lines(row: dict[str, Any], now: datetime) -> Iterator[str]:
    stage = row["stage"] if DeployStage(row["stage"]) in OVER else UNDER_WAY[DeployStage(row["stage"])]
    asked = ", ordered by you" if row["asked"] else ""
    when = _at(row["ended"] or row["begun"], now)
    yield f"#{row['number']:<4} {row['place']:<10} {when:<16} {stage}{asked}: {_named(row)}"
    if row["why"]:
        yield begin_and_end(row["why"], LONGEST_WHY)
    if row["stage"] == DeployStage.RETURNED.value:
        yield f"{short(row['back_to'])} runs there again"
    if row["reverted_by"]:
        yield f"pull request #{row['reverted_by']} takes it back"
    if row["backup"]:
        yield f"saved before it: {row['backup']}"


def _at(iso: str, now: datetime) -> str:
    return clock(datetime.fromisoformat(iso), now.date().isoformat()) if iso else "?"


# --- what runs now -------------------------------------------------------------------------------------------


def asked(records: Records, make: MakeDriver) -> dict[Place, Running | str | None]:
    """Ask each place what runs; a text says why it cannot be asked. A driver that is away is asked only once."""
    found: dict[Place, Running | str | None] = {}
    away = ""
    for place in records.settings.target.file.deploy.places:
        try:
            driver = None if away else make(records)
            found[place] = driver.running(place) if driver else away
        except TeamError as problem:
            found[place] = on_screen(str(problem))
            away = on_screen(str(problem)) if isinstance(problem, EngineAway) else ""
    return found


def runs(deploys: Sequence[Deploy], place: Place, said: Running | str | None, records: Records) -> dict[str, Any]:
    """Describe what runs. `is_other`: it is not what was deployed there; `command` puts that right."""
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
    """Return what may run there: while a deploy is under way the new one, the one before, or just now none.

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
