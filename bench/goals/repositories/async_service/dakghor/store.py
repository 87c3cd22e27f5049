"""The queue in SQLite. More than one process may share the file: the second server does, at Eid."""
import json
import sqlite3
import time

SCHEMA = """
create table if not exists job (
    id integer primary key,
    kind text not null,
    payload text not null,
    state text not null default 'ready',
    tries integer not null default 0,
    not_before real not null default 0,
    lease_until real,
    worker text,
    error text
)
"""


class Store:
    def __init__(self, path, lease_seconds=60, now=time.time):
        self.lease_seconds = lease_seconds
        self.now = now
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute(SCHEMA)

    def put(self, kind, payload):
        cursor = self._db.execute("insert into job (kind, payload) values (?, ?)", (kind, json.dumps(payload)))
        return cursor.lastrowid

    def claim(self, worker):
        """The next job, leased to a worker; None: nothing to do."""
        now = self.now()
        row = self._db.execute(
            "update job set state = 'leased', worker = ?, lease_until = ?, tries = tries + 1 where id = ("
            " select id from job where state = 'ready' and not_before <= ? order by id limit 1)"
            " returning *",
            (worker, now + self.lease_seconds, now),
        ).fetchone()
        return dict(row, payload=json.loads(row["payload"])) if row else None

    def done(self, job_id):
        self._db.execute("update job set state = 'done', lease_until = null where id = ?", (job_id,))

    def retry(self, job_id, delay, error):
        self._db.execute(
            "update job set state = 'ready', lease_until = null, not_before = ?, error = ? where id = ?",
            (self.now() + delay, error, job_id),
        )

    def bury(self, job_id, error):
        self._db.execute("update job set state = 'dead', lease_until = null, error = ? where id = ?", (error, job_id))

    def counts(self):
        return {row["state"]: row["n"] for row in self._db.execute("select state, count(*) n from job group by state")}

    def job(self, job_id):
        row = self._db.execute("select * from job where id = ?", (job_id,)).fetchone()
        return dict(row, payload=json.loads(row["payload"])) if row else None

    def ping(self):
        self._db.execute("select 1 from job limit 1")

    def close(self):
        self._db.close()
