"""The audit's chain: each row bears the hash of the row before and of itself. Whoever changes one breaks all after it.

Triggers write the rows, in the transaction of the fact (schema/0035_audit.sql). They are sealed before it is committed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from json.encoder import encode_basestring_ascii as quoted

TABLE = "audit"
COLUMNS = ("seq", "at", "kind", "actor", "via", "subject", "commit_id", "detail")
BEGIN = "0" * 64  # the hash before the first row
HEAD = "select hash from audit before where before.seq < audit.seq order by seq desc limit 1"
UNSEALED = f"select {', '.join(COLUMNS)}, ({HEAD}) from audit where hash = '' order by seq"  # noqa: S608 (our own names)

Heard = tuple[str, Mapping[str, str]]  # by what the owner has spoken, and what proves it
_heard_by: ContextVar[Heard] = ContextVar("heard_by", default=("", {}))


@contextmanager
def heard_by(via: str, signed: Mapping[str, str] | None = None) -> Iterator[None]:
    """What the owner's word does in here he said by `via`. `signed`: what he has signed for it: his rows bear it."""
    before = _heard_by.set((via, signed or {}))
    try:
        yield
    finally:
        _heard_by.reset(before)


def sealed(before: str, seq: int, texts: Sequence[str]) -> str:
    """Return the hash of a row after the one with the hash `before`: of that and the row as a JSON array.

    `texts`: all of COLUMNS but the first. Written by hand, since an encoder takes five times as long for a row.
    """
    return sha256(f"{before}[{seq},{','.join(map(quoted, texts))}]".encode()).hexdigest()


def seal(db: sqlite3.Connection, is_daemon: bool) -> None:
    """Seal the rows of this transaction, and those that a plain connection has written since the last one."""
    head = ""
    for seq, at, kind, actor, _, subject, commit, detail, before in db.execute(UNSEALED).fetchall():
        who = actor or ("team" if is_daemon else "owner")
        via = _via(who, is_daemon)
        if who == "owner" and (signed := _heard_by.get()[1]):
            detail = json.dumps({**json.loads(detail), "signed": signed}, ensure_ascii=False)
            db.execute("update audit set detail = ? where seq = ?", (detail, seq))
        head = sealed(head or before or BEGIN, seq, (at, kind, who, via, subject, commit, detail))
        db.execute("update audit set actor = ?, via = ?, hash = ? where seq = ?", (who, via, head, seq))


def _via(actor: str, is_daemon: bool) -> str:
    """The owner speaks to a daemon by files, if nobody says otherwise."""
    if actor == "owner" and (via := _heard_by.get()[0]):
        return via
    if is_daemon:
        return "file" if actor == "owner" else "daemon"
    return "terminal"
