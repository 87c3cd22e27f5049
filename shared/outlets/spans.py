"""Runs of agents -> spans of OpenTelemetry, in OTLP's JSON, by its conventions for generative AI.

A run that has ended is a span `invoke_agent`; each of its calls is one below it. The trace is that of the goal; what
was done for no goal has one of its task or its day. Nothing that was said is in them: no prompt, no answer, no finding.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sisimpur.shared.model.text import one_line
from sisimpur.shared.outlets.cloud_event import CloudEvent
from sisimpur.shared.store.database import Database

PAGE = 50  # runs that are read at once
INTERNAL, CLIENT, ERROR = 1, 3, 2  # kinds of a span; a status
SEARCH = "search/"  # how the model of a search is called in the books
VENDOR = "anthropic"  # whose dialect is spoken
UNFINISHED = "select min(id) id from agent_runs where id > ? and ended_at is null"
RUNS = (
    "/* read once */ select r.*, coalesce(t.goal_id, '') goal from agent_runs r left join tasks t on t.id = r.task_id"
    " where r.id > ? and r.id < ? order by r.id limit ?"
)
CALLS = (
    "/* read once */ select t.run, c.*, c.input + c.write_5m + c.write_1h + c.read prompt"
    " from calls c join tickets t on t.id = c.ticket"
    " where t.task in (select value from json_each(?)) and t.run in (select value from json_each(?))"
    " and c.state <> 'refused' order by c.id"
)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SpanFeed:
    """`source`: says whose spans these are; `clean`: the filter for outgoing text."""

    db: Database
    source: str
    clean: Callable[[str], str]

    def __call__(self, after: int) -> Iterator[CloudEvent]:
        """Yield the spans of each run after the one with this number, as a JSON list, until one that has not ended."""
        until = self.db.rows(UNFINISHED, (after,))[0]["id"] or 1 << 62
        while rows := self.db.rows(RUNS, (after, until, PAGE)):
            calls = self.db.rows(CALLS, tuple(json.dumps([row[of] for row in rows]) for of in ("task_id", "id")))
            of_run = defaultdict(list)
            for call in calls:
                of_run[call["run"]].append(call)
            for run in map(dict, rows):
                spans = [*self._spans(run, of_run[run["id"]])]
                yield CloudEvent(run["id"], "", json.dumps(spans, separators=(",", ":")))
            after = rows[-1]["id"]

    def _spans(self, run: Row, calls: list[Any]) -> Iterator[Row]:
        of = f"goal {run['goal']}" if run["goal"] else f"task {run['task_id']}" if run["task_id"] else run["day"]
        trace, above = self._id(f"trace {of}", 32), self._id(f"run {run['id']} {run['started_at']}", 16)
        trouble = "" if run["result"] == "done" else run["result"] or "cut off"
        yield {"traceId": trace, "spanId": above, "kind": INTERNAL, **self._told(told_of_run(run), trouble)}
        for call in calls:
            trouble = "" if call["state"] == "settled" else call["code"] or call["state"]
            below = {"spanId": self._id(f"call {call['id']} {call['at']}", 16), "parentSpanId": above}
            yield {"traceId": trace, **below, "kind": CLIENT, **self._told(told_of_call(call), trouble)}

    def _told(self, span: tuple[str, datetime, datetime, dict[str, object]], trouble: str) -> Row:
        name, begun, ended, told = span
        told = told | {"error.type": trouble.partition(":")[0]} if trouble else told
        return {
            "name": self._text(name),
            "startTimeUnixNano": _nano(begun),
            "endTimeUnixNano": _nano(max(begun, ended)),
            "attributes": [{"key": key, "value": self._value(one)} for key, one in told.items() if one not in ("", ())],
            "status": {"code": ERROR, "message": self._text(trouble)} if trouble else {},
        }

    def _value(self, value: object) -> Row:
        """OTLP's JSON has whole numbers as texts."""
        match value:
            case bool():
                return {"boolValue": value}
            case int():
                return {"intValue": str(value)}
            case float():
                return {"doubleValue": value}
            case tuple():
                return {"arrayValue": {"values": [self._value(one) for one in value]}}
        return {"stringValue": self._text(str(value))}

    def _text(self, text: str) -> str:
        return one_line(self.clean(text))

    def _id(self, of: str, digits: int) -> str:
        """The same for ever, so that a reader knows what comes a second time."""
        return sha256(f"{self.source} {of}".encode()).hexdigest()[:digits]


def told_of_run(run: Row) -> tuple[str, datetime, datetime, dict[str, object]]:
    """Return the name of its span, its begin and end, and what it tells."""
    told: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": VENDOR,
        "gen_ai.agent.name": run["agent_name"],
        "gen_ai.conversation.id": run["task_id"],
        "sisimpur.goal": run["goal"],
        "sisimpur.attempt": run["attempt"],
        "sisimpur.cpu_seconds": run["cpu_s"],
    }
    return f"invoke_agent {run['agent_name']}", _moment(run["started_at"]), _moment(run["ended_at"]), told


def told_of_call(call: Row) -> tuple[str, datetime, datetime, dict[str, object]]:
    """Return the same of a call. A search is one of a tool."""
    is_search = call["model"].startswith(SEARCH)
    told: dict[str, object] = {
        "gen_ai.operation.name": "execute_tool" if is_search else "chat",
        "gen_ai.tool.name" if is_search else "gen_ai.request.model": call["model"],
        "gen_ai.provider.name": "" if is_search else VENDOR,
        "gen_ai.agent.name": call["agent"],
        "gen_ai.conversation.id": call["task"],
        "gen_ai.request.max_tokens": call["max_tokens"],
        "gen_ai.response.finish_reasons": (call["stop_reason"],) if call["stop_reason"] else (),
        "gen_ai.usage.input_tokens": call["prompt"],
        "gen_ai.usage.output_tokens": call["output"],
        "gen_ai.usage.cache_read.input_tokens": call["read"],
        "gen_ai.usage.cache_creation.input_tokens": call["write_5m"] + call["write_1h"],
        "sisimpur.dollars": call["amount"] / 10**9,
        "sisimpur.repetition": call["retry"],
    }
    begun = _moment(call["at"])
    name = f"{told['gen_ai.operation.name']} {call['model']}"
    return name, begun, begun + timedelta(milliseconds=call["ms"] or 0), told


def _moment(at: str) -> datetime:
    found = datetime.fromisoformat(at)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _nano(at: datetime) -> str:
    return str(round(at.timestamp() * 10**6) * 1000)
