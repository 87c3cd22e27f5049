"""Door to what the books hold of one goal. Each question is answered by an index: a home of years looks as fast."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.naming import PLACES, fits, is_landing, is_upkeep
from sisimpur.shared.record.trace import Kind, Row, Tables, TraceAnchor, TraceNode
from sisimpur.shared.store.database import OfDatabase

GOALS = ("", "g-", "p-", "n-", "i-", "m-")  # how the id of a goal begins
MOST_NAMED = 5
MOST_ENDS = 200  # tasks whose ids end alike
PULL = re.compile(r"#?[0-9]{1,10}")
COMMIT = re.compile(r"[0-9a-f]{7,64}")
THESE = "in (select value from json_each(?))"
BELOW = "select rowid from tasks where goal_id >= ?1 and goal_id < ?1 || '~'"
TABLES = {  # what is asked of the tasks of a goal
    "events": f"select task, at, to_state, note from task_events where task {THESE} order by id",  # noqa: S608
    "attempts": f"select task, number, started_at, outcome, note from attempts where task {THESE} order by number",  # noqa: S608
    "calls": "select task, attempt, agent, model, at, state, amount, input + write_5m + write_1h + read tokens_in,"  # noqa: S608
    f" output tokens_out from calls where task {THESE} and state <> 'refused' order by id",
    "gates": f"select task, commit_id, kind, at, answer_json from gate_runs where task {THESE} order by at",  # noqa: S608
    "rulings": f"select task, subject, kind, why, at from rulings where task {THESE} union all"  # noqa: S608
    " select task, signature, 'over a finding', finding || iif(why = '', '', ': ' || why), at from findings_over"
    f" where task {THESE}",
    "intents": "select key, kind, task, payload, state, external_id, at from intents"  # noqa: S608
    f" where task {THESE} and kind in ('push', 'pull request', 'merge', 'merge by the owner', 'close') order by rowid",
}
PLANNING = (
    "select day, sum(calls) calls, sum(tokens_in) tokens_in, sum(tokens_out) tokens_out,"  # noqa: S608
    f" sum(spent + reserved + lost) amount from call_sums where day {THESE} and agent = 'planner' and task = ''"
    " group by day"
)
LATER = (  # the first deploy of a place that was begun unasked since then
    "select * from deploys where place = ? and begun_at >= ? and asked = 0 order by begun_at limit 1"
)
BY_END = (
    "select id, goal_id from tasks where ltrim(replace(id, rtrim(id, replace(id, '-', '')), ''), '0') = ltrim(?, '0')"
    " limit ?"
)


class TraceReader(OfDatabase):
    # -- what a name stands for -------------------------------------------------------------------------------

    def find(self, typed: str, number: int | None = None) -> TraceAnchor:
        """A goal, task or commit by a part of its name; `#12`; `deploy 3`, `pr 12`. Misconfigured: none, or several."""
        name = typed if number is None else f"{typed} {number}"
        found = dict.fromkeys(self._named(typed, number))
        exact = [one for one in found if one.name == typed]
        if len(exact) != 1 and len(found) > 1:
            fitting = ", ".join(sorted(one.words for one in found)[:MOST_NAMED])
            raise Misconfigured(f"{name!r} fits {fitting}; type more of it (`pr 12` is a pull request)")
        if not found:
            raise Misconfigured(
                f"nothing that was done for a goal is called {name!r}; type a goal's or a task's id, `pr 12`, a commit"
                f" or `deploy 3`; see: python main.py tasks"
            )
        return exact[0] if exact else next(iter(found))

    def _named(self, typed: str, number: int | None) -> Iterator[TraceAnchor]:
        if number is not None:
            yield from {"deploy": self._deploy, "pr": self._pull}.get(typed, lambda _: iter(()))(number)
            return
        if PULL.fullmatch(typed) and not typed.startswith("0"):  # `01` is a task's, as in `show 01`
            yield from self._pull(int(typed.removeprefix("#")))
        if typed.startswith("#"):
            return
        yield from self._goals(typed)
        yield from self._tasks(typed)
        if COMMIT.fullmatch(typed):
            yield from self._commits(typed)

    def _goals(self, typed: str) -> Iterator[TraceAnchor]:
        known = {str(goal["id"]) for goal in self._vision() if fits(goal["id"], typed)}
        for begin in GOALS:
            sql = f"select distinct goal_id from tasks where rowid in ({BELOW}) limit ?2"  # noqa: S608
            rows = self._db.rows(sql, (f"{begin}{typed}", MOST_NAMED + 1))
            known |= {row["goal_id"] for row in rows if fits(row["goal_id"], typed)}
        yield from (TraceAnchor(id_, "", "goal", id_) for id_ in sorted(known))

    def _tasks(self, typed: str) -> Iterator[TraceAnchor]:
        sql = "select id, goal_id from tasks where id >= ?1 and id < ?1 || '~' limit ?2"
        rows = self._db.rows(sql, (typed, MOST_ENDS)) + self._db.rows(BY_END, (typed.rpartition("-")[2], MOST_ENDS))
        exact = [row for row in rows if row["id"] == typed]
        for row in exact[:1] or rows:
            if fits(row["id"], typed):
                yield TraceAnchor(row["goal_id"], row["id"], "task", row["id"])

    def _of_task(self, task: str, kind: Kind, name: str) -> Iterator[TraceAnchor]:
        row = self._db.row("select goal_id from tasks where id = ?", (task,))
        if row:
            yield TraceAnchor(row["goal_id"], task, kind, name)

    def _pull(self, number: int) -> Iterator[TraceAnchor]:
        sql = "select key, task from intents where external_id = ? and state = 'done' and kind = 'pull request'"
        for row in self._db.rows(sql, (str(number),)):
            kind: Kind = "pull request" if row["task"] else "revert"
            yield from self._of_task(row["task"] or self._taken_back(row["key"]), kind, f"#{number}")

    def _commits(self, typed: str) -> Iterator[TraceAnchor]:
        """By the first digits: as it was pushed, as it was merged, or as it took another back."""
        for row in self._effects(typed, ("push", "merge", "merge by the owner")):
            yield from self._of_task(row["task"], "commit" if row["kind"] == "push" else "merge", row["external_id"])
        for row in self._effects(typed, ("merge of a revert",)):
            pulls = self._db.row(
                "select external_id from intents where key = ?", (f"{row['key'].rpartition(':')[0]}:pr",)
            )
            yield from self._of_task(
                self._taken_back(row["key"]), "revert", f"#{pulls['external_id']}" if pulls else ""
            )

    def _effects(self, begin: str, kinds: Collection[str]) -> Sequence[Row]:
        sql = (
            "select key, kind, task, external_id from intents where state = 'done' and external_id >= ?1"
            " and external_id < ?1 || '~' and kind in (select value from json_each(?2)) order by rowid"
        )
        return [dict(row) for row in self._db.rows(sql, (begin, json.dumps([*kinds])))]

    def _taken_back(self, key: str) -> str:
        """`revert-<twelve digits>:pr` -> the task whose change it takes back; empty: it is no task's."""
        merged = self._effects(key.partition(":")[0].removeprefix("revert-"), ("merge",))
        return str(merged[0]["task"]) if merged else ""

    def _deploy(self, number: int) -> Iterator[TraceAnchor]:
        row = self._db.row("select place, commit_id, begun_at from deploys where number = ?", (number,))
        if row is None:
            return
        found = [*self._commits(row["commit_id"])]
        if not found:
            raise Misconfigured(f"deploy {number} brought {row['commit_id'][:8]}, which is no change of a goal's")
        for one in found:
            yield TraceAnchor(one.goal, one.task, "deploy", str(number))

    # -- what is known of a goal ------------------------------------------------------------------------------

    def read(self, anchor: TraceAnchor) -> tuple[TraceNode, Sequence[Row], Tables]:
        """Return the goal in the owner's words, the plannings of its days, and what happened to its tasks."""
        where, value = ("goal_id", anchor.goal) if anchor.goal else ("id", anchor.task)
        sql = f"select id task, title, created_at, branch from tasks where {where} = ? order by rowid"  # noqa: S608
        tasks = self._rows(sql, value)
        ids = json.dumps([row["task"] for row in tasks])
        tables = {name: self._rows(sql, *[ids] * sql.count("?")) for name, sql in TABLES.items()}
        days = json.dumps(sorted({row["created_at"][:10] for row in tasks if not is_upkeep(row["task"])}))
        more: Tables = {
            "tasks": tasks,
            "notices": self._task_notices(tables["events"]),
            "deploys": self._deploys(tables["intents"], {row["task"] for row in tasks if _is_apart(row)}),
        }
        return self._goal(anchor.goal, tasks), self._rows(PLANNING, days) if anchor.goal else (), {**tables, **more}

    def _rows(self, sql: str, *values: str) -> list[Row]:
        return [dict(row) for row in self._db.rows(sql, values)]

    def _goal(self, id_: str, tasks: Sequence[Row]) -> TraceNode:
        """As it stands in VISION.md, or stood there when its first task was planned."""
        if not id_:
            return TraceNode("goal", "", "of no goal: the owner dropped it into tasks/backlog")
        for day in ("9999", *(row["created_at"][:10] for row in tasks[:1])):
            for goal in self._vision(day):
                if goal["id"] == id_:
                    line = f"VISION.md:{goal['line']}" if goal.get("line") else ""
                    said = "; ".join((goal["title"], *goal.get("details", ())))
                    return TraceNode("goal", id_, said, outcome=line)
        proposed = (
            self._db.row("select goal_json from upkeep_proposals where task = ?", (tasks[0]["task"],))
            if tasks
            else None
        )
        if proposed:
            return TraceNode("goal", id_, json.loads(proposed["goal_json"])["title"], outcome="proposed by the team")
        done = self._db.row("select title from roadmap_finished where goal = ?", (id_,))
        return TraceNode("goal", id_, done["title"] if done else "", outcome="" if done else "no longer in VISION.md")

    def _vision(self, day: str = "9999") -> Sequence[Row]:
        """The goals of the vision that was accepted last, up to that day."""
        row = self._db.row("select vision_json from visions where day <= ? order by id desc limit 1", (day,))
        goals: Sequence[Row] = json.loads(row["vision_json"]).get("goals", ()) if row else ()
        return goals

    # -- notices and deploys ------------------------------------------------------------------------------------

    def _task_notices(self, events: Sequence[Row]) -> list[Row]:
        begins = {f"{row['at'][:10]}:{row['task']}:": row["task"] for row in events}
        rows = self._rows(
            "select p.value begin, n.key, n.at, n.state, n.notice_json from json_each(?) p join notices n"
            " on n.key >= p.value and n.key < p.value || '~' order by n.at",
            json.dumps([*begins]),
        )
        return [{**_notice(row), "task": begins[row["begin"]]} for row in rows]

    def _deploys(self, intents: Sequence[Row], apart: Collection[str]) -> list[Row]:
        """Those that brought a merge, or what took it back. `apart`: tasks merged into a branch of their goal."""
        found: list[Row] = []
        for row in intents:
            if row["kind"].startswith("merge") and row["external_id"]:
                brought = self._brought(row["external_id"], "" if row["task"] in apart else row["at"])
                after = [more for one in brought if one["revert"] for more in self._brought(one["revert"])]
                found += [{**one, "task": row["task"]} for one in (*brought, *after)]
        return found

    def _brought(self, commit: str, since: str = "") -> list[Row]:
        """The deploys of exactly this commit; `since`: at a place that had none, the next one, unless it was sick."""
        rows = self._rows("select * from deploys where commit_id = ? order by number", commit)
        if since and all(row["stage"] == "healthy" for row in rows):
            places = [place for place in PLACES if place not in {row["place"] for row in rows}]
            rows += [row for place in places for row in self._rows(LATER, place, since)]
        return [
            {**row, "of": commit, "revert": self._revert(row), "notices": self._deploy_notices(row)} for row in rows
        ]

    def _revert(self, deploy: Row) -> str:
        """The commit by which what it brought was taken back; empty: it was not."""
        key = f"revert-{deploy['commit_id'][:12]}:merge"
        rows = self._rows("select external_id from intents where key = ? and state = 'done'", key)
        return str(rows[0]["external_id"]) if rows and deploy["reverts"] else ""

    def _deploy_notices(self, deploy: Row) -> list[Row]:
        days = {at[:10] for at in (deploy["begun_at"], deploy["ended_at"]) if at}
        keys = json.dumps(sorted(f"{day}:deploy-{deploy['number']}" for day in days))
        return [_notice(row) for row in self._rows(f"select * from notices where key {THESE}", keys)]  # noqa: S608


def _is_apart(task: Row) -> bool:
    """Tell whether its change was merged into its goal's branch alone."""
    return bool(task["branch"]) and not is_landing(task["task"])


def _notice(row: Row) -> Row:
    title = json.loads(row["notice_json"]).get("title", "")
    return {"key": row["key"], "at": row["at"], "state": row["state"], "title": title}
