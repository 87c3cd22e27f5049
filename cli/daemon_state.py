"""Whether the daemon works, since when, or how it ended: for `status`, also where config/ cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from cli.arguments import Arguments
from cli.printing import print_json
from cli.records import Records
from cli.text import command, plain
from shared.domain.schedule import Standing, outlook
from shared.edge import lock
from shared.edge.clock import SystemClock
from shared.edge.database import Database
from shared.edge.epochs import STOPPED, Epoch, Epochs
from shared.edge.paths import Home
from shared.edge.plan_book import PlanBook

PHASES = {"morning": "the morning", "planning": "planning", "work": "work", "wrap_up": "the evening's report"}

State = Literal["never", "running", "stopped", "dead"]


# --- facts ---------------------------------------------------------------------------------------------------


def daemon_facts(db: Database, holder: str, following: str = "") -> dict[str, Any]:
    """In the form of `--json`. `holder`: the number of whoever holds the home's lock, empty if nobody does.

    Somebody else than the daemon may hold it (`run-day`): then this still says how the daemon ended.
    """
    epoch = Epochs(db).last()
    facts: dict[str, Any] = dict.fromkeys(("since", "ended", "how", "next"), "")
    facts = {"state": _state(epoch, holder), "pid": None, **facts}
    if epoch is None:
        return facts
    facts |= {"pid": epoch.pid, "since": _iso(epoch.began), "how": epoch.how}
    return facts | ({"next": following} if facts["state"] == "running" else {"ended": _iso(epoch.ended or epoch.seen)})


def _state(epoch: Epoch | None, holder: str) -> State:
    if epoch is None:
        return "never"
    if epoch.ended:
        return "stopped"
    return "running" if holder == str(epoch.pid) else "dead"


def _iso(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def comes_next(records: Records) -> str:
    """`now: the morning; next: planning at 07:45`."""
    now, plans = records.clock.now(), records.plans
    seen = outlook(records.settings.schedules.schedule, now, lambda day: _standings(plans, day))
    doing = PHASES[seen.due.name] if seen.due else PHASES["work"] if seen.working else ""
    when = f"{seen.next_at:%H:%M}" if seen.next_at.date() == now.date() else f"{seen.next_at:%H:%M} tomorrow"
    return f"{f'now: {doing}; ' if doing else ''}next: {PHASES.get(seen.next_name, seen.next_name)} at {when}"


def _standings(plans: PlanBook, day: str) -> Mapping[str, Standing]:
    return {name: ran.standing for name, ran in plans.phases_of(day).items()}


def go_on(db: Database) -> str:
    """The word that takes up what was cut off: for those who use the daemon, and for those who do without."""
    return "start" if Epochs(db).last() else "run-day"


def how_it_goes_on(db: Database, home: Home) -> str:
    """What the owner has to type for it, if anything."""
    if lock.holder(home.lock):
        return "the team is at work and goes on by itself"
    return f"to go on, type: {command(home.root, go_on(db))}"


# --- words ---------------------------------------------------------------------------------------------------


def who_works(facts: dict[str, Any], home: Path, now: datetime) -> str:
    """`facts`: of `status`, as far as they are known."""
    daemon = facts["daemon"]
    if daemon["state"] == "running":
        following = f"; {daemon['next']}" if daemon["next"] else ""
        return f"at work (pid {daemon['pid']}) since {_at(daemon['since'], now)}{following}"
    if facts["pid"]:
        return f"at work (pid {facts['pid']})" + (f" since {_at(facts['since'], now)}" if facts["since"] else "")
    return _not_running(daemon, home, now)


def _not_running(daemon: dict[str, Any], home: Path, now: datetime) -> str:
    ended = _at(daemon["ended"], now)
    match daemon["state"]:
        case "never":
            return "not running"
        case "stopped" if daemon["how"] == STOPPED:
            return f"not running; it was stopped at {ended}"
        case "stopped":
            return plain(f"not running: it ended at {ended}: {daemon['how']}")
    why = f"it ended at about {ended} without a word (killed, or a power cut); no work is lost"
    return f"not running: {why}; type: {command(home, 'start')}"


def _at(iso: str, now: datetime) -> str:
    """The time of day; with its date, if that is another one."""
    day, _, time = iso[:16].partition("T")
    return time if day == now.date().isoformat() else f"{day} {time}"


# --- without settings ----------------------------------------------------------------------------------------


def without_settings(arguments: Arguments) -> None:
    """What can be said of a home whose config/ cannot be used just now; nothing where there is no home."""
    home = Home(arguments.home)
    try:
        if not home.database.is_file():
            return
    except PermissionError:  # the command's own words say so
        return
    db, holder = Database(home.database), lock.holder(home.lock)
    daemon = daemon_facts(db, holder)
    db.close()
    facts = {"home": str(home.root), "daemon": daemon, "pid": holder or None, "since": ""}
    if arguments.json:
        print_json(facts)
        return
    print(f"{home.root}: {who_works(facts, home.root, SystemClock().now())}")
    if daemon["state"] == "running":
        print(
            "config/ cannot be used as it is now (below); the daemon goes on with what it has read before", flush=True
        )
