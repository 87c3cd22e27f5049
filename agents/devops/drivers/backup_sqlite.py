"""Door to saved SQLite files. The only module that looks whether one is whole: it reads, and never writes beside it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from shared.model.text import HIDDEN

MAGIC = b"SQLite format 3\0"
STEPS = 100_000  # of SQLite's machine between two looks at the time
LONGEST = 200  # characters


def is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def sqlite_problem(path: Path, minutes: float) -> str:
    """What is wrong with it; empty: it is whole, and holds a table.

    What a program of its own has added to SQLite (an order of letters, a kind of table) is not there to be checked.
    """
    until = time.monotonic() + minutes * 60
    try:
        # immutable: this very file is judged, without what may lie beside it
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as db:
            db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            for setting in ("trusted_schema=off", "cell_size_check=on", "ignore_check_constraints=on"):
                db.execute(f"pragma {setting}")
            (tables,) = db.execute("select count(*) from sqlite_master where type = 'table'").fetchone()
            found = _check(db)
    except sqlite3.Error as error:
        return f"the SQLite file cannot be read: {_words(str(error))}"
    if found != "ok":
        return f"the SQLite file is damaged: {_words(found)}"
    return "" if tables else "the SQLite file holds no table; is its path the right one?"


def _check(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute("pragma integrity_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if not str(error).startswith("no such "):
            raise
        return "ok"


def _words(text: str) -> str:
    return " ".join(HIDDEN.sub("", text).split())[:LONGEST]
