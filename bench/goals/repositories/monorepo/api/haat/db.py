import sqlite3

SCHEMA = """
create table if not exists seller (id integer primary key, name text not null, phone text);
create table if not exists product (
    id integer primary key, seller integer not null, name text not null, paisa integer not null,
    is_hidden integer not null default 0
);
create table if not exists orders (id integer primary key, name text not null, paisa integer not null);
"""


class Db:
    def __init__(self, path):
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(SCHEMA)

    def rows(self, sql, *values):
        return [dict(row) for row in self._db.execute(sql, values)]

    def row(self, sql, *values):
        found = self.rows(sql, *values)
        return found[0] if found else None

    def write(self, sql, *values):
        with self._db:
            return self._db.execute(sql, values).lastrowid
