"""What runs, what was cut off, and what went wrong today: for `status` and for the display of a running day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from cli.terminal.text import command
from cli.views.daemon_state import go_on
from cli.wiring.records import Records
from shared.model import errors
from shared.model.board import Board
from shared.model.lifecycle import State
from shared.model.schedule import WORK
from shared.money.token_budget import cents
from shared.store.activity import Activity, BadEnd, OpenRun, locked_since

CLOCKS_DIFFER = timedelta(seconds=1)  # the file system's and ours


def runs(records: Records, board: Board, somebody: bool) -> list[dict[str, Any]]:
    """Runs without an end. Without anybody at work they were cut off, and the next start takes them up."""
    began = locked_since(records.home.lock) - CLOCKS_DIFFER if somebody else None
    open_runs = (run for run in Activity(records.db).open_runs() if began is None or run.since >= began)
    return [_run(run, records, board, somebody) for run in open_runs if somebody or _matters(run, records, board)]


def _matters(run: OpenRun, records: Records, board: Board) -> bool:
    """A run that was cut off long ago is of no interest when its task is over, or its day."""
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
    """In the owner's time zone."""
    return at.astimezone(records.clock.now().tzinfo).isoformat(timespec="seconds")


def problems(records: Records, somebody: bool) -> Iterator[str]:
    """Of today: what the phases said, what was cut off, and the runs that broke off and were not repeated."""
    activity, day = Activity(records.db), records.day()
    troubles = {trouble.phase: trouble.text for trouble in records.plans.troubles(day)}
    yield from (f"{phase}: {text}" for phase, text in troubles.items())
    for phase in activity.phases(day):
        is_window = phase.name == WORK and go_on(records.db) == "start"  # of the daemon: open until the evening
        if not phase.ended and not somebody and not is_window and phase.name not in troubles:
            yield f"{phase.name}: was cut off; to go on, type: {command(records.home.root, go_on(records.db))}"
    told = "\n".join(troubles.values())
    yield from (_bad_end(end) for end in activity.bad_ends(day) if _reason(end) not in told)
    for warning in records.spending.warnings(day):
        yield f"the cap of this {warning.scope} is nearly used: ${cents(warning.used)} of ${cents(warning.cap)}"


def _bad_end(end: BadEnd) -> str:
    return f"{end.agent}{f' on {end.task}' if end.task else ''}: {_reason(end)}"


def _reason(end: BadEnd) -> str:
    """The name of a bug helps whoever reports it."""
    name, _, words = end.reason.partition(": ")
    return words if hasattr(errors, name) else end.reason
