"""What the team is and does: its plan, its agents, what it has learned and looked up, its settings, its machine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from typing import Any

from pydantic import BaseModel

from sisimpur.cli.record.trace import trace_facts, traced
from sisimpur.cli.views.memory import research_rows
from sisimpur.cli.views.show import call_facts, numbered
from sisimpur.cli.views.status import status_facts
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.reference import FILES, GRAVE, ON_PAGES, SettingRow, setting_rows
from sisimpur.shared.config.settings import SECRETS, faults, load_board
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.naming import VERSION
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.model.work import DailyPlan
from sisimpur.shared.money.token_budget import as_dollars
from sisimpur.shared.record.conversations import Conversations
from sisimpur.shared.record.metrics import figures, prometheus, total
from sisimpur.shared.record.metrics_reader import MetricDays
from sisimpur.shared.system.paths import read_text
from sisimpur.web.api.reading.readers import Reader

ROLES = ("orchestrator", "researcher", "planner", "coder", "qa", "reviewer", "devops")
OF_SYSTEM = ("home", "daemon", "pid", "since", "machine", "outlets", "problems")  # of the status


def plan(records: Records) -> dict[str, Any]:
    """The plan of today, and the page that was written of it. `plan`: null: nothing is planned yet."""
    found = records.plans.plan(records.day())
    try:
        page = read_text(records.home.daily_plan)
    except (FileNotFoundError, Refused):
        page = ""
    return {"day": records.day(), "plan": _plan(found) if found else None, "page": page}


def _plan(found: DailyPlan) -> dict[str, Any]:
    tasks = [
        {"id": task.id, "title": task.title, "goal": task.goal_id, "priority": task.priority.value, "why": why}
        for task, why in zip(found.tasks, (*found.reasons, *("" for _ in found.tasks)), strict=False)
    ]
    return {
        "tasks": tasks,
        **{name: [asdict(goal) for goal in getattr(found, name)] for name in ("deferred", "held", "finished")},
        "questions": [asdict(one) for one in found.questions],
        "forecast": as_dollars(found.forecast),
        "notes": list(found.notes),
    }


def agents(records: Records) -> list[dict[str, Any]]:
    """Each role: which model it asks, what it does now, and how its last run ended."""
    runs = status_facts(records)["runs"]
    settings = records.settings.agents
    models = {name: choice.model for name, choice in settings.asking.items()} | {"coder": settings.coder.model}
    return [
        {
            "role": role,
            "model": models.get(role, ""),
            "runs": [run for run in runs if run["agent"] == role],
            "last": dict(zip(("task", "ended", "result"), records.activity.last_end(role), strict=True)),
        }
        for role in ROLES
    ]


def memory(records: Records) -> list[dict[str, Any]]:
    """What was learned from earlier work, and whether it helps."""
    return [asdict(lesson) for lesson in records.memory.all()]


def research(records: Records) -> list[dict[str, Any]]:
    """What was looked up on the web, the newest first."""
    return research_rows(records)


def research_note(records: Records, id_: str) -> dict[str, Any] | None:
    """One question with its note; None: there is none of this id. The path is ours, never the address's."""
    row = next((row for row in research_rows(records) if row["id"] == id_), None)
    if row is None:
        return None
    try:
        return row | {"text": read_text(records.home.root / row["note"]) if row["note"] else ""}
    except (FileNotFoundError, Refused):
        return row | {"text": ""}


def settings(records: Records) -> dict[str, Any]:
    """Every field with its meaning, its default and what it is; which secrets are set, never which they are."""
    known = records.settings
    values: dict[str, BaseModel] = {
        "config/agents.yaml": known.agents,
        "config/policy.yaml": known.policy,
        "config/schedules.yaml": known.schedules,
        "config/targets/<name>.yaml": known.target.file,
    }
    wrong = faults(records.home)
    with suppress(Misconfigured, Refused):  # it is told among what is wrong
        values["config/board.yaml"] = load_board(records.home)
    return {
        "target": known.target.name,
        "files": [
            {
                "file": name,
                "digest": sha256_of(read_text(records.home.root / name)) if name in ON_PAGES else "",
                "fields": [_field(name, row) for row in setting_rows(model)],
                "values": values[name].model_dump(mode="json") if name in values else None,
            }
            for name, model in FILES.items()
        ],
        "secrets": [{"name": name, "is_set": bool(known.secrets.get(name))} for name in SECRETS],
        "errors": wrong,
    }


def _field(file: str, row: SettingRow) -> dict[str, Any]:
    """`form`: null: it is not changed from here; `grave`: it has to be said twice."""
    return {**asdict(row), "form": row.form if file in ON_PAGES else None, "grave": row.key.startswith(GRAVE)}


def system(records: Records) -> dict[str, Any]:
    """The machine as the daemon has read it last, and how the daemon is."""
    facts = status_facts(records)
    return {"version": VERSION} | {name: facts[name] for name in OF_SYSTEM}


def ready(records: Records) -> dict[str, Any]:
    """Whether home, settings and books can be read, which they have been by now; and whether the daemon works."""
    return {"ready": True, "daemon": status_facts(records)["daemon"]["state"]}


def prometheus_text(records: Records) -> str:
    """What `metrics --prometheus` prints."""
    days = MetricDays(records.db).days()
    return "\n".join((*prometheus(figures(days, records.day()), total(days)), ""))


WHOLE: Mapping[str, Reader] = {
    "plan": plan,
    "agents": agents,
    "memory": memory,
    "research": research,
    "settings": settings,
    "system": system,
}


# --- of a task -----------------------------------------------------------------------------------------------


def trace(records: Records, id_: str, _: State) -> dict[str, Any]:
    """What was done for its goal, and in that for it, as a tree. Empty: history does not know it yet."""
    return trace_facts(traced(records, id_)) if records.journal.task(id_) else {}


def attempts(records: Records, id_: str, _: State) -> list[dict[str, Any]]:
    """Each try at it: how it ended, and the key of its folder and commit."""
    return numbered(records.journal.attempts(id_))


def talk(records: Records, id_: str, after: int, most: int) -> tuple[list[dict[str, Any]], int]:
    """What was said to models for it after this call, the oldest first; 0: there is no more after these."""
    calls = list(islice(Conversations(records.home.talk, records.db).of(id_, after), most + 1))
    shown = list(map(call_facts, calls[:most]))
    return shown, shown[-1]["number"] if len(calls) > most else 0
