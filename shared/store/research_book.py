"""Door to research. The only module that remembers what was asked of the web, what was found, and what came of it.

What a search answered and a page said is kept as it was on that day: asked again, also after a kill, it costs nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from sisimpur.shared.model.research import Findings, Inquiry, Looked, NotRead, SearchHit, WebSource
from sisimpur.shared.store.database import Form, OfDatabase, row_to
from sisimpur.shared.system.fault import fault_point

HITS, FINDINGS = Form(tuple[SearchHit, ...]), Form(Findings)


class ResearchRepository(OfDatabase):
    # -- inquiries --------------------------------------------------------------------------------------------

    def ask(self, inquiries: Sequence[Inquiry], day: str) -> None:
        """Add those that are not known yet."""
        with self._db.transaction() as db:
            for one in inquiries:
                db.execute(
                    "insert or ignore into inquiries (id, text, goal_id, asked_on) values (?, ?, ?, ?)",
                    (one.id, one.text, one.goal_id, day),
                )
        fault_point("inquiry.asked")

    def begins(self, inquiry: Inquiry, day: str) -> int:
        """Counts a try before it is made, once a day -> its number. What a kill cut off goes on as the same one."""
        with self._db.transaction() as db:
            db.execute(
                "update inquiries set tries = tries + 1, tried_on = ?, problem = '' where id = ? and tried_on <> ?",
                (day, inquiry.id, day),
            )
            (tries,) = db.execute("select tries from inquiries where id = ?", (inquiry.id,)).fetchone()
        fault_point("inquiry.begun")
        return int(tries)

    def failed(self, inquiry: Inquiry, problem: str, is_counted: bool = True) -> None:
        """`is_counted`: whether the question is to blame; else the try is given back."""
        self._db.write(
            "update inquiries set problem = ?, tries = tries - ? where id = ?",
            (problem, int(not is_counted), inquiry.id),
        )
        fault_point("inquiry.failed")

    def put_off(self, inquiry: Inquiry) -> None:
        """Note that nobody could try: no model, or no money. It waits as if it had not been begun."""
        self._db.write("update inquiries set tries = tries - 1, tried_on = '' where id = ?", (inquiry.id,))
        fault_point("inquiry.put-off")

    def answered(self, inquiry: Inquiry, day: str, slug: str, findings: Findings) -> None:
        self._db.write(
            "update inquiries set answered_on = ?, slug = ?, findings_json = ?, problem = '' where id = ?",
            (day, slug, FINDINGS.dump_json(findings).decode(), inquiry.id),
        )
        fault_point("inquiry.answered")

    def all(self) -> tuple[Looked, ...]:
        """List them in the order in which they were asked."""
        return tuple(map(_looked, self._db.rows("select * from inquiries order by rowid")))

    # -- what was found ---------------------------------------------------------------------------------------

    def hits(self, inquiry: Inquiry, query: str, day: str) -> tuple[SearchHit, ...] | None:
        """None: it was not searched for yet; or on another day, when nothing was found."""
        row = self._db.row(
            "select hits_json from searches where inquiry = ? and query = ? and (day = ? or hits_json <> '[]')",
            (inquiry.id, query, day),
        )
        return HITS.validate_json(row["hits_json"]) if row else None

    def keep_hits(self, inquiry: Inquiry, query: str, day: str, hits: Sequence[SearchHit]) -> None:
        text = HITS.dump_json(tuple(hits)).decode()
        self._db.write("insert or replace into searches values (?, ?, ?, ?)", (inquiry.id, query, day, text))
        fault_point("search.kept")

    def page(self, inquiry: Inquiry, url: str) -> WebSource | NotRead | None:
        """None: nobody tried to read it for this question."""
        row = self._db.row("select * from sources where inquiry = ? and url = ?", (inquiry.id, url))
        return _page(row) if row else None

    def pages(self, inquiry: Inquiry) -> tuple[WebSource | NotRead, ...]:
        rows = self._db.rows("select * from sources where inquiry = ? order by rowid", (inquiry.id,))
        return tuple(map(_page, rows))

    def keep_page(self, inquiry: Inquiry, page: WebSource | NotRead, day: str) -> None:
        if isinstance(page, WebSource):
            values = (inquiry.id, page.url, page.day, page.title, page.text, page.written, "")
        else:
            values = (inquiry.id, page.url, day, "", "", "", page.why)
        self._db.write("insert or replace into sources values (?, ?, ?, ?, ?, ?, ?)", values)
        fault_point("page.kept")


def _page(row: sqlite3.Row) -> WebSource | NotRead:
    if row["refused"]:
        return NotRead(row["url"], row["refused"])
    return row_to(WebSource, row)


def _looked(row: sqlite3.Row) -> Looked:
    findings = FINDINGS.validate_json(row["findings_json"]) if row["findings_json"] else None
    return row_to(Looked, row, inquiry=row_to(Inquiry, row), findings=findings)
