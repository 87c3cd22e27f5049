"""Whether the daemon works, since when, or how it ended; what runs, what was cut off, and what went wrong today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, cast

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, pasteable, plain, print_json
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.machine.reading import Machine, MachineWatch
from sisimpur.shared.model import errors
from sisimpur.shared.model.lifecycle import Board, State
from sisimpur.shared.model.schedule import WORK, Obstacle, Standing, Wait, outlook
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.record.conversations import Conversations
from sisimpur.shared.store.activity import STOPPED, BadEnd, Epoch, Epochs, OpenRun, locked_since
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.paths import Home

PHASES = {
    "morning": "the morning",
    "research": "research",
    "planning": "planning",
    "work": "work",
    "wrap_up": "the evening's report",
}

DaemonState = Literal["never", "running", "stopped", "dead"]

# What it waits for, and what happens at the end of that time.
OBSTACLES: dict[Obstacle, tuple[str, str]] = {
    "start": ("it could not begin yet", "tried again at"),
    "trouble": ("something is wrong", "tried again at"),
    "halt": ("nothing is spent before you type: python main.py resume", ""),
    "cap": ("nothing is asked of a model before tomorrow, or before you type: python main.py raise-cap DOLLARS", ""),
    "model": ("the model is away", "asked again at"),
    "forge": ("the forge is away", "asked again at"),
    "deploys": ("nothing can be deployed", "tried again at"),
    "vision": ("VISION.md is read first, for it may have changed; nothing is begun or merged before", "read at"),
    "machine": ("nothing new is begun before the machine has more room", ""),
    "attempt": ("a task rests after a try that was lost", "tried again at"),
    "time": ("nothing to do", "nothing is due before"),
}
SERVICES: tuple[Obstacle, ...] = ("model", "forge", "deploys")
HERE = "; see: python main.py status"  # who reads it has typed that already
CLOCKS_DIFFER = timedelta(seconds=1)  # the file system's and ours


def daemon_facts(db: Database, holder: str, following: str = "") -> dict[str, Any]:
    """Return them in the form of `--json`. `holder`: the process that holds the home's lock; empty: nobody does.

    If another command than the daemon holds it (`run-day`), this still says how the daemon ended.
    """
    epoch = Epochs(db).last()
    facts: dict[str, Any] = dict.fromkeys(("since", "ended", "how", "next"), "")
    facts = {"state": _state(epoch, holder), "pid": None, **facts, "waits_for": []}
    if epoch is None:
        return facts
    facts |= {"pid": epoch.pid, "since": _iso(epoch.began), "how": epoch.how}
    if facts["state"] == "running":
        return facts | {"next": following, "waits_for": [_waited(wait) for wait in epoch.waits]}
    return facts | {"ended": _iso(epoch.ended or epoch.seen)}


def _waited(wait: Wait) -> dict[str, str]:
    since, until = (_iso(when) if when else "" for when in (wait.since, wait.until))
    return {"what": wait.what, "since": since, "until": until, "why": wait.why}


def _state(epoch: Epoch | None, holder: str) -> DaemonState:
    if epoch is None:
        return "never"
    if epoch.ended:
        return "stopped"
    return "running" if holder == str(epoch.pid) else "dead"


def _iso(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def comes_next(records: Records) -> str:
    """Say what comes next: `now: the morning; next: planning at 07:45 UTC`; all times of day here are of that zone."""
    now, plans = records.clock.now(), records.plans
    seen = outlook(records.settings.schedules.schedule, now, lambda day: _standings(plans, day))
    doing = PHASES[seen.due.name] if seen.due else PHASES["work"] if seen.working else ""
    when = f"{seen.next_at:%H:%M %Z}{'' if seen.next_at.date() == now.date() else ' tomorrow'}"
    return f"{f'now: {doing}; ' if doing else ''}next: {PHASES.get(seen.next_name, seen.next_name)} at {when}"


def _standings(plans: PlanRepository, day: str) -> Mapping[str, Standing]:
    return {name: ran.standing for name, ran in plans.phases_of(day).items()}


def go_on(db: Database) -> str:
    """Return the command that goes on with what was cut off: `start` if a daemon ever ran, else `run-day`."""
    return "start" if Epochs(db).last() else "run-day"


def how_it_goes_on(db: Database, home: Home) -> str:
    """Say what the owner has to type for it, if anything."""
    if lock.holder(home.lock):
        return "the team is at work and goes on by itself"
    return f"to go on, type: {command(home.root, go_on(db))}"


def who_works(facts: dict[str, Any], home: Path, now: datetime) -> str:
    """Say who works. `facts`: those of `status`, as far as they are known."""
    daemon = facts["daemon"]
    if daemon["state"] == "running":
        following = f"; {daemon['next']}" if daemon["next"] else ""
        return f"at work (pid {daemon['pid']}) since {_at(daemon['since'], now)}{following}"
    if facts["pid"]:
        return f"at work (pid {facts['pid']})" + (f" since {_at(facts['since'], now)}" if facts["since"] else "")
    return _not_running(daemon, home, now)


def what_it_waits_for(facts: dict[str, Any], home: Path, now: datetime) -> list[str]:
    """Return what keeps a running daemon from going on, a line each."""
    return [pasteable(plain(_told(wait, now)), home) for wait in facts["daemon"]["waits_for"]]


def _told(wait: dict[str, str], now: datetime) -> str:
    """Make a line: `waits: the model is away since 10:12, asked again at 10:22: it is overloaded`."""
    words, then = OBSTACLES[cast(Obstacle, wait["what"])]
    since = f" since {_at(wait['since'], now)}" if wait["since"] and wait["what"] != "vision" else ""
    why = wait["why"].replace(HERE, "")
    return f"waits: {words}{since}{_until(wait, then, now)}{f': {why}' if why else ''}"


def _until(wait: dict[str, str], then: str, now: datetime) -> str:
    if wait["until"] and datetime.fromisoformat(wait["until"]) > now:
        return f", {then} {_at(wait['until'], now)}"
    return ", asked again as soon as it is needed" if wait["what"] in SERVICES else ""


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
    """Return the time of day, with its date unless that is today's."""
    day, _, time = iso[:16].partition("T")
    return time if day == now.date().isoformat() else f"{day} {time}"


