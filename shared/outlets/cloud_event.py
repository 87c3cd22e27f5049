"""A row of the audit -> an event as CloudEvents 1.0 has it (JSON). Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sisimpur.shared.record.audit import AuditRow
from sisimpur.shared.system.outgoing import each_text

Stream = Literal["audit", "runs"]  # what an outlet gets: a row of the audit each, or the spans of a run
REQUESTS, RESULTS, WORKFLOW, AUDIT = "agent.requests", "agent.results", "workflow.events", "audit.logs"
RESULT_KINDS = frozenset({"check", "review", "plan"})
TYPE = "sisimpur."  # before the kind of the row
BEGIN = '{"specversion":"1.0",'  # of each event's text


@dataclass(frozen=True)
class CloudEvent:
    """`id`: the row's number, so that a reader knows what it has seen. `channel`: its own, besides AUDIT for all.

    Of a run, the text is a list of its spans, and there is no channel.
    """

    id: int
    channel: str
    text: str  # JSON in one line


def cloud_event(row: AuditRow, source: str, clean: Callable[[str], str]) -> CloudEvent:
    """`source`: says whose events these are; `clean`: the filter for outgoing text."""
    detail = json.loads(row.detail)
    named = {"subject": clean(row.subject), "time": _time(row.at)}
    event = {
        "specversion": "1.0",
        "id": str(row.seq),
        "source": source,
        "type": f"{TYPE}{row.kind}",
        **{name: value for name, value in named.items() if value},  # an attribute is not empty
        "datacontenttype": "application/json",
        "data": {
            "at": row.at,
            "actor": row.actor,
            "via": row.via,
            "commit": row.commit_id,
            "detail": each_text(detail, clean),
            "hash": row.hash,
        },
    }
    return CloudEvent(row.seq, channel(row.kind, detail), json.dumps(event, separators=(",", ":")))


def channel(kind: str, detail: Mapping[str, Any]) -> str:
    """Return where it is looked for: what an agent was given, what came of it, or all else."""
    if kind == "attempt":
        return RESULTS if detail.get("outcome") else REQUESTS
    return RESULTS if kind in RESULT_KINDS else WORKFLOW


def _time(at: str) -> str:
    """Return it as CloudEvents wants it; a day alone, or a time without its zone, stays in the data only."""
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return ""
    return found.isoformat() if found.tzinfo else ""
