"""What can be read as a whole, by its name: each is what the terminal prints with `--json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sisimpur.cli.record.audit import audit_facts
from sisimpur.cli.record.metrics import metric_facts
from sisimpur.cli.views.deploys import configured, deploy_facts
from sisimpur.cli.views.pulls import pulls
from sisimpur.cli.views.roadmap import laid_out, roadmap_facts
from sisimpur.cli.views.status import status_facts
from sisimpur.cli.views.tasks import task_rows
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import Vision
from sisimpur.shared.record.metrics import figures
from sisimpur.shared.record.metrics_reader import MetricDays

Reader = Callable[[Records], Any]
WAITS = ("answers", "asked", "stuck", "unreadable")  # of the status
MOST_ENDED = 50  # pull requests
MOST_LINES = 50  # of one list of the status: ten thousand would take a phone some seconds


def status(records: Records) -> dict[str, Any]:
    """What `status` tells, of each list the first lines. `more`: of which there are how many more."""
    facts = status_facts(records)
    more = {name: len(lines) - MOST_LINES for name, lines in facts.items() if isinstance(lines, list)}
    more = {name: count for name, count in more.items() if count > 0}
    return {name: lines[:MOST_LINES] if name in more else lines for name, lines in facts.items()} | {"more": more}


def waiting(records: Records) -> dict[str, Any]:
    """What waits for the owner, as `status` tells it."""
    facts = status_facts(records)
    return {name: facts[name] for name in WAITS}


def roadmap(records: Records) -> dict[str, Any]:
    accepted = records.plans.accepted()
    found, laid = laid_out(records, accepted.vision if accepted else Vision())
    return roadmap_facts(laid, found)


def goals(records: Records) -> list[dict[str, Any]]:
    """The goals of the roadmap with their weeks, the next first."""
    found = roadmap(records)
    weeks = [{**goal, "week": week["monday"]} for week in found["weeks"] for goal in week["goals"]]
    return [*weeks, *({**goal, "week": None} for goal in found["later"])]


def deploys(records: Records) -> dict[str, Any]:
    configured(records)
    return deploy_facts(records)


def requests(records: Records) -> dict[str, Any]:
    """The pull requests, the newest first. `problem`: why the forge was not asked, if so."""
    rows, problem = pulls(records, MOST_ENDED)
    return {"pulls": rows, "problem": problem}


def metrics(records: Records) -> list[Mapping[str, object]]:
    return [metric_facts(one) for one in figures(MetricDays(records.db).days(), records.day())]


READERS: Mapping[str, Reader] = {
    "status": status,
    "waiting": waiting,
    "roadmap": roadmap,
    "goals": goals,
    "pulls": requests,
    "deploys": deploys,
    "metrics": metrics,
}


def tasks(records: Records, wanted: Mapping[str, str], after: str, most: int) -> tuple[list[dict[str, Any]], str]:
    """Return a page, the newest id first, and its last id if there are more. `state`, `goal`: empty is whichever.

    Of the tasks that are over only those of the page are read, unless a goal is asked for: that stands in the file.
    """
    state, goal = wanted["state"], wanted["goal"]
    folders = records.store.names().items()
    ids = sorted((id_ for at, names in folders if state in ("", at) for id_ in names), reverse=True)
    ids = [id_ for id_ in ids if not after or id_ < after]
    shown = frozenset(ids if goal else ids[: most + 1])
    rows = {row["id"]: row for row in task_rows(records.snapshot(shown), records, shown) if goal in ("", row["goal"])}
    if goal:
        ids = [id_ for id_ in ids if id_ in rows]
    return [rows[id_] for id_ in ids[:most] if id_ in rows], ids[most - 1] if len(ids) > most else ""


def last_done(records: Records) -> object:
    """The page of tasks that the first view asks for, beside the status."""
    return tasks(records, {"state": State.COMPLETED, "goal": ""}, "", 5)


def audit(records: Records, after: int, most: int) -> list[dict[str, Any]]:
    """Rows of the audit after this number, in their order."""
    return [audit_facts(row) for row in records.audit.page(after, most)]


def where(records: Records, id_: str) -> State | None:
    """In which folder a task lies, by its whole id: no path is made of what was asked for."""
    return next((state for state, names in records.store.names().items() if id_ in names), None)