# --- the machine ---------------------------------------------------------------------------------------------


def machine_facts(records: Records, holder: str, moving: Mapping[str, Sized]) -> dict[str, Any]:
    """Return what a daemon at work has read last, else what is read now; and what the boxes of today have taken.

    Without the first if nothing of the machine can be read.
    """
    epoch, most = Epochs(records.db).last(), records.settings.policy.machine.most
    seen = epoch.machine if epoch and _state(epoch, holder) == "running" else None
    if seen is None:
        watch = MachineWatch(Machine(records.home.root))
        watch.look(records.clock.now(), most)
        seen = watch.last
    facts = asdict(seen) | {"at": _iso(seen.at), "most": most} if seen else {}
    queues = {name: len(tasks) for name, tasks in moving.items()}
    return facts | {"queues": queues, "boxes_today": asdict(records.activity.taken(records.day()))}


def machine_line(facts: Mapping[str, Any]) -> str:
    shares = {"processors": "cpu", "memory": "memory", "disk": "disk", "files": "inodes"}
    known = [f"{name} {facts[key]:.0%}" for name, key in shares.items() if facts.get(key) is not None]
    if not known:
        return "it cannot be read here (/proc)"
    load, today = f"load {facts['load']:.1f} on {facts['processors']} processors", facts["boxes_today"]
    boxes = f"sandboxes: {facts['boxes']} open"
    if any(today.values()):
        boxes += f", today {today['cpu']:.0f} s, at most {_mb(today['memory'])}, {_mb(today['written'])} written"
    return f"{', '.join(known)}, {load}; {boxes}"


