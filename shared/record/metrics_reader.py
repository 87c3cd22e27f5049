"""Door to the counts of each day: those that an evening has kept, and what the books say of the days since.

All of a day is asked in one question, by indexes alone. Money is asked of its own book: nothing there is forgotten.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping

from sisimpur.shared.model.lifecycle import Event
from sisimpur.shared.record.metrics import Counts
from sisimpur.shared.store.database import OfDatabase
from sisimpur.shared.system.fault import fault_point

LAST = "9999"  # no day is later
ENDS = f"'{Event.MERGED}', '{Event.EXHAUSTED}', '{Event.CANCELLED}'"
BY_HAND = ", ".join(
    f"'{event}'" for event in (Event.RETRIED, Event.WITHDRAWN, Event.CANCELLED, Event.DONE_BY_OWNER, Event.DELETED)
)
SINCE = "at >= ?1 and at < ?2 || '~'"
PLANNED_ON = "substr(task, 1, 4) || '-' || substr(task, 5, 2) || '-' || substr(task, 7, 2)"
LANDING, PLANNED = "'????????-l[1-9]*'", f"'{'[0-9]' * 8}-[0-9]*'"  # ids of tasks
COUNTED = f"""
    with ended as materialized (
        select substr(at, 1, 10) as day, event, task from task_events
        where event in ({ENDS}, '{Event.SICK}') and {SINCE} and task not glob {LANDING}
    ), kinds as materialized (
        select json_extract(value, '$.id') as task, json_extract(value, '$.kind') as kind
            from daily_plans, json_each(plan_json, '$.tasks')
            where plan_json is not null and day in (select {PLANNED_ON} from ended)
        union all select task, json_extract(task_json, '$.kind') from upkeep_proposals
            where task in (select task from ended)
    ), of_kind as materialized (
        select day, event, coalesce((select kind from kinds where kinds.task = ended.task), 'unknown') as kind
            from ended
    ), looks as materialized (
        select substr(at, 1, 10) as day, kind, answer_json from gate_runs where {SINCE} and answer_json is not null
    ), acts as (
        select at, 'approve' as act from rulings where kind = 'approve'
        union all select at, 'settle a finding' from findings_over
        union all select at, 'unblock' from waivers
        union all select at, 'answer' from answers
        union all select at, 'deploy' from deploy_orders
        union all select at, 'raise a cap' from cap_raises
        union all select at, 'write off' from write_offs
        union all select at, event from task_events where event in ({BY_HAND}) and {SINCE}
    )
    select day, iif(event = '{Event.MERGED}', 'tasks_merged', 'tasks_rolled_back') as family, kind as label,
        count(*) as number from of_kind where event in ('{Event.MERGED}', '{Event.SICK}') group by 1, 2, 3
    union all select day, 'tasks_ended', kind, count(*) from of_kind where event in ({ENDS}) group by day, kind
    union all select substr(ended_at, 1, 10), 'rounds', '', count(*) from attempts
        where outcome = 'sent back' and ended_at >= ?1 and ended_at < ?2 || '~' group by 1
    union all select substr(started_at, 1, 10), 'attempts', '', count(*) from attempts
        where refreshes = '' and started_at >= ?1 and started_at < ?2 || '~' group by 1
    union all select substr(started_at, 1, 10), 'attempts_with_lessons', '', count(*) from attempts
        where refreshes = '' and started_at >= ?1 and started_at < ?2 || '~' and exists (
            select 1 from lesson_uses u where u.task = attempts.task and u.attempt = attempts.number) group by 1
    union all select day, 'run_seconds', agent_name,
        sum(cast(round((julianday(ended_at) - julianday(started_at)) * 86400000) as integer)) from agent_runs
        where day between ?1 and ?2 and ended_at is not null and result not like 'cut off%' group by day, agent_name
    union all select day, 'forecast_dollars', '', json_extract(plan_json, '$.forecast') from daily_plans
        where day between ?1 and ?2 and json_extract(plan_json, '$.forecast') > 0
    union all select day, 'checks', case
        when exists (select 1 from json_each(answer_json, '$.problems')
            where json_extract(value, '$.remedy') = 'correct') then 'red'
        when json_array_length(answer_json, '$.problems') > 0 then 'needs the owner' else 'green' end,
        count(*) from looks where kind = 'check' group by 1, 3
    union all select day, 'flaky_checks', '', count(*) from looks
        where kind = 'check' and json_array_length(answer_json, '$.flaky') > 0 group by day
    union all select day, 'reviews', json_extract(answer_json, '$.verdict.kind'), count(*) from looks
        where kind = 'review' group by 1, 3
    union all select day, 'safety_findings', 'review', count(*) from looks, json_each(answer_json, '$.verdict.findings')
        where looks.kind = 'review' and json_extract(value, '$.severity') = 'high' group by day
    union all select substr(started_at, 1, 10), 'safety_findings', 'refused write', sum(json_array_length(refused))
        from attempts where refused <> '[]' and started_at >= ?1 and started_at < ?2 || '~' group by 1
    union all select substr(at, 1, 10), 'owner_acts', act, count(*) from acts where {SINCE} group by 1, 3"""  # noqa: S608
SPENT = "select day, agent, sum(spent + reserved + lost) as amount from call_sums group by day, agent"
OF_PLANS = (
    f"select {PLANNED_ON} as day, sum(spent + reserved + lost) as amount from call_sums"  # noqa: S608
    f" where task glob {PLANNED} group by 1"
)


class MetricDays(OfDatabase):
    """The only module that reads and writes `metric_days`."""

    def keep(self, day: str, day_cap: int, month_cap: int) -> None:
        """Write the row of a day that is over, and again those since the last one: more may have happened on them.

        The caps are those that the day's report was written with, in nano-dollars.
        """
        row = self._db.row("select max(day) as day from metric_days where day < ?", (day,))
        rows = {day: {}, **self._counted((row["day"] if row else "") or "", day)}
        with self._db.transaction() as db:
            db.executemany(
                "insert into metric_days (day, counts_json) values (?, ?)"
                " on conflict do update set counts_json = excluded.counts_json",
                [(one, json.dumps(counts, sort_keys=True)) for one, counts in rows.items()],
            )
            caps = (day_cap, month_cap, day)
            db.execute("update metric_days set day_cap = ?, month_cap = ? where day = ?", caps)
        fault_point("metric-days.kept")

    def cap(self, day: str) -> int | None:
        """What a day could cost as its evening told it, in nano-dollars; None: none was kept."""
        row = self._db.row("select day_cap from metric_days where day = ?", (day,))
        return row["day_cap"] if row else None

    def days(self) -> Mapping[str, Counts]:
        """The counts of each day. Those of the newest that was kept, and what followed, are counted anew."""
        rows = self._db.rows("select day, counts_json from metric_days order by day")
        found = {row["day"]: _read(row["counts_json"]) for row in rows}
        unread = [day for day, counts in found.items() if counts is None]
        known: defaultdict[str, dict[str, float]] = defaultdict(dict)
        known.update({day: dict(counts) for day, counts in found.items() if counts is not None})
        for first, last in [(max(found, default=""), LAST), *((day, day) for day in unread)]:
            known.update(self._counted(first, last))
        for row in self._db.rows(SPENT):
            known[row["day"]][f"spent_dollars/{row['agent']}"] = row["amount"]
        for row in self._db.rows(OF_PLANS):
            if "forecast_dollars" in known[row["day"]]:
                known[row["day"]]["planned_dollars"] = row["amount"]
        return known

    def _counted(self, first: str, last: str) -> dict[str, dict[str, float]]:
        found: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for row in self._db.rows(COUNTED, (first, last)):
            found[row["day"]][f"{row['family']}/{row['label']}".rstrip("/")] = row["number"]
        return dict(found)


def _read(text: str) -> Counts | None:
    """Read counts; None: another version wrote them, or a person."""
    try:
        found = json.loads(text)
        return {str(key): float(number) for key, number in found.items()}
    except (ValueError, TypeError, AttributeError):
        return None