def _mb(size: int) -> str:
    return f"{size / (1 << 20):.0f} MB"


# --- without settings ----------------------------------------------------------------------------------------


def without_settings(arguments: Arguments) -> None:
    """Print what is known of a home whose config/ cannot be used now; nothing where there is no home."""
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
    now = SystemClock().now()
    print("\n  ".join((f"{home.root}: {who_works(facts, home.root, now)}", *what_it_waits_for(facts, home.root, now))))
    if daemon["state"] == "running":
        print(
            "config/ cannot be used as it is now (below); the daemon goes on with what it has read before", flush=True
        )


# --- runs and problems ---------------------------------------------------------------------------------------


def runs(records: Records, board: Board, somebody: bool) -> list[dict[str, Any]]:
    """Return the runs without an end. If nobody is at work they were cut off, and the next start goes on with them."""
    began = locked_since(records.home.lock) - CLOCKS_DIFFER if somebody else None
    open_runs = (run for run in records.activity.open_runs() if began is None or run.since >= began)
    return [_run(run, records, board, somebody) for run in open_runs if somebody or _matters(run, records, board)]


def _matters(run: OpenRun, records: Records, board: Board) -> bool:
    """Tell whether a run that was cut off is of interest: not when its task is over, or its day."""
    card = board.card(run.task)
    if card:
        return card.state not in (State.COMPLETED, State.FAILED, State.GONE)
    return not run.task and in_zone(run.since, records)[:10] == records.day()


def _run(run: OpenRun, records: Records, board: Board, alive: bool) -> dict[str, Any]:
    card = board.card(run.task)
    return {
        "agent": run.agent,
        "task": run.task,
        "title": card.spec.title if card and card.spec else "",
        "since": in_zone(run.since, records),
        "seconds": max(0, round((records.clock.now() - run.since).total_seconds())),
        "alive": alive,
        "command": "" if alive else command(records.home.root, go_on(records.db)),
    }


def in_zone(at: datetime, records: Records) -> str:
    """Return the time in the owner's time zone, in ISO form."""
    return at.astimezone(records.clock.now().tzinfo).isoformat(timespec="seconds")


def problems(records: Records, somebody: bool) -> Iterator[str]:
    """Yield the problems of today: of phases, of what was cut off, of runs that broke off and were not repeated."""
    activity, day = records.activity, records.day()
    troubles = {trouble.phase: trouble.text for trouble in records.plans.troubles(day)}
    yield from (f"{phase}: {text}" for phase, text in troubles.items())
    for phase in activity.phases(day):
        is_window = phase.name == WORK and go_on(records.db) == "start"  # of the daemon: open until the evening
        if not phase.ended and not somebody and not is_window and phase.name not in troubles:
            yield f"{phase.name}: was cut off; to go on, type: {command(records.home.root, go_on(records.db))}"
    told = "\n".join(troubles.values())
    for end in activity.bad_ends(day):
        if _reason(end) not in told:
            yield f"{end.agent}{f' on {end.task}' if end.task else ''}: {_reason(end)}"
    number, since = Conversations(records.home.talk, records.db).unrecorded()
    if number > 1 and records.settings.policy.talk.days:  # one may be just being written
        yield f"what was said in the last {number} calls is not recorded, since {since[:16]}; is the disk full?"
    yield from filter(None, (outlet.words for outlet in records.outlet_standings()))
    for warning in records.spending.warnings(day):
        yield f"the cap of this {warning.scope} is nearly used: ${cents(warning.used)} of ${cents(warning.cap)}"


def _reason(end: BadEnd) -> str:
    """Leave out the name of an error of ours; the name of a bug helps whoever reports it."""
    name, _, words = end.reason.partition(": ")
    return words if hasattr(errors, name) else end.reason
